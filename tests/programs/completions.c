/* What completion calls complete: wildcards, null and freed requests, cancelled receives, sends
 * that are complete at once. ranks: 2 */
#include "expect.h"

enum { MANY = 100 };

static char text[4096];

/* What Waitsome says, from the statuses that the program got: "[1(source=..,tag=..,bytes=..),0]".
 * sizeof(int) bytes per element; sends: a bit per position. */
static const char *some(int n, const int *positions, const MPI_Status *statuses, unsigned sends)
{
    size_t at = (size_t)sprintf(text, "[");
    for (int i = 0; i < n; i++) {
        at += (size_t)sprintf(text + at, "%s%d", i ? "," : "", positions[i]);
        if (!(sends >> positions[i] & 1)) /* messages with tag t hold t integers */
            at += (size_t)sprintf(text + at, "(source=%d,tag=%d,bytes=%d)", statuses[i].MPI_SOURCE,
                                  statuses[i].MPI_TAG, 4 * statuses[i].MPI_TAG);
    }
    sprintf(text + at, "]");
    return text;
}

static const char *indices(int n, const int *values)
{
    static char list[256];
    size_t at = (size_t)sprintf(list, "[");
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(list + at, "%s%d", i ? "," : "", values[i]);
    sprintf(list + at, "]");
    return list;
}

/* Sends tag integers. */
static void send(int tag)
{
    int data[64] = {0};
    CALL(MPI_Send(data, tag, MPI_INT, 1, tag, MPI_COMM_WORLD), "dest=1 tag=%d bytes=%d", tag,
         4 * tag);
}

static void go_on(int to)
{
    CALL(MPI_Send(NULL, 0, MPI_INT, to, 99, MPI_COMM_WORLD), "dest=%d tag=99 bytes=0", to);
}

static void wait_for(int from)
{
    CALL(MPI_Recv(NULL, 0, MPI_INT, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
         "source=%d tag=99 bytes=0", from);
}

static void waitany_sender(void)
{
    send(2);
    wait_for(1);
    send(1);
}

static void waitany(void)
{
    int data[3][64], index;
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    CALL(MPI_Irecv(data[0], 64, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]),
         "source=ANY_SOURCE tag=1 !bytes");
    CALL(MPI_Irecv(data[2], 64, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[2]),
         "source=0 tag=ANY_TAG !bytes");
    CALL(MPI_Waitany(3, requests, &index, &status),
         "count=3 array_of_requests=[recent:2,null,recent:1] index=2 source=0 tag=2 bytes=8");
    go_on(0);
    CALL(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE),
         "count=3 array_of_requests=[recent:2,null,null] index=0 source=0 tag=1 bytes=4");
    CALL(MPI_Waitany(3, requests, &index, &status),
         "count=3 array_of_requests=[null,null,null] index=UNDEFINED !source !bytes");
}

static void waitsome_sender(void)
{
    wait_for(1);
    send(5);
    send(4);
    send(6);
}

/* Three receives and a send; whatever comes first is told in the order that MPI told it. */
static void waitsome(void)
{
    int data[3][64], left = 4, n, which[4], first = 1;
    MPI_Request requests[5];
    MPI_Status statuses[5];
    requests[4] = MPI_REQUEST_NULL;
    for (int i = 0; i < 3; i++)
        CALL(MPI_Irecv(data[i], 64, MPI_INT, MPI_ANY_SOURCE, 4 + i, MPI_COMM_WORLD, &requests[i]),
             "count=64 source=ANY_SOURCE tag=%d", 4 + i);
    CALL(MPI_Isend(data[0], 0, MPI_INT, 0, 99, MPI_COMM_WORLD, &requests[3]),
         "count=0 dest=0 tag=99 bytes=0");
    while (left > 0) {
        CALL(MPI_Waitsome(5, requests, &n, which, statuses),
             "incount=5 array_of_indices=%s completed=%s%s", indices(n, which),
             some(n, which, statuses, 8),
             first ? " array_of_requests=[recent:4,recent:3,recent:2,recent:1,null]" : "");
        left -= n;
        first = 0;
    }
    CALL(MPI_Waitsome(5, requests, &n, which, statuses),
         "array_of_requests=[null,null,null,null,null] array_of_indices=UNDEFINED completed=[]");
}

static void waitall_sender(void)
{
    send(10);
    send(11);
}

