/* Calls whose times are noise, of which each takes some two bytes:
 *
 *     noisy CALLS [RANK [sleep]]
 *
 * RANK makes them (-1, the default: all ranks do), while the others wait in an Allreduce of all
 * ranks, of which there are twenty. With "sleep" what is between the calls is a sleep of up to 65
 * ms, for simulated time. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 20 };

int main(int argc, char **argv)
{
    int rank, flag, sum, calls = argc > 1 ? atoi(argv[1]) : 1000,
                         alone = argc > 2 ? atoi(argv[2]) : -1;
    uint64_t random = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < calls / ROUNDS && (alone < 0 || rank == alone); i++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if (argc > 3)
                usleep(random >> 48);
            else
                for (volatile uint64_t n = random >> 54; n; n--)
                    ;
            MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
        }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
