/* A small archive with something of every part: two groups of ranks, loops with varying trips,
 * lists, polls, a communicator, columns, regions, a pause. ranks: 2 */
#include <mpi.h>
#include <refrain/region.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, flag = 0, data[64] = {0};
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Comm twin;
    char name[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    refrain_region_begin("exchange");
    for (int step = 0; step < 10; step++) {
        MPI_Irecv(data, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &requests[0]);
        MPI_Isend(data + 32, 1 + step, MPI_INT, 1 - rank, step, twin, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int again = 0; again < step % 3; again++)
            MPI_Bcast(data, 8, MPI_DOUBLE, 0, twin);
    }
    refrain_region_end("exchange");
    for (int step = 0; step < 100; step++) {
        snprintf(name, sizeof name, "step %d", step * 7 % 70);
        refrain_region_begin(name);
        MPI_Send(data, step * step % 89, MPI_CHAR, MPI_PROC_NULL, step, MPI_COMM_WORLD);
        refrain_region_end(name);
    }
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    if (rank == 0) {
        usleep(1000);
        MPI_Send(data, 1, MPI_INT, 1, 0, twin);
    } else {
        while (!flag)
            MPI_Iprobe(0, 0, twin, &flag, &status);
        MPI_Recv(data, 1, MPI_INT, 0, 0, twin, &status);
    }
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}
