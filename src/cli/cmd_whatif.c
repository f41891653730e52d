/* cmd_whatif.c - refrain whatif: how long a run would have taken if something were faster. */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/text/json.h"
#include "cli/text/pager.h"
#include "cli/text/terminal.h"
#include "cli/whatif/whatif.h"

#include <stdlib.h>

enum { TOP = 10, DOMINOES = 20, GIVEN = 32 };

enum { KEY_REMOVE = 0x100, KEY_SCALE, KEY_DOMINO };

static const struct argp_option options[] = {
    {"remove", KEY_REMOVE, "SELECTOR", 0, "assume that this takes no time; may be repeated", 0},
    {"scale", KEY_SCALE, "SELECTOR=F", 0, "assume that this takes F times as long; may be repeated",
     0},
    {"top", 't', "N", 0, "show the N remedies that save most (10)", 0},
    {"domino", KEY_DOMINO, "N", 0,
     "mend the best, then the best after it, and so on, N times (at most 20)", 0},
    {"output", 'o', "OUT", 0, "write the run as it is predicted, an archive like others", 0},
    {"force", 'f', NULL, 0, "replace OUT if there is such a file", 0},
    {"json", 'j', NULL, 0, "print everything as JSON, in seconds and bytes", 0},
    {0},
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    const char *texts[GIVEN];       /* selectors, */
    double factors[GIVEN];          /* and how many times as long they take */
    size_t n;
    uint64_t dominoes;
    const char *output;
    bool force;
};

static void assume(struct argp_state *state, struct options *given, const char *text, double factor)
{
    if (given->n == GIVEN)
        argp_error(state, "at most %d assumptions at once", GIVEN);
    given->texts[given->n] = text;
    given->factors[given->n++] = factor;
}

