/* Collectives made once and started often. MPI 4 has them; Open MPI 4 as MPIX_. ranks: 3 */
#include "expect.h"

#if MPI_VERSION >= 4 || defined OPEN_MPI
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name
#else
#define INIT(name) MPI_##name
#endif

enum { SIZE = 3, ROOT = 1, STEPS = 2 };

static int rank;
static int in[64], out[64];
static MPI_Request request;
static int steps = STEPS;

/* What CALL does, for a function whose name depends on the MPI. */
#define TEXT(x)    TEXT_OF(x)
#define TEXT_OF(x) #x
#define MADE(name, arguments, ...)                 \
    do {                                           \
        INIT(name) arguments;                      \
        expect(TEXT(INIT(name)) "(", __VA_ARGS__); \
        use();                                     \
    } while (0)
#define END MPI_COMM_WORLD, MPI_INFO_NULL, &request

static void use(void)
{
    for (int i = 0; i < steps; i++) {
        CALL(MPI_Start(&request), "request=slot:0");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=slot:0 !source !bytes");
    }
    CALL(MPI_Request_free(&request), "request=slot:0");
}

static void rooted(void)
{
    static const COUNT counts[SIZE] = {1, 2, 3};
    static const PLACE places[SIZE] = {0, 4, 8};
    bool root = rank == ROOT;
    MADE(Bcast_init, (in, 5, MPI_INT, ROOT, END),
         "count=5 datatype=MPI_INT root=1 comm=world info=MPI_INFO_NULL request=slot:0");
    MADE(Gather_init, (in, 2, MPI_INT, out, 2, MPI_INT, ROOT, END), "sendcount=2 root=1 %s",
         root ? "recvcount=2" : "!recvcount");
    MADE(Gatherv_init, (in, counts[rank], MPI_INT, out, counts, places, MPI_INT, ROOT, END),
         "sendcount=%d recvcounts=%s", rank + 1, root ? "[1,2,3]" : "NULL");
    steps = 1; /* MPICH 4.0 cannot start this one again */
    MADE(Scatter_init, (in, 2, MPI_INT, out, 2, MPI_INT, ROOT, END), "recvcount=2 %s",
         root ? "sendcount=2" : "!sendcount");
    steps = STEPS;
    MADE(Scatterv_init, (in, counts, places, MPI_INT, out, counts[rank], MPI_INT, ROOT, END),
         "recvcount=%d sendcounts=%s", rank + 1, root ? "[1,2,3]" : "NULL");
    MADE(Reduce_init, (in, out, 4, MPI_INT, MPI_SUM, ROOT, END), "count=4 op=MPI_SUM root=1");
}

static void all(void)
{
    static const COUNT counts[SIZE] = {1, 2, 3}, twos[SIZE] = {2, 2, 2};
    static const PLACE places[SIZE] = {0, 4, 8}, bytes[SIZE] = {0, 16, 32};
    static const MPI_Datatype types[SIZE] = {MPI_INT, MPI_INT, MPI_INT};
    MADE(Barrier_init, (END), "comm=world request=slot:0");
    MADE(Allgather_init, (in, 2, MPI_INT, out, 2, MPI_INT, END), "sendcount=2 recvcount=2");
    MADE(Allgatherv_init, (in, counts[rank], MPI_INT, out, counts, places, MPI_INT, END),
         "sendcount=%d recvcounts=[1,2,3] displs=[0,4,8]", rank + 1);
    MADE(Alltoall_init, (in, 2, MPI_INT, out, 2, MPI_INT, END), "sendcount=2 recvcount=2");
    MADE(Alltoallv_init, (in, twos, places, MPI_INT, out, twos, places, MPI_INT, END),
         "sendcounts=[2,2,2] sdispls=[0,4,8] recvcounts=[2,2,2]");
    MADE(Alltoallw_init, (in, twos, bytes, types, out, twos, bytes, types, END),
         "sendcounts=[2,2,2] sdispls=[0,16,32] recvtypes=[MPI_INT,MPI_INT,MPI_INT]");
    MADE(Allreduce_init, (in, out, 3, MPI_INT, MPI_MAX, END), "count=3 op=MPI_MAX");
    MADE(Reduce_scatter_block_init, (in, out, 2, MPI_INT, MPI_SUM, END), "recvcount=2 op=MPI_SUM");
    MADE(Reduce_scatter_init, (in, out, counts, MPI_INT, MPI_SUM, END), "recvcounts=[1,2,3]");
    MADE(Scan_init, (in, out, 3, MPI_INT, MPI_SUM, END), "count=3 op=MPI_SUM");
    MADE(Exscan_init, (in, out, 3, MPI_INT, MPI_SUM, END), "count=3 op=MPI_SUM");
}

/* Between neighbours on a closed ring. */
#undef END
#define END ring, MPI_INFO_NULL, &request
static void neighbours(void)
{
    const int dims[1] = {SIZE}, periodic[1] = {1};
    static const COUNT one[2] = {1, 1};
    static const PLACE at[2] = {0, 4};
    static const MPI_Aint far[2] = {0, 4};
    static const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Comm ring;
    CALL(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periodic, 0, &ring), "comm_cart=@ring");
    MADE(Neighbor_allgather_init, (in, 2, MPI_INT, out, 2, MPI_INT, END), "sendcount=2 comm=@ring");
    MADE(Neighbor_allgatherv_init, (in, 1, MPI_INT, out, one, at, MPI_INT, END),
         "sendcount=1 recvcounts=[1,1] displs=[0,4] comm=@ring");
    MADE(Neighbor_alltoall_init, (in, 2, MPI_INT, out, 2, MPI_INT, END), "sendcount=2 recvcount=2");
    MADE(Neighbor_alltoallv_init, (in, one, at, MPI_INT, out, one, at, MPI_INT, END),
         "sendcounts=[1,1] sdispls=[0,4] recvcounts=[1,1] rdispls=[0,4]");
    MADE(Neighbor_alltoallw_init, (in, one, far, types, out, one, far, types, END),
         "sendcounts=[1,1] sdispls=[0,4] sendtypes=[MPI_INT,MPI_INT] recvcounts=[1,1]");
    CALL(MPI_Comm_free(&ring), "comm=@ring");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    rooted();
    all();
    neighbours();
    return expect_finalize(rank);
}
#else
int main(int argc, char **argv)
{
    int rank;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    return expect_finalize(rank);
}
#endif
