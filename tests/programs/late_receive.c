/* Rank 0 waits for a message, and with it for the receive of another one, which rank 1 posts 10 ms
 * later. */
#include <mpi.h>
#include <unistd.h>

enum { BYTES = 1000 };

int main(int argc, char **argv)
{
    static char out[BYTES], in[BYTES];
    MPI_Request requests[2];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Irecv(in, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, BYTES, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        usleep(5000);
        MPI_Send(out, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        usleep(10000);
        MPI_Recv(in, BYTES, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
