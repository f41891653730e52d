/* Nothing is wrong: in each step a rank computes for SOLVE_MS, meets the others at a barrier, and
 * is in the region "io" for IO_MS. Who waits at the barrier waits for what another rank took longer
 * for, and neither region costs more than that. With an argument rank 1 is in "io" twice as long.
 * The other one waits IO_MS for that at each barrier but the first, and in MPI_Finalize. ranks: 2
 */
#include "faults.h"

#include <refrain/region.h>

enum { STEPS = 12, SOLVE_MS = 2, IO_MS = 40, LATE = 1 };

WORK void solve(void)
{
    sleep_ms(SOLVE_MS);
    MPI_Barrier(MPI_COMM_WORLD);
}

WORK void write_out(int longer)
{
    sleep_ms(longer ? 2 * IO_MS : IO_MS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const int longer = rank == LATE && argc > 1;
    for (int step = 0; step < STEPS; step++) {
        refrain_region_begin("solve");
        solve();
        refrain_region_end("solve");
        refrain_region_begin("io");
        write_out(longer);
        refrain_region_end("io");
    }
    MPI_Finalize();
    return 0;
}
