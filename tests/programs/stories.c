/* Programs that are slow in one way each, and near misses:
 *
 *     stories NAME STEPS
 *
 * Ranks sleep where they would compute, for tens of milliseconds, beside which messages take no
 * time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK __attribute__((noinline)) static

static int rank, size, steps;

WORK void work(double tens_of_ms)
{
    usleep((useconds_t)(tens_of_ms * 10000));
}

WORK void assemble(double length)
{
    work(length);
    MPI_Barrier(MPI_COMM_WORLD);
}

WORK void solve(double length)
{
    int sum;
    work(length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

WORK void write_out(double length)
{
    work(length);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 5 takes FACTOR times as long in the first N of three functions. */
static void slower(double factor, int n)
{
    for (int i = 0; i < steps; i++) {
        assemble(10 * (rank == 5 && n > 0 ? factor : 1));
        solve(6 * (rank == 5 && n > 1 ? factor : 1));
        write_out(4 * (rank == 5 && n > 2 ? factor : 1));
    }
}

/* The same, but each rank is the slower one in one function. */
static void slower_in_turns(void)
{
    for (int i = 0; i < steps; i++) {
        assemble(rank == 1 ? 16 : 10);
        solve(rank == 2 ? 16 : 10);
        write_out(rank == 3 ? 16 : 10);
    }
}

/* A token goes round: who has it appends to a file. */
WORK void ordered_output(double length)
{
    int token = 0;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    work(length);
    if (rank < size - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

static void token(double length)
{
    for (int i = 0; i < steps; i++) {
        work(5);
        ordered_output(length);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Blocks of a sweep go from rank to rank; ranks work at the same time but at both ends. */
static void pipeline(int blocks)
{
    int block = 0;
    for (int i = 0; i < steps; i++) {
        for (int b = 0; b < blocks; b++) {
            if (rank > 0)
                MPI_Recv(&block, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            work(4);
            if (rank < size - 1)
                MPI_Send(&block, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 hands out tasks; it takes half as long for a result as they for a task. */
static void master(int any)
{
    int task = 0, left = steps * (size - 1), open = 0;
    MPI_Status status = {0};
    if (rank > 0) {
        for (;;) {
            MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (task < 0)
                return;
            work(6);
            MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        }
    }
    for (int i = 1; i < size; i++, open++, left--)
        MPI_Send(&task, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
    for (int next = 1; open > 0; next = next % (size - 1) + 1) {
        MPI_Recv(&task, 1, MPI_INT, any ? MPI_ANY_SOURCE : next, 0, MPI_COMM_WORLD, &status);
        work(3);
        task = left-- > 0 ? 0 : -1;
        open -= task < 0;
        MPI_Send(&task, 1, MPI_INT, any ? status.MPI_SOURCE : next, 0, MPI_COMM_WORLD);
    }
}

/* Each rank sends to the next one before it receives; the last one receives first, after a while.
 */
static void send_chain(int chain)
{
    int word = 0, last = rank == size - 1;
    for (int i = 0; i < steps; i++) {
        if (last)
            work(8);
        if (last && rank > 0)
            MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (!last && (chain || rank == size - 2))
            MPI_Ssend(&word, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        if (!last && rank > 0 && chain)
            MPI_Recv(&word, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Another rank is late in each step: at random, or the same one. */
static void noise(int random)
{
    unsigned state = 1;
    for (int i = 0; i < steps; i++) {
        state = state * 1103515245 + 12345;
        int late = random ? (int)(state >> 16) % size : 2;
        solve(rank == late ? 20 : 15);
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 2 ? atoi(argv[2]) : 10;
    if (strcmp(name, "slow_rank") == 0)
        slower(1.6, 3);
    else if (strcmp(name, "slow_function") == 0)
        slower(1.6, 1);
    else if (strcmp(name, "slow_in_turns") == 0)
        slower_in_turns();
    else if (strcmp(name, "token") == 0)
        token(6);
    else if (strcmp(name, "short_token") == 0)
        token(0.01);
    else if (strcmp(name, "pipeline") == 0)
        pipeline(6);
    else if (strcmp(name, "long_pipeline") == 0)
        pipeline(400);
    else if (strcmp(name, "master") == 0)
        master(1);
    else if (strcmp(name, "fixed_order") == 0)
        master(0);
    else if (strcmp(name, "send_chain") == 0)
        send_chain(1);
    else if (strcmp(name, "one_send") == 0)
        send_chain(0);
    else if (strcmp(name, "noise") == 0)
        noise(1);
    else if (strcmp(name, "same_rank") == 0)
        noise(0);
    else
        fprintf(stderr, "stories: unknown: %s\n", name);
    return MPI_Finalize();
}
