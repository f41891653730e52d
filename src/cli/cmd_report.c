/* cmd_report.c - refrain report: one page on why a run took as long as it did. */
#include "cli/command.h"
#include "cli/file_argument.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/terminal.h"

enum { TOP = 15 };

enum { KEY_FIX_CLOCKS = 0x100, KEY_CALL_PATH, KEY_BEHAVIOUR };

struct options {
    struct rfn_file_argument given; /* first: its parser gets what is not parsed here */
    bool fix_clocks, behaviour;
    struct rfn_rank_filter ranks; /* none: all */
    const char *call_path;
};

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print everything as JSON, in nanoseconds or seconds and bytes", 0},
    {"top", 't', "N", 0, "show the N rows with most time of each table (15; with --json all)", 0},
    {"rank", 'r', "LIST", 0, "narrow to these ranks: 3 or 0-3,7", 0},
    {"call-path", KEY_CALL_PATH, "TEXT", 0,
     "narrow to call paths with TEXT in a function's name or in file:line", 0},
    {"behaviour", KEY_BEHAVIOUR, NULL, 0,
     "add which ranks were late to what, in how many steps of the loops that they execute in step",
     0},
    {"fix-clocks", KEY_FIX_CLOCKS, NULL, 0,
     "repair receives that end before their send begins, by a logical clock", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *given = state->input;
    switch (key) {
    case 'r':
        rfn_rank_filter_release(&given->ranks);
        if (rfn_rank_filter_init(&given->ranks, arg) < 0)
            argp_error(state, "'%s' is not a list of ranks, such as 3 or 0-3,7", arg);
        return 0;
    case KEY_CALL_PATH:
        given->call_path = arg;
        return 0;
    case KEY_BEHAVIOUR:
        given->behaviour = true;
        return 0;
    case KEY_FIX_CLOCKS:
        given->fix_clocks = true;
        return 0;
    default:
        return rfn_file_argument_parse(key, arg, state);
    }
}

static int print(const struct rfn_report *report, bool json, int status)
{
    struct rfn_text out = {0};
    if (json)
        return rfn_command_print_json(rfn_report_json(report), status);
    rfn_report_text(&out, report);
    return rfn_command_print(&out, report->file, status);
}

/* What is wrong with the file, on standard error; the exit status. */
static int complain(const struct rfn_report *report)
{
    if (report->profile->error)
        return rfn_command_fail(report->file, report->profile->error, &report->profile->diag);
    if (report->waits->error)
        return rfn_command_fail(report->file, report->waits->error, &report->waits->diag);
    if (!report->incomplete)
        return RFN_EXIT_OK;
    rfn_command_error("%s: incomplete: %s", report->file, report->incomplete);
    return RFN_EXIT_BAD_INPUT;
}

static int read_events(struct rfn_report *report, const struct options *given,
                       struct rfn_waits **waits, struct rfn_profile **profile,
                       struct rfn_behaviour **behaviour, struct rfn_diag *diag)
{
    const struct rfn_waits_options how = {.fix_clocks = given->fix_clocks,
                                          .profile = profile,
                                          .behaviour = behaviour,
                                          .all_steps = given->behaviour};
    struct rfn_progress progress = {.what = "reading events"};
    int error = rfn_waits_new(report->archive, &how, rfn_progress_show, &progress, waits, diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return error;
    report->waits = *waits;
    report->profile = *profile;
    report->behaviour = *behaviour;
    report->efficiency = rfn_profile_efficiency(*profile);
    return 0;
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

/* Which ranks behave alike. Where what tells it cannot be read, the page goes without. */
static int find_clusters(struct rfn_report *report, struct rfn_clustering **clustering)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    *clustering = NULL;
    if (report->run->ranks < 2)
        return 0;
    int error = rfn_clustering_new(report->archive, (struct rfn_cluster_form){0}, NULL, NULL,
                                   clustering, &diag);
    report->clustering = *clustering;
    return error == RFN_E_NOMEM ? error : 0;
}

/* Prints the page; the exit status. */
static int make_report(struct rfn_report *report, const struct options *given)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_profile *profile;
    struct rfn_behaviour *behaviour = NULL;
    struct rfn_clustering *clustering = NULL;
    struct rfn_waits *waits;
    int error = read_events(report, given, &waits, &profile, &behaviour, &diag);
    if (error < 0)
        return rfn_command_fail(report->file, error, &diag);
    int status = check_call_path(report);
    if (!status && (error = find_clusters(report, &clustering)) < 0)
        status = rfn_command_fail(report->file, error, &diag);
    if (!status)
        status = print(report, given->given.json, complain(report));
    rfn_clustering_free(clustering);
    rfn_behaviour_free(behaviour);
    rfn_waits_free(waits);
    rfn_profile_free(profile);
    return status;
}

static int check_ranks(const struct rfn_report *report)
{
    int64_t unknown = rfn_rank_filter_beyond(report->ranks, report->run->ranks);
    if (unknown < 0)
        return RFN_EXIT_OK;
    rfn_command_error("%s: there is no rank %lld: the run has %u, counted from 0", report->file,
                      (long long)unknown, report->run->ranks);
    return RFN_EXIT_USAGE;
}

static int report_archive(const struct rfn_archive *archive, const struct options *given)
{
    const struct rfn_file_argument *file = &given->given;
    const char *why = NULL;
    struct rfn_report report = {.file = file->file,
                                .archive = archive,
                                .run = rfn_archive_run(archive),
                                .ranks = given->ranks.n ? &given->ranks : NULL,
                                .call_path = given->call_path,
                                .behaviour_table = given->behaviour,
                                .width = rfn_terminal_columns()};
    report.top = file->top_given ? (size_t)file->top : file->json ? SIZE_MAX : TOP;
    if (!rfn_archive_complete(archive, &why))
        report.incomplete = why ? why : "the file was cut short";
    int status = check_ranks(&report);
    return status ? status : make_report(&report, given);
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct options given = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_archive *archive;
    int status;
    rfn_command_parse(command, parse, argc, argv, &given);
    int error = rfn_archive_open(given.given.file, &archive, &diag);
    if (error < 0) {
        status = rfn_command_fail(given.given.file, error, &diag);
    } else {
        status = report_archive(archive, &given);
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
    .run = run,
};
