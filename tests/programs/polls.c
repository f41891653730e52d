/* Polls: runs without success are one line each, and their lengths are exact. ranks: 2 */
#include "expect.h"

#include <unistd.h>

enum { ROUNDS = 20, PAUSE_US = 2000 };

static void poll_for_message(int round)
{
    int flag, data[ROUNDS];
    MPI_Status status;
    MPI_Request request;
    POLL(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status), flag,
         "source=ANY_SOURCE tag=ANY_TAG comm=world !bytes", "source=0 tag=%d bytes=%d !polls",
         round, 4 * round);
    CALL(MPI_Irecv(data, ROUNDS, MPI_INT, 0, round, MPI_COMM_WORLD, &request), "tag=%d", round);
    POLL(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), flag, "request=recent:1 !bytes",
         "request=recent:1 source=0 tag=%d bytes=%d !polls", round, 4 * round);
}

/* Runs end when something else is called: each of these is an event of its own. */
static void poll_alternately(void)
{
    int flag, one = 0, other = 0, data;
    MPI_Request request;
    MPI_Status status;
    CALL(MPI_Irecv(&data, 1, MPI_INT, 0, 1000, MPI_COMM_WORLD, &request), "tag=1000");
    for (int i = 0; i < 3; i++) {
        CALL(MPI_Iprobe(0, 1001, MPI_COMM_WORLD, &one, &status), "source=0 tag=1001 polls=1");
        CALL(MPI_Test(&request, &other, &status), "request=recent:1 polls=1");
    }
    for (int i = 0; i < 5; i++)
        MPI_Request_get_status(request, &flag, &status);
    expect("MPI_Request_get_status", "request=recent:1 polls=5");
    CALL(MPI_Send(NULL, 0, MPI_INT, 0, 1002, MPI_COMM_WORLD), "dest=0 tag=1002");
    CALL(MPI_Wait(&request, &status), "source=0 tag=1000 bytes=4");
}

/* The same poll from two call sites: two runs. */
static void poll_from_two_places(void)
{
    int flag;
    for (int i = 0; i < 7; i++)
        MPI_Iprobe(0, 2000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Iprobe", "source=0 tag=2000 polls=7");
    for (int i = 0; i < 4; i++)
        MPI_Iprobe(0, 2000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Iprobe", "source=0 tag=2000 polls=4");
    for (int i = 0; i < 2; i++)
        MPI_Iprobe(0, 2001 + i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect("MPI_Iprobe", "source=0 tag=2001 polls=1");
    expect("MPI_Iprobe", "source=0 tag=2002 polls=1");
}

int main(int argc, char **argv)
{
    int rank, data[ROUNDS] = {0};
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    for (int round = 1; round < ROUNDS; round++) {
        if (rank == 1) {
            poll_for_message(round);
            continue;
        }
        usleep(PAUSE_US);
        CALL(MPI_Send(data, round, MPI_INT, 1, round, MPI_COMM_WORLD), "dest=1 tag=%d bytes=%d",
             round, 4 * round);
    }
    if (rank == 1) {
        poll_alternately();
        poll_from_two_places();
    } else {
        CALL(MPI_Recv(NULL, 0, MPI_INT, 1, 1002, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
             "source=1 tag=1002");
        CALL(MPI_Send(data, 1, MPI_INT, 1, 1000, MPI_COMM_WORLD), "dest=1 tag=1000");
    }
    return expect_finalize(rank);
}
