/* Every collective: blocking, in place, with arrays, nonblocking, between neighbours. ranks: 3 */
#include "expect.h"

enum { SIZE = 3, ROOT = 1, ROOM = 64 };

static int rank;
static int in[ROOM], out[ROOM];
static const COUNT counts[SIZE] = {1, 2, 3};
static const PLACE places[SIZE] = {0, 4, 8};

#define OWN ((int)counts[rank])

static void rooted(void)
{
    CALL(MPI_Bcast(in, 5, MPI_INT, ROOT, MPI_COMM_WORLD),
         "count=5 datatype=MPI_INT root=1 comm=world bytes=20");
    if (rank == ROOT) {
        CALL(MPI_Reduce(in, out, 4, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD),
             "count=4 datatype=MPI_DOUBLE op=MPI_SUM root=1 bytes=32");
        CALL(MPI_Reduce(MPI_IN_PLACE, out, 4, MPI_INT, MPI_MAX, ROOT, MPI_COMM_WORLD),
             "sendbuf=IN_PLACE count=4 op=MPI_MAX bytes=16");
        CALL(MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD),
             "sendcount=2 sendtype=MPI_INT recvcount=2 recvtype=MPI_INT root=1 bytes=8");
        CALL(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD),
             "sendbuf=IN_PLACE !sendcount !sendtype recvcount=2 bytes=8");
        CALL(MPI_Gatherv(in, 2, MPI_INT, out, counts, places, MPI_INT, ROOT, MPI_COMM_WORLD),
             "sendcount=2 recvcounts=[1,2,3] displs=[0,4,8] recvtype=MPI_INT bytes=8");
        CALL(MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD),
             "sendcount=2 sendtype=MPI_INT recvcount=2 bytes=24");
        CALL(MPI_Scatter(in, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, ROOT, MPI_COMM_WORLD),
             "sendcount=2 recvbuf=IN_PLACE bytes=24");
        CALL(MPI_Scatterv(in, counts, places, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD),
             "sendcounts=[1,2,3] displs=[0,4,8] sendtype=MPI_INT recvcount=2 bytes=24");
        return;
    }
    CALL(MPI_Reduce(in, NULL, 4, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD), "count=4 bytes=32");
    CALL(MPI_Reduce(in, NULL, 4, MPI_INT, MPI_MAX, ROOT, MPI_COMM_WORLD), "count=4 bytes=16");
    CALL(MPI_Gather(in, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, ROOT, MPI_COMM_WORLD),
         "sendcount=2 !recvbuf !recvcount !recvtype bytes=8");
    CALL(MPI_Gather(in, 2, MPI_INT, NULL, 0, MPI_INT, ROOT, MPI_COMM_WORLD), "bytes=8");
    CALL(MPI_Gatherv(in, OWN, MPI_INT, NULL, NULL, NULL, MPI_INT, ROOT, MPI_COMM_WORLD),
         "sendcount=%d recvcounts=NULL displs=NULL bytes=%d", OWN, 4 * OWN);
    CALL(MPI_Scatter(NULL, 0, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD),
         "!sendcount !sendtype recvcount=2 bytes=8");
    CALL(MPI_Scatter(NULL, 0, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD), "bytes=8");
    CALL(MPI_Scatterv(NULL, NULL, NULL, MPI_INT, out, OWN, MPI_INT, ROOT, MPI_COMM_WORLD),
         "sendcounts=NULL displs=NULL recvcount=%d bytes=%d", OWN, 4 * OWN);
}

