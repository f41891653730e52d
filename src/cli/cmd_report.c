/* cmd_report.c - refrain report: one page on why a run took as long as it did. */
#include "cli/args/command.h"
#include "cli/args/file_argument.h"
#include "cli/args/network_file.h"
#include "cli/report/report_hang.h"
#include "cli/report/whole_report.h"
#include "cli/text/json.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

enum { WINDOWS = 1000 };

enum { TOP = 7 }; /* of three lines each: a table fits on a screen of 24 lines */
/* Each row with its call path: a program of 50,000 call paths would make hundreds of megabytes. */
enum { JSON_TOP = 1000 };

enum {
    KEY_FIX_CLOCKS = 0x100,
    KEY_CALL_PATH,
    KEY_REGION,
    KEY_BEHAVIOUR,
    KEY_SHORT,
    KEY_ALL,
    KEY_CSV,
    KEY_NETWORK,
    KEY_WINDOWS,
    KEY_COLOR,
    KEY_HANG
};

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    bool fix_clocks, behaviour, head_only, all, hang;
    struct rfn_rank_filter ranks; /* none: all */
    const char *call_path, *region;
    enum rfn_colors color;
    const char *csv;          /* the table; NULL: not asked for */
    const char *network_file; /* NULL: not given */
    struct rfn_network network;
    uint64_t windows;
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "Print the report as JSON (refrain-json(5))", 0},
    {"csv", KEY_CSV, "TABLE", 0, "Print one table as CSV; --csv=help lists the tables", 0},
    {"short", KEY_SHORT, NULL, 0, "Print the first screen only", 0},
    {"top", 't', "N", 0, "Show the N longest rows of each table (7; 1000 with --json)", 0},
    {"all", KEY_ALL, NULL, 0, "Show all rows of each table", 0},
    {"hang", KEY_HANG, NULL, 0, "Tell what hangs: FILE is a folder FILE.rfn.journal", 0},
    {"rank", 'r', "LIST", 0, "Narrow to these ranks: 3 or 0-3,7", 0},
    {"call-path", KEY_CALL_PATH, "TEXT", 0, "Only call paths with TEXT in function or file:line",
     0},
    {"region", KEY_REGION, "NAME", 0, "Only what happens inside of this region", 0},
    {"windows", KEY_WINDOWS, "N", 0, "Add efficiencies of N equal parts of the run", 0},
    {"behaviour", KEY_BEHAVIOUR, NULL, 0, "Add which ranks are late in loop steps", 0},
    {"network", KEY_NETWORK, "NETWORK", 0, "Network parameters of refrain calibrate", 0},
    {"color", KEY_COLOR, "WHEN", 0, "Bold and colours: auto, always or never", 0},
    {"fix-clocks", KEY_FIX_CLOCKS, NULL, 0, "Repair receives that end before their send", 0},
    {0},
};

