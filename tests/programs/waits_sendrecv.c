/* Everyone sends to the right and receives from the left: around a ring twice, then along a chain
 * whose ends have nobody there. Rank r is r steps late in the beginning. ranks: any */
#include "steps.h"

int main(int argc, char **argv)
{
    int rank, size, in, out = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Barrier(MPI_COMM_WORLD);
    steps(rank);
    MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&out, 1, MPI_INT, right, 2, left, MPI_ANY_TAG, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        steps(2);
    MPI_Sendrecv(&out, 1, MPI_INT, rank + 1 < size ? rank + 1 : MPI_PROC_NULL, 3, &in, 1, MPI_INT,
                 rank ? rank - 1 : MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
