/* cmd_reduce.c - refrain reduce: a smaller archive, with the times of alike iterations, and what
 * alike ranks did, kept once. */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/args/rank_filter.h"
#include "cli/args/reduction.h"
#include "cli/expressions.h"
#include "cli/keep_predictions.h"
#include "cli/text/archive_samples_text.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"
#include "cli/text/terminal.h"
#include "refrain/merge_archives.h"
#include "refrain/trace_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_SIMILARITY = 256,
    KEY_ACROSS,
    KEY_MIN_CALLS,
    KEY_STARTS,
    KEY_MEMORY,
    KEY_MAX_PER_KIND,
    KEY_CLUSTER,
    KEY_NO_CLUSTER,
    KEY_IGNORE,
    KEY_EXPRESSION,
    KEY_PLUGIN,
    KEY_RANK,
    KEY_KEEP_PREDICTIONS
};

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "The reduced archive", 0},
    {"force", 'f', NULL, 0, "Replace OUT if there is such a file", 0},
    {"cluster", KEY_CLUSTER, NULL, 0, "Store once what ranks that behave alike did", 0},
    {"ignore-parameter", KEY_IGNORE, "LIST", 0,
     "With --cluster: merge such parameters, as peer,count", RFN_OPTIONS_MORE},
    RFN_EXPRESSION_OPTION(KEY_EXPRESSION),
    RFN_PLUGIN_OPTION(KEY_PLUGIN),
    {"rank", KEY_RANK, "LIST", 0, "Take only these ranks out, as 0-3,7", 0},
    {"no-cluster", KEY_NO_CLUSTER, NULL, 0, "With --rank: store what each rank did",
     RFN_OPTIONS_MORE},
    {"similarity", KEY_SIMILARITY, "METHOD[:T]", 0, RFN_HELP_SIMILARITY, 0},
    {"across", KEY_ACROSS, "[METHOD:]T|one|all", OPTION_ARG_OPTIONAL, RFN_HELP_ACROSS, 0},
    {"segment-min-calls", KEY_MIN_CALLS, "N", 0, RFN_HELP_MIN_CALLS, RFN_OPTIONS_MORE},
    {"segment-starts", KEY_STARTS, "exact|predicted", 0, RFN_HELP_STARTS, RFN_OPTIONS_MORE},
    {"max-per-kind", KEY_MAX_PER_KIND, "N", 0, "Keep at most N segments with the same calls",
     RFN_OPTIONS_MORE},
    {"memory", KEY_MEMORY, "SIZE", 0, "Most memory for the comparison (default 1G)",
     RFN_OPTIONS_MORE},
    {"keep-predictions", KEY_KEEP_PREDICTIONS, "TIME[,SIZE]", OPTION_ARG_OPTIONAL,
     "Keep only what refrain whatif needs for activities of at least TIME", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    struct rfn_file_argument given; /* first: its parser takes what is not an option of ours */
    const char *output;
    const char *across; /* as given, "": by default; NULL: not */
    bool force;
    bool times;       /* an option says how they are reduced */
    bool expressions; /* some are given */
    bool no_cluster;
    bool some; /* only some ranks: */
    struct rfn_rank_filter ranks;
    bool keep_predictions; /* and nothing else */
    struct rfn_aggregate_options aggregate;
    char across_text[RFN_ACROSS_TEXT];
    struct rfn_trace_profile_options options;
};

static void finish_arguments(struct argp_state *state, struct arguments *arguments)
{
    struct rfn_trace_profile_options *made = &arguments->options;
    if (!arguments->output)
        argp_error(state, "where to? (-o OUT)");
    if (made->forced && !made->cluster)
        argp_error(state, "--ignore-parameter goes with --cluster");
    if (arguments->expressions && !made->cluster)
        argp_error(state, "--expression and --plugin go with --cluster");
    if (arguments->some && (arguments->times || arguments->expressions || made->forced))
        argp_error(state, "--rank copies ranks unchanged: reduce them in a second command");
    if (arguments->keep_predictions && (arguments->some || arguments->times || made->cluster))
        argp_error(state, "--keep-predictions cannot be combined with other ways to reduce");
    if (arguments->no_cluster && !arguments->some)
        argp_error(state, "--no-cluster goes with --rank");
    if (arguments->no_cluster && made->cluster)
        argp_error(state, "--cluster and --no-cluster exclude each other");
    if (made->cluster && !arguments->times)
        made->similar = NULL;
    if (!arguments->across)
        return;
    rfn_across_argument(state, arguments->across, made->similar, arguments->across_text);
    if (arguments->across_text[0]) /* not "all" */
        made->across = arguments->across_text;
}

