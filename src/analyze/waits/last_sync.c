#include "analyze/waits/last_sync.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_last_syncs_release(struct rfn_last_syncs *syncs)
{
    free(syncs->items);
    rfn_map_release(&syncs->index);
}

static uint64_t key_of(uint32_t stream, uint32_t other)
{
    return (uint64_t)stream << 32 | other;
}

int64_t rfn_last_syncs_place(struct rfn_last_syncs *syncs, const struct rfn_last_sync *sync)
{
    uint64_t key = key_of(sync->stream, sync->other);
    const uint64_t *known = rfn_map_get(&syncs->index, key);
    if (known)
        return (int64_t)*known;
    size_t n = syncs->n;
    RFN_TRY(RFN_GROW(syncs->items, syncs->capacity, n + 1));
    RFN_TRY(rfn_map_put(&syncs->index, key, n));
    syncs->items[syncs->n++] = *sync;
    return (int64_t)n;
}

const struct rfn_last_sync *rfn_last_syncs_look_up(const struct rfn_last_syncs *syncs,
                                                   uint32_t stream, uint32_t other)
{
    const uint64_t *at = rfn_map_get(&syncs->index, key_of(stream, other));
    return at ? &syncs->items[*at] : NULL;
}
