/* pairwise.c - all ranks exchange with all others, one distance after the other, ever more; then
 * each is the root of a broadcast. From 65 ranks on partners, counts and roots have so many values
 * that they are kept as columns. All ranks are of one kind, with equal parameters.
 *
 *     pairwise [ITERATIONS]
 */
#include <mpi.h>
#include <stdlib.h>

static void exchange(int rank, int size, int *out, int *in)
{
    for (int distance = 1; distance < size; distance++)
        MPI_Sendrecv(out, 1 + distance, MPI_INT, (rank + distance) % size, 0, in, 1 + distance,
                     MPI_INT, (rank - distance + size) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    for (int root = 0; root < size; root++)
        MPI_Bcast(out, 1 + root, MPI_INT, root, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 2, rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *out = calloc((size_t)size, sizeof *out), *in = calloc((size_t)size, sizeof *in);
    for (int i = 0; i < iterations; i++)
        exchange(rank, size, out, in);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
