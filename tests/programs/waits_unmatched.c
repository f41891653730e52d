/* What nobody receives, what nobody sends, and what is for nobody. Rank 0 sends three messages, of
 * which rank 1 receives the second, for which it waits one step; rank 1 posts a receive that never
 * gets a message and gives it up. (SMPI would wait for that.) ranks: 2 */
#include "steps.h"

int main(int argc, char **argv)
{
    static int data[4];
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Send(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
        steps(1);
        for (int tag = 3; tag < 5; tag++)
            MPI_Send(data, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(&data[1], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Recv(&data[2], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
