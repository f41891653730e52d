/* A loop whose every step makes two communicators, uses both, and frees them, in turns in the one
 * order and the other. Argument: how many steps. Even number of ranks. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, out = 1, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int n = atoi(argv[1]), other = rank ^ 1;
    for (int i = 0; i < n; i++) {
        MPI_Comm all, half;
        MPI_Comm_dup(MPI_COMM_WORLD, &all);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        MPI_Sendrecv(&out, 1, MPI_INT, other, 0, &in, 1, MPI_INT, other, 0, all, MPI_STATUS_IGNORE);
        MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, half);
        MPI_Comm_free(i % 2 ? &all : &half);
        MPI_Comm_free(i % 2 ? &half : &all);
    }
    MPI_Finalize();
    return 0;
}
