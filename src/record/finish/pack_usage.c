#include "record/finish/pack_usage.h"

#include "archive/usage_format.h"
#include "record/core/core_windows.h"
#include "record/core/options.h"
#include "record/core/usage.h"

#include <stdlib.h>

/* Pairs of call sites of a stream that are written, those with most time. */
enum { WRITTEN = 16 };

static struct rfn_process_usage process_of(const struct rec_stream_definitions *of)
{
    return of->stream->number == 0 ? rec_usage() : (struct rfn_process_usage){0};
}

/* Not in runs without times, whose archives are the same from run to run. */
static bool has_recording(const struct rec_stream_definitions *of)
{
    return rec_options.times && of->stream->own.sum > 0;
}

static bool has_usage(const struct rec_stream_definitions *of)
{
    return process_of(of).known || of->stream->gaps.n > 0 || has_recording(of) ||
           of->stream->sites.cut.frames;
}

static int by_time(const void *left, const void *right)
{
    const struct rec_gap *a = left, *b = right;
    if (a->wall_ns != b->wall_ns)
        return a->wall_ns > b->wall_ns ? -1 : 1;
    return a->before != b->before ? (a->before < b->before ? -1 : 1) : a->at < b->at ? -1 : 1;
}

static struct rfn_gap_usage gap_between(const struct rec_stream_definitions *of,
                                        const struct rec_gap *gap)
{
    const uint32_t before = gap->before - 1, at = gap->at - 1;
    return (struct rfn_gap_usage){.before_function = (uint32_t)of->functions[before],
                                  .before_path = (uint32_t)of->paths[before],
                                  .at_function = (uint32_t)of->functions[at],
                                  .at_path = (uint32_t)of->paths[at],
                                  .wall_ns = gap->wall_ns,
                                  .cpu_ns = gap->cpu_ns,
                                  .core_wait_ns = gap->core_wait_ns};
}

/* written: room for REC_OWN_WORKS. */
static void take_recording(const struct rec_stream_definitions *of, struct rfn_stream_usage *usage,
                           struct rfn_own_work *written)
{
    const struct rec_own_works *own = &of->stream->own;
    const double quantum_ns = rec_clock.tick_ns * (double)(UINT64_C(1) << rec_clock.shift);
    const uint64_t start = rec_start().quanta, shortest = rec_own_works_shortest(own, rec_now());
    usage->recording = written;
    usage->recording_ns = (uint64_t)((double)own->sum * quantum_ns);
    for (uint32_t i = 0; i < own->n; i++) {
        const struct rec_own_work *work = &own->items[i];
        if (work->from >= start && work->to - work->from >= shortest)
            written[usage->n_recording++] = (struct rfn_own_work){work->from - start,
                                                                  work->to - start};
    }
}

int rec_pack_usage(const struct rec_stream_definitions *of, struct rfn_buf *out)
{
    const struct rec_gaps *gaps = &of->stream->gaps;
    struct rfn_gap_usage written[WRITTEN];
    struct rfn_own_work recording[REC_OWN_WORKS];
    struct rfn_stream_usage usage = {
        .process = process_of(of), .path_frames = of->stream->sites.cut.frames, .gaps = written};
    if (!has_usage(of))
        return 0;
    struct rec_gap *sorted = malloc(REC_GAPS * sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < REC_GAPS; i++) {
        if (gaps->gaps[i].before && gaps->gaps[i].wall_ns)
            sorted[n++] = gaps->gaps[i];
    }
    qsort(sorted, n, sizeof *sorted, by_time);
    for (; usage.n_gaps < WRITTEN && usage.n_gaps < n; usage.n_gaps++)
        written[usage.n_gaps] = gap_between(of, &sorted[usage.n_gaps]);
    free(sorted);
    if (has_recording(of))
        take_recording(of, &usage, recording);
    rfn_pack_usage(&usage, out);
    return rfn_buf_status(out);
}

int rec_pack_cores(const struct rec_stream_definitions *of, struct rfn_buf *out)
{
    const struct rfn_process_cores cores = rec_process_cores();
    if (of->stream->number == 0 && (cores.mask_bytes || cores.n_windows))
        rfn_pack_cores(&cores, out);
    return rfn_buf_status(out);
}
