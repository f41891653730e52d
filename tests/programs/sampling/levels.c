/* levels STEPS: in each step every rank exchanges a message with every other one on each of 12
 * levels. Level l has messages of 8 * 2^l bytes. So a pair of ranks has 12 * STEPS messages each
 * way, in 12 categories. */
#include <mpi.h>
#include <stdlib.h>

enum { LEVELS = 12, LARGEST = 8 << (LEVELS - 1), MOST = 64 };

static char out[LARGEST], in[MOST][LARGEST];

static void exchange(int level, int rank, int ranks)
{
    MPI_Request requests[2 * MOST];
    int n = 0;
    for (int other = 0; other < ranks; other++) {
        if (other == rank)
            continue;
        MPI_Irecv(in[other], 8 << level, MPI_CHAR, other, level, MPI_COMM_WORLD, &requests[n++]);
        MPI_Isend(out, 8 << level, MPI_CHAR, other, level, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int steps = argc > 1 ? atoi(argv[1]) : 10;
    for (int step = 0; step < steps; step++)
        for (int level = 0; level < LEVELS; level++)
            exchange(level, rank, ranks);
    return MPI_Finalize();
}
