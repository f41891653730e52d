#include "cli/predict/scaled_compute.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t KNOWN = UINT64_C(1) << 63;

static bool is_computing(const char *selector)
{
    static const char *const kinds[] = {"compute:", "region:", "rank:", "before:"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(selector, kinds[i], strlen(kinds[i])) == 0)
            return true;
    }
    return false;
}

static int read_all(struct rfn_actions *actions)
{
    struct rfn_action action;
    int got = 0;
    for (uint32_t rank = 0; rank < rfn_actions_ranks(actions) && got >= 0; rank++) {
        do
            got = rfn_actions_next(actions, rank, &action);
        while (got > 0);
    }
    return got;
}

static int take(struct rfn_scaled_compute *scaled, size_t i, const struct rfn_measured *run,
                struct rfn_text *wrong)
{
    struct rfn_selector *selector = &scaled->selectors[i];
    struct rfn_assumption assumptions[2];
    if (!is_computing(scaled->texts[i])) {
        rfn_text_format(wrong,
                        "'%s' is not about what ranks compute, and all else takes what the "
                        "platform says: change that, or a parameter with --cfg",
                        scaled->texts[i]);
        return RFN_E_USAGE;
    }
    RFN_TRY(rfn_selector_parse(selector, run, scaled->texts[i], wrong));
    rfn_selector_assume(selector, scaled->factors[i], assumptions);
    scaled->assumptions[i] = assumptions[0];
    return 0;
}

int rfn_scaled_compute_init(struct rfn_scaled_compute *scaled, const struct rfn_archive *archive,
                            bool measured, struct rfn_text *wrong, struct rfn_diag *diag)
{
    struct rfn_actions *actions;
    size_t n;
    RFN_TRY(rfn_actions_of_archive(archive, measured, &actions, diag));
    int error = read_all(actions);
    const struct rfn_activity *activities = rfn_actions_activities(actions, &n);
    const struct rfn_waits waits = {.activities = (struct rfn_activity *)activities,
                                    .n_activities = n};
    const struct rfn_measured run = {.archive = archive, .waits = &waits};
    for (size_t i = 0; i < scaled->n && !error; i++)
        error = take(scaled, i, &run, wrong);
    rfn_actions_free(actions);
    return error;
}

void rfn_scaled_compute_release(struct rfn_scaled_compute *scaled)
{
    for (size_t i = 0; i < scaled->n; i++)
        rfn_selector_release(&scaled->selectors[i]);
    free(scaled->takes);
}

static uint64_t taken(const struct rfn_scaled_compute *scaled, const struct rfn_activity *activity)
{
    uint64_t bits = KNOWN;
    for (size_t i = 0; i < scaled->n; i++) {
        const struct rfn_assumption *assumption = &scaled->assumptions[i];
        bits |= (uint64_t)assumption->takes(assumption->context, activity) << i;
    }
    return bits;
}

static bool make_room(struct rfn_scaled_compute *scaled, size_t n)
{
    if (n <= scaled->n_takes)
        return true;
    uint64_t *takes = realloc(scaled->takes, 2 * n * sizeof *takes);
    if (!takes)
        return false;
    memset(takes + scaled->n_takes, 0, (2 * n - scaled->n_takes) * sizeof *takes);
    scaled->takes = takes;
    scaled->n_takes = 2 * n;
    return true;
}

/* The same, kept by number while memory lasts. */
static uint64_t taken_by(struct rfn_scaled_compute *scaled, const struct rfn_actions *actions,
                         uint32_t number)
{
    size_t n;
    const struct rfn_activity *activities = rfn_actions_activities(actions, &n);
    if (!make_room(scaled, n))
        return taken(scaled, &activities[number]);
    if (!scaled->takes[number])
        scaled->takes[number] = taken(scaled, &activities[number]);
    return scaled->takes[number];
}

double rfn_scaled_compute_weight(struct rfn_scaled_compute *scaled,
                                 const struct rfn_actions *actions, uint32_t rank,
                                 const struct rfn_action *action)
{
    const uint64_t bits = taken_by(scaled, actions, action->activity);
    double weight = 1;
    for (size_t i = 0; i < scaled->n; i++) {
        const struct rfn_assumption *assumption = &scaled->assumptions[i];
        if (bits >> i & 1 && (!assumption->ranks || assumption->ranks[rank]) &&
            (!assumption->single || assumption->event == action->event))
            weight *= assumption->factor;
    }
    return weight;
}

void rfn_scaled_compute_append(struct rfn_text *text, const struct rfn_scaled_compute *scaled)
{
    for (size_t i = 0; i < scaled->n; i++) {
        rfn_text_string(text, i ? ", " : "");
        rfn_selector_append(text, &scaled->selectors[i]);
        rfn_text_format(text, " x %g", scaled->factors[i]);
    }
}
