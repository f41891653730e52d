/* Rank 0 reads from a slow file system for READ_MS before each broadcast, where all others wait:
 * (size - 1) * READ_MS * STEPS. ranks: 8 */
#include "faults.h"

enum { STEPS = 12, READ_MS = 50, PHYSICS_MS = 15, BYTES = 1 << 16 };

static char forcing[BYTES];

WORK void read_forcing(void)
{
    sleep_ms(READ_MS);
}

WORK void load_step(void)
{
    if (rank == 0)
        read_forcing();
    MPI_Bcast(forcing, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
}

WORK void physics(void)
{
    sleep_ms(PHYSICS_MS);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        load_step();
        physics();
    }
    MPI_Finalize();
    return 0;
}
