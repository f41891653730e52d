/* shell_completion.h - the scripts that make bash, zsh and fish complete verbs, options and values.
 *
 * They are made from the verbs' own structures (command.h), so a new option completes at once.
 */
#ifndef RFN_CLI_SHELL_COMPLETION_H
#define RFN_CLI_SHELL_COMPLETION_H

#include "cli/args/command.h"
#include "cli/text/print_text.h"

#include <stddef.h>

/* Appends the script for one shell. */
void rfn_completion_bash(struct rfn_text *out, const struct rfn_command *const *commands, size_t n);
void rfn_completion_zsh(struct rfn_text *out, const struct rfn_command *const *commands, size_t n);
void rfn_completion_fish(struct rfn_text *out, const struct rfn_command *const *commands, size_t n);

/* ---- what the scripts have in common ---- */

/* What the words after the options of a verb are. */
enum rfn_completes { RFN_COMPLETES_ARCHIVES, RFN_COMPLETES_PROGRAM, RFN_COMPLETES_JOB };
enum rfn_completes rfn_completes(const struct rfn_command *command);

/* Whether an option has a name, and is not hidden. */
bool rfn_option_completes(const struct argp_option *option);
/* Its short form; 0: none. */
char rfn_option_letter(const struct argp_option *option);
/* Whether its value is a file. */
bool rfn_completes_files(const struct argp_option *option);
/* Appends the usual values of an option, with spaces between. */
void rfn_completion_words(struct rfn_text *out, const struct rfn_command *command,
                          const struct argp_option *option);

#endif
