/* profile_copy.h - what other processes need of a stream's profile to compare their times with it
 * (doc/trace-profiling.md, Across processes).
 *
 * A copy is bytes, about as many as the payload of PROFILE has, that can be sent:
 *
 *   u64 first start, u64 and two doubles (as u64): the line    quanta to nanoseconds of the run
 *   column representatives    per segment, in order: a number, from 0 on in order of first
 *                             execution; loose segments and those of the top have their own
 *   column lateness           per segment: its start, less the one before and that one's pace
 *   column counts, paces      per representative: events; pace less length
 *   columns gaps, durations   of the events of all representatives, one after the other
 *
 * An opened copy has the vectors of the representatives in memory, in nanoseconds, and walks over
 * the segments.
 */
#ifndef RFN_REDUCE_MERGE_PROFILE_COPY_H
#define RFN_REDUCE_MERGE_PROFILE_COPY_H

#include "reduce/segments/stream_profile.h"

/* Quanta of a stream's clock as nanoseconds since the start of the run:
 * at_ns + (quanta - from) * ns_per_quantum. */
struct rfn_time_line {
    uint64_t from;
    double at_ns, ns_per_quantum;
};

/* Of profiles whose times are nanoseconds of the run. */
#define RFN_TIME_LINE_NS    \
    (struct rfn_time_line)  \
    {                       \
        .ns_per_quantum = 1 \
    }

/* Appends a copy of a finished profile to `out`. 1; 0 if it takes more than max_bytes (0: no
 * limit), roughly: out is as it was; RFN_E_NOMEM, or an error of the spill of its columns: out can
 * only be released. */
int rfn_profile_copy_make(const struct rfn_stream_profile *profile,
                          const struct rfn_time_line *line, size_t max_bytes, struct rfn_buf *out);

struct rfn_profile_copy;

/* Borrows the bytes. RFN_E_EXCHANGE: they are none of a copy; RFN_E_NOMEM. *copy is to be closed,
 * and NULL after an error. */
int rfn_profile_copy_open(const struct rfn_buf *bytes, struct rfn_profile_copy **copy);
void rfn_profile_copy_close(struct rfn_profile_copy *copy); /* may be NULL */

/* Whether two streams that have executed the same segments went alike: 1 if all pairs of executions
 * did, 0, RFN_E_NOMEM or RFN_E_EXCHANGE. A pair did if the representatives are similar and the
 * starts differ by no more than is allowed for the larger of the two largest elements. The
 * criterion's method is one that measures. */
int rfn_profile_copies_alike(const struct rfn_criterion *criterion, struct rfn_profile_copy *left,
                             struct rfn_profile_copy *right);

#endif
