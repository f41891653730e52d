/* Calls that may be left out among those that may not. Rank 0 polls for what rank 1 sends a step
 * later, with a probe for something else in between. Each rank says how many calls it made, and how
 * many polls were in vain. ranks: 2 */
#include "steps.h"

#include <refrain/region.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ROUNDS = 6,
    ASKED = 3,
    LATE = 7,
    NEVER = 8,
    SIZES = 9,
    MOST = 1024,
    PAUSE_MICROSECONDS = 50
};

static int rank, other;
static long asked, probes, tests;
static int out[MOST], in[MOST];

static __attribute__((noinline)) void ask(void)
{
    int answer;
    for (int i = 0; i < ASKED; i++, asked++)
        MPI_Comm_rank(MPI_COMM_WORLD, &answer);
}

static __attribute__((noinline)) void describe(void)
{
    MPI_Datatype pair;
    int bytes;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_size(pair, &bytes);
    MPI_Sendrecv(out, 1, pair, other, 1, in, 1, pair, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&pair);
}

static __attribute__((noinline)) void poll(void)
{
    MPI_Request request;
    int done = 0, found;
    MPI_Irecv(in, 1, MPI_INT, other, LATE, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Iprobe(other, NEVER, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        probes++;
        tests += !done;
        usleep(PAUSE_MICROSECONDS);
    }
}

static __attribute__((noinline)) void be_late(void)
{
    steps(1);
    MPI_Send(out, 1, MPI_INT, other, LATE, MPI_COMM_WORLD);
}

static void rounds(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        refrain_segment_begin("round");
        ask();
        describe();
        if (rank == 0)
            poll();
        else
            be_late();
        int answer;
        MPI_Comm_size(MPI_COMM_WORLD, &answer);
        MPI_Barrier(MPI_COMM_WORLD);
        if (i == 3)
            MPI_Pcontrol(3);
        refrain_segment_end();
    }
}

/* So many messages of sizes without a pattern. */
static void send_many(int n)
{
    unsigned state = 1;
    for (int i = 0; i < n; i++) {
        state = state * 1103515245u + 12345u;
        const int count = (int)(state >> 16) % MOST;
        MPI_Sendrecv(out, count, MPI_INT, other, SIZES, in, count, MPI_INT, other, SIZES,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    if (argc > 1)
        send_many(atoi(argv[1]));
    else
        rounds();
    MPI_Finalize();
    printf("%d %ld %ld %ld\n", rank, asked, probes, tests);
    return 0;
}
