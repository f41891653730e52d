#include "cli/verdict.h"

#include "refrain/profile.h"

static double at_least_0(double value)
{
    return value > 0 ? value : 0;
}

static void add_causes(struct rfn_losses *losses, const struct rfn_report *report)
{
    const struct rfn_waits *waits = report->waits;
    for (size_t i = 0; i < waits->n_causes; i++) {
        const struct rfn_activity *activity = rfn_report_activity(report,
                                                                  waits->causes[i].activity);
        if (activity && activity->kind == RFN_ACTIVITY_COMPUTE)
            losses->uneven += (double)waits->causes[i].total_ns;
        else if (activity && activity->kind == RFN_ACTIVITY_START)
            losses->late += (double)waits->causes[i].total_ns;
    }
}

struct rfn_losses rfn_losses_of(const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    const struct rfn_waits *waits = report->waits;
    struct rfn_losses losses = {.even = report->efficiency.load_balance >= RFN_BALANCED,
                                .missing = rfn_report_missing(report) > 0};
    double mpi = 0, setup = 0, outside = 0;
    if (!report->efficiency.all_ns || !waits->times)
        return losses;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        mpi += (double)profile->ranks[i].mpi_ns;
        setup += (double)profile->ranks[i].setup_ns;
        outside += (double)rfn_profile_outside_ns(&profile->ranks[i]);
        losses.threads |= profile->ranks[i].threads > 1;
    }
    double ends = (double)waits->pattern_ns[RFN_WAIT_AT_INIT] +
                  (double)waits->pattern_ns[RFN_WAIT_AT_FINALIZE];
    add_causes(&losses, report);
    losses.others = at_least_0((double)waits->total_ns - losses.uneven - losses.late);
    losses.setup = at_least_0(setup - ends);
    losses.transfer = at_least_0(mpi - setup - ((double)waits->total_ns - ends));
    losses.outside = at_least_0((double)report->efficiency.all_ns - mpi - outside);
    return losses;
}

const char *rfn_share_words(double share)
{
    static const struct {
        double below;
        const char *words;
    } steps[] = {{0.02, "next to nothing"},      {0.07, "little"},
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

struct loss {
    double ns;
    const char *by;
};

#define NO_LOSS 0.02 /* of all ranks' time: what less is lost is not worth a word */

/* The largest comes first; the sum goes to *sum. */
static struct loss largest_of(const struct rfn_losses *losses, double *sum)
{
    const struct loss all[] = {
        {losses->uneven,
         losses->even ? "by waiting for work of other ranks" : "by waiting for uneven work"},
        {losses->others, "by waiting for other ranks"},
        {losses->late, "by waiting for ranks that started late"},
        {losses->transfer, losses->missing ? "inside MPI calls, which may have waited for ranks "
                                             "that are missing"
                                           : "inside MPI calls that do not wait"},
        {losses->setup, "by starting and ending MPI"},
        {losses->outside, losses->threads
                              ? "before threads called MPI first or after they called it last"
                              : "before ranks called MPI_Init or after they left MPI_Finalize"}};
    struct loss largest = all[0];
    *sum = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *sum += all[i].ns;
        if (all[i].ns > largest.ns)
            largest = all[i];
    }
    return largest;
}

/* Starting and ending MPI counts less the longer a program runs: what it loses besides. */
static void append_rest(struct rfn_text *text, double lost, const struct rfn_losses *losses,
                        double all)
{
    struct rfn_losses others = *losses;
    double sum;
    others.setup = 0;
    struct loss largest = largest_of(&others, &sum);
    if (sum > 0 && lost * sum >= NO_LOSS * all)
        rfn_text_format(text, ", of the rest %s %s",
                        largest.ns >= 0.5 * sum ? "most" : "the largest part", largest.by);
}

void rfn_verdict_append(struct rfn_text *text, double efficiency, const struct rfn_losses *losses)
{
    double lost = at_least_0(1 - efficiency), sum;
    struct loss largest = largest_of(losses, &sum);
    rfn_text_format(text, "%s of the time that the ranks have is lost", rfn_share_words(lost));
    if (lost < NO_LOSS || sum <= 0)
        return;
    rfn_text_format(text, ", %s %s",
                    largest.ns >= 0.5 * sum ? "most of it" : "the largest part of it", largest.by);
    if (losses->setup > 0 && largest.ns == losses->setup)
        append_rest(text, lost, losses, sum);
}

bool rfn_verdict_blames_calls(double efficiency, const struct rfn_losses *losses)
{
    double sum;
    return 1 - efficiency >= NO_LOSS && losses->transfer > 0 &&
           largest_of(losses, &sum).ns <= losses->transfer;
}
