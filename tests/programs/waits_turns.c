/* Two threads of rank 0 send by turns, all of them messages of one channel, one step apart: rank 1
 * gets them in the order in which they were sent, whichever thread sent them, and waits for each. A
 * thread of rank 1 that is idle for long sends the answer. ranks: 2 */
#include "steps.h"

#include <pthread.h>

enum { EACH = 4, TAG = 5 };

static int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Turns mine, mine + 2, ... */
static void *send(void *mine)
{
    int value = 0;
    for (int i = 0; i < EACH; i++) {
        pthread_mutex_lock(&lock);
        while (turn != *(int *)mine + 2 * i)
            pthread_cond_wait(&changed, &lock);
        steps(1);
        MPI_Send(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        turn++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *answer(void *request)
{
    int value = 0;
    MPI_Wait(request, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    return NULL;
}

static void send_all(void)
{
    int value, first = 0, second = 1;
    pthread_t thread;
    pthread_create(&thread, NULL, send, &second);
    send(&first);
    pthread_join(thread, NULL);
    MPI_Recv(&value, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The last message is for the other thread, by a request that this one has made. */
static void receive_all(void)
{
    int value, last;
    pthread_t thread;
    MPI_Request request;
    for (int i = 0; i < 2 * EACH - 1; i++)
        MPI_Recv(&value, 1, MPI_INT, i % 2 ? 0 : MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Irecv(&last, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    pthread_create(&thread, NULL, answer, &request);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        send_all();
    else
        receive_all();
    MPI_Finalize();
    return 0;
}
