/* workers.c - a master gives out tasks to whoever is done first; each worker gets at least two.
 * There are two kinds of ranks.
 *
 *     workers [TASKS]
 *
 * Worker i gets TASKS + i mod 3 tasks, at least 2.
 */
#include <mpi.h>
#include <stdlib.h>

enum { TASK, STOP };

static void give_out(int size, int tasks)
{
    int *left = calloc((size_t)size, sizeof *left), task = 0, result;
    MPI_Status status;
    for (int worker = 1; worker < size; worker++) {
        left[worker] = tasks + worker % 3 - 1;
        MPI_Send(&task, 1, MPI_INT, worker, TASK, MPI_COMM_WORLD);
    }
    for (int working = size - 1; working > 0;) {
        MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (left[status.MPI_SOURCE]-- > 0) {
            MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, TASK, MPI_COMM_WORLD);
        } else {
            MPI_Send(&task, 1, MPI_INT, status.MPI_SOURCE, STOP, MPI_COMM_WORLD);
            working--;
        }
    }
    free(left);
}

static void work(void)
{
    int task;
    MPI_Status status;
    for (;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == STOP)
            break;
        MPI_Send(&task, 1, MPI_INT, 0, TASK, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int tasks = argc > 1 ? atoi(argv[1]) : 2, rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        give_out(size, tasks);
    else
        work();
    MPI_Finalize();
    return 0;
}
