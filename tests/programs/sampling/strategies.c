/* refrain_sample: prints what it returns, in a program without MPI, or with it (WITH_MPI). */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <refrain/region.h>
#include <stdio.h>

int main(void)
{
#ifdef WITH_MPI
    MPI_Init(NULL, NULL);
#endif
    printf("%d", refrain_sample("random:0.5"));
    printf(" %d\n", refrain_sample("often"));
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
