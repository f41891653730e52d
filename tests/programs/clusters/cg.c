/* cg.c - a conjugate gradient's exchanges on R rows of R or 2 R columns of ranks: sums within a row
 * by halving distances, and an exchange with the partner at the transposed place, which on the
 * diagonal is the rank itself. All ranks are of one kind; partners are expressions in the rank.
 *
 *     cg [ITERATIONS [CELLS]]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rows, columns, rank;

static void exchange(double *in, const double *out, int cells, int partner)
{
    MPI_Request request;
    MPI_Irecv(in, cells, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD, &request);
    MPI_Send(out, cells, MPI_DOUBLE, partner, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int transposed(void)
{
    if (rows == columns)
        return rank % rows * rows + rank / rows;
    return 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 3, cells = argc > 2 ? atoi(argv[2]) : 16, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (rows = columns = 1; rows * columns < size;)
        *(rows == columns ? &columns : &rows) *= 2;
    if (rows * columns != size) {
        fprintf(stderr, "cg: the number of ranks must be a power of two\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    double *out = calloc((size_t)cells, sizeof *out), *in = calloc((size_t)cells, sizeof *in);
    for (int i = 0; i < iterations; i++) {
        for (int distance = columns / 2; distance > 0; distance /= 2)
            exchange(in, out, cells, rank / columns * columns + (rank % columns ^ distance));
        exchange(in, out, cells, transposed());
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
