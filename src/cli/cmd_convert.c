/* cmd_convert.c - refrain convert: archives, time-independent text and OTF2 traces, one as another;
 * and traces for Perfetto, Paraver, LogGOPSim and pandas. */
#include "cli/args/file_argument.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"
#include "cli/text/terminal.h"
#include "refrain/actions_out.h"
#include "refrain/convert.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_TO = 256, KEY_METRIC, KEY_ONE_FILE, KEY_MEASURED, KEY_WINDOW, KEY_RANKS, KEY_FROM };

enum format {
    FORMAT_UNKNOWN,
    FORMAT_ARCHIVE,
    FORMAT_CSV,
    FORMAT_GOAL,
    FORMAT_OTF2,
    FORMAT_PARAVER,
    FORMAT_PERFETTO,
    FORMAT_SIMGRID, /* text, of either dialect where it is read */
    FORMAT_THESIS
};

static const char *const format_names[] = {"",        "archive",  "csv",     "goal",  "otf2",
                                           "paraver", "perfetto", "simgrid", "thesis"};
#define FORMATS "archive, csv, goal, otf2, paraver, perfetto, simgrid or thesis"

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "Where to; the format is that of OUT's suffix", 0},
    {"to", KEY_TO, "FORMAT", 0, "archive, csv, goal, otf2, paraver, perfetto, simgrid, thesis", 0},
    {"from", KEY_FROM, "DIALECT", 0, "Of the text that is read: simgrid or thesis", 0},
    {"window", KEY_WINDOW, "FROM-TO", 0, "Only calls in this time: 1.5s-2s, -20ms, 3s-", 0},
    {"ranks", KEY_RANKS, "LIST", 0, "Only calls of these ranks: 3, or 0-3,7", 0},
    {"one-file", KEY_ONE_FILE, NULL, 0, "Write text of all ranks into OUT itself", 0},
    {"measured", KEY_MEASURED, NULL, 0, "Volumes are the recorded times in ns", 0},
    {"force", 'f', NULL, 0, "Replace OUT if it exists", 0},
    {"metric", KEY_METRIC, "NAME", 0, "Metric of an OTF2 trace that is the volume", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    struct rfn_output_argument written;
    const char *input, *metric;
    bool one_file, measured, windowed;
    int64_t from_ns, to_ns; /* --window; windowed: it was given */
    struct rfn_rank_filter ranks;
    enum format from, to;
    enum rfn_text_dialect dialect; /* of text that is read */
};

static enum format format_named(const char *name)
{
    for (enum format format = FORMAT_ARCHIVE; format <= FORMAT_THESIS; format++) {
        if (strcmp(name, format_names[format]) == 0)
            return format;
    }
    return FORMAT_UNKNOWN;
}

static bool ends_in(const char *path, size_t length, const char *suffix)
{
    const size_t n = strlen(suffix);
    return length > n && strncmp(path + length - n, suffix, n) == 0;
}

/* By its suffix, before that of compression, or of a folder. */
static enum format format_of_path(const char *path)
{
    static const struct {
        const char *suffix;
        enum format format;
    } suffixes[] = {{".goal", FORMAT_GOAL},
                    {".prv", FORMAT_PARAVER},
                    {".pftrace", FORMAT_PERFETTO},
                    {".txt", FORMAT_SIMGRID},
                    {".ti", FORMAT_SIMGRID}};
    size_t length = strlen(path);
    if (ends_in(path, length, ".rfn"))
        return FORMAT_ARCHIVE;
    if (ends_in(path, length, ".otf2"))
        return FORMAT_OTF2;
    if (ends_in(path, length, ".csv") || ends_in(path, length, ".csv/"))
        return FORMAT_CSV;
    if (ends_in(path, length, ".gz"))
        length -= 3;
    else if (ends_in(path, length, ".zst"))
        length -= 4;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (ends_in(path, length, suffixes[i].suffix))
            return suffixes[i].format;
    }
    return FORMAT_UNKNOWN;
}

