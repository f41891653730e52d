/* mpi_watch.h - ends a replay that hangs.
 *
 * The survey finds what has no partner, so nothing should; but a watchdog that is not needed costs
 * nothing. When the time is over each rank says in which call it is, and the process ends: the
 * launcher ends the others. Not under SMPI, which notices itself when nothing can go on.
 */
#ifndef RFN_REPLAY_MPI_WATCH_H
#define RFN_REPLAY_MPI_WATCH_H

#include <stdint.h>

void rpl_watch_start(unsigned seconds, uint32_t rank);
void rpl_watch_stop(void);
/* The call that is about to be issued; the name is borrowed. */
void rpl_watch_call(const char *name, uint64_t event);

#endif
