/* mpi_tree.h - archives of some ranks become one on the way to process 0 (arity.h). */
#ifndef RFN_GATHER_MPI_TREE_H
#define RFN_GATHER_MPI_TREE_H

#include "gather/mpi_job.h"

#include <stdint.h>

struct gth_tree {
    int arity;
    const char *folder; /* of temporary files */
    const char *output; /* process 0 writes it */
    bool force;
};

/* mine: the archive of this process' ranks, in the folder; it is removed. "": it has none. All
 * processes call it, those with job->error, too: then there will be no output. *bytes: of output,
 * at process 0. Memory does not grow with what is combined, and at most tree->arity archives are
 * open at once. */
void gth_combine(struct gth_job *job, const struct gth_tree *tree, const char *mine,
                 uint64_t *bytes);

#endif
