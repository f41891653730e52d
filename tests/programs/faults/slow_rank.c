/* Rank 5 takes 1.6 times as long for everything, as on a slow node. In each step all others wait
 * for 0.6 * (ASSEMBLE_MS + ROUNDS * SOLVE_MS), and in each third for 0.6 * OUTPUT_MS: rank 0 when
 * it gathers, the rest at the next barrier. ranks: 8 */
#include "faults.h"

enum { STEPS = 5, ROUNDS = 3, ASSEMBLE_MS = 80, SOLVE_MS = 40, OUTPUT_MS = 40, LATE = 5 };

WORK void compute(int ms)
{
    sleep_ms(rank == LATE ? 1.6 * ms : ms);
}

WORK void assemble(void)
{
    compute(ASSEMBLE_MS);
    MPI_Barrier(MPI_COMM_WORLD);
}

WORK void solve(void)
{
    int sum;
    for (int round = 0; round < ROUNDS; round++) {
        compute(SOLVE_MS);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

WORK void output(void)
{
    static int all[64];
    compute(OUTPUT_MS);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        assemble();
        solve();
        if (step % 3 == 0)
            output();
    }
    MPI_Finalize();
    return 0;
}
