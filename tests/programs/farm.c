/* A master that hands out tasks of different sizes, and workers. ranks: any
 *
 *   farm TASKS
 *
 * A worker says 0 bytes (tag 5) when it comes; then it gets a task of (n * 7919) % 5000 + 1 bytes
 * (tag 1), n being the task's number from 0, or 0 bytes (tag 2) as its end, and answers a task with
 * twice as many bytes (tag 6). Who gets which task is left to chance. At the end every worker
 * writes to $FARM_OUT.RANK how many tasks and bytes it got.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 10000, TASK = 1, END = 2, COME = 5, ANSWER = 6 };

static char room[ROOM];

static void master(int workers, int tasks)
{
    for (int sent = 0; workers > 0;) {
        MPI_Status status;
        MPI_Recv(room, ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (sent < tasks)
            MPI_Send(room, sent * 7919 % 5000 + 1, MPI_BYTE, status.MPI_SOURCE, TASK,
                     MPI_COMM_WORLD);
        else
            MPI_Send(room, 0, MPI_BYTE, status.MPI_SOURCE, END, MPI_COMM_WORLD);
        if (sent++ >= tasks)
            workers--;
    }
}

static void worker(int rank)
{
    long tasks = 0, bytes = 0;
    char path[4096];
    MPI_Send(room, 0, MPI_BYTE, 0, COME, MPI_COMM_WORLD);
    for (;;) {
        MPI_Status status;
        int size;
        MPI_Recv(room, ROOM, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == END)
            break;
        MPI_Get_count(&status, MPI_BYTE, &size);
        tasks++;
        bytes += size;
        MPI_Send(room, 2 * size, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
    }
    snprintf(path, sizeof path, "%s.%d", getenv("FARM_OUT"), rank);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%ld %ld\n", tasks, bytes) < 0 || fclose(file) != 0)
        abort();
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        master(size - 1, atoi(argv[1]));
    else
        worker(rank);
    MPI_Finalize();
    return 0;
}