/* `help` is answered at once. */
static void csv_argument(struct argp_state *state, const char *table)
{
    struct rfn_text names = {0};
    if (rfn_report_csv_has(RFN_REPORT_CSV_TABLES, table))
        return;
    if (strcmp(table, "help") != 0)
        argp_error(state, "there is no table '%s'; there are " RFN_REPORT_CSV_TABLES, table);
    for (const char *at = RFN_REPORT_CSV_TABLES; *at; at++)
        rfn_text_char(&names, *at == ',' ? '\n' : *at);
    rfn_text_char(&names, '\n');
    exit(rfn_command_print(&names, NULL, RFN_EXIT_OK));
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case 'r':
        rfn_rank_argument(state, arg, &given->ranks);
        return 0;
    case KEY_CALL_PATH:
        given->call_path = arg;
        return 0;
    case KEY_REGION:
        given->region = arg;
        return 0;
    case KEY_WINDOWS:
        given->windows = rfn_number_argument(state, arg, "number of time windows");
        if (!given->windows || given->windows > WINDOWS)
            argp_error(state, "--windows takes 1 to %d", WINDOWS);
        return 0;
    case KEY_BEHAVIOUR:
        given->behaviour = true;
        return 0;
    case KEY_SHORT:
        given->head_only = true;
        return 0;
    case KEY_COLOR:
        given->color = rfn_colors_argument(state, arg);
        return 0;
    case KEY_CSV:
        csv_argument(state, arg);
        given->csv = arg;
        return 0;
    case KEY_NETWORK:
        given->network_file = arg;
        return 0;
    case KEY_ALL:
        given->all = true;
        return 0;
    case KEY_HANG:
        given->hang = true;
        return 0;
    case KEY_FIX_CLOCKS:
        given->fix_clocks = true;
        return 0;
    case ARGP_KEY_END:
        if (given->given.json + (given->csv != NULL) + given->head_only > 1)
            argp_error(state, "--json, --csv and --short print different things: give one of them");
        if (given->hang && (given->csv || given->head_only || given->behaviour ||
                            given->call_path || given->region || given->windows ||
                            given->network_file || given->fix_clocks || given->ranks.n))
            argp_error(state, "--hang goes with --json, --all and --color only");
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

/* Text that no call path contains is a mistake, unless there are no calls to tell. */
static int check_call_path(const struct rfn_report *report)
{
    const struct rfn_profile *profile = report->profile;
    for (size_t i = 0; i < profile->n_rows; i++) {
        if (rfn_report_shows_call(report, profile->rows[i].function, profile->rows[i].path))
            return RFN_EXIT_OK;
    }
    if (!profile->n_rows || !report->call_path)
        return RFN_EXIT_OK;
    rfn_command_error("%s: no call path of this run has '%s' in the name of a function or in "
                      "file:line",
                      report->file, report->call_path);
    return RFN_EXIT_USAGE;
}

/* The name must be that of a region. */
static int check_region(const struct rfn_archive *archive, const char *file, const char *name)
{
    enum { NAMED = 8 };
    const uint32_t n = rfn_archive_regions(archive);
    struct rfn_text names = {0};
    for (uint32_t i = 0; i < n; i++) {
        const char *region = rfn_archive_region(archive, i);
        if (strcmp(region, name) == 0) {
            rfn_text_release(&names);
            return RFN_EXIT_OK;
        }
        if (i < NAMED)
            rfn_text_string(&names, i ? ", " : "");
        if (i < NAMED)
            rfn_text_printable(&names, region);
    }
    if (!n)
        rfn_command_error("%s: this run has no regions; refrain_region_begin(3) and record "
                          "--functions make them",
                          file);
    else
        rfn_command_error("%s: this run has no region '%s'; it has %s%s", file, name,
                          rfn_text_terminated(&names), n > NAMED ? " and more" : "");
    rfn_text_release(&names);
    return RFN_EXIT_USAGE;
}

/* A table is to be of what the archive has. */
static int check_table(const struct rfn_report *report, const char *table)
{
    const bool sampled = rfn_report_csv_is_sampled(table);
    if (sampled && !report->samples)
        rfn_command_error(
            "%s: this archive has no samples of messages; refrain record --sample=STRATEGY "
            "makes them, and refrain sample takes some from this archive",
            report->file);
    else if (sampled && strcmp(table, RFN_REPORT_CSV_SAMPLED "samples") == 0 &&
             report->samples->analysis != RFN_SAMPLE_WRITE)
        rfn_command_error("%s: single samples were not kept; refrain record --sample=STRATEGY "
                          "--sample-analysis=write keeps them",
                          report->file);
    else if (!sampled && rfn_report_only_samples(report))
        rfn_command_error("%s: this archive has samples of messages and no other events; its "
                          "tables are " RFN_REPORT_CSV_SAMPLED "categories and the like",
                          report->file);
    else
        return RFN_EXIT_OK;
    return RFN_EXIT_USAGE;
}

/* Prints what the events of an archive tell; the exit status. */
static int print(const struct rfn_whole_report *whole, const struct options *given)
{
    const struct rfn_report *report = &whole->report;
    struct rfn_text out = {0};
    int status = rfn_report_only_samples(report) ? RFN_EXIT_OK : check_call_path(report);
    if (!status && given->csv)
        status = check_table(report, given->csv);
    if (status)
        return status;
    status = rfn_whole_report_complain(whole, given->csv || given->given.json ? NULL : &out);
    if (given->csv) {
        rfn_report_csv(&out, report, given->csv);
        return rfn_command_print(&out, report->file, status);
    }
    if (given->given.json)
        return rfn_command_print_json(rfn_report_json(report), status);
    rfn_report_text(&out, report);
    return rfn_command_print_page(&out, report->file, status);
}

/* Single samples, which may be many, only for what prints them. */
static bool wants_each_sample(const struct options *given)
{
    return given->given.json ||
           (given->csv && strcmp(given->csv, RFN_REPORT_CSV_SAMPLED "samples") == 0);
}

static int report_archive(const struct rfn_archive *archive, const struct options *given)
{
    const struct rfn_file_argument *file = &given->given;
    struct rfn_whole_report whole = {
        .report = {.file = file->file,
                   .archive = archive,
                   .ranks = given->ranks.n ? &given->ranks : NULL,
                   .call_path = given->call_path,
                   .network = given->network_file ? &given->network : NULL,
                   .behaviour_table = given->behaviour,
                   .head_only = given->head_only,
                   .colors = rfn_colors_wanted(given->color),
                   .width = rfn_terminal_columns()}};
    const struct rfn_report_wish wish = {.waits = {.region = given->region,
                                                   .fix_clocks = given->fix_clocks,
                                                   .network = whole.report.network,
                                                   .all_steps = given->behaviour},
                                         .each_sample = wants_each_sample(given),
                                         .windows = (size_t)given->windows};
    whole.report.top = given->all        ? SIZE_MAX
                       : file->top_given ? (size_t)file->top
                       : given->csv      ? SIZE_MAX
                       : file->json      ? JSON_TOP
                                         : TOP;
    int status = rfn_command_check_ranks(archive, file->file, whole.report.ranks);
    if (!status && given->region)
        status = check_region(archive, file->file, given->region);
    if (status)
        return status;
    status = rfn_whole_report_find(&whole, &wish);
    if (!status)
        status = print(&whole, given);
    rfn_whole_report_release(&whole);
    return status;
}

static int report_hang(const struct rfn_archive *archive, const struct options *given)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_hang *hang;
    struct rfn_text out = {0};
    const int error = rfn_hang_find(archive, &hang, &diag);
    if (error < 0)
        return rfn_command_fail(given->given.file, error, &diag);
    const struct rfn_hang_page page = {.archive = archive,
                                       .hang = hang,
                                       .all = given->all,
                                       .colors = rfn_colors_wanted(given->color),
                                       .width = rfn_terminal_columns()};
    int status = RFN_EXIT_OK;
    if (given->given.json) {
        status = rfn_command_print_json(rfn_report_hang_json(&page), status);
    } else {
        rfn_report_hang(&out, &page);
        status = rfn_command_print_page(&out, given->given.file, status);
    }
    rfn_hang_free(hang);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    struct rfn_archive *archive;
    rfn_command_parse(command, parse, argc, argv, &given);
    int status = rfn_command_network(given.network_file, &given.network);
    if (!status)
        status = rfn_command_open(given.given.file, &archive);
    if (!status) {
        status = given.hang ? report_hang(archive, &given) : report_archive(archive, &given);
        rfn_archive_close(archive);
    }
    rfn_rank_filter_release(&given.ranks);
    return status;
}

const struct rfn_command rfn_cmd_report = {
    .name = "report",
    .summary = "Reports why a run took as long as it did, on one page",
    .usage = "FILE",
    .about = "The page is as wide as the terminal (or COLUMNS). man refrain-report explains each "
             "part.",
    .options = options,
    .values = "--color=auto,always,never "
              "--csv=help," RFN_REPORT_CSV_TABLES,
    .run = run,
};
