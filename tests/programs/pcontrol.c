/* Recording switched off and on by the program: what was made meanwhile is known afterwards, and
 * requests that the record does not tell of are UNKNOWN. Calls without CALL are made while it is
 * off. ranks: 2 */
#include "expect.h"

#include <refrain/region.h>

#define OFF() CALL(MPI_Pcontrol(0), "level=0")
#define ON()  CALL(MPI_Pcontrol(1), "level=1")

enum { N = 4 };

static int rank, other, in[8 * N], out[8 * N];

static void objects(void)
{
    MPI_Comm twin;
    MPI_Datatype pair;
    MPI_Request request;
    OFF();
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Barrier(twin);
    ON();
    CALL(MPI_Barrier(twin), "comm=@twin");
    CALL(MPI_Sendrecv(out, 2, pair, other, 1, in, 2, pair, other, 1, twin, MPI_STATUS_IGNORE),
         "comm=@twin bytes=16 sent_bytes=16 sendtype=contiguous(2,MPI_INT)");
    CALL(MPI_Comm_free(&twin), "comm=@twin");
    CALL(MPI_Type_free(&pair), "%s", "");
    OFF();
    MPI_Comm_idup(MPI_COMM_WORLD, &twin, &request);
    ON();
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=UNKNOWN");
    CALL(MPI_Barrier(twin), "comm=@later");
    CALL(MPI_Comm_free(&twin), "comm=@later");
}

static void requests(void)
{
    MPI_Request r[4];
    /* Made while off, completed while on. */
    OFF();
    MPI_Irecv(in, N, MPI_INT, other, 2, MPI_COMM_WORLD, &r[0]);
    ON();
    CALL(MPI_Irecv(in + N, 2 * N, MPI_INT, other, 3, MPI_COMM_WORLD, &r[1]), "tag=3");
    CALL(MPI_Isend(out, N, MPI_INT, other, 2, MPI_COMM_WORLD, &r[2]), "tag=2 bytes=16");
    CALL(MPI_Isend(out, N, MPI_INT, other, 3, MPI_COMM_WORLD, &r[3]), "tag=3 bytes=16");
    CALL(MPI_Waitall(4, r, MPI_STATUSES_IGNORE),
         "array_of_requests=[UNKNOWN,recent:3,recent:2,recent:1] "
         "completed=[0,1(source=%d,tag=3,bytes=16),2,3] bytes=16",
         other);
    /* Made while on, completed while off. */
    CALL(MPI_Irecv(in, N, MPI_INT, other, 4, MPI_COMM_WORLD, &r[0]), "tag=4");
    OFF();
    MPI_Isend(out, N, MPI_INT, other, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    ON();
    CALL(MPI_Irecv(in, N, MPI_INT, other, 5, MPI_COMM_WORLD, &r[0]), "tag=5");
    CALL(MPI_Send(out, 1, MPI_INT, other, 5, MPI_COMM_WORLD), "tag=5");
    CALL(MPI_Wait(&r[0], MPI_STATUS_IGNORE), "request=recent:1 source=%d tag=5 bytes=4", other);
}

static void persistent(void)
{
    MPI_Request r;
    /* Made while off. */
    OFF();
    MPI_Recv_init(in, N, MPI_INT, other, 6, MPI_COMM_WORLD, &r);
    ON();
    CALL(MPI_Start(&r), "request=UNKNOWN");
    CALL(MPI_Send(out, N, MPI_INT, other, 6, MPI_COMM_WORLD), "tag=6");
    CALL(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=UNKNOWN");
    CALL(MPI_Request_free(&r), "request=UNKNOWN");
    /* Made while on, started while off, completed while on. */
    CALL(MPI_Recv_init(in, N, MPI_INT, other, 7, MPI_COMM_WORLD, &r), "request=slot:0");
    OFF();
    MPI_Start(&r);
    ON();
    CALL(MPI_Send(out, N, MPI_INT, other, 7, MPI_COMM_WORLD), "tag=7");
    CALL(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=UNKNOWN");
    /* Started while on, completed while off; inactive then. */
    CALL(MPI_Start(&r), "request=slot:0");
    CALL(MPI_Send(out, N, MPI_INT, other, 7, MPI_COMM_WORLD), "tag=7");
    OFF();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    ON();
    CALL(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=UNKNOWN !bytes");
    /* As if nothing had been. */
    CALL(MPI_Start(&r), "request=slot:0");
    CALL(MPI_Send(out, 3, MPI_INT, other, 7, MPI_COMM_WORLD), "tag=7");
    CALL(MPI_Wait(&r, MPI_STATUS_IGNORE), "request=slot:0 source=%d tag=7 bytes=12", other);
    CALL(MPI_Request_free(&r), "request=slot:0");
}

/* A region whose begin is recorded has its end recorded, others have neither. */
static void regions(void)
{
    CALL(refrain_region_begin("across"), "name=across");
    OFF();
    refrain_region_begin("off");
    refrain_region_begin("halfway");
    refrain_region_end("halfway");
    ON();
    CALL(refrain_region_begin("in off"), "%s", "name=in\\soff");
    CALL(refrain_region_end("in off"), "%s", "name=in\\soff");
    refrain_region_end("off"); /* its begin was not recorded */
    CALL(refrain_region_end("across"), "name=across");
    CALL(refrain_region_begin("to off"), "%s", "name=to\\soff");
    OFF();
    CALL(refrain_region_end("to off"), "%s", "name=to\\soff");
    ON();
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    objects();
    requests();
    persistent();
    regions();
    CALL(MPI_Pcontrol(2), "level=2");
    CALL(MPI_Pcontrol(17, "more", 3), "level=17");
    OFF();
    OFF();
    MPI_Barrier(MPI_COMM_WORLD);
    return expect_finalize(rank); /* MPI_Finalize is always recorded */
}
