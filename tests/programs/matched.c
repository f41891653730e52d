/* Matched probes and receives. ranks: 2 */
#include "expect.h"

int main(int argc, char **argv)
{
    int rank, flag, data[16] = {0};
    MPI_Message message, second;
    MPI_Request request;
    MPI_Status status;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    if (rank == 0) {
        CALL(MPI_Recv(NULL, 0, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "tag=9");
        for (int tag = 1; tag <= 4; tag++)
            CALL(MPI_Send(data, tag, MPI_INT, 1, tag, MPI_COMM_WORLD), "dest=1 tag=%d", tag);
    } else {
        CALL(MPI_Improbe(0, 2, MPI_COMM_WORLD, &flag, &message, &status),
             "source=0 tag=2 polls=1 !message");
        CALL(MPI_Send(NULL, 0, MPI_INT, 0, 9, MPI_COMM_WORLD), "dest=0 tag=9");
        CALL(MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message, &status),
             "source=0 tag=1 message=message#0 bytes=4");
        POLL(MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &second, MPI_STATUS_IGNORE),
             flag, "source=ANY_SOURCE tag=2", "source=0 tag=2 message=message#1 bytes=8 !polls");
        CALL(MPI_Mrecv(data, 16, MPI_INT, &message, &status),
             "count=16 message=message#0 source=0 tag=1 bytes=4");
        CALL(MPI_Imrecv(data, 16, MPI_INT, &second, &request), "message=message#1 !bytes");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 source=0 tag=2 bytes=8");
        CALL(MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE),
             "source=0 tag=3 message=message#0 bytes=12");
        CALL(MPI_Mrecv(data, 3, MPI_INT, &message, MPI_STATUS_IGNORE),
             "message=message#0 source=0 tag=3 bytes=12");
        CALL(MPI_Recv(data, 16, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "bytes=16");
        CALL(MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status),
             "source=PROC_NULL message=MPI_MESSAGE_NO_PROC");
        CALL(MPI_Mrecv(data, 16, MPI_INT, &message, &status),
             "message=MPI_MESSAGE_NO_PROC source=PROC_NULL bytes=0");
    }
    return expect_finalize(rank);
}
