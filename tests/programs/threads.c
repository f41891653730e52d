/* Three threads per process besides the first, exchanging messages at the same time. ranks: 2 */
#include "expect.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 200 };

static int rank, other;
static int turn = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Threads are numbered in the order of their first calls: one after the other makes its own. */
static void first_call(int thread)
{
    int flag;
    pthread_mutex_lock(&lock);
    while (turn != thread)
        pthread_cond_wait(&changed, &lock);
    CALL(MPI_Is_thread_main(&flag), "flag=0");
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* Blocking and nonblocking messages with the thread of the same number. */
static void *exchange(void *argument)
{
    int thread = *(int *)argument, in[THREADS + ROUNDS], out[THREADS + ROUNDS] = {0};
    MPI_Request requests[2];
    first_call(thread);
    for (int i = 1; i <= ROUNDS; i++) {
        CALL(MPI_Irecv(in, THREADS + ROUNDS, MPI_INT, MPI_ANY_SOURCE, thread, MPI_COMM_WORLD,
                       &requests[0]),
             "source=ANY_SOURCE tag=%d", thread);
        CALL(MPI_Isend(out, i, MPI_INT, other, thread, MPI_COMM_WORLD, &requests[1]),
             "count=%d dest=%d tag=%d bytes=%d", i, other, thread, 4 * i);
        CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE),
             "array_of_requests=[recent:2,recent:1] completed=[0(source=%d,tag=%d,bytes=%d),1]",
             other, thread, 4 * i);
        CALL(MPI_Sendrecv(out, thread, MPI_INT, other, 100 + thread, in, ROUNDS, MPI_INT, other,
                          100 + thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "dest=%d sendtag=%d source=%d bytes=%d sent_bytes=%d", other, 100 + thread, other,
             4 * thread, 4 * thread);
    }
    expect_thread_end(rank, thread);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "required=%d provided=%d",
         MPI_THREAD_MULTIPLE, MPI_THREAD_MULTIPLE);
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, exchange, &numbers[i]) != 0)
            abort();
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return expect_finalize(rank);
}
