/* cmd_predict.c - refrain predict: how long a run would take on another machine. */
#define _GNU_SOURCE
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/predict/compared.h"
#include "cli/predict/compute_rates.h"
#include "cli/predict/on_simgrid.h"
#include "cli/predict/prediction.h"
#include "cli/predict/scaled_parts.h"
#include "cli/text/json.h"
#include "cli/text/pager.h"
#include "cli/text/terminal.h"
#include "refrain/left_out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOP = 10, SETTINGS = 64 };

enum {
    KEY_HOSTS = 0x100,
    KEY_CFG,
    KEY_NO_CONTENTION,
    KEY_COLLECTIVES,
    KEY_MEASURED,
    KEY_SCALE,
    KEY_RATE,
    KEY_ENGINE,
    KEY_COMPARE,
    KEY_SCALE_PART,
    KEY_REMOVE,
    KEY_RATES,
    KEY_FROM
};

static const struct argp_option options[] = {
    {"platform", 'p', "P.xml", 0, "The machine, in SimGrid's XML", 0},
    {"hosts", KEY_HOSTS, "HOSTS", 0, "Hostfile or rankfile: where each rank is", 0},
    {"no-contention", KEY_NO_CONTENTION, NULL, 0, "Let messages not share links; much faster", 0},
    {"collectives", KEY_COLLECTIVES, "NAME", 0, "Algorithms of: default (SimGrid's), mpich or ompi",
     0},
    {"cfg", KEY_CFG, "NAME=VALUE", 0, "A parameter of the platform's model; repeatable",
     RFN_OPTIONS_MORE},
    {"measured-compute", KEY_MEASURED, NULL, 0, "Take computing times as recorded", 0},
    {"scale-compute", KEY_SCALE, "F", 0, "Make computing take F times as long", 0},
    {"scale", KEY_SCALE_PART, "SELECTOR=F", 0, "Make this part take F times as long; repeatable",
     0},
    {"remove", KEY_REMOVE, "SELECTOR", 0, "Make this part take no time; repeatable", 0},
    {"rate", KEY_RATE, "R", 0, "Flop per instruction, or per second of CPU time", RFN_OPTIONS_MORE},
    {"rates", KEY_RATES, "RUN.rfn", 0, "Take speeds of this run on the machine; repeatable",
     RFN_OPTIONS_MORE},
    {"from", KEY_FROM, "DIALECT", 0, "Of text: simgrid or thesis (default: recognized)",
     RFN_OPTIONS_MORE},
    {"engine", KEY_ENGINE, "ENGINE", 0, "own (default), or simgrid", RFN_OPTIONS_MORE},
    {"output", 'o', "OUT", 0, "Write the predicted run as an archive", 0},
    {"force", 'f', NULL, 0, "Replace OUT if it exists", 0},
    {"compare", KEY_COMPARE, "REAL", 0, "Compare the prediction with this recorded run", 0},
    {"top", 't', "N", 0, "Show N ranks and links (10)", 0},
    {"json", 'j', NULL, 0, "Print everything as JSON, in seconds and bytes", 0},
    {0},
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    const char *platform, *hosts, *output, *real;
    bool measured, simgrid, force;
    struct rfn_setting settings[SETTINGS];
    struct rfn_simulate_options simulate;
    struct rfn_scaled_parts scaled;
    struct rfn_compute_rates rates;
    enum rfn_text_dialect from;
};

static void scale(struct argp_state *state, struct rfn_scaled_parts *scaled, const char *text,
                  double factor)
{
    if (scaled->n == RFN_MOST_SCALED)
        argp_error(state, "at most %d parts at once", RFN_MOST_SCALED);
    scaled->texts[scaled->n] = text;
    scaled->factors[scaled->n++] = factor;
}

