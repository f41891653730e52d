#include "record/finish/pack_usage.h"

#include "archive/usage_format.h"
#include "record/core/usage.h"

#include <stdlib.h>

/* Pairs of call sites of a stream that are written, those with most time. */
enum { WRITTEN = 16 };

static bool is_first(const struct rec_stream_definitions *of)
{
    return of->stream->number == 0 && rec_usage().known;
}

bool rec_usage_has(const struct rec_stream_definitions *of)
{
    return is_first(of) || of->stream->gaps.n > 0;
}

static int by_time(const void *left, const void *right)
{
    const struct rec_gap *a = left, *b = right;
    if (a->wall_ns != b->wall_ns)
        return a->wall_ns > b->wall_ns ? -1 : 1;
    return a->before != b->before ? (a->before < b->before ? -1 : 1) : a->at < b->at ? -1 : 1;
}

static void pack_process(struct rfn_buf *out)
{
    const struct rec_usage usage = rec_usage();
    rfn_buf_varint(out, usage.wall_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, usage.cpu_ns / RFN_USAGE_NS);
    if (usage.knows_waiting)
        rfn_buf_varint(out, usage.core_wait_ns / RFN_USAGE_NS);
    rfn_buf_varint(out, usage.switches);
    rfn_buf_varint(out, usage.preemptions);
    rfn_buf_varint(out, usage.peak_bytes / RFN_USAGE_BYTES);
}

static void pack_site(const struct rec_stream_definitions *of, uint32_t site, struct rfn_buf *out)
{
    rfn_buf_varint(out, of->functions[site]);
    rfn_buf_varint(out, of->paths[site]);
}

int rec_pack_usage(const struct rec_stream_definitions *of, struct rfn_buf *out)
{
    const struct rec_gaps *gaps = &of->stream->gaps;
    struct rec_gap *sorted = malloc(REC_GAPS * sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < REC_GAPS; i++) {
        if (gaps->gaps[i].before && gaps->gaps[i].wall_ns)
            sorted[n++] = gaps->gaps[i];
    }
    qsort(sorted, n, sizeof *sorted, by_time);
    n = n < WRITTEN ? n : WRITTEN;
    rfn_buf_varint(out, !is_first(of)               ? 0
                        : rec_usage().knows_waiting ? RFN_USAGE_PROCESS | RFN_USAGE_CORE_WAIT
                                                    : RFN_USAGE_PROCESS);
    if (is_first(of))
        pack_process(out);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++) {
        pack_site(of, sorted[i].before - 1, out);
        pack_site(of, sorted[i].at - 1, out);
        rfn_buf_varint(out, sorted[i].wall_ns / RFN_USAGE_NS);
        rfn_buf_varint(out, sorted[i].cpu_ns / RFN_USAGE_NS);
        rfn_buf_varint(out, sorted[i].core_wait_ns / RFN_USAGE_NS);
    }
    free(sorted);
    return rfn_buf_status(out);
}
