/* What the programs of tests/test_stories.py share. Each file holds several, slow in one way each:
 *
 *     FILE NAME STEPS
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

static int send_to(int dest)
{
    return MPI_Send(&rank, 1, MPI_INT, dest, 0, MPI_COMM_WORLD);
}

static int receive_from(int source)
{
    int word;
    return MPI_Recv(&word, 1, MPI_INT, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The same numbers as in test_stories.py. */
static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 16;
}

struct program {
    const char *name;
    void (*run)(void);
};

/* Programs end with one without a name. All begin at once, after the same call. */
static int run_program(int argc, char **argv, const struct program *programs)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = argc > 2 ? atoi(argv[2]) : 10;
    for (; programs->name && strcmp(programs->name, argc > 1 ? argv[1] : ""); programs++)
        continue;
    if (programs->name)
        programs->run();
    else
        fprintf(stderr, "%s: no such program\n", argv[0]);
    return MPI_Finalize();
}
