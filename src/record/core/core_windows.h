/* core_windows.h - how long the threads of the process had a core, and how long they could have run
 * but had none, over windows of the run; and on which cores they may run.
 *
 * Linux counts both for each thread (/proc/self/task/TID/schedstat). Sleep is neither. MPI that
 * waits busily can run all the time, so it counts: where such ranks share cores this shows it.
 *
 * Reading takes two system calls per thread and more, so windows are long: at least
 * REC_WINDOW_NS, and so long that reading takes less than 1 / REC_WINDOW_COST of them. When there
 * are REC_CORE_WINDOWS of them, each two become one, and windows are twice as long from then on. A
 * window ends where the recorder has more to do than usual, so programs that hardly call MPI have
 * longer ones.
 *
 * What a thread waited in the window in which it ended is not known; what it ran is.
 */
#ifndef RFN_RECORD_CORE_CORE_WINDOWS_H
#define RFN_RECORD_CORE_CORE_WINDOWS_H

#include "refrain/usage.h"

#include <stdbool.h>
#include <stdint.h>

enum { REC_CORE_WINDOWS = 64, REC_WINDOW_NS = 100000000, REC_WINDOW_COST = 500 };

/* What a thread has run and waited for a core, in ns. */
struct rec_schedstat {
    uint64_t ran_ns, waited_ns;
};

/* folder: as of openat. false: the system does not tell. */
bool rec_schedstat_read(int folder, const char *path, struct rec_schedstat *stat);
/* CPU time of the process in ns, all of its threads, also of those that have ended. */
uint64_t rec_cpu_ns(void);

void rec_core_windows_start(void);
/* Ends a window if it is long enough. The second ends one in any case. From any thread. */
void rec_core_windows_look(void) __attribute__((cold));
void rec_core_windows_end(void);

/* What there is so far; borrowed, and to be asked for when no thread looks any more. */
struct rfn_process_cores rec_process_cores(void);

#endif
