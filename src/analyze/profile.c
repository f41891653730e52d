/* profile.c - the profile by itself: all streams, each to its end or, of a process with several
 * threads, in order of time; profile_pass.c counts. What follows from a profile is here too.
 */
#include "refrain/profile.h"

#include "analyze/profile_pass.h"
#include "analyze/replay.h"

#include <stdlib.h>

struct pass {
    struct rfn_profile_pass *counts;
    struct rfn_tracker **trackers; /* by rank */
};

static int enter(void *context, uint32_t stream, struct rfn_replay_stream *at)
{
    struct pass *pass = context;
    struct rfn_request_effects effects;
    const struct rfn_record *record = at->record;
    struct rfn_tally *tally;
    RFN_TRY(rfn_profile_pass_tally(pass->counts, stream, record, &tally));
    RFN_TRY(rfn_profile_pass_event(pass->counts, stream, tally, at));
    struct rfn_tracker *tracker = pass->trackers[at->rank];
    if (record->failed_poll || !rfn_tracker_concerns(tracker, record->function))
        return RFN_REPLAY_LEFT;
    RFN_TRY(rfn_tracker_event(tracker, at->thread, at->cursor, record, rfn_tally_volume(tally),
                              rfn_tally_lasts(tally), &effects));
    RFN_TRY(rfn_profile_pass_requests(pass->counts, stream, &effects));
    return RFN_REPLAY_LEFT;
}

static int leave(void *context, uint32_t stream, const struct rfn_replay_stream *at, bool forced)
{
    (void)context, (void)stream, (void)at, (void)forced;
    return 0; /* entering, all have left */
}

static int end(void *context, uint32_t stream)
{
    (void)context, (void)stream;
    return 0;
}

static int read_all(struct pass *pass, const struct rfn_archive *archive,
                    void (*progress)(void *, double), void *context, struct rfn_profile **profile)
{
    const struct rfn_replay_hooks hooks = {.enter = enter,
                                           .leave = leave,
                                           .end = end,
                                           .progress = progress,
                                           .context = pass,
                                           .progress_context = context};
    struct rfn_replay *replay;
    RFN_TRY(rfn_replay_new(archive, &hooks, &replay));
    int error = rfn_replay_run(replay);
    if (error >= 0)
        error = rfn_profile_pass_finish(pass->counts, profile);
    if (error >= 0)
        (*profile)->unreadable = rfn_replay_lost(replay, &(*profile)->error, &(*profile)->diag);
    rfn_replay_free(replay);
    return error;
}

int rfn_profile_new(const struct rfn_archive *archive,
                    void (*progress)(void *context, double share), void *context,
                    struct rfn_profile **profile, struct rfn_diag *diag)
{
    struct pass pass = {.trackers = rfn_trackers_new(archive)};
    int error = pass.trackers ? rfn_profile_pass_new(archive, &pass.counts) : RFN_E_NOMEM;
    if (error >= 0)
        error = read_all(&pass, archive, progress, context, profile);
    rfn_profile_pass_free(pass.counts);
    rfn_trackers_free(pass.trackers, archive);
    return error < 0 ? rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error)) : 0;
}

void rfn_profile_free(struct rfn_profile *profile)
{
    if (!profile)
        return;
    free(profile->ranks);
    free(profile->rows);
    free(profile->pairs);
    free(profile->regions);
    free(profile);
}

/* ---- efficiency ---- */

static void take_outside(struct rfn_efficiency *efficiency, uint32_t rank, int64_t ns, bool first)
{
    if (first || ns < efficiency->min_outside_ns) {
        efficiency->min_outside_ns = ns;
        efficiency->min_outside_rank = rank;
    }
    if (first || ns > efficiency->max_outside_ns) {
        efficiency->max_outside_ns = ns;
        efficiency->max_outside_rank = rank;
    }
}

struct rfn_efficiency rfn_profile_efficiency(const struct rfn_profile *profile)
{
    struct rfn_efficiency efficiency = {0};
    int64_t run_ns = profile->end_ns - profile->start_ns;
    double mpi = 0, setup = 0, all = 0, outside = 0;
    uint32_t n = 0;
    if (!profile->times || run_ns <= 0)
        return efficiency;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        if (!rank->threads)
            continue;
        int64_t own = run_ns * rank->threads - rank->unrecorded_ns;
        int64_t outside_ns = rfn_profile_outside_ns(rank);
        take_outside(&efficiency, i, outside_ns, n++ == 0);
        mpi += (double)rank->mpi_ns;
        setup += (double)rank->setup_ns;
        all += (double)own;
        outside += (double)outside_ns;
    }
    if (!n || all <= 0)
        return efficiency;
    efficiency.mpi_share = mpi / all;
    efficiency.setup_share = setup / all;
    efficiency.mean_outside_ns = (int64_t)(outside / n);
    efficiency.all_ns = (int64_t)all;
    if (efficiency.max_outside_ns > 0)
        efficiency.load_balance = outside / n / (double)efficiency.max_outside_ns;
    efficiency.parallel = outside / all;
    if (efficiency.load_balance > 0)
        efficiency.communication = efficiency.parallel / efficiency.load_balance;
    return efficiency;
}
