/* Calls that a seed chooses, the same on all ranks; each rank computes in between as its own seed
 * says. What random_exchange.c does not have: communicators, wildcards, synchronous sends, requests
 * that are completed one by one, collective calls with parts.
 *
 *     random_calls SEED ROUNDS */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 1 << 16, RANKS = 64 };

static char out[MOST], in[MOST];
static int rank, size; /* in the communicator at hand */
static MPI_Comm comm;
static unsigned common, own;

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 8) % n;
}

static void work(void)
{
    usleep(draw(&own, 5) * 1000);
}

static void choose(MPI_Comm one)
{
    comm = one;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

/* All send to one, which takes the messages as they come. */
static void collect(int bytes, int root)
{
    MPI_Status status;
    if (rank != root)
        MPI_Send(out, bytes, MPI_BYTE, root, 4, comm);
    for (int i = 1; rank == root && i < size; i++) {
        MPI_Recv(in, MOST, MPI_BYTE, MPI_ANY_SOURCE, 4, comm,
                 &status); /* one of the next round, too */
        work();
    }
}

/* The same; the receives are posted before, and completed in the order in which they end. */
static void collect_any(int bytes, int root)
{
    MPI_Request requests[RANKS];
    if (rank != root) {
        work();
        MPI_Send(out, bytes, MPI_BYTE, root, 5, comm);
        return;
    }
    for (int i = 0; i < size; i++) {
        requests[i] = MPI_REQUEST_NULL;
        if (i != root)
            MPI_Irecv(in, bytes, MPI_BYTE, i, 5, comm, &requests[i]);
    }
    for (int i = 1, done; i < size; i++) {
        MPI_Waitany(size, requests, &done, MPI_STATUS_IGNORE);
        work();
    }
}

/* Neighbours, one of which sends synchronously. */
static void pairs(int bytes, int how)
{
    const int partner = rank ^ 1;
    MPI_Request request;
    if (partner >= size)
        return;
    if (rank > partner) {
        MPI_Irecv(in, bytes, MPI_BYTE, partner, 6, comm, &request);
        work();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (how) {
        MPI_Ssend(out, bytes, MPI_BYTE, partner, 6, comm);
    } else {
        MPI_Issend(out, bytes, MPI_BYTE, partner, 6, comm, &request);
        work();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* All four messages at once: they share links. */
static void halo(int bytes)
{
    MPI_Request requests[4];
    const int near[2] = {(rank + 1) % size, (rank + size - 1) % size};
    for (int i = 0; i < 2; i++)
        MPI_Irecv(in, bytes, MPI_BYTE, near[i], 7, comm, &requests[i]);
    for (int i = 0; i < 2; i++)
        MPI_Isend(out, bytes, MPI_BYTE, near[i], 7, comm, &requests[2 + i]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void together(int bytes, int root, int how)
{
    switch (how) {
    case 0:
        MPI_Gather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm);
        break;
    case 1:
        MPI_Scatter(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, root, comm);
        break;
    case 2:
        MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
        break;
    case 3:
        MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, comm);
        break;
    case 4:
        MPI_Exscan(out, in, bytes, MPI_BYTE, MPI_BOR, comm);
        break;
    default:
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm half, comms[2] = {MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    choose(MPI_COMM_WORLD);
    common = (unsigned)atoi(argv[1]);
    own = common * 100 + (unsigned)rank;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    comms[1] = half;
    for (int i = 0; i < rounds; i++) {
        choose(comms[draw(&common, 2)]);
        const int bytes = 1 << draw(&common, 12), root = (int)draw(&common, 64) % size;
        const int how = (int)draw(&common, 14);
        work();
        if (how == 0)
            collect(bytes, root);
        else if (how == 1)
            collect_any(bytes, root);
        else if (how < 4)
            pairs(bytes, how == 2);
        else if (how < 6)
            halo(16 * bytes);
        else
            together(bytes, root, how - 6);
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
