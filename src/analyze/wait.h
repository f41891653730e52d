/* wait.h - what the parts of the wait-state analysis hand to each other. */
#ifndef RFN_ANALYZE_WAIT_H
#define RFN_ANALYZE_WAIT_H

#include "refrain/waits.h"

/* A point in a stream's history: the enter of a call that others may have waited for. */
struct rfn_point {
    uint32_t stream;
    uint64_t at; /* how many activities of the stream were over (delay.h) */
    int64_t ns;
};

/* A call had to wait until another stream came to a point. ns 0: it had not. */
struct rfn_wait {
    enum rfn_pattern pattern;
    int64_t ns;
    struct rfn_point until;
    uint32_t meeting; /* where that of the two streams may be (meetings.h), or 0 */
};

static inline int64_t rfn_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t rfn_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

#endif
