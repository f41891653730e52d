/* wavefront.c - sweeps over a 2-D grid of ranks, as in discrete-ordinates transport: a rank waits
 * for what its neighbours upstream have solved, solves its own block and hands the borders on.
 *
 *     wavefront ITERATIONS [PLANES [CELLS]]
 *
 * An iteration sweeps from each of the four corners, PLANES times one after the other, so that the
 * ranks work in a pipeline; then all agree on the residual. Calls are guarded by `if`: ranks at the
 * grid's edges make fewer of them. Rank 0 prints the wall time of the iterations, the CPU time of
 * all ranks (both in seconds) and the number of MPI calls of all ranks.
 */
#include "elapsed.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct block {
    int at[2], dims[2], rank;
    int cells;           /* per side */
    double *cell;        /* cells * cells */
    double *border[2];   /* what came from upstream, then what goes downstream */
    unsigned long calls; /* MPI calls so far */
};

/* The neighbour in direction d, one step to or against the sweep; -1 outside of the grid. */
static int neighbour(const struct block *block, int d, int step)
{
    int to = block->at[d] + step;
    if (to < 0 || to >= block->dims[d])
        return -1;
    return block->rank + step * (d == 0 ? block->dims[1] : 1);
}

/* Solves the block from one corner on; returns how much changed. */
static double solve(struct block *block, const int step[2])
{
    double change = 0;
    int n = block->cells;
    for (int i = 0; i < n; i++) {
        int y = step[0] > 0 ? i : n - 1 - i;
        for (int k = 0; k < n; k++) {
            int x = step[1] > 0 ? k : n - 1 - k;
            double *cell = &block->cell[y * n + x];
            double flux = (*cell + block->border[0][x] + block->border[1][y]) / 3;
            change += fabs(flux - *cell);
            *cell = block->border[0][x] = block->border[1][y] = flux;
        }
    }
    return change;
}

static double sweep(struct block *block, const int step[2])
{
    for (int d = 0; d < 2; d++) {
        int from = neighbour(block, d, -step[d]);
        for (int i = 0; from < 0 && i < block->cells; i++)
            block->border[d][i] = 1;
        if (from >= 0) {
            MPI_Recv(block->border[d], block->cells, MPI_DOUBLE, from, d, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            block->calls++;
        }
    }
    double change = solve(block, step);
    for (int d = 0; d < 2; d++) {
        int to = neighbour(block, d, step[d]);
        if (to >= 0) {
            MPI_Send(block->border[d], block->cells, MPI_DOUBLE, to, d, MPI_COMM_WORLD);
            block->calls++;
        }
    }
    return change;
}

static double iterate(struct block *block, int planes)
{
    static const int corners[4][2] = {{1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
    double change = 0, total = 0;
    for (int corner = 0; corner < 4; corner++) {
        for (int plane = 0; plane < planes; plane++)
            change += sweep(block, corners[corner]);
    }
    MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    block->calls++;
    return total;
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 10, planes = argc > 2 ? atoi(argv[2]) : 8, size;
    struct block block = {.cells = argc > 3 ? atoi(argv[3]) : 16};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &block.rank);
    MPI_Dims_create(size, 2, block.dims);
    block.at[0] = block.rank / block.dims[1];
    block.at[1] = block.rank % block.dims[1];
    size_t n = (size_t)block.cells;
    block.cell = calloc(n * n, sizeof(double));
    block.border[0] = calloc(n, sizeof(double));
    block.border[1] = calloc(n, sizeof(double));
    struct elapsed start = elapsed_start();
    for (int i = 0; i < iterations; i++)
        iterate(&block, planes);
    elapsed_print(start, block.calls);
    free(block.cell);
    free(block.border[0]);
    free(block.border[1]);
    MPI_Finalize();
    return 0;
}