static void set(struct argp_state *state, struct options *given, const char *name,
                const char *value)
{
    if (given->simulate.n_settings == SETTINGS)
        argp_error(state, "at most %d parameters", SETTINGS);
    given->settings[given->simulate.n_settings++] = (struct rfn_setting){name, value,
                                                                         RFN_FROM_CALLER};
}

/* NAME=VALUE, or NAME:VALUE as SimGrid has it; is cut in two. */
static void setting_argument(struct argp_state *state, struct options *given, char *text)
{
    char *end = strpbrk(text, "=:");
    if (!end || end == text || !end[1])
        argp_error(state, "--cfg takes NAME=VALUE, as smpi/os=0:1e-6:2e-10, not '%s'", text);
    *end = '\0';
    set(state, given, text, end + 1);
}

static error_t parse_model(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    double factor;
    switch (key) {
    case KEY_CFG:
        setting_argument(state, given, arg);
        return 0;
    case KEY_COLLECTIVES:
        set(state, given, "smpi/coll-selector", arg);
        return 0;
    case KEY_SCALE:
        given->simulate.scale = rfn_positive_argument(state, arg, "scale-compute", 1e18);
        return 0;
    case KEY_SCALE_PART:
        factor = rfn_scale_argument(state, arg);
        scale(state, &given->scaled, arg, factor);
        return 0;
    case KEY_RATES:
        if (given->rates.n_files == RFN_MOST_RATE_FILES)
            argp_error(state, "--rates takes at most %d runs", RFN_MOST_RATE_FILES);
        given->rates.files[given->rates.n_files++] = arg;
        return 0;
    case KEY_REMOVE:
        scale(state, &given->scaled, arg, 0);
        return 0;
    case KEY_FROM:
        given->from = rfn_dialect_argument(state, arg);
        return 0;
    case KEY_RATE:
        given->simulate.rate = rfn_positive_argument(state, arg, "rate", 1e18);
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

static void check(struct argp_state *state, const struct options *given)
{
    if (!given->platform)
        argp_error(state, "--platform is missing: the machine to predict for");
    if (given->output && !given->output[0])
        argp_error(state, "the name of the predicted archive is empty");
    if (given->force && !given->output)
        argp_error(state, "--force replaces what --output names, and there is no --output");
    if (given->simgrid && (given->scaled.n || given->rates.n_files))
        argp_error(state, "--scale, --remove and --rates need --engine=own");
    if (given->simgrid && given->simulate.no_contention)
        argp_error(state, "--no-contention needs --engine=own: SimGrid always has contention");
    if (given->rates.n_files && (given->measured || given->simulate.rate > 0))
        argp_error(state, "--rates says how long computing takes; so do --measured-compute and "
                          "--rate");
    if (given->simgrid && (given->output || given->real))
        argp_error(state, "--engine=simgrid tells no times of single calls: --output and --compare "
                          "need --engine=own");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case 'p':
        given->platform = arg;
        return 0;
    case KEY_HOSTS:
        given->hosts = arg;
        return 0;
    case KEY_NO_CONTENTION:
        given->simulate.no_contention = true;
        return 0;
    case KEY_MEASURED:
        given->measured = true;
        return 0;
    case KEY_ENGINE:
        if (strcmp(arg, "own") != 0 && strcmp(arg, "simgrid") != 0)
            argp_error(state, "--engine is own or simgrid, not '%s'", arg);
        given->simgrid = arg[0] == 's';
        return 0;
    case 'o':
        given->output = arg;
        return 0;
    case 'f':
        given->force = true;
        return 0;
    case KEY_COMPARE:
        given->real = arg;
        return 0;
    case ARGP_KEY_END:
        check(state, given);
        if (given->given.file)
            given->given.file = rfn_input_argument(state, given->given.file);
        return parse_model(key, arg, state);
    default:
        return parse_model(key, arg, state);
    }
}

/* ---- simulating ---- */

struct predicting {
    struct options *given;
    struct rfn_archive *archive; /* NULL: text */
    struct rfn_actions *actions;
    struct rfn_platform *platform;
    uint32_t *hosts;
    size_t top;
    bool shown;                     /* progress, on a terminal */
    struct rfn_text assumed;        /* what META says of the predicted archive, */
    struct rfn_text output, folder; /* where it is; the folder is removed at the end */
    struct rfn_diag diag;
};

static void show(void *context, uint64_t actions, double seconds)
{
    struct predicting *predicting = context;
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rsimulating: %s actions, %s\033[K", rfn_count_text(actions).text,
            rfn_time_text((int64_t)(seconds * 1e9)).text);
    predicting->shown = true;
}

static int open_actions(struct predicting *predicting)
{
    const char *file = predicting->given->given.file;
    if (!rfn_is_archive_file(file) && predicting->given->measured)
        return rfn_fail(&predicting->diag, RFN_E_USAGE, -1, -1,
                        "%s is text, which has no times for --measured-compute", file);
    if (rfn_is_archive_file(file) && predicting->given->from != RFN_TEXT_ANY)
        return rfn_fail(&predicting->diag, RFN_E_USAGE, -1, -1,
                        "--from is about text, and %s is an archive", file);
    if (!rfn_is_archive_file(file))
        return rfn_actions_of_text(file, predicting->given->from, &predicting->actions,
                                   &predicting->diag);
    RFN_TRY(rfn_archive_open(file, &predicting->archive, &predicting->diag));
    return rfn_actions_of_archive(predicting->archive, predicting->given->measured,
                                  &predicting->actions, &predicting->diag);
}

static int place(struct predicting *predicting)
{
    const uint32_t ranks = rfn_actions_ranks(predicting->actions);
    predicting->hosts = calloc((size_t)ranks + 1, sizeof *predicting->hosts);
    if (!predicting->hosts)
        return RFN_E_NOMEM;
    return rfn_platform_place(predicting->platform, predicting->given->hosts, ranks,
                              predicting->hosts, &predicting->diag);
}

static double weight(void *context, uint32_t rank, const struct rfn_action *action)
{
    struct predicting *predicting = context;
    return rfn_scaled_parts_weight(&predicting->given->scaled, predicting->actions, rank, action);
}

/* Parts that are scaled; the exit status. */
static int find_scaled(struct predicting *predicting)
{
    struct options *given = predicting->given;
    struct rfn_text wrong = {0};
    const int error = rfn_scaled_parts_init(&given->scaled, predicting->archive, given->measured,
                                            &wrong, &predicting->diag);
    if (error == RFN_E_USAGE)
        rfn_command_error("%s: %s", given->given.file, rfn_text_terminated(&wrong));
    rfn_text_release(&wrong);
    return error == RFN_E_USAGE ? RFN_EXIT_USAGE
           : error              ? rfn_command_fail(given->given.file, error, &predicting->diag)
                                : RFN_EXIT_OK;
}

static double seconds(void *context, const struct rfn_action *action)
{
    struct predicting *predicting = context;
    return rfn_compute_rates_seconds(&predicting->given->rates, predicting->archive,
                                     predicting->actions, action);
}

/* The exit status. */
static int find_rates(struct predicting *predicting)
{
    struct options *given = predicting->given;
    struct rfn_text wrong = {0};
    int error = RFN_E_UNSUPPORTED;
    if (!predicting->archive)
        rfn_text_string(&wrong, "text does not say what is computed; --rates needs an archive");
    else
        error = rfn_compute_rates_read(&given->rates, predicting->archive, given->given.file,
                                       &wrong, &predicting->diag);
    const bool told = error && wrong.n;
    if (told)
        rfn_command_error("%s", rfn_text_terminated(&wrong));
    rfn_text_release(&wrong);
    return told    ? RFN_EXIT_FAILURE
           : error ? rfn_command_fail("--rates", error, &predicting->diag)
                   : RFN_EXIT_OK;
}

/* Whether there is a run to compare with: asked before anything is simulated. Also an incomplete
 * one is compared. The exit status. */
static int check_real(const char *file, const char *output)
{
    struct rfn_archive *archive;
    struct stat real, old;
    const int status = rfn_command_open(file, &archive);
    if (status)
        return status;
    if (output && stat(file, &real) == 0 && stat(output, &old) == 0 && real.st_dev == old.st_dev &&
        real.st_ino == old.st_ino) {
        rfn_command_error("%s is the run to compare with, and would be replaced; name another "
                          "--output",
                          output);
        rfn_archive_close(archive);
        return RFN_EXIT_USAGE;
    }
    const bool times = rfn_archive_run(archive)->times;
    rfn_archive_close(archive);
    if (times)
        return RFN_EXIT_OK;
    rfn_command_error("%s has no times to compare a prediction with; record it without "
                      "--time-independent",
                      file);
    return RFN_EXIT_FAILURE;
}

/* The file where the prediction goes as an archive. */
static int place_output(struct predicting *predicting)
{
    const struct options *given = predicting->given;
    const char *folder = getenv("TMPDIR");
    if (!predicting->archive) {
        rfn_command_error("%s is text, and --output and --compare need an archive; refrain convert "
                          "%s -o OUT.rfn makes one",
                          given->given.file, given->given.file);
        return RFN_EXIT_FAILURE;
    }
    if (given->output) {
        rfn_text_string(&predicting->output, given->output);
        return RFN_EXIT_OK;
    }
    rfn_text_format(&predicting->folder, "%s/refrain-XXXXXX", folder && *folder ? folder : "/tmp");
    const char *made = rfn_text_terminated(&predicting->folder);
    if (!predicting->folder.data || !mkdtemp(predicting->folder.data)) {
        rfn_command_error(
            "cannot make the folder %s for the prediction: %s; have TMPDIR name another place",
            made, strerror(errno));
        rfn_text_release(&predicting->folder);
        return RFN_EXIT_FAILURE;
    }
    rfn_text_format(&predicting->output, "%s/predicted.rfn", made);
    return RFN_EXIT_OK;
}

static void remove_folder(struct predicting *predicting)
{
    if (predicting->folder.n) {
        unlink(rfn_text_terminated(&predicting->output));
        rmdir(rfn_text_terminated(&predicting->folder));
    }
    rfn_text_release(&predicting->folder);
    rfn_text_release(&predicting->output);
}

/* ---- what is told ---- */

static int compare(const struct predicting *predicting, struct rfn_text *out, json_t **value,
                   int status)
{
    const struct options *given = predicting->given;
    const struct rfn_prediction_compared what = {
        .real = given->real,
        .predicted = rfn_text_terminated((struct rfn_text *)&predicting->output),
        .name = given->output ? given->output : "the prediction",
        .json = given->given.json,
        .top = predicting->top,
        .width = rfn_terminal_columns()};
    const int compared = rfn_prediction_compare(&what, out, value);
    return compared ? compared : status;
}

static int print(const struct predicting *predicting, const struct rfn_simulated *simulated,
                 uint64_t bytes)
{
    const struct options *given = predicting->given;
    const struct rfn_prediction_page page = {
        .file = given->given.file,
        .platform_file = given->platform,
        .platform = predicting->platform,
        .hosts = predicting->hosts,
        .options = &given->simulate,
        .on_simgrid = given->simgrid,
        .simulated = simulated,
        .archive = predicting->archive,
        .unit = rfn_actions_unit(predicting->actions),
        .assumed = rfn_text_terminated((struct rfn_text *)&predicting->assumed),
        .output = given->output,
        .rates = given->rates.n_files ? &given->rates : NULL,
        .bytes = bytes,
        .brief = given->real != NULL,
        .top = predicting->top,
        .width = rfn_terminal_columns()};
    struct rfn_text out = {0};
    json_t *compared = NULL;
    const bool json = given->given.json;
    int status = RFN_EXIT_OK;
    if (page.archive)
        status = rfn_command_tell_missing(page.archive, json ? page.file : NULL, json ? NULL : &out,
                                          status);
    if (!json)
        rfn_prediction_text(&out, &page);
    if (given->real)
        status = compare(predicting, &out, &compared, status);
    if (!json)
        return rfn_command_print_page(&out, page.file, status);
    json_t *value = rfn_prediction_json(&page);
    if (compared)
        json_object_set_new(value, "comparison", compared);
    return rfn_command_print_json(value, status);
}

/* ---- simulating ---- */

static int run_engine(struct predicting *predicting, const struct rfn_simulate_options *how,
                      struct rfn_simulated *simulated, uint64_t *bytes)
{
    const struct options *given = predicting->given;
    const struct rfn_simgrid_job job = {.file = given->given.file,
                                        .platform_file = given->platform,
                                        .platform = predicting->platform,
                                        .hosts = predicting->hosts,
                                        .ranks = rfn_actions_ranks(predicting->actions),
                                        .measured = given->measured,
                                        .from = given->from,
                                        .options = how};
    const struct rfn_simulated_file file = {.path = rfn_text_terminated(&predicting->output),
                                            .force = given->force,
                                            .assumed = rfn_text_terminated(&predicting->assumed)};
    if (given->simgrid)
        return rfn_simulate_on_simgrid(&job, simulated, &predicting->diag);
    if (given->output || given->real)
        return rfn_simulate_write(predicting->archive, predicting->actions, predicting->platform,
                                  predicting->hosts, how, &file, simulated, bytes,
                                  &predicting->diag);
    return rfn_simulate(predicting->actions, predicting->platform, predicting->hosts, how,
                        simulated, &predicting->diag);
}

/* Whether ranks may wait at their end for what others do later. */
static bool may_end_early(const struct rfn_archive *archive)
{
    struct rfn_left_out left_out;
    const char *why;
    if (!archive || !rfn_archive_complete(archive, &why))
        return archive;
    rfn_left_out_read(archive, &left_out);
    const bool stopped = left_out.stopped;
    rfn_left_out_release(&left_out);
    return stopped;
}

static int fail(const struct predicting *predicting, int error)
{
    const struct options *given = predicting->given;
    if (given->simgrid && may_end_early(predicting->archive))
        rfn_command_error(
            "%s: this archive ends at different times on its ranks, which SimGrid may "
            "take for a deadlock; --engine=own predicts as far as each rank goes",
            given->given.file);
    if (error == RFN_E_EXISTS) {
        rfn_command_error("%s exists already; --force replaces it", given->output);
        return RFN_EXIT_FAILURE;
    }
    return rfn_command_fail(given->given.file, error, &predicting->diag);
}

/* All that is assumed: what the page and the predicted archive say of it. */
static void describe(struct rfn_text *text, const struct options *given)
{
    rfn_text_string(text, "on ");
    rfn_text_printable(text, given->platform);
    if (given->simulate.no_contention)
        rfn_text_string(text, " without contention");
    if (given->hosts) {
        rfn_text_string(text, ", ranks placed by ");
        rfn_text_printable(text, given->hosts);
    }
    for (size_t i = 0; i < given->simulate.n_settings; i++) {
        rfn_text_string(text, ", ");
        rfn_text_printable(text, given->settings[i].name);
        rfn_text_string(text, "=");
        rfn_text_printable(text, given->settings[i].value);
    }
    if (given->measured)
        rfn_text_string(text, ", computing as long as measured");
    if (given->simulate.scale > 0)
        rfn_text_format(text, ", computing x %g", given->simulate.scale);
    if (given->simulate.rate > 0)
        rfn_text_format(text, ", rate %g", given->simulate.rate);
    if (given->scaled.n) {
        rfn_text_string(text, ", ");
        rfn_scaled_parts_append(text, &given->scaled);
    }
    for (size_t i = 0; i < given->rates.n_files; i++) {
        rfn_text_string(text, i ? ", " : ", rates of ");
        rfn_text_printable(text, given->rates.files[i]);
    }
}

static int simulate(struct predicting *predicting)
{
    const struct options *given = predicting->given;
    struct rfn_simulate_options how = given->simulate;
    struct rfn_simulated simulated;
    uint64_t bytes = 0;
    how.settings = given->settings;
    how.progress = show;
    how.context = predicting;
    how.weight = given->scaled.n && predicting->archive ? weight : NULL;
    how.scaled = given->scaled.n ? &given->scaled.network : NULL;
    how.seconds = given->rates.n_files ? seconds : NULL;
    how.may_end_early = may_end_early(predicting->archive);
    describe(&predicting->assumed, given);
    const int error = run_engine(predicting, &how, &simulated, &bytes);
    if (predicting->shown)
        fputs("\r\033[K", stderr);
    const int status = error ? fail(predicting, error) : print(predicting, &simulated, bytes);
    rfn_simulated_release(&simulated);
    return status;
}

static int predict(struct predicting *predicting)
{
    const struct options *given = predicting->given;
    const int real = given->real ? check_real(given->real, given->output) : RFN_EXIT_OK;
    if (real)
        return real;
    int error = rfn_platform_read(given->platform, &predicting->platform, &predicting->diag);
    if (error)
        return rfn_command_fail(given->platform, error, &predicting->diag);
    error = open_actions(predicting);
    if (error)
        return rfn_command_fail(given->given.file, error, &predicting->diag);
    const int calls = predicting->archive
                          ? rfn_command_check_calls(predicting->archive, given->given.file)
                          : RFN_EXIT_OK;
    if (calls)
        return calls;
    error = place(predicting);
    if (error)
        return rfn_command_fail(given->hosts ? given->hosts : given->platform, error,
                                &predicting->diag);
    int status = given->output || given->real ? place_output(predicting) : RFN_EXIT_OK;
    if (status == RFN_EXIT_OK && given->scaled.n)
        status = find_scaled(predicting);
    if (status == RFN_EXIT_OK && given->rates.n_files)
        status = find_rates(predicting);
    if (status == RFN_EXIT_OK)
        status = simulate(predicting);
    return status;
}

static void release(struct predicting *predicting)
{
    if (predicting->actions)
        rfn_actions_free(predicting->actions);
    if (predicting->archive)
        rfn_archive_close(predicting->archive);
    if (predicting->platform)
        rfn_platform_free(predicting->platform);
    free(predicting->hosts);
    rfn_text_release(&predicting->assumed);
    remove_folder(predicting);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    rfn_command_parse(command, parse, argc, argv, &given);
    struct predicting predicting = {.given = &given,
                                    .top = given.given.top_given ? (size_t)given.given.top
                                           : given.given.json    ? SIZE_MAX
                                                                 : TOP,
                                    .diag = {.file_offset = -1, .rank = -1}};
    const int status = predict(&predicting);
    release(&predicting);
    rfn_scaled_parts_release(&given.scaled);
    rfn_compute_rates_release(&given.rates);
    return status;
}

const struct rfn_command rfn_cmd_predict = {
    .name = "predict",
    .summary = "Predicts how long a run would take on another machine",
    .usage = "FILE",
    .about =
        "FILE is an archive, or a time-independent trace as text. The platform says what the "
        "machine is: hosts, links, routes, and what MPI costs on it.\n"
        "\n"
        "  refrain predict app.rfn --platform cluster.xml\n"
        "\n"
        "Collective calls are the messages of their algorithm; messages share links by max-min "
        "fairness. man refrain-predict explains the model.",
    .options = options,
    .values = "--engine=own,simgrid --collectives=default,mpich,ompi --from=simgrid,thesis",
    .run = run,
};
