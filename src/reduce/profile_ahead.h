/* profile_ahead.h - the lists of a stream's profile (stream_profile.h), which representative is
 * executed when and what corrects its start, coded block by block while segments are still put in.
 * In the end, where they are most of what there is to code, only the last block of each is left.
 *
 * A list counts representatives in the order in which they are executed first. That is known at
 * once, until the store widens a threshold: then others are executed, and all begins anew.
 * Corrections depend on the length and the pace of representatives, which are averages. So these
 * are frozen: of one that is new when it is met here, and of all again, with new corrections, when
 * the stream is twice as long as the last time. What is in the archive then are averages over half
 * of the run at least, or, of a representative that came later, over its first executions. If most
 * of the stream has come since all were frozen, as nobody met any more, corrections are not used.
 *
 * Each segment is gone over twice on average for corrections, and up to four times for
 * representatives: if it were more, what widening made useless stays so until the stream is longer.
 */
#ifndef RFN_REDUCE_PROFILE_AHEAD_H
#define RFN_REDUCE_PROFILE_AHEAD_H

#include "reduce/list_writer.h"
#include "reduce/segment_starts.h"

enum { RFN_PROFILE_TOP = -1, RFN_PROFILE_LOOSE = -1 };

/* How the segments of a stream are held. Borrowed. */
struct rfn_profile_segments {
    const struct rfn_column *order;    /* context of each, or TOP */
    const struct rfn_column *number;   /* of all but those of the top: in the store, or LOOSE */
    const struct rfn_column *lateness; /* of each start (rfn_start_hold) */
    const struct rfn_column *lengths;  /* of those of the top and loose ones */
    int64_t first;                     /* start of the first one */
};

struct rfn_profile_ahead {
    struct rfn_context_ahead {
        struct rfn_list_ahead representative, correction;
        uint32_t *number_of; /* by number in the store: that in the list + 1; 0: it has none yet */
        size_t capacity;
        uint32_t n; /* numbers in the list */
    } * contexts;
    size_t capacity; /* contexts there are */
    struct rfn_profile_place {
        uint64_t segments, numbers, lengths; /* values of the columns that were gone over */
    } representatives, corrections;
    struct rfn_start_place start; /* where corrections are */
    uint64_t frozen_at;           /* segments of the stream, when all were frozen */
    uint64_t gone_over;           /* segments, all beginnings together */
    uint64_t forwarded;           /* by the store, when it began */
    bool given_up;
};

/* Takes the segments that are new since the last time, and freezes what the store has. Without
 * memory it is given up. */
void rfn_profile_ahead_take(struct rfn_profile_ahead *ahead,
                            const struct rfn_profile_segments *segments,
                            const struct rfn_start_rule *starts, struct rfn_store *store);
/* After the last of n segments: what is of no use goes. */
void rfn_profile_ahead_end(struct rfn_profile_ahead *ahead, struct rfn_store *store, uint64_t n);
/* Frees what it holds, for good, and thaws what the store has. */
void rfn_profile_ahead_give_up(struct rfn_profile_ahead *ahead, struct rfn_store *store);
void rfn_profile_ahead_release(struct rfn_profile_ahead *ahead);
/* What is coded of the context's lists, or NULL. */
const struct rfn_context_ahead *rfn_profile_ahead_of(const struct rfn_profile_ahead *ahead,
                                                     uint32_t context);
/* Bytes held, besides the struct itself. */
size_t rfn_profile_ahead_bytes(const struct rfn_profile_ahead *ahead);

#endif
