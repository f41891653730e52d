/* Persistent requests, started several times. ranks: 2 */
#include "steps.h"

enum { STARTS = 4, EACH = 2 };

static int rank, data[EACH];
static MPI_Request requests[EACH];

/* Two requests of one channel, started together; each time the sender works for a step before. */
static void channel(void)
{
    for (int i = 0; i < EACH; i++) {
        if (rank == 0)
            MPI_Send_init(&data[i], 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Recv_init(&data[i], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE); /* inactive: nothing */
    for (int i = 0; i < STARTS; i++) {
        if (rank == 0)
            steps(1);
        MPI_Startall(EACH, requests);
        MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < EACH; i++)
        MPI_Request_free(&requests[i]);
}

/* A synchronous send waits for an ordinary receive, one step each time: the other works for two
 * before it receives, the sender for one between start and completion. */
static void synchronous(void)
{
    if (rank == 0)
        MPI_Ssend_init(data, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, requests);
    for (int i = 0; i < STARTS; i++) {
        if (rank == 0) {
            MPI_Start(requests);
            steps(1);
            MPI_Wait(requests, MPI_STATUS_IGNORE);
        } else {
            steps(2);
            MPI_Recv(data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 0)
        MPI_Request_free(requests);
}

/* With a wildcard; the slot is that of a request that has been freed. One step each time. */
static void wildcard(void)
{
    if (rank == 1)
        MPI_Recv_init(data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, requests);
    for (int i = 0; i < STARTS; i++) {
        if (rank == 0) {
            steps(1);
            MPI_Send(data, 1, MPI_INT, 1, 10 + i, MPI_COMM_WORLD);
        } else {
            MPI_Start(requests);
            MPI_Wait(requests, MPI_STATUS_IGNORE);
        }
    }
    if (rank == 1)
        MPI_Request_free(requests);
}

int main(int argc, char **argv)
{
    void (*const parts[])(void) = {channel, synchronous, wildcard};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        parts[i]();
    }
    MPI_Finalize();
    return 0;
}
