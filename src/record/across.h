/* across.h - the end of recording: processes whose times went alike keep them once
 * (doc/trace-profiling.md, Across processes).
 *
 * Three collective steps, all of them after the streams were reduced and have their groups. None of
 * them can make the recording fail: when something is missing, on any rank, each stream stands for
 * itself, and rank 0 knows.
 */
#ifndef RFN_RECORD_ACROSS_H
#define RFN_RECORD_ACROSS_H

#include "reduce/process_groups.h"
#include "reduce/stream.h"

struct rec_across {
    struct rfn_exchange *exchange;
    struct rfn_criterion criterion;
    struct rfn_time_line line; /* of this process; at_ns is complete after rec_across_run */
    int64_t start_ns;          /* of the process, on a clock that all share */
    struct rfn_process_groups groups;
    uint64_t *streams; /* of the sets, by their places in the list: own numbers of streams */
    size_t n_streams, capacity;
    int error; /* of this rank, so far */
};

/* Collective: rank 0 tells how processes are compared, and what is known of the nodes' clocks
 * (`clocks`, as clock_sync.h says; may be NULL). */
void rec_across_begin(struct rec_across *across, struct rfn_exchange *exchange,
                      const struct rfn_buf *clocks);
/* A stream of this process, in order. number: over all ranks. often: whether another stream is of
 * its class. origin_ns: the smallest start_ns of all ranks. */
void rec_across_stream(struct rec_across *across, const struct rfn_stream *stream, uint64_t number,
                       struct rfn_hash128 class_, bool often, int64_t origin_ns);
/* Collective, after the last one. 0, or why processes are not compared. */
int rec_across_run(struct rec_across *across);
/* Then: the stream whose times those of the stream with this number are. */
uint64_t rec_across_of(const struct rec_across *across, uint64_t number);
void rec_across_release(struct rec_across *across);

#endif
