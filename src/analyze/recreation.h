/* recreation.h - the times of a stream's events, recreated from representatives and their
 * executions.
 *
 * Segments start where those before predict it, plus a correction; events lie in them as in the
 * representative, or, where segments are stretched (refrain-archive(5), PROFILE), in proportion to
 * the time until the next segment starts. What would be earlier than an event before it happens at
 * the time of that one.
 */
#ifndef RFN_ANALYZE_RECREATION_H
#define RFN_ANALYZE_RECREATION_H

#include "reduce/stream_profile.h"

struct rfn_recreation {
    struct rfn_profile_walk *walk, *ahead; /* ahead: a segment further; NULL: not stretched */
    struct rfn_executed executed;          /* the last segment */
    int64_t begin_ns, room_ns;             /* where it begins, and how long it lasts if stretched */
    int64_t last_ns;                       /* the last recreated time: none is before it */
};

/* RFN_E_NOMEM. Either way to be closed. The profile is finished, and borrowed. */
int rfn_recreation_open(struct rfn_recreation *recreation,
                        const struct rfn_stream_profile *profile);
/* The next segment, in order. 0; RFN_E_RANGE when there are no more segments; RFN_E_NOMEM. */
int rfn_recreation_next(struct rfn_recreation *recreation);
/* The time of the vector's element i (1 to 2 n) of that segment, in order; never before the one
 * before. */
int64_t rfn_recreation_time(struct rfn_recreation *recreation, size_t i);
/* Puts a failure of the above into words. */
int rfn_recreation_failed(int error, struct rfn_diag *diag);
void rfn_recreation_close(struct rfn_recreation *recreation);

#endif
