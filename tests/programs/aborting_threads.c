/* aborting_threads.c - threads of rank 1 that do the same, one after the other; then it aborts, so
 * that it leaves an archive of its own.
 */
#include <mpi.h>
#include <pthread.h>

enum { THREADS = 8, CALLS = 20 };

static char data[128];

static void *send(void *argument)
{
    int thread = *(int *)argument;
    for (int i = 0; i < CALLS; i++) {
        int n = (thread * 7 + i * i * 5) % 61 + 1;
        MPI_Sendrecv(data, n, MPI_CHAR, 0, 100 + n, data + 64, 64, MPI_CHAR, 0, 100 + n,
                     MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (i % 3 == 0)
            MPI_Bcast(data, n * thread % 50, MPI_CHAR, 0, MPI_COMM_SELF);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS && rank == 1; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, send, &i);
        pthread_join(thread, NULL);
    }
    if (rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
