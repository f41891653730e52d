#include "record/finish/pack_usage.h"

#include "archive/usage_format.h"
#include "record/core/core_windows.h"
#include "record/core/usage.h"

#include <stdlib.h>

/* Pairs of call sites of a stream that are written, those with most time. */
enum { WRITTEN = 16 };

static struct rfn_process_usage process_of(const struct rec_stream_definitions *of)
{
    return of->stream->number == 0 ? rec_usage() : (struct rfn_process_usage){0};
}

static bool has_usage(const struct rec_stream_definitions *of)
{
    return process_of(of).known || of->stream->gaps.n > 0;
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

int rec_pack_usage(const struct rec_stream_definitions *of, struct rfn_buf *out)
{
    const struct rec_gaps *gaps = &of->stream->gaps;
    struct rfn_gap_usage written[WRITTEN];
    struct rfn_stream_usage usage = {.process = process_of(of), .gaps = written};
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