/* What is to be read: an archive says so itself. */
static enum format format_of_input(const char *path)
{
    if (rfn_is_archive_file(path))
        return FORMAT_ARCHIVE;
    const enum format format = format_of_path(path);
    return format == FORMAT_UNKNOWN ? FORMAT_SIMGRID : format;
}

static bool is_text(enum format format)
{
    return format == FORMAT_SIMGRID || format == FORMAT_THESIS;
}

static bool has_parts(enum format format)
{
    return format == FORMAT_CSV || format == FORMAT_PARAVER || format == FORMAT_PERFETTO;
}

/* Formats that are written, never read. */
static bool is_only_written(enum format format)
{
    return has_parts(format) || format == FORMAT_GOAL;
}

static void check_output(const struct arguments *arguments, struct argp_state *state)
{
    const char *output = arguments->written.output;
    const size_t length = strlen(output);
    if (arguments->to == FORMAT_PERFETTO && ends_in(output, length, ".zst"))
        argp_error(state, "Perfetto does not read zstd: name the trace .pftrace or .pftrace.gz");
    if (arguments->to == FORMAT_PARAVER && !ends_in(output, length, ".prv") &&
        !ends_in(output, length, ".prv.gz"))
        argp_error(state, "Paraver reads traces that are named .prv or .prv.gz, not %s", output);
    if ((arguments->windowed || arguments->ranks.n) && !has_parts(arguments->to))
        argp_error(state,
                   "--window and --ranks are for csv, paraver and perfetto: messages in %s need "
                   "both their ends; make a smaller archive first with 'refrain reduce --rank' or "
                   "'refrain record --from'",
                   format_names[arguments->to]);
}

/* Options that this conversion does not look at. */
static void check_options(const struct arguments *arguments, struct argp_state *state)
{
    if (arguments->one_file && !is_text(arguments->to))
        argp_error(state, "--one-file is about text, and %s is %s", arguments->written.output,
                   format_names[arguments->to]);
    if (arguments->measured && (arguments->from != FORMAT_ARCHIVE || !is_text(arguments->to)))
        argp_error(state, "--measured is about text that is made of an archive's times");
    if (arguments->dialect != RFN_TEXT_ANY && !is_text(arguments->from))
        argp_error(state, "--from is about text that is read, and %s is %s", arguments->input,
                   format_names[arguments->from]);
    if (arguments->metric && arguments->from != FORMAT_OTF2)
        argp_error(state, "--metric is about OTF2 traces, and %s is none", arguments->input);
}

static void check(struct arguments *arguments, struct argp_state *state)
{
    if (!arguments->input)
        argp_error(state, "which trace?");
    if (!arguments->written.output)
        argp_error(state, "where to? (-o OUT)");
    if (arguments->to == FORMAT_UNKNOWN)
        arguments->to = format_of_path(arguments->written.output);
    if (arguments->to == FORMAT_UNKNOWN)
        argp_error(state, "the suffix of %s does not tell its format; say --to " FORMATS,
                   arguments->written.output);
    arguments->from = format_of_input(arguments->input);
    check_output(arguments, state);
    check_options(arguments, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case KEY_METRIC:
        arguments->metric = arg;
        return 0;
    case KEY_ONE_FILE:
        arguments->one_file = true;
        return 0;
    case KEY_MEASURED:
        arguments->measured = true;
        return 0;
    case KEY_TO:
        arguments->to = format_named(arg);
        if (arguments->to == FORMAT_UNKNOWN)
            argp_error(state, "--to is " FORMATS ", not '%s'", arg);
        return 0;
    case KEY_FROM:
        arguments->dialect = rfn_dialect_argument(state, arg);
        return 0;
    case KEY_WINDOW:
        arguments->windowed = true;
        rfn_window_argument(state, arg, "window", &arguments->from_ns, &arguments->to_ns);
        return 0;
    case KEY_RANKS:
        rfn_rank_argument(state, arg, &arguments->ranks);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->input)
            argp_error(state, "one trace at a time");
        arguments->input = rfn_input_argument(state, arg);
        return 0;
    case ARGP_KEY_END:
        check(arguments, state);
        return 0;
    default:
        return rfn_output_argument_parse(key, arg, state, &arguments->written);
    }
}

