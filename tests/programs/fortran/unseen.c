/* PMPI functions called by a program itself are not events, before, between and after calls that
 * are. Ranks: 2. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int flag, rank;
    PMPI_Initialized(&flag);
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    PMPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    PMPI_Finalized(&flag);
    return flag ? 0 : 1;
}
