/* mpi_watch.h - ends a replay that hangs.
 *
 * The survey finds what has no partner, so nothing should; but a watchdog that is not needed costs
 * nothing. A rank that has begun no call since the alarm rang before says in which one it is, and
 * ends: the launcher ends the others. Not under SMPI, which notices itself when nothing can go on.
 */
#ifndef RFN_REPLAY_MPI_WATCH_H
#define RFN_REPLAY_MPI_WATCH_H

#include <stdint.h>

/* seconds: between two alarms. */
void rpl_watch_start(unsigned seconds, uint32_t rank);
void rpl_watch_stop(void);
/* The call that is about to be issued; the name is borrowed. */
void rpl_watch_call(const char *name, uint64_t event);

#endif
