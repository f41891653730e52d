/* pager.h - long text for a terminal goes through a pager, as git's does. */
#ifndef RFN_CLI_TEXT_PAGER_H
#define RFN_CLI_TEXT_PAGER_H

#include "cli/text/print_text.h"

/* Call it before text is printed, of which this is the beginning. Where standard output is a
 * terminal and the text has more lines than that, all output from now on goes to REFRAIN_PAGER,
 * PAGER or less (with LESS=FRX, if LESS is not set), and the process waits for it when it exits;
 * its exit status stays its own. No pager: the variable is empty or "cat", or none can be started.
 */
void rfn_pager_start(const struct rfn_text *text);

#endif
