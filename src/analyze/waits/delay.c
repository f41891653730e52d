#include "analyze/waits/delay.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_delays_release(struct rfn_delays *delays)
{
    free(delays->causes);
    rfn_map_release(&delays->index);
    rfn_sums_release(&delays->sums);
    rfn_last_syncs_release(&delays->last_syncs);
}

static int64_t cause_of(struct rfn_delays *delays, uint32_t rank, uint32_t activity)
{
    uint64_t key = (uint64_t)rank << 32 | activity;
    const uint64_t *at = rfn_map_get(&delays->index, key);
    if (at)
        return (int64_t)*at;
    size_t n = delays->n_causes;
    RFN_TRY(RFN_GROW(delays->causes, delays->causes_capacity, n + 1));
    RFN_TRY(rfn_map_put(&delays->index, key, n));
    delays->causes[delays->n_causes++] = (struct rfn_delayer){rank, activity};
    return (int64_t)n;
}

/* An excess, while it is not yet a share of the wait: `cause` is what was in excess. */
static inline void offer(struct rfn_delays *delays, uint32_t what, int64_t ns)
{
    struct rfn_blame *blames = delays->blames;
    size_t at = delays->n_blames;
    if (at < RFN_DELAY_CAUSES)
        delays->n_blames++;
    else if (blames[--at].ns >= ns)
        return;
    for (; at > 0 && blames[at - 1].ns < ns; at--)
        blames[at] = blames[at - 1];
    blames[at] = (struct rfn_blame){.cause = what, .ns = ns};
}

static inline int64_t excess(const struct rfn_sums *sums, size_t i)
{
    return sums->ns[rfn_sums_at(sums->touched[i])];
}

/* Excesses, largest first; those below 1/64 of the largest are noise. How much longer the late
 * stream took in all. */
static int64_t offer_all(struct rfn_delays *delays)
{
    const struct rfn_sums *sums = &delays->sums;
    int64_t most_ns = 0, all_ns = 0;
    for (size_t i = 0; i < sums->n_touched; i++) {
        most_ns = rfn_most(most_ns, excess(sums, i));
        all_ns += excess(sums, i);
    }
    const int64_t least_ns = rfn_most(most_ns / 64, 1);
    delays->n_blames = 0;
    for (size_t i = 0; i < sums->n_touched; i++) {
        if (excess(sums, i) >= least_ns)
            offer(delays, sums->touched[i], excess(sums, i));
    }
    return all_ns;
}

/* What of the wait no excess explains, but that the late stream was the later one already where the
 * two were in step. */
static int64_t late_before(const struct rfn_delays *delays, int64_t wait_ns, int64_t longer_ns)
{
    int64_t left = wait_ns;
    for (size_t i = 0; i < delays->n_blames; i++)
        left -= delays->blames[i].ns;
    return rfn_most(rfn_least(left, wait_ns - longer_ns), 0);
}

/* The call in which they were is to blame for that. */
static int blame_call(struct rfn_delays *delays, uint32_t rank, uint32_t what, int64_t ns)
{
    int64_t cause = cause_of(delays, rank, what);
    RFN_TRY((int)(cause < 0 ? cause : 0));
    delays->blames[delays->n_blames++] = (struct rfn_blame){(uint32_t)cause, ns, true};
    return 0;
}

/* Excesses become shares of the wait; what rounding leaves goes to the largest. */
static int divide(struct rfn_delays *delays, uint32_t rank, int64_t wait_ns)
{
    double all = 0;
    int64_t left = wait_ns;
    for (size_t i = 0; i < delays->n_blames; i++)
        all += (double)delays->blames[i].ns;
    for (size_t i = 0; i < delays->n_blames; i++) {
        struct rfn_blame *blame = &delays->blames[i];
        uint32_t what = blame->cause;
        int64_t cause = what & ~RFN_PASSED_ON;
        blame->direct = !(what & RFN_PASSED_ON);
        if (blame->direct)
            RFN_TRY((int)((cause = cause_of(delays, rank, what)) < 0 ? cause : 0));
        blame->cause = (uint32_t)cause;
        blame->ns = (int64_t)((double)wait_ns * ((double)blame->ns / all));
        left -= blame->ns;
    }
    if (delays->n_blames)
        delays->blames[0].ns += left;
    return 0;
}

/* Where the two streams were last in step: by a mark, or by a message since then. The last message
 * is mostly later than all marks. */
static struct rfn_in_step in_step(const struct rfn_delays *delays,
                                  const struct rfn_history *waiting, uint32_t stream, uint64_t at,
                                  const struct rfn_history *late, const struct rfn_wait *wait)
{
    const struct rfn_point *until = &wait->until;
    const struct rfn_last_sync *sync = rfn_last_syncs_find(&delays->last_syncs, wait->last_sync,
                                                           stream, until->stream);
    if (sync && (sync->at > at || sync->at < waiting->first || sync->other_at > until->at ||
                 sync->other_at < late->first))
        sync = NULL;
    struct rfn_in_step step = {0};
    if (!sync || sync->at <= waiting->marked)
        step = rfn_history_in_step(waiting, at, late, until->at);
    if (sync && sync->at > step.at[0])
        step = (struct rfn_in_step){{sync->at, sync->other_at}, {NULL, NULL}};
    return step;
}

int rfn_delays_find(struct rfn_delays *delays, const struct rfn_history *waiting, uint32_t stream,
                    uint64_t at, const struct rfn_history *late, uint32_t late_rank,
                    const struct rfn_wait *wait)
{
    const struct rfn_point *until = &wait->until;
    delays->n_blames = 0;
    if (until->at < late->first) /* what it did until then is not known any more */
        return 0;
    struct rfn_in_step step = in_step(delays, waiting, stream, at, late, wait);
    rfn_sums_reset(&delays->sums);
    rfn_history_sum(late, step.mark[1], step.at[1], until->at, 1, &delays->sums);
    rfn_history_sum(waiting, step.mark[0], step.at[0], at, -1, &delays->sums);
    const int64_t longer_ns = offer_all(delays);
    const uint32_t call = step.mark[1] ? step.mark[1]->late_by : RFN_NOTHING_LATE;
    const int64_t before_ns = call == RFN_NOTHING_LATE ? 0
                                                       : late_before(delays, wait->ns, longer_ns);
    if (!delays->n_blames && !before_ns && until->at > late->first)
        offer(delays, late->log[(until->at - 1) & late->mask].what, 1);
    RFN_TRY(divide(delays, late_rank, wait->ns - before_ns));
    return before_ns > 0 ? blame_call(delays, late_rank, call, before_ns) : 0;
}
