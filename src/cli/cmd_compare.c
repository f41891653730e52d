/* cmd_compare.c - refrain compare: what became of a program's time, from run to run. */
#include "cli/args/file_argument.h"
#include "cli/compare/compare.h"
#include "cli/compare/opened_runs.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

enum { TOP = 15, GATE_RUNS = 3 /* of each side */, LISTED_ROWS = 40 };

enum { KEY_REDUCTION = 0x100, KEY_ALL, KEY_WITH, KEY_FAIL_IF };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print everything as JSON", 0},
    {"top", 't', "N", 0, "Show N rows of each table (15; with --json all)", 0},
    {"all", KEY_ALL, NULL, 0, "Show all rows, also what hardly differs", 0},
    {"with", KEY_WITH, NULL, 0, "Files behind it are runs of the other side: A1 A2 --with B1 B2",
     0},
    {"fail-if", KEY_FAIL_IF, "RULE", 0,
     "Exit with status 4 if so: 'run time > 5 %' (3 runs of each side; repeatable)", 0},
    {"reduction", KEY_REDUCTION, NULL, 0,
     "Measure what a reduced archive saves and loses: FULL REDUCED", 0},
    {0},
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    struct rfn_compare_options how;
    bool reduction, with;
};

static void check_sides(struct argp_state *state, const struct rfn_compare_options *how, bool with)
{
    const size_t after = how->n_files - how->before;
    if (with && (!how->before || !after))
        argp_error(state, "--with stands between the runs of two sides: A1 A2 A3 --with B1 B2 B3");
    if (how->n_gates && !with)
        argp_error(state, "--fail-if compares two sides: A1 A2 A3 --with B1 B2 B3");
    if (how->n_gates && (how->before < GATE_RUNS || after < GATE_RUNS))
        argp_error(state,
                   "--fail-if needs %d runs of each side or more, to tell a change from noise; "
                   "there are %zu and %zu",
                   GATE_RUNS, how->before, after);
}

