/* match_point.h - points in the history of a stream, and waits until one. */
#ifndef RFN_ANALYZE_MATCH_MATCH_POINT_H
#define RFN_ANALYZE_MATCH_MATCH_POINT_H

#include "base/order.h"
#include "refrain/waits.h"

/* The enter of a call that others may wait for. */
struct rfn_point {
    uint32_t stream;
    uint64_t at; /* the consumer's number of it (matching.h): of the event, or of what was logged */
    int64_t ns;
};

/* A call had to wait until another stream came to a point. ns 0: it had not. */
struct rfn_wait {
    enum rfn_pattern pattern;
    int64_t ns;
    struct rfn_point until;
    uint32_t last_sync; /* where that of the two streams may be (last_sync.h), or 0 */
};

#endif
