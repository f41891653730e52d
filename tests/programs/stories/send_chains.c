/* Sends that end when the next rank receives. */
#include "stories.h"

static void synchronous_to(int dest)
{
    MPI_Ssend(&rank, 1, MPI_INT, dest, 0, MPI_COMM_WORLD);
}

/* Each rank sends to the next one before it receives; the last one receives first, after a while.
 */
static void upwards(void)
{
    for (int i = 0; i < steps; i++) {
        if (rank == size - 1)
            work(8);
        else
            synchronous_to(rank + 1);
        if (rank > 0)
            receive_from(rank - 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Only the last two ranks exchange anything. */
static void one_send(void)
{
    for (int i = 0; i < steps; i++) {
        if (rank == size - 1) {
            work(8);
            receive_from(rank - 1);
        } else if (rank == size - 2) {
            synchronous_to(rank + 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Each rank hands its row down, a large one, and then takes what comes from above. */
static void large_rows(void)
{
    enum { ROW = 100000 };
    static char row[ROW], next[ROW];
    for (int i = 0; i < steps; i++) {
        if (rank == 0)
            work(20);
        else
            MPI_Send(row, ROW, MPI_CHAR, rank - 1, 0, MPI_COMM_WORLD);
        if (rank < size - 1)
            MPI_Recv(next, ROW, MPI_CHAR, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Each waits until its message is taken, does some work, and takes the one for it. */
static void work_between(void)
{
    for (int i = 0; i < steps; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank < size - 1)
            MPI_Issend(&rank, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        work(3);
        if (rank > 0)
            receive_from(rank - 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Every second rank receives first: after its work, for which its neighbour waits. */
static void pairs(void)
{
    for (int i = 0; i < steps; i++) {
        if (rank % 2) {
            work(8);
            receive_from(rank - 1);
        } else {
            synchronous_to(rank + 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All receives are posted before. */
static void posted(void)
{
    for (int i = 0; i < steps; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int word;
        if (rank > 0)
            MPI_Irecv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            work(8);
        else
            synchronous_to(rank + 1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {{"upwards", upwards},
                                       {"one_send", one_send},
                                       {"large_rows", large_rows},
                                       {"work_between", work_between},
                                       {"pairs", pairs},
                                       {"posted", posted},
                                       {NULL, NULL}};
    return run_program(argc, argv, programs);
}
