/* The master stores each result, for STORE_MS, before it hands out the next task, and its workers,
 * which compute a task in TASK_MS, wait. From the first result on the master is busy. Worker w,
 * from 1, gets its last answer TASK_MS + STORE_MS * ((TASKS - 1) * workers + w) after its first
 * task. It computes for TASKS * TASK_MS, and waits for the rest. ranks: 8 */
#include "faults.h"

enum { TASKS = 24, TASK_MS = 20, STORE_MS = 10, NO_TASK = -1 };

WORK void store_result(void)
{
    sleep_ms(STORE_MS);
}

WORK void compute_task(void)
{
    sleep_ms(TASK_MS);
}

static void master(void)
{
    const int workers = size - 1, tasks = TASKS * workers;
    MPI_Status status;
    int result, given = 0;
    for (; given < workers; given++)
        MPI_Send(&given, 1, MPI_INT, 1 + given, 0, MPI_COMM_WORLD);
    for (int stored = 0; stored < tasks; stored++) {
        MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        store_result();
        const int next = given < tasks ? given++ : NO_TASK;
        MPI_Send(&next, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
}

static void worker(void)
{
    for (int task;;) {
        MPI_Recv(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (task == NO_TASK)
            return;
        compute_task();
        MPI_Send(&task, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    if (rank == 0)
        master();
    else
        worker();
    MPI_Finalize();
    return 0;
}
