/* activity.h - numbers for call sites, and for what ranks do at them and between them. */
#ifndef RFN_ANALYZE_MATCH_ACTIVITY_H
#define RFN_ANALYZE_MATCH_ACTIVITY_H

#include "base/map.h"
#include "refrain/waits.h"

#include <stddef.h>

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

#endif
