/* A thread that visits regions, with names that are new all the time, while the run ends. */
#include <mpi.h>
#include <pthread.h>
#include <refrain/region.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int begun, over;

static void *work(void *nothing)
{
    char name[32];
    for (int i = 0; !over; i++) {
        snprintf(name, sizeof name, "%d", i / 3);
        refrain_region_begin(name);
        refrain_region_end(name);
        begun = 1;
    }
    return nothing;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    while (!begun)
        ;
    MPI_Finalize();
    over = 1;
    pthread_join(thread, NULL);
    puts("done");
    return 0;
}
