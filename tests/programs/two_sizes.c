/* Runs that differ in the sizes of messages only, and not by their command: the environment
 * variable ELEMENTS says how many integers rank 0 sends rank 1, which has room for ROOM of them.
 * Half of the messages are received by MPI_Recv, half by MPI_Irecv.
 */
#include <mpi.h>
#include <stdlib.h>

enum { ROOM = 16, MESSAGES = 4 };

static void receive(int message)
{
    int buffer[ROOM];
    MPI_Request request;
    if (message % 2 == 0) {
        MPI_Recv(buffer, ROOM, MPI_INT, 0, message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(buffer, ROOM, MPI_INT, 0, message, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *said = getenv("ELEMENTS");
    int rank, elements = said ? atoi(said) : 1, buffer[ROOM] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int message = 0; message < MESSAGES; message++) {
        if (rank == 0)
            MPI_Send(buffer, elements, MPI_INT, 1, message, MPI_COMM_WORLD);
        else if (rank == 1)
            receive(message);
    }
    MPI_Finalize();
    return 0;
}
