/* stream_reduction.h - the times of a stream that is being recorded, reduced to those of segments
 * that differ (doc/trace-profiling.md, At run time).
 *
 * In each epoch of the stream the segments that have come since the last one are walked over
 * (segment_walk.h) and put into the stream's profile (stream_profile.h), which is all that is left
 * of their times.
 */
#ifndef RFN_REDUCE_SEGMENTS_STREAM_REDUCTION_H
#define RFN_REDUCE_SEGMENTS_STREAM_REDUCTION_H

#include "reduce/fold/stream.h"
#include "reduce/segments/contexts.h"
#include "reduce/segments/spread_sums.h"
#include "reduce/segments/stream_profile.h"

/* How times are reduced. */
struct rfn_reducing {
    struct rfn_criterion criterion; /* a threshold of time is in thousands of the stream's quanta */
    uint32_t min_calls;             /* of an iteration that is a segment; at least 1 */
    uint32_t max_per_kind;          /* as in the store */
    bool exact_starts;
    double quantum_ns; /* length of a quantum */
};

/* To be a stream's sink; it holds less by wider thresholds (rfn_representative_store_widen). */
extern const struct rfn_time_sink rfn_stream_reduction_sink;

struct rfn_stream_profile *
rfn_stream_reduction_profile(const struct rfn_stream_reduction *reduction);
/* How far the times of all that was taken lie apart; NULL: memory did not suffice for that. */
const struct rfn_spread_table *
rfn_stream_reduction_spread(const struct rfn_stream_reduction *reduction);
/* What the profile's contexts are; loops as the stream's fold numbers them. */
const struct rfn_contexts *
rfn_stream_reduction_contexts(const struct rfn_stream_reduction *reduction);

#endif
