/* Ways to hang, each with one fault (test_hang.py says what is to be found).
 *
 *     hangs HOW
 *
 * Ranks work in rounds before: these messages and collective calls are right; rank
 * 0 says when all have done that.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;
static char large[1 << 22], more[1 << 22];
static MPI_Comm other;

static void rounds(void)
{
    int in, sum;
    for (int i = 0; i < 20; i++) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT,
                     (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(other);
    }
}

static void work_forever(void)
{
    for (;;)
        usleep(100000);
}

/* Each waits for the one before. */
static void receive_cycle(void)
{
    int in;
    MPI_Recv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&in, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD);
}

/* Neighbours send to each other first; the messages are too large to be sent ahead. */
static void send_cycle(void)
{
    MPI_Send(large, sizeof large, MPI_CHAR, rank ^ 1, 5, MPI_COMM_WORLD);
    MPI_Recv(more, sizeof more, MPI_CHAR, rank ^ 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 sends tag 8, where rank 1 expects 7. */
static void wrong_tag(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Send(&data, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 sends on a duplicate of the communicator. */
static void wrong_comm(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Send(&data, 1, MPI_INT, 1, 7, other);
    else if (rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 expects from rank 2 what rank 0 sends. */
static void wrong_source(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Send(&data, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 2, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank computes for ever. */
static void late_rank(void)
{
    if (rank == 2)
        work_forever();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank broadcasts from another root. */
static void wrong_root(void)
{
    MPI_Bcast(large, sizeof large, MPI_CHAR, rank == 3, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank calls another function. */
static void wrong_function(void)
{
    int sum;
    if (rank == 1)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 goes through the communicators the other way round. */
static void wrong_order(void)
{
    MPI_Barrier(rank == 0 ? other : MPI_COMM_WORLD);
    MPI_Barrier(rank == 0 ? MPI_COMM_WORLD : other);
}

/* Rank 1 expects a message of which rank 0 knows nothing. */
static void not_sent(void)
{
    int data;
    if (rank == 1)
        MPI_Recv(&data, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* One of several requests never completes; rank 0 computes for ever. */
static void waitall(void)
{
    int in[2];
    MPI_Request requests[3];
    if (rank == 0)
        work_forever();
    if (rank == 1) {
        MPI_Irecv(&in[0], 1, MPI_INT, 2, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, 0, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&rank, 1, MPI_INT, 2, 4, MPI_COMM_WORLD, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    if (rank == 2) {
        MPI_Send(&rank, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Recv(&in[0], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Workers ask the master, who tests for a message of rank 1 in vain. */
static void polling(void)
{
    int data = 0, done = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(&data, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
        while (!done) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            usleep(1000);
        }
    }
    MPI_Recv(&data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The master waits for any worker, and they for it. */
static void any_source(void)
{
    int data = 0;
    if (rank == 0)
        MPI_Recv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Recv(&data, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static MPI_Win make_window(void)
{
    static int words[4];
    MPI_Win window;
    MPI_Win_create(words, sizeof words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    return window;
}

/* One rank computes for ever while the others are at a fence. */
static void fence(void)
{
    const MPI_Win window = make_window();
    MPI_Win_fence(0, window);
    if (rank == 2)
        work_forever();
    MPI_Win_fence(0, window);
}

static void lock_and_put(MPI_Win window)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
    MPI_Win_flush(2, window);
}

/* Rank 1 waits for rank 0 while it holds the lock that rank 0 wants. */
static void window_lock(void)
{
    const MPI_Win window = make_window();
    int data = 0;
    if (rank == 1) {
        lock_and_put(window);
        MPI_Send(&data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_unlock(2, window);
    }
    if (rank == 0) {
        MPI_Recv(&data, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        lock_and_put(window);
        MPI_Win_unlock(2, window);
        MPI_Send(&data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 exposes its window to rank 1, which does not come. */
static void exposure(void)
{
    const MPI_Win window = make_window();
    const int one = 1;
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &one, &group);
    if (rank == 1)
        work_forever();
    if (rank == 0) {
        MPI_Win_post(group, 0, window);
        MPI_Win_wait(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_File open_file(void)
{
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "hangs.data",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    return file;
}

/* One rank does not come to write to a file together with the others. */
static void collective_write(void)
{
    MPI_File file = open_file();
    if (rank == 2)
        work_forever();
    MPI_File_write_all(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

/* The same by a request. */
static void nonblocking_write(void)
{
    MPI_File file = open_file();
    MPI_Request request;
    if (rank == 2)
        work_forever();
    MPI_File_iwrite_all(file, &rank, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*hang)(void);
    } all[] = {{"receive_cycle", receive_cycle},
               {"send_cycle", send_cycle},
               {"wrong_tag", wrong_tag},
               {"wrong_comm", wrong_comm},
               {"wrong_source", wrong_source},
               {"late_rank", late_rank},
               {"wrong_root", wrong_root},
               {"wrong_function", wrong_function},
               {"wrong_order", wrong_order},
               {"not_sent", not_sent},
               {"waitall", waitall},
               {"polling", polling},
               {"any_source", any_source},
               {"fence", fence},
               {"window_lock", window_lock},
               {"exposure", exposure},
               {"collective_write", collective_write},
               {"nonblocking_write", nonblocking_write}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    rounds();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("the rounds are over");
    fflush(stdout);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(argv[1], all[i].name) == 0)
            all[i].hang();
    }
    MPI_Finalize();
    return 0;
}