static void waitall(void)
{
    int data[64], other[64];
    MPI_Request requests[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL};
    CALL(MPI_Irecv(data, 64, MPI_INT, 0, 11, MPI_COMM_WORLD, &requests[3]), "source=0 tag=11");
    CALL(MPI_Irecv(other, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]),
         "count=10 source=ANY_SOURCE tag=ANY_TAG");
    CALL(MPI_Irecv(other, 64, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &requests[2]),
         "source=PROC_NULL tag=3");
    CALL(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE),
         "count=4 array_of_requests=[recent:2,null,recent:1,recent:3] "
         "completed=[0(source=0,tag=10,bytes=40),2(source=PROC_NULL,tag=3,bytes=0),"
         "3(source=0,tag=11,bytes=44)] bytes=84");
    CALL(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE), "count=0 array_of_requests=[] completed=[]");
}

/* Polls of several requests; the other side sends only when the polling has begun. */
static void testall(void)
{
    int data[2][64], flag, index;
    MPI_Request requests[2];
    MPI_Status status;
    for (int i = 0; i < 2; i++)
        CALL(MPI_Irecv(data[i], 64, MPI_INT, 0, 20 + i, MPI_COMM_WORLD, &requests[i]),
             "source=0 tag=%d", 20 + i);
    CALL(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE),
         "array_of_requests=[recent:2,recent:1] polls=1");
    CALL(MPI_Testany(2, requests, &index, &flag, &status),
         "array_of_requests=[recent:2,recent:1] polls=1");
    go_on(0);
    POLL(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE), flag,
         "array_of_requests=[recent:2,recent:1]",
         "completed=[0(source=0,tag=20,bytes=80),1(source=0,tag=21,bytes=84)] bytes=164 !polls");
    CALL(MPI_Testany(2, requests, &index, &flag, &status),
         "array_of_requests=[null,null] index=UNDEFINED !polls");
    CALL(MPI_Irecv(data[1], 64, MPI_INT, MPI_ANY_SOURCE, 22, MPI_COMM_WORLD, &requests[1]),
         "tag=22");
    go_on(0);
    POLL(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE), flag,
         "array_of_requests=[null,recent:1]", "index=1 source=0 tag=22 bytes=88 !polls");
}

static void testall_sender(void)
{
    wait_for(1);
    send(20);
    send(21);
    wait_for(1);
    send(22);
}

/* A request that is freed, one that is cancelled. */
static void freed_and_cancelled(int rank)
{
    int data[64];
    MPI_Request request;
    MPI_Status status;
    CALL(MPI_Isend(data, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &request), "dest=%d tag=30", rank);
    CALL(MPI_Request_free(&request), "request=recent:1");
    CALL(MPI_Recv(data, 1, MPI_INT, rank, 30, MPI_COMM_WORLD, &status), "tag=30 bytes=4");
    CALL(MPI_Irecv(data, 1, MPI_INT, rank, 31, MPI_COMM_WORLD, &request), "tag=31");
    CALL(MPI_Cancel(&request), "request=recent:1");
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 cancelled=1 !bytes");
    CALL(MPI_Wait(&request, &status), "request=null !cancelled !source");
}

/* Sends that are complete when they are made; MPICH gives all of them one handle. */
static void many(void)
{
    static MPI_Request requests[MANY];
    static char list[16 * MANY], done[16 * MANY];
    size_t a = (size_t)sprintf(list, "["), b = (size_t)sprintf(done, "[");
    for (int i = 0; i < MANY; i++) {
        CALL(MPI_Isend(NULL, 0, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]),
             "dest=PROC_NULL tag=%d bytes=0", i);
        a += (size_t)sprintf(list + a, "%srecent:%d", i ? "," : "", MANY - i);
        b += (size_t)sprintf(done + b, "%s%d", i ? "," : "", i);
    }
    CALL(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE),
         "array_of_requests=%s] completed=%s] !bytes", list, done);
}

/* The same for messages to the process itself, waited for one by one. */
static void many_to_self(int rank)
{
    static MPI_Request requests[MANY];
    int data;
    for (int i = 0; i < MANY; i++)
        CALL(MPI_Isend(&i, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, &requests[i]), "tag=40 bytes=4");
    for (int i = 0; i < MANY; i++)
        CALL(MPI_Recv(&data, 1, MPI_INT, rank, 40, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "tag=40 bytes=4");
    for (int i = 0; i < MANY; i++)
        CALL(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), "request=recent:%d !source", MANY - i);
}

int main(int argc, char **argv)
{
    int rank;
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    if (rank == 0) {
        waitany_sender();
        waitsome_sender();
        waitall_sender();
        testall_sender();
    } else {
        waitany();
        waitsome();
        waitall();
        testall();
    }
    freed_and_cancelled(rank);
    many();
    many_to_self(rank);
    return expect_finalize(rank);
}
