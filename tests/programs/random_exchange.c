/* Calls that a seed chooses, the same on all ranks; each sleeps as its own seed says.
 *
 *     random_exchange SEED ROUNDS
 *
 * At most one request of a rank is not completed by the MPI_Waitall that follows it. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 1 << 16 };

static char out[MOST], in[MOST];
static int rank, size;
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

/* Each rank gets a message from one that is some ranks before it. */
static void shift(int bytes, int by, int how)
{
    int to = (rank + by) % size, from = (rank + size - by) % size;
    MPI_Request requests[2];
    switch (how) {
    case 0:
        MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        break;
    case 1:
        MPI_Irecv(in, bytes, MPI_BYTE, from, 2, MPI_COMM_WORLD, &requests[0]);
        work();
        MPI_Isend(out, bytes, MPI_BYTE, to, 2, MPI_COMM_WORLD, &requests[1]);
        work();
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        break;
    default:
        MPI_Irecv(in, bytes, MPI_BYTE, from, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Send(out, bytes, MPI_BYTE, to, 3, MPI_COMM_WORLD);
        work();
        MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
    }
}

static void together(int root, int how)
{
    double mine = rank, all = 0;
    switch (how) {
    case 0:
        MPI_Barrier(MPI_COMM_WORLD);
        break;
    case 1:
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    case 2:
        MPI_Bcast(&mine, 1, MPI_DOUBLE, root, MPI_COMM_WORLD);
        break;
    case 3:
        MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
        break;
    default:
        MPI_Scan(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    common = (unsigned)atoi(argv[1]);
    own = common * 100 + (unsigned)rank;
    for (int i = 0; i < rounds; i++) {
        work();
        if (draw(&common, 3) < 2)
            shift(1 << draw(&common, 16), 1 + (int)draw(&common, (unsigned)size - 1),
                  (int)draw(&common, 3));
        else
            together((int)draw(&common, (unsigned)size), (int)draw(&common, 5));
    }
    MPI_Finalize();
    return 0;
}
