/* stream_reduction.h - the times of a stream that is being recorded, reduced to those of segments
 * that differ (doc/trace-profiling.md, At run time).
 *
 * The stream keeps times in columns, and calls this when they are to go: in the end, and before
 * that whenever they take too much memory (an epoch). Each time the segments that have come since
 * are walked over (segment_walk.h) and put into the stream's profile (stream_profile.h), which is
 * all that is left of their times.
 */
#ifndef RFN_REDUCE_STREAM_REDUCTION_H
#define RFN_REDUCE_STREAM_REDUCTION_H

#include "reduce/contexts.h"
#include "reduce/spread_sums.h"
#include "reduce/stream.h"
#include "reduce/stream_profile.h"

/* How times are reduced. */
struct rfn_reducing {
    struct rfn_criterion criterion; /* a threshold of time is in thousands of the stream's quanta */
    uint32_t min_calls;             /* of an iteration that is a segment; at least 1 */
    uint32_t max_per_kind;          /* as in the store */
    bool exact_starts;
    double quantum_ns; /* length of a quantum */
};

struct rfn_stream_reduction;

/* For this stream, borrowed. max_events: as in stream_profile.h. NULL: out of memory. */
struct rfn_stream_reduction *rfn_stream_reduction_new(const struct rfn_stream *stream,
                                                      const struct rfn_reducing *reducing,
                                                      uint64_t max_events);
void rfn_stream_reduction_free(struct rfn_stream_reduction *reduction); /* may be NULL */

/* Takes what has come since the last time, as rfn_segment_walk_run says. After an error the
 * reduction can only be freed. */
int rfn_stream_reduction_take(struct rfn_stream_reduction *reduction);
/* The last event of what was taken ended so much later, and counted so much more volume (if it has
 * any). */
void rfn_stream_reduction_end_later(struct rfn_stream_reduction *reduction, int64_t quanta,
                                    int64_t volume);
/* After the last time: the profile is finished, in this room. */
int rfn_stream_reduction_finish(struct rfn_stream_reduction *reduction,
                                const struct rfn_room *room);
/* Holds less, with wider thresholds: rfn_store_widen. */
int rfn_stream_reduction_widen(struct rfn_stream_reduction *reduction);

size_t rfn_stream_reduction_bytes(const struct rfn_stream_reduction *reduction);
struct rfn_stream_profile *
rfn_stream_reduction_profile(const struct rfn_stream_reduction *reduction);
/* How far the times of all that was taken lie apart; NULL: memory did not suffice for that. */
const struct rfn_spread_table *
rfn_stream_reduction_spread(const struct rfn_stream_reduction *reduction);
/* What the profile's contexts are; loops as the stream's fold numbers them. */
const struct rfn_contexts *
rfn_stream_reduction_contexts(const struct rfn_stream_reduction *reduction);
#endif
