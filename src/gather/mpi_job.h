/* mpi_job.h - the processes that gather, and how they agree on an error. */
#ifndef RFN_GATHER_MPI_JOB_H
#define RFN_GATHER_MPI_JOB_H

#include "refrain/error.h"

#include <mpi.h>

#include <stdbool.h>

struct gth_job {
    MPI_Comm comm; /* those of a node follow each other */
    int process, processes, nodes;
    int error; /* of this process alone, until all agree */
    struct rfn_diag diag;
};

void gth_job_init(struct gth_job *job);
void gth_job_release(struct gth_job *job);

/* Whether all processes are without error; else process 0 says what the first of the others has,
 * and on which host if that is another one. All call it and get the same: 0, or the exit status. */
int gth_agree(struct gth_job *job);

#endif
