#define _DEFAULT_SOURCE /* mkdtemp */
#include "cli/args/journal_folder.h"

#include "cli/args/command.h"
#include "refrain/shell_word.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void tell_of_other_runs(const struct rfn_journals *journals)
{
    const size_t others = journals->n_runs - 1;
    char word[4096];
    if (others)
        rfn_command_error("%s: this is the run that started last; %zu other%s left something "
                          "there, too; next: refrain recover %s",
                          journals->name, others, plural(others),
                          rfn_shell_word(journals->name, word, sizeof word));
}

/* What of them is left out. lost: ranks that cannot be read. */
static void tell(const struct rfn_journals *journals, size_t lost)
{
    if (journals->n_damaged)
        rfn_command_error("%s: %zu checkpoint%s cannot be read; %s", journals->name,
                          journals->n_damaged, plural(journals->n_damaged), journals->why_damaged);
    if (lost)
        rfn_command_error("%s: %zu rank%s left out: what they saved is damaged, or has no times",
                          journals->name, lost, lost == 1 ? " is" : "s are");
}

int rfn_journal_folder_recover(const struct rfn_journals *journals, const char *path, bool force,
                               bool tells, struct rfn_merge_result *result, struct rfn_diag *diag)
{
    size_t lost;
    RFN_TRY(rfn_journals_recover(journals, path, force, result, &lost, diag));
    if (tells)
        tell(journals, lost);
    return 0;
}

/* A name in a folder of its own: what is written is moved to its name in the end. */
static int open_in(const char *temporary, const char *folder, struct rfn_archive **archive,
                   struct rfn_diag *diag)
{
    struct rfn_journals *journals;
    struct rfn_merge_result result;
    char path[4096];
    snprintf(path, sizeof path, "%s/recovered.rfn", temporary);
    RFN_TRY(rfn_journals_open(&folder, 1, &journals, diag));
    tell_of_other_runs(journals);
    int error = rfn_journal_folder_recover(journals, path, true, true, &result, diag);
    rfn_journals_close(journals);
    if (!error)
        error = rfn_archive_open(path, archive, diag);
    unlink(path);
    return error;
}

int rfn_journal_folder_open(const char *folder, struct rfn_archive **archive, struct rfn_diag *diag)
{
    const char *parent = getenv("TMPDIR");
    char temporary[2048];
    snprintf(temporary, sizeof temporary, "%s/refrain-XXXXXX", parent && *parent ? parent : "/tmp");
    if (!mkdtemp(temporary))
        return rfn_fail(diag, RFN_E_IO, -1, -1, "cannot create %s: %s (see TMPDIR)", temporary,
                        strerror(errno));
    const int error = open_in(temporary, folder, archive, diag);
    rmdir(temporary);
    return error;
}
