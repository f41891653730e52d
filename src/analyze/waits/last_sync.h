/* last_sync.h - where a stream last went on because of another one: the messages it received.
 *
 * A synchronization is a point in each of the two histories (history.h): where the one went on,
 * and where the other one had entered the call that it waited for, or might have. The other one was
 * not behind then, so what makes it late afterwards it has done since. It is not so the other way
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
    struct rfn_map index; /* stream, other -> its last sync */
};

void rfn_last_syncs_release(struct rfn_last_syncs *syncs);

/* Where the last synchronization of the two streams is, made if need be. RFN_E_NOMEM. */
int64_t rfn_last_syncs_place(struct rfn_last_syncs *syncs, const struct rfn_last_sync *sync);
/* The synchronization replaces the one that the two streams had before; `hint` is where the caller
 * remembers the pair, 0 at first. RFN_E_NOMEM. */
static inline int rfn_last_syncs_add(struct rfn_last_syncs *syncs, uint32_t *hint,
                                     const struct rfn_last_sync *sync)
{
    const struct rfn_last_sync *hinted = *hint ? &syncs->items[*hint - 1] : NULL;
    if (!hinted || hinted->stream != sync->stream || hinted->other != sync->other) {
        int64_t at = rfn_last_syncs_place(syncs, sync);
        RFN_TRY((int)(at < 0 ? at : 0));
        *hint = (uint32_t)at + 1;
    }
    syncs->items[*hint - 1] = *sync;
    return 0;
}
/* The last one of `stream` with `other`; NULL: none. hint: as above, or 0. */
const struct rfn_last_sync *rfn_last_syncs_look_up(const struct rfn_last_syncs *syncs,
                                                   uint32_t stream, uint32_t other);
static inline const struct rfn_last_sync *rfn_last_syncs_find(const struct rfn_last_syncs *syncs,
                                                              uint32_t hint, uint32_t stream,
                                                              uint32_t other)
{
    const struct rfn_last_sync *hinted = hint ? &syncs->items[hint - 1] : NULL;
    if (hinted && hinted->stream == stream && hinted->other == other)
        return hinted;
    return rfn_last_syncs_look_up(syncs, stream, other);
}

#endif
