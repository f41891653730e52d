/* cmd_reduce.c - refrain reduce: a smaller archive, with the times of alike iterations kept once.
 */
#include "cli/command.h"
#include "cli/file_argument.h"
#include "cli/json.h"
#include "cli/reduction.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "cli/units.h"
#include "refrain/trace_profile.h"

enum {
    KEY_SIMILAR = 256,
    KEY_ACROSS,
    KEY_MIN_CALLS,
    KEY_STARTS,
    KEY_MEMORY,
    KEY_MAX_PER_KIND,
    KEY_FORCE
};

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "The reduced archive", 0},
    {"force", KEY_FORCE, NULL, 0, "Replace OUT if there is such a file", 0},
    RFN_SIMILAR_OPTION(KEY_SIMILAR),
    RFN_ACROSS_OPTION(KEY_ACROSS, OPTION_ARG_OPTIONAL),
    RFN_MIN_CALLS_OPTION(KEY_MIN_CALLS),
    RFN_STARTS_OPTION(KEY_STARTS),
    {"max-per-kind", KEY_MAX_PER_KIND, "N", 0,
     "Keep at most N iterations of those with the same calls; where that is not enough their "
     "threshold is widened",
     0},
    {"memory", KEY_MEMORY, "SIZE", 0,
     "Widen thresholds so that what is compared takes at most SIZE, as 512M; 1G by default", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    struct rfn_file_argument given; /* first: its parser takes what is not an option of ours */
    const char *output;
    const char *across; /* as given, "": by default; NULL: not */
    bool force;
    char across_text[RFN_ACROSS_TEXT];
    struct rfn_trace_profile_options options;
};

static uint32_t max_per_kind_argument(struct argp_state *state, const char *arg)
{
    uint64_t n = rfn_number_argument(state, arg, "number");
    if (n < 2 || n > UINT32_MAX)
        argp_error(state, "--max-per-kind is at least 2");
    return (uint32_t)n;
}