static void all_to_all(void)
{
    const COUNT each[SIZE] = {OWN, OWN, OWN};
    MPI_Datatype types[SIZE] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};
    const COUNT ones[SIZE] = {1, 1, 1};
    const PLACE bytes[SIZE] = {0, 8, 16};
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world !bytes");
    CALL(MPI_Allreduce(in, out, 3, MPI_FLOAT, MPI_PROD, MPI_COMM_WORLD),
         "count=3 datatype=MPI_FLOAT op=MPI_PROD comm=world bytes=12");
    CALL(MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INT, MPI_MIN, MPI_COMM_WORLD),
         "sendbuf=IN_PLACE count=3 op=MPI_MIN bytes=12");
    CALL(MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD),
         "sendcount=2 sendtype=MPI_INT recvcount=2 recvtype=MPI_INT bytes=8");
    CALL(MPI_Allgather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, out, 2, MPI_INT, MPI_COMM_WORLD),
         "sendbuf=IN_PLACE !sendcount recvcount=2 bytes=8");
    CALL(MPI_Allgatherv(in, OWN, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD),
         "sendcount=%d recvcounts=[1,2,3] displs=[0,4,8] bytes=%d", OWN, 4 * OWN);
    CALL(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD),
         "sendbuf=IN_PLACE recvcounts=[1,2,3] bytes=%d", 4 * OWN);
    CALL(MPI_Alltoall(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD),
         "sendcount=2 recvcount=2 bytes=24");
    CALL(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD),
         "sendbuf=IN_PLACE recvcount=2 bytes=24");
    CALL(MPI_Alltoallv(in, counts, places, MPI_INT, out, each, places, MPI_INT, MPI_COMM_WORLD),
         "sendcounts=[1,2,3] sdispls=[0,4,8] recvcounts=[%d,%d,%d] rdispls=[0,4,8] bytes=24", OWN,
         OWN, OWN);
    for (int i = 0; i < SIZE; i++)
        types[i] = MPI_INT;
    types[rank] = MPI_DOUBLE; /* both sides of what a rank sends to itself */
    CALL(MPI_Alltoallw(in, ones, bytes, types, out, ones, bytes, types, MPI_COMM_WORLD),
         "sendcounts=[1,1,1] sdispls=[0,8,16] sendtypes=[%s,%s,%s] recvcounts=[1,1,1] bytes=16",
         rank == 0 ? "MPI_DOUBLE" : "MPI_INT", rank == 1 ? "MPI_DOUBLE" : "MPI_INT",
         rank == 2 ? "MPI_DOUBLE" : "MPI_INT");
    CALL(MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
         "recvcount=2 op=MPI_SUM bytes=24");
    CALL(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
         "recvcounts=[1,2,3] op=MPI_SUM bytes=24");
    CALL(MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "count=3 op=MPI_SUM bytes=12");
    CALL(MPI_Exscan(in, out, 3, MPI_INT, MPI_BOR, MPI_COMM_WORLD), "count=3 op=MPI_BOR bytes=12");
    CALL(MPI_Scan(MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
         "sendbuf=IN_PLACE bytes=12");
    CALL(MPI_Reduce_local(in, out, 6, MPI_INT, MPI_LAND), "count=6 op=MPI_LAND");
}

#define NONBLOCKING(call, ...)                                                          \
    do {                                                                                \
        CALL(call, __VA_ARGS__);                                                        \
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 !source !bytes"); \
    } while (0)

static void nonblocking(void)
{
    const COUNT each[SIZE] = {OWN, OWN, OWN};
    MPI_Request request;
    NONBLOCKING(MPI_Ibarrier(MPI_COMM_WORLD, &request), "comm=world");
    NONBLOCKING(MPI_Ibcast(in, 5, MPI_INT, ROOT, MPI_COMM_WORLD, &request),
                "count=5 root=1 bytes=20");
    NONBLOCKING(MPI_Ireduce(in, out, 4, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD, &request),
                "count=4 op=MPI_SUM root=1 bytes=16");
    NONBLOCKING(MPI_Igather(in, 2, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD, &request),
                "sendcount=2 %s bytes=8", rank == ROOT ? "recvcount=2" : "!recvcount");
    NONBLOCKING(MPI_Igatherv(in, OWN, MPI_INT, out, counts, places, MPI_INT, ROOT, MPI_COMM_WORLD,
                             &request),
                "%s bytes=%d", rank == ROOT ? "recvcounts=[1,2,3]" : "recvcounts=NULL", 4 * OWN);
    NONBLOCKING(MPI_Iscatter(in, 2, MPI_INT, out, 2, MPI_INT, ROOT, MPI_COMM_WORLD, &request),
                "recvcount=2 bytes=%d", rank == ROOT ? 24 : 8);
    NONBLOCKING(MPI_Iscatterv(in, counts, places, MPI_INT, out, OWN, MPI_INT, ROOT, MPI_COMM_WORLD,
                              &request),
                "recvcount=%d bytes=%d", OWN, rank == ROOT ? 24 : 4 * OWN);
    NONBLOCKING(MPI_Iallgather(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD, &request),
                "sendcount=2 recvcount=2 bytes=8");
    NONBLOCKING(
        MPI_Iallgatherv(in, OWN, MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD, &request),
        "recvcounts=[1,2,3] displs=[0,4,8] bytes=%d", 4 * OWN);
    NONBLOCKING(MPI_Ialltoall(in, 2, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD, &request),
                "sendcount=2 bytes=24");
    NONBLOCKING(MPI_Ialltoallv(in, counts, places, MPI_INT, out, each, places, MPI_INT,
                               MPI_COMM_WORLD, &request),
                "sendcounts=[1,2,3] bytes=24");
    const MPI_Datatype types[SIZE] = {MPI_INT, MPI_INT, MPI_INT};
    const COUNT ones[SIZE] = {1, 1, 1};
    const PLACE bytes[SIZE] = {0, 8, 16};
    NONBLOCKING(
        MPI_Ialltoallw(in, ones, bytes, types, out, ones, bytes, types, MPI_COMM_WORLD, &request),
        "sendcounts=[1,1,1] sdispls=[0,8,16] recvtypes=[MPI_INT,MPI_INT,MPI_INT] bytes=12");
    NONBLOCKING(MPI_Iallreduce(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
                "count=3 op=MPI_SUM bytes=12");
    NONBLOCKING(MPI_Ireduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
                "recvcount=2 bytes=24");
    NONBLOCKING(MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request),
                "recvcounts=[1,2,3] bytes=24");
    NONBLOCKING(MPI_Iscan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), "bytes=12");
    NONBLOCKING(MPI_Iexscan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request), "bytes=12");
}

