/* rank_runs.h - one word per rank, kept as runs of ranks whose word is the same, or differs from
 * the rank's own number by the same amount.
 *
 * Peers, colours and displacements differ from rank to rank, but mostly as "my rank + 1" or "rank
 * 0". A run holds a stretch of consecutive members; as long as both forms fit both are kept, so
 * that sequences can be joined end to end on the way up a tree of ranks.
 */
#ifndef RFN_REDUCE_MERGE_RANK_RUNS_H
#define RFN_REDUCE_MERGE_RANK_RUNS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct rfn_run_of_ranks {
    uint64_t count;
    bool is_absolute, is_relative; /* at least one */
    int64_t absolute, relative;
};

struct rfn_rank_runs {
    struct rfn_run_of_ranks *runs;
    size_t n, capacity;
};

#define RFN_RUNS_INIT \
    {                 \
        0             \
    }

void rfn_rank_runs_release(struct rfn_rank_runs *runs);

/* Appends the word of one more member. reference: the member's own number; relative says whether
 * word - reference makes sense (not for special values). RFN_E_NOMEM. */
int rfn_rank_runs_append(struct rfn_rank_runs *runs, int64_t word, bool relative,
                         int64_t reference);

/* For passing up: all that is known, both forms. rfn_rank_runs_join reads such bytes and appends
 * their members. RFN_E_EXCHANGE when they are malformed. */
void rfn_rank_runs_write(const struct rfn_rank_runs *runs, struct rfn_buf *out);
int rfn_rank_runs_join(struct rfn_rank_runs *runs, struct rfn_reader *reader);

/* The archive's form (refrain-archive(5), Runs over ranks). */
void rfn_rank_runs_pack(const struct rfn_rank_runs *runs, struct rfn_buf *out);

#endif
