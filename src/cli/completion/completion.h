/* completion.h - the scripts that make bash, zsh and fish complete verbs, options and values.
 *
 * They are made from the verbs' own structures (command.h), so a new option completes at once.
 */
#ifndef RFN_CLI_COMPLETION_COMPLETION_H
#define RFN_CLI_COMPLETION_COMPLETION_H

#include "cli/args/command.h"
#include "cli/text/print_text.h"

#include <stddef.h>

/* Appends the script for one shell. */
void rfn_completion_bash(struct rfn_text *out, const struct rfn_command *const *commands, size_t n);
void rfn_completion_zsh(struct rfn_text *out, const struct rfn_command *const *commands, size_t n);
void rfn_completion_fish(struct rfn_text *out, const struct rfn_command *const *commands, size_t n);

/* ---- for the scripts ---- */

/* What the words after the options of a verb are. */
enum rfn_completes { RFN_COMPLETES_ARCHIVES, RFN_COMPLETES_PROGRAM, RFN_COMPLETES_JOB };
enum rfn_completes rfn_completes(const struct rfn_command *command);

/* Calls append for each option of the verb that has a name and is not hidden. */
typedef void rfn_append_option(struct rfn_text *out, const struct rfn_command *command,
                               const struct argp_option *option);
void rfn_completion_options(struct rfn_text *out, const struct rfn_command *command,
                            rfn_append_option *append);
/* Whether its value is a file. */
bool rfn_option_takes_file(const struct argp_option *option);
/* Its usual values, as "a,b" up to a space or the end; "": none. Borrowed from the command. */
const char *rfn_option_values(const struct rfn_command *command, const struct argp_option *option);
/* Appends such values with spaces between. */
void rfn_completion_values(struct rfn_text *out, const char *values);

#endif
