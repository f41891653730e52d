/* Loops whose structure is known.
 *
 *     loops WHAT STEPS
 *
 * Between MPI_Init and MPI_Finalize is nothing but the loop of WHAT, made STEPS times.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static int rank, size;
static int data[ROOM], more[ROOM];

static void barriers(int steps)
{
    for (int i = 0; i < steps; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* Two calls of one function from one place are one symbol, of two places two. */
static void two_places(int steps)
{
    for (int i = 0; i < steps; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void nested(int steps)
{
    for (int i = 0; i < steps; i++) {
        for (int j = 0; j < 20; j++) {
            for (int k = 0; k < 3; k++)
                MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
            MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* An inner loop whose length is another one each time. */
static void elastic(int steps)
{
    for (int i = 0; i < steps; i++) {
        for (int j = 0; j < 2 + i * 7 % 11; j++)
            MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Allreduce(data, more, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* A closed ring: all ranks alike. */
static void ring(int steps)
{
    for (int i = 0; i < steps; i++)
        MPI_Sendrecv(data, 4, MPI_INT, (rank + 1) % size, 1, more, 4, MPI_INT,
                     (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* An open ring, calls guarded by conditions: first, last, and those between. */
static void open_ring(int steps)
{
    for (int i = 0; i < steps; i++) {
        if (rank > 0)
            MPI_Recv(data, 4, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank < size - 1)
            MPI_Send(data, 4, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    }
}

/* Every count is another one, and so is every tag. */
static void changing(int steps)
{
    for (int i = 0; i < steps; i++) {
        int other = rank ^ 1;
        MPI_Bcast(data, 1 + i * 37 % 1009, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Sendrecv(data, 1 + i, MPI_INT, other, i, more, 1 + i, MPI_INT, other, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

/* Counts that are others on each rank, as arrays. */
static void changing_arrays(int steps)
{
    int counts[64], places[64];
    for (int i = 0; i < steps; i++) {
        for (int r = 0; r < size; r++) {
            counts[r] = 1 + (i + 3 * r) % 200;
            places[r] = 256 * r;
        }
        MPI_Allgatherv(data, counts[rank], MPI_INT, more, counts, places, MPI_INT, MPI_COMM_WORLD);
    }
}

/* Rank 0 takes from anybody. */
/* One exchange, reached in two ways, in turn: call paths that differ only in the middle. Each
 * function has something to do after its call, so that its frame is really there. */
__attribute__((noinline)) static void exchange_ghosts(void)
{
    ring(1);
    more[1]++;
}

__attribute__((noinline)) static void baroclinic(void)
{
    exchange_ghosts();
    more[2]++;
}

__attribute__((noinline)) static void tracers(void)
{
    exchange_ghosts();
    more[3]++;
}

__attribute__((noinline)) static void barotropic(void)
{
    tracers();
    more[4]++;
}

static void middle(int steps)
{
    for (int i = 0; i < steps; i++) {
        if ((rank + i) % 2 == 0)
            baroclinic();
        else
            barotropic();
    }
}

static void workers(int steps)
{
    MPI_Status status;
    if (rank == 0) {
        for (int i = 0; i < steps * (size - 1); i++) {
            MPI_Recv(data, 4, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
            MPI_Send(data, 4, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
        }
        return;
    }
    for (int i = 0; i < steps; i++) {
        MPI_Send(data, 4, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(data, 4, MPI_INT, 0, 2, MPI_COMM_WORLD, &status);
    }
}

static const struct {
    const char *name;
    void (*run)(int steps);
} loops[] = {
    {"barriers", barriers}, {"two-places", two_places},
    {"nested", nested},     {"elastic", elastic},
    {"ring", ring},         {"open-ring", open_ring},
    {"changing", changing}, {"changing-arrays", changing_arrays},
    {"workers", workers},   {"middle", middle},
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        if (strcmp(argv[1], loops[i].name) == 0)
            loops[i].run(atoi(argv[2]));
    }
    MPI_Finalize();
    return 0;
}
