/* Ranks that leave out calls now and then. Usage: left_out [calls [paths]]
 *
 * Each step is a barrier, some reductions, a broadcast, each rank alone. Ranks 0 and 1 always make
 * reductions, how many differs; rank 2 makes none in the first step, and others none at all. So
 * there are three main clusters. With an argument so many calls follow, in no order, of two
 * functions, each on so many call paths (1). */
#include <mpi.h>
#include <stdlib.h>

static int reductions(int rank, int step)
{
    if (rank > 2 || (rank == 2 && step == 0))
        return 0;
    return rank == 0 ? 2 : 1 + step % 3;
}

/* Calls one of two functions from so deep. */
__attribute__((noinline)) static int call_from(int depth, int second)
{
    int number;
    if (depth > 0)
        number = call_from(depth - 1, second);
    else if (second)
        MPI_Comm_rank(MPI_COMM_WORLD, &number);
    else
        MPI_Comm_size(MPI_COMM_WORLD, &number);
    return number + 1;
}

static void in_no_order(long calls, unsigned paths)
{
    unsigned state = 1;
    for (long i = 0; i < calls; i++) {
        state = state * 1664525u + 1013904223u;
        call_from((int)((state >> 16) % paths), state >> 31);
    }
}

int main(int argc, char **argv)
{
    int rank, one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 20; step++) {
        MPI_Barrier(MPI_COMM_SELF);
        for (int i = 0; i < reductions(rank, step); i++)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_SELF);
    }
    in_no_order(argc > 1 ? atol(argv[1]) : 0, argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    MPI_Finalize();
    return 0;
}
