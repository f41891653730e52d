/* A program with another layer that wraps MPI. With -DLAYER this is the layer, a library that the
 * program is linked with: it counts barriers, calls an MPI function inside of one, and, where the
 * environment has SPARE, keeps the last rank for itself. With -DOWN the program itself wraps
 * MPI_Barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 20 };

#if defined LAYER || defined OWN
static int seen;
#endif

#ifdef LAYER
static MPI_Comm world = MPI_COMM_NULL;

static MPI_Comm map(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD && world != MPI_COMM_NULL ? world : comm;
}

int MPI_Init(int *argc, char ***argv)
{
    int rank, size, rc = PMPI_Init(argc, argv);
    if (!getenv("SPARE"))
        return rc;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Comm_split(MPI_COMM_WORLD, rank == size - 1, rank, &world);
    if (rank == size - 1) {
        PMPI_Comm_free(&world);
        PMPI_Finalize();
        exit(0);
    }
    return rc;
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    return PMPI_Comm_size(map(comm), size);
}

int MPI_Barrier(MPI_Comm comm)
{
    int rank;
    seen++;
    MPI_Comm_rank(map(comm), &rank);
    return PMPI_Barrier(map(comm));
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(map(MPI_COMM_WORLD), &rank);
    if (rank == 0)
        printf("the layer saw %d\n", seen);
    if (world != MPI_COMM_NULL)
        PMPI_Comm_free(&world);
    return PMPI_Finalize();
}
#else
#ifdef OWN
int MPI_Barrier(MPI_Comm comm)
{
    seen++;
    return PMPI_Barrier(comm);
}
#endif

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < CALLS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("world of %d\n", size);
#ifdef OWN
    if (rank == 0)
        printf("the program saw %d\n", seen);
#endif
    MPI_Finalize();
    return 0;
}
#endif
