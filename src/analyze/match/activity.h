/* activity.h - numbers for call sites, and for what ranks do at them and between them, in which
 * regions. */
#ifndef RFN_ANALYZE_MATCH_ACTIVITY_H
#define RFN_ANALYZE_MATCH_ACTIVITY_H

#include "base/grow.h"
#include "base/map.h"
#include "event/calls.h"
#include "refrain/waits.h"

#include <stddef.h>
#include <stdlib.h>

struct rfn_activities {
    struct rfn_activity *items;
    size_t n, capacity;
    struct rfn_call_site *sites;
    size_t n_sites, sites_capacity;
    uint32_t *next; /* + 1: the next activity with the same hash */
    size_t next_capacity;
    struct rfn_map index, site_index;
};

/* The number of a call site; RFN_E_NOMEM. */
int64_t rfn_site_of(struct rfn_activities *activities, struct rfn_call_site site);
/* The number of an activity; RFN_E_NOMEM. */
int64_t rfn_activity_of(struct rfn_activities *activities, const struct rfn_activity *activity);
void rfn_activities_release(struct rfn_activities *activities);

/* ---- regions of the program that a stream is in ---- */

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
