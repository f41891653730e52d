/* A little of everything whose words differ in kind: groups of ranks, inter-communicators,
 * requests in every order, persistent ones, polls, lists, datatypes, files, windows, errors, values
 * that change from call to call. What matters is that all readers of the archive say the same of
 * it. ranks: 4; an argument multiplies the steps */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 64, REQUESTS = 6 };

static int rank, size, in[4 * N], out[4 * N];

/* A generator of its own, so that runs are alike on all systems. */
static unsigned number(unsigned limit)
{
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static void completions(int steps)
{
    MPI_Request requests[REQUESTS];
    MPI_Status statuses[REQUESTS];
    int indices[REQUESTS], left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int step = 0; step < steps; step++) {
        int done = 0, n = 0, index, flag = 0;
        for (int i = 0; i < REQUESTS / 2; i++) {
            MPI_Irecv(in + i * N, N, MPI_INT, i ? left : MPI_ANY_SOURCE, i ? i : MPI_ANY_TAG,
                      MPI_COMM_WORLD, &requests[2 * i]);
            MPI_Barrier(MPI_COMM_WORLD); /* so that the wildcard gets the first message */
            MPI_Isend(out, 1 + (step * 7 + i) % 32, MPI_INT, right, i, MPI_COMM_WORLD,
                      &requests[2 * i + 1]);
        }
        switch (step % 5) {
        case 0:
            MPI_Waitall(REQUESTS, requests, step % 2 ? statuses : MPI_STATUSES_IGNORE);
            break;
        case 1:
            for (int i = 0; i < REQUESTS; i++)
                MPI_Waitany(REQUESTS, requests, &index, statuses);
            MPI_Waitany(REQUESTS, requests, &index, statuses); /* none is left */
            break;
        case 2:
            while (done < REQUESTS) {
                MPI_Waitsome(REQUESTS, requests, &n, indices, statuses);
                done += n;
            }
            break;
        case 3:
            while (done < REQUESTS) {
                MPI_Testsome(REQUESTS, requests, &n, indices, statuses);
                done += n;
            }
            break;
        default:
            while (!flag)
                MPI_Testall(REQUESTS, requests, &flag, statuses);
        }
    }
}

static void one_request(int steps)
{
    MPI_Request request, kept[2];
    MPI_Status status;
    int flag = 0, left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(in, N, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Recv_init(in, N, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &kept[0]);
    MPI_Send_init(out, 9, MPI_INT, right, 3, MPI_COMM_WORLD, &kept[1]);
    for (int step = 0; step < steps; step++) {
        if (step % 2) {
            MPI_Startall(2, kept);
            MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
        } else {
            MPI_Start(&kept[0]);
            MPI_Start(&kept[1]);
            MPI_Request_get_status(kept[0], &flag, &status);
            MPI_Wait(&kept[0], &status);
            MPI_Wait(&kept[1], MPI_STATUS_IGNORE);
        }
    }
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
    MPI_Irecv(in, N, MPI_INT, left, 5, MPI_COMM_WORLD, &request);
    MPI_Send(out, 3, MPI_INT, right, 5, MPI_COMM_WORLD);
    for (flag = 0; !flag;)
        MPI_Test(&request, &flag, &status);
    if (rank == 0) {
        usleep(2000);
        MPI_Send(out, 2, MPI_SHORT, size - 1, 6, MPI_COMM_WORLD);
    } else if (rank == size - 1) {
        for (flag = 0; !flag;)
            MPI_Iprobe(MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &flag, &status);
        MPI_Recv(in, N, MPI_SHORT, status.MPI_SOURCE, 6, MPI_COMM_WORLD, &status);
    }
    MPI_Sendrecv_replace(in, 4, MPI_INT, right, 1, left, 1, MPI_COMM_WORLD, &status);
}

static void collectives(MPI_Comm comm)
{
    int counts[N] = {0}, places[N] = {0}, me, n;
    MPI_Request request;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < n; i++) {
        counts[i] = i + 1;
        places[i] = 8 * i;
    }
    MPI_Bcast(in, 5, MPI_DOUBLE, n - 1, comm);
    MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, 0, comm);
    MPI_Gatherv(out, me + 1, MPI_INT, in, counts, places, MPI_INT, 0, comm);
    MPI_Scatterv(in, counts, places, MPI_INT, out, me + 1, MPI_INT, 0, comm);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, comm);
    MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, comm);
    MPI_Reduce(me ? in : MPI_IN_PLACE, me ? NULL : in, 3, MPI_FLOAT, MPI_MAX, 0, comm);
    MPI_Allreduce(out, in, 3, MPI_LONG, MPI_SUM, comm);
    MPI_Exscan(out, in, 3, MPI_INT, MPI_SUM, comm);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(out, in, 3, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ibarrier(comm, &request);
    for (int flag = 0; !flag;)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void communicators(void)
{
    MPI_Comm half, between, grid, twin;
    int sides[2] = {0, 0}, around[2] = {1, 0};
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    collectives(half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? size - 2 : size - 1, 17, &between);
    MPI_Bcast(in, 7, MPI_INT, rank % 2 ? 0 : rank == size - 2 ? MPI_ROOT : MPI_PROC_NULL, between);
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Comm_split(MPI_COMM_WORLD, rank ? 0 : MPI_UNDEFINED, rank, &half);
    if (half != MPI_COMM_NULL)
        MPI_Comm_free(&half);
    MPI_Dims_create(size, 2, sides);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sides, around, 0, &grid);
    MPI_Comm_set_name(grid, "the grid,\ta = \\ b");
    MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, grid);
    MPI_Comm_dup(grid, &twin);
    MPI_Barrier(twin);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&grid);
}

