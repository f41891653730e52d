/* A pause while another thread visits regions: before it, in it, and after it. */
#include <mpi.h>
#include <pthread.h>
#include <refrain/region.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void visit(const char *name)
{
    refrain_region_begin(name);
    refrain_region_end(name);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
}

static void *work(void *nothing)
{
    visit("before");
    visit("meanwhile");
    refrain_region_begin("after");
    refrain_region_end("after");
    return nothing;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_barrier_wait(&barrier);
    MPI_Pcontrol(0);
    pthread_barrier_wait(&barrier);
    usleep(20000);
    pthread_barrier_wait(&barrier);
    MPI_Pcontrol(1);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
