/* sweep2d.c - wavefronts from one corner of a 2-D grid of ranks and back.
 *
 *     sweep2d [ITERATIONS [CELLS]]
 *
 * Each call has a place of its own in the program and is guarded by `if`: ranks at an edge make
 * fewer calls. So on a x b ranks there are min(3, a) * min(3, b) kinds of ranks.
 */
#include <mpi.h>
#include <stdlib.h>

static int north = -1, south = -1, west = -1, east = -1; /* ranks, -1: none */

static void forward(double *face, int cells)
{
    if (north >= 0)
        MPI_Recv(face, cells, MPI_DOUBLE, north, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (west >= 0)
        MPI_Recv(face, cells, MPI_DOUBLE, west, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (south >= 0)
        MPI_Send(face, cells, MPI_DOUBLE, south, 0, MPI_COMM_WORLD);
    if (east >= 0)
        MPI_Send(face, cells, MPI_DOUBLE, east, 1, MPI_COMM_WORLD);
}

static void backward(double *face, int cells)
{
    if (south >= 0)
        MPI_Recv(face, cells, MPI_DOUBLE, south, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (east >= 0)
        MPI_Recv(face, cells, MPI_DOUBLE, east, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (north >= 0)
        MPI_Send(face, cells, MPI_DOUBLE, north, 2, MPI_COMM_WORLD);
    if (west >= 0)
        MPI_Send(face, cells, MPI_DOUBLE, west, 3, MPI_COMM_WORLD);
}

static void find_neighbours(int rank, int size)
{
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    int row = rank / dims[1], column = rank % dims[1];
    north = row > 0 ? rank - dims[1] : -1;
    south = row < dims[0] - 1 ? rank + dims[1] : -1;
    west = column > 0 ? rank - 1 : -1;
    east = column < dims[1] - 1 ? rank + 1 : -1;
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 3, cells = argc > 2 ? atoi(argv[2]) : 8;
    int rank, size;
    double change = 1, total;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    find_neighbours(rank, size);
    double *face = calloc((size_t)cells, sizeof *face);
    for (int i = 0; i < iterations; i++) {
        for (int plane = 0; plane < 3; plane++)
            forward(face, cells);
        for (int plane = 0; plane < 3; plane++)
            backward(face, cells);
        MPI_Allreduce(&change, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    free(face);
    MPI_Finalize();
    return 0;
}
