/* clock.h - the recorder's clock: a monotonic counter, read in about ten nanoseconds.
 *
 * The time-stamp counter when it is invariant, else clock_gettime(CLOCK_MONOTONIC); under SMPI the
 * simulated time, as MPI_Wtime tells it, but without the pause that MPI_Wtime makes there (10 ns of
 * simulated time and a turn of the simulator for each call). Stamps are in quanta: ticks
 * (nanoseconds, of the latter two) shifted right so that a quantum is as long as possible but at
 * most the wanted resolution (1 ns by default); pairs of (quanta, CLOCK_MONOTONIC, CLOCK_REALTIME)
 * go to the archive, so that readers convert.
 */
#ifndef RFN_RECORD_CORE_CLOCK_H
#define RFN_RECORD_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#if defined __x86_64__
#include <x86intrin.h>
#endif

enum rec_clock_kind { REC_CLOCK_TSC, REC_CLOCK_MONOTONIC, REC_CLOCK_MPI };

struct rec_clock {
    enum rec_clock_kind kind;
    uint8_t shift;
    double tick_ns; /* a tick before the shift */
};

struct rec_clock_pair {
    uint64_t quanta;
    int64_t monotonic_ns, realtime_ns;
};

/* Variables that every call reads lie side by side. */
#define REC_EVERY_CALL __attribute__((section("rec_every_call")))

extern struct rec_clock rec_clock;

/* Chooses the counter, unless one is wished for (REFRAIN_CLOCK; else NULL), and the shift. */
void rec_clock_init(uint64_t resolution_ns, const char *wish);
/* CLOCK_MONOTONIC, or the last time that was returned, should it go back as on some machines. */
int64_t rec_monotonic_ns(void);
/* Now: the quanta, and the times at which they began to be that. */
struct rec_clock_pair rec_clock_pair(void);
/* Before MPI's own start. Later times of MPI_Wtime then go on, even if MPI_Wtime begins again. */
void rec_clock_before_mpi(void);
uint64_t rec_clock_other(void); /* quanta of a counter that is not the time-stamp counter */

static inline uint64_t rec_now(void)
{
#if defined __x86_64__
    if (__builtin_expect(rec_clock.kind == REC_CLOCK_TSC, 1))
        return __rdtsc() >> rec_clock.shift;
#endif
    return rec_clock_other();
}

#endif
