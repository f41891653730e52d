/* cmd_sample.c - refrain sample: latencies of messages from a sample of an archive's messages, as
 * `refrain record --sample` would have taken it, and on request latencies of all messages. */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/report/report.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

enum { TOP = 7 }; /* as in the report */

enum { KEY_SAMPLE = 0x100, KEY_SEED, KEY_ANALYSIS, KEY_TRUTH, KEY_CALL_PATH, KEY_ALL, KEY_CSV };

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    struct rfn_sample_strategy strategy;
    enum rfn_sample_analysis analysis;
    bool truth, all;
    struct rfn_rank_filter ranks; /* none: all */
    const char *call_path;
    const char *csv; /* the table; NULL: not asked for */
};

static const struct argp_option options[] = {
    {"sample", KEY_SAMPLE, "STRATEGY", 0,
     "random:P, adaptive[:N], counter:N[+-V] or timer:T[+-V] (default: adaptive)", 0},
    {"seed", KEY_SEED, "N", 0, "Seed of the random choice (1)", 0},
    {"analysis", KEY_ANALYSIS, "WHAT", 0,
     "stat: means; freq: quantiles, too (default); write: each sample", 0},
    {"truth", KEY_TRUTH, NULL, 0, "Show the values of all messages beside estimates", 0},
    {"json", 'j', NULL, 0, "Print everything as JSON", 0},
    {"csv", KEY_CSV, "TABLE", 0, "Print one table as CSV: all, categories, pairs, ...", 0},
    {"top", 't', "N", 0, "Show the N longest rows of each table (7)", 0},
    {"all", KEY_ALL, NULL, 0, "Show all rows of each table", 0},
    {"rank", 'r', "LIST", 0, "Only messages from or to these ranks, as 0-3,7", 0},
    {"call-path", KEY_CALL_PATH, "TEXT", 0, "Only call paths with TEXT in function or file:line",
     0},
    {0},
};

static void strategy_argument(struct argp_state *state, const char *text,
                              struct rfn_sample_strategy *strategy)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    if (rfn_sample_strategy_parse(text, strategy, &diag) < 0)
        argp_error(state, "%s", diag.text);
    if (strategy->kind == RFN_SAMPLE_OFF)
        argp_error(state, "--sample=off samples nothing: give a strategy, such as random:0.01");
}

static enum rfn_sample_analysis analysis_argument(struct argp_state *state, const char *text)
{
    static const char *const words[] = {
        [RFN_SAMPLE_STAT] = "stat", [RFN_SAMPLE_FREQ] = "freq", [RFN_SAMPLE_WRITE] = "write"};
    for (int i = 0; i < 3; i++) {
        if (strcmp(text, words[i]) == 0)
            return (enum rfn_sample_analysis)i;
    }
    argp_error(state, "--analysis is stat, freq or write, not '%s'", text);
    return RFN_SAMPLE_FREQ;
}

