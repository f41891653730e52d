/* unknown_option.h - finds a mistyped option before argp does, to name the nearest one. */
#ifndef RFN_CLI_ARGS_UNKNOWN_OPTION_H
#define RFN_CLI_ARGS_UNKNOWN_OPTION_H

#include "cli/args/command.h"

/* The first word of the command line that begins with '-' and is no option of the verb, nor the
 * value of one; NULL: there is none. Words after "--", or after a program, are not looked at.
 * argv[0] is the verb. Borrowed from argv. */
const char *rfn_unknown_option(const struct rfn_command *command, int argc, char **argv);

/* The name, without "--", of the option that such a word probably means; NULL: none is near.
 * Borrowed from the command. */
const char *rfn_nearest_option(const struct rfn_command *command, const char *word);

#endif
