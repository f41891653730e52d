/* delay.h - who made a stream wait, and with what (doc/analysis.md, "Causes").
 *
 * A cause is a rank and an activity. The delay of a wait is found by comparing what the two streams
 * did since they were last in step (D. Boehme et al., Identifying the root causes of wait states in
 * large-scale parallel applications, ICPP 2010): excesses of the late stream, each with its share
 * of the wait. An excess of waiting is passed on to its own cause. An excess is charged no more
 * than itself: where excesses are less than the wait, the late stream left the collective call in
 * which the two were in step later than the other one, and that is charged the rest.
 */
#ifndef RFN_ANALYZE_WAITS_DELAY_H
#define RFN_ANALYZE_WAITS_DELAY_H

#include "analyze/match/match_point.h"
#include "analyze/waits/history.h"
#include "analyze/waits/last_sync.h"
#include "base/map.h"

/* A wait is divided among at most so many excesses, the largest ones, and what is left of it. */
enum { RFN_DELAY_CAUSES = 8, RFN_MAX_BLAMES = RFN_DELAY_CAUSES + 1 };

struct rfn_blame {
    uint32_t cause; /* number */
    int64_t ns;
    bool direct; /* not passed on */
};

struct rfn_delayer {
    uint32_t rank, activity;
};

struct rfn_delays {
    struct rfn_delayer *causes;
    size_t n_causes, causes_capacity;
    struct rfn_map index; /* rank, activity -> cause */
    struct rfn_sums sums;
    struct rfn_last_syncs last_syncs;
    struct rfn_blame blames[RFN_MAX_BLAMES];
    size_t n_blames;
};

/* Blames somebody for a wait of a stream whose history was at `at` when it began to wait: fills in
 * delays->blames, whose ns add up to wait->ns; nobody (n_blames 0) if the late stream's history is
 * empty. late_rank: of the stream wait->until.stream. RFN_E_NOMEM. */
int rfn_delays_find(struct rfn_delays *delays, const struct rfn_history *waiting, uint32_t stream,
                    uint64_t at, const struct rfn_history *late, uint32_t late_rank,
                    const struct rfn_wait *wait);
void rfn_delays_release(struct rfn_delays *delays);

#endif
