/* Receives that are freed while they are active, persistent and not: their messages come all the
 * same, later. */
#include <mpi.h>

enum { TIMES = 20 };

int main(int argc, char **argv)
{
    static int words[2 * TIMES];
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < TIMES && rank == 1; i++) {
        MPI_Recv_init(&words[2 * i], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
        MPI_Request_free(&request);
        MPI_Irecv(&words[2 * i + 1], 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < TIMES && rank == 0; i++) {
        MPI_Send(&i, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Send(&i, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
