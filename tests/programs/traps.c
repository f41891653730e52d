/* The processor traps in floating point where the program wants it, and nowhere else.
 *
 *     traps MASK
 *
 * The first call of MPI, and those that only concern the process, are made with all traps,
 * MPI_Barrier and MPI_Finalize with MASK (a number in hex), as MPI may compute there. No call
 * changes what is trapped. ranks: any */
#define _GNU_SOURCE
#include <fenv.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 20000 };

static void trap(int mask)
{
    feclearexcept(FE_ALL_EXCEPT);
    fedisableexcept(FE_ALL_EXCEPT);
    feenableexcept(mask);
}

int main(int argc, char **argv)
{
    int mask = (int)strtol(argv[1], NULL, 16), flag, rank, in;
    trap(FE_ALL_EXCEPT);
    MPI_Initialized(&flag);
    trap(0);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < STEPS; i++) {
        trap(FE_ALL_EXCEPT);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Sendrecv(&i, 1, MPI_INT, 0, rand() % 30000, &in, 1, MPI_INT, 0, MPI_ANY_TAG,
                     MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (i % 100 == 0) {
            trap(mask);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    trap(mask);
    MPI_Finalize();
    if (fegetexcept() != mask)
        printf("rank %d: traps %x\n", rank, fegetexcept());
    return 0;
}
