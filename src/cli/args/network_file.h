/* network_file.h - the parameters of a network in a file that refrain calibrate wrote, for the
 * option
 * --network (refrain-calibrate(1)).
 */
#ifndef RFN_CLI_ARGS_NETWORK_FILE_H
#define RFN_CLI_ARGS_NETWORK_FILE_H

#include "refrain/error.h"
#include "refrain/network.h"

/* Reads them. RFN_E_IO: the file cannot be read; RFN_E_CORRUPT: it is no JSON, or one of them is
 * not there or no such number; RFN_E_VERSION; RFN_E_NOMEM. diag says which file and what. */
int rfn_network_file_read(const char *file, struct rfn_network *network, struct rfn_diag *diag);

/* The same for a verb that was given this file; NULL: none, and nothing is read. 0, or the exit
 * status after an error message. */
int rfn_command_network(const char *file, struct rfn_network *network);

#endif