/* ---- what was done ---- */

static int print_json(const struct arguments *arguments, const struct rfn_otf2_summary *summary)
{
    const struct rfn_otf2_left_out *left = &summary->left_out;
    json_t *value = json_object(), *left_out = json_object();
    RFN_JSON_SET(left_out, "io", left->io);
    RFN_JSON_SET(left_out, "threads", left->threads);
    RFN_JSON_SET(left_out, "one_sided", left->rma);
    RFN_JSON_SET(left_out, "other", left->other);
    RFN_JSON_SET(left_out, "locations", left->locations);
    RFN_JSON_SET(value, "file", arguments->input);
    RFN_JSON_SET(value, "output", arguments->written.output);
    RFN_JSON_SET(value, "ranks", summary->ranks);
    RFN_JSON_SET(value, "streams", summary->streams);
    RFN_JSON_SET(value, "otf2_events", summary->events);
    RFN_JSON_SET(value, "calls", summary->calls);
    RFN_JSON_SET(value, "outside_of_calls", left->outside);
    RFN_JSON_SET(value, "unresolved", left->unresolved);
    RFN_JSON_SET(value, "left_out", left_out);
    return rfn_command_print_json(value, RFN_EXIT_OK);
}

/* One line says what has no place where it goes to. */
static void tell_left_out(const struct rfn_otf2_left_out *left)
{
    const uint64_t events = left->io + left->threads + left->rma + left->other;
    if (events || left->locations)
        rfn_command_error(
            "left out: %s events of files, %s of threads, %s of windows, %s others; %s locations "
            "that are no thread of a rank",
            rfn_count_text(left->io).text, rfn_count_text(left->threads).text,
            rfn_count_text(left->rma).text, rfn_count_text(left->other).text,
            rfn_count_text(left->locations).text);
    if (left->outside)
        rfn_command_error("%s messages or collective calls happened outside of a call of MPI: they "
                          "became calls that take no time",
                          rfn_count_text(left->outside).text);
    if (left->unresolved)
        rfn_command_error("%s requests or messages stay unknown, as no event tells their partner",
                          rfn_count_text(left->unresolved).text);
}

/* "traces.otf2: 4 ranks, 12,345 events of OTF2, 3,210 calls became app.rfn" */
static int print_text(const struct arguments *arguments, const struct rfn_otf2_summary *summary)
{
    struct rfn_text text = {0};
    tell_left_out(&summary->left_out);
    rfn_text_printable(&text, arguments->input);
    rfn_text_format(&text, ": %u rank%s, %s calls of MPI, %s events of OTF2; written to ",
                    summary->ranks, summary->ranks == 1 ? "" : "s",
                    rfn_count_text(summary->calls).text, rfn_count_text(summary->events).text);
    rfn_text_printable(&text, arguments->written.output);
    rfn_text_format(&text, "\n");
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

static int print_actions_json(const struct arguments *arguments, uint32_t ranks,
                              const struct rfn_actions_summary *summary)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", arguments->input);
    RFN_JSON_SET(value, "output", arguments->written.output);
    RFN_JSON_SET(value, "format", format_names[arguments->to]);
    RFN_JSON_SET(value, "ranks", ranks);
    RFN_JSON_SET(value, "actions", summary->actions);
    RFN_JSON_SET(value, "lines", summary->lines);
    RFN_JSON_SET(value, "text_bytes", summary->bytes);
    RFN_JSON_SET(value, "file_bytes", summary->file_bytes);
    RFN_JSON_SET(value, "expanded", summary->expanded);
    RFN_JSON_SET(value, "synchronous", summary->synchronous);
    RFN_JSON_SET(value, "probes", summary->probes);
    RFN_JSON_SET(value, "left_out", summary->left_out);
    return rfn_command_print_json(value, RFN_EXIT_OK);
}