static void finish_arguments(struct argp_state *state, struct arguments *arguments)
{
    struct rfn_trace_profile_options *made = &arguments->options;
    if (!arguments->output)
        argp_error(state, "where to? (-o OUT)");
    if (!arguments->across)
        return;
    rfn_across_argument(state, arguments->across, made->similar, arguments->across_text);
    made->across = arguments->across_text;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct rfn_trace_profile_options *made = &arguments->options;
    switch (key) {
    case 'o':
        if (!arg[0])
            argp_error(state, "the name of the reduced archive is empty");
        arguments->output = arg;
        return 0;
    case KEY_FORCE:
        arguments->force = true;
        return 0;
    case KEY_SIMILAR:
        rfn_similar_argument(state, arg);
        made->similar = arg;
        return 0;
    case KEY_ACROSS:
        arguments->across = arg ? arg : "";
        return 0;
    case KEY_MIN_CALLS:
        made->min_calls = rfn_min_calls_argument(state, arg);
        return 0;
    case KEY_STARTS:
        made->exact_starts = rfn_starts_argument(state, arg);
        return 0;
    case KEY_MAX_PER_KIND:
        made->max_per_kind = max_per_kind_argument(state, arg);
        return 0;
    case KEY_MEMORY:
        made->memory_bytes = rfn_size_argument(state, arg, "memory");
        return 0;
    case ARGP_KEY_END:
        finish_arguments(state, arguments);
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

static double percent(const struct rfn_reduction *reduction)
{
    return reduction->full_bytes ? 100 * (double)reduction->bytes / (double)reduction->full_bytes
                                 : 100;
}

static int print_json(const struct arguments *arguments, const struct rfn_reduction *reduction,
                      int status)
{
    const struct rfn_trace_profile_stats *stats = &reduction->stats;
    json_t *value = json_object();
    json_object_set_new(value, "file", rfn_json_text(arguments->output));
    json_object_set_new(value, "full_bytes", rfn_json_count(reduction->full_bytes));
    json_object_set_new(value, "bytes", rfn_json_count(reduction->bytes));
    json_object_set_new(value, "size_percent", json_real(percent(reduction)));
    json_object_set_new(value, "degree_of_matching", json_real(reduction->degree_of_matching));
    json_object_set_new(value, "events", rfn_json_count(stats->events));
    json_object_set_new(value, "segments", rfn_json_count(stats->executions));
    json_object_set_new(value, "kinds", rfn_json_count(stats->kinds));
    json_object_set_new(value, "kept", rfn_json_count(stats->representatives));
    json_object_set_new(value, "kept_events", rfn_json_count(stats->kept_events));
    json_object_set_new(value, "corrections", rfn_json_count(stats->corrections));
    json_object_set_new(value, "widened", rfn_json_count(stats->widened));
    json_object_set_new(value, "streams", rfn_json_count(stats->streams));
    json_object_set_new(value, "time_sets", rfn_json_count(stats->groups));
    return rfn_json_print(value, status);
}

/* "app.small.rfn: 10.1 MiB became 62.3 KiB (0.602 %), degree of matching 98.2 %" */
static int print_text(const struct arguments *arguments, const struct rfn_reduction *reduction,
                      int status)
{
    struct rfn_text text = {0};
    rfn_text_printable(&text, arguments->output);
    rfn_text_format(&text, ": %s became %s (%.3g %%), degree of matching %s",
                    rfn_bytes_text(reduction->full_bytes).text,
                    rfn_bytes_text(reduction->bytes).text, percent(reduction),
                    rfn_share_text(reduction->degree_of_matching).text);
    if (reduction->stats.widened)
        rfn_text_format(&text, "; thresholds widened for %s kinds of iterations",
                        rfn_count_text(reduction->stats.widened).text);
    rfn_text_string(&text, "\n");
    rfn_text_print(&text);
    rfn_text_release(&text);
    return status;
}

/* What is missing in an incomplete archive is missing in the reduced one; the exit status. */
static int check(const struct rfn_archive *archive, const char *file)
{
    const char *why = NULL;
    if (rfn_archive_complete(archive, &why))
        return RFN_EXIT_OK;
    rfn_command_error("%s: incomplete: %s", file, why ? why : "the file was cut short");
    return RFN_EXIT_BAD_INPUT;
}

static int fail(const struct arguments *arguments, int error, const struct rfn_diag *diag)
{
    if (error == RFN_E_EXISTS) {
        rfn_command_error("%s exists already; --force replaces it", arguments->output);
        return RFN_EXIT_FAILURE;
    }
    return rfn_command_fail(
        error == RFN_E_USAGE || error == RFN_E_IO ? NULL : arguments->given.file, error, diag);
}

static int reduce(struct arguments *arguments, const struct rfn_archive *archive)
{
    struct rfn_reduction reduction;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "reducing"};
    arguments->options.progress = rfn_progress_show;
    arguments->options.progress_context = &progress;
    int error = rfn_reduce(archive, &arguments->options, arguments->output, arguments->force,
                           &reduction, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return fail(arguments, error, &diag);
    int status = check(archive, arguments->given.file);
    return arguments->given.json ? print_json(arguments, &reduction, status)
                                 : print_text(arguments, &reduction, status);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.options = {.similar = RFN_SIMILAR_DEFAULT,
                                              .min_calls = 1,
                                              .memory_bytes = UINT64_C(1) << 30}};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_archive *archive;
    rfn_command_parse(command, parse, argc, argv, &arguments);
    int error = rfn_archive_open(arguments.given.file, &archive, &diag);
    if (error < 0)
        return rfn_command_fail(arguments.given.file, error, &diag);
    int status = reduce(&arguments, archive);
    rfn_archive_close(archive);
    return status;
}

const struct rfn_command rfn_cmd_reduce = {
    .name = "reduce",
    .summary = "Makes an archive smaller: times of alike iterations are kept once",
    .usage = "FILE -o OUT",
    .about =
        "Calls, parameters, counts and their order stay exact; times become those of similar "
        "iterations. Prints how large the archive was and is, and the degree of matching: of the "
        "iterations that could have been left out, how many were.",
    .options = options,
    .values = RFN_SIMILAR_VALUES " " RFN_STARTS_VALUES,
    .run = run,
};
