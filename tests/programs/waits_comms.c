/* The same ranks and the same tag in many communicators: only the communicator tells which message
 * a receive gets. Even ranks send to the odd rank above them, one message per communicator, one
 * step apart. Rank 1 receives them in reverse order, and so waits once, for the last, while the
 * others lie there; the other receivers wait one step for each. Then all send to themselves, and
 * odd ranks back in the intercommunicator, a step later. With an argument there are none. ranks: 4,
 * or a larger even number */
#include "steps.h"

enum { TAG = 3, MOST = 8 };

static int rank;

struct way {
    MPI_Comm comm;
    int peer; /* rank of the other one of the pair */
};

/* The pairs in communicators of their own, ranks in reverse order. */
static struct way split(void)
{
    struct way way;
    int size, me;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &way.comm);
    MPI_Comm_size(way.comm, &size);
    MPI_Comm_rank(way.comm, &me);
    way.peer = size - 1 - me;
    return way;
}

/* Even ranks on one side, odd ones on the other. */
static struct way across(void)
{
    struct way way = {.peer = rank / 2};
    MPI_Comm side;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 9, &way.comm);
    return way;
}

/* The same as one, the even ranks first. */
static struct way merged(MPI_Comm between)
{
    struct way way;
    int size;
    MPI_Intercomm_merge(between, rank % 2, &way.comm);
    MPI_Comm_size(way.comm, &size);
    way.peer = rank / 2 + (rank % 2 ? 0 : size / 2);
    return way;
}

static void send(const struct way *ways, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        steps(1);
        MPI_Send(&value, 1, MPI_INT, ways[i].peer, TAG, ways[i].comm);
    }
}

static void receive(const struct way *ways, int n)
{
    int value;
    for (int i = 0; i < n; i++) {
        const struct way *way = &ways[rank == 1 ? n - 1 - i : i];
        MPI_Recv(&value, 1, MPI_INT, way->peer, TAG, way->comm, MPI_STATUS_IGNORE);
    }
}

static void to_itself(void)
{
    int in, out = 0;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_INT, 0, TAG, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_INT, 0, TAG, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void answer(const struct way *way)
{
    int value = 0;
    if (rank % 2) {
        steps(1);
        MPI_Send(&value, 1, MPI_INT, way->peer, TAG, way->comm);
    } else {
        MPI_Recv(&value, 1, MPI_INT, way->peer, TAG, way->comm, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    struct way ways[MOST], *between = NULL;
    int n = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ways[n++] = (struct way){MPI_COMM_WORLD, rank ^ 1};
    MPI_Comm_dup(MPI_COMM_WORLD, &ways[n].comm);
    ways[n++].peer = rank ^ 1;
    MPI_Comm_dup(ways[1].comm, &ways[n].comm);
    ways[n++].peer = rank ^ 1;
    ways[n++] = split();
    if (argc == 1) {
        between = &ways[n];
        ways[n++] = across();
        ways[n++] = merged(between->comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2)
        receive(ways, n);
    else
        send(ways, n);
    to_itself();
    if (between)
        answer(between);
    MPI_Finalize();
    return 0;
}
