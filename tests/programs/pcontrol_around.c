/* MPI_Pcontrol before MPI_Init and after MPI_Finalize. ranks: any */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int before = MPI_Pcontrol(1);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    int after = MPI_Pcontrol(1);
    printf("controlled %d\n", before == MPI_SUCCESS && after == MPI_SUCCESS);
    return 0;
}
