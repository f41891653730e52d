/* journal.h - the checkpoints of a run that did not come to its end, in the folder FILE.rfn.journal
 * (refrain-recover(1)).
 *
 * While a program runs, each of its processes writes a checkpoint there about every second. A good
 * end removes them. rfn_journals_recover makes an archive of checkpoints that are left, or of a run
 * that still goes on.
 */
#ifndef REFRAIN_JOURNAL_H
#define REFRAIN_JOURNAL_H

#pragma GCC visibility push(default)

#include "refrain/archive.h"
#include "refrain/merge_archives.h"

/* What the process did last, as far as its checkpoint knows. */
enum rfn_journal_state {
    RFN_JOURNAL_RUNNING, /* it ran, or was killed later */
    RFN_JOURNAL_EXITED,  /* it ended without MPI_Finalize */
    RFN_JOURNAL_ABORTED  /* it called MPI_Abort */
};

/* The newest whole checkpoint of a rank. */
struct rfn_journal_rank {
    uint32_t rank, ranks; /* of the run */
    uint64_t pid;
    const char *host;
    int64_t start_realtime_ns; /* when the process began to record, since 1970 */
    int64_t until_realtime_ns; /* the checkpoint: what came later is missing */
    enum rfn_journal_state state;
    bool times_lost; /* its times are not in the journal, as they were being reduced */
    uint64_t run;    /* the run's identity; 0: not known (files of earlier versions) */
};

/* All checkpoints of one run in some folders. */
struct rfn_journals {
    const struct rfn_journal_rank *const *ranks; /* those that have one, ascending */
    size_t n;
    uint32_t n_ranks;    /* of the run */
    const char *name;    /* the folder; of several folders, words that stand for them */
    const char *archive; /* the archive that the run was to write, as its first rank says */
    size_t n_runs, run;  /* so many runs have left something here, in order of start; this one */
    uint64_t identity;   /* of this run, as its archive will have it; 0: not known */
    int64_t start_realtime_ns; /* of its first rank that has a checkpoint */
    size_t n_others;           /* checkpoints of the other runs */
    size_t n_damaged;      /* files that are no whole checkpoint where their rank has no other */
    char why_damaged[256]; /* the first of these, and its fault */
};

/* The folder of the journals of a run that is to write this archive: beside it, or in `directory`
 * (may be NULL). RFN_E_IO: the path is too long. */
int rfn_journal_folder(const char *archive, const char *directory, char *path, size_t size);

/* Reads all checkpoints of n (at least one) folders: several nodes' have different ranks of one
 * run. Of several runs the one that started last is chosen. RFN_E_NOTFOUND: there are none, or no
 * such folder; RFN_E_IO, RFN_E_NOMEM; RFN_E_CORRUPT: none is whole. To be closed unless it fails.
 */
int rfn_journals_open(const char *const *folders, size_t n, struct rfn_journals **journals,
                      struct rfn_diag *diag);
void rfn_journals_close(struct rfn_journals *journals); /* may be NULL */

/* Turns to a run, below n_runs: all but name, n_runs, and what is damaged changes. */
void rfn_journals_choose(struct rfn_journals *journals, size_t run);

/* Whether the path is a folder that has checkpoints. */
bool rfn_journals_are(const char *path);

/* Makes an archive of them, as rfn_merge_archives does, and changes nothing in the folders. Ranks
 * whose blocks are damaged are missing; *lost counts them. RFN_E_CORRUPT: no rank is left.
 * RFN_E_NOTFOUND: the run went on, and has removed its journals meanwhile. Other errors as of
 * rfn_merge_archives. */
int rfn_journals_recover(const struct rfn_journals *journals, const char *path, bool force,
                         struct rfn_merge_result *result, size_t *lost, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
