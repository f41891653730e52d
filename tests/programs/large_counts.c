/* The forms with large counts, which MPI 4 has. ranks: 2 */
#include "expect.h"

#if MPI_VERSION >= 4
static void add(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void large(int rank)
{
    static int data[64], out[128];
    const MPI_Count counts[2] = {1, 2};
    const MPI_Aint places[2] = {0, 4};
    MPI_Request request;
    MPI_Datatype type;
    MPI_Status status;
    if (rank == 0) {
        CALL(MPI_Send_c(data, 3, MPI_INT, 1, 7, MPI_COMM_WORLD),
             "count=3 datatype=MPI_INT dest=1 tag=7 comm=world bytes=12");
        CALL(MPI_Isend_c(data, 4, MPI_INT, 1, 8, MPI_COMM_WORLD, &request), "tag=8 bytes=16");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1");
    } else {
        CALL(MPI_Recv_c(data, 64, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status),
             "count=64 source=0 tag=7 bytes=12");
        CALL(MPI_Irecv_c(data, 64, MPI_INT, 0, 8, MPI_COMM_WORLD, &request), "count=64 !bytes");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 source=0 tag=8 bytes=16");
    }
    CALL(MPI_Bcast_c(data, 5, MPI_INT, 0, MPI_COMM_WORLD), "count=5 root=0 bytes=20");
    CALL(MPI_Allreduce_c(data, out, 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
         "count=5 op=MPI_SUM bytes=20");
    CALL(
        MPI_Allgatherv_c(data, counts[rank], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD),
        "sendcount=%d recvcounts=[1,2] displs=[0,4] bytes=%d", rank + 1, 4 * (rank + 1));
    CALL(MPI_Type_vector_c(2, 1, 4, MPI_INT, &type), "count=2 blocklength=1 stride=4 newtype=@v");
    CALL(MPI_Type_commit(&type), "datatype=@v");
    CALL(MPI_Sendrecv_c(data, 1, type, 1 - rank, 1, out, 2, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE),
         "sendcount=1 sendtype=@v dest=%d recvcount=2 source=%d bytes=8 sent_bytes=8", 1 - rank,
         1 - rank);
    MPI_Count n, a, l, d, numbers[3];
    MPI_Datatype inner[1];
    int combiner;
    CALL(MPI_Type_get_envelope_c(type, &n, &a, &l, &d, &combiner), "datatype=@v combiner=%d",
         MPI_COMBINER_VECTOR);
    CALL(MPI_Type_get_contents_c(type, n, a, l, d, NULL, NULL, numbers, inner),
         "datatype=@v max_integers=0 max_addresses=0 max_large_counts=3 max_datatypes=1");
    CALL(MPI_Type_free(&type), "datatype=@v");
    MPI_Op op;
    CALL(MPI_Op_create_c(add, 1, &op), "commute=1 op=op#0");
    CALL(MPI_Allreduce_c(data, out, 5, MPI_INT, op, MPI_COMM_WORLD), "count=5 op=op#0 bytes=20");
    CALL(MPI_Op_free(&op), "op=op#0");
    /* More than an int holds, of nothing. */
    CALL(MPI_Type_contiguous(0, MPI_INT, &type), "count=0");
    CALL(MPI_Type_commit(&type), "datatype=contiguous(0,MPI_INT)");
    CALL(MPI_Send_c(data, (MPI_Count)5000000000, type, MPI_PROC_NULL, 1, MPI_COMM_WORLD),
         "count=5000000000 dest=PROC_NULL bytes=0");
    CALL(MPI_Type_free(&type), "datatype=contiguous(0,MPI_INT)");
}
#else
static void large(int rank)
{
    (void)rank;
}
#endif

int main(int argc, char **argv)
{
    int rank;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    large(rank);
    return expect_finalize(rank);
}
