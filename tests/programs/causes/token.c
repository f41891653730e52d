/* Ranks write a log one after the other: a token goes from rank to rank. ranks: 6 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static int rank, size;

void append_to_log(void)
{
    usleep(8000);
}

void ordered_output(void)
{
    int token = 0;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    append_to_log();
    if (rank < size - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int s = 0; s < 40; s++) {
        usleep(10000);
        ordered_output();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
