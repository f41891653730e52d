#include "cli/compare/opened_runs.h"

#include "cli/args/command.h"
#include "cli/text/terminal.h"

#include <stdlib.h>

/* What is damaged cannot be compared; what an archive lacks is told in the comparison. */
static bool is_damaged(int error)
{
    return error && error != RFN_E_INCOMPLETE;
}

/* Reads all of the i-th file; *status may become RFN_EXIT_BAD_INPUT. False: it cannot be compared,
 * and *status says why. */
static bool measure(struct rfn_opened_runs *opened, size_t i, const char *file, int *status)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_progress progress = {.what = "reading events"};
    const struct rfn_waits_options how = {.profile = &opened->profiles[i]};
    int failed = rfn_command_open_calls(file, &opened->archives[i]);
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
    const bool any = opened->usages[i].n || opened->usages[i].n_cores;
    const struct rfn_usage *usage = any && !error ? &opened->usages[i] : NULL;
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
    return !damaged;
}

int rfn_opened_runs_init(struct rfn_opened_runs *opened, const char *const *files, size_t n)
{
    int status = RFN_EXIT_OK;
    *opened = (struct rfn_opened_runs){.archives = calloc(n, sizeof *opened->archives),
                                       .profiles = calloc(n, sizeof *opened->profiles),
                                       .waits = calloc(n, sizeof *opened->waits),
                                       .usages = calloc(n, sizeof *opened->usages),
                                       .runs = calloc(n, sizeof *opened->runs),
                                       .n_files = n};
    if (!opened->archives || !opened->profiles || !opened->waits || !opened->usages ||
        !opened->runs)
        return rfn_command_fail(NULL, RFN_E_NOMEM, NULL);
    while (opened->n < n && measure(opened, opened->n, files[opened->n], &status))
        opened->n++;
    return status;
}

void rfn_opened_runs_release(struct rfn_opened_runs *opened)
{
    const bool room = opened->archives && opened->profiles && opened->waits && opened->usages &&
                      opened->runs;
    for (size_t i = 0; room && i < opened->n_files; i++) {
        rfn_usage_release(&opened->usages[i]);
        rfn_waits_free(opened->waits[i]);
        rfn_profile_free(opened->profiles[i]);
        rfn_archive_close(opened->archives[i]);
    }
    free(opened->archives);
    free(opened->profiles);
    free(opened->waits);
    free(opened->usages);
    free(opened->runs);
}
