#include "analyze/meetings.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_meetings_release(struct rfn_meetings *meetings)
{
    free(meetings->items);
    rfn_map_release(&meetings->index);
}

static uint64_t key_of(uint32_t stream, uint32_t other)
{
    return (uint64_t)stream << 32 | other;
}

static int64_t place_of(struct rfn_meetings *meetings, const struct rfn_meeting *meeting)
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

int rfn_meetings_add(struct rfn_meetings *meetings, uint32_t *hint,
                     const struct rfn_meeting *meeting)
{
    const struct rfn_meeting *hinted = *hint ? &meetings->items[*hint - 1] : NULL;
    if (!hinted || hinted->stream != meeting->stream || hinted->other != meeting->other) {
        int64_t at = place_of(meetings, meeting);
        RFN_TRY((int)(at < 0 ? at : 0));
        *hint = (uint32_t)at + 1;
    }
    meetings->items[*hint - 1] = *meeting;
    return 0;
}

const struct rfn_meeting *rfn_meetings_find(const struct rfn_meetings *meetings, uint32_t stream,
                                            uint32_t other)
{
    const uint64_t *at = rfn_map_get(&meetings->index, key_of(stream, other));
    return at ? &meetings->items[*at] : NULL;
}
