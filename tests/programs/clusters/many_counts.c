/* A ring in which every rank sends other amounts, more than 64 different ones. */
#include <mpi.h>

static int amount(int rank, int step)
{
    return 1 + (step * 7 + rank * 31 + step * rank) % 900;
}

int main(int argc, char **argv)
{
    static char out[1000], in[1000];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int left = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 200; i++)
        MPI_Sendrecv(out, amount(rank, i), MPI_CHAR, (rank + 1) % ranks, 0, in, amount(left, i),
                     MPI_CHAR, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
