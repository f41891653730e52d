/* cmd_report.c - refrain report: one page on where the time and the bytes of a run went. */
#include "cli/command.h"
#include "cli/file_argument.h"
#include "cli/json.h"
#include "cli/report.h"
#include "cli/terminal.h"

enum { TOP = 15 };

static const struct argp_option options[] = {
    {"json", 'j', NULL, 0, "print everything as JSON, in nanoseconds and bytes", 0},
    {"top", 't', "N", 0, "show the N call paths with most time (15; with --json all)", 0},
    {0},
};

static int print(const struct rfn_report *report, bool json, int status)
{
    struct rfn_text out = {0};
    if (json)
        return rfn_json_print(rfn_report_json(report), status);
    rfn_report_text(&out, report);
    if (out.failed)
        status = rfn_command_fail(report->file, RFN_E_NOMEM, NULL);
    else
        rfn_text_print(&out);
    rfn_text_release(&out);
    return status;
}

/* What is wrong with the file, on standard error; the exit status. */
static int complain(const struct rfn_report *report)
{
    if (report->profile->error)
        return rfn_command_fail(report->file, report->profile->error, &report->profile->diag);
    if (!report->incomplete)
        return RFN_EXIT_OK;
    rfn_command_error("%s: incomplete: %s", report->file, report->incomplete);
    return RFN_EXIT_BAD_INPUT;
}

static int make_report(const struct rfn_archive *archive, const struct rfn_file_argument *given)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "reading events"};
    struct rfn_profile *profile;
    const char *why = NULL;
    int error = rfn_profile_new(archive, rfn_progress_show, &progress, &profile, &diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return rfn_command_fail(given->file, error, &diag);
    struct rfn_report report = {.file = given->file,
                                .archive = archive,
                                .run = rfn_archive_run(archive),
                                .profile = profile,
                                .efficiency = rfn_profile_efficiency(profile),
                                .width = rfn_terminal_columns()};
    report.top = given->top_given ? (size_t)given->top : given->json ? SIZE_MAX : TOP;
    if (!rfn_archive_complete(archive, &why))
        report.incomplete = why ? why : "the file was cut short";
    int status = print(&report, given->json, complain(&report));
    rfn_profile_free(profile);
    return status;
}

static int run(const struct rfn_command *command, int argc, char **argv)
{
    struct rfn_file_argument given = {0};
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_archive *archive;
    rfn_command_parse(command, rfn_file_argument_parse, argc, argv, &given);
    int error = rfn_archive_open(given.file, &archive, &diag);
    if (error < 0)
        return rfn_command_fail(given.file, error, &diag);
    int status = make_report(archive, &given);
    rfn_archive_close(archive);
    return status;
}

const struct rfn_command rfn_cmd_report = {
    .name = "report",
    .summary = "Reports where the time and the bytes of a run went, on one page",
    .usage = "FILE",
    .about = "The page is as wide as the terminal (or COLUMNS). man refrain-report explains each "
             "part.",
    .options = options,
    .run = run,
};
