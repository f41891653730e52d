/* Rank 1 comes to MPI_Finalize with a message under way that rank 3 receives only a while later,
 * and with one from rank 2 that nobody ever receives. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 2000000, A_WHILE = 300000 /* microseconds */ };
enum { WANTED = 1, AFTER, UNWANTED };

int main(int argc, char **argv)
{
    int rank;
    char *bytes = calloc(LARGE, 1);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        MPI_Recv(NULL, 0, MPI_BYTE, 2, AFTER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Isend(bytes, LARGE, MPI_BYTE, 3, WANTED, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (rank == 2) {
        MPI_Send(NULL, 0, MPI_BYTE, 1, UNWANTED, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_BYTE, 1, AFTER, MPI_COMM_WORLD);
    } else if (rank == 3) {
        usleep(A_WHILE);
        MPI_Recv(bytes, LARGE, MPI_BYTE, 1, WANTED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0; /* the bytes may be on their way until then */
}
