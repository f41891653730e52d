/* cmd_convert.c - refrain convert: traces of other tools to archives, and back. */
#include "cli/args/command.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"
#include "cli/text/terminal.h"
#include "refrain/convert.h"

#include <string.h>

enum { KEY_TO = 256, KEY_METRIC };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "The archive that is made, or the folder of the OTF2 trace", 0},
    {"force", 'f', NULL, 0, "Replace OUT if it exists", 0},
    {"to", KEY_TO, "FORMAT", 0, "What an archive is converted to: otf2", 0},
    {"metric", KEY_METRIC, "NAME", 0,
     "The metric of an OTF2 trace that becomes the volume (default: PAPI_TOT_INS or another one "
     "that "
     "counts instructions)",
     0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    const char *input, *output, *metric;
    bool force, json, to_otf2;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o':
        arguments->output = arg;
        return 0;
    case 'f':
        arguments->force = true;
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    case KEY_METRIC:
        arguments->metric = arg;
        return 0;
    case KEY_TO:
        if (strcmp(arg, "otf2") != 0)
            argp_error(state, "to '%s'? Archives are converted to: otf2", arg);
        arguments->to_otf2 = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->input)
            argp_error(state, "one trace at a time");
        arguments->input = arg;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->input)
            argp_error(state, "which trace?");
        if (!arguments->output || !arguments->output[0])
            argp_error(state, "where to? (-o OUT)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

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
    RFN_JSON_SET(value, "output", arguments->output);
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
            "left out: %s events of files, %s of threads, %s of windows, %s others; %s "
            "locations that are no thread of a rank",
            rfn_count_text(left->io).text, rfn_count_text(left->threads).text,
            rfn_count_text(left->rma).text, rfn_count_text(left->other).text,
            rfn_count_text(left->locations).text);
    if (left->outside)
        rfn_command_error("%s messages or collective calls happened outside of a call of MPI: they "
                          "became calls that take no time",
                          rfn_count_text(left->outside).text);
    if (left->unresolved)
        rfn_command_error("of %s requests or messages it is not known what they are",
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
    rfn_text_printable(&text, arguments->output);
    rfn_text_format(&text, "\n");
    return rfn_command_print(&text, NULL, RFN_EXIT_OK);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    struct rfn_otf2_summary summary = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "converting"};
    const struct rfn_convert_progress tell = {rfn_progress_show, &progress};
    struct rfn_archive *archive = NULL;
    int error;
    rfn_command_parse(command, parse, argc, argv, &arguments);
    if (arguments.to_otf2) {
        const int status = rfn_command_open(arguments.input, &archive);
        if (status)
            return status;
        error = rfn_otf2_write(archive, arguments.output, arguments.force, &tell, &summary, &diag);
        rfn_archive_close(archive);
    } else {
        error = rfn_otf2_read(arguments.input, arguments.output, arguments.force, arguments.metric,
                              &tell, &summary, &diag);
    }
    rfn_progress_done(&progress);
    if (error == RFN_E_EXISTS && !arguments.force) {
        rfn_command_error("%s exists already; --force replaces it", arguments.output);
        return RFN_EXIT_FAILURE;
    }
    if (error < 0)
        return rfn_command_fail(NULL, error, &diag);
    return arguments.json ? print_json(&arguments, &summary) : print_text(&arguments, &summary);
}

const struct rfn_command rfn_cmd_convert = {
    .name = "convert",
    .summary = "Makes archives of traces of other tools, and OTF2 traces of archives",
    .usage = "TRACE -o OUT",
    .about =
        "TRACE is the anchor file of an OTF2 trace (traces.otf2), as Score-P, Scalasca, EZTrace "
        "and TAU write them, or with --to otf2 an archive.",
    .options = options,
    .values = "--to=otf2",
    .run = run,
};
