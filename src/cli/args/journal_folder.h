/* journal_folder.h - a folder of journals in the place of an archive: every verb takes it. */
#ifndef RFN_CLI_ARGS_JOURNAL_FOLDER_H
#define RFN_CLI_ARGS_JOURNAL_FOLDER_H

#include "refrain/journal.h"

/* Makes an archive of the journals. tells: says on standard error what of them is left out. */
int rfn_journal_folder_recover(const struct rfn_journals *journals, const char *path, bool force,
                               bool tells, struct rfn_merge_result *result, struct rfn_diag *diag);

/* Opens a temporary archive of what the folder has. Errors as of rfn_journals_recover. */
int rfn_journal_folder_open(const char *folder, struct rfn_archive **archive,
                            struct rfn_diag *diag);

#endif
