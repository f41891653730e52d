/* profile.c - the profile by itself: a walk of matching.h that nobody but profile_pass.c looks at.
 * What follows from a profile is here too.
 */
#include "refrain/profile.h"

#include "analyze/profile/profile_pass.h"

#include <stdlib.h>

int rfn_profile_new(const struct rfn_archive *archive,
                    void (*progress)(void *context, double share), void *context,
                    struct rfn_profile **profile, struct rfn_diag *diag)
{
    struct rfn_profile_pass *pass = NULL;
    struct rfn_match match = {.archive = archive,
                              .hooks = {.stream_size = sizeof(struct rfn_match_stream),
                                        .symbol_size = sizeof(struct rfn_match_symbol)}};
    const struct rfn_event_order_hooks hooks = {.enter = rfn_match_enter,
                                                .leave = rfn_match_leave,
                                                .progress = progress,
                                                .context = &match,
                                                .progress_context = context};
    int error = rfn_profile_pass_new(archive, RFN_NO_REGION, &pass);
    if (error >= 0) {
        match.watcher = rfn_profile_pass_watcher(pass);
        error = rfn_match_init(&match, &hooks);
        if (error >= 0)
            error = rfn_event_order_run(match.replay);
        if (error >= 0)
            error = rfn_profile_pass_finish(pass, profile);
        if (error >= 0)
            (*profile)->unreadable = rfn_event_order_lost(match.replay, &(*profile)->error,
                                                          &(*profile)->diag);
        rfn_match_release(&match);
    }
    rfn_profile_pass_free(pass);
    return error < 0 ? rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error)) : 0;
}

void rfn_profile_free(struct rfn_profile *profile)
{
    if (!profile)
        return;
    free(profile->ranks);
    free(profile->rows);
    free(profile->pairs);
    free(profile->accesses);
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

void rfn_profile_take_whole(struct rfn_profile *profile)
{
    profile->main_from_ns = profile->start_ns;
    profile->main_to_ns = profile->end_ns;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        struct rfn_profile_rank *rank = &profile->ranks[i];
        rank->main_outside_ns = rfn_profile_outside_ns(rank);
        rank->main_unrecorded_ns = rank->unrecorded_ns;
    }
}

struct rfn_efficiency rfn_profile_efficiency(const struct rfn_profile *profile)
{
    struct rfn_efficiency efficiency = {0};
    int64_t run_ns = profile->end_ns - profile->start_ns,
            main_ns = profile->main_to_ns - profile->main_from_ns;
    double mpi = 0, setup = 0, run = 0, all = 0, outside = 0;
    uint32_t n = 0;
    if (!profile->times || main_ns <= 0)
        return efficiency;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        if (!rank->threads)
            continue;
        take_outside(&efficiency, i, rank->main_outside_ns, n++ == 0);
        mpi += (double)rank->mpi_ns;
        setup += (double)rank->setup_ns;
        run += profile->region ? (double)rank->span_ns
                               : (double)(run_ns * rank->threads - rank->unrecorded_ns);
        all += profile->region ? (double)rank->span_ns
                               : (double)(main_ns * rank->threads - rank->main_unrecorded_ns);
        outside += (double)rank->main_outside_ns;
    }
    if (!n || all <= 0)
        return efficiency;
    efficiency.mpi_share = run > 0 ? mpi / run : 0;
    efficiency.setup_share = run > 0 ? setup / run : 0;
    efficiency.mean_outside_ns = (int64_t)(outside / n);
    efficiency.all_ns = (int64_t)all;
    if (efficiency.max_outside_ns > 0)
        efficiency.load_balance = outside / n / (double)efficiency.max_outside_ns;
    efficiency.parallel = outside / all;
    if (efficiency.load_balance > 0)
        efficiency.communication = efficiency.parallel / efficiency.load_balance;
    return efficiency;
}