/* SELECTOR=F, which is cut in two. */
static void scale_argument(struct argp_state *state, struct options *given, char *text)
{
    char *equals = strrchr(text, '='), *end = NULL;
    double factor = equals ? strtod(equals + 1, &end) : -1;
    if (!equals || end == equals + 1 || *end || !(factor >= 0 && factor <= 1e6))
        argp_error(state, "--scale takes SELECTOR=F, F a number from 0, not '%s'", text);
    *equals = '\0';
    assume(state, given, text, factor);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case KEY_REMOVE:
        assume(state, given, arg, 0);
        return 0;
    case KEY_SCALE:
        scale_argument(state, given, arg);
        return 0;
    case KEY_DOMINO:
        given->dominoes = rfn_number_argument(state, arg, "number of steps");
        if (given->dominoes > DOMINOES)
            argp_error(state, "--domino takes at most %d steps", DOMINOES);
        return 0;
    case 'o':
        if (!arg[0])
            argp_error(state, "the name of the predicted archive is empty");
        given->output = arg;
        return 0;
    case 'f':
        given->force = true;
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* Everything that the page needs. The assumptions grow along the domino path. */
struct asking {
    struct rfn_whatif page;
    struct rfn_assumption assumed[2 * GIVEN + DOMINOES];
    struct rfn_lane lane;
    struct rfn_progress progress;
    struct rfn_diag diag;
};

static int fail(const struct asking *asking, int error)
{
    return rfn_command_fail(asking->page.file, error, &asking->diag);
}

/* ---- the domino path ---- */

/* The number of the candidate that a remedy is of. */
static size_t candidate_of(const struct asking *asking, const struct rfn_remedy *remedy)
{
    const struct rfn_selector *selector = remedy->assumption.context;
    return (size_t)(selector - asking->page.candidates->selectors);
}

static int rank(struct asking *asking, const struct rfn_lane *given, struct rfn_remedy *remedies,
                size_t best, struct rfn_prediction *prediction)
{
    asking->progress.what = "predicting";
    int error = rfn_remedies_rank(asking->page.run->archive, &asking->page.network, given, remedies,
                                  asking->page.candidates->n, best, rfn_progress_show,
                                  &asking->progress, prediction, &asking->diag);
    rfn_progress_done(&asking->progress);
    return error;
}

/* Adds that the longest of the waits is gone that are not in the list of n yet. false: there is
 * none. */
static bool next_longest(const struct rfn_candidates *candidates, struct rfn_assumption *waits,
                         size_t n)
{
    const struct rfn_remedy *longest = NULL;
    for (size_t i = 0; i < candidates->n; i++) {
        const struct rfn_remedy *remedy = &candidates->remedies[i];
        bool listed = remedy->assumption.what != RFN_ASSUME_WAIT;
        for (size_t k = 0; k < n; k++)
            listed |= waits[k].context == remedy->assumption.context;
        if (!listed && (!longest || remedy->bound_ns > longest->bound_ns))
            longest = remedy;
    }
    if (longest)
        waits[n] = longest->assumption;
    return longest;
}

/* Removes as many of the longest waits as there are dominoes. */
static int without_waits(struct asking *asking)
{
    struct rfn_whatif *page = &asking->page;
    struct rfn_assumption waits[DOMINOES];
    struct rfn_lane lanes[DOMINOES];
    struct rfn_prediction prediction;
    size_t n = 0;
    for (size_t i = 0; i < page->n_dominoes; i++) {
        n += next_longest(page->candidates, waits, n);
        lanes[i] = (struct rfn_lane){waits, n};
    }
    RFN_TRY(rfn_predict(page->run->archive, &page->network, lanes, page->n_dominoes, NULL, NULL,
                        &prediction, &asking->diag));
    for (size_t i = 0; i < page->n_dominoes; i++)
        page->dominoes[i].waits_ns = prediction.predicted_ns[i];
    rfn_prediction_release(&prediction);
    return 0;
}

static int follow(struct asking *asking, size_t steps)
{
    struct rfn_whatif *page = &asking->page;
    const size_t n = page->candidates->n;
    struct rfn_remedy *remedies = calloc(n + 1, sizeof *remedies);
    page->dominoes = calloc(steps + 1, sizeof *page->dominoes);
    int error = remedies && page->dominoes ? 0 : RFN_E_NOMEM;
    struct rfn_lane lane = asking->lane;
    while (!error && page->n_dominoes < steps) {
        struct rfn_prediction prediction;
        memcpy(remedies, page->candidates->remedies, n * sizeof *remedies);
        error = rank(asking, &lane, remedies, 1, &prediction);
        if (error)
            break;
        const int64_t run_ns = prediction.predicted_ns[0] - remedies[0].saved_ns;
        rfn_prediction_release(&prediction);
        if (!n || remedies[0].saved_ns <= 0)
            break;
        asking->assumed[lane.n++] = remedies[0].assumption;
        page->dominoes[page->n_dominoes++] = (struct rfn_domino){candidate_of(asking, &remedies[0]),
                                                                 run_ns, 0};
    }
    free(remedies);
    return error ? error : without_waits(asking);
}

/* ---- the page ---- */

static int print(struct asking *asking, const struct options *given)
{
    struct rfn_whatif *page = &asking->page;
    struct rfn_text out = {0};
    int error = rank(asking, &asking->lane, page->candidates->remedies,
                     page->top < SIZE_MAX ? page->top : page->candidates->n, &page->prediction);
    if (!error && given->dominoes)
        error = follow(asking, (size_t)given->dominoes);
    int status = error ? fail(asking, error) : RFN_EXIT_OK;
    if (!error && given->given.json) {
        status = rfn_command_print_json(rfn_whatif_json(page), status);
    } else if (!error) {
        rfn_whatif_text(&out, page);
        rfn_pager_start(&out);
        status = rfn_command_print(&out, page->file, status);
    }
    free(page->dominoes);
    rfn_prediction_release(&page->prediction);
    return status;
}

/* What the command line assumes. */
static int take_given(struct asking *asking, const struct options *given,
                      struct rfn_selector *selectors)
{
    struct rfn_text wrong = {0};
    asking->lane.assumptions = asking->assumed;
    for (size_t i = 0; i < given->n; i++) {
        int error = rfn_selector_parse(&selectors[i], asking->page.run, given->texts[i], &wrong);
        if (error == RFN_E_USAGE)
            rfn_command_error("%s: %s", asking->page.file, rfn_text_terminated(&wrong));
        rfn_text_release(&wrong);
        if (error)
            return error == RFN_E_USAGE ? RFN_EXIT_USAGE : fail(asking, error);
        asking->lane.n += rfn_selector_assume(&selectors[i], given->factors[i],
                                              asking->assumed + asking->lane.n);
    }
    return RFN_EXIT_OK;
}

static int ask(const struct rfn_measured *run, const struct options *given)
{
    struct rfn_selector selectors[GIVEN] = {0};
    struct rfn_candidates candidates;
    struct asking asking = {.page = {.file = given->given.file,
                                     .run = run,
                                     .given = selectors,
                                     .factors = given->factors,
                                     .n_given = given->n,
                                     .candidates = &candidates,
                                     .top = given->given.top_given ? (size_t)given->given.top
                                            : given->given.json    ? SIZE_MAX
                                                                   : TOP,
                                     .width = rfn_terminal_columns()},
                            .diag = {.file_offset = -1, .rank = -1}};
    int error = rfn_candidates_init(&candidates, run);
    if (!error)
        error = rfn_network_estimate(run->archive, &asking.page.network, &asking.page.estimated,
                                     &asking.diag);
    int status = error ? fail(&asking, error) : take_given(&asking, given, selectors);
    if (!status && given->output)
        status = rfn_whatif_write(&asking.page, &asking.lane, given->output, given->force,
                                  given->given.json);
    else if (!status)
        status = print(&asking, given);
    for (size_t i = 0; i < given->n; i++)
        rfn_selector_release(&selectors[i]);
    rfn_candidates_release(&candidates);
    return status;
}

static int ask_archive(const struct rfn_archive *archive, const struct options *given)
{
    const char *file = given->given.file;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "reading events"};
    struct rfn_profile *profile;
    struct rfn_waits *waits;
    const struct rfn_waits_options how = {.profile = &profile};
    if (!rfn_archive_run(archive)->times) {
        rfn_command_error("%s: this archive has no times (it was recorded with --time=none), so "
                          "nothing can be predicted",
                          file);
        return RFN_EXIT_BAD_INPUT;
    }
    int error = rfn_waits_new(archive, &how, rfn_progress_show, &progress, &waits, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return rfn_command_fail(file, error, &diag);
    const struct rfn_measured run = {archive, profile, waits, rfn_profile_efficiency(profile),
                                     NULL};
    int status = ask(&run, given);
    rfn_waits_free(waits);
    rfn_profile_free(profile);
    return status ? status : rfn_command_check_complete(archive, file, RFN_EXIT_OK);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    struct rfn_archive *archive;
    rfn_command_parse(command, parse, argc, argv, &given);
    int status = rfn_command_open(given.given.file, &archive);
    if (status)
        return status;
    status = ask_archive(archive, &given);
    rfn_archive_close(archive);
    return status;
}

const struct rfn_command rfn_cmd_whatif = {
    .name = "whatif",
    .summary = "Predicts how long a run would have taken if something were faster",
    .usage = "FILE",
    .about = "Without options it ranks everything that might be mended by the run time that this "
             "saves. SELECTOR is wait:PATH, call:PATH, compute:FUNCTION, region:NAME, rank:LIST, "
             "bytes:RANGE, event:RANK/INDEX, L, o or G. man refrain-whatif explains each.",
    .options = options,
    .run = run,
};
