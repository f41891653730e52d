/* cpu_use.c [sleep | spin | crowd | alone] - rank 1 is late to each broadcast, of which it is the
 * root: it takes three times as long as the others, which spin.
 *
 * sleep: rank 1 sleeps; it uses no core. spin: it spins, too, by the wall clock. crowd: all spin by
 * their CPU time, so that ranks that share cores wait for them. alone: so does rank 1, and the
 * others do nothing.
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

enum { STEPS = 12 };

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void spin(double duration, clockid_t clock)
{
    for (double end = seconds(clock) + duration; seconds(clock) < end;)
        continue;
}

static void idle(double duration)
{
    const struct timespec time = {.tv_nsec = (long)(duration * 1e9)};
    nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "sleep";
    int rank, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++) {
        if (strcmp(way, "alone") == 0)
            spin(rank == 1 ? 0.03 : 0, CLOCK_THREAD_CPUTIME_ID);
        else if (strcmp(way, "crowd") == 0)
            spin(rank == 1 ? 0.03 : 0.01, CLOCK_THREAD_CPUTIME_ID);
        else if (rank == 1 && strcmp(way, "spin") != 0)
            idle(0.03);
        else
            spin(rank == 1 ? 0.03 : 0.01, CLOCK_MONOTONIC);
        MPI_Bcast(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
