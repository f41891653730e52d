/* Rank 0 is late: after a pause of 250 ms it sends to each of the others, which have been waiting
 * since the beginning. Under SMPI the pause is simulated time and therefore exact. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        usleep(250000);
        for (int to = 1; to < size; to++)
            MPI_Send(&data, 1, MPI_INT, to, 5, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
