/* Steps of microseconds, of which the first takes longest: short_steps STEPS.
 *
 * Each rank computes, sends to the next one and receives from the one before, with a size that is
 * another one in each of 500 steps, and every eighth step all ranks add something up. Even ranks
 * compute for 1 to 3 us, odd ones for 3 to 9 us, in the first step ten times as long, as with cold
 * caches. They sleep, which takes simulated time. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

enum { SIZES = 500 };

static void compute(int rank, long times)
{
    static unsigned long long state;
    if (!state)
        state = (unsigned long long)rank * 2862933555777941757u + 3037000493u;
    state = state * 6364136223846793005u + 1442695040888963407u;
    long ns = 1000 + (long)((state >> 33) * 2000 >> 31);
    const struct timespec work = {.tv_nsec = times * (rank % 2 ? 3 : 1) * ns};
    nanosleep(&work, NULL);
}

int main(int argc, char **argv)
{
    static char out[SIZES * 16], in[SIZES * 16];
    int rank, size, one = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < (argc > 1 ? atoi(argv[1]) : 1000); step++) {
        int n = 16 * (1 + step % SIZES), next = (rank + 1) % size,
            before = (rank + size - 1) % size;
        compute(rank, step ? 1 : 10);
        MPI_Sendrecv(out, n, MPI_CHAR, next, 0, in, n, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (step % 8 == 0)
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
