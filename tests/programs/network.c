/* Programs whose run time is mostly the network's: what a slower or faster one would make of it is
 * asked of `refrain whatif`, and then simulated.
 *
 *     network SHAPE BYTES ROUNDS WORK
 *
 * At first rank 0 sends messages to rank 1, which waits for them: they show what the network takes.
 * Then in each round each rank sleeps for WORK microseconds, one per rank more, then
 *
 *     chain      the first rank sends to the second, that to the third, and so on
 *     ring       all send to the next with MPI_Isend and receive with MPI_Recv
 *     halo       all exchange with both neighbours: four requests, one MPI_Waitall
 *     pairs      two ranks send to and fro with MPI_Ssend
 *     NAME       all call this collective function: Barrier, Bcast, Reduce, Allreduce, Gather,
 * Scatter, Allgather, Alltoall, Scan */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, bytes;
static char *out, *in;

static void send_to(int to)
{
    MPI_Send(out, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
}

static void receive_from(int from)
{
    MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void chain(void)
{
    if (rank > 0)
        receive_from(rank - 1);
    if (rank < size - 1)
        send_to(rank + 1);
}

static void ring(void)
{
    MPI_Request request;
    MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &request);
    receive_from((rank + size - 1) % size);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void halo(void)
{
    MPI_Request requests[4];
    const int near[2] = {(rank + 1) % size, (rank + size - 1) % size};
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in + i * bytes, bytes, MPI_BYTE, near[i], 1, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 2; i++)
        MPI_Isend(out, bytes, MPI_BYTE, near[i], 1, MPI_COMM_WORLD, &requests[2 + i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void pairs(void)
{
    const int partner = rank ^ 1;
    if (partner >= size)
        return;
    if (rank < partner)
        MPI_Ssend(out, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
    receive_from(partner);
    if (rank > partner)
        MPI_Ssend(out, bytes, MPI_BYTE, partner, 1, MPI_COMM_WORLD);
}

/* A message for a rank that waits, and one for a rank that does not yet: they show what the way
 * takes, and that a sender does not wait. */
static void probe(void)
{
    static const int sizes[] = {1, 40000};
    static char data[40000];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; rank == 0 && k < 2; k++) {
            usleep(1000);
            MPI_Send(data, sizes[i], MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        }
        if (rank == 1) {
            MPI_Recv(data, sizes[i], MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            usleep(2000);
            MPI_Recv(data, sizes[i], MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void)
{
    MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(void)
{
    MPI_Reduce(out, in, bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static void gather(void)
{
    MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void scatter(void)
{
    MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allgather(void)
{
    MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(void)
{
    MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void scan(void)
{
    MPI_Scan(out, in, bytes, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*run)(void);
} shapes[] = {{"chain", chain},     {"ring", ring},           {"halo", halo},
              {"pairs", pairs},     {"Barrier", barrier},     {"Bcast", bcast},
              {"Reduce", reduce},   {"Allreduce", allreduce}, {"Gather", gather},
              {"Scatter", scatter}, {"Allgather", allgather}, {"Alltoall", alltoall},
              {"Scan", scan}};

int main(int argc, char **argv)
{
    void (*shape)(void) = NULL;
    for (size_t i = 0; argc == 5 && i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(argv[1], shapes[i].name) == 0)
            shape = shapes[i].run;
    if (!shape) {
        fprintf(stderr, "usage: network SHAPE BYTES ROUNDS WORK\n");
        return 2;
    }
    bytes = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    out = calloc((size_t)size, (size_t)bytes);
    in = calloc((size_t)size + 2, (size_t)bytes);
    probe();
    for (int i = 0; i < atoi(argv[3]); i++) {
        usleep((useconds_t)(atoi(argv[4]) + rank));
        shape();
    }
    MPI_Finalize();
    return 0;
}
