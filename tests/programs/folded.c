/* Ranks compute the same in each step, and exchange messages with both neighbours; nothing that
 * they execute depends on time. Argument: steps. */
#include <mpi.h>

#include <stdlib.h>

static volatile double sink;

static void compute(int rank)
{
    double x = rank;
    for (int i = 0; i < 300000; i++)
        x = x * 0.999 + i;
    sink = x;
}

__attribute__((noinline)) static void exchange(int rank, int ranks, double *own, double *others)
{
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[2];
    MPI_Irecv(others, 1000 + rank, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(own, 1000 + right, MPI_DOUBLE, right, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Status statuses[2];
    MPI_Waitall(2, requests, statuses);
}

__attribute__((noinline)) static void step(int rank, int ranks, double *own, double *others)
{
    double sum = rank, all;
    compute(rank);
    exchange(rank, ranks, own, others);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *own = calloc(2000, sizeof *own), *others = calloc(2000, sizeof *others);
    for (int i = 0; i < steps; i++)
        step(rank, ranks, own, others);
    free(own);
    free(others);
    MPI_Finalize();
    return 0;
}
