/* Barriers in one loop. Arguments: how many. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (long i = 0, n = argc > 1 ? atol(argv[1]) : 1000; i < n; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
