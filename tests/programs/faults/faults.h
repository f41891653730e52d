/* What programs of this folder share. Functions sleep where they would compute, as ranks may share
 * cores, and are not inlined. */
#ifndef FAULTS_H
#define FAULTS_H

#include <mpi.h>
#include <unistd.h>

#define WORK __attribute__((noinline)) static

#define sleep_ms(ms) usleep((useconds_t)(1000 * (ms)))

static int rank, size;

static inline void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

#endif
