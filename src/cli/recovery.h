/* recovery.h - an archive of a run's journals, and the words about it: `refrain recover` makes one
 * of a run that was killed, `refrain snapshot` of one that goes on.
 */
#ifndef RFN_CLI_RECOVERY_H
#define RFN_CLI_RECOVERY_H

#include "cli/args/file_argument.h"
#include "refrain/journal.h"

struct rfn_recovery {
    struct rfn_output_argument written; /* with the output's name */
    bool is_live;                       /* of a run that goes on: say how long ago it saved */
    bool repeats;                       /* one of several: each is one line, and JSON, too; */
    bool is_first;                      /* faults of the folders are told once */
    bool is_one_of_runs;                /* say which: when it started, and the command */
};

/* app.4.rfn of app.4.rfn.journal, to be freed. NULL: that was told, as the folder has another name;
 * or there is no memory. */
char *rfn_recovery_name(const char *folder);

/* The name of the archive of this run: `name`, or if another run's archive has it, or it is one of
 * the n names in `taken`, with the first number before its suffix for which that is not so. An
 * archive whose run is not known counts as this run's, and so does with --force one that is older
 * than the run. To be freed; NULL: no memory. */
char *rfn_recovery_numbered(const struct rfn_recovery *recovery, const char *name,
                            const struct rfn_journals *journals, char *const *taken, size_t n);

/* Whether the ranks were processes of this node and none of them is there any more. */
bool rfn_recovery_has_ended(const struct rfn_journals *journals);
/* Whether a rank is a process of this node, and a rank has saved something within a minute. */
bool rfn_recovery_goes_on(const struct rfn_journals *journals);

/* Makes the archive, and says on standard error which ranks are left out. Errors as of
 * rfn_journals_recover. */
int rfn_recovery_make(const struct rfn_recovery *recovery, const struct rfn_journals *journals,
                      struct rfn_merge_result *made, struct rfn_diag *diag);
/* Says why there is none, and returns the exit status. */
int rfn_recovery_fail(const struct rfn_recovery *recovery, int error, const struct rfn_diag *diag);
/* Prints the result, and returns the exit status. */
int rfn_recovery_print(const struct rfn_recovery *recovery, const struct rfn_journals *journals,
                       const struct rfn_merge_result *made);

#endif
