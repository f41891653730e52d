/* Regions and marks of threads that never call MPI, at the same time. ranks: 2 */
#include "expect.h"

#include <pthread.h>
#include <refrain/region.h>

#define BEGIN(name) CALL(refrain_region_begin(name), "name=%s", name)
#define END(name)   CALL(refrain_region_end(name), "name=%s", name)

enum { THREADS = 3, ROUNDS = 500 };

static int rank;
static int turn = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Threads are numbered in the order of their first events. */
static void first_event(int thread)
{
    pthread_mutex_lock(&lock);
    while (turn != thread)
        pthread_cond_wait(&changed, &lock);
    BEGIN("thread");
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
    int thread = *(int *)argument;
    char own[32];
    snprintf(own, sizeof own, "of-%d", thread);
    first_event(thread);
    for (int i = 0; i < ROUNDS; i++) {
        BEGIN("shared");
        CALL(refrain_segment_begin(own), "name=%s", own);
        BEGIN(own);
        CALL(refrain_segment_end(), "!name");
        END(own);
        END("shared");
    }
    if (thread > 1)
        END("thread"); /* the first leaves it open */
    expect_thread_end(rank, thread);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "required=%d",
         MPI_THREAD_FUNNELED);
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
            abort();
    }
    BEGIN("main");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    END("main");
    return expect_finalize(rank);
}
