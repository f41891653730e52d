/* shell_completion.h - the script that makes bash complete verbs, options and their values.
 *
 * It is made from the verbs' own structures (command.h), so that what completes is what there is.
 */
#ifndef RFN_CLI_SHELL_COMPLETION_H
#define RFN_CLI_SHELL_COMPLETION_H

#include "cli/args/command.h"
#include "cli/text/print_text.h"

#include <stddef.h>

/* Appends the script for bash (completions/refrain). */
void rfn_shell_completion(struct rfn_text *out, const struct rfn_command *const *commands,
                          size_t n);

#endif
