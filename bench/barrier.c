/* barrier.c - what a bare MPI_Barrier takes when all others wait for the last rank: 21 times, that
 * one comes 30 ms after them, and what counts is from its coming until the last one has left. Ranks
 * of one node. Prints the median and the quartiles in ms.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 21, LATE_US = 30000 };

/* MPI_Wtime may count from another moment on each rank. */
static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double latest(double ms)
{
    double most;
    MPI_Allreduce(&ms, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

int main(int argc, char **argv)
{
    double took[TIMES];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < TIMES; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            usleep(LATE_US);
        double came = now_ms();
        MPI_Barrier(MPI_COMM_WORLD);
        double left = now_ms();
        came = latest(came);
        took[i] = latest(left) - came;
    }
    qsort(took, TIMES, sizeof *took, compare);
    if (rank == 0)
        printf("%.2f %.2f %.2f\n", took[TIMES / 2], took[TIMES / 4], took[TIMES - 1 - TIMES / 4]);
    MPI_Finalize();
    return 0;
}
