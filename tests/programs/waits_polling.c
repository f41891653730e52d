/* Waiting that a program makes itself: rank 0 polls for three messages, which rank 1 sends one step
 * late. Argument: one request after the other (0), by turns at one line (1) or at three (2), probes
 * at three lines (3), Testany (4), Testsome (5), by turns over all, also those that are over (6).
 * ranks: 2 */
#include "steps.h"

#include <stdlib.h>

enum { ROUNDS = 6, N = 3, PAUSE_MICROSECONDS = 50 };

static int data[N], flags[N], left;
static MPI_Request requests[N];

static void pause_a_little(void)
{
    usleep(PAUSE_MICROSECONDS);
}

static void test(int i)
{
    if (flags[i])
        return;
    MPI_Test(&requests[i], &flags[i], MPI_STATUS_IGNORE);
    left -= flags[i];
}

static void one_by_one(void)
{
    for (int i = 0; i < N; i++) {
        for (test(i); !flags[i]; test(i))
            pause_a_little();
    }
}

static void by_turns(void)
{
    for (; left; pause_a_little()) {
        for (int i = 0; i < N; i++)
            test(i);
    }
}

static void at_three_lines(void)
{
    for (; left; pause_a_little()) {
        if (!flags[0])
            MPI_Test(&requests[0], &flags[0], MPI_STATUS_IGNORE);
        if (!flags[1])
            MPI_Test(&requests[1], &flags[1], MPI_STATUS_IGNORE);
        if (!flags[2])
            MPI_Test(&requests[2], &flags[2], MPI_STATUS_IGNORE);
        left = N - flags[0] - flags[1] - flags[2];
    }
}

static void receive(int there, int tag)
{
    if (!there)
        return;
    MPI_Recv(&data[tag], 1, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    left--;
}

static void probe(void)
{
    int there;
    for (; left; pause_a_little()) {
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        receive(there, 0);
        MPI_Iprobe(1, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        receive(there, 1);
        MPI_Iprobe(1, 2, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        receive(there, 2);
    }
}

static void test_any(void)
{
    int index, there;
    for (; left; left -= there) {
        pause_a_little();
        MPI_Testany(N, requests, &index, &there, MPI_STATUS_IGNORE);
    }
}

static void test_some(void)
{
    int indices[N], n;
    for (; left; left -= n) {
        pause_a_little();
        MPI_Testsome(N, requests, &n, indices, MPI_STATUSES_IGNORE);
    }
}

static void over_all(void)
{
    for (left = N; left; pause_a_little()) {
        left = N;
        for (int i = 0; i < N; i++) {
            MPI_Test(&requests[i], &flags[i], MPI_STATUS_IGNORE);
            left -= flags[i];
        }
    }
}

int main(int argc, char **argv)
{
    void (*const poll[])(void) = {one_by_one, by_turns,  at_three_lines, probe,
                                  test_any,   test_some, over_all};
    int rank, kind = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            steps(1);
            for (int i = 0; i < N; i++) {
                MPI_Send(&round, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
                steps(kind == 6); /* while others are over */
            }
            continue;
        }
        left = N;
        for (int i = 0; i < N; i++) {
            flags[i] = 0;
            if (kind != 3)
                MPI_Irecv(&data[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        }
        poll[kind]();
    }
    MPI_Finalize();
    return 0;
}
