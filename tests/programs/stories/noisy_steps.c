/* Ranks that are late now and then, or one of them more often. */
#include "stories.h"

WORK void solve(double length)
{
    int sum;
    work(length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

WORK void advance(double length)
{
    work(length);
    MPI_Barrier(MPI_COMM_WORLD);
}

WORK void transpose(double length)
{
    int to[64] = {0}, from[64];
    work(length);
    MPI_Alltoall(to, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
}

/* In each step one rank at random takes 20, of these. */
static void one_of(int ranks, double otherwise)
{
    unsigned state = 1;
    for (int i = 0; i < steps; i++) {
        int late = (int)(next_random(&state) % (unsigned)ranks);
        solve(rank == late ? 20 : otherwise);
    }
}

static void late_at_random(void)
{
    one_of(size, 15);
}

static void same_rank(void)
{
    one_of(1, 15);
}

static void three_ranks(void)
{
    one_of(3, 15);
}

/* The others have nearly nothing to do. */
static void one_works(void)
{
    one_of(size, 1);
}

/* From 10 to 14, each rank and step. */
static void any_length(void)
{
    unsigned state = 1;
    for (int i = 0; i < steps; i++) {
        double own = 0;
        for (int k = 0; k < size; k++) {
            double length = 10 + 0.01 * (next_random(&state) % 400);
            own = k == rank ? length : own;
        }
        advance(own);
    }
}

/* An interruption visits one rank after the other. */
static void goes_round(void)
{
    for (int i = 0; i < steps; i++)
        transpose(i % size == rank ? 10 : 8);
}

/* Every second time it is rank 3. */
static void one_rank_more(void)
{
    for (int i = 0; i < steps; i++) {
        int late = i % 2 ? 3 : i / 2 % size;
        advance(rank == late ? 20 : 15);
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {
        {"late_at_random", late_at_random}, {"same_rank", same_rank},
        {"three_ranks", three_ranks},       {"one_works", one_works},
        {"any_length", any_length},         {"goes_round", goes_round},
        {"one_rank_more", one_rank_more},   {NULL, NULL}};
    return run_program(argc, argv, programs);
}
