/* Rank 1 reaches MPI_Finalize when there is a file of the given name. For 2 ranks. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (rank == 1 && argc > 1 && access(argv[1], F_OK) != 0)
        usleep(10000);
    return MPI_Finalize();
}
