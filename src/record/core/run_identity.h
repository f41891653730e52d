/* run_identity.h - a number that all files of a run have, and no file of another run.
 *
 * Jobs of one name may start in one folder at once, be killed, and leave files there: checkpoints,
 * files of single ranks, live segments. By this number a reader knows which belong together. Where
 * the launcher has a name for the run that it gives all ranks, the number is a hash of that:
 *
 *   PMIx (Open MPI, srun)     PMIX_NAMESPACE, and the run's key that Open MPI's mpirun makes
 *   hydra (MPICH, Intel)      on one node: the process that started the ranks, and when it began
 *   srun                      job, step, and how often the job was started again
 *
 * Else rank 0 makes one and tells it in MPI_Init. Where this happens must not depend on what a rank
 * finds out about others, or ranks would wait for each other; so it depends on the environment
 * alone. A program that uses only sessions has no moment for that: where its launcher has no name
 * for the run, rank 0 makes a number when the archive is written, and what a rank writes alone has
 * none (0).
 *
 * Under SMPI all ranks are one process: the number is a hash of that.
 */
#ifndef RFN_RECORD_CORE_RUN_IDENTITY_H
#define RFN_RECORD_CORE_RUN_IDENTITY_H

#include <stdint.h>

/* In MPI_Init, once it is known which ranks are recorded. Collective over these where the launcher
 * has no name for the run. */
void rec_run_identity_settle(void);
/* Before the ranks' archive is written: rank 0's number counts. */
void rec_run_identity_make(void);

/* 0: not known, or not yet. */
uint64_t rec_run_identity(void);

#endif
