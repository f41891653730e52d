/* cmd_recover.c - refrain recover: an archive of what a run has left that did not end. */
#define _POSIX_C_SOURCE 200809L /* strndup */
#include "cli/args/file_argument.h"
#include "cli/args/journal_folder.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"

#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0,
     "The archive that is made (default: the folder's name without .journal)", 0},
    {"force", 'f', NULL, 0, "Replace OUT if there is such a file", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    struct rfn_output_argument written;
    char *folder;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (arguments->folder)
            argp_error(state, "one folder at a time");
        arguments->folder = arg;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->folder)
            argp_error(state, "no folder given, as in refrain recover FILE.rfn.journal");
        return 0;
    default:
        return rfn_output_argument_parse(key, arg, state, &arguments->written);
    }
}

/* app.4.rfn of app.4.rfn.journal; NULL: it has another name. To be freed. */
static char *name_of(const char *folder)
{
    static const char suffix[] = ".journal";
    const size_t length = strlen(folder), cut = sizeof suffix - 1;
    if (length <= cut || strcmp(folder + length - cut, suffix) != 0)
        return NULL;
    return strndup(folder, length - cut);
}

static const char *const state_words[] = {[RFN_JOURNAL_RUNNING] = "running",
                                          [RFN_JOURNAL_EXITED] = "exited",
                                          [RFN_JOURNAL_ABORTED] = "aborted"};

static double seconds_of(const struct rfn_journal_rank *rank)
{
    return (double)(rank->until_realtime_ns - rank->start_realtime_ns) * 1e-9;
}

static json_t *json_of(const struct rfn_journal_rank *rank)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "rank", rank->rank);
    RFN_JSON_SET(value, "host", rank->host);
    RFN_JSON_SET(value, "until_seconds", seconds_of(rank));
    RFN_JSON_SET(value, "state", state_words[rank->state]);
    RFN_JSON_SET(value, "times_lost", rank->times_lost);
    return value;
}

static int print_json(const char *output, const struct rfn_journals *journals,
                      const struct rfn_merge_result *made, int status)
{
    json_t *value = json_object(), *ranks = json_array();
    RFN_JSON_SET(value, "file", output);
    RFN_JSON_SET(value, "ranks", made->ranks);
    RFN_JSON_SET(value, "missing", made->missing);
    RFN_JSON_SET(value, "missing_ranks", made->missing_ranks);
    RFN_JSON_SET(value, "events", made->events);
    RFN_JSON_SET(value, "bytes", made->bytes);
    for (size_t i = 0; i < journals->n; i++)
        json_array_append_new(ranks, json_of(journals->ranks[i]));
    RFN_JSON_SET(value, "journals", ranks);
    return rfn_command_print_json(value, status);
}

/* "app.4.rfn: 4 of 4 ranks, until 12.1 to 12.6 s after their start; 12,345 events, 32.1 KiB" */
static int print_text(const char *output, const struct rfn_journals *journals,
                      const struct rfn_merge_result *made, int status)
{
    struct rfn_text text = {0};
    double first = seconds_of(journals->ranks[0]), last = first;
    size_t without_times = 0;
    for (size_t i = 0; i < journals->n; i++) {
        const double seconds = seconds_of(journals->ranks[i]);
        first = seconds < first ? seconds : first;
        last = seconds > last ? seconds : last;
        without_times += journals->ranks[i]->times_lost;
    }
    rfn_text_printable(&text, output);
    rfn_text_format(&text, ": %u of %u ranks, until ", made->ranks - made->missing, made->ranks);
    if (last - first >= 0.1)
        rfn_text_format(&text, "%.1f to ", first);
    rfn_text_format(&text, "%.1f s after the start; %s events, %s\n", last,
                    rfn_count_text(made->events).text, rfn_bytes_text(made->bytes).text);
    if (made->missing)
        rfn_text_format(&text, "Rank%s %s left no journal that can be read.\n",
                        made->missing == 1 ? "" : "s", made->missing_ranks);
    if (without_times == journals->n)
        rfn_text_format(&text, "There are no times: they were being reduced when the run ended "
                               "(record with --time=full or auto to have them).\n");
    return rfn_command_print(&text, NULL, status);
}

static int recover(const struct arguments *arguments, const struct rfn_journals *journals,
                   const char *output)
{
    struct rfn_merge_result made;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    const int error = rfn_journal_folder_recover(journals, arguments->folder, output,
                                                 arguments->written.force, &made, &diag);
    if (error == RFN_E_EXISTS) {
        rfn_command_error("%s exists already; --force replaces it, -o OUT writes elsewhere",
                          output);
        return RFN_EXIT_FAILURE;
    }
    if (error < 0)
        return rfn_command_fail(NULL, error, &diag);
    const int status = made.missing ? RFN_EXIT_BAD_INPUT : RFN_EXIT_OK;
    return arguments->written.json ? print_json(output, journals, &made, status)
                                   : print_text(output, journals, &made, status);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {0};
    struct rfn_journals *journals;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    rfn_command_parse(command, parse, argc, argv, &arguments);
    for (size_t n = strlen(arguments.folder); n > 1 && arguments.folder[n - 1] == '/'; n--)
        arguments.folder[n - 1] = 0;
    char *by_default = name_of(arguments.folder);
    const char *output = arguments.written.output ? arguments.written.output : by_default;
    if (!output) {
        rfn_command_error("where to? (-o OUT: %s has no name of the form FILE.rfn.journal)",
                          arguments.folder);
        return RFN_EXIT_USAGE;
    }
    const int error = rfn_journals_open(arguments.folder, &journals, &diag);
    int status = error ? rfn_command_fail(arguments.folder, error, &diag) : RFN_EXIT_OK;
    if (!error) {
        status = recover(&arguments, journals, output);
        rfn_journals_close(journals);
    }
    free(by_default);
    return status;
}

const struct rfn_command rfn_cmd_recover = {
    .name = "recover",
    .summary = "Makes an archive of a run that was killed",
    .usage = "FOLDER",
    .about =
        "FOLDER is FILE.rfn.journal, where each rank of a run saves what it has recorded about "
        "every second (refrain record --journal, and any run after a minute). It is there as "
        "long as the run goes on, and afterwards if it did not come to MPI_Finalize. All "
        "other commands take the folder in place of an archive, too. Exits with 3 where ranks "
        "are missing.",
    .options = options,
    .run = run,
};
