/* Regions with sleeps and messages of known number, and a pause, for the report. Rank 1 sleeps
 * twice as long. Arguments: steps, milliseconds. */
#include <mpi.h>
#include <refrain/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, steps = atoi(argv[1]), ms = atoi(argv[2]), sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    refrain_region_begin("loop");
    for (int i = 0; i < steps; i++) {
        refrain_region_begin("work");
        usleep((useconds_t)(1000 * ms * (rank + 1)));
        refrain_region_end("work");
        refrain_region_begin("exchange");
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        refrain_region_end("exchange");
    }
    MPI_Pcontrol(0);
    usleep((useconds_t)(10000 * ms));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    refrain_region_end("loop");
    if (rank == 0) {
        refrain_region_begin("first only");
        refrain_region_end("first only");
    }
    MPI_Finalize();
    if (rank == 0)
        printf("%d steps, sum %d\n", steps, sum);
    return 0;
}
