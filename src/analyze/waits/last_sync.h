/* last_sync.h - where a stream last went on because of another one: the messages it received.
 *
 * A meeting is a point in each of the two histories (history.h): where the one went on, and where
 * the other one had entered the call that it waited for, or might have. The other one was not
 * behind then, so what makes it late afterwards it has done since. It is not so the other way
 * round: a stream that is late finds messages that were sent long ago.
 */
#ifndef RFN_ANALYZE_WAITS_LAST_SYNC_H
#define RFN_ANALYZE_WAITS_LAST_SYNC_H

#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

struct rfn_last_sync {
    uint32_t stream, other;
    uint64_t at, other_at;
};

struct rfn_last_syncs {
    struct rfn_last_sync *items;
    size_t n, capacity;
    struct rfn_map index; /* stream, other -> its last meeting */
};

void rfn_last_syncs_release(struct rfn_last_syncs *meetings);

/* Where the last meeting of the two streams is, made if need be. RFN_E_NOMEM. */
int64_t rfn_last_syncs_place(struct rfn_last_syncs *meetings, const struct rfn_last_sync *meeting);
/* The meeting takes place of the one that the two streams had before; `hint` is where the caller
 * remembers the pair, 0 at first. RFN_E_NOMEM. */
static inline int rfn_last_syncs_add(struct rfn_last_syncs *meetings, uint32_t *hint,
                                     const struct rfn_last_sync *meeting)
{
    const struct rfn_last_sync *hinted = *hint ? &meetings->items[*hint - 1] : NULL;
    if (!hinted || hinted->stream != meeting->stream || hinted->other != meeting->other) {
        int64_t at = rfn_last_syncs_place(meetings, meeting);
        RFN_TRY((int)(at < 0 ? at : 0));
        *hint = (uint32_t)at + 1;
    }
    meetings->items[*hint - 1] = *meeting;
    return 0;
}
/* The last one of `stream` with `other`; NULL: none. hint: as above, or 0. */
const struct rfn_last_sync *rfn_last_syncs_look_up(const struct rfn_last_syncs *meetings,
                                                   uint32_t stream, uint32_t other);
static inline const struct rfn_last_sync *rfn_last_syncs_find(const struct rfn_last_syncs *meetings,
                                                              uint32_t hint, uint32_t stream,
                                                              uint32_t other)
{
    const struct rfn_last_sync *hinted = hint ? &meetings->items[hint - 1] : NULL;
    if (hinted && hinted->stream == stream && hinted->other == other)
        return hinted;
    return rfn_last_syncs_look_up(meetings, stream, other);
}

#endif
