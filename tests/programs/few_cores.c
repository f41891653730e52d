/* few_cores.c threads | poll STEPS CORE - all ranks keep to one core, whatever the launcher did.
 *
 * threads: in each step four threads of a rank compute for 25 ms of CPU time each, then the ranks
 * meet in MPI_Allreduce. poll: in each step rank 0 computes for 50 ms of CPU time, and the others
 * wait for it in MPI_Barrier.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4 };

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compute(double seconds)
{
    for (const double end = cpu_seconds() + seconds; cpu_seconds() < end;)
        continue;
}

static pthread_barrier_t meeting;

static void step_together(void)
{
    pthread_barrier_wait(&meeting);
    compute(0.025);
    pthread_barrier_wait(&meeting);
}

static void *help(void *steps)
{
    for (int step = 0; step < *(int *)steps; step++)
        step_together();
    return NULL;
}

static void keep_to(int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    int steps = argc > 2 ? atoi(argv[2]) : 1;
    int rank, given, all;
    pthread_t helpers[THREADS - 1];
    keep_to(argc > 3 ? atoi(argv[3]) : 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (int i = 0; i < THREADS - 1 && threads; i++)
        pthread_create(&helpers[i], NULL, help, &steps);
    for (int step = 0; step < steps; step++) {
        if (threads)
            step_together();
        else if (rank == 0)
            compute(0.05);
        if (threads)
            MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    for (int i = 0; i < THREADS - 1 && threads; i++)
        pthread_join(helpers[i], NULL);
    return 0;
}
