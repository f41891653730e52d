#include "cli/report/whole_report.h"

#include "cli/args/command.h"
#include "cli/text/terminal.h"

/* Tells of samples that cannot be read; the report then has none. */
static int find_samples(struct rfn_whole_report *whole, bool each, struct rfn_diag *diag)
{
    struct rfn_report *report = &whole->report;
    const int error = (each ? rfn_samples_read : rfn_samples_read_rows)(report->archive,
                                                                        &whole->samples, diag);
    if (error == RFN_E_NOMEM)
        return error;
    whole->unread = error ? rfn_command_fail(report->file, error, diag) : RFN_EXIT_OK;
    report->samples = whole->samples.known && !error ? &whole->samples : NULL;
    return 0;
}

static int find_waits(struct rfn_whole_report *whole, const struct rfn_report_wish *wish,
                      struct rfn_diag *diag)
{
    struct rfn_report *report = &whole->report;
    struct rfn_progress progress = {.what = "reading events"};
    struct rfn_waits_options how = wish->waits;
    how.profile = &whole->profile;
    how.behaviour = how.region ? NULL : &whole->behaviour;
    const int error = rfn_waits_new(report->archive, &how, rfn_progress_show, &progress,
                                    &whole->waits, diag);
    rfn_progress_done(&progress);
    if (error < 0)
        return error;
    report->waits = whole->waits;
    report->profile = whole->profile;
    report->behaviour = whole->behaviour;
    report->efficiency = rfn_profile_efficiency(whole->profile);
    return 0;
}

/* Where what processes used, or what tells which ranks behave alike, cannot be read, the report
 * goes without. */
static int find_rest(struct rfn_whole_report *whole, const struct rfn_report_wish *wish,
                     struct rfn_diag *diag)
{
    struct rfn_report *report = &whole->report;
    int error = rfn_usage_read(report->archive, &whole->usage, diag);
    report->usage = (whole->usage.n || whole->usage.n_cores) && !error ? &whole->usage : NULL;
    if (error != RFN_E_NOMEM)
        error = rfn_report_predict(report, wish->windows, &whole->ahead, diag);
    if (error != RFN_E_NOMEM && report->run->ranks > 1 && !wish->waits.region)
        error = rfn_clustering_new(report->archive, (struct rfn_cluster_form){0}, NULL, NULL,
                                   &whole->clustering, diag);
    report->clustering = whole->clustering;
    return error == RFN_E_NOMEM ? error : 0;
}

int rfn_whole_report_find(struct rfn_whole_report *whole, const struct rfn_report_wish *wish)
{
    struct rfn_report *report = &whole->report;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    report->run = rfn_archive_run(report->archive);
    int error = find_samples(whole, wish->each_sample, &diag);
    if (!error)
        error = find_waits(whole, wish, &diag);
    if (!error)
        error = find_rest(whole, wish, &diag);
    return error < 0 ? rfn_command_fail(report->file, error, &diag) : RFN_EXIT_OK;
}

int rfn_whole_report_complain(const struct rfn_whole_report *whole, struct rfn_text *page)
{
    const struct rfn_report *report = &whole->report;
    const int status = rfn_command_tell_missing(report->archive, page ? NULL : report->file, page,
                                                whole->unread);
    /* That chunks are missing needs no word where the file is incomplete. */
    const int expected = rfn_archive_complete(report->archive, NULL) ? 0 : RFN_E_INCOMPLETE;
    const struct rfn_profile *profile = report->profile;
    const struct rfn_waits *waits = report->waits;
    if (profile->error && profile->error != expected)
        return rfn_command_fail(report->file, profile->error, &profile->diag);
    if (waits->error && waits->error != expected)
        return rfn_command_fail(report->file, waits->error, &waits->diag);
    return status;
}

void rfn_whole_report_release(struct rfn_whole_report *whole)
{
    rfn_clustering_free(whole->clustering);
    rfn_report_ahead_release(&whole->ahead);
    rfn_usage_release(&whole->usage);
    rfn_samples_release(&whole->samples);
    rfn_behaviour_free(whole->behaviour);
    rfn_waits_free(whole->waits);
    rfn_profile_free(whole->profile);
}
