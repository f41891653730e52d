/* Threads that make and free datatypes, communicators, groups and infos at the same time: MPI gives
 * the handles that one frees to the others. ranks: 2 */
#include "expect.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 300, COMMS = 20 };

static int rank, other;
static int turn = 1;
static MPI_Comm own[THREADS + 1];
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

/* Each round a type of another size: one taken for another would show. */
static void types(int thread)
{
    static int room[8192];
    for (int i = 1; i <= ROUNDS; i++) {
        MPI_Datatype type;
        int n = 10 * i + thread;
        CALL(MPI_Type_contiguous(n, MPI_INT, &type), "count=%d newtype=contiguous(%d,MPI_INT)", n,
             n);
        CALL(MPI_Type_commit(&type), "datatype=contiguous(%d,MPI_INT)", n);
        CALL(MPI_Send(room, 1, type, MPI_PROC_NULL, thread, own[thread]),
             "datatype=contiguous(%d,MPI_INT) tag=%d comm=@own%d", n, thread, thread);
        CALL(MPI_Type_free(&type), "datatype=contiguous(%d,MPI_INT)", n);
    }
}

/* Slots are those of the process: which one a thread gets depends on the others. */
static void groups(int thread)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Group group, part;
        MPI_Info info;
        CALL(MPI_Comm_group(own[thread], &group), "comm=@own%d group=*", thread);
        CALL(MPI_Group_incl(group, 1, &rank, &part), "ranks=[%d] newgroup=*", rank);
        CALL(MPI_Info_create(&info), "info=*");
        CALL(MPI_Info_free(&info), "info=*");
        CALL(MPI_Group_free(&part), "group=*");
        CALL(MPI_Group_free(&group), "group=*");
    }
}

static void communicators(int thread)
{
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm dup;
        int data = 0;
        CALL(MPI_Comm_dup(own[thread], &dup), "comm=@own%d newcomm=@dup%d.%d", thread, thread, i);
        CALL(MPI_Sendrecv(&data, 1, MPI_INT, other, 1, &data, 1, MPI_INT, other, 1, dup,
                          MPI_STATUS_IGNORE),
             "dest=%d comm=@dup%d.%d bytes=4", other, thread, i);
        CALL(MPI_Comm_free(&dup), "comm=@dup%d.%d", thread, i);
    }
}

static void *work(void *argument)
{
    int thread = *(int *)argument;
    first_call(thread);
    types(thread);
    groups(thread);
    communicators(thread);
    expect_thread_end(rank, thread);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, numbers[THREADS];
    pthread_t threads[THREADS];
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "provided=%d",
         MPI_THREAD_MULTIPLE);
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    for (int i = 1; i <= THREADS; i++)
        CALL(MPI_Comm_dup(MPI_COMM_WORLD, &own[i]), "comm=world newcomm=@own%d", i);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i <= THREADS; i++)
        CALL(MPI_Comm_free(&own[i]), "comm=@own%d", i);
    return expect_finalize(rank);
}
