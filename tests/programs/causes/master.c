/* A master that takes results in order of ranks, while rank 1 is slow: the others have long sent
 * theirs and wait for more work. */
#include "pause.h"

#include <mpi.h>

enum { TASKS = 3 };

static int rank, size;

static void worker(void)
{
    int task;
    for (int i = 0; i < TASKS; i++) {
        MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pause_ms(rank == 1 ? 250 : 20);
        MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

static void master(void)
{
    int result = 0;
    for (int i = 0; i < TASKS; i++) {
        for (int to = 1; to < size; to++)
            MPI_Send(&i, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
        for (int from = 1; from < size; from++)
            MPI_Recv(&result, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        master();
    else
        worker();
    MPI_Finalize();
    return 0;
}
