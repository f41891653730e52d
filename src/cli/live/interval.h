/* interval.h - waiting between two looks at something that runs, until the user has seen enough. */
#ifndef RFN_CLI_LIVE_INTERVAL_H
#define RFN_CLI_LIVE_INTERVAL_H

#include <stdbool.h>

/* From now on Ctrl-C and SIGTERM end a wait, the one under way or the next one, and nothing else.
 */
void rfn_interval_begin(void);

/* How a wait ended. */
enum rfn_interval_end { RFN_INTERVAL_OVER, RFN_INTERVAL_USER, RFN_INTERVAL_PROCESS };

/* Waits. process: a descriptor of a process (pidfd_open(2)) whose end ends the wait, too; -1: none.
 */
enum rfn_interval_end rfn_interval_wait(double seconds, int process);

#endif