static void check_options(struct argp_state *state, const struct options *given)
{
    if (given->given.json && given->csv)
        argp_error(state, "--json and --csv print different things: give one of them");
    if (given->csv && strcmp(given->csv, "samples") == 0 && given->analysis != RFN_SAMPLE_WRITE)
        argp_error(state, "--csv=samples needs the samples themselves: --analysis=write");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case KEY_SAMPLE:
        strategy_argument(state, arg, &given->strategy);
        return 0;
    case KEY_SEED:
        given->strategy.seed = rfn_number_argument(state, arg, "seed");
        return 0;
    case KEY_ANALYSIS:
        given->analysis = analysis_argument(state, arg);
        return 0;
    case KEY_TRUTH:
        given->truth = true;
        return 0;
    case KEY_CSV:
        if (!rfn_report_csv_has(RFN_SAMPLES_CSV_TABLES, arg))
            argp_error(state, "there is no table '%s'; there are " RFN_SAMPLES_CSV_TABLES, arg);
        given->csv = arg;
        return 0;
    case 'r':
        rfn_rank_argument(state, arg, &given->ranks);
        return 0;
    case KEY_CALL_PATH:
        given->call_path = arg;
        return 0;
    case KEY_ALL:
        given->all = true;
        return 0;
    case ARGP_KEY_END:
        check_options(state, given);
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* Prints the page; the exit status. */
static int print(const struct rfn_report *report, const struct options *given, int status)
{
    struct rfn_text out = {0};
    const bool is_page = !given->csv && !given->given.json;
    status = rfn_command_tell_missing(report->archive, is_page ? NULL : report->file,
                                      is_page ? &out : NULL, status);
    if (given->csv) {
        rfn_report_samples_csv(&out, report, given->csv);
        return rfn_command_print(&out, report->file, status);
    }
    if (given->given.json)
        return rfn_command_print_json(rfn_report_samples_json(report), status);
    rfn_report_samples(&out, report);
    return rfn_command_print_page(&out, report->file, status);
}

/* Whether there are some; *status tells of a file that is damaged behind them, too. */
static bool take(const struct rfn_archive *archive, const char *file,
                 const struct rfn_sample_strategy *strategy, enum rfn_sample_analysis analysis,
                 struct rfn_samples *samples, int *status)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const int error = rfn_samples_take(archive, strategy, analysis, samples, &diag);
    if (error && !*status)
        *status = rfn_command_fail(file, error, &diag);
    return samples->rows;
}

static int sample_archive(const struct rfn_archive *archive, const struct options *given)
{
    static const struct rfn_sample_strategy every = {.kind = RFN_SAMPLE_RANDOM, .rate = 1};
    const struct rfn_file_argument *file = &given->given;
    struct rfn_samples samples = {.known = false}, all = {.known = false};
    const struct rfn_report report = {.file = file->file,
                                      .archive = archive,
                                      .run = rfn_archive_run(archive),
                                      .samples = &samples,
                                      .all_samples = given->truth ? &all : NULL,
                                      .ranks = given->ranks.n ? &given->ranks : NULL,
                                      .call_path = given->call_path,
                                      .top = given->all                 ? SIZE_MAX
                                             : file->top_given          ? (size_t)file->top
                                             : file->json || given->csv ? SIZE_MAX
                                                                        : TOP,
                                      .colors = rfn_terminal_colors(),
                                      .width = rfn_terminal_columns()};
    int status = rfn_command_check_ranks(archive, file->file, report.ranks);
    if (!status)
        status = rfn_command_check_calls(archive, file->file);
    const enum rfn_sample_analysis compared = given->analysis == RFN_SAMPLE_STAT ? RFN_SAMPLE_STAT
                                                                                 : RFN_SAMPLE_FREQ;
    if (!status &&
        take(archive, file->file, &given->strategy, given->analysis, &samples, &status) &&
        (!given->truth || take(archive, file->file, &every, compared, &all, &status)))
        status = print(&report, given, status);
    rfn_samples_release(&samples);
    rfn_samples_release(&all);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {.analysis = RFN_SAMPLE_FREQ, .strategy.seed = 1};
    struct rfn_archive *archive;
    rfn_sample_strategy_parse("adaptive", &given.strategy, NULL);
    rfn_command_parse(command, parse, argc, argv, &given);
    int status = rfn_command_open(given.given.file, &archive);
    if (!status) {
        status = sample_archive(archive, &given);
        rfn_archive_close(archive);
    }
    rfn_rank_filter_release(&given.ranks);
    return status;
}

const struct rfn_command rfn_cmd_sample = {
    .name = "sample",
    .summary = "Samples the messages of an archive, and tells their latencies",
    .usage = "FILE",
    .about =
        "Chooses the messages that refrain record --sample would have measured, so that a rate "
        "can be tried before a long run. man refrain-sample explains the page.",
    .options = options,
    .values = "--sample=random:0.01,adaptive,counter:100,timer:1ms --analysis=stat,freq,write "
              "--csv=" RFN_SAMPLES_CSV_TABLES,
    .run = run,
};
