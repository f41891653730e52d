/* Cancelled receives and sends, and requests that are freed. Not every MPI can cancel a send: what
 * became of it goes to the file that is the argument. ranks: 2 */
#include "steps.h"

#include <stdio.h>

enum { TIMES = 3, CANCELLED = 99 /* a tag */ };

static int rank, value, other[TIMES];
static MPI_Request requests[TIMES];

/* Receives that are cancelled leave the message to the receive after them, which waits one step for
 * it. No message is sent before, however late rank 1 is; nothing of that is recorded. */
static void cancelled_receives(void)
{
    for (int i = 0; i < TIMES; i++) {
        if (rank == 0) {
            steps(1);
            PMPI_Recv(NULL, 0, MPI_INT, 1, CANCELLED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            continue;
        }
        MPI_Irecv(other, 1, MPI_INT, i ? 0 : MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, requests);
        MPI_Cancel(requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        PMPI_Send(NULL, 0, MPI_INT, 0, CANCELLED, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A freed receive takes the first of two messages, which are one step apart: the receive after it
 * waits for the second, two steps. Freed sends arrive all the same. */
static void freed(void)
{
    if (rank == 0) {
        for (int i = 0; i < 2; i++) {
            steps(1);
            MPI_Isend(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, requests);
            MPI_Request_free(requests);
        }
    } else {
        MPI_Irecv(other, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, requests);
        MPI_Request_free(requests);
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* A receive that is cancelled and freed leaves the message to the one after it, which waits a step.
 */
static void given_up(void)
{
    if (rank == 0) {
        steps(1);
        PMPI_Recv(NULL, 0, MPI_INT, 1, CANCELLED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(other, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, requests);
    MPI_Cancel(requests);
    MPI_Request_free(requests);
    PMPI_Send(NULL, 0, MPI_INT, 0, CANCELLED, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What could not be cancelled is received. */
static int cancelled_sends(void)
{
    int flags[TIMES] = {0}, n = 0;
    for (int i = 0; rank == 0 && i < TIMES; i++) {
        MPI_Status status;
        MPI_Isend(&value, 1, MPI_INT, 1, 10 + i, MPI_COMM_WORLD, requests);
        MPI_Cancel(requests);
        MPI_Wait(requests, &status);
        MPI_Test_cancelled(&status, &flags[i]);
    }
    MPI_Bcast(flags, TIMES, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < TIMES; i++) {
        if (rank == 1 && !flags[i])
            MPI_Recv(&value, 1, MPI_INT, 0, 10 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        n += flags[i] != 0;
    }
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    cancelled_receives();
    MPI_Barrier(MPI_COMM_WORLD);
    freed();
    given_up();
    if (argc > 1)
        n = cancelled_sends();
    if (argc > 1 && rank == 0) {
        FILE *file = fopen(argv[1], "w");
        if (!file || fprintf(file, "%d", n) < 0 || fclose(file))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
