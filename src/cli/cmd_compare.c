/* cmd_compare.c - refrain compare: what became of a program's time, from run to run. */
#include "cli/args/file_argument.h"
#include "cli/compare/compare.h"
#include "cli/compare/opened_runs.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

enum { TOP = 15 };

enum { KEY_REDUCTION = 0x100, KEY_ALL };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print everything as JSON", 0},
    {"top", 't', "N", 0, "Show N rows of each table (15; with --json all)", 0},
    {"all", KEY_ALL, NULL, 0, "Show all rows, also what hardly differs", 0},
    {"reduction", KEY_REDUCTION, NULL, 0,
     "Measure what a reduced archive saves and loses: FULL REDUCED", 0},
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

/* What the archives lack, before anything else is told of them; the exit status. */
static int tell_missing(const struct rfn_compare_options *how, const struct rfn_measured *runs,
                        struct rfn_text *page)
{
    int status = RFN_EXIT_OK;
    for (size_t i = 0; i < how->n_files; i++)
        status = rfn_command_tell_missing(runs[i].archive, how->files[i], how->json ? NULL : page,
                                          status);
    return status;
}

static int compare_two(const struct rfn_compare_options *how, const struct rfn_measured *runs)
{
    struct rfn_compared_runs compared;
    struct rfn_text out = {0};
    int status = tell_missing(how, runs, &out);
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

static int compare_many(const struct rfn_compare_options *how, const struct rfn_measured *runs)
{
    struct rfn_scaling scaling;
    struct rfn_text out = {0};
    int status = tell_missing(how, runs, &out);
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
    struct rfn_opened_runs opened;
    int status = rfn_opened_runs_init(&opened, (const char *const *)how->files, how->n_files);
    if (opened.n == how->n_files)
        status = opened.n == 2 ? compare_two(how, opened.runs) : compare_many(how, opened.runs);
    rfn_opened_runs_release(&opened);
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
