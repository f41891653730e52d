/* transpose.c - a Fourier transform's transposes in the rows and in the columns of a grid of ranks,
 * for which communicators are split: colour and key are the rank's coordinates, so they differ from
 * rank to rank, as expressions in it. All ranks are of one kind.
 *
 *     transpose [ITERATIONS [CELLS]]
 */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 3, cells = argc > 2 ? atoi(argv[2]) : 2;
    int rank, size, dims[2] = {0, 0};
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(size, 2, dims);
    int me1 = rank / dims[1], me2 = rank % dims[1];
    MPI_Comm_split(MPI_COMM_WORLD, me1, me2, &row);
    MPI_Comm_split(MPI_COMM_WORLD, me2, me1, &column);
    double *out = calloc((size_t)(size * cells), sizeof *out);
    double *in = calloc((size_t)(size * cells), sizeof *in);
    for (int i = 0; i < iterations; i++) {
        double sum = 1, total;
        MPI_Alltoall(out, cells, MPI_DOUBLE, in, cells, MPI_DOUBLE, row);
        MPI_Alltoall(out, cells, MPI_DOUBLE, in, cells, MPI_DOUBLE, column);
        MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
