/* Two ranks work and wait by turns: each message is late by as much. */
#include "pause.h"

#include <mpi.h>

enum { TURNS = 10 };

static int rank;

static void turn(int whose)
{
    int word = 0;
    if (rank == whose) {
        pause_ms(40);
        MPI_Send(&word, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&word, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < TURNS; i++)
        turn(i % 2);
    MPI_Finalize();
    return 0;
}
