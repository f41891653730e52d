#include "cli/whatif/candidates.h"

#include "cli/whatif/kept.h"

#include <stdlib.h>

/* Ranks that compute so much longer than the mean may be given less. */
static const double above_mean = 1.01;
/* Of the time of all ranks: calls that take less are not worth a prediction. */
static const double LEAST_SHARE = 1e-4;

/* One more, taken by `text`, unless it is there; what it takes on the critical path is added. */
static int add(struct rfn_candidates *candidates, const struct rfn_measured *run,
               enum rfn_selector_kind kind, const char *text, double factor, int64_t bound_ns)
{
    for (size_t i = 0; i < candidates->n; i++) {
        struct rfn_selector *selector = &candidates->selectors[i];
        if (selector->kind != kind || !text || !selector->text || strcmp(selector->text, text) != 0)
            continue;
        candidates->remedies[i].bound_ns += bound_ns;
        return 0;
    }
    const size_t n = candidates->n; /* there is room */
    RFN_TRY(rfn_selector_init(&candidates->selectors[n], run->archive, kind, text));
    candidates->remedies[n] = (struct rfn_remedy){.assumption.factor = factor,
                                                  .bound_ns = bound_ns};
    candidates->n++;
    return 0;
}

/* By a text that is made for it, and released. */
static int add_named(struct rfn_candidates *candidates, const struct rfn_measured *run,
                     enum rfn_selector_kind kind, struct rfn_text *name, int64_t bound_ns)
{
    const char *text = rfn_text_terminated(name);
    int error = name->failed ? RFN_E_NOMEM : add(candidates, run, kind, text, 0, bound_ns);
    rfn_text_release(name);
    return error;
}

/* "norm() and relax(), called in main() [solver.c:12-14]" */
static void append_functions(struct rfn_text *text, const struct rfn_archive *archive,
                             const struct rfn_activity *activity)
{
    struct rfn_text words = {0};
    rfn_activity_append(&words, archive, activity);
    const char *all = rfn_text_terminated(&words);
    rfn_text_string(text, all + (strncmp(all, RFN_COMPUTING, strlen(RFN_COMPUTING)) == 0
                                     ? strlen(RFN_COMPUTING)
                                     : 0));
    text->failed |= words.failed;
    rfn_text_release(&words);
}

/* Computations, and the own time of calls, on the critical path: no others can save anything. */
static int add_critical(struct rfn_candidates *candidates, const struct rfn_measured *run)
{
    const struct rfn_waits *waits = run->waits;
    for (size_t i = 0; i < waits->n_critical; i++) {
        const struct rfn_critical_row *row = &waits->critical[i];
        const struct rfn_activity *activity = &waits->activities[row->activity];
        const char *function = rfn_activity_function(run->archive, activity);
        struct rfn_text path = {0};
        if (rfn_activity_is_beyond_program(run, activity))
            continue;
        if (activity->kind == RFN_ACTIVITY_MPI || activity->kind == RFN_ACTIVITY_WAIT) {
            rfn_call_site_path(&path, run->archive, activity->at, RFN_SHORT_PATH);
            RFN_TRY(add_named(candidates, run, RFN_SELECT_CALL, &path, row->ns));
        } else if (activity->kind == RFN_ACTIVITY_COMPUTE && function &&
                   rfn_activity_functions(run->archive, activity) == 1) {
            rfn_selector_append_function(&path, run->archive, activity);
            RFN_TRY(add_named(candidates, run, RFN_SELECT_COMPUTE, &path, row->ns));
        } else if (activity->kind == RFN_ACTIVITY_COMPUTE && function) {
            append_functions(&path, run->archive, activity);
            RFN_TRY(add_named(candidates, run, RFN_SELECT_COMPUTE, &path, row->ns));
        }
        if (activity->kind == RFN_ACTIVITY_COMPUTE &&
            activity->region < rfn_archive_regions(run->archive))
            RFN_TRY(add(candidates, run, RFN_SELECT_REGION,
                        rfn_archive_region(run->archive, activity->region), 0, row->ns));
    }
    return 0;
}

/* What calls take in all ranks: a prediction counts as waiting until all is there that the call
 * needs, so also while it comes. */
static int add_waits(struct rfn_candidates *candidates, const struct rfn_measured *run)
{
    for (size_t i = 0; i < run->profile->n_rows; i++) {
        const struct rfn_profile_row *row = &run->profile->rows[i];
        const double share = (double)row->time.total_ns / ((double)run->efficiency.all_ns + 1);
        const struct rfn_activity call = {.kind = RFN_ACTIVITY_MPI,
                                          .at = {row->function, row->path}};
        struct rfn_text path = {0};
        if (share < LEAST_SHARE || rfn_activity_is_beyond_program(run, &call))
            continue;
        rfn_call_site_path(&path, run->archive, call.at, RFN_SHORT_PATH);
        RFN_TRY(add_named(candidates, run, RFN_SELECT_WAIT, &path, row->time.total_ns));
    }
    return 0;
}

