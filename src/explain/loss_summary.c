/* loss_summary.c - where the time is lost that is not computing, by cause, and in which calls. */
#include "refrain/event.h"
#include "refrain/explain.h"

#define NO_LOSS       0.02 /* of all ranks' time: what less is lost is not worth a word */
#define BETWEEN_POLLS 0.05 /* of all ranks' time */
#define UNEVEN        0.1  /* of all ranks' time: that much idles while one rank computes */

/* A completion takes so long, on average, that data moves in it, rather than while ranks compute.
 */
enum { MOVING_NS = 100000 };

static double at_least_0(double value)
{
    return value > 0 ? value : 0;
}

struct rfn_losses rfn_losses_of(const struct rfn_measured *run)
{
    const struct rfn_profile *profile = run->profile;
    const struct rfn_waits *waits = run->waits;
    struct rfn_losses losses = {.even = run->efficiency.load_balance >= RFN_BALANCED};
    double inside = (double)run->efficiency.all_ns, whole = 0,
           total = (double)rfn_measured_waits_ns(run);
    const double span = (double)(profile->end_ns - profile->start_ns);
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const struct rfn_profile_rank *rank = &profile->ranks[i];
        inside -= (double)rank->main_outside_ns;
        if (rank->threads > 1 &&
            !profile->region) /* a rank's one thread is there from its Init to its Finalize */
            whole += span * rank->threads - (double)rank->span_ns;
        losses.threads |= profile->ranks[i].threads > 1;
        losses.missing += profile->ranks[i].threads == 0;
    }
    if (!run->efficiency.all_ns || !waits->times)
        return losses;
    for (size_t i = 0; i < waits->n_causes; i++) {
        const struct rfn_cause *cause = &waits->causes[i];
        if (cause->activity >= waits->n_activities || !rfn_measured_counts(run, cause->pattern))
            continue;
        if (waits->activities[cause->activity].kind == RFN_ACTIVITY_COMPUTE)
            losses.uneven += (double)cause->total_ns;
        else if (waits->activities[cause->activity].kind == RFN_ACTIVITY_START)
            losses.late += (double)cause->total_ns;
    }
    losses.others = at_least_0(total - losses.uneven - losses.late);
    losses.outside = at_least_0(whole);
    losses.transfer = at_least_0(inside - total - losses.outside);
    return losses;
}

struct loss {
    double ns;
    const char *by;
};

/* The first of the largest; the sum of all goes to *sum. */
static struct loss largest_of(const struct rfn_losses *losses, double *sum)
{
    const struct loss all[] = {
        {losses->uneven, losses->even ? "by waiting for ranks that still compute"
                                      : "by waiting for ranks that have more work"},
        {losses->others, "by waiting for other ranks"},
        {losses->late, "by waiting for ranks that started late"},
        {losses->transfer, losses->missing
                               ? "in MPI calls, which may have waited for ranks that are missing"
                               : "by transfer (time in MPI calls without waiting)"},
        {losses->outside, "before the first or after the last MPI call of a thread"}};
    struct loss largest = all[0];
    *sum = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *sum += all[i].ns;
        if (all[i].ns > largest.ns)
            largest = all[i];
    }
    return largest;
}

/* ---- what to say of it ---- */

static void find_busiest(struct rfn_verdict *verdict, const struct rfn_measured *run)
{
    int64_t busy = 0;
    for (size_t i = 0; i < run->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->profile->rows[i];
        const struct rfn_call_site site = {row->function, row->path};
        int64_t ns = row->time.total_ns - row->waiting_ns;
        if (ns <= busy || rfn_call_site_function(run->archive, site)->class_ == RFN_CLASS_SETUP)
            continue;
        busy = ns;
        verdict->busiest = row;
    }
    verdict->busiest_ns = (double)busy;
    if (rfn_measured_share(run, verdict->busiest_ns) < RFN_TRIFLE)
        verdict->busiest = NULL;
}

/* Whoever sleeps or spins between polls counts as busy. */
static void find_polls(struct rfn_verdict *verdict, const struct rfn_measured *run)
{
    for (size_t i = 0; i < run->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->profile->rows[i];
        verdict->polls_ns += (double)row->between_polls_ns;
        if (!verdict->polls || row->between_polls_ns > verdict->polls->between_polls_ns)
            verdict->polls = row;
    }
    if (rfn_measured_share(run, verdict->polls_ns) < BETWEEN_POLLS)
        verdict->polls = NULL;
}

bool rfn_row_is_moving(const struct rfn_measured *run, const struct rfn_profile_row *row, double ns)
{
    const struct rfn_call_site site = {row->function, row->path};
    const struct rfn_function_info *function = rfn_call_site_function(run->archive, site);
    return function->class_ == RFN_CLASS_COMPLETION && !(function->flags & RFN_FUNCTION_POLL) &&
           row->calls > 0 && ns >= (double)MOVING_NS * (double)row->calls;
}

