/* cmd_whatif.c - refrain whatif: how long a run would have taken if something were faster. */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/args/network_file.h"
#include "cli/text/json.h"
#include "cli/text/pager.h"
#include "cli/text/terminal.h"
#include "cli/whatif/kept.h"
#include "cli/whatif/whatif.h"

#include <stdlib.h>

enum { TOP = 10, DOMINOES = 20, GIVEN = 32, EVENTS = 10000 };

enum { KEY_REMOVE = 0x100, KEY_SCALE, KEY_CAP, KEY_CURVE, KEY_EVENTS, KEY_DOMINO, KEY_NETWORK };

static const struct argp_option options[] = {
    {"remove", KEY_REMOVE, "SELECTOR", 0, "Assume that this takes no time; repeatable", 0},
    {"scale", KEY_SCALE, "SELECTOR=F", 0, "Assume that this takes F times as long; repeatable", 0},
    {"cap", KEY_CAP, "SELECTOR=TIME", 0, "Assume that no single one takes longer than TIME", 0},
    {"top", 't', "N", 0, "Show the N remedies that save most (10)", 0},
    {"curve", KEY_CURVE, "SELECTOR", 0, "Also show the run time for all times of this", 0},
    {"events", KEY_EVENTS, NULL, 0, "Also show which single events would save most", 0},
    {"domino", KEY_DOMINO, "N", 0, "Mend the best remedy, then the next, N times", 0},
    {"network", KEY_NETWORK, "NETWORK", 0, "Network parameters of refrain calibrate", 0},
    {"output", 'o', "OUT", 0, "Write the predicted run as an archive", 0},
    {"force", 'f', NULL, 0, "Replace OUT if it exists", 0},
    {"json", 'j', NULL, 0, "Print everything as JSON, in seconds and bytes", 0},
    {0},
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    const char *texts[GIVEN];       /* selectors, */
    double factors[GIVEN];          /* and how many times as long they take */
    int64_t caps_ns[GIVEN];         /* or at most so long each; 0 */
    size_t n;
    uint64_t dominoes;
    const char *output;
    bool force;
    bool events;
    const char *curve;        /* NULL: none */
    const char *network_file; /* NULL: not given */
    struct rfn_network network;
};

static void assume(struct argp_state *state, struct options *given, const char *text, double factor)
{
    if (given->n == GIVEN)
        argp_error(state, "at most %d assumptions at once", GIVEN);
    given->texts[given->n] = text;
    given->factors[given->n++] = factor;
}

