/* What region_alone loads: all of a job that uses MPI, up to its end. */
#include <mpi.h>
#include <refrain/region.h>

int exchange(void)
{
    MPI_Init(0, 0);
    refrain_region_begin("exchange");
    MPI_Barrier(MPI_COMM_WORLD);
    refrain_region_end("exchange");
    return MPI_Finalize();
}
