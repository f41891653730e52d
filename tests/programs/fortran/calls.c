/* The calls that the three Fortran programs beside this one make, in the same order with the same
 * arguments: their archives have to hold the same events. Ranks: 3.
 *
 * Types have their Fortran names here, as C programs may use them too. */
#include <mpi.h>
#include <stdlib.h>

enum { N = 8 };

static int rank, size, right, left;
static double out[N], in[N * N], many[3 * N];
static int counts[3] = {1, 2, 3}, displacements[3] = {0, 2, 5};

static void point_to_point(MPI_Comm comm)
{
    MPI_Status status;
    if (rank == 0) {
        MPI_Send(out, N, MPI_DOUBLE_PRECISION, 1, 7, comm);
        MPI_Recv(in, N, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, N, MPI_DOUBLE_PRECISION, 0, 7, comm, MPI_STATUS_IGNORE);
        MPI_Send(out, 3, MPI_DOUBLE_PRECISION, 2, 8, comm);
    } else {
        MPI_Recv(in, N, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        if (status.MPI_SOURCE != 1 || status.MPI_TAG != 8)
            MPI_Abort(comm, 1);
        MPI_Ssend(out, 5, MPI_DOUBLE_PRECISION, 0, 9, comm);
    }
    MPI_Sendrecv(out, 2, MPI_DOUBLE_PRECISION, right, 10, in, 4, MPI_DOUBLE_PRECISION, left, 10,
                 comm, &status);
    MPI_Sendrecv(out, 2, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 11, in, 4, MPI_DOUBLE_PRECISION,
                 MPI_PROC_NULL, 11, comm, MPI_STATUS_IGNORE);
}

static void requests(MPI_Comm comm)
{
    MPI_Request request[4];
    MPI_Status statuses[4];
    int index, done = 0, n, indices[4];
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(in + i, 1, MPI_DOUBLE_PRECISION, left, 20 + i, comm, &request[i]);
        MPI_Isend(out + i, 1, MPI_DOUBLE_PRECISION, right, 20 + i, comm, &request[2 + i]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    MPI_Irecv(in, 4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 30, comm, &request[1]);
    MPI_Isend(out, 2, MPI_DOUBLE_PRECISION, right, 30, comm, &request[0]);
    MPI_Waitall(2, request, statuses);
    request[0] = MPI_REQUEST_NULL;
    MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, left, 31, comm, &request[1]);
    MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 31, comm);
    MPI_Waitany(2, request, &index, &statuses[0]);
    if (index != 1)
        MPI_Abort(comm, 2);
    MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, left, 32, comm, &request[1]);
    MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 32, comm);
    MPI_Waitsome(2, request, &n, indices, MPI_STATUSES_IGNORE);
    if (n != 1 || indices[0] != 1)
        MPI_Abort(comm, 3);
    MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, left, 33, comm, &request[0]);
    MPI_Send(out, 1, MPI_DOUBLE_PRECISION, right, 33, comm);
    while (!done)
        MPI_Test(&request[0], &done, MPI_STATUS_IGNORE);
    MPI_Waitall(0, request, MPI_STATUSES_IGNORE);
    MPI_Waitany(0, request, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(0, request, &n, indices, MPI_STATUSES_IGNORE);
    MPI_Testall(0, request, &done, MPI_STATUSES_IGNORE);
    MPI_Testany(0, request, &index, &done, MPI_STATUS_IGNORE);
    MPI_Testsome(0, request, &n, indices, MPI_STATUSES_IGNORE);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request request[2];
    MPI_Recv_init(in, 1, MPI_DOUBLE_PRECISION, left, 40, comm, &request[0]);
    MPI_Send_init(out, 1, MPI_DOUBLE_PRECISION, right, 40, comm, &request[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&request[0]);
    MPI_Start(&request[1]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void probes(MPI_Comm comm)
{
    int there = 0, count;
    MPI_Status status;
    if (rank == 0) {
        MPI_Send(out, 3, MPI_DOUBLE_PRECISION, 1, 50, comm);
    } else if (rank == 1) {
        while (!there)
            MPI_Iprobe(0, 50, comm, &there, &status);
        MPI_Get_count(&status, MPI_DOUBLE_PRECISION, &count);
        if (count != 3)
            MPI_Abort(comm, 4);
        MPI_Recv(in, count, MPI_DOUBLE_PRECISION, 0, 50, comm, MPI_STATUS_IGNORE);
    }
}

static void collectives(MPI_Comm comm)
{
    MPI_Bcast(out, N, MPI_DOUBLE_PRECISION, 1, comm);
    MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, comm);
    MPI_Allreduce(out, in, 2, MPI_DOUBLE_PRECISION, MPI_MAX, comm);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : in, rank == 0 ? in : NULL, 1, MPI_DOUBLE_PRECISION,
               MPI_SUM, 0, comm);
    MPI_Gatherv(out, rank + 1, MPI_DOUBLE_PRECISION, many, counts, displacements,
                MPI_DOUBLE_PRECISION, 2, comm);
    MPI_Barrier(comm);
}

static void communicators(MPI_Comm comm)
{
    MPI_Comm part, twin;
    MPI_Comm_split(comm, rank % 2, -rank, &part);
    MPI_Comm_set_name(part, "odd and even");
    MPI_Allreduce(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, part);
    MPI_Comm_free(&part);
    MPI_Comm_split(comm, rank == 0 ? MPI_UNDEFINED : 5, 0, &part);
    if (rank != 0)
        MPI_Comm_free(&part);
    MPI_Comm_dup(comm, &twin);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
}

static void types_and_attributes(MPI_Comm comm)
{
    MPI_Datatype column;
    MPI_Info info;
    void *value;
    int flag;
    char text[MPI_MAX_INFO_KEY + 1];
    MPI_Type_vector(3, 1, N, MPI_DOUBLE_PRECISION, &column);
    MPI_Type_commit(&column);
    if (rank == 0)
        MPI_Send(in, 1, column, 1, 60, comm);
    else if (rank == 1)
        MPI_Recv(in, 1, column, 0, 60, comm, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag);
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "read_once");
    MPI_Info_get(info, "access_style", 20, text, &flag);
    MPI_Info_get(info, "nowhere", 20, text, &flag);
    MPI_Info_get_nthkey(info, 0, text);
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int i = 0; i < 2; i++) {
        point_to_point(MPI_COMM_WORLD);
        requests(MPI_COMM_WORLD);
        persistent(MPI_COMM_WORLD);
        probes(MPI_COMM_WORLD);
        collectives(MPI_COMM_WORLD);
        communicators(MPI_COMM_WORLD);
        types_and_attributes(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
