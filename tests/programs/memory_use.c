/* memory_use.c MIB - rank r touches (r + 1) * MIB mebibytes. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t size = (size_t)(rank + 1) * (size_t)atoi(argc > 1 ? argv[1] : "1") << 20;
    volatile char *memory = malloc(size);
    for (size_t i = 0; memory && i < size; i += 512)
        memory[i] = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    free((void *)memory);
    MPI_Finalize();
    return 0;
}
