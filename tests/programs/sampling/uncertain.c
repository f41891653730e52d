/* Receives whose messages nobody can tell from the order of calls, each followed by MESSAGES on its
 * channel (same size, ranks 0 to 1):
 *
 *     uncertain cancelled     one is cancelled, and given up
 *     uncertain given-up      one is given up, and takes a message
 *     uncertain partitioned   two partitioned ones of a channel are started in another order than
 *                             the sends: MPI pairs them by their inits
 *     uncertain mixed         partitioned and other messages of one tag: MPI keeps them apart
 *     uncertain threads       two threads post receives, and then the messages are sent
 *     uncertain wildcard      a thread posts one with wildcards behind that of another thread, and
 *                             both get a message */
#include <mpi.h>
#include <pthread.h>
#include <string.h>

enum { TAG = 5, MESSAGES = 20 };

static int rank;
static double values[2];

static void pass_messages(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(values, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(values, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void give_up_receive(int cancelled)
{
    MPI_Request request;
    if (rank == 0)
        return;
    MPI_Irecv(&values[1], 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &request);
    if (cancelled)
        MPI_Cancel(&request);
    MPI_Request_free(&request);
}

static void *post_receives(void *requests)
{
    for (int i = 0; i < MESSAGES / 2; i++)
        MPI_Irecv(values, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, (MPI_Request *)requests + i);
    return NULL;
}

static void receive_by_threads(void)
{
    static MPI_Request requests[MESSAGES];
    pthread_t other;
    if (rank == 1) {
        post_receives(requests);
        pthread_create(&other, NULL, post_receives, &requests[MESSAGES / 2]);
        pthread_join(other, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MESSAGES && rank == 0; i++)
        MPI_Send(values, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
    for (int i = 0; i < MESSAGES && rank == 1; i++) /* also the first thread's are uncertain */
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void *post_wildcard(void *request)
{
    MPI_Irecv(values, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, request);
    return NULL;
}

static void receive_beside_wildcard(void)
{
    MPI_Request requests[2];
    pthread_t other;
    if (rank == 1) {
        MPI_Irecv(&values[1], 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, &requests[0]);
        pthread_create(&other, NULL, post_wildcard, &requests[1]);
        pthread_join(other, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        if (rank == 0)
            MPI_Send(values, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
        else
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
}

#if MPI_VERSION >= 4
static void start_partitioned(void)
{
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++) {
        if (rank == 0)
            MPI_Psend_init(&values[i], 1, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[i]);
        else
            MPI_Precv_init(&values[i], 1, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &requests[i]);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request *request = &requests[rank == 0 ? i : 1 - i];
        MPI_Start(request);
        if (rank == 0)
            MPI_Pready(0, *request);
    }
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void mix_kinds(void)
{
    MPI_Request request;
    double parts[4] = {0};
    if (rank == 0)
        MPI_Psend_init(parts, 2, 2, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(parts, 2, 2, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0) {
            MPI_Send(values, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
            MPI_Start(&request);
            MPI_Pready_range(0, 1, request);
        } else { /* in the other order */
            MPI_Start(&request);
            MPI_Recv(values, 1, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
}
#endif

int main(int argc, char **argv)
{
    const int threads = strcmp(argv[1], "threads") == 0,
              wildcard = strcmp(argv[1], "wildcard") == 0;
    int provided;
    MPI_Init_thread(&argc, &argv, threads || wildcard ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#if MPI_VERSION >= 4
    if (strcmp(argv[1], "partitioned") == 0)
        start_partitioned();
    if (strcmp(argv[1], "mixed") == 0)
        mix_kinds();
#endif
    if (threads) {
        receive_by_threads();
    } else if (wildcard) {
        receive_beside_wildcard();
        pass_messages();
    } else if (strcmp(argv[1], "partitioned") != 0 && strcmp(argv[1], "mixed") != 0) {
        give_up_receive(strcmp(argv[1], "cancelled") == 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0 && strcmp(argv[1], "given-up") == 0)
            MPI_Send(values, 1, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
        pass_messages();
    }
    MPI_Finalize();
    return 0;
}
