/* spread.h - adds ranks to a spread (refrain/profile.h), in ascending order. */
#ifndef RFN_ANALYZE_SPREAD_H
#define RFN_ANALYZE_SPREAD_H

#include "refrain/profile.h"

static inline void rfn_spread_add(struct rfn_spread *spread, uint32_t rank, int64_t ns)
{
    if (!spread->ranks || ns < spread->min_ns) {
        spread->min_ns = ns;
        spread->min_rank = rank;
    }
    if (!spread->ranks || ns > spread->max_ns) {
        spread->max_ns = ns;
        spread->max_rank = rank;
    }
    spread->total_ns += ns;
    spread->ranks++;
}

#endif
