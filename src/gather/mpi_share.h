/* mpi_share.h - which process takes which file. */
#ifndef RFN_GATHER_MPI_SHARE_H
#define RFN_GATHER_MPI_SHARE_H

#include "gather/mpi_job.h"
#include "gather/rank_files.h"

struct gth_share {
    uint32_t n_ranks;   /* of all processes */
    const char **paths; /* by rank; NULL: another process takes it. Texts are the files' */
    uint32_t n;         /* ranks that this process takes */
    uint64_t bytes;     /* of their files */
};

/* Each rank is taken by one of the processes that see its file: those that see the same ranks take
 * turns. All processes call it. ranks: how many there have to be; 0: up to the highest one that is
 * seen. job->error of one of them: RFN_E_NOTFOUND: there is no file; RFN_E_INCOMPLETE: ranks are
 * missing; RFN_E_CORRUPT: files of a rank differ, or there are more ranks. share is to be released
 * in any case. */
void gth_share(struct gth_job *job, const struct gth_files *files, const char *folder,
               uint32_t ranks, struct gth_share *share);
void gth_share_release(struct gth_share *share);

#endif
