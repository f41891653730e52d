/* Started in every way there is; tells which environment its children see. ranks: any
 *
 *   family [CODE]    ends with CODE; rank 0 prints "ran N" and the children's environment
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("ran %d %d\n", size, sum);
        fflush(stdout);
        if (system("env") != 0)
            return 99;
    }
    MPI_Finalize();
    return argc > 1 ? atoi(argv[1]) : 0;
}
