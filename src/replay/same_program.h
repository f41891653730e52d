/* same_program.h - whether two archives can be held against each other: of one program.
 *
 * Two archives of one run are, and two recordings of the same program, which need not have the same
 * events: polls, for one thing, are as many as there was time for. So what is compared is what was
 * started: the program's name, its arguments and the number of ranks. A script may start the
 * program with arguments that the command does not show: where the commands start different files,
 * their arguments say nothing.
 */
#ifndef RFN_REPLAY_SAME_PROGRAM_H
#define RFN_REPLAY_SAME_PROGRAM_H

#include "refrain/archive.h"

/* RFN_E_USAGE, with what differs in diag: the runs are not of the same program. file: the name of
 * first's. */
int rpl_check_same_program(const char *file, const struct rfn_run *first,
                           const struct rfn_run *second, struct rfn_diag *diag);

#endif
