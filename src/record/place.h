/* place.h - this process among all processes of its job, and how the recorder reaches the others.
 *
 * After MPI_Init these are MPI_COMM_WORLD. A program that only opens sessions (MPI-4, chapter 11)
 * does not have it; but the process set mpi://WORLD names the same processes in the same order.
 * Then the recorder opens a session of its own, so that MPI stays up until the ranks have merged,
 * and makes a communicator from that process set, with a string tag that no program uses.
 */
#ifndef RFN_RECORD_PLACE_H
#define RFN_RECORD_PLACE_H

#include "record/recorder.h"

#include <stdbool.h>

/* Whether the process is between MPI_Init and MPI_Finalize: MPI_COMM_WORLD is there. */
bool rec_place_in_world(void);

/* Learns the process's place, once MPI is up. Local. False while MPI is not up, or when MPI does
 * not tell. */
bool rec_place_learn(void);
int rec_place_rank(void); /* -1 before */
int rec_place_size(void); /* 0 before */

/* All processes of the job in order of rank, borrowed until rec_place_release. */
int rec_place_group(MPI_Group *group);

/* A communicator of all processes of the job: MPI_COMM_WORLD, or the one made from mpi://WORLD;
 * MPI_COMM_NULL when MPI cannot make it. Collective over the job when called for the first time
 * outside of the world. */
MPI_Comm rec_place_comm(void);

/* Gives back what the functions above have made, so that MPI can end. */
void rec_place_release(void);

#endif