static int add_ranks(struct rfn_candidates *candidates, const struct rfn_measured *run)
{
    const struct rfn_profile *profile = run->profile;
    const double mean = (double)run->efficiency.mean_outside_ns;
    for (uint32_t i = 0; i < profile->n_ranks; i++) {
        const double own = (double)profile->ranks[i].main_outside_ns;
        struct rfn_text name = {0};
        if (own <= above_mean * mean)
            continue;
        rfn_text_unsigned(&name, i);
        RFN_TRY(add_named(candidates, run, RFN_SELECT_RANK, &name, (int64_t)(own - mean)));
        struct rfn_selector *selector = &candidates->selectors[candidates->n - 1];
        selector->ranks = calloc((size_t)profile->n_ranks + 1, sizeof *selector->ranks);
        if (!selector->ranks)
            return RFN_E_NOMEM;
        selector->ranks[i] = true;
        candidates->remedies[candidates->n - 1].assumption.factor = mean / own;
    }
    return 0;
}

static int add_sizes(struct rfn_candidates *candidates, const struct rfn_measured *run)
{
    for (unsigned i = 0; i + 1 < RFN_SIZE_BINS; i++) { /* sizes are int64_t */
        const int64_t least = i ? INT64_C(1) << (i - 1) : 0;
        struct rfn_text name = {0};
        if (!run->profile->point_to_point[i].count)
            continue;
        rfn_text_format(&name, "%lld-%lld", (long long)least,
                        (long long)(least ? least - 1 + least : 0));
        RFN_TRY(add_named(candidates, run, RFN_SELECT_BYTES, &name, INT64_MAX));
        struct rfn_selector *selector = &candidates->selectors[candidates->n - 1];
        selector->least = least;
        selector->most = least ? least - 1 + least : 0;
    }
    return 0;
}

/* Keeps the remedies that an aggregated archive can tell. */
static int leave_out(struct rfn_candidates *candidates, const struct rfn_archive *archive)
{
    struct rfn_aggregation aggregation;
    size_t n = 0;
    const int error = rfn_aggregation_read(archive, &aggregation, NULL);
    for (size_t i = 0; i < candidates->n; i++) {
        struct rfn_selector *selector = &candidates->selectors[i];
        if (!error && rfn_kept_allows(&aggregation, selector, NULL)) {
            candidates->selectors[n] = *selector;
            candidates->remedies[n++] = candidates->remedies[i];
        } else {
            candidates->untold++;
            rfn_selector_release(selector);
        }
    }
    candidates->n = n;
    rfn_aggregation_release(&aggregation);
    return error;
}

int rfn_candidates_init(struct rfn_candidates *candidates, const struct rfn_measured *run)
{
    struct rfn_assumption assumptions[2];
    const size_t most = 2 * run->waits->n_critical + run->profile->n_rows + run->profile->n_ranks +
                        RFN_SIZE_BINS + RFN_SELECTORS;
    *candidates = (struct rfn_candidates){.selectors = calloc(most, sizeof *candidates->selectors),
                                          .remedies = calloc(most, sizeof *candidates->remedies)};
    if (!candidates->selectors || !candidates->remedies)
        return RFN_E_NOMEM;
    RFN_TRY(add_critical(candidates, run));
    RFN_TRY(add_waits(candidates, run));
    RFN_TRY(add_ranks(candidates, run));
    RFN_TRY(add_sizes(candidates, run));
    for (int kind = RFN_SELECT_L; kind <= RFN_SELECT_G; kind++)
        RFN_TRY(add(candidates, run, (enum rfn_selector_kind)kind, NULL, 0, INT64_MAX));
    RFN_TRY(leave_out(candidates, run->archive));
    for (size_t i = 0; i < candidates->n; i++) { /* selectors move no more */
        struct rfn_remedy *remedy = &candidates->remedies[i];
        rfn_selector_assume(&candidates->selectors[i], remedy->assumption.factor, assumptions);
        remedy->assumption = assumptions[0];
    }
    return 0;
}

void rfn_candidates_release(struct rfn_candidates *candidates)
{
    for (size_t i = 0; i < candidates->n; i++)
        rfn_selector_release(&candidates->selectors[i]);
    free(candidates->selectors);
    free(candidates->remedies);
    *candidates = (struct rfn_candidates){0};
}
