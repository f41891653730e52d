/* adi.c - alternating-direction implicit solver on a multi-partitioned 3-D domain.
 *
 *     adi ITERATIONS [CELLS]
 *
 * q * q ranks cut the domain into q * q * q cells; the cell at (x, y, z) belongs to the rank at
 * (y - x, z - x), modulo q, of the grid of ranks. So every rank has a cell in each of the q slabs
 * of each direction, and all work at every stage of every sweep: forward elimination from slab to
 * slab, then back substitution the other way. The next slab's cell belongs to the same neighbour at
 * every stage. An iteration exchanges the faces with all six neighbours, sweeps in the three
 * directions and sums up the residual. Rank 0 prints the wall time of the iterations in seconds and
 * the number of MPI calls in them, of all ranks.
 */
#include "elapsed.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIRECTIONS = 3, FACES = 2 * DIRECTIONS };

struct solver {
    int q, rank;
    int next[DIRECTIONS], before[DIRECTIONS]; /* ranks of the neighbouring slabs' cells */
    int cells;                                /* in a face of a cell */
    double *face, *out, *in;                  /* FACES * cells each; a sweep uses the first */
    unsigned long calls;
};

static int rank_at(const struct solver *solver, int row, int column)
{
    int q = solver->q;
    return (row + q) % q * q + (column + q) % q;
}

static void find_neighbours(struct solver *solver)
{
    static const int to[DIRECTIONS][2] = {{-1, -1}, {1, 0}, {0, 1}};
    int row = solver->rank / solver->q, column = solver->rank % solver->q;
    for (int d = 0; d < DIRECTIONS; d++) {
        solver->next[d] = rank_at(solver, row + to[d][0], column + to[d][1]);
        solver->before[d] = rank_at(solver, row - to[d][0], column - to[d][1]);
    }
}

static void exchange_faces(struct solver *solver)
{
    MPI_Request requests[2 * FACES];
    int n = solver->cells;
    for (int f = 0; f < FACES; f++) {
        int from = f % 2 ? solver->before[f / 2] : solver->next[f / 2];
        MPI_Irecv(solver->in + f * n, n, MPI_DOUBLE, from, f, MPI_COMM_WORLD, &requests[f]);
    }
    for (int f = 0; f < FACES; f++) {
        int to = f % 2 ? solver->next[f / 2] : solver->before[f / 2];
        MPI_Isend(solver->out + f * n, n, MPI_DOUBLE, to, f, MPI_COMM_WORLD, &requests[FACES + f]);
    }
    MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
    solver->calls += 2 * FACES + 1;
}

/* The cell's share of the sweep: some arithmetic on the face that goes from slab to slab. */
static void solve_cell(struct solver *solver, double factor)
{
    for (int i = 0; i < solver->cells; i++) {
        solver->face[i] = solver->face[i] * factor + solver->in[i];
        solver->out[i] = solver->face[i] / (1 + factor);
    }
}

/* One sweep over the q slabs. */
static void sweep(struct solver *solver, int from, int to, int tag, double factor)
{
    MPI_Request requests[2]; /* the stage's receive, the send of the stage before */
    for (int stage = 0; stage < solver->q; stage++) {
        if (stage > 0) {
            MPI_Irecv(solver->in, solver->cells, MPI_DOUBLE, from, tag, MPI_COMM_WORLD,
                      &requests[0]);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        solve_cell(solver, factor);
        if (stage < solver->q - 1)
            MPI_Isend(solver->out, solver->cells, MPI_DOUBLE, to, tag, MPI_COMM_WORLD,
                      &requests[1]);
    }
    solver->calls += 3 * (unsigned long)(solver->q - 1);
}

static double iterate(struct solver *solver)
{
    double sum = 0, total = 0;
    exchange_faces(solver);
    for (int d = 0; d < DIRECTIONS; d++) {
        sweep(solver, solver->before[d], solver->next[d], 10 + d, 0.5);
        sweep(solver, solver->next[d], solver->before[d], 20 + d, 0.25);
    }
    for (int i = 0; i < solver->cells; i++)
        sum += solver->face[i];
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    solver->calls++;
    return total;
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 10, size;
    struct solver solver = {.cells = argc > 2 ? atoi(argv[2]) : 64};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &solver.rank);
    while ((solver.q + 1) * (solver.q + 1) <= size)
        solver.q++;
    if (solver.q * solver.q != size) {
        fprintf(stderr, "adi: the number of ranks must be a square\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    find_neighbours(&solver);
    size_t n = FACES * (size_t)solver.cells;
    solver.face = calloc(n, sizeof(double));
    solver.out = calloc(n, sizeof(double));
    solver.in = calloc(n, sizeof(double));
    struct elapsed start = elapsed_start();
    for (int i = 0; i < iterations; i++)
        iterate(&solver);
    elapsed_print(start, solver.calls);
    free(solver.face);
    free(solver.out);
    free(solver.in);
    MPI_Finalize();
    return 0;
}
