/* exchange.c - computes and then exchanges, step by step: ranks in a ring give the borders of three
 * fields to both neighbours, one field after the other, and now and then those of coarser grids.
 *
 *     exchange STEPS [MICROSECONDS]
 *
 * The computation is a sleep, so that ranks that share a core compute at the same time. It takes
 * half to one and a half of MICROSECONDS, drawn anew by each rank in each step; between fields it
 * takes a twentieth of that. A rank that is done early sends its first messages long before its
 * neighbours receive them; the next ones lie less long. A timer picks the first send after a
 * computation (Vetter 2001, 4.6).
 *
 * The coarser a grid, the shorter and rarer its messages: of grid g every 4^g-th step, with 2^-g of
 * the cells and tags of its own.
 */
#define _DEFAULT_SOURCE /* usleep */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { CELLS = 64, GRIDS = 5 };

struct ring {
    int left, right;
    unsigned drawn;
};

static void compute(struct ring *ring, int microseconds)
{
    ring->drawn = ring->drawn * 1664525 + 1013904223; /* Numerical recipes, 7.1 */
    usleep((useconds_t)(microseconds * (0.5 + ring->drawn / 4294967296.0)));
}

static void exchange(const struct ring *ring, int grid)
{
    static double out[CELLS], in[2][CELLS];
    const int cells = CELLS >> grid, right = 2 * grid, left = 2 * grid + 1; /* tags */
    MPI_Request requests[2];
    MPI_Irecv(in[0], cells, MPI_DOUBLE, ring->left, right, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], cells, MPI_DOUBLE, ring->right, left, MPI_COMM_WORLD, &requests[1]);
    MPI_Send(out, cells, MPI_DOUBLE, ring->right, right, MPI_COMM_WORLD);
    MPI_Send(out, cells, MPI_DOUBLE, ring->left, left, MPI_COMM_WORLD);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 1000,
              microseconds = argc > 2 ? atoi(argv[2]) : 500;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    struct ring ring = {(rank + size - 1) % size, (rank + 1) % size, (unsigned)rank + 1};
    for (int step = 0; step < steps; step++) {
        compute(&ring, microseconds);
        exchange(&ring, 0); /* density */
        compute(&ring, microseconds / 20);
        exchange(&ring, 0); /* momentum */
        compute(&ring, microseconds / 20);
        exchange(&ring, 0); /* energy */
        for (int grid = 1; grid <= GRIDS && (step + 1) % (1 << 2 * grid) == 0; grid++)
            exchange(&ring, grid);
    }
    MPI_Finalize();
    return 0;
}
