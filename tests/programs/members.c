/* members.c MS... - rank r computes, in a sense, for the r-th of these milliseconds between
 * MPI_Init and MPI_Finalize, and calls nothing else of MPI: members of an ensemble. It sleeps, so
 * that ranks need no cores of their own.
 */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static void run_member(long ms)
{
    const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    run_member(rank + 1 < argc ? atol(argv[rank + 1]) : 0);
    MPI_Finalize();
    return 0;
}
