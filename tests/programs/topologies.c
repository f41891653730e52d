/* Cartesian, graph and distributed graph topologies, and collectives between their neighbours.
 * ranks: 4 */
#include "expect.h"

static int rank;
static int in[64], out[64];

#define NONBLOCKING(call, ...)                                                          \
    do {                                                                                \
        CALL(call, __VA_ARGS__);                                                        \
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 !source !bytes"); \
    } while (0)

/* n: how many neighbours send to this rank and get something from it. */
static void exchange(MPI_Comm comm, const char *name, int n)
{
    COUNT ones[4] = {1, 1, 1, 1};
    PLACE at[4] = {0, 4, 8, 12};
    MPI_Aint far[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Request request;
    static const char *const lists[] = {"[]", "[1]", "[1,1]", "[1,1,1]"};
    static const char *const places[] = {"[]", "[0]", "[0,4]", "[0,4,8]"};
    CALL(MPI_Neighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, comm),
         "sendcount=2 recvcount=2 comm=%s bytes=8", name);
    CALL(MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, ones, at, MPI_INT, comm),
         "sendcount=1 recvcounts=%s displs=%s", lists[n], places[n]);
    CALL(MPI_Neighbor_alltoall(in, 2, MPI_INT, out, 2, MPI_INT, comm),
         "sendcount=2 recvcount=2 comm=%s", name);
    CALL(MPI_Neighbor_alltoallv(in, ones, at, MPI_INT, out, ones, at, MPI_INT, comm),
         "sendcounts=%s sdispls=%s recvcounts=%s bytes=%d", lists[n], places[n], lists[n], 4 * n);
    CALL(MPI_Neighbor_alltoallw(in, ones, far, types, out, ones, far, types, comm),
         "sendcounts=%s sdispls=%s recvcounts=%s bytes=%d", lists[n], places[n], lists[n], 4 * n);
    NONBLOCKING(MPI_Ineighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, comm, &request),
                "sendcount=2 comm=%s", name);
    NONBLOCKING(MPI_Ineighbor_allgatherv(in, 1, MPI_INT, out, ones, at, MPI_INT, comm, &request),
                "recvcounts=%s", lists[n]);
    NONBLOCKING(MPI_Ineighbor_alltoall(in, 2, MPI_INT, out, 2, MPI_INT, comm, &request),
                "sendcount=2 recvcount=2 comm=%s", name);
    NONBLOCKING(
        MPI_Ineighbor_alltoallv(in, ones, at, MPI_INT, out, ones, at, MPI_INT, comm, &request),
        "sendcounts=%s bytes=%d", lists[n], 4 * n);
    NONBLOCKING(
        MPI_Ineighbor_alltoallw(in, ones, far, types, out, ones, far, types, comm, &request),
        "sendcounts=%s bytes=%d", lists[n], 4 * n);
}

/* Two rows of two, closed in one direction: at the open border are null processes. */
static void grid(void)
{
    const int dims[2] = {2, 2}, periods[2] = {1, 0};
    int got[2], period[2], coords[2] = {1, 1}, at, n, status;
    COUNT ones[4] = {1, 1, 1, 1};
    PLACE places[4] = {0, 4, 8, 12};
    MPI_Comm cart;
    CALL(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &at),
         "comm=world ndims=2 dims=[2,2] periods=[1,0]");
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart),
         "ndims=2 dims=[2,2] periods=[1,0] reorder=0 comm_cart=@grid");
    CALL(MPI_Topo_test(cart, &status), "comm=@grid status=%d", MPI_CART);
    CALL(MPI_Cartdim_get(cart, &n), "comm=@grid ndims=2");
    CALL(MPI_Cart_rank(cart, coords, &at), "comm=@grid coords=[1,1]");
    CALL(MPI_Cart_get(cart, 2, got, period, coords), "comm=@grid maxdims=2");
    CALL(MPI_Neighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, cart), "comm=@grid sendcount=2");
    CALL(MPI_Neighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, cart),
         "sendcounts=[1,1,1,1] recvcounts=[1,1,1,1]");
    CALL(MPI_Comm_free(&cart), "comm=@grid");
}

/* A star: rank 0 is everybody's neighbour. */
static void star(void)
{
    const int index[4] = {3, 4, 5, 6}, edges[6] = {1, 2, 3, 0, 0, 0};
    int i[4], e[6], nodes, n, at, status;
    MPI_Comm graph;
    CALL(MPI_Graph_map(MPI_COMM_WORLD, 4, index, edges, &at),
         "comm=world nnodes=4 index=[3,4,5,6] edges=[1,2,3,0,0,0]");
    CALL(MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph),
         "nnodes=4 index=[3,4,5,6] edges=[1,2,3,0,0,0] reorder=0 comm_graph=@star");
    CALL(MPI_Topo_test(graph, &status), "comm=@star status=%d", MPI_GRAPH);
    CALL(MPI_Graphdims_get(graph, &nodes, &n), "comm=@star nnodes=4 nedges=6");
    CALL(MPI_Graph_get(graph, 4, 6, i, e), "comm=@star maxindex=4 maxedges=6");
    CALL(MPI_Graph_neighbors_count(graph, rank, &n), "comm=@star rank=%d", rank);
    CALL(MPI_Graph_neighbors(graph, rank, 3, e), "comm=@star rank=%d maxneighbors=3", rank);
    exchange(graph, "@star", rank == 0 ? 3 : 1);
    CALL(MPI_Comm_free(&graph), "comm=@star");
}

/* An open chain, where the last rank has no neighbours at all; and a ring in one direction. */
static void distributed(void)
{
    int left = rank - 1, right = rank + 1, list[2], n = 0, in_degree, out_degree, weighted, status;
    int weights[2] = {1, 1}, from[2], to[2];
    MPI_Comm chain, ring;
    if (left >= 0 && rank < 3)
        list[n++] = left;
    if (right < 3)
        list[n++] = right;
    CALL(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, list, MPI_UNWEIGHTED, n, list,
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &chain),
         "indegree=%d outdegree=%d sourceweights=UNWEIGHTED reorder=0 comm_dist_graph=@chain", n,
         n);
    CALL(MPI_Topo_test(chain, &status), "comm=@chain status=%d", MPI_DIST_GRAPH);
    CALL(MPI_Dist_graph_neighbors_count(chain, &in_degree, &out_degree, &weighted),
         "comm=@chain weighted=0");
    CALL(MPI_Dist_graph_neighbors(chain, n, from, weights, n, to, weights),
         "comm=@chain maxindegree=%d maxoutdegree=%d", n, n);
    exchange(chain, "@chain", n);
    CALL(MPI_Comm_free(&chain), "comm=@chain");
    int next = (rank + 1) % 4, degree = 1;
    CALL(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &next, weights, MPI_INFO_NULL, 0,
                               &ring),
         "n=1 sources=[%d] degrees=[1] destinations=[%d] weights=[1] comm_dist_graph=@ring", rank,
         next);
    exchange(ring, "@ring", 1);
    CALL(MPI_Comm_free(&ring), "comm=@ring");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    grid();
    star();
    distributed();
    return expect_finalize(rank);
}
