/* An open chain of ranks in a copy of the world, beside barriers among every other rank and among
 * pairs: what a rank is in one communicator is nothing to what it or another one is in others. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, sent = 0, received;
    MPI_Comm copy, others, pairs;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(copy, &rank);
    MPI_Comm_size(copy, &size);
    MPI_Comm_split(copy, rank % 2, 0, &others);
    MPI_Comm_split(copy, rank / 2, 0, &pairs);
    for (int step = 0; step < 5; step++) {
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_INT, rank ? rank - 1 : MPI_PROC_NULL, 1, copy, &requests[0]);
        MPI_Isend(&sent, 1, MPI_INT, rank < size - 1 ? rank + 1 : MPI_PROC_NULL, 1, copy,
                  &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(others);
        MPI_Barrier(pairs);
    }
    MPI_Finalize();
    return 0;
}
