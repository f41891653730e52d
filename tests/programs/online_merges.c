/* Ranks that may merge while they run (--merge-interval): online_merges STEPS [WORDS]. Each step
 * has messages and calls of all ranks on several communicators. Words:
 *
 *   late      call sites, datatypes and communicators that come up after a third of the steps
 *   refused   calls of all ranks that rank 1 makes wrongly first, which the others do not see
 *   zero      calls of nothing, which rank 1 leaves before rank 0 comes (MPI allows neither to rely
 *             on that nor to wait)
 *   empty     calls of a datatype without anything in it, which rank 1 leaves before rank 0 comes
 *             (in Open MPI)
 *   split     half of the ranks make calls of their own between
 *   off       recording is off in the middle third
 *   alone     no calls of all ranks but MPI_Init and MPI_Finalize
 *   polls     rank 0 polls for messages, before and after the calls of all ranks
 *   values    counts that differ in each step, on rank 1 only
 *   abort     rank 1 calls MPI_Abort after half of the steps
 *   memory    rank 1 has no memory for what it records after half of the steps
 *   threads   MPI_THREAD_MULTIPLE, and a second thread that sends to itself
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size, steps;
static MPI_Comm twin, half;
static char **words;

static int has(const char *word)
{
    for (char **at = words; *at; at++) {
        if (strcmp(*at, word) == 0)
            return 1;
    }
    return 0;
}

static void ring(int count)
{
    char out[256] = {0}, in[256];
    MPI_Request request;
    MPI_Irecv(in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, count, MPI_CHAR, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* For what never comes, so that it is known how often. */
static void poll(void)
{
    int flag;
    MPI_Status status;
    for (int i = 0; rank == 0 && i < 3; i++)
        MPI_Iprobe(1, 2, MPI_COMM_WORLD, &flag, &status);
}

/* With an inner loop. */
static void together(int step)
{
    int in[64] = {0}, out[64] = {0};
    for (int i = 0; i < 3; i++)
        MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, i == 1 ? twin : MPI_COMM_WORLD);
    MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (step % 2)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, twin);
}

static void apart(void)
{
    int in = rank, out;
    if (rank % 2) {
        MPI_Barrier(half);
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, half);
    }
    MPI_Barrier(MPI_COMM_SELF);
}

static void refused(void)
{
    int data = 0, sum;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Allreduce(&data, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void zero(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Recv(&data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&data, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Send(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
}

static void empty(void)
{
    int data[64] = {0};
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    if (rank == 0)
        MPI_Recv(data, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Alltoall(data, 1, nothing, data + 32, 1, nothing, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Send(data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
    MPI_Type_free(&nothing);
}

static void late(int step)
{
    static MPI_Comm grid = MPI_COMM_NULL;
    MPI_Datatype pairs;
    int data[128] = {0}, periodic = 1;
    if (step < steps / 3)
        return;
    if (grid == MPI_COMM_NULL)
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &grid);
    MPI_Type_contiguous(2 + step % 3, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    MPI_Sendrecv(data, 1, pairs, (rank + 1) % size, 3, data + 64, 1, pairs,
                 (rank + size - 1) % size, 3, grid, MPI_STATUS_IGNORE);
    MPI_Type_free(&pairs);
    if (step >= 2 * steps / 3)
        MPI_Barrier(grid);
}

/* Each list is another, and stays in memory. */
static void use_up_memory(void)
{
    static int lists[20000], there[20000];
    struct rlimit limit, old;
    long pages = 0;
    MPI_Group world;
    FILE *file = fopen("/proc/self/statm", "r");
    if (rank != 1 || !file || fscanf(file, "%ld", &pages) != 1 || getrlimit(RLIMIT_AS, &old))
        return;
    fclose(file);
    limit = old;
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (2 << 20);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    setrlimit(RLIMIT_AS, &limit);
    for (int n = 1; n <= 20000; n += 19)
        MPI_Group_translate_ranks(world, n, lists, world, there);
    setrlimit(RLIMIT_AS, &old);
    MPI_Group_free(&world);
}

static void *send_to_itself(void *unused)
{
    int in, out = 7;
    for (int i = 0; i < steps; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 4, &in, 1, MPI_INT, 0, 4, MPI_COMM_SELF,
                     MPI_STATUS_IGNORE);
    return unused;
}

static void take_step(int step)
{
    if (has("off") && (step == steps / 3 || step == 2 * steps / 3))
        MPI_Pcontrol(step == 2 * steps / 3);
    ring(has("values") && rank == 1 ? 1 + step % 200 : 8);
    if (has("polls"))
        poll();
    if (has("split"))
        apart();
    if (has("refused"))
        refused();
    if (has("zero"))
        zero();
    if (has("empty"))
        empty();
    if (has("late"))
        late(step);
    if (!has("alone"))
        together(step);
    if (has("polls"))
        poll();
    if (has("abort") && rank == 1 && step == steps / 2)
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (has("memory") && step == steps / 2)
        use_up_memory();
}

int main(int argc, char **argv)
{
    int threads, provided;
    pthread_t thread;
    steps = argc > 1 ? atoi(argv[1]) : 10;
    words = argv + (argc > 1 ? 2 : 1);
    threads = has("threads");
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    if (threads)
        pthread_create(&thread, NULL, send_to_itself, NULL);
    for (int step = 0; step < steps; step++)
        take_step(step);
    if (threads)
        pthread_join(thread, NULL);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