/* A line each for what is not in the output as it was. */
static void tell_changed(const struct arguments *arguments,
                         const struct rfn_actions_summary *summary)
{
    const bool goal = arguments->to == FORMAT_GOAL;
    if (goal && arguments->from != FORMAT_ARCHIVE)
        rfn_command_error("volumes of the text count as ns");
    if (summary->expanded)
        rfn_command_error("%s collective calls became messages: %s",
                          rfn_count_text(summary->expanded).text,
                          goal ? "GOAL has no words for them"
                               : "this text has no words for them (sub-communicator, request, or "
                                 "another kind of call)");
    if (summary->synchronous)
        rfn_command_error("%s synchronous sends became standard ones",
                          rfn_count_text(summary->synchronous).text);
    if (summary->probes)
        rfn_command_error("%s probes were left out", rfn_count_text(summary->probes).text);
    if (summary->left_out)
        rfn_command_error("%s calls were left out, as %s cannot express them; the first is %s",
                          rfn_count_text(summary->left_out).text,
                          goal ? "GOAL" : "time-independent text", summary->first_left_out);
    if (arguments->to == FORMAT_THESIS)
        rfn_command_error("messages lost their tags: the thesis' dialect has none");
}

/* "app.rfn: 4 ranks, 12,345 actions; written to app.txt (12,001 lines)" */
static int print_actions(const struct arguments *arguments, uint32_t ranks,
                         const struct rfn_actions_summary *summary)
{
    struct rfn_text text = {0};
    if (arguments->written.json)
        return print_actions_json(arguments, ranks, summary);
    tell_changed(arguments, summary);
    rfn_text_printable(&text, arguments->input);
    rfn_text_format(&text, ": %u rank%s, %s actions; written to ", ranks, ranks == 1 ? "" : "s",
                    rfn_count_text(summary->actions).text);
    rfn_text_printable(&text, arguments->written.output);
    if (summary->lines)
        rfn_text_format(&text, " (%s lines, %s bytes of text)", rfn_count_text(summary->lines).text,
                        rfn_count_text(summary->bytes).text);
    rfn_text_format(&text, "\n");
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

/* ---- conversions ---- */

/* RFN_EXIT_OK, or the exit status after telling what went wrong. */
static int tell_error(const struct arguments *arguments, int error, const struct rfn_diag *diag)
{
    if (error >= 0)
        return RFN_EXIT_OK;
    if (error == RFN_E_EXISTS && !arguments->written.force) {
        if (diag->text[0])
            rfn_command_error("%s; --force replaces it", diag->text);
        else
            rfn_command_error("%s exists already; --force replaces it", arguments->written.output);
        return RFN_EXIT_FAILURE;
    }
    return rfn_command_fail(NULL, error, diag);
}

static int convert_otf2(const struct arguments *arguments, const struct rfn_archive *archive)
{
    struct rfn_otf2_summary summary = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "converting"};
    const struct rfn_convert_progress tell = {rfn_progress_show, &progress};
    const int error = archive ? rfn_otf2_write(archive, arguments->written.output,
                                               arguments->written.force, &tell, &summary, &diag)
                              : rfn_otf2_read(arguments->input, arguments->written.output,
                                              arguments->written.force, arguments->metric, &tell,
                                              &summary, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return tell_error(arguments, error, &diag);
    return arguments->written.json ? print_json(arguments, &summary)
                                   : print_text(arguments, &summary);
}

/* ---- traces that show a part of the run ---- */

/* The ranks of --ranks as flags; NULL: all, or *status tells that they cannot be. */
static bool *flag_ranks(const struct arguments *arguments, const struct rfn_archive *archive,
                        int *status)
{
    const uint32_t n = rfn_archive_run(archive)->ranks;
    *status = arguments->ranks.n
                  ? rfn_command_check_ranks(archive, arguments->input, &arguments->ranks)
                  : RFN_EXIT_OK;
    if (*status || !arguments->ranks.n)
        return NULL;
    bool *flags = calloc((size_t)n + 1, sizeof *flags);
    for (uint32_t i = 0; flags && i < n; i++)
        flags[i] = rfn_rank_filter_has(&arguments->ranks, i);
    if (!flags)
        *status = rfn_command_fail(arguments->input, RFN_E_NOMEM, NULL);
    return flags;
}

static int print_trace_json(const struct arguments *arguments,
                            const struct rfn_trace_summary *summary)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", arguments->input);
    RFN_JSON_SET(value, "output", arguments->written.output);
    RFN_JSON_SET(value, "format", format_names[arguments->to]);
    RFN_JSON_SET(value, "ranks", summary->ranks);
    RFN_JSON_SET(value, "calls", summary->calls);
    RFN_JSON_SET(value, "messages", summary->messages);
    RFN_JSON_SET(value, "file_bytes", summary->bytes);
    return rfn_command_print_json(value, RFN_EXIT_OK);
}

