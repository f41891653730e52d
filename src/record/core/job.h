/* job.h - who this process is: its rank and how the recorder reaches the others, its host, and what
 * the launcher says.
 *
 * After MPI_Init the processes of the job are MPI_COMM_WORLD. A program that only opens sessions
 * (MPI-4, chapter 11) does not have it; but the process set mpi://WORLD names the same processes in
 * the same order. Then the recorder opens a session of its own, so that MPI stays up until the
 * ranks have merged, and makes a communicator from that process set, with a string tag that no
 * program uses.
 *
 * Most jobs run on one node, where clocks need no comparing. Launchers tell their processes how
 * many of them are on the same node:
 *
 *   Open MPI's mpirun     OMPI_COMM_WORLD_LOCAL_SIZE of OMPI_COMM_WORLD_SIZE
 *   hydra (MPICH, Intel)  MPI_LOCALNRANKS of PMI_SIZE
 *   srun                  SLURM_STEP_NUM_NODES, for SLURM_STEP_NUM_TASKS
 *
 * in this order: under mpirun in a Slurm job the last ones speak of mpirun's daemons. A launcher's
 * words count only if they are about as many processes as the job has. If all ranks are on one
 * node, all of them are told so; if one is told otherwise, so are all. Of the rank they tell by
 * OMPI_COMM_WORLD_RANK, PMI_RANK and SLURM_PROCID.
 *
 * Some ranks may not be recorded (attendance.h). The others are the job then: its communicator is
 * theirs, and the first of them does what rank 0 does else. Ranks keep their numbers.
 */
#ifndef RFN_RECORD_CORE_JOB_H
#define RFN_RECORD_CORE_JOB_H

#include "record/core/recorder.h"

#include <stdbool.h>

/* Whether the process is between MPI_Init and MPI_Finalize: MPI_COMM_WORLD is there. */
bool rec_job_in_world(void);

/* Learns the process's rank, once MPI is up. Local. False while MPI is not up, or when MPI does not
 * tell. */
bool rec_job_learn(void);
int rec_job_rank(void);                /* -1 before */
int rec_job_size(void);                /* 0 before */
bool rec_job_is_first(void);           /* the lowest rank that is recorded */
const char *rec_job_mpi_version(void); /* the first line of what MPI calls itself; "" before */

/* Only the ranks in comm are recorded, and `first` is the lowest of them. comm is the job's then;
 * MPI_COMM_NULL: MPI could not make it. */
void rec_job_limit(int first, MPI_Comm comm);
bool rec_job_is_limited(void);

/* All processes of the job in order of rank, borrowed until rec_job_release; also those that are
 * not recorded. */
int rec_job_group(MPI_Group *group);

/* A communicator of all processes that are recorded: MPI_COMM_WORLD, or the one made from
 * mpi://WORLD or of those ranks; MPI_COMM_NULL when MPI cannot make it. Collective over them when
 * called for the first time outside of the world. */
MPI_Comm rec_job_comm(void);
/* Whether that one is the program's, too. */
bool rec_job_comm_is_programs(void);

/* Gives back what the functions above have made, so that MPI can end. */
void rec_job_release(void);

/* The definition of this process's host; its hash is that of these bytes. */
int rec_job_host(struct rfn_buf *content);

/* What the environment says of this process; size 0: nothing. */
struct rec_launched {
    int rank, size;
};

struct rec_launched rec_job_launched(void);
/* Whether the environment says that all `size` ranks are on this node. False when it says that they
 * are not, and when it says nothing. */
bool rec_job_on_one_node(int size);
/* The process that made the socket of PMI, by which hydra's ranks talk to their launcher on their
 * node; 0: not known. */
long rec_job_pmi_server(void);
/* Whether this process is the first of its job on its node, or the launcher does not tell. */
bool rec_job_is_first_here(void);
/* Whether the environment says that the job has several programs; only Open MPI's mpirun does. */
bool rec_job_of_several_programs(void);

#endif