/* SELECTOR=TIME */
static void cap_argument(struct argp_state *state, struct options *given, char *text)
{
    char *equals = strrchr(text, '=');
    const int64_t cap_ns = equals ? rfn_time_argument(state, equals + 1, "cap SELECTOR=") : 0;
    if (cap_ns <= 0)
        argp_error(state, "--cap takes SELECTOR=TIME, a time like 20ms, not '%s'", text);
    *equals = '\0';
    assume(state, given, text, 1);
    given->caps_ns[given->n - 1] = cap_ns;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    double factor;
    switch (key) {
    case KEY_REMOVE:
        assume(state, given, arg, 0);
        return 0;
    case KEY_SCALE:
        factor = rfn_scale_argument(state, arg);
        assume(state, given, arg, factor);
        return 0;
    case KEY_CURVE:
        given->curve = arg;
        return 0;
    case KEY_EVENTS:
        given->events = true;
        return 0;
    case KEY_CAP:
        cap_argument(state, given, arg);
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
    case KEY_NETWORK:
        given->network_file = arg;
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* Everything that the page needs. The assumptions grow along the domino path. */
struct asking {
    struct rfn_whatif page;
    struct rfn_assumption assumed[2 * (GIVEN + DOMINOES)];
    struct rfn_selector dominoes[DOMINOES]; /* single events */
    struct rfn_selector curve;
    struct rfn_lane lane;
    struct rfn_progress progress;
    struct rfn_diag diag;
};

static int fail(const struct asking *asking, int error)
{
    return rfn_command_fail(asking->page.file, error, &asking->diag);
}

/* ---- the domino path ---- */

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

/* What the run would take in these lanes, one for each domino. */
static int predict_waits(struct asking *asking, const struct rfn_lane *lanes)
{
    struct rfn_whatif *page = &asking->page;
    struct rfn_prediction prediction;
    const struct rfn_predict_options options = {
        .network = &page->network, .lanes = lanes, .n = page->n_dominoes};
    if (!page->n_dominoes)
        return 0;
    RFN_TRY(rfn_predict(page->run->archive, &options, &prediction, &asking->diag));
    for (size_t i = 0; i < page->n_dominoes; i++)
        page->dominoes[i].waits_ns = prediction.predicted_ns[i];
    rfn_prediction_release(&prediction);
    return 0;
}

/* Removes as many of the longest waits as there are dominoes. */
static int without_waits(struct asking *asking)
{
    const struct rfn_whatif *page = &asking->page;
    struct rfn_assumption waits[DOMINOES];
    struct rfn_lane lanes[DOMINOES];
    size_t n = 0;
    for (size_t i = 0; i < page->n_dominoes; i++) {
        n += next_longest(page->candidates, waits, n);
        lanes[i] = (struct rfn_lane){waits, n};
    }
    return predict_waits(asking, lanes);
}

/* The best remedy is gone, too. 1; 0: nothing is left that saves time; or an error. */
static int mend_best(struct asking *asking, struct rfn_lane *lane, struct rfn_remedy *remedies)
{
    struct rfn_whatif *page = &asking->page;
    const size_t n = page->candidates->n;
    struct rfn_prediction prediction;
    memcpy(remedies, page->candidates->remedies, n * sizeof *remedies);
    RFN_TRY(rank(asking, lane, remedies, 1, &prediction));
    const int64_t run_ns = prediction.predicted_ns[0] - remedies[0].saved_ns;
    rfn_prediction_release(&prediction);
    if (!n || remedies[0].saved_ns <= 0)
        return 0;
    asking->assumed[lane->n++] = remedies[0].assumption;
    page->dominoes[page->n_dominoes++] = (struct rfn_domino){remedies[0].assumption.context, run_ns,
                                                             0};
    return 1;
}

static int follow(struct asking *asking, size_t steps)
{
    struct rfn_lane lane = asking->lane;
    struct rfn_remedy *remedies = calloc(asking->page.candidates->n + 1, sizeof *remedies);
    int mended = remedies ? 1 : RFN_E_NOMEM;
    while (mended > 0 && asking->page.n_dominoes < steps)
        mended = mend_best(asking, &lane, remedies);
    free(remedies);
    return mended < 0 ? mended : without_waits(asking);
}

/* ---- single events ---- */

static int predict_events(struct asking *asking, const struct rfn_lane *lane, size_t most,
                          struct rfn_event_gains *gains, int64_t *run_ns)
{
    struct rfn_prediction prediction;
    const struct rfn_predict_options options = {.network = &asking->page.network,
                                                .lanes = lane,
                                                .n = 1,
                                                .progress = rfn_progress_show,
                                                .context = &asking->progress};
    asking->progress.what = "predicting events";
    int error = rfn_predict_events(asking->page.run->archive, &options, most, gains, &prediction,
                                   &asking->diag);
    rfn_progress_done(&asking->progress);
    if (error)
        return error;
    *run_ns = prediction.predicted_ns[0];
    rfn_prediction_release(&prediction);
    return 0;
}

/* The event is gone, too. */
static int assume_event(struct asking *asking, struct rfn_lane *lane, struct rfn_selector *selector,
                        const struct rfn_event_gain *event)
{
    struct rfn_text name = {0}, wrong = {0};
    rfn_event_selector_append(&name, event);
    const char *text = rfn_text_terminated(&name);
    int error = name.failed ? RFN_E_NOMEM
                            : rfn_selector_parse(selector, asking->page.run, text, &wrong);
    rfn_text_release(&name);
    rfn_text_release(&wrong);
    if (!error)
        lane->n += rfn_selector_assume(selector, 0, asking->assumed + lane->n);
    return error;
}

/* As many of the longest single waits are gone as there are dominoes, one more in each lane. */
static int without_single_waits(struct asking *asking, const struct rfn_event_gains *gains)
{
    const struct rfn_whatif *page = &asking->page;
    struct rfn_assumption waits[DOMINOES];
    struct rfn_lane lanes[DOMINOES];
    const uint32_t ranks = rfn_archive_run(page->run->archive)->ranks;
    bool *of = calloc(DOMINOES * (size_t)ranks + 1, sizeof *of);
    if (!of)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < page->n_dominoes; i++) {
        const size_t n = i < gains->n_waits ? i + 1 : gains->n_waits;
        if (i < gains->n_waits) {
            of[i * ranks + gains->waits[i].rank] = true;
            waits[i] = (struct rfn_assumption){.what = RFN_ASSUME_WAIT,
                                               .ranks = of + i * ranks,
                                               .single = true,
                                               .event = gains->waits[i].index};
        }
        lanes[i] = (struct rfn_lane){waits, n};
    }
    const int error = predict_waits(asking, lanes);
    free(of);
    return error;
}

/* The best event, then the best after it. */
static int follow_events(struct asking *asking, size_t steps)
{
    struct rfn_whatif *page = &asking->page;
    struct rfn_lane lane = asking->lane;
    struct rfn_event_gains gains = {.n = 0};
    int64_t run_ns;
    int error = predict_events(asking, &lane, 1, &gains, &run_ns);
    while (!error && page->n_dominoes < steps && gains.n) {
        struct rfn_selector *selector = &asking->dominoes[page->n_dominoes];
        error = assume_event(asking, &lane, selector, &gains.events[0]);
        rfn_event_gains_release(&gains);
        if (error)
            break;
        page->n_dominoes++; /* its selector is to be released */
        error = predict_events(asking, &lane, 1, &gains, &run_ns);
        page->dominoes[page->n_dominoes - 1] = (struct rfn_domino){selector, run_ns, 0};
    }
    rfn_event_gains_release(&gains);
    return error ? error : without_single_waits(asking, &page->events);
}

/* ---- the run time as a function ---- */

/* A network may be many times slower; what ranks do, twice as slow. */
static int draw_curve(struct asking *asking)
{
    struct rfn_whatif *page = &asking->page;
    struct rfn_assumption assumptions[2];
    const size_t n = rfn_selector_assume(&asking->curve, 1, assumptions);
    const double to = asking->curve.kind >= RFN_SELECT_L ? 10 : 2;
    const struct rfn_predict_options options = {.network = &page->network,
                                                .lanes = &asking->lane,
                                                .n = 1,
                                                .progress = rfn_progress_show,
                                                .context = &asking->progress};
    page->curve_of = &asking->curve;
    asking->progress.what = "drawing the curve";
    int error = rfn_predict_curve(page->run->archive, &options, assumptions, n, 0, to, &page->curve,
                                  &asking->diag);
    rfn_progress_done(&asking->progress);
    return error;
}

/* What --curve, --events and --domino ask for. */
static int ask_further(struct asking *asking, const struct options *given)
{
    struct rfn_whatif *page = &asking->page;
    if (given->curve)
        RFN_TRY(draw_curve(asking));
    const size_t steps = (size_t)given->dominoes;
    int64_t run_ns;
    page->dominoes = calloc(DOMINOES + 1, sizeof *page->dominoes);
    if (!page->dominoes)
        return RFN_E_NOMEM;
    if (!given->events)
        return steps ? follow(asking, steps) : 0;
    size_t most = page->top < EVENTS ? page->top : EVENTS;
    most = most < steps ? steps : most;
    RFN_TRY(predict_events(asking, &asking->lane, most, &page->events, &run_ns));
    return steps ? follow_events(asking, steps) : 0;
}

/* ---- the page ---- */

static int print(struct asking *asking, const struct options *given)
{
    struct rfn_whatif *page = &asking->page;
    struct rfn_text out = {0};
    const bool json = given->given.json;
    int error = rank(asking, &asking->lane, page->candidates->remedies,
                     page->top < SIZE_MAX ? page->top : page->candidates->n, &page->prediction);
    if (!error)
        error = ask_further(asking, given);
    int status = error ? fail(asking, error)
                       : rfn_command_tell_missing(page->run->archive, json ? page->file : NULL,
                                                  json ? NULL : &out, RFN_EXIT_OK);
    if (!error && json) {
        status = rfn_command_print_json(rfn_whatif_json(page), status);
    } else if (!error) {
        rfn_whatif_text(&out, page);
        rfn_pager_start(&out);
        status = rfn_command_print(&out, page->file, status);
    }
    free(page->dominoes);
    for (size_t i = 0; i < DOMINOES; i++)
        rfn_selector_release(&asking->dominoes[i]);
    rfn_event_gains_release(&page->events);
    rfn_curve_release(&page->curve);
    rfn_prediction_release(&page->prediction);
    return status;
}

/* A selector of the command line; the exit status. */
static int parse_selector(struct asking *asking, const char *text, struct rfn_selector *selector)
{
    struct rfn_text wrong = {0};
    int error = rfn_selector_parse(selector, asking->page.run, text, &wrong);
    if (error == RFN_E_USAGE)
        rfn_command_error("%s: %s", asking->page.file, rfn_text_terminated(&wrong));
    rfn_text_release(&wrong);
    return error == RFN_E_USAGE ? RFN_EXIT_USAGE : error ? fail(asking, error) : RFN_EXIT_OK;
}

/* Whether it has single ones. */
static bool takes_cap(const struct rfn_selector *selector)
{
    if (selector->kind < RFN_SELECT_BYTES)
        return true;
    rfn_command_error("--cap is about computation, calls or waits, not about %s; try --scale",
                      selector->text ? selector->text : "the network");
    return false;
}

/* What the command line assumes. */
static int take_given(struct asking *asking, const struct options *given,
                      struct rfn_selector *selectors)
{
    asking->lane.assumptions = asking->assumed;
    for (size_t i = 0; i < given->n; i++) {
        const int status = parse_selector(asking, given->texts[i], &selectors[i]);
        if (status)
            return status;
        if (selectors[i].kind == RFN_SELECT_S && given->factors[i] == 0) {
            rfn_command_error("--remove takes no S: ask --scale S=10, a ten times larger one");
            return RFN_EXIT_USAGE;
        }
        struct rfn_assumption *assumed = asking->assumed + asking->lane.n;
        asking->lane.n += rfn_selector_assume(&selectors[i], given->factors[i], assumed);
        assumed->cap_ns = given->caps_ns[i];
        if (assumed->cap_ns && !takes_cap(&selectors[i]))
            return RFN_EXIT_USAGE;
    }
    return given->curve ? parse_selector(asking, given->curve, &asking->curve) : RFN_EXIT_OK;
}

static int ask(const struct rfn_measured *run, const struct options *given)
{
    struct rfn_selector selectors[GIVEN] = {0};
    struct rfn_candidates candidates;
    struct asking asking = {.page = {.file = given->given.file,
                                     .run = run,
                                     .network = given->network,
                                     .network_file = given->network_file,
                                     .given = selectors,
                                     .factors = given->factors,
                                     .caps_ns = given->caps_ns,
                                     .n_given = given->n,
                                     .candidates = &candidates,
                                     .by_event = given->events,
                                     .top = given->given.top_given ? (size_t)given->given.top
                                            : given->given.json    ? SIZE_MAX
                                                                   : TOP,
                                     .width = rfn_terminal_columns()},
                            .diag = {.file_offset = -1, .rank = -1}};
    int error = rfn_candidates_init(&candidates, run);
    if (!error && !given->network_file)
        error = rfn_network_estimate(run->archive, &asking.page.network, &asking.page.estimated,
                                     &asking.diag);
    int status = error ? fail(&asking, error) : take_given(&asking, given, selectors);
    if (!status && given->output)
        status = rfn_whatif_write(&asking.page, &asking.lane, given->output, given->force,
                                  given->given.json);
    if (!status && given->output)
        status = rfn_command_tell_missing(run->archive, given->given.file, NULL, RFN_EXIT_OK);
    else if (!status)
        status = print(&asking, given);
    for (size_t i = 0; i < given->n; i++)
        rfn_selector_release(&selectors[i]);
    rfn_selector_release(&asking.curve);
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
    const struct rfn_waits_options how = {.network = given->network_file ? &given->network : NULL,
                                          .profile = &profile};
    const struct rfn_run *about = rfn_archive_run(archive);
    if (!about->times) {
        rfn_command_error("%s: this archive has no times (it was recorded with %s): %s", file,
                          about->apart ? "--time-independent" : "--time=none",
                          about->apart ? "refrain predict is for it"
                                       : "record without that option to predict");
        return RFN_EXIT_BAD_INPUT;
    }
    if (given->events && rfn_kept_refuses_events(archive, file))
        return RFN_EXIT_USAGE;
    int error = rfn_waits_new(archive, &how, rfn_progress_show, &progress, &waits, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return rfn_command_fail(file, error, &diag);
    const struct rfn_measured run = {archive, profile, waits, rfn_profile_efficiency(profile),
                                     NULL};
    int status = ask(&run, given);
    rfn_waits_free(waits);
    rfn_profile_free(profile);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    struct rfn_archive *archive;
    rfn_command_parse(command, parse, argc, argv, &given);
    if (given.output && (given.events || given.curve || given.dominoes)) {
        rfn_command_error("--output writes the run with what --remove, --scale and --cap assume: "
                          "leave out --events, --curve and --domino");
        return RFN_EXIT_USAGE;
    }
    int status = rfn_command_network(given.network_file, &given.network);
    if (!status)
        status = rfn_command_open_calls(given.given.file, &archive);
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
             "bytes:RANGE, event:RANK/INDEX, before:RANK/INDEX, L, o, G or S. man refrain-whatif "
             "explains each.",
    .options = options,
    .run = run,
};