/* A closed ring: two neighbours each. */
static void neighbours(void)
{
    const int dims[1] = {SIZE}, periodic[1] = {1};
    const COUNT two[2] = {2, 3}, one[2] = {1, 1};
    const PLACE at[2] = {0, 8}, bytes[2] = {0, 4};
    const MPI_Aint far[2] = {0, 32};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    int left, right, coords[1];
    MPI_Comm ring;
    MPI_Request request;
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &ring),
         "comm_old=world ndims=1 dims=[3] periods=[1] reorder=0 comm_cart=@ring");
    CALL(MPI_Cart_shift(ring, 0, 1, &left, &right), "comm=@ring direction=0 disp=1");
    CALL(MPI_Cart_coords(ring, rank, 1, coords), "comm=@ring rank=%d maxdims=1", rank);
    CALL(MPI_Neighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, ring),
         "sendcount=2 recvcount=2 comm=@ring bytes=8");
    CALL(MPI_Neighbor_allgatherv(in, 2, MPI_INT, out, (COUNT[]){2, 2}, at, MPI_INT, ring),
         "sendcount=2 recvcounts=[2,2] displs=[0,8] bytes=8");
    CALL(MPI_Neighbor_alltoallv(in, two, at, MPI_INT, out, (COUNT[]){3, 2}, at, MPI_INT, ring),
         "sendcounts=[2,3] sdispls=[0,8] recvcounts=[3,2] rdispls=[0,8] bytes=20");
    CALL(MPI_Neighbor_alltoallw(in, one, far, types, out, one, far, types, ring),
         "sendcounts=[1,1] sdispls=[0,32] sendtypes=[MPI_INT,MPI_INT] recvcounts=[1,1] "
         "rdispls=[0,32] recvtypes=[MPI_INT,MPI_INT] bytes=8");
    CALL(MPI_Neighbor_alltoall(in, 2, MPI_INT, out, 2, MPI_INT, ring),
         "sendcount=2 recvcount=2 comm=@ring");
    NONBLOCKING(MPI_Ineighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, ring, &request),
                "sendcount=2 bytes=8");
    NONBLOCKING(
        MPI_Ineighbor_alltoallv(in, one, bytes, MPI_INT, out, one, bytes, MPI_INT, ring, &request),
        "sendcounts=[1,1] recvcounts=[1,1] bytes=8");
    CALL(MPI_Comm_free(&ring), "comm=@ring");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    rooted();
    all_to_all();
    nonblocking();
    neighbours();
    return expect_finalize(rank);
}
