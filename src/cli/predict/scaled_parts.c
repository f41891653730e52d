#include "cli/predict/scaled_parts.h"

#include "refrain/shell_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t KNOWN = UINT64_C(1) << 63;

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

/* Waiting, and what a call takes: a simulation finds them, the platform does not say them. */
static bool is_found(const char *selector)
{
    static const char *const kinds[] = {"wait:", "call:", "event:"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strncmp(selector, kinds[i], strlen(kinds[i])) == 0)
            return true;
    }
    return false;
}

static int refuse(const struct rfn_scaled_parts *scaled, size_t i, bool has_archive,
                  struct rfn_text *wrong)
{
    char part[256], word[512];
    const bool scale = scaled->factors[i] > 0;
    snprintf(part, sizeof part, "%s", scaled->texts[i]);
    if (scale)
        snprintf(part, sizeof part, "%s=%g", scaled->texts[i], scaled->factors[i]);
    rfn_text_printable(wrong, scaled->texts[i]);
    rfn_text_string(wrong, " is known only when the run is simulated: write that with -o OUT.rfn, "
                           "then refrain whatif OUT.rfn ");
    rfn_text_string(wrong, scale ? "--scale " : "--remove ");
    rfn_text_string(wrong, rfn_shell_word(part, word, sizeof word));
    if (!has_archive)
        rfn_text_string(wrong, " (text has to be converted to an archive first)");
    return RFN_E_USAGE;
}

static int take(struct rfn_scaled_parts *scaled, size_t i, const struct rfn_measured *run,
                struct rfn_text *wrong)
{
    struct rfn_scaled_network *network = &scaled->network;
    struct rfn_selector *selector = &scaled->selectors[i];
    struct rfn_assumption assumptions[2];
    const double factor = scaled->factors[i];
    struct rfn_scaled_messages messages = {0, INT64_MAX, 1, 1};
    if (is_found(scaled->texts[i]))
        return refuse(scaled, i, run->archive, wrong);
    RFN_TRY(rfn_selector_parse(selector, run, scaled->texts[i], wrong));
    rfn_selector_assume(selector, factor, assumptions);
    scaled->assumptions[i] = assumptions[0];
    switch (assumptions[0].what) {
    case RFN_ASSUME_COMPUTE:
        return 0;
    case RFN_ASSUME_O:
        network->overhead *= factor;
        return 0;
    case RFN_ASSUME_S:
        network->eager *= factor;
        return 0;
    case RFN_ASSUME_L:
        messages.latency = factor;
        break;
    case RFN_ASSUME_G:
        messages.transfer = factor;
        break;
    default:
        messages = (struct rfn_scaled_messages){selector->least, selector->most, factor, factor};
        break;
    }
    scaled->messages[network->n_messages++] = messages;
    return 0;
}

/* All activities are known when all actions are read. */
static int read_activities(const struct rfn_archive *archive, bool measured,
                           struct rfn_actions **actions, struct rfn_diag *diag)
{
    if (!archive)
        return 0;
    RFN_TRY(rfn_actions_of_archive(archive, measured, actions, diag));
    return read_all(*actions);
}

int rfn_scaled_parts_init(struct rfn_scaled_parts *scaled, const struct rfn_archive *archive,
                          bool measured, struct rfn_text *wrong, struct rfn_diag *diag)
{
    struct rfn_actions *actions = NULL;
    size_t n = 0;
    int error = read_activities(archive, measured, &actions, diag);
    const struct rfn_activity *activities = actions ? rfn_actions_activities(actions, &n) : NULL;
    const struct rfn_waits waits = {.activities = (struct rfn_activity *)activities,
                                    .n_activities = n};
    const struct rfn_measured run = {.archive = archive, .waits = &waits};
    scaled->network = (struct rfn_scaled_network){1, 1, scaled->messages, 0};
    for (size_t i = 0; i < scaled->n && !error; i++)
        error = take(scaled, i, &run, wrong);
    if (actions)
        rfn_actions_free(actions);
    return error;
}

void rfn_scaled_parts_release(struct rfn_scaled_parts *scaled)
{
    for (size_t i = 0; i < scaled->n; i++)
        rfn_selector_release(&scaled->selectors[i]);
    free(scaled->takes);
}

static uint64_t taken(const struct rfn_scaled_parts *scaled, const struct rfn_activity *activity)
{
    uint64_t bits = KNOWN;
    for (size_t i = 0; i < scaled->n; i++) {
        const struct rfn_assumption *assumption = &scaled->assumptions[i];
        const bool computes = assumption->what == RFN_ASSUME_COMPUTE;
        bits |= (uint64_t)(computes && assumption->takes(assumption->context, activity)) << i;
    }
    return bits;
}

static bool make_room(struct rfn_scaled_parts *scaled, size_t n)
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
static uint64_t taken_by(struct rfn_scaled_parts *scaled, const struct rfn_actions *actions,
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

double rfn_scaled_parts_weight(struct rfn_scaled_parts *scaled, const struct rfn_actions *actions,
                               uint32_t rank, const struct rfn_action *action)
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

void rfn_scaled_parts_append(struct rfn_text *text, const struct rfn_scaled_parts *scaled)
{
    for (size_t i = 0; i < scaled->n; i++) {
        rfn_text_string(text, i ? ", " : "");
        rfn_selector_append(text, &scaled->selectors[i]);
        rfn_text_format(text, " x %g", scaled->factors[i]);
    }
}
