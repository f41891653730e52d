/* halo.c - an example to record: a 2-D grid of cells, smoothed step by step.
 *
 * The ranks form a periodic grid; each exchanges the border of its block with four neighbours,
 * smooths its block, and every few steps all agree on the residual. The work is uneven on purpose:
 * the rank in the middle of the grid smooths more often than the others.
 *
 *     mpicc -O2 -g -o halo halo.c && mpirun -n 8 ./halo [steps] [cells per side]
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEFT, RIGHT, DOWN, UP, SIDES };

struct block {
    int cells;          /* per side, without the border */
    double *now, *next; /* (cells + 2) * (cells + 2) */
    double *out[SIDES], *in[SIDES];
    int neighbour[SIDES]; /* ranks in grid */
    MPI_Comm grid;
    int sweeps; /* how often this rank smooths per step */
};

static double *cell(struct block *block, double *of, int x, int y)
{
    return &of[(size_t)y * (size_t)(block->cells + 2) + (size_t)x];
}

/* The i-th cell of a side: of the block itself (depth 1) or of its border (depth 0). */
static double *side_cell(struct block *block, int side, int depth, int i)
{
    int far = block->cells + 1 - depth;
    switch (side) {
    case LEFT:
        return cell(block, block->now, depth, i + 1);
    case RIGHT:
        return cell(block, block->now, far, i + 1);
    case DOWN:
        return cell(block, block->now, i + 1, depth);
    default:
        return cell(block, block->now, i + 1, far);
    }
}

static void exchange(struct block *block)
{
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; side++)
        MPI_Irecv(block->in[side], block->cells, MPI_DOUBLE, block->neighbour[side], side ^ 1,
                  block->grid, &requests[side]);
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < block->cells; i++)
            block->out[side][i] = *side_cell(block, side, 1, i);
        MPI_Isend(block->out[side], block->cells, MPI_DOUBLE, block->neighbour[side], side,
                  block->grid, &requests[SIDES + side]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < block->cells; i++)
            *side_cell(block, side, 0, i) = block->in[side][i];
    }
}

static double smooth(struct block *block)
{
    double change = 0;
    for (int y = 1; y <= block->cells; y++) {
        for (int x = 1; x <= block->cells; x++) {
            double mean = (*cell(block, block->now, x - 1, y) + *cell(block, block->now, x + 1, y) +
                           *cell(block, block->now, x, y - 1) +
                           *cell(block, block->now, x, y + 1)) /
                          4;
            change += fabs(mean - *cell(block, block->now, x, y));
            *cell(block, block->next, x, y) = mean;
        }
    }
    double *swap = block->now;
    block->now = block->next;
    block->next = swap;
    return change;
}

static double residual(struct block *block, double change)
{
    double total = 0;
    MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_SUM, block->grid);
    return total;
}

static void setup(struct block *block, int cells)
{
    int size, rank, dims[2] = {0, 0}, periodic[2] = {1, 1}, at[2];
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &block->grid);
    MPI_Comm_rank(block->grid, &rank);
    MPI_Cart_coords(block->grid, rank, 2, at);
    MPI_Cart_shift(block->grid, 0, 1, &block->neighbour[LEFT], &block->neighbour[RIGHT]);
    MPI_Cart_shift(block->grid, 1, 1, &block->neighbour[DOWN], &block->neighbour[UP]);
    block->cells = cells;
    block->sweeps = at[0] == dims[0] / 2 && at[1] == dims[1] / 2 ? 4 : 1;
    size_t area = (size_t)(cells + 2) * (size_t)(cells + 2);
    block->now = calloc(area, sizeof *block->now);
    block->next = calloc(area, sizeof *block->next);
    for (int side = 0; side < SIDES; side++) {
        block->out[side] = calloc((size_t)cells, sizeof(double));
        block->in[side] = calloc((size_t)cells, sizeof(double));
    }
    *cell(block, block->now, 1, 1) = rank + 1;
}

static void teardown(struct block *block)
{
    free(block->now);
    free(block->next);
    for (int side = 0; side < SIDES; side++) {
        free(block->out[side]);
        free(block->in[side]);
    }
    MPI_Comm_free(&block->grid);
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 200, cells = argc > 2 ? atoi(argv[2]) : 128, rank;
    struct block block = {0};
    double change = 0, total = 0;
    MPI_Init(&argc, &argv);
    setup(&block, cells);
    for (int step = 0; step < steps; step++) {
        exchange(&block);
        for (int sweep = 0; sweep < block.sweeps; sweep++)
            change = smooth(&block);
        if (step % 10 == 9)
            total = residual(&block, change);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("halo: %d steps, residual %g\n", steps, total);
    teardown(&block);
    MPI_Finalize();
    return 0;
}
