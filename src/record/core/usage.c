#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RUSAGE_THREAD */
#endif

#include "record/core/usage.h"

#include "record/core/core_windows.h"
#include "record/core/recorder.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>

REC_EVERY_CALL uint64_t rec_long_gap = UINT64_MAX;

static uint64_t quantum_ns; /* times 2^32: gaps are measured while the program may trap on floating
                               point */
static uint64_t every;      /* quanta */

/* ---- in all ---- */

struct reading {
    bool there, knows_waiting;
    pthread_t thread;
    uint64_t monotonic_ns, cpu_ns, core_wait_ns;
    struct rusage usage;
};

static struct reading at_start, at_end;

static void read_all(struct reading *reading)
{
    *reading = (struct reading){.there = true,
                                .thread = pthread_self(),
                                .monotonic_ns = (uint64_t)rec_monotonic_ns(),
                                .cpu_ns = rec_cpu_ns()};
    struct rec_schedstat stat = {0};
    reading->knows_waiting = rec_schedstat_read(AT_FDCWD, "/proc/thread-self/schedstat", &stat);
    reading->core_wait_ns = stat.waited_ns;
    getrusage(RUSAGE_SELF, &reading->usage);
}

void rec_usage_start(void)
{
    if (rec_clock.kind == REC_CLOCK_MPI)
        return;
    read_all(&at_start);
    rec_core_windows_start();
    const double quantum = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    quantum_ns = (uint64_t)(quantum * 0x1p32);
    every = (uint64_t)(REC_GAP_EVERY_NS / quantum);
    every += every == 0; /* coarse quanta: one gap in each */
    rec_long_gap = (uint64_t)(REC_LONG_GAP_NS / quantum);
}

void rec_usage_end(void)
{
    if (!at_start.there || at_end.there)
        return;
    read_all(&at_end);
    rec_core_windows_end();
}

static uint64_t since(uint64_t then, uint64_t now)
{
    return now > then ? now - then : 0;
}

struct rfn_process_usage rec_usage(void)
{
    const struct rusage *usage = &at_end.usage, *before = &at_start.usage;
    return (struct rfn_process_usage){
        .known = at_end.there,
        .wall_ns = since(at_start.monotonic_ns, at_end.monotonic_ns),
        .cpu_ns = since(at_start.cpu_ns, at_end.cpu_ns),
        .knows_waiting = at_start.knows_waiting && at_end.knows_waiting &&
                         pthread_equal(at_start.thread, at_end.thread),
        .core_wait_ns = since(at_start.core_wait_ns, at_end.core_wait_ns),
        .switches = since((uint64_t)before->ru_nvcsw, (uint64_t)usage->ru_nvcsw),
        .preemptions = since((uint64_t)before->ru_nivcsw, (uint64_t)usage->ru_nivcsw),
        .peak_bytes = (uint64_t)usage->ru_maxrss * 1024,
    };
}

/* ---- gaps ---- */

static uint64_t ns_of(uint64_t quanta)
{
    __extension__ const unsigned __int128 ns = (unsigned __int128)quanta * quantum_ns;
    return (uint64_t)(ns >> 32);
}

/* How often the thread has given up its core of its own accord. */
static int64_t given_up(void)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static uint64_t bit_of(uint32_t site)
{
    return UINT64_C(1) << (site & 63);
}

static void pay(struct rec_gaps *gaps, uint64_t now)
{
    const uint64_t ahead = every * REC_GAPS_AT_ONCE;
    if (now - gaps->paid > ahead)
        gaps->paid = now - ahead;
    gaps->paid += every;
}

/* The gap that was measured last, if it is still open, was short. */
static void forget_short(struct rec_stream *stream)
{
    struct rec_gaps *gaps = &stream->gaps;
    if (!gaps->before)
        return;
    if (++gaps->in_vain >= REC_GAPS_IN_VAIN) {
        gaps->in_vain = 0;
        gaps->had_long = 0;
    }
    if (!(gaps->had_long & bit_of(gaps->before - 1)))
        stream->gap.sites &= ~bit_of(gaps->before - 1);
    gaps->before = 0;
}

void rec_gap_begins(struct rec_stream *stream)
{
    struct rec_gaps *gaps = &stream->gaps;
    forget_short(stream);
    if (stream->call.off || rec_long_gap == UINT64_MAX)
        return;
    rec_core_windows_look();
    pay(gaps, stream->gap.exit);
    gaps->began = stream->gap.exit;
    gaps->before = stream->gap.left + 1;
    gaps->given_up = given_up();
    gaps->cpu_ns = rec_cpu_ns();
}

/* NULL: there are too many. */
static struct rec_gap *gap_of(struct rec_gaps *gaps, uint32_t before, uint32_t at)
{
    uint32_t slot = (before * 0x9e3779b1u ^ at * 0x85ebca6bu) >> 16;
    for (;; slot++) {
        struct rec_gap *gap = &gaps->gaps[slot % REC_GAPS];
        if (gap->before == before && gap->at == at)
            return gap;
        if (!gap->before && gaps->n == REC_GAPS - 1)
            return NULL;
        if (gap->before)
            continue;
        gaps->n++;
        gap->before = before;
        gap->at = at;
        return gap;
    }
}

void rec_gap_ends(struct rec_stream *stream)
{
    struct rec_gaps *gaps = &stream->gaps;
    struct rec_call *call = &stream->call;
    const uint32_t before = gaps->began == stream->gap.exit ? gaps->before : 0;
    if (before)
        gaps->before = 0;
    forget_short(stream);
    stream->gap.sites |= bit_of(stream->gap.left);
    gaps->had_long |= bit_of(stream->gap.left);
    if (call->off || !before)
        return;
    gaps->in_vain = 0;
    const uint64_t cpu_ns = since(gaps->cpu_ns, rec_cpu_ns());
    const bool gave_up = given_up() != gaps->given_up;
    struct rec_gap *gap = gap_of(gaps, before, call->site + 1);
    stream->open.enter = call->enter = rec_now();
    if (!gap)
        return;
    const uint64_t wall_ns = ns_of(since(gaps->began, call->enter));
    gap->wall_ns += wall_ns;
    gap->cpu_ns += cpu_ns;
    gap->core_wait_ns += gave_up ? 0 : since(cpu_ns, wall_ns);
}