/* Options that say how times are reduced. */
static error_t parse_times(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct rfn_trace_profile_options *made = &arguments->options;
    uint64_t n;
    switch (key) {
    case KEY_SIMILARITY:
        rfn_record_argument(state, RFN_RECORD_SIMILARITY, arg);
        made->similar = arg;
        return 0;
    case KEY_ACROSS:
        arguments->across = arg ? arg : "";
        return 0;
    case KEY_MIN_CALLS:
        rfn_record_argument(state, RFN_RECORD_SEGMENT_MIN_CALLS, arg);
        made->min_calls = (uint32_t)atoi(arg);
        return 0;
    case KEY_STARTS:
        rfn_record_argument(state, RFN_RECORD_SEGMENT_STARTS, arg);
        made->exact_starts = strcmp(arg, "exact") == 0;
        return 0;
    case KEY_MAX_PER_KIND:
        n = rfn_number_argument(state, arg, "number");
        if (n < 2 || n > UINT32_MAX)
            argp_error(state, "--max-per-kind is at least 2");
        made->max_per_kind = (uint32_t)n;
        return 0;
    case KEY_MEMORY:
        rfn_record_argument(state, RFN_RECORD_MEMORY, arg);
        made->memory_bytes = rfn_size_parse(arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    if (parse_times(key, arg, state) == 0) {
        /* --across=all is as without it: --cluster still leaves times alone */
        arguments->times |= key != KEY_ACROSS || !arg || strcmp(arg, "all") != 0;
        return 0;
    }
    switch (key) {
    case 'o':
        if (!arg[0])
            argp_error(state, "the name of the reduced archive is empty");
        arguments->output = arg;
        return 0;
    case 'f':
        arguments->force = true;
        return 0;
    case KEY_CLUSTER:
        arguments->options.cluster = true;
        return 0;
    case KEY_NO_CLUSTER:
        arguments->no_cluster = true;
        return 0;
    case KEY_IGNORE:
        rfn_record_argument(state, RFN_RECORD_IGNORE_PARAMETER, arg);
        arguments->options.forced = arg;
        return 0;
    case KEY_EXPRESSION:
        rfn_expression_argument(state, arg, arguments->options.expressions);
        arguments->expressions = true;
        return 0;
    case KEY_PLUGIN:
        rfn_plugin_argument(state, arg, arguments->options.expressions);
        arguments->expressions = true;
        return 0;
    case KEY_RANK:
        rfn_rank_argument(state, arg, &arguments->ranks);
        arguments->some = true;
        return 0;
    case KEY_KEEP_PREDICTIONS:
        rfn_keep_predictions_argument(state, arg, &arguments->aggregate);
        arguments->keep_predictions = true;
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

static uint32_t groups_apart(const struct rfn_reduction *reduction)
{
    return reduction->groups - reduction->groups_together;
}

static int print_json(const struct arguments *arguments, const struct rfn_reduction *reduction,
                      int status)
{
    const struct rfn_trace_profile_stats *stats = &reduction->stats;
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", arguments->output);
    RFN_JSON_SET(value, "full_bytes", reduction->full_bytes);
    RFN_JSON_SET(value, "bytes", reduction->bytes);
    RFN_JSON_SET(value, "size_percent", percent(reduction));
    RFN_JSON_SET(value, "degree_of_matching",
                 arguments->options.similar ? json_real(reduction->degree_of_matching)
                                            : json_null());
    RFN_JSON_SET(value, "ignored", reduction->forced);
    RFN_JSON_SET(value, "unmerged_groups",
                 arguments->options.forced ? json_integer(groups_apart(reduction)) : json_null());
    RFN_JSON_SET(value, "events", stats->events);
    RFN_JSON_SET(value, "segments", stats->executions);
    RFN_JSON_SET(value, "kinds", stats->kinds);
    RFN_JSON_SET(value, "kept", stats->representatives);
    RFN_JSON_SET(value, "kept_events", stats->kept_events);
    RFN_JSON_SET(value, "corrections", stats->corrections);
    RFN_JSON_SET(value, "widened", stats->widened);
    RFN_JSON_SET(value, "streams", stats->streams);
    RFN_JSON_SET(value, "time_sets", stats->groups);
    RFN_JSON_SET(value, "expressions",
                 arguments->expressions ? rfn_json_expression_counts(&reduction->expressions)
                                        : json_null());
    return rfn_command_print_json(value, status);
}

/* Of what parameters were asked to be merged, and are not. */
static void append_not_merged(struct rfn_text *text, const struct rfn_reduction *reduction)
{
    if (!reduction->groups_together) {
        rfn_text_format(
            text, "; no parameters were merged, as %sthat makes the archive no smaller",
            reduction->clusters_larger ? "" : "what ranks did is too large for clusters, or ");
        return;
    }
    if (!reduction->forced)
        rfn_text_string(text, "; no parameters were merged, as those of ranks with the same loops "
                              "are equal; lists, and what has more than 64 values on a rank, stay "
                              "each rank's own");
    if (groups_apart(reduction))
        rfn_text_format(text,
                        "; of %" PRIu32 " of %" PRIu32 " groups no parameters were merged, as they "
                        "are too large for clusters, or clusters make the archive no smaller",
                        groups_apart(reduction), reduction->groups);
}

/* "app.small.rfn: 10.1 MiB became 62.3 KiB (0.602 %), degree of matching 98.2 %" */
static int print_text(const struct arguments *arguments, const struct rfn_reduction *reduction,
                      int status)
{
    struct rfn_text text = {0};
    rfn_text_printable(&text, arguments->output);
    rfn_text_format(&text, ": %s became %s (%.3g %%)", rfn_bytes_text(reduction->full_bytes).text,
                    rfn_bytes_text(reduction->bytes).text, percent(reduction));
    if (arguments->options.similar &&
        reduction->stats.representatives == reduction->stats.executions)
        rfn_text_string(&text, ", no iteration was like another");
    else if (arguments->options.similar)
        rfn_text_format(&text, ", degree of matching %s",
                        rfn_share_text(reduction->degree_of_matching).text);
    if (reduction->stats.widened)
        rfn_text_format(&text, "; thresholds widened for %s kinds of iterations",
                        rfn_count_text(reduction->stats.widened).text);
    if (arguments->expressions) {
        rfn_text_string(&text, "; ");
        rfn_expression_counts_append(&text, &reduction->expressions, true);
    }
    if (arguments->options.forced)
        append_not_merged(&text, reduction);
    rfn_text_string(&text, "\n");
    return rfn_command_print(&text, NULL, status);
}

static int print(const struct arguments *arguments, const struct rfn_reduction *reduction,
                 int status)
{
    return arguments->given.json ? print_json(arguments, reduction, status)
                                 : print_text(arguments, reduction, status);
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
    int error = 0;
    if (arguments->options.cluster) /* what it was clustered with before counts again */
        error = rfn_expressions_add_archive(arguments->options.expressions, archive, &diag);
    if (!error)
        error = rfn_reduce(archive, &arguments->options, arguments->output, arguments->force,
                           &reduction, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return fail(arguments, error, &diag);
    /* What is missing in an incomplete archive is missing in the reduced one. */
    int status = rfn_command_check_complete(archive, arguments->given.file, RFN_EXIT_OK);
    rfn_expression_counts_warn(&reduction.expressions);
    return print(arguments, &reduction, status);
}

static bool is_chosen(const void *ranks, uint32_t rank)
{
    return rfn_rank_filter_has(ranks, rank);
}

/* Nothing is left out of ranks that are taken out. */
static int take_ranks(struct arguments *arguments, const struct rfn_archive *archive)
{
    const struct rfn_rank_choice choice = {is_chosen, &arguments->ranks};
    const struct rfn_merge_options options = {&choice, arguments->no_cluster ? RFN_MERGE_UNCLUSTERED
                                                       : arguments->options.cluster
                                                           ? RFN_MERGE_CLUSTERED
                                                           : RFN_MERGE_AS_BEFORE};
    struct rfn_merge_result merged;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int status = rfn_command_check_ranks(archive, arguments->given.file, &arguments->ranks);
    if (status)
        return status;
    int error = rfn_merge_archives(&archive, 1, &options, arguments->output, arguments->force,
                                   &merged, &diag);
    if (error < 0)
        return fail(arguments, error, &diag);
    if (merged.samples_left_out)
        rfn_command_error(RFN_SAMPLES_LEFT_OUT, arguments->output);
    const struct rfn_reduction reduction = {
        .full_bytes = merged.bytes_before, .bytes = merged.bytes, .stats.events = merged.events};
    arguments->options.similar = NULL;
    return print(arguments, &reduction, RFN_EXIT_OK);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.options = {.similar = RFN_SIMILARITY_DEFAULT,
                                              .min_calls = 1,
                                              .memory_bytes = UINT64_C(1) << 30}};
    struct rfn_archive *archive;
    int error = rfn_expressions_new(&arguments.options.expressions);
    if (error < 0)
        return rfn_command_fail(NULL, error, NULL);
    rfn_command_parse(command, parse, argc, argv, &arguments);
    int status = rfn_command_open(arguments.given.file, &archive);
    if (!status) {
        status = arguments.some ? take_ranks(&arguments, archive)
                 : arguments.keep_predictions
                     ? rfn_keep_predictions(archive, arguments.given.file, &arguments.aggregate,
                                            arguments.output, arguments.force, arguments.given.json)
                     : reduce(&arguments, archive);
        rfn_archive_close(archive);
    }
    rfn_rank_filter_release(&arguments.ranks);
    rfn_expressions_free(arguments.options.expressions);
    return status;
}

const struct rfn_command rfn_cmd_reduce = {
    .name = "reduce",
    .summary = "Makes an archive smaller: similar iterations share times",
    .usage = "FILE -o OUT",
    .about = "Calls, parameters, counts and their order stay exact; times become those of similar "
             "iterations, unless only --cluster is asked for. Prints how large the archive was and "
             "is, and the degree of matching: of the "
             "iterations that could have been left out, how many were.",
    .options = options,
    .values = RFN_SIMILARITY_VALUES " " RFN_ACROSS_VALUES " --segment-starts=exact,predicted",
    .run = run,
};
