/* segments.h - the segments of a stream, one after the other, with their vectors.
 *
 * A segment goes from the exit of the event before it (of the first one: from its own first enter)
 * to the exit of its last event, so that segments lie end to end.
 */
#ifndef RFN_ANALYZE_TRACE_PROFILE_SEGMENTS_H
#define RFN_ANALYZE_TRACE_PROFILE_SEGMENTS_H

#include "reduce/segments/representative_store.h"
#include "refrain/archive.h"

struct rfn_segments;

/* Borrowed until the next call. */
struct rfn_stream_segment {
    struct rfn_segment segment; /* events are symbols, extra values as for rfn_pack_profile */
    const uint32_t *functions;  /* of each event */
    const uint32_t *paths;
    int64_t start_ns;
    bool top; /* it lies outside of loops that cut */
};

/* min_calls: as for rfn_cursor_cut_segments. Errors: those of rfn_cursor_open. */
int rfn_segments_open(const struct rfn_archive *archive, uint32_t stream, uint32_t min_calls,
                      struct rfn_segments **segments, struct rfn_diag *diag);
/* 1 and *segment, 0 at the end, or an error of rfn_cursor_next. */
int rfn_segments_next(struct rfn_segments *segments, const struct rfn_stream_segment **segment,
                      struct rfn_diag *diag);
void rfn_segments_close(struct rfn_segments *segments);

#endif
