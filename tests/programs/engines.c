/* Messages that an engine may mix up or wait for in vain: equal tags on several communicators in
 * crossing order, buffered sends of any size, collective calls under way on several communicators,
 * and among neighbours.
 */
#include <mpi.h>
#include <stdlib.h>

enum { LARGE = 300000, STEPS = 10 };

static int rank, size, next, before;
static char *out, *in;

/* The later communicator's messages are received first. */
static void crossing(MPI_Comm first, MPI_Comm second)
{
    MPI_Request requests[2];
    MPI_Isend(out, 100, MPI_BYTE, next, 7, first, &requests[0]);
    MPI_Isend(out, LARGE, MPI_BYTE, next, 7, second, &requests[1]);
    MPI_Recv(in, LARGE, MPI_BYTE, before, 7, second, MPI_STATUS_IGNORE);
    MPI_Recv(in, 100, MPI_BYTE, before, 7, first, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* All send before anyone receives. */
static void buffered(void)
{
    const int room = STEPS * (LARGE + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)room);
    MPI_Buffer_attach(buffer, room);
    for (int i = 0; i < STEPS; i++)
        MPI_Bsend(out, LARGE, MPI_BYTE, next, i % 2, MPI_COMM_WORLD);
    for (int i = 0; i < STEPS; i++)
        MPI_Recv(in, LARGE, MPI_BYTE, before, i % 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&buffer, &(int){0});
    free(buffer);
}

static void collectives(MPI_Comm first, MPI_Comm second)
{
    static double values[4][1000];
    MPI_Request requests[3];
    MPI_Ireduce(values[0], values[1], 1000, MPI_DOUBLE, MPI_SUM, 0, first, &requests[0]);
    MPI_Iallreduce(values[0], values[2], 1000, MPI_DOUBLE, MPI_SUM, second, &requests[1]);
    MPI_Ibcast(values[3], 1000, MPI_DOUBLE, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allreduce(values[0], values[1], 1000, MPI_DOUBLE, MPI_SUM, second);
}

static void neighbours(void)
{
    const int periodic = 1;
    MPI_Comm ring;
    MPI_Request request;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    for (int i = 0; i < STEPS; i++)
        MPI_Neighbor_alltoall(out, 5000, MPI_BYTE, in, 5000, MPI_BYTE, ring);
    MPI_Ineighbor_allgather(out, 5000, MPI_BYTE, in, 5000, MPI_BYTE, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&ring);
}

int main(int argc, char **argv)
{
    MPI_Comm first, second;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    out = calloc(2, LARGE);
    in = calloc(2, LARGE);
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &second);
    for (int i = 0; i < STEPS; i++)
        crossing(first, second);
    buffered();
    collectives(first, second);
    neighbours();
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
