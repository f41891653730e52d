/* spread_sums.h - how far times lie apart, as sums. Added and merged in any order, along any tree,
 * they are the same to the bit.
 *
 * Times are nanoseconds. Their sum and the sum of their squares are integers of 128 bits, modulo
 * 2^128: enough for 2^20 ranks that run for 50 days. Bin 0 counts the zeros, bin b the times from
 * 2^(b-1) to below 2^b; only bins from the first to the last that has one are held.
 *
 * A *place* of a stream is one of its sites (function and call path), or its failed polls. A
 * *position* is a place after a site, that of the event before. A table has, of each position, the
 * times before the call (since the exit of the event before) and in it.
 */
#ifndef RFN_REDUCE_SEGMENTS_SPREAD_SUMS_H
#define RFN_REDUCE_SEGMENTS_SPREAD_SUMS_H

#include "base/buf.h"

__extension__ typedef unsigned __int128 rfn_u128;

enum { RFN_SPREAD_BINS = 65 };

struct rfn_spread_sums {
    rfn_u128 sum, squares;
    uint64_t n, min, max; /* min and max are 0 without any */
    uint64_t *bins;       /* n_bins of them */
    uint8_t first_bin, n_bins;
};

/* The bin of a time. */
static inline unsigned rfn_spread_bin(uint64_t time)
{
    return time ? 64 - (unsigned)__builtin_clzll(time) : 0;
}

/* RFN_E_NOMEM; then the sums can only be released. */
int rfn_spread_sums_add(struct rfn_spread_sums *sums, uint64_t time);
int rfn_spread_sums_merge(struct rfn_spread_sums *to, const struct rfn_spread_sums *from);
void rfn_spread_sums_release(struct rfn_spread_sums *sums); /* empty and usable again */

/* The mean, rounded down; 0 without any. */
uint64_t rfn_spread_sums_mean(const struct rfn_spread_sums *sums);
/* The standard deviation of all that were added, rounded down. */
uint64_t rfn_spread_sums_deviation(const struct rfn_spread_sums *sums);

/* A place behind more sites is *full*, and one position: whichever was met or merged first. */
enum { RFN_SITES_BEFORE_MOST = 16 };
#define RFN_NO_SITE_BEFORE UINT32_MAX /* of streams' first events, and where a place is full */

struct rfn_position_sums {
    struct rfn_spread_sums before, duration;
    uint32_t after;                 /* the site before, or RFN_NO_SITE_BEFORE */
    struct rfn_position_sums *next; /* of the same place; sites before ascend */
};

struct rfn_place_sums {
    struct rfn_position_sums *first, *recent; /* NULL: without events */
    uint32_t sites_before;
    bool full;
};

/* By place: twice the number of the site, and one more for failed polls. All zeros is an empty
 * one. */
struct rfn_spread_table {
    struct rfn_place_sums *places;
    size_t n, capacity; /* n: one more than the highest that has been used */
    size_t bytes;       /* held */
    uint32_t before;    /* one more than the site of the last event that was added; 0: none was */
};

static inline size_t rfn_spread_place(uint32_t site, bool failed_poll)
{
    return 2 * (size_t)site + failed_poll;
}

/* Adds the stream's next event, which was entered and left then, any numbers; the event before was
 * left at `last`. The first one has no time before it. What is negative is taken as 0.
 * RFN_E_NOMEM; then the table can only be released. */
int rfn_spread_table_event(struct rfn_spread_table *table, size_t place, int64_t last,
                           int64_t enter, int64_t exit);
/* What `from` is after does not matter. RFN_E_NOMEM. */
int rfn_position_sums_merge(struct rfn_position_sums *to, const struct rfn_position_sums *from);
void rfn_position_sums_release(struct rfn_position_sums *sums); /* not what it lies in */
/* For tables of whole streams: nothing can be added to `to` as an event afterwards. */
int rfn_spread_table_merge(struct rfn_spread_table *to, const struct rfn_spread_table *from);
void rfn_spread_table_release(struct rfn_spread_table *table);

/* The same as bytes, for other ranks. Reading merges what is read into `to`: RFN_E_EXCHANGE where
 * it is malformed, RFN_E_NOMEM. */
void rfn_spread_table_write(const struct rfn_spread_table *table, struct rfn_buf *out);
int rfn_spread_table_read(struct rfn_spread_table *to, struct rfn_reader *reader);

#endif