struct rfn_verdict rfn_verdict_of(const struct rfn_measured *run)
{
    const struct rfn_efficiency *e = &run->efficiency;
    const struct rfn_matching *m = &run->waits->matching;
    struct rfn_verdict verdict = {.losses = rfn_losses_of(run)};
    const struct rfn_losses *losses = &verdict.losses;
    double sum, idle = (double)(e->max_outside_ns - e->mean_outside_ns) * run->profile->n_ranks;
    find_busiest(&verdict, run);
    find_polls(&verdict, run);
    verdict.clocks_disagree = !m->fixed && (double)m->backward * (double)m->backward_max_ns >=
                                               RFN_TRIFLE * (double)e->all_ns;
    verdict.blames_busiest = verdict.busiest && 1 - e->parallel >= NO_LOSS &&
                             losses->transfer > 0 &&
                             largest_of(losses, &sum).ns <= losses->transfer;
    if (!verdict.blames_busiest)
        return verdict;
    /* What is known to wait is less than half of what uneven work must cost: as for a root that
     * comes late and takes large data. */
    verdict.has_unseen_waits = !losses->missing && !losses->threads &&
                               idle >= UNEVEN * (double)e->all_ns &&
                               losses->uneven + losses->others < idle / 2;
    verdict.is_moving = rfn_row_is_moving(run, verdict.busiest, verdict.busiest_ns);
    return verdict;
}

/* ---- in words ---- */

/* "more than a third": a share from 0 to 1. */
static const char *share_words(double share)
{
    static const struct {
        double below;
        const char *words;
    } steps[] = {{0.02, "almost none"},          {0.07, "little"},
                 {0.14, "about a tenth"},        {0.22, "about a fifth"},
                 {0.29, "about a quarter"},      {0.35, "about a third"},
                 {0.45, "more than a third"},    {0.55, "about half"},
                 {0.64, "more than half"},       {0.71, "about two thirds"},
                 {0.80, "about three quarters"}, {0.95, "most"}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (share < steps[i].below)
            return steps[i].words;
    }
    return "nearly all";
}

static void append_losses(struct rfn_text *text, double lost, const struct rfn_losses *losses)
{
    double sum;
    struct loss largest = largest_of(losses, &sum);
    rfn_text_format(text, "%s of the ranks' time is lost", share_words(lost));
    if (lost < NO_LOSS || sum <= 0)
        return;
    rfn_text_format(text, ", %s %s",
                    largest.ns >= 0.5 * sum ? "most of it" : "the largest part of it", largest.by);
}

void rfn_verdict_append(struct rfn_text *text, const struct rfn_measured *run,
                        const struct rfn_verdict *verdict)
{
    const struct rfn_efficiency *e = &run->efficiency;
    const struct rfn_profile *profile = run->profile;
    if (profile && rfn_measured_is_nothing(run)) {
        rfn_text_format(
            text,
            "Almost all of the run is the start and the end of MPI. The %s between them are "
            "too short for any statement.",
            rfn_time_text(profile->main_to_ns - profile->main_from_ns).text);
        return;
    }
    rfn_text_format(text, "Parallel efficiency%s %s: ",
                    verdict->losses.missing ? " of the ranks in this archive" : "",
                    rfn_share_text(e->parallel).text);
    append_losses(text, at_least_0(1 - e->parallel), &verdict->losses);
    if (verdict->blames_busiest) {
        const struct rfn_activity activity = {
            .kind = RFN_ACTIVITY_MPI, .at = {verdict->busiest->function, verdict->busiest->path}};
        rfn_text_string(text, ": ");
        rfn_activity_append(text, run->archive, &activity);
        rfn_text_format(text, " alone takes %s",
                        rfn_share_text(rfn_measured_share(run, verdict->busiest_ns)).text);
    }
    rfn_text_char(text, '.');
    if (verdict->has_unseen_waits)
        rfn_text_format(text,
                        " But outside of MPI rank %u is busy %.2f times as long as the mean, and "
                        "few waits for it are measured. These calls may wait for it, as MPI_Reduce "
                        "and MPI_Gather do with large data when their root comes late.",
                        e->max_outside_rank, 1 / e->load_balance);
    if (!verdict->polls)
        return;
    const struct rfn_call_site polls = {verdict->polls->function, verdict->polls->path};
    rfn_text_format(text, " Ranks spend %s of their time between unsuccessful polls (",
                    rfn_share_text(rfn_measured_share(run, verdict->polls_ns)).text);
    rfn_text_printable(text, rfn_call_site_function(run->archive, polls)->name);
    rfn_text_string(text, ", ");
    rfn_call_site_place(text, run->archive, polls);
    rfn_text_string(text, "). This counts as computing, but the ranks may only wait there.");
}
