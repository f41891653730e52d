/* Receives with wildcards, several posted at a time, completed in another order than posted. Every
 * rank but 0 sends to rank 0. ranks: 3 or more */
#include "steps.h"

enum { MOST = 64 };

static int rank, size, data[MOST], value;
static MPI_Request requests[MOST];

static void send(int tag)
{
    MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

/* The last rank sends first, the others follow one step apart; half of the receives have any
 * source, half any tag. Each Waitany waits for one step. */
static void any(void)
{
    int index;
    if (rank) {
        steps(size - rank);
        send(rank);
        return;
    }
    for (int i = 1; i < size; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : i, i % 2 ? i : MPI_ANY_TAG,
                  MPI_COMM_WORLD, &requests[i - 1]);
    for (int i = 1; i < size; i++)
        MPI_Waitany(size - 1, requests, &index, MPI_STATUS_IGNORE);
}

/* Everything is a wildcard: one step each. */
static void blocking(void)
{
    if (rank) {
        steps(rank);
        send(100 + rank);
    }
    for (int i = 1; !rank && i < size; i++)
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Two messages of one channel for two wildcards. The second is completed first: it gets the second
 * message, for which it waits two steps; the first has come by then. */
static void swapped(void)
{
    if (rank == 1) {
        for (int i = 0; i < 2; i++) {
            steps(1);
            send(7);
        }
    } else if (rank == 0) {
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&data[i], 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[i]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
}

/* A wildcard, then a receive that knows its source: the wildcard was posted first and takes the
 * first message, though it is completed last. So the other one waits for two steps. */
static void mixed(void)
{
    if (rank == 2) {
        for (int i = 0; i < 2; i++) {
            steps(1);
            send(8);
        }
    } else if (rank == 0) {
        MPI_Irecv(&data[0], 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv(&data[1], 1, MPI_INT, 2, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    void (*const parts[])(void) = {any, blocking, swapped, mixed};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 4; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        parts[i]();
    }
    MPI_Finalize();
    return 0;
}
