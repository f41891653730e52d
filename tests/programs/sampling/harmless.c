/* Says what a program sees of its messages: order, statuses, error codes. It has a ring of
 * synchronous sends, thousands of receives that wait, a receive that is too short, communicators
 * that are freed with messages on their way, and ranks that have nothing to do early. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PENDING = 3000, ROUNDS = 200 };

static int rank, size, before, after;
static unsigned long seen;

/* A hash of all values that were seen, in order. */
static void see(long value)
{
    seen = seen * 1099511628211u + (unsigned long)value;
}

static void see_status(const MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    see(status->MPI_SOURCE);
    see(status->MPI_TAG);
    see(count);
}

static void ring_of_ssends(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        MPI_Status status;
        int out = i, in = -1;
        MPI_Irecv(&in, 1, MPI_INT, before, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
        MPI_Ssend(&out, 1, MPI_INT, after, i % 7, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        see_status(&status, MPI_INT);
        see(in);
    }
}

static void many_pending(void)
{
    static MPI_Request requests[2 * PENDING];
    static MPI_Status statuses[2 * PENDING];
    static int in[PENDING], out[PENDING];
    for (int i = 0; i < PENDING; i++) {
        out[i] = rank * PENDING + i;
        MPI_Irecv(&in[i], 1, MPI_INT, before, i % 3 ? 9 : MPI_ANY_TAG, MPI_COMM_WORLD,
                  &requests[i]);
    }
    for (int i = 0; i < PENDING; i++)
        MPI_Isend(&out[i], 1, MPI_INT, after, 9, MPI_COMM_WORLD, &requests[PENDING + i]);
    MPI_Waitall(2 * PENDING, requests, statuses);
    for (int i = 0; i < PENDING; i++) {
        see_status(&statuses[i], MPI_INT);
        see(in[i]);
    }
}

static void too_short(void)
{
    int in[2] = {0}, out[3] = {1, 2, 3}, error_class;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Isend(out, 3, MPI_INT, after, 11, MPI_COMM_WORLD, &request);
    const int error = MPI_Recv(in, 2, MPI_INT, before, 11, MPI_COMM_WORLD, &status);
    MPI_Error_class(error, &error_class);
    see(error_class == MPI_ERR_TRUNCATE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    see(MPI_Send(out, 1, MPI_INT, size + 5, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void freed_communicators(void)
{
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int in = -1, out = 100 * i + rank;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Irecv(&in, 1, MPI_INT, before, 1, comm, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, after, 1, comm, &requests[1]);
        MPI_Comm_free(&comm);
        MPI_Waitall(2, requests, statuses);
        see_status(&statuses[0], MPI_INT);
        see(in);
    }
}

/* The last two ranks go on when the others are in MPI_Finalize. */
static void last_ones(void)
{
    for (int i = 0; i < 5 * ROUNDS && rank >= size - 2; i++) {
        int in = -1, out = i;
        const int other = rank == size - 1 ? size - 2 : size - 1;
        MPI_Sendrecv(&out, 1, MPI_INT, other, 2, &in, 1, MPI_INT, other, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        see(in);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    before = (rank + size - 1) % size;
    after = (rank + 1) % size;
    ring_of_ssends();
    many_pending();
    too_short();
    freed_communicators();
    last_ones();
    printf("%d %lx\n", rank, seen);
    MPI_Finalize();
    return 0;
}
