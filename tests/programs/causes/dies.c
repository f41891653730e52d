/* Rank 2 ends the run in its middle: by MPI_Abort, or with an argument by a signal. ranks: 4 */
#include "pause.h"

#include <mpi.h>
#include <signal.h>

static void give_up(int argc)
{
    if (argc > 1)
        raise(SIGKILL);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

int main(int argc, char **argv)
{
    int rank, size, word;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 10; i++)
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &word, 1, MPI_INT,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) {
        pause_ms(100);
        give_up(argc);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
