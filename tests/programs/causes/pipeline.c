/* A pipeline whose first rank begins late: each rank waits for the one before, but the first is
 * the cause. */
#include "pause.h"

#include <mpi.h>

static int rank, size;

static void pass_on(void)
{
    int word = 0;
    if (rank > 0)
        MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause_ms(rank == 0 ? 500 : 20);
    if (rank < size - 1)
        MPI_Send(&word, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    pass_on();
    MPI_Finalize();
    return 0;
}
