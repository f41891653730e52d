/* One thread posts, another one completes: each rank receives from the other with wildcards, ROUNDS
 * times EACH messages; what a round sends comes one step after its receives were posted. Meanwhile
 * a third thread exchanges messages on its own. Rank 1 waits for rank 0, which is late. ranks: 2 */
#include "steps.h"

#include <pthread.h>

enum { ROUNDS = 5, EACH = 4, ALONE = 20 };

static int rank, other, in[EACH], out;
static MPI_Request requests[EACH], persistent;
static MPI_Comm apart;
static pthread_barrier_t posted, done;

static void *complete(void *unused)
{
    int index;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&posted);
        for (int k = 0; k < EACH / 2; k++)
            MPI_Waitany(EACH, requests, &index, MPI_STATUS_IGNORE);
        MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE);
        MPI_Start(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        pthread_barrier_wait(&done);
    }
    return unused;
}

static void *exchange(void *unused)
{
    int value = 0, got;
    for (int i = 0; i < ALONE; i++)
        MPI_Sendrecv(&value, 1, MPI_INT, other, 9, &got, 1, MPI_INT, MPI_ANY_SOURCE, 9, apart,
                     MPI_STATUS_IGNORE);
    return unused;
}

/* Makes the receives that the second thread completes, and a persistent one that it starts. */
static void post(void)
{
    MPI_Recv_init(&in[0], 1, MPI_INT, other, 50, MPI_COMM_WORLD, &persistent);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < EACH; k++)
            MPI_Irecv(&in[k], 1, MPI_INT, k % 2 ? MPI_ANY_SOURCE : other, k, MPI_COMM_WORLD,
                      &requests[k]);
        pthread_barrier_wait(&posted);
        if (rank == 0)
            steps(1);
        for (int k = EACH - 1; k >= 0; k--)
            MPI_Send(&out, 1, MPI_INT, other, k, MPI_COMM_WORLD);
        MPI_Send(&out, 1, MPI_INT, other, 50, MPI_COMM_WORLD);
        pthread_barrier_wait(&done);
    }
    MPI_Request_free(&persistent);
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    other = 1 - rank;
    pthread_barrier_init(&posted, NULL, 2);
    pthread_barrier_init(&done, NULL, 2);
    pthread_create(&threads[0], NULL, complete, NULL);
    pthread_create(&threads[1], NULL, exchange, NULL);
    post();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
