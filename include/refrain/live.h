/* live.h - jobs that sample messages while they run (refrain/sampling.h), seen from outside.
 *
 * Each process of such a job shows what it has sampled in memory that other processes of the same
 * user on the same node can read, and takes wishes there: `refrain watch` and `refrain control`. A
 * process does not notice that it is read.
 *
 * Each call looks again. The data of a process change meanwhile: a copy may hold one sample more in
 * a count than in a mean.
 */
#ifndef REFRAIN_LIVE_H
#define REFRAIN_LIVE_H

#pragma GCC visibility push(default)

#include "refrain/error.h"
#include "refrain/sampling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_LIVE_NAME = 128, RFN_LIVE_FILE = 512 };

/* The name of the job that has this archive: without folders and .rfn, cut where it is too long. */
void rfn_live_job_name(const char *archive, char name[RFN_LIVE_NAME]);

/* A process that samples. */
struct rfn_live_process {
    uint32_t job_number; /* the same for the processes of one job */
    uint32_t pid, parent;
    uint32_t rank, ranks;    /* ranks: of the whole job, on all nodes */
    uint64_t run;            /* the run's identity; 0: not known */
    char job[RFN_LIVE_NAME]; /* the archive's name without folders and .rfn, or PROGRAM.RANKS */
    char program[RFN_LIVE_NAME], host[RFN_LIVE_NAME];
    int64_t start_ns;                  /* since 1970 */
    uint64_t messages, bytes, sampled; /* sent; sampled by the receiver */
    bool ended;                        /* it samples no more, and is about to end */
    char strategy[RFN_SAMPLE_TEXT];    /* in use; "" before it is known */
    char file[RFN_LIVE_FILE];          /* its memory */
};

struct rfn_live_list {
    struct rfn_live_process *processes; /* by job, then by rank */
    size_t n;
    size_t n_unreadable; /* files that are damaged or of another Refrain, and folders, */
    struct rfn_diag why; /* and the fault of the first of them */
};

/* The user's own processes on this node that sample now. *list is to be released, also after an
 * error: RFN_E_NOMEM. */
int rfn_live_list(struct rfn_live_list *list);
void rfn_live_list_release(struct rfn_live_list *list);

/* What a process has sampled so far. */
struct rfn_live_rows {
    struct rfn_sample_row *rows; /* call sites are hashes */
    size_t n;
    struct rfn_sample_count *counts; /* exact numbers of messages, by pair and size */
    size_t n_counts;
    uint64_t dropped[RFN_SAMPLE_DROPS];
};

/* *rows is to be released, also after an error. RFN_E_NOTFOUND: the process has ended;
 * RFN_E_NOMEM; errors of a damaged file. */
int rfn_live_rows_read(const struct rfn_live_process *process, struct rfn_live_rows *rows,
                       struct rfn_diag *diag);
void rfn_live_rows_release(struct rfn_live_rows *rows);

/* Asks a process to sample by another strategy from now on: it does when it next looks, in a call
 * of MPI. The wish before is forgotten. Errors as above. */
int rfn_live_wish(const struct rfn_live_process *process,
                  const struct rfn_sample_strategy *strategy, struct rfn_diag *diag);

#pragma GCC visibility pop

#endif
