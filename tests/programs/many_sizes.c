/* Rank 1 sends messages of many sizes, which move to a column, and the others of few. */
#include <mpi.h>

enum { STEPS = 200, FEW = 3 };

int main(int argc, char **argv)
{
    int rank;
    char from[STEPS] = {0}, to[STEPS];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < STEPS; i++) {
        const int size = rank == 1 ? i : i % FEW;
        MPI_Sendrecv(from, size, MPI_CHAR, rank, 0, to, STEPS, MPI_CHAR, rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
