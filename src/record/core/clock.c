#include "record/core/clock.h"

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

REC_EVERY_CALL struct rec_clock rec_clock = {.kind = REC_CLOCK_MONOTONIC};

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

void rec_clock_before_mpi(void)
{
}
#else
/* MPI_Wtime may begin again at 0 when MPI starts (Open MPI 5 and 6). */
static struct {
    bool awaited;
    double before, added; /* seconds: the last reading before, what makes later ones continue it */
    int64_t before_ns;    /* CLOCK_MONOTONIC at that reading */
} restart;

void rec_clock_before_mpi(void)
{
    if (rec_clock.kind != REC_CLOCK_MPI || restart.awaited)
        return;
    restart.before = rec_mpi.MPI_Wtime();
    restart.before_ns = read_ns(CLOCK_MONOTONIC);
    restart.awaited = true;
}

static double mpi_seconds(void)
{
    const double now = rec_mpi.MPI_Wtime();
    if (restart.awaited && restart.added == 0 && now < restart.before)
        restart.added = restart.before - now +
                        1e-9 * (double)(read_ns(CLOCK_MONOTONIC) - restart.before_ns);
    return now + restart.added;
}
#endif

/* Ticks of the counter, before the shift. */
static uint64_t ticks(void)
{
    switch (rec_clock.kind) {
#if defined __x86_64__
    case REC_CLOCK_TSC:
        return __rdtsc();
#endif
    case REC_CLOCK_MPI:
        return (uint64_t)(mpi_seconds() * 1e9);
    default:
        return (uint64_t)read_ns(CLOCK_MONOTONIC);
    }
}

int64_t rec_monotonic_ns(void)
{
    static int64_t last;
    const int64_t now = read_ns(CLOCK_MONOTONIC);
    int64_t seen = __atomic_load_n(&last, __ATOMIC_RELAXED);
    while (seen < now && !__atomic_compare_exchange_n(&last, &seen, now, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED))
        continue;
    return seen < now ? now : seen;
}

uint64_t rec_clock_other(void)
{
    return ticks() >> rec_clock.shift;
}

#if defined __x86_64__
/* The time-stamp counter runs at one speed in all power states: CPUID 0x80000007, EDX bit 8. */
static bool tsc_is_invariant(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

/* From the ticks in a millisecond. */
static double tsc_tick_ns(void)
{
    int64_t start = read_ns(CLOCK_MONOTONIC), now;
    uint64_t first = __rdtsc();
    do
        now = read_ns(CLOCK_MONOTONIC);
    while (now - start < 1000000);
    return (double)(now - start) / (double)(__rdtsc() - first);
}
#endif

/* The largest shift with which a quantum is at most the resolution. */
static uint8_t shift_for(uint64_t resolution_ns, double tick_ns)
{
    uint8_t shift = 0;
    while (shift < 40 && tick_ns * (double)(UINT64_C(2) << shift) <= (double)resolution_ns)
        shift++;
    return shift;
}

void rec_clock_init(uint64_t resolution_ns, const char *wish)
{
#ifdef RFN_FLAVOUR_SMPI
    bool mpi = !wish || strcmp(wish, "mpi") == 0;
#else
    bool mpi = wish && strcmp(wish, "mpi") == 0;
#endif
    rec_clock = (struct rec_clock){.kind = mpi ? REC_CLOCK_MPI : REC_CLOCK_MONOTONIC, .tick_ns = 1};
#if defined __x86_64__
    bool forced = wish && strcmp(wish, "tsc") == 0;
    if (!mpi && (forced || (!wish && tsc_is_invariant())))
        rec_clock = (struct rec_clock){.kind = REC_CLOCK_TSC, .tick_ns = tsc_tick_ns()};
#endif
    rec_clock.shift = shift_for(resolution_ns, rec_clock.tick_ns);
}

/* The pair for a moment that is known by its ticks: when its quantum began. */
static struct rec_clock_pair pair_of(uint64_t now, int64_t monotonic_ns, int64_t realtime_ns)
{
    uint64_t rest = now & ((UINT64_C(1) << rec_clock.shift) - 1);
    int64_t rest_ns = (int64_t)((double)rest * rec_clock.tick_ns);
    return (struct rec_clock_pair){now >> rec_clock.shift, monotonic_ns - rest_ns,
                                   realtime_ns - rest_ns};
}

struct rec_clock_pair rec_clock_pair(void)
{
    struct rec_clock_pair best = {0};
    int64_t shortest = INT64_MAX;
    if (rec_clock.kind == REC_CLOCK_MPI) {
        uint64_t now = ticks();
        return pair_of(now, (int64_t)now, (int64_t)now);
    }
    for (int i = 0; i < 5; i++) { /* the reading that was least disturbed */
        const bool same = rec_clock.kind == REC_CLOCK_MONOTONIC;
        int64_t before = rec_monotonic_ns();
        uint64_t now = same ? (uint64_t)before : ticks();
        int64_t after = rec_monotonic_ns();
        if (after - before < shortest) {
            shortest = after - before;
            int64_t middle = before + (after - before) / 2;
            best = pair_of(now, same ? (int64_t)now : middle, read_ns(CLOCK_REALTIME));
        }
    }
    return best;
}
