/* vcycle.c - multigrid V-cycles on a periodic 3-D grid of ranks, whose sides are powers of two. On
 * level l those ranks work whose coordinates are all multiples of 2^l; a level is a call of its
 * own, so call paths tell how deep it was. There are 1 + log2(longest side) kinds of ranks.
 *
 *     vcycle [ITERATIONS [CELLS]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int dims[3], at[3], levels, cells = 8;
static double *out, *in;

/* The rank so many steps further in one direction, round the grid. */
static int neighbour(int direction, int steps)
{
    int to[3] = {at[0], at[1], at[2]};
    to[direction] = (to[direction] + steps + dims[direction]) % dims[direction];
    return (to[0] * dims[1] + to[1]) * dims[2] + to[2];
}

static void exchange(int level)
{
    for (int d = 0; d < 3; d++) {
        for (int step = -1; step <= 1; step += 2) {
            int distance = step * (1 << level) % dims[d];
            MPI_Request request;
            MPI_Irecv(in, cells, MPI_DOUBLE, neighbour(d, -distance), d, MPI_COMM_WORLD, &request);
            MPI_Send(out, cells, MPI_DOUBLE, neighbour(d, distance), d, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

static void cycle(int level)
{
    int step = 1 << level;
    int active = at[0] % step == 0 && at[1] % step == 0 && at[2] % step == 0;
    if (active)
        exchange(level);
    if (level < levels)
        cycle(level + 1);
    if (active)
        exchange(level);
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 2, rank, size;
    double norm = 1, total;
    cells = argc > 2 ? atoi(argv[2]) : cells;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (size & (size - 1)) {
        fprintf(stderr, "vcycle: the number of ranks must be a power of two\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Dims_create(size, 3, dims);
    at[0] = rank / (dims[1] * dims[2]);
    at[1] = rank / dims[2] % dims[1];
    at[2] = rank % dims[2];
    while (1 << levels < dims[0]) /* the longest side */
        levels++;
    out = calloc((size_t)cells, sizeof *out);
    in = calloc((size_t)cells, sizeof *in);
    for (int i = 0; i < iterations; i++) {
        cycle(0);
        MPI_Allreduce(&norm, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
