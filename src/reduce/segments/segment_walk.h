/* segment_walk.h - the segments of a stream that is being recorded (doc/trace-profiling.md, At run
 * time).
 *
 * A walk goes through a stream's structure, with its columns of trips and of what was measured, and
 * delivers each segment with its vector. It runs several times while the stream grows, each time
 * over what has been appended since. Before each run but the last the fold must have been frozen;
 * after it the columns of what was measured must be emptied. The last segment of a run is held
 * back: it may go on.
 *
 * Contexts are numbered as in contexts.h, loops as the fold numbers them; contexts of the top are
 * RFN_CONTEXT_TOP and above. Nothing is allocated per event. A run has one block of each column
 * decoded.
 */
#ifndef RFN_REDUCE_SEGMENTS_SEGMENT_WALK_H
#define RFN_REDUCE_SEGMENTS_SEGMENT_WALK_H

#include "reduce/fold/stream.h"
#include "reduce/segments/contexts.h"
#include "reduce/segments/representative_store.h"

enum { RFN_CONTEXT_TOP = 1 << 30 };

struct rfn_segment_walk;

/* Takes a segment, which is borrowed. Its vector is in the stream's quanta. What else was measured
 * of an event are its extra values, in order of the events: of a failed poll how many there were
 * and the time inside; with volumes, the one in the gap and the one inside. start: quanta. An error
 * ends the run, which returns it. */
typedef int rfn_segment_put(void *context, const struct rfn_segment *segment, int64_t start);

/* For this stream, which has times and is borrowed. NULL: out of memory. */
struct rfn_segment_walk *rfn_segment_walk_new(const struct rfn_stream *stream, uint32_t min_calls,
                                              rfn_segment_put *put, void *context);
void rfn_segment_walk_free(struct rfn_segment_walk *walk); /* may be NULL */

/* Walks over what has been appended since the last run. RFN_E_NOMEM, the errors of put and of the
 * spill; the walk can then only be freed. */
int rfn_segment_walk_run(struct rfn_segment_walk *walk);
/* The last event of a run ended so much later, and counted so much more volume (if it has any). */
void rfn_segment_walk_end_later(struct rfn_segment_walk *walk, int64_t quanta, int64_t volume);
/* After the last run: delivers the segment held back, if there is one. */
int rfn_segment_walk_end(struct rfn_segment_walk *walk);

/* Of the loops that the last run knew. */
const struct rfn_contexts *rfn_segment_walk_contexts(const struct rfn_segment_walk *walk);
size_t rfn_segment_walk_bytes(const struct rfn_segment_walk *walk); /* held between runs */

#endif