static void datatypes(void)
{
    MPI_Datatype column, record, wide;
    int lengths[2] = {2, 1};
    MPI_Aint places[2] = {0, 32};
    MPI_Type_vector(4, 1, 10, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Datatype parts[2] = {MPI_INT, column};
    MPI_Type_create_struct(2, lengths, places, parts, &record);
    MPI_Type_create_resized(MPI_INT, 0, 16, &wide);
    MPI_Type_commit(&record);
    MPI_Type_commit(&wide);
    char *memory = calloc(1, 4096);
    MPI_Sendrecv(memory, 1, record, rank ^ 1, 2, memory + 2048, 1, record, rank ^ 1, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(memory, 3, wide, rank ^ 1, 2, memory + 2048, 5, wide, rank ^ 1, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&wide);
    MPI_Type_free(&record);
    MPI_Type_free(&column);
    free(memory);
}

static void files_and_windows(const char *path)
{
    MPI_File file;
    MPI_Win window;
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * 4 * N, out, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, rank * 4 * N, in, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 3, MPI_INT, (rank + 1) % size, rank, 3, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(out, 2, MPI_INT, 0, 2 * rank, 2, MPI_INT, MPI_SUM, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* Sizes and roots that change in many ways: what varies moves to columns. */
static void variations(int steps)
{
    for (int step = 0; step < steps; step++) {
        MPI_Bcast(in, (int)number(N), MPI_INT, (int)number((unsigned)size), MPI_COMM_WORLD);
        for (unsigned again = number(4); again > 0; again--)
            MPI_Allreduce(out, in, 1 + step % 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        if (step > steps / 2)
            MPI_Sendrecv(out, step % 50, MPI_CHAR, (rank + 1) % size, step, in, N, MPI_INT,
                         (rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Values that follow laws of many kinds, so that every way of coding columns is taken. Nothing is
 * communicated: counts may be larger than the buffer. */
static void series(int steps)
{
    int drift = 0, held = 0;
    for (int step = 0; step < 100; step++) {
        MPI_Send(out, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
        for (int again = 0; again < 2 + step / 20; again++)
            MPI_Send(out, 2, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    }
    for (int step = 0; step < steps; step++) {
        if (number(20) == 0)
            held = (int)number(30000);
        MPI_Send(out, step, MPI_CHAR, MPI_PROC_NULL, held, MPI_COMM_WORLD);
        MPI_Send(out, 1024 * (int)number(200), MPI_CHAR, MPI_PROC_NULL, (int)number(30000),
                 MPI_COMM_WORLD);
        drift += (int)number(50);
        MPI_Send(out, drift, MPI_CHAR, MPI_PROC_NULL, step * step % 97, MPI_COMM_WORLD);
    }
}

static void errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(out, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    MPI_Bcast(in, -1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int times = argc > 2 ? atoi(argv[2]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    completions(10 * times);
    one_request(6 * times);
    collectives(MPI_COMM_WORLD);
    communicators();
    datatypes();
    if (argc > 1)
        files_and_windows(argv[1]);
    variations(80 * times);
    series(3000 * times);
    errors();
    MPI_Finalize();
    return 0;
}
