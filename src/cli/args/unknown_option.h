/* unknown_option.h - finds a mistyped option before argp does, to name the nearest one. */
#ifndef RFN_CLI_ARGS_UNKNOWN_OPTION_H
#define RFN_CLI_ARGS_UNKNOWN_OPTION_H

#include "cli/args/command.h"

/* The first option of the command line that the verb does not have, as "--name" or "-n", by the
 * rules of getopt_long, which argp uses: "--" ends the options, and so does the program of a verb
 * that runs one. False: there is none; ambiguous options and missing values are left to argp.
 * argv[0] is the verb; name holds a shortened one. */
bool rfn_unknown_option(const struct rfn_command *command, int argc, char **argv, char *name,
                        size_t size);

/* The name, without "--", of the option that such a word probably means; NULL: none is near.
 * Borrowed from the command. */
const char *rfn_nearest_option(const struct rfn_command *command, const char *name);

#endif
