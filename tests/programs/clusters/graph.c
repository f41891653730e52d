/* graph.c - communicators of graphs whose edges each rank tells of itself, and a message along
 * them.
 *
 *     graph [FAR [GRAPHS]]
 *
 * Neighbours are the ranks before and behind, and the one that differs in the second bit of its
 * number: two ranks further on for half of the ranks, and two before for the others. An even number
 * of ranks, at least 8, of which the last two have another such neighbour if it is no multiple
 * of 4.
 *
 * With FAR, which is less than that, a rank sends to the next FAR ranks instead, one with an odd
 * number to one fewer. With GRAPHS there are so many of these: of FAR ranks, of fewer, down to two;
 * then the same with lists that begin with the second rank, and so on.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, *to, *from;

static void exchange(MPI_Comm graph, int n)
{
    int *in = calloc((size_t)n + 1, sizeof *in);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, graph);
    free(in);
    MPI_Comm_free(&graph);
}

static void near(void)
{
    MPI_Comm graph;
    to[0] = from[1] = (rank + 1) % ranks;
    to[1] = from[0] = (rank + ranks - 1) % ranks;
    to[2] = from[2] = (rank ^ 2) < ranks ? rank ^ 2 : rank ^ 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, from, MPI_UNWEIGHTED, 3, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph);
    exchange(graph, 3);
}

static void list(int far, int *n_from, int *n_to)
{
    *n_from = *n_to = 0;
    for (int i = 1; i <= far; i++) {
        int sender = (rank + ranks - i) % ranks;
        if (i <= far - sender % 2)
            from[(*n_from)++] = sender;
        if (i <= far - rank % 2)
            to[(*n_to)++] = (rank + i) % ranks;
    }
}

/* The first one comes last, so often. */
static void turn(int *ranks_of, int n, int times)
{
    for (int i = 0; i < times && n > 0; i++) {
        int first = ranks_of[0];
        memmove(ranks_of, ranks_of + 1, (size_t)(n - 1) * sizeof *ranks_of);
        ranks_of[n - 1] = first;
    }
}

static void many(int far, int turned)
{
    MPI_Comm graph;
    int n_from, n_to;
    list(far, &n_from, &n_to);
    turn(from, n_from, turned);
    turn(to, n_to, turned);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_from, from, MPI_UNWEIGHTED, n_to, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    exchange(graph, n_from);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    to = malloc((size_t)ranks * sizeof *to);
    from = malloc((size_t)ranks * sizeof *from);
    int far = argc > 1 ? atoi(argv[1]) : 0, graphs = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < graphs && far; i++)
        many(far - i % (far - 1), i / (far - 1));
    if (!far)
        near();
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
