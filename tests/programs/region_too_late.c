/* A thread of rank 0 that visits its first region, and calls MPI for the first time, while rank 0
 * waits in MPI_Finalize for rank 1, which comes when that thread has made a file: region_too_late
 * file. */
#include <mpi.h>
#include <pthread.h>
#include <refrain/region.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { LONG_ENOUGH = 500000, LOOK_EVERY = 10000, LOOKS = 3000 }; /* microseconds */

static atomic_int ending;

static void *come_late(void *file)
{
    int flag;
    while (!ending)
        usleep(1000);
    usleep(LONG_ENOUGH);
    refrain_region_begin("late");
    MPI_Initialized(&flag);
    refrain_region_end("late");
    FILE *out = fopen(file, "w");
    return out && fclose(out) == 0 ? file : NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    pthread_t thread;
    void *file = argv[argc - 1];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && pthread_create(&thread, NULL, come_late, file) != 0)
        return 1;
    for (int i = 0; rank == 1 && access(file, F_OK) != 0 && i < LOOKS; i++)
        usleep(LOOK_EVERY);
    ending = 1;
    MPI_Finalize();
    if (rank == 0)
        pthread_join(thread, &file);
    return file ? 0 : 1;
}
