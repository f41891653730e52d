/* Partitioned messages, which MPI 4 has: partitions are made ready one by one, by range and by
 * list; the receiver asks for one of them. ranks: 2 */
#include "expect.h"

#if MPI_VERSION >= 4
enum { PARTITIONS = 6, EACH = 4, STEPS = 3 };

static int data[PARTITIONS * EACH];

static void send(void)
{
    MPI_Request request;
    const int list[2] = {5, 1};
    CALL(MPI_Psend_init(data, PARTITIONS, EACH, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &request),
         "partitions=6 count=4 datatype=MPI_INT dest=1 tag=7 comm=world info=MPI_INFO_NULL "
         "request=slot:0");
    for (int i = 0; i < STEPS; i++) {
        CALL(MPI_Start(&request), "request=slot:0");
        CALL(MPI_Pready(0, request), "partition=0 request=slot:0");
        CALL(MPI_Pready_range(2, 4, request), "partition_low=2 partition_high=4 request=slot:0");
        CALL(MPI_Pready_list(2, list, request),
             "length=2 array_of_partitions=[5,1] request=slot:0");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=slot:0 !source");
    }
    CALL(MPI_Request_free(&request), "request=slot:0");
}

static void receive(void)
{
    MPI_Request request;
    int flag;
    CALL(MPI_Precv_init(data, PARTITIONS, EACH, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                        &request),
         "partitions=6 count=4 datatype=MPI_INT source=0 tag=7 comm=world request=slot:0");
    for (int i = 0; i < STEPS; i++) {
        CALL(MPI_Start(&request), "request=slot:0");
        POLL(MPI_Parrived(request, 3, &flag), flag, "request=slot:0 partition=3",
             "request=slot:0 partition=3 !polls");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=slot:0 source=0 tag=7 bytes=96");
    }
    CALL(MPI_Request_free(&request), "request=slot:0");
}

static void both(int rank)
{
    if (rank == 0)
        send();
    else
        receive();
}
#else
static void both(int rank)
{
    (void)rank;
}
#endif

int main(int argc, char **argv)
{
    int rank;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    both(rank);
    return expect_finalize(rank);
}
