/* Ranks that end by MPI_Abort, each with calls of its own: as many messages to the next as it has
 * in rank, and a communicator of even or odd ranks. The environment's ABORTS says who: "all", a
 * rank, or nobody. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static MPI_Comm half;

static void exchange(int times)
{
    double value[2] = {rank, 0};
    for (int i = 0; i < times; i++) {
        MPI_Sendrecv(&value[0], 1, MPI_DOUBLE, (rank + 1) % size, i, &value[1], 1, MPI_DOUBLE,
                     (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, value, 2, MPI_DOUBLE, MPI_SUM, half);
    }
}

static void end(const char *who)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (!who) {
        MPI_Finalize();
        return;
    }
    if (strcmp(who, "all") == 0 || atoi(who) == rank)
        MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Datatype pair;
    signal(SIGTERM, SIG_IGN); /* whoever aborts last has some time for it */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    exchange(10);
    for (int i = 0; i < rank; i++) {
        int value[2] = {i, rank};
        MPI_Sendrecv_replace(value, 1, pair, rank, i, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    exchange(3);
    MPI_Type_free(&pair);
    end(getenv("ABORTS"));
    return 0;
}
