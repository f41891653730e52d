/* A token lets one rank after the other append to a log. Each waits for the ranks before it, and at
 * the barrier for the ranks behind it: size * (size - 1) * APPEND_MS * STEPS. ranks: 6 */
#include "faults.h"

enum { STEPS = 12, COMPUTE_MS = 15, APPEND_MS = 12 };

WORK void append_to_log(void)
{
    sleep_ms(APPEND_MS);
}

WORK void ordered_output(void)
{
    int token = 0;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    append_to_log();
    if (rank < size - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

WORK void compute(void)
{
    sleep_ms(COMPUTE_MS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        compute();
        ordered_output();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
