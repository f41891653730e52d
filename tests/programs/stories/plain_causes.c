/* One piece of work that others wait for, and hardly any waiting at all. */
#include "stories.h"

/* Rank 2 works before it broadcasts. */
static void late_root(void)
{
    int word = 0;
    for (int i = 0; i < steps; i++) {
        work(rank == 2 ? 9 : 6);
        MPI_Bcast(&word, 1, MPI_INT, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* What rank 0 has for all, it makes alone; so it does before the first step. */
WORK void make_input(double length)
{
    work(length);
}

static void serial_part(void)
{
    int word, words[64] = {0};
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) {
        if (rank == 0)
            make_input(3);
        MPI_Scatter(words, 1, MPI_INT, &word, 1, MPI_INT, 0, MPI_COMM_WORLD);
        work(5);
        MPI_Gather(&word, 1, MPI_INT, words, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

/* The root waits for rank 1's part of the sum. */
static void late_part(void)
{
    int sum;
    for (int i = 0; i < steps; i++) {
        work(rank == 1 ? 9 : 6);
        MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 3 computes before it takes what rank 0 sends. */
static void late_receiver(void)
{
    for (int i = 0; i < steps; i++) {
        if (rank == 0)
            MPI_Ssend(&rank, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
        else
            work(rank == 3 ? 4 : 2);
        if (rank == 3)
            receive_from(0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* All wait as long as they compute, but for nobody. */
static void balanced(void)
{
    for (int i = 0; i < steps; i++) {
        int word;
        work(6);
        MPI_Allreduce(&rank, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Rank 1 has more to do before the end, where others wait for it in MPI_Finalize. */
static void late_to_end(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    work(rank == 1 ? 60 : 20);
}

/* 0.4 % of all time: a fifth less than a trifle. */
static void trifle(void)
{
    for (int i = 0; i < steps; i++) {
        work(rank == 1 ? 10.054 : 10);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {{"late_root", late_root}, {"serial_part", serial_part},
                                       {"late_part", late_part}, {"late_receiver", late_receiver},
                                       {"balanced", balanced},   {"late_to_end", late_to_end},
                                       {"trifle", trifle},       {NULL, NULL}};
    return run_program(argc, argv, programs);
}
