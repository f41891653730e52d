/* Rank 2 has three times as many particles as the others, and moves them for 2 * MOVE_MS longer. In
 * the exchange behind that all others wait, two for rank 2 and one for a neighbour that waits:
 * (size - 1) * 2 * MOVE_MS * STEPS. ranks: 4 */
#include "faults.h"

enum { STEPS = 8, UPDATE_MS = 8, MOVE_MS = 60, LATE = 2, MANY = 1000 };

static double ghosts[2][MANY];

WORK void update_field(void)
{
    sleep_ms(UPDATE_MS);
}

WORK void move_particles(void)
{
    sleep_ms(rank == LATE ? 3 * MOVE_MS : MOVE_MS);
}

WORK void exchange_ghosts(void)
{
    const int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Sendrecv(ghosts[0], MANY, MPI_DOUBLE, right, 1, ghosts[1], MANY, MPI_DOUBLE, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(ghosts[0], MANY, MPI_DOUBLE, left, 2, ghosts[1], MANY, MPI_DOUBLE, right, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double energy = 1, sum;
    start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        update_field();
        exchange_ghosts();
        move_particles();
        exchange_ghosts();
        if (step % 4 == 3)
            MPI_Allreduce(&energy, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
