/* open_regions.h - the regions of the program that a stream is in. */
#ifndef RFN_ANALYZE_MATCH_OPEN_REGIONS_H
#define RFN_ANALYZE_MATCH_OPEN_REGIONS_H

#include "base/grow.h"
#include "event/calls.h"
#include "refrain/archive.h"
#include "refrain/profile.h"

#include <stdlib.h>

struct rfn_open_regions {
    uint32_t *items; /* innermost last */
    size_t n, capacity;
};

static inline void rfn_open_regions_release(struct rfn_open_regions *regions)
{
    free(regions->items);
}

/* The innermost one, or RFN_NO_REGION. */
static inline uint32_t rfn_open_regions_innermost(const struct rfn_open_regions *regions)
{
    return regions->n ? regions->items[regions->n - 1] : RFN_NO_REGION;
}

/* An event of the stream, which may begin a region or end the innermost of that name; an end
 * without a beginning ends nothing. RFN_E_NOMEM. */
static inline int rfn_open_regions_event(struct rfn_open_regions *regions,
                                         const struct rfn_call *role,
                                         const struct rfn_record *record)
{
    if (role->kind == RFN_CALL_REGION_BEGIN) {
        RFN_TRY(RFN_GROW(regions->items, regions->capacity, regions->n + 1));
        regions->items[regions->n++] = (uint32_t)record->in[0];
    } else if (role->kind == RFN_CALL_REGION_END) {
        size_t i = regions->n;
        while (i > 0 && regions->items[i - 1] != (uint32_t)record->in[0])
            i--;
        regions->n = i > 0 ? i - 1 : regions->n;
    }
    return 0;
}

#endif