static void check_files(struct argp_state *state, const struct options *given)
{
    if (given->reduction && given->with)
        argp_error(state, "--reduction compares two files, and --with sides of several");
    check_sides(state, &given->how, given->with);
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
    case KEY_WITH:
        if (given->with)
            argp_error(state, "--with stands once, between the two sides");
        given->with = true;
        given->how.before = given->how.n_files;
        return 0;
    case KEY_FAIL_IF:
        if (!rfn_gate_parse(&given->how.gates[given->how.n_gates++], arg))
            argp_error(state,
                       "--fail-if is ROW > NUMBER or ROW < NUMBER with %%, a unit of time, "
                       "'points' or nothing behind it, as 'run time > 5 %%'; not '%s'",
                       arg);
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

/* ---- sides of several runs ---- */

/* Medians of runs on other numbers of ranks mean nothing. */
static int check_ranks(const struct rfn_compare_options *how, const struct rfn_measured *runs)
{
    const uint32_t ranks = runs[0].profile->n_ranks;
    for (size_t i = 1; i < how->n_files; i++) {
        if (runs[i].profile->n_ranks == ranks)
            continue;
        rfn_command_error("%s is a run on %u ranks, and %s on %u: --with compares runs on as many "
                          "ranks; without it compare tells how runs scale",
                          how->files[0], ranks, how->files[i], runs[i].profile->n_ranks);
        return RFN_EXIT_USAGE;
    }
    return RFN_EXIT_OK;
}

static int tell_no_row(const struct rfn_gate *gate, enum rfn_gate_error error,
                       const struct rfn_compared_sides *compared, const struct rfn_row_change *row)
{
    static const char *const units[] = {"a unit of time (s, ms, us, ns)", "points", "no unit",
                                        "no unit"};
    struct rfn_text text = {0};
    if (error == RFN_GATE_UNIT) {
        rfn_command_error("--fail-if '%s': a number for \"%s\" has %s or %%", gate->rule, row->name,
                          units[row->unit]);
        return RFN_EXIT_USAGE;
    }
    rfn_text_format(&text, "--fail-if '%s': %s \"%.*s\"; rows are:", gate->rule,
                    error == RFN_GATE_NO_ROW ? "no row is named" : "several rows begin with",
                    (int)gate->row_length, gate->rule);
    for (size_t i = 0; i < compared->n_rows && i < LISTED_ROWS; i++)
        rfn_text_format(&text, "%s %.150s", i ? ";" : "", compared->rows[i].name);
    if (compared->n_rows > LISTED_ROWS)
        rfn_text_format(&text, "; and %zu more, which --json prints",
                        compared->n_rows - LISTED_ROWS);
    rfn_command_error("%s", rfn_text_terminated(&text));
    rfn_text_release(&text);
    return RFN_EXIT_USAGE;
}

/* The rows of all gates; the exit status. */
static int find_rows(const struct rfn_compare_options *how,
                     const struct rfn_compared_sides *compared, const struct rfn_row_change **rows)
{
    for (size_t i = 0; i < how->n_gates; i++) {
        const enum rfn_gate_error error = rfn_gate_find(&how->gates[i], compared, &rows[i]);
        if (error)
            return tell_no_row(&how->gates[i], error, compared, rows[i]);
    }
    return RFN_EXIT_OK;
}

static int print_sides(const struct rfn_compare_options *how, const struct rfn_measured *runs,
                       const struct rfn_compared_sides *compared,
                       const struct rfn_row_change *const *rows)
{
    struct rfn_text out = {0};
    int status = tell_missing(how, runs, &out);
    for (size_t i = 0; i < how->n_gates && (status == RFN_EXIT_OK); i++)
        status = rfn_gate_fails(&how->gates[i], rows[i]) ? RFN_EXIT_GATE : status;
    if (how->json)
        return rfn_command_print_json(rfn_compare_sides_json(how, compared, rows), status);
    rfn_compare_sides_text(&out, how, compared, rows);
    return rfn_command_print_page(&out, NULL, status);
}

static int compare_sides(const struct rfn_compare_options *how, const struct rfn_measured *runs)
{
    const size_t n[] = {how->before, how->n_files - how->before};
    struct rfn_compared_sides compared = {0};
    const struct rfn_row_change **rows = calloc(how->n_gates + 1, sizeof *rows);
    int status = check_ranks(how, runs);
    if (!status && (!rows || rfn_compared_sides_init(&compared, runs, n) < 0))
        status = rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    if (!status)
        status = find_rows(how, &compared, rows);
    if (!status)
        status = print_sides(how, runs, &compared, rows);
    rfn_compared_sides_release(&compared);
    free(rows);
    return status;
}

static int compare_opened(const struct rfn_compare_options *how, const struct rfn_measured *runs)
{
    if (how->before)
        return compare_sides(how, runs);
    return how->n_files == 2 ? compare_two(how, runs) : compare_many(how, runs);
}

static int compare_runs(const struct rfn_compare_options *how)
{
    struct rfn_opened_runs opened;
    int status = rfn_opened_runs_init(&opened, (const char *const *)how->files, how->n_files);
    if (opened.n == how->n_files)
        status = compare_opened(how, opened.runs);
    rfn_opened_runs_release(&opened);
    return status;
}

/* ---- the verb ---- */

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {.how.files = calloc((size_t)argc + 1, sizeof *given.how.files),
                            .how.gates = calloc((size_t)argc + 1, sizeof *given.how.gates)};
    const struct rfn_file_argument *common = &given.given;
    struct rfn_compare_options *how = &given.how;
    if (!how->files || !how->gates)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    rfn_command_parse(command, parse, argc, argv, &given);
    how->json = common->json;
    how->top = common->top_given ? (size_t)common->top : common->json || how->all ? SIZE_MAX : TOP;
    how->findings = common->top_given || how->all ? how->top : 1;
    how->width = rfn_terminal_columns();
    int status = given.reduction ? rfn_compare_reduction(how) : compare_runs(how);
    free(how->files);
    free(how->gates);
    return status;
}

const struct rfn_command rfn_cmd_compare = {
    .name = "compare",
    .summary = "Compares runs of a program: what became faster or slower, and why",
    .usage = "FILE FILE...\nFILE... --with FILE...",
    .about =
        "Of two runs, before and after a change, prints how their times differ, what costs "
        "time in one of them only, and the call paths that differ most. Three and more it puts "
        "in order by ranks, and prints how efficiency scales. Runs may be of different "
        "versions and on different machines: everything is matched by names.\n\nRuns vary: give "
        "several "
        "of each side, and it prints medians and ranges, and says what is noise. --fail-if makes a "
        "gate for continuous integration:\n\n"
        "  refrain compare a1.rfn a2.rfn a3.rfn --with b1.rfn b2.rfn b3.rfn \\\n"
        "      --fail-if='run time > 5 %'",
    .options = options,
    .run = run,
};
