/* Every way to send: synchronous, buffered, ready, both directions at once. ranks: 2 */
#include "expect.h"

static int rank, other;
static int data[64], got[64];

/* The receiver is there before the sender: its receive is posted, then it says so. */
static void ready(void)
{
    MPI_Request requests[2];
    if (rank == 1) {
        for (int i = 0; i < 2; i++)
            CALL(MPI_Irecv(got + 8 * i, 8, MPI_INT, 0, 10 + i, MPI_COMM_WORLD, &requests[i]),
                 "count=8 source=0 tag=%d", 10 + i);
        CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
        CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE),
             "completed=[0(source=0,tag=10,bytes=8),1(source=0,tag=11,bytes=12)]");
        return;
    }
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Rsend(data, 2, MPI_INT, 1, 10, MPI_COMM_WORLD), "count=2 dest=1 tag=10 bytes=8");
    CALL(MPI_Irsend(data, 3, MPI_INT, 1, 11, MPI_COMM_WORLD, &requests[0]),
         "count=3 dest=1 tag=11 bytes=12");
    CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "request=recent:1 !bytes");
}

static void synchronous(void)
{
    MPI_Request request;
    if (rank == 0) {
        CALL(MPI_Ssend(data, 4, MPI_INT, 1, 12, MPI_COMM_WORLD), "count=4 dest=1 tag=12 bytes=16");
        CALL(MPI_Issend(data, 5, MPI_INT, 1, 13, MPI_COMM_WORLD, &request),
             "count=5 dest=1 tag=13 bytes=20");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 !bytes");
        return;
    }
    for (int tag = 12; tag <= 13; tag++)
        CALL(MPI_Recv(got, 8, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "tag=%d bytes=%d", tag, 16 + 4 * (tag - 12));
}

static void buffered(void)
{
    static char room[1024 + 4 * MPI_BSEND_OVERHEAD];
    void *base;
    MPI_Request request;
    COUNT size;
    CALL(MPI_Buffer_attach(room, sizeof room), "size=%d", (int)sizeof room);
    CALL(MPI_Bsend(data, 2, MPI_INT, other, 14, MPI_COMM_WORLD), "dest=%d tag=14 bytes=8", other);
    CALL(MPI_Ibsend(data, 3, MPI_INT, other, 15, MPI_COMM_WORLD, &request),
         "dest=%d tag=15 bytes=12", other);
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1");
    CALL(MPI_Recv(got, 8, MPI_INT, other, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "bytes=8");
    CALL(MPI_Recv(got, 8, MPI_INT, other, 15, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "bytes=12");
    CALL(MPI_Buffer_detach(&base, &size), "size=%d", (int)sizeof room);
}

static void both_ways(void)
{
    CALL(MPI_Sendrecv(data, 2, MPI_INT, other, 16, got, 8, MPI_INT, other, 16, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE),
         "dest=%d source=%d sent_bytes=8 bytes=8", other, other);
    CALL(MPI_Sendrecv_replace(data, 3, MPI_INT, other, 17, other, 17, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE),
         "count=3 dest=%d sendtag=17 source=%d recvtag=17 sent_bytes=12 bytes=12", other, other);
#if MPI_VERSION >= 4
    /* The outcome is what the status says: that of MPICH 4.0 is not filled. */
    MPI_Request request;
    MPI_Status status = {0};
    int n;
    CALL(MPI_Isendrecv(data, 2, MPI_INT, other, 18, got, 8, MPI_INT, MPI_ANY_SOURCE, 18,
                       MPI_COMM_WORLD, &request),
         "sendcount=2 dest=%d sendtag=18 recvcount=8 source=ANY_SOURCE recvtag=18", other);
    MPI_Wait(&request, &status);
    PMPI_Get_count(&status, MPI_INT, &n);
    expect("MPI_Wait", "request=recent:1 source=%d tag=%d bytes=%d", status.MPI_SOURCE,
           status.MPI_TAG, 4 * n);
    CALL(MPI_Isendrecv_replace(data, 4, MPI_INT, other, 19, other, 19, MPI_COMM_WORLD, &request),
         "count=4 dest=%d sendtag=19 source=%d recvtag=19", other, other);
    MPI_Wait(&request, &status);
    PMPI_Get_count(&status, MPI_INT, &n);
    expect("MPI_Wait", "request=recent:1 source=%d tag=%d bytes=%d", status.MPI_SOURCE,
           status.MPI_TAG, 4 * n);
#endif
}

/* Persistent ones of every kind; requests that are freed while they are active. */
static void persistent(void)
{
    static char room[1024 + 4 * MPI_BSEND_OVERHEAD];
    MPI_Request sends[3], receives[3];
    void *base;
    COUNT size;
    if (rank == 0)
        CALL(MPI_Buffer_attach(room, sizeof room), "size=%d", (int)sizeof room);
    for (int i = 0; rank == 1 && i < 3; i++)
        CALL(MPI_Recv_init(got + 8 * i, 8, MPI_INT, 0, 20 + i, MPI_COMM_WORLD, &receives[i]),
             "tag=%d request=slot:%d", 20 + i, i);
    if (rank == 0) {
        CALL(MPI_Bsend_init(data, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &sends[0]), "request=slot:0");
        CALL(MPI_Ssend_init(data, 2, MPI_INT, 1, 21, MPI_COMM_WORLD, &sends[1]), "request=slot:1");
        CALL(MPI_Rsend_init(data, 3, MPI_INT, 1, 22, MPI_COMM_WORLD, &sends[2]), "request=slot:2");
        CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
        CALL(MPI_Startall(3, sends), "array_of_requests=[slot:0,slot:1,slot:2] bytes=24");
        CALL(MPI_Waitall(3, sends, MPI_STATUSES_IGNORE), "completed=[0,1,2]");
        for (int i = 0; i < 3; i++)
            CALL(MPI_Request_free(&sends[i]), "request=slot:%d", i);
        CALL(MPI_Buffer_detach(&base, &size), "size=%d", (int)sizeof room);
        return;
    }
    CALL(MPI_Startall(3, receives), "array_of_requests=[slot:0,slot:1,slot:2]");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Waitall(3, receives, MPI_STATUSES_IGNORE),
         "completed=[0(source=0,tag=20,bytes=4),1(source=0,tag=21,bytes=8),"
         "2(source=0,tag=22,bytes=12)]");
    for (int i = 0; i < 3; i++)
        CALL(MPI_Request_free(&receives[i]), "request=slot:%d", i);
}

/* Freed while active: the message goes its way, the next request has the slot. */
static void freed(void)
{
    MPI_Request request;
    int flag;
    if (rank == 0) {
        CALL(MPI_Send_init(data, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &request), "request=slot:0");
        CALL(MPI_Start(&request), "request=slot:0 bytes=4");
        CALL(MPI_Request_free(&request), "request=slot:0");
        CALL(MPI_Isend(data, 2, MPI_INT, 1, 31, MPI_COMM_WORLD, &request), "tag=31 bytes=8");
        CALL(MPI_Request_free(&request), "request=recent:1");
        CALL(MPI_Send_init(data, 3, MPI_INT, 1, 32, MPI_COMM_WORLD, &request), "request=slot:0");
        CALL(MPI_Start(&request), "request=slot:0 bytes=12");
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=slot:0");
        CALL(MPI_Request_free(&request), "request=slot:0");
    } else {
        for (int i = 0; i < 3; i++)
            CALL(MPI_Recv(got, 8, MPI_INT, 0, 30 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                 "tag=%d bytes=%d", 30 + i, 4 * (i + 1));
    }
    CALL(MPI_Isend(data, 1, MPI_INT, other, 33, MPI_COMM_WORLD, &request), "tag=33 bytes=4");
    CALL(MPI_Recv(got, 1, MPI_INT, other, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "tag=33");
    POLL(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), flag, "request=recent:1",
         "request=recent:1 !polls");
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    ready();
    synchronous();
    buffered();
    both_ways();
    persistent();
    freed();
    return expect_finalize(rank);
}
