/* Requests that one thread starts and another one completes: they are told by the thread that made
 * them and their number there. ranks: 2 */
#include "expect.h"

#include <pthread.h>

enum { ROUNDS = 50, EACH = 4, PIPED = 400, ROOM = 16 };

static int rank, other;
static int in[2 * EACH], out[2 * EACH];
static MPI_Request requests[2 * EACH], persistent;
static int turn; /* 0: the first thread, 1: the second */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void wait_for_turn(int mine)
{
    pthread_mutex_lock(&lock);
    while (turn != mine)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void give_turn(int to)
{
    pthread_mutex_lock(&lock);
    turn = to;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

/* "foreign:0.12,foreign:0.13,...": n requests of a thread, from number first on. */
static const char *foreign(int thread, int first, int n)
{
    static _Thread_local char text[512];
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(text + at, "%sforeign:%d.%d", i ? "," : "", thread, first + i);
    return text;
}

/* Receives that the first thread posts while the second one completes those before. */
static MPI_Request pipe_requests[ROOM];
static int pipe_data[ROOM], posted, completed;

static void post(void)
{
    for (int i = 0; i < PIPED; i++) {
        pthread_mutex_lock(&lock);
        while (posted - completed == ROOM)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        CALL(MPI_Irecv(&pipe_data[i % ROOM], 1, MPI_INT, other, 60, MPI_COMM_WORLD,
                       &pipe_requests[i % ROOM]),
             "source=%d tag=60", other);
        CALL(MPI_Send(&i, 1, MPI_INT, other, 60, MPI_COMM_WORLD), "dest=%d tag=60 bytes=4", other);
        pthread_mutex_lock(&lock);
        posted++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

static void complete(void)
{
    for (int i = 0; i < PIPED; i++) {
        pthread_mutex_lock(&lock);
        while (posted == completed)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        CALL(MPI_Wait(&pipe_requests[i % ROOM], MPI_STATUS_IGNORE),
             "request=foreign:0.%d source=%d tag=60 bytes=4", 2 * EACH * ROUNDS + i, other);
        pthread_mutex_lock(&lock);
        completed++;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
}

/* Completes what the first thread has made, one by one and all at once, and makes some itself. */
static void *second(void *argument)
{
    int flag;
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int first = 2 * EACH * i;
        wait_for_turn(1);
        CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE),
             "request=foreign:0.%d source=%d tag=0 bytes=4", first, other);
        POLL(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE), flag, "request=*",
             "request=foreign:0.%d source=%d tag=1 bytes=8", first + 1, other);
        CALL(MPI_Waitall(2 * EACH - 2, requests + 2, MPI_STATUSES_IGNORE), "array_of_requests=[%s]",
             foreign(0, first + 2, 2 * EACH - 2));
        CALL(MPI_Wait(&persistent, MPI_STATUS_IGNORE), "request=slot:0");
        CALL(MPI_Irecv(in, 1, MPI_INT, other, 50, MPI_COMM_WORLD, &requests[0]), "tag=50");
        CALL(MPI_Isend(out, 1, MPI_INT, other, 50, MPI_COMM_WORLD, &requests[1]), "tag=50");
        give_turn(0);
    }
    complete();
    expect_thread_end(rank, 1);
    return NULL;
}

/* Makes requests, and completes those of the second thread. */
static void first(void)
{
    CALL(MPI_Send_init(out, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &persistent),
         "request=slot:0");
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < EACH; k++)
            CALL(MPI_Irecv(in + k, k + 1, MPI_INT, MPI_ANY_SOURCE, k, MPI_COMM_WORLD, &requests[k]),
                 "source=ANY_SOURCE tag=%d", k);
        for (int k = 0; k < EACH; k++)
            CALL(MPI_Isend(out, k + 1, MPI_INT, other, k, MPI_COMM_WORLD, &requests[EACH + k]),
                 "dest=%d tag=%d bytes=%d", other, k, 4 * (k + 1));
        CALL(MPI_Start(&persistent), "request=slot:0");
        give_turn(1);
        wait_for_turn(0);
        CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE),
             "array_of_requests=[%s] completed=[0(source=%d,tag=50,bytes=4),1] bytes=4",
             foreign(1, 2 * i, 2), other);
    }
    CALL(MPI_Request_free(&persistent), "request=slot:0");
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "provided=%d",
         MPI_THREAD_MULTIPLE);
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    if (pthread_create(&thread, NULL, second, NULL) != 0)
        abort();
    first();
    post();
    pthread_join(thread, NULL);
    return expect_finalize(rank);
}