/* "app.rfn: 4 ranks, 3,210 calls of MPI, 120 messages; written to app.prv (1.21 MiB)" */
static int print_trace(const struct arguments *arguments, const struct rfn_trace_summary *summary)
{
    struct rfn_text text = {0};
    if (arguments->windowed && arguments->to == FORMAT_CSV)
        rfn_command_error("waits.csv and causes.csv are of whole runs: --window leaves them out");
    if (arguments->written.json)
        return print_trace_json(arguments, summary);
    rfn_text_printable(&text, arguments->input);
    rfn_text_format(&text, ": %u rank%s, %s calls of MPI, %s messages; written to ", summary->ranks,
                    summary->ranks == 1 ? "" : "s", rfn_count_text(summary->calls).text,
                    rfn_count_text(summary->messages).text);
    rfn_text_printable(&text, arguments->written.output);
    rfn_text_format(&text, " (%s)%s\n", rfn_bytes_text(summary->bytes).text,
                    arguments->to == FORMAT_PERFETTO ? ", which ui.perfetto.dev opens" : "");
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

static int convert_part(const struct arguments *arguments, const struct rfn_archive *archive)
{
    int status;
    bool *ranks = flag_ranks(arguments, archive, &status);
    if (status)
        return status;
    struct rfn_trace_summary summary;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "converting"};
    const struct rfn_convert_progress tell = {rfn_progress_show, &progress};
    const struct rfn_convert_part part = {arguments->from_ns, arguments->to_ns, ranks};
    int (*const write)(const struct rfn_archive *, const char *, bool,
                       const struct rfn_convert_part *, const struct rfn_convert_progress *,
                       struct rfn_trace_summary *,
                       struct rfn_diag *) = arguments->to == FORMAT_CSV       ? rfn_csv_write
                                            : arguments->to == FORMAT_PARAVER ? rfn_paraver_write
                                                                              : rfn_perfetto_write;
    const int error = write(archive, arguments->written.output, arguments->written.force, &part,
                            &tell, &summary, &diag);
    rfn_progress_done(&progress);
    free(ranks);
    return error < 0 ? tell_error(arguments, error, &diag) : print_trace(arguments, &summary);
}

