/* A rank, or all ranks of a host, slower in all they compute, or not quite in all. */
#include "stories.h"

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

/* Both neighbours on a ring get what this rank has, and it what they have. */
WORK void smooth(double length)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, word;
    work(length);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &word, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(&rank, 1, MPI_INT, left, 1, &word, 1, MPI_INT, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* What rank 0 decides, all get. */
WORK void decide(double length)
{
    int decision = 0;
    work(length);
    MPI_Bcast(&decision, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void three_times(double a, double b, double c)
{
    for (int i = 0; i < steps; i++) {
        assemble(a);
        solve(b);
        write_out(c);
    }
}

/* Rank 5 takes so many times as long in three functions of 10, 6 and 4. */
static void rank_5(double a, double b, double c)
{
    three_times(10 * (rank == 5 ? a : 1), 6 * (rank == 5 ? b : 1), 4 * (rank == 5 ? c : 1));
}

static void slow_rank(void)
{
    rank_5(1.6, 1.6, 1.6);
}

static void slow_function(void)
{
    rank_5(1.6, 1, 1);
}

static void hardly_slow(void)
{
    double factor = rank == 5 ? 1.08 : 1;
    three_times(40 * factor, 6 * factor, 5 * factor);
}

static void factors_apart(void)
{
    rank_5(1.2, 1.7, 1.2);
}

/* Slow in two, and so much faster in the third that it takes no longer altogether. */
static void slow_and_fast(void)
{
    rank_5(1.3, 1.3, 0.1);
}

static void slow_in_turns(void)
{
    three_times(rank == 1 ? 16 : 10, rank == 2 ? 16 : 10, rank == 3 ? 16 : 10);
}

static void slow_neighbour(void)
{
    for (int i = 0; i < steps; i++) {
        smooth(rank == 2 ? 13 : 10);
        solve(rank == 2 ? 13 : 10);
    }
}

/* The root is slow, by 1.2 and by 1.4. */
static void slow_root(void)
{
    for (int i = 0; i < steps; i++) {
        decide(rank == 0 ? 12 : 10);
        write_out(rank == 0 ? 14 : 10);
    }
}

/* Of ranks that take equally long another one is the last one in each step. */
static void hosts(double a, double b)
{
    for (int i = 0; i < steps; i++) {
        double last = 0.01 * ((rank ^ i) % size);
        assemble(10 * a + last);
        solve(6 * b + last);
    }
}

static int on_node_1(void)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1];
    int length;
    MPI_Get_processor_name(name, &length);
    return strcmp(name, "node-1") == 0;
}

static void slow_host(void)
{
    double factor = on_node_1() ? 1.5 : 1;
    hosts(factor, factor);
}

/* The same rank is always the last one. */
static void slow_host_in_order(void)
{
    double factor = (on_node_1() ? 1.5 : 1) + 0.001 * rank;
    three_times(10 * factor, 6 * factor, 4 * factor);
}

/* But for its last rank. */
static void most_of_host(void)
{
    double factor = on_node_1() && rank < size - 1 ? 1.5 : 1;
    hosts(factor, factor);
}

/* And rank 0, which is on another one. */
static void more_than_host(void)
{
    double factor = on_node_1() || rank == 0 ? 1.5 : 1;
    hosts(factor, factor);
}

static void host_in_one_function(void)
{
    hosts(on_node_1() ? 1.5 : 1, 1);
}

int main(int argc, char **argv)
{
    const struct program programs[] = {{"slow_rank", slow_rank},
                                       {"slow_function", slow_function},
                                       {"hardly_slow", hardly_slow},
                                       {"factors_apart", factors_apart},
                                       {"slow_and_fast", slow_and_fast},
                                       {"slow_in_turns", slow_in_turns},
                                       {"slow_neighbour", slow_neighbour},
                                       {"slow_root", slow_root},
                                       {"slow_host", slow_host},
                                       {"slow_host_in_order", slow_host_in_order},
                                       {"most_of_host", most_of_host},
                                       {"more_than_host", more_than_host},
                                       {"host_in_one_function", host_in_one_function},
                                       {NULL, NULL}};
    return run_program(argc, argv, programs);
}
