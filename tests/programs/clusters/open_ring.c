/* open_ring.c - an integer sort's exchange: all to all, then each rank tells the next its largest
 * key. The first receives nothing, the last sends nothing: min(3, P) kinds of ranks.
 *
 *     open_ring [ITERATIONS [KEYS]]
 */
#include <mpi.h>
#include <stdlib.h>

static void exchange(int rank, int size, int keys, int *out, int *in)
{
    int largest = rank, other = 0;
    MPI_Request request;
    MPI_Alltoall(out, keys, MPI_INT, in, keys, MPI_INT, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Irecv(&other, 1, MPI_INT, rank - 1, 9, MPI_COMM_WORLD, &request);
    if (rank < size - 1)
        MPI_Send(&largest, 1, MPI_INT, rank + 1, 9, MPI_COMM_WORLD);
    if (rank > 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 2, keys = argc > 2 ? atoi(argv[2]) : 1;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int *out = calloc((size_t)(size * keys), sizeof *out);
    int *in = calloc((size_t)(size * keys), sizeof *in);
    for (int i = 0; i < iterations; i++)
        exchange(rank, size, keys, out, in);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
