#include "analyze/match/activity.h"

#include "base/grow.h"

#include <stdlib.h>

int64_t rfn_site_of(struct rfn_activities *activities, struct rfn_call_site site)
{
    uint64_t key = (uint64_t)site.function << 32 | site.path;
    const uint64_t *at = rfn_map_get(&activities->site_index, key);
    if (at)
        return (int64_t)*at;
    size_t n = activities->n_sites;
    RFN_TRY(RFN_GROW(activities->sites, activities->sites_capacity, n + 1));
    RFN_TRY(rfn_map_put(&activities->site_index, key, n));
    activities->sites[activities->n_sites++] = site;
    return (int64_t)n;
}

static uint64_t hash_site(uint64_t hash, struct rfn_call_site site)
{
    return rfn_hash_mix(hash, (uint64_t)site.function << 32 | site.path);
}

static bool same_site(struct rfn_call_site a, struct rfn_call_site b)
{
    return a.function == b.function && a.path == b.path;
}

static bool same(const struct rfn_activity *a, const struct rfn_activity *b)
{
    return a->kind == b->kind && a->region == b->region && same_site(a->at, b->at) &&
           same_site(a->before, b->before);
}

int64_t rfn_activity_of(struct rfn_activities *activities, const struct rfn_activity *activity)
{
    uint64_t key = rfn_hash_mix(activity->kind, activity->region);
    key = hash_site(hash_site(key, activity->before), activity->at);
    const uint64_t *first = rfn_map_get(&activities->index, key);
    uint32_t after = first ? (uint32_t)*first : 0;
    for (uint32_t i = after; i; i = activities->next[i - 1]) {
        if (same(&activities->items[i - 1], activity))
            return i - 1;
    }
    size_t n = activities->n;
    RFN_TRY(RFN_GROW(activities->items, activities->capacity, n + 1));
    RFN_TRY(RFN_GROW(activities->next, activities->next_capacity, n + 1));
    RFN_TRY(rfn_map_put(&activities->index, key, n + 1));
    activities->items[n] = *activity;
    activities->next[n] = after;
    activities->n++;
    return (int64_t)n;
}

void rfn_activities_release(struct rfn_activities *activities)
{
    free(activities->items);
    free(activities->sites);
    free(activities->next);
    rfn_map_release(&activities->index);
    rfn_map_release(&activities->site_index);
    *activities = (struct rfn_activities){0};
}
