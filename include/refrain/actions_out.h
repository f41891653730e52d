/* actions_out.h - actions as time-independent text, and as an archive without times.
 *
 * Actions that a dialect of text does not have become messages (doc/prediction.md has the table),
 * or are refused by name. Numbers read back the same.
 */
#ifndef REFRAIN_ACTIONS_OUT_H
#define REFRAIN_ACTIONS_OUT_H

#pragma GCC visibility push(default)

#include "refrain/actions.h"
#include "refrain/convert.h"

struct rfn_text_options {
    enum rfn_text_dialect dialect;
    bool one_file; /* for all ranks; else path is a list of files, which lie in path_files/ */
    bool force;    /* replace files that exist */
    struct rfn_convert_progress progress;
};

struct rfn_actions_summary {
    uint64_t actions;                  /* read */
    uint64_t lines, bytes, file_bytes; /* written: of text; as it is in files; of an archive 0, 0
                                          and its bytes */
    uint64_t expanded;                 /* collective calls that became messages */
    uint64_t synchronous;              /* sends that do not say so any more */
    uint64_t probes;                   /* left out */
    uint64_t left_out;                 /* calls (rfn_actions_left_out) */
    const char *first_left_out;
};

/* path ends in .gz or .zst: files with actions are compressed so, and a list lacks the suffix.
 * RFN_E_EXISTS: a file is there already; RFN_E_UNSUPPORTED: an action that the dialect cannot say,
 * or no gzip in this build; RFN_E_IO; and what reading the actions returns. The files of a run that
 * fails are removed. */
int rfn_text_of_actions(struct rfn_actions *actions, const char *path,
                        const struct rfn_text_options *options, struct rfn_actions_summary *summary,
                        struct rfn_diag *diag);

/* GOAL text of LogGOPSim: messages, computing in ns, and what each waits for. Collective calls
 * become messages (doc/prediction.md has the table). Volumes of text count as ns. path ends in .gz
 * or .zst: it is compressed. RFN_E_EXISTS: it is there, and not `force`; RFN_E_UNSUPPORTED: volumes
 * that are no times, or no gzip in this build; RFN_E_IO; and what reading the actions returns. */
int rfn_goal_of_actions(struct rfn_actions *actions, const char *path, bool force,
                        const struct rfn_convert_progress *progress,
                        struct rfn_actions_summary *summary, struct rfn_diag *diag);

/* An archive with structure, parameters and volumes, of the ranks that are here; rfn_merge_archives
 * joins archives of different ranks. program: as in struct rfn_run, may be NULL. RFN_E_EXISTS as of
 * rfn_writer_new; and what reading the actions returns. */
int rfn_archive_of_actions(struct rfn_actions *actions, const char *path, bool force,
                           const char *program, const struct rfn_convert_progress *progress,
                           struct rfn_actions_summary *summary, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
