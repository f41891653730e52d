/* launch_checks.h - what a user could wonder about: calls that were made, but that no archive
 * holds.
 *
 * The recorder sees the calls of one job's processes through the C functions of MPI. What passes
 * beside it leaves no other trace than these lines.
 */
#ifndef RFN_RECORD_CORE_LAUNCH_CHECKS_H
#define RFN_RECORD_CORE_LAUNCH_CHECKS_H

#include <stdbool.h>

/* Whether this is rank 0, as the launcher counts; where it does not tell, each process is. */
bool rec_is_launchers_first(void);

/* After an archive of so many ranks was written, on rank 0: what is not in it. */
void rec_launch_check_gaps(int ranks);

/* At the end of a process in which no MPI call was seen: says so, if this is the process that was
 * to be recorded and it has had no child that could have been recorded in its place. */
void rec_launch_check_unused(void);

#endif
