/* Persistent requests: made once, started in a loop, freed; slots are used again. ranks: 2 */
#include "expect.h"

enum { STEPS = 6 };

static int rank, other;

static void exchange(void)
{
    int in[16], out[16] = {0};
    MPI_Request requests[3];
    MPI_Status status;
    CALL(MPI_Recv_init(in, 16, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]),
         "count=16 source=ANY_SOURCE tag=1 request=slot:0 !bytes");
    CALL(MPI_Send_init(out, 3, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[1]),
         "count=3 dest=%d tag=1 request=slot:1 !bytes", other);
    CALL(MPI_Ssend_init(out, 5, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &requests[2]),
         "count=5 dest=PROC_NULL request=slot:2");
    for (int i = 0; i < STEPS; i++) {
        CALL(MPI_Start(&requests[0]), "request=slot:0 !bytes");
        CALL(MPI_Startall(2, requests + 1), "count=2 array_of_requests=[slot:1,slot:2] bytes=12");
        CALL(MPI_Wait(&requests[0], &status), "request=slot:0 source=%d tag=1 bytes=12", other);
        CALL(MPI_Waitall(2, requests + 1, MPI_STATUSES_IGNORE),
             "array_of_requests=[slot:1,slot:2] completed=[0,1] !bytes");
    }
    CALL(MPI_Wait(&requests[0], &status), "request=slot:0 !source !tag !bytes"); /* not active */
    for (int i = 0; i < 3; i++)
        CALL(MPI_Request_free(&requests[i]), "request=slot:%d", i);
}

/* Another kind of request in between: only persistent ones have slots. */
static void slots_again(void)
{
    int in[16], out[16] = {0}, flag;
    MPI_Request first, second, third, single;
    CALL(MPI_Bsend_init(out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &first),
         "request=slot:0");
    CALL(MPI_Rsend_init(out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &second),
         "request=slot:1");
    CALL(MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &single), "dest=PROC_NULL");
    CALL(MPI_Request_free(&first), "request=slot:0");
    CALL(MPI_Recv_init(in, 16, MPI_INT, other, 5, MPI_COMM_WORLD, &third), "request=slot:0");
    CALL(MPI_Start(&third), "request=slot:0");
    CALL(MPI_Send(out, 2, MPI_INT, other, 5, MPI_COMM_WORLD), "dest=%d bytes=8", other);
    POLL(MPI_Test(&third, &flag, MPI_STATUS_IGNORE), flag, "request=slot:0",
         "request=slot:0 source=%d tag=5 bytes=8 !polls", other);
    CALL(MPI_Wait(&single, MPI_STATUS_IGNORE), "request=recent:1");
    CALL(MPI_Start(&third), "request=slot:0");
    CALL(MPI_Cancel(&third), "request=slot:0");
    CALL(MPI_Wait(&third, MPI_STATUS_IGNORE), "request=slot:0 cancelled=1");
    CALL(MPI_Request_free(&third), "request=slot:0");
    CALL(MPI_Request_free(&second), "request=slot:1");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    exchange();
    slots_again();
    return expect_finalize(rank);
}
