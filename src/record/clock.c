#include "record/clock.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined __x86_64__
#include <cpuid.h>
#endif

#include "record/mpi_table.gen.h"

#ifdef RFN_FLAVOUR_SMPI
#include <simgrid/engine.h>
#endif

struct rec_clock rec_clock = {.kind = REC_CLOCK_MONOTONIC};

static int64_t read_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#ifdef RFN_FLAVOUR_SMPI
/* What the program has computed since its last call enters the simulated time only when the
 * simulator is told; before MPI_Init and after MPI_Finalize it must not be. */
static double mpi_seconds(void)
{
    int initialized = 0, finalized = 0;
    rec_mpi.MPI_Initialized(&initialized);
    rec_mpi.MPI_Finalized(&finalized);
    if (initialized && !finalized) {
        smpi_bench_end();
        smpi_bench_begin();
    }
    return simgrid_get_clock();
}
#else
static double mpi_seconds(void)
{
    return rec_mpi.MPI_Wtime();
}
#endif

uint64_t rec_clock_other(void)
{
    if (rec_clock.kind == REC_CLOCK_MPI)
        return (uint64_t)(mpi_seconds() * 1e9);
    return (uint64_t)read_ns(CLOCK_MONOTONIC);
}

#if defined __x86_64__
/* The time-stamp counter runs at one speed in all power states: CPUID 0x80000007, EDX bit 8. */
static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

/* The largest shift with which a quantum is still at most 1 ns: from the ticks in a millisecond. */
static uint8_t tsc_shift(void)
{
    int64_t start = read_ns(CLOCK_MONOTONIC), now;
    uint64_t ticks = __rdtsc();
    do
        now = read_ns(CLOCK_MONOTONIC);
    while (now - start < 1000000);
    double ticks_per_ns = (double)(__rdtsc() - ticks) / (double)(now - start);
    uint8_t shift = 0;
    while (ticks_per_ns >= 2 && shift < 8) {
        ticks_per_ns /= 2;
        shift++;
    }
    return shift;
}
#endif

void rec_clock_init(void)
{
    const char *wish = getenv("REFRAIN_CLOCK");
#ifdef RFN_FLAVOUR_SMPI
    bool mpi = !wish || strcmp(wish, "mpi") == 0;
#else
    bool mpi = wish && strcmp(wish, "mpi") == 0;
#endif
    rec_clock = (struct rec_clock){.kind = mpi ? REC_CLOCK_MPI : REC_CLOCK_MONOTONIC};
#if defined __x86_64__
    bool forced = wish && strcmp(wish, "tsc") == 0;
    if (!mpi && (forced || (!wish && tsc_is_invariant())))
        rec_clock = (struct rec_clock){.kind = REC_CLOCK_TSC, .shift = tsc_shift()};
#endif
}

struct rec_clock_pair rec_clock_pair(void)
{
    struct rec_clock_pair best = {0};
    int64_t shortest = INT64_MAX;
    if (rec_clock.kind == REC_CLOCK_MPI) {
        uint64_t now = rec_now();
        return (struct rec_clock_pair){now, (int64_t)now, (int64_t)now};
    }
    for (int i = 0; i < 5; i++) { /* the reading that was least disturbed */
        int64_t before = read_ns(CLOCK_MONOTONIC);
        uint64_t quanta = rec_now();
        int64_t after = read_ns(CLOCK_MONOTONIC);
        if (after - before < shortest) {
            shortest = after - before;
            best = (struct rec_clock_pair){quanta, before + (after - before) / 2,
                                           read_ns(CLOCK_REALTIME)};
        }
    }
    return best;
}
