/* Neighbourhood collectives: in a Cartesian grid, a chain, each rank waits for the later one of the
 * ranks beside it; in a graph, where rank r sends to r + 2 and to 3 r + 1, for those that send to
 * it, not for those it sends to. Rank r is r * r modulo 7 steps late. ranks: any */
#include "steps.h"

#include <stdlib.h>

enum { MOST = 64 };

static int rank, size, in[MOST], out[MOST];

static MPI_Comm chain(void)
{
    MPI_Comm comm;
    int periodic = 0;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    return comm;
}

static int first_target(int of)
{
    return (of + 2) % size;
}

static int second_target(int of)
{
    return (3 * of + 1) % size;
}

static MPI_Comm graph(void)
{
    int sources[2 * MOST], n = 0, targets[2] = {first_target(rank), second_target(rank)};
    MPI_Comm comm;
    for (int i = 0; i < size; i++) {
        if (first_target(i) == rank)
            sources[n++] = i;
        if (second_target(i) == rank)
            sources[n++] = i;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, sources, MPI_UNWEIGHTED, 2, targets,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    return comm;
}

int main(int argc, char **argv)
{
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm comms[] = {chain(), graph()};
    for (int i = 0; i < 2; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        steps(rank * rank % 7);
        MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comms[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        steps(rank * rank % 7);
        MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comms[i], &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&comms[i]);
    }
    MPI_Finalize();
    return 0;
}
