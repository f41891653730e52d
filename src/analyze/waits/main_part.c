/* main_part.c - the run between its start and its end: from the last end of MPI_Init to the first
 * begin of MPI_Finalize (refrain/profile.h).
 *
 * Where ranks wait long in MPI_Finalize, others still do what the run is for: then it goes on to
 * the last begin of MPI_Finalize, and these waits are part of it.
 *
 * MPI_Init leaves when all ranks have entered it, so its last end is known before any rank goes on.
 * The first begin of MPI_Finalize is known in the end only: what a stream did after it is read from
 * its log backwards. Where that does not go as far back, the rest counts as the main part.
 *
 * Where ranks begin or end at very different times, less than half of the run might be left. Then
 * the main part is from the first end of MPI_Init to the last begin of MPI_Finalize, or to the last
 * event. So it is where a rank enters MPI_Init when another one has gone on already: clocks differ,
 * or ranks are of several runs, and what was shown before is not known any more.
 */
#include "analyze/waits/waits_internal.h"

/* Of all ranks' time, from the start of MPI to its end: that much waiting in MPI_Finalize is no
 * noise of ranks that start and end. */
#define LONG_END 0.05

void rfn_pass_enter_setup(struct rfn_wait_pass *pass, struct rfn_wait_stream *stream,
                          const struct rfn_event_order_stream *at)
{
    const enum rfn_call_kind kind = (enum rfn_call_kind)stream->match.symbol->role->kind;
    if (kind == RFN_CALL_INIT) {
        pass->inits_apart |= pass->behind_init && at->exit_ns > pass->main_from_ns;
        pass->first_init_ns = pass->main_from_ns ? rfn_least(pass->first_init_ns, at->exit_ns)
                                                 : at->exit_ns;
        pass->main_from_ns = rfn_most(pass->main_from_ns, at->exit_ns);
    } else if (kind == RFN_CALL_FINALIZE)
        stream->finalize.any = true, stream->finalize.at = stream->history.at,
        stream->finalize.ns = at->enter_ns;
}

void rfn_pass_outside(const struct rfn_wait_pass *pass, uint32_t number, int64_t from_ns,
                      int64_t to_ns, struct rfn_outside *outside)
{
    int64_t off_ns = pass->profile ? rfn_profile_pass_off_ns(pass->profile, number, from_ns, to_ns)
                                   : 0;
    outside->ns += to_ns - from_ns - off_ns;
    outside->off_ns += off_ns;
}

static bool is_outside(const struct rfn_activity *activity)
{
    return activity->kind == RFN_ACTIVITY_COMPUTE || activity->kind == RFN_ACTIVITY_RECORDING;
}

/* What the stream did outside of MPI between a time and its MPI_Finalize, or its last event. What
 * the recorder did in a gap is logged in front of it, wherever it was: so both are taken, and then
 * what the recorder did in that time is taken off. */
static struct rfn_outside end_of(const struct rfn_wait_pass *pass, uint32_t number, int64_t from_ns)
{
    const struct rfn_wait_stream *stream = &pass->streams[number];
    const struct rfn_history *history = &stream->history;
    const int64_t to_ns = stream->finalize.any
                              ? stream->finalize.ns
                              : rfn_event_order_stream(pass->match.replay, number)->exit_ns;
    uint64_t at = stream->finalize.any ? stream->finalize.at : history->at;
    int64_t ns = to_ns;
    size_t own_at = 0;
    struct rfn_outside outside = {0};
    while (at > history->first && ns > from_ns) {
        const struct rfn_logged *did = &history->log[--at & history->mask];
        if (!(did->what & RFN_PASSED_ON) && is_outside(&pass->waits->activities[did->what]))
            rfn_pass_outside(pass, number, rfn_most(ns - did->ns, from_ns), ns, &outside);
        ns -= did->ns;
    }
    outside.ns -= rfn_off_times_overlap(&stream->own, &own_at, rfn_most(ns, from_ns), to_ns);
    return outside;
}

static bool waits_long_at_end(const struct rfn_wait_pass *pass, const struct rfn_profile *profile,
                              int64_t last_ns)
{
    const double all_ns = (double)(profile->end_ns - profile->start_ns) * pass->match.n_streams;
    double waits_ns = 0;
    for (uint32_t i = 0; i < pass->match.n_streams; i++) {
        if (pass->streams[i].finalize.any)
            waits_ns += (double)(last_ns - pass->streams[i].finalize.ns);
    }
    return waits_ns >= LONG_END * all_ns;
}

/* A history that does not go far enough back leaves more than the main part has. */
static void keep_within(struct rfn_profile_rank *rank, int64_t main_ns)
{
    const int64_t all_ns = main_ns * rank->threads;
    rank->main_unrecorded_ns = rfn_least(rfn_most(rank->main_unrecorded_ns, 0), all_ns);
    rank->main_outside_ns = rfn_least(rfn_most(rank->main_outside_ns, 0),
                                      all_ns - rank->main_unrecorded_ns);
}

void rfn_pass_main_part(const struct rfn_wait_pass *pass, struct rfn_profile *profile)
{
    int64_t from_ns = pass->main_from_ns, to_ns = INT64_MAX, last_ns = 0;
    for (uint32_t i = 0; i < pass->match.n_streams; i++) {
        if (!pass->streams[i].finalize.any)
            continue;
        to_ns = rfn_least(to_ns, pass->streams[i].finalize.ns);
        last_ns = rfn_most(last_ns, pass->streams[i].finalize.ns);
    }
    to_ns = rfn_least(to_ns, profile->end_ns);
    const bool is_ended = last_ns > 0;
    last_ns = is_ended ? last_ns : profile->end_ns;
    /* Where ranks begin or end at very different times, most would not be in it. */
    const bool most = !pass->inits_apart && 2 * (to_ns - from_ns) >= last_ns - pass->first_init_ns;
    const bool end_counts = !most || waits_long_at_end(pass, profile, last_ns);
    if (!most)
        from_ns = pass->first_init_ns;
    if (end_counts)
        to_ns = rfn_least(last_ns, profile->end_ns);
    if (from_ns <= profile->start_ns || from_ns >= to_ns)
        return;
    profile->end_counts = end_counts && is_ended;
    profile->main_from_ns = from_ns;
    profile->main_to_ns = to_ns;
    for (uint32_t i = 0; i < pass->match.n_streams; i++) {
        uint32_t rank = rfn_event_order_stream(pass->match.replay, i)->rank;
        if (rank >= profile->n_ranks)
            continue;
        const struct rfn_outside none = {0}, *start = most ? &pass->streams[i].start : &none,
                                 end = end_of(pass, i, to_ns);
        profile->ranks[rank].main_outside_ns -= start->ns + end.ns;
        profile->ranks[rank].main_unrecorded_ns -= start->off_ns + end.off_ns;
    }
    for (uint32_t i = 0; i < profile->n_ranks; i++)
        keep_within(&profile->ranks[i], to_ns - from_ns);
}
