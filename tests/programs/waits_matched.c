/* Probes that take the message, and receives that are given it. Rank 0 sends, and works for a step
 * before every pair of messages; the probe waits, the receives do not. ranks: 2 */
#include "steps.h"

enum { ROUNDS = 4, TAG = 2 };

static int data[8];

static void send(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        steps(1);
        MPI_Send(data, 2, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    }
    for (int i = 0; i < ROUNDS; i++)
        MPI_Send(data, 3, MPI_INT, 1, TAG, MPI_COMM_WORLD);
}

/* Of two messages of one channel the second is received first: the first has been taken by a probe
 * before. */
static void receive(void)
{
    MPI_Message message;
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Mprobe(0, i % 2 ? MPI_ANY_TAG : TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Recv(data, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i < ROUNDS / 2) {
            MPI_Mrecv(data, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Imrecv(data, 2, MPI_INT, &message, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < ROUNDS; i++) {
        for (int flag = 0; !flag;)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message,
                        MPI_STATUS_IGNORE);
        MPI_Imrecv(data, 3, MPI_INT, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        send();
    else
        receive();
    MPI_Finalize();
    return 0;
}
