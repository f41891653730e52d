#include "analyze/waits/last_sync.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_last_syncs_release(struct rfn_last_syncs *meetings)
{
    free(meetings->items);
    rfn_map_release(&meetings->index);
}

static uint64_t key_of(uint32_t stream, uint32_t other)
{
    return (uint64_t)stream << 32 | other;
}

int64_t rfn_last_syncs_place(struct rfn_last_syncs *meetings, const struct rfn_last_sync *meeting)
{
    uint64_t key = key_of(meeting->stream, meeting->other);
    const uint64_t *known = rfn_map_get(&meetings->index, key);
    if (known)
        return (int64_t)*known;
    size_t n = meetings->n;
    RFN_TRY(RFN_GROW(meetings->items, meetings->capacity, n + 1));
    RFN_TRY(rfn_map_put(&meetings->index, key, n));
    meetings->items[meetings->n++] = *meeting;
    return (int64_t)n;
}

const struct rfn_last_sync *rfn_last_syncs_look_up(const struct rfn_last_syncs *meetings,
                                                   uint32_t stream, uint32_t other)
{
    const uint64_t *at = rfn_map_get(&meetings->index, key_of(stream, other));
    return at ? &meetings->items[*at] : NULL;
}
