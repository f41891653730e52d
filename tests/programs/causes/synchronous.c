/* Ranks with odd numbers work before they receive what the others send synchronously. */
#include "pause.h"

#include <mpi.h>

enum { STEPS = 3 };

static int rank;

static void exchange(void)
{
    int word = 0;
    if (rank % 2 == 0) {
        MPI_Ssend(&word, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    } else {
        pause_ms(200);
        MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++)
        exchange();
    MPI_Finalize();
    return 0;
}
