/* one_node.h - what the launcher says of where the ranks are, and what, without a message.
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
 * node, all of them are told so; if one is told otherwise, so are all. */
#ifndef RFN_RECORD_ONE_NODE_H
#define RFN_RECORD_ONE_NODE_H

#include <stdbool.h>

/* Whether the environment says that all `size` ranks are on this node. False when it says that they
 * are not, and when it says nothing. */
bool rec_on_one_node(int size);

/* Whether the environment says that the job has several programs; only Open MPI's mpirun does. */
bool rec_of_several_programs(void);

#endif
