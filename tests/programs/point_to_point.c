/* Blocking and non-blocking messages, wildcards, probes, null processes. ranks: 2 */
#include "expect.h"

int main(int argc, char **argv)
{
    int rank, data[16] = {0};
    MPI_Status status;
    MPI_Request request;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    if (rank == 0) {
        CALL(MPI_Send(data, 3, MPI_INT, 1, 7, MPI_COMM_WORLD),
             "count=3 datatype=MPI_INT dest=1 tag=7 comm=world bytes=12");
        CALL(MPI_Ssend(data, 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD),
             "count=1 datatype=MPI_DOUBLE dest=1 tag=8 comm=world bytes=8");
        CALL(MPI_Isend(data, 5, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &request),
             "count=5 datatype=MPI_CHAR dest=1 tag=9 bytes=5");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "%s", "");
        CALL(MPI_Send(data, 4, MPI_INT, 1, 11, MPI_COMM_WORLD), "tag=11 bytes=16");
        CALL(MPI_Send(data, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD),
             "count=0 dest=PROC_NULL tag=1 bytes=0");
        CALL(MPI_Sendrecv(data, 2, MPI_INT, 1, 20, data + 8, 4, MPI_INT, 1, MPI_ANY_TAG,
                          MPI_COMM_WORLD, &status),
             "dest=1 sendtag=20 source=1 recvtag=21 tag=21 bytes=12 sent_bytes=8");
    } else {
        CALL(MPI_Recv(data, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE),
             "count=16 source=0 tag=7 bytes=12");
        CALL(MPI_Recv(data, 1, MPI_DOUBLE, 0, 8, MPI_COMM_WORLD, &status),
             "source=0 tag=8 bytes=8");
        CALL(MPI_Irecv(data, 16, MPI_CHAR, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &request),
             "count=16 source=ANY_SOURCE tag=9");
        CALL(MPI_Wait(&request, &status), "source=0 tag=9 bytes=5");
        CALL(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status),
             "source=0 tag=11 bytes=16");
        CALL(MPI_Recv(data, 16, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE),
             "source=0 tag=11 bytes=16");
        CALL(MPI_Recv(data, 16, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "source=PROC_NULL bytes=0");
        CALL(MPI_Sendrecv(data, 3, MPI_INT, 0, 21, data + 8, 8, MPI_INT, 0, 20, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE),
             "dest=0 sendtag=21 source=0 recvtag=20 bytes=8 sent_bytes=12");
    }
    return expect_finalize(rank);
}
