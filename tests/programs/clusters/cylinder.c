/* cylinder.c - exchanges on a grid of ranks that is closed in one dimension and open in the other.
 *
 *     cylinder [ITERATIONS [CELLS]]
 *
 * Round the cylinder, along it, and along both diagonals: partners beyond the open ends are
 * MPI_PROC_NULL, and no call is guarded. So all ranks are of one kind, and of as many as there are
 * first, inner and last columns by whom they have no partner; each partner is an expression in the
 * rank, for the diagonals one that wraps round in one dimension only.
 */
#include <mpi.h>
#include <stdlib.h>

static int dims[2], rank;
static MPI_Comm grid;

/* The rank so many rows and columns away. */
static int partner(int rows, int columns)
{
    int row = rank / dims[1] + rows, column = rank % dims[1] + columns;
    if (column < 0 || column >= dims[1])
        return MPI_PROC_NULL;
    return (row + dims[0]) % dims[0] * dims[1] + column;
}

static void exchange(double *in, const double *out, int cells)
{
    int from, to;
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    MPI_Sendrecv(out, cells, MPI_DOUBLE, to, 0, in, cells, MPI_DOUBLE, from, 0, grid,
                 MPI_STATUS_IGNORE);
    MPI_Cart_shift(grid, 1, 1, &from, &to);
    MPI_Sendrecv(out, cells, MPI_DOUBLE, to, 1, in, cells, MPI_DOUBLE, from, 1, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, partner(1, 1), 2, in, 1, MPI_DOUBLE, partner(-1, -1), 2, grid,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, partner(-1, 1), 3, in, 1, MPI_DOUBLE, partner(1, -1), 3, grid,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 3, cells = argc > 2 ? atoi(argv[2]) : 8, size;
    const int periods[2] = {1, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    double *out = calloc((size_t)cells, sizeof *out), *in = calloc((size_t)cells, sizeof *in);
    for (int i = 0; i < iterations; i++)
        exchange(in, out, cells);
    free(out);
    free(in);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
