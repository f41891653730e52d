/* The last rank smooths longer than the others; a phase in which all are equal follows, and only
 * then a barrier makes the others wait. */
#include "pause.h"

#include <mpi.h>

enum { STEPS = 3 };

static int rank, size;

static void smooth(void)
{
    pause_ms(rank == size - 1 ? 200 : 20);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* the phase's end */
}

static void advance(void)
{
    pause_ms(50);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < STEPS; step++) {
        smooth();
        advance();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
