/* Rank 1 comes to MPI_Finalize with a message under way that rank 3 receives only a while later,
 * and with one from rank 2 that nobody ever receives; rank 0 with a buffered one that is so large
 * that it takes MPI thousands of steps. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 2000000, HUGE = 200000000, A_WHILE = 300000 /* microseconds */ };
enum { WANTED = 1, AFTER, UNWANTED, BUFFERED };

int main(int argc, char **argv)
{
    int rank;
    char *bytes = calloc(HUGE, 1);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Buffer_attach(malloc(HUGE + MPI_BSEND_OVERHEAD), HUGE + MPI_BSEND_OVERHEAD);
        MPI_Bsend(bytes, HUGE, MPI_BYTE, 3, BUFFERED, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend(bytes, LARGE, MPI_BYTE, 3, WANTED, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (rank == 2) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, UNWANTED, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_BYTE, 1, AFTER, MPI_COMM_WORLD);
    } else if (rank == 3) {
        usleep(A_WHILE);
        MPI_Recv(bytes, LARGE, MPI_BYTE, 1, WANTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(bytes, HUGE, MPI_BYTE, 0, BUFFERED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0; /* the bytes may be on their way until then */
}
