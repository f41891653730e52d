/* cmd_compare.c - refrain compare: what became of a program's time, from run to run. */
#include "cli/args/file_argument.h"
#include "cli/compare/compare.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

enum { TOP = 15 };

enum { KEY_REDUCTION = 0x100, KEY_ALL };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print everything as JSON", 0},
    {"top", 't', "N", 0, "show N rows of each table (15; with --json all)", 0},
    {"all", KEY_ALL, NULL, 0, "show all rows, also what hardly differs", 0},
    {"reduction", KEY_REDUCTION, NULL, 0,
     "measure what a reduced archive saves and loses: FULL REDUCED", 0},
    {0},
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    struct rfn_compare_options how;
    bool reduction;
};

static void check_files(struct argp_state *state, const struct options *given)
{
    if (given->reduction && given->how.n_files != 2)
        argp_error(state,
                   "which files? --reduction takes two files of one run, the full one first");
    if (given->how.n_files < 2)
        argp_error(state, "which files? Give two archives of a program's runs, or more");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case KEY_REDUCTION:
        given->reduction = true;
        return 0;
    case KEY_ALL:
        given->how.all = true;
        return 0;
    case ARGP_KEY_ARG:
        given->how.files[given->how.n_files++] = arg;
        return 0;
    case ARGP_KEY_END:
        check_files(state, given);
        return 0;
    case ARGP_KEY_NO_ARGS:
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* ---- runs ---- */

/* Archives that are open, by what was measured of them. */
struct opened {
    struct rfn_archive **archives;
    struct rfn_profile **profiles;
    struct rfn_waits **waits;
    struct rfn_usage *usages;
    struct rfn_measured *runs;
};

/* What is damaged cannot be compared; what an archive lacks is told in the comparison. */
static bool is_damaged(int error)
{
    return error && error != RFN_E_INCOMPLETE;
}

/* Reads all of the i-th file; *status may become RFN_EXIT_BAD_INPUT. False: it cannot be compared,
 * and *status says why. */
static bool measure(struct opened *opened, size_t i, const char *file, int *status)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "reading events"};
    const struct rfn_waits_options how = {.profile = &opened->profiles[i]};
    int failed = rfn_command_open(file, &opened->archives[i]);
    if (failed) {
        *status = failed;
        return false;
    }
    int error = rfn_waits_new(opened->archives[i], &how, rfn_progress_show, &progress,
                              &opened->waits[i], &diag);
    rfn_progress_done(&progress);
    if (error < 0) {
        *status = rfn_command_fail(file, error, &diag);
        return false;
    }
    const struct rfn_profile *profile = opened->profiles[i];
    const struct rfn_waits *waits = opened->waits[i];
    /* Where what processes used cannot be read, advice goes without. */
    error = rfn_usage_read(opened->archives[i], &opened->usages[i], &diag);
    const struct rfn_usage *usage = opened->usages[i].n && !error ? &opened->usages[i] : NULL;
    opened->runs[i] = (struct rfn_measured){opened->archives[i], profile, waits,
                                            rfn_profile_efficiency(profile), usage};
    if (error == RFN_E_NOMEM) {
        *status = rfn_command_fail(file, error, &diag);
        return false;
    }
    bool damaged = is_damaged(profile->error) || is_damaged(waits->error);
    if (is_damaged(profile->error))
        *status = rfn_command_fail(file, profile->error, &profile->diag);
    else if (damaged)
        *status = rfn_command_fail(file, waits->error, &waits->diag);
    else
        *status = rfn_command_check_complete(opened->archives[i], file, *status);
    return !damaged;
}

static int compare_two(const struct rfn_compare_options *how, const struct rfn_measured *runs,
                       int status)
{
    struct rfn_compared_runs compared;
    struct rfn_text out = {0};
    if (rfn_compared_runs_init(&compared, runs) < 0) {
        status = rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    } else if (how->json) {
        status = rfn_command_print_json(rfn_compare_two_json(how, &compared), status);
    } else {
        rfn_compare_two_text(&out, how, &compared);
        status = rfn_command_print_page(&out, NULL, status);
    }
    rfn_compared_runs_release(&compared);
    return status;
}

static int compare_many(const struct rfn_compare_options *how, const struct rfn_measured *runs,
                        int status)
{
    struct rfn_scaling scaling;
    struct rfn_text out = {0};
    if (rfn_scaling_init(&scaling, runs, how->n_files, how->findings) < 0) {
        status = rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    } else if (how->json) {
        status = rfn_command_print_json(rfn_compare_many_json(how, &scaling), status);
    } else {
        rfn_compare_many_text(&out, how, &scaling);
        status = rfn_command_print_page(&out, NULL, status);
    }
    rfn_scaling_release(&scaling);
    return status;
}

static int compare_runs(const struct rfn_compare_options *how)
{
    size_t n = how->n_files;
    struct opened opened = {.archives = calloc(n, sizeof *opened.archives),
                            .profiles = calloc(n, sizeof *opened.profiles),
                            .waits = calloc(n, sizeof *opened.waits),
                            .usages = calloc(n, sizeof *opened.usages),
                            .runs = calloc(n, sizeof *opened.runs)};
    bool room = opened.archives && opened.profiles && opened.waits && opened.usages && opened.runs;
    bool whole = room;
    int status = room ? RFN_EXIT_OK : rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    for (size_t i = 0; i < n && whole; i++)
        whole = measure(&opened, i, how->files[i], &status);
    if (whole)
        status = n == 2 ? compare_two(how, opened.runs, status)
                        : compare_many(how, opened.runs, status);
    for (size_t i = 0; i < n && room; i++) {
        rfn_usage_release(&opened.usages[i]);
        rfn_waits_free(opened.waits[i]);
        rfn_profile_free(opened.profiles[i]);
        rfn_archive_close(opened.archives[i]);
    }
    free(opened.archives), free(opened.profiles), free(opened.waits);
    free(opened.usages), free(opened.runs);
    return status;
}

/* ---- the verb ---- */

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {.how.files = calloc((size_t)argc + 1, sizeof *given.how.files)};
    const struct rfn_file_argument *common = &given.given;
    struct rfn_compare_options *how = &given.how;
    if (!how->files)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    rfn_command_parse(command, parse, argc, argv, &given);
    how->json = common->json;
    how->top = common->top_given ? (size_t)common->top : common->json || how->all ? SIZE_MAX : TOP;
    how->findings = common->top_given || how->all ? how->top : 1;
    how->width = rfn_terminal_columns();
    int status = given.reduction ? rfn_compare_reduction(how) : compare_runs(how);
    free(how->files);
    return status;
}

const struct rfn_command rfn_cmd_compare = {
    .name = "compare",
    .summary = "Compares runs of a program: what became faster or slower, and why",
    .usage = "FILE FILE...",
    .about =
        "Of two runs, before and after a change, prints how their times differ, what costs "
        "time in one of them only, and the call paths that differ most. Three and more it puts "
        "in order by ranks, and prints how efficiency scales. Runs may be of different "
        "versions and on different machines: everything is matched by names.",
    .options = options,
    .run = run,
};
