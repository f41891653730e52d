/* wait_tally.h - adds up waits by pattern and call path, and their causes. */
#ifndef RFN_ANALYZE_WAITS_WAIT_TALLY_H
#define RFN_ANALYZE_WAITS_WAIT_TALLY_H

#include "analyze/match/activity.h"
#include "analyze/waits/delay.h"
#include "refrain/waits.h"

struct rfn_tally_row {
    enum rfn_pattern pattern;
    uint32_t site;
    uint64_t count;
    int64_t total_ns, max_ns, wrong_order_ns;
    int64_t *ns_by_rank;
};

struct rfn_tally_blame {
    uint32_t cause, row;
    int64_t ns, direct_ns;
};

struct rfn_wait_tally {
    uint32_t n_ranks;
    struct rfn_tally_row *rows;
    size_t n_rows, rows_capacity;
    struct rfn_map row_index; /* pattern, site -> row */
    struct rfn_tally_blame *blames;
    size_t n_blames, blames_capacity;
    struct rfn_map blame_index; /* row, cause -> blame */
    int64_t unexplained_ns;
};

void rfn_tally_init(struct rfn_wait_tally *tally, uint32_t n_ranks);
void rfn_tally_release(struct rfn_wait_tally *tally);

/* A rank waited: blames (none: unexplained) add up to ns. The number of its row; RFN_E_NOMEM. */
int64_t rfn_tally_in_row(struct rfn_wait_tally *tally, enum rfn_pattern pattern, uint32_t site,
                         uint32_t rank, int64_t ns, const struct rfn_blame *blames,
                         size_t n_blames);
static inline int rfn_tally_wait(struct rfn_wait_tally *tally, enum rfn_pattern pattern,
                                 uint32_t site, uint32_t rank, int64_t ns,
                                 const struct rfn_blame *blames, size_t n_blames)
{
    int64_t row = rfn_tally_in_row(tally, pattern, site, rank, ns, blames, n_blames);
    return (int)(row < 0 ? row : 0);
}
/* Puts rows and causes into waits, most time first, and leaves the tally empty. RFN_E_NOMEM. */
int rfn_tally_finish(struct rfn_wait_tally *tally, const struct rfn_activities *activities,
                     const struct rfn_delays *delays, struct rfn_waits *waits);

#endif
