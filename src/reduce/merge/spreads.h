/* spreads.h - how far times lie apart per cluster and position, merged over ranks.
 *
 * The *cluster* of a stream are all streams that have the same sites in the same order: they call
 * the same functions from the same places, and met them in the same order. Each rank knows that of
 * itself, as a digest. A group (equal structure) lies within a cluster, and so does a shape
 * (structures that differ only in numbers), so whatever streams share their times are of one
 * cluster; and there are never more clusters than kinds of ranks, where parameters of their own
 * would make every rank a group.
 *
 * Merging is exact, associative and commutative (spread_sums.h).
 */
#ifndef RFN_REDUCE_MERGE_SPREADS_H
#define RFN_REDUCE_MERGE_SPREADS_H

#include "base/hash.h"
#include "base/map.h"
#include "reduce/merge/exchange.h"
#include "reduce/segments/spread_sums.h"

struct rfn_cluster_sums {
    struct rfn_hash128 digest;      /* of its sites */
    uint64_t first_stream, streams; /* the lowest, how many */
    struct rfn_spread_table table;
};

struct rfn_spreads {
    struct rfn_cluster_sums *clusters; /* in order of first_stream, if they came so */
    size_t n, capacity;
    struct rfn_map by_digest;
    size_t bytes, max_bytes; /* held in tables; and at most, 0: no limit */
};

/* The digest of sites is that of the sites before (first {0, 0}) and of one more: the archive's
 * numbers of its function and path. */
struct rfn_hash128 rfn_sites_digest(struct rfn_hash128 before, uint64_t function, uint64_t path);

/* Adds a stream's times; the table is copied. RFN_E_NOMEM, also beyond max_bytes. */
int rfn_spreads_add(struct rfn_spreads *spreads, struct rfn_hash128 digest, uint64_t stream,
                    const struct rfn_spread_table *table);
void rfn_spreads_release(struct rfn_spreads *spreads);

/* As bytes; reading merges into what is there, RFN_E_EXCHANGE, RFN_E_NOMEM. */
void rfn_spreads_write(const struct rfn_spreads *spreads, struct rfn_buf *out);
int rfn_spreads_read(struct rfn_spreads *spreads, const uint8_t *bytes, size_t size);

/* Collective, along the tree: afterwards rank 0 has what all have. error < 0: this rank has nothing
 * to contribute, and then nobody has: rank 0 gets RFN_E_EXCHANGE (or its own error). */
int rfn_spreads_run(struct rfn_spreads *spreads, struct rfn_exchange *exchange, int error);

#endif
