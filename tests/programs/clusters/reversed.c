/* The exchanges of a fast Fourier transform that orders its output: with the rank whose bits are
 * the own ones reversed. How much follows from the rank, but is no multiple of it: r * (r + 1) / 2
 * + 1 bytes. Ranks are split by r * (r + 1) / 2 % 4. A power of two of ranks, at least 16: below,
 * to reverse bits is a transposition. */
#include <mpi.h>
#include <stdlib.h>

static int reversed(int rank, int ranks)
{
    int found = 0;
    for (int bit = 1; bit < ranks; bit *= 2, rank /= 2)
        found = 2 * found + rank % 2;
    return found;
}

static int amount(int rank)
{
    return rank * (rank + 1) / 2 + 1;
}

int main(int argc, char **argv)
{
    int rank, ranks, steps = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD, rank * (rank + 1) / 2 % 4, rank, &part);
    int partner = reversed(rank, ranks), most = amount(ranks);
    char *out = calloc(1, (size_t)most), *in = malloc((size_t)most);
    for (int i = 0; i < steps; i++)
        MPI_Sendrecv(out, amount(rank), MPI_CHAR, partner, 0, in, most, MPI_CHAR, partner, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Comm_free(&part);
    MPI_Finalize();
    return 0;
}
