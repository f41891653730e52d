/* cmd_merge.c - refrain merge: one archive of several that have different ranks of one run. */
#define _POSIX_C_SOURCE 200809L /* setrlimit */

#include "cli/args/command.h"
#include "cli/text/archive_samples_text.h"
#include "cli/text/json.h"
#include "cli/text/print_text.h"
#include "refrain/merge_archives.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { KEY_CLUSTER = 256, KEY_NO_CLUSTER };

static const struct argp_option options[] = {
    {"output", 'o', "OUT", 0, "The archive that is made", 0},
    {"force", 'f', NULL, 0, "Replace OUT if there is such a file", 0},
    {"cluster", KEY_CLUSTER, NULL, 0,
     "Store once what alike ranks did, as 'refrain reduce --cluster' does, even where it was so in "
     "none of the files",
     0},
    {"no-cluster", KEY_NO_CLUSTER, NULL, 0, "Do not, even where it was so in one of them", 0},
    {"json", 'j', NULL, 0, "Print the result as JSON", 0},
    {0}};

struct arguments {
    const char *output;
    bool force, json;
    struct rfn_merge_options options;
    const char **files; /* with room for all arguments */
    int n_files;
    struct rfn_archive **archives; /* those that are open */
    size_t n_archives;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case 'o':
        if (!arg[0])
            argp_error(state, "the name of the archive is empty");
        arguments->output = arg;
        return 0;
    case 'j':
        arguments->json = true;
        return 0;
    case 'f':
        arguments->force = true;
        return 0;
    case KEY_CLUSTER:
    case KEY_NO_CLUSTER:
        if (arguments->options.clusters != RFN_MERGE_AS_BEFORE)
            argp_error(state, "--cluster and --no-cluster exclude each other");
        arguments->options.clusters = key == KEY_CLUSTER ? RFN_MERGE_CLUSTERED
                                                         : RFN_MERGE_UNCLUSTERED;
        return 0;
    case ARGP_KEY_ARG:
        arguments->files[arguments->n_files++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->n_files == 0)
            argp_error(state, "which files?");
        if (!arguments->output)
            argp_error(state, "where to? (-o OUT)");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int print_json(const struct arguments *arguments, const struct rfn_merge_result *merged,
                      int status)
{
    json_t *value = json_object();
    RFN_JSON_SET(value, "file", arguments->output);
    RFN_JSON_SET(value, "files", json_integer(arguments->n_files));
    RFN_JSON_SET(value, "bytes_before", merged->bytes_before);
    RFN_JSON_SET(value, "bytes", merged->bytes);
    RFN_JSON_SET(value, "clustered", merged->clustered);
    RFN_JSON_SET(value, "events", merged->events);
    RFN_JSON_SET(value, "ranks", merged->ranks);
    RFN_JSON_SET(value, "missing", merged->missing);
    RFN_JSON_SET(value, "missing_ranks", merged->missing_ranks);
    return rfn_command_print_json(value, status);
}

/* "app.rfn: 4 of 4 ranks of 4 archives, 12,345 events, 32.1 KiB became 9.8 KiB" */
static int print_text(const struct arguments *arguments, const struct rfn_merge_result *merged,
                      int status)
{
    struct rfn_text text = {0};
    rfn_text_printable(&text, arguments->output);
    rfn_text_format(&text, ": %u of %u ranks, of %d archive%s; %s events; %s became %s\n",
                    merged->ranks - merged->missing, merged->ranks, arguments->n_files,
                    arguments->n_files == 1 ? "" : "s", rfn_count_text(merged->events).text,
                    rfn_bytes_text(merged->bytes_before).text, rfn_bytes_text(merged->bytes).text);
    return rfn_command_print(&text, NULL, status);
}

static int merge(const struct arguments *arguments)
{
    struct rfn_merge_result merged;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    int status = RFN_EXIT_OK;
    int error = rfn_merge_archives((const struct rfn_archive *const *)arguments->archives,
                                   arguments->n_archives, &arguments->options, arguments->output,
                                   arguments->force, &merged, &diag);
    if (error == RFN_E_EXISTS) {
        rfn_command_error("%s exists already; --force replaces it", arguments->output);
        return RFN_EXIT_FAILURE;
    }
    if (error < 0)
        return rfn_command_fail(NULL, error, &diag);
    if (merged.missing) {
        rfn_command_error("rank%s %s %s in none of these archives: what comes out is incomplete",
                          merged.missing == 1 ? "" : "s", merged.missing_ranks,
                          merged.missing == 1 ? "is" : "are");
        status = RFN_EXIT_BAD_INPUT;
    }
    if (merged.samples_left_out)
        rfn_command_error(RFN_SAMPLES_LEFT_OUT, arguments->output);
    return arguments->json ? print_json(arguments, &merged, status)
                           : print_text(arguments, &merged, status);
}

/* The exit status of the first file that cannot be opened, else 0. All are open at once, and each
 * may have a temporary one: as many as the system allows. */
static int open_all(struct arguments *arguments)
{
    enum { OTHERS = 64 };
    struct rlimit limit;
    rlim_t wanted = 2 * (rlim_t)arguments->n_files + OTHERS;
    int status = RFN_EXIT_OK;
    arguments->archives = calloc((size_t)arguments->n_files + 1, sizeof *arguments->archives);
    if (!arguments->archives)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (int i = 0; i < arguments->n_files && !status; i++) {
        status = rfn_command_open(arguments->files[i], &arguments->archives[i]);
        arguments->n_archives += !status;
    }
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct arguments arguments = {.files = calloc((size_t)argc, sizeof *arguments.files)};
    if (!arguments.files)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    rfn_command_parse(command, parse, argc, argv, &arguments);
    int status = open_all(&arguments);
    if (!status)
        status = merge(&arguments);
    for (size_t i = 0; i < arguments.n_archives; i++)
        rfn_archive_close(arguments.archives[i]);
    free(arguments.archives);
    free(arguments.files);
    return status;
}

const struct rfn_command rfn_cmd_merge = {
    .name = "merge",
    .summary = "Makes one archive of several with different ranks of a run",
    .usage = "FILE... -o OUT",
    .about =
        "What ranks left that called MPI_Abort, or parts that 'refrain reduce --rank' took "
        "out. Calls, parameters and times are those of the files; only how far times lie apart "
        "that are not kept (refrain info --variation), and samples of messages, are left out. "
        "Exits with 3 where ranks are missing in all of them. What alike ranks did is stored once "
        "unless the run was recorded with --no-cluster.",
    .options = options,
    .run = run,
};
