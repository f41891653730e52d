/* rank_set.h - a set of ranks as few blocks: a start, and count and stride per dimension (the rank
 * lists of Bahmani and Mueller, 2). The interior of an 8 x 8 grid of ranks is one block, from 9 on,
 * 6 times 8 apart, of 6 times 1.
 *
 * The blocks are a function of the set alone, and those of sets that are united are found anew, so
 * the order of unions does not matter. Finding them takes time linear in the number of ranks.
 */
#ifndef RFN_REDUCE_CLUSTERS_RANK_SET_H
#define RFN_REDUCE_CLUSTERS_RANK_SET_H

#include "base/buf.h"
#include "refrain/clusters.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeros is the empty set. */
struct rfn_rank_set {
    struct rfn_rank_block *blocks; /* by start, ascending */
    size_t n_blocks, capacity;
    uint64_t n; /* ranks */
};

void rfn_rank_set_release(struct rfn_rank_set *set);
/* Replaces the set by these ranks, in ascending order without repetitions. RFN_E_NOMEM. */
int rfn_rank_set_assign(struct rfn_rank_set *set, const uint32_t *ranks, size_t n);
/* All ranks in ascending order; room for n. */
void rfn_rank_set_list(const struct rfn_rank_set *set, uint32_t *ranks);
/* Adds the ranks of other, which set has none of. RFN_E_NOMEM: set is as it was. */
int rfn_rank_set_unite(struct rfn_rank_set *set, const struct rfn_rank_set *other);

void rfn_rank_set_write(const struct rfn_rank_set *set, struct rfn_buf *out);
/* Reads what write has written, of ranks below n_ranks, into an empty set. RFN_E_CORRUPT,
 * RFN_E_NOMEM. */
int rfn_rank_set_read(struct rfn_rank_set *set, struct rfn_reader *reader, uint32_t n_ranks);

#endif