/* Text, or an archive of text. */
static int convert_actions(const struct arguments *arguments, const struct rfn_archive *archive)
{
    struct rfn_actions *actions = NULL;
    struct rfn_actions_summary summary = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "converting"};
    const struct rfn_text_options text = {
        .dialect = arguments->to == FORMAT_THESIS ? RFN_TEXT_THESIS : RFN_TEXT_SIMGRID,
        .one_file = arguments->one_file,
        .force = arguments->written.force,
        .progress = {rfn_progress_show, &progress}};
    const bool measured = arguments->measured || (arguments->to == FORMAT_GOAL && archive &&
                                                  rfn_archive_run(archive)->times);
    int error = archive
                    ? rfn_actions_of_archive(archive, measured, &actions, &diag)
                    : rfn_actions_of_text(arguments->input, arguments->dialect, &actions, &diag);
    if (!error && arguments->to == FORMAT_ARCHIVE)
        error = rfn_archive_of_actions(actions, arguments->written.output, arguments->written.force,
                                       arguments->input, &text.progress, &summary, &diag);
    else if (!error && arguments->to == FORMAT_GOAL)
        error = rfn_goal_of_actions(actions, arguments->written.output, arguments->written.force,
                                    &text.progress, &summary, &diag);
    else if (!error)
        error = rfn_text_of_actions(actions, arguments->written.output, &text, &summary, &diag);
    rfn_progress_done(&progress);
    const int status = error < 0 ? tell_error(arguments, error, &diag)
                                 : print_actions(arguments, rfn_actions_ranks(actions), &summary);
    rfn_actions_free(actions);
    return status;
}

static int convert_archive(const struct arguments *arguments)
{
    struct rfn_archive *archive;
    if (arguments->to == FORMAT_ARCHIVE) {
        rfn_command_error("%s is an archive already; refrain reduce makes another archive of it",
                          arguments->input);
        return RFN_EXIT_USAGE;
    }
    int status = rfn_command_open_calls(arguments->input, &archive);
    if (status)
        return status;
    status = arguments->to == FORMAT_OTF2 ? convert_otf2(arguments, archive)
             : has_parts(arguments->to)   ? convert_part(arguments, archive)
                                          : convert_actions(arguments, archive);
    if (status == RFN_EXIT_OK)
        status = rfn_command_check_complete(archive, arguments->input, status);
    rfn_archive_close(archive);
    return status;
}

static int convert(const struct arguments *arguments)
{
    const enum format from = arguments->from, to = arguments->to;
    if (from == FORMAT_ARCHIVE)
        return convert_archive(arguments);
    if (is_only_written(from)) {
        rfn_command_error("%s: %s is only written, not read", arguments->input, format_names[from]);
        return RFN_EXIT_USAGE;
    }
    if (from == FORMAT_OTF2 ? to != FORMAT_ARCHIVE : to == FORMAT_OTF2 || has_parts(to)) {
        rfn_command_error("an archive is needed in between: convert %s to OUT.rfn first",
                          arguments->input);
        return RFN_EXIT_USAGE;
    }
    return from == FORMAT_OTF2 ? convert_otf2(arguments, NULL) : convert_actions(arguments, NULL);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    rfn_command_parse(command, parse, argc, argv, &arguments);
    const int status = convert(&arguments);
    rfn_rank_filter_release(&arguments.ranks);
    return status;
}

const struct rfn_command rfn_cmd_convert = {
    .name = "convert",
    .summary = "Converts between archives and other formats",
    .usage = "TRACE -o OUT",
    .about = "TRACE is an archive, time-independent text (a file, or a list with a file per rank; "
             "plain, gzip or zstd), or the anchor file of an OTF2 trace (traces.otf2), as Score-P, "
             "Scalasca, EZTrace and TAU write them.\n\nExamples:\n"
             "  refrain convert app.rfn -o app.txt        text for smpirun -replay app.txt\n"
             "  refrain convert app.rfn -o app.txt.zst --to thesis\n"
             "  refrain convert app.txt -o app.rfn\n"
             "  refrain convert traces.otf2 -o app.rfn\n"
             "  refrain convert app.rfn -o app.pftrace.gz  to look at on ui.perfetto.dev\n"
             "  refrain convert app.rfn -o app.csv         tables for pandas, in a folder\n"
             "  refrain convert app.rfn --window 1s-2s --ranks 0-3 -o app.prv   for Paraver\n"
             "  refrain convert app.rfn -o app.goal        for LogGOPSim",
    .options = options,
    .values = "--to=archive,csv,goal,otf2,paraver,perfetto,simgrid,thesis --from=simgrid,thesis",
    .run = run,
};
