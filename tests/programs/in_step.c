/* Broadcasts and sums whose right results are known: "rank R step I: WORD SUM" for each of three
 * steps, the word being the step, the sum that times the ranks. Then it waits in MPI_Finalize for
 * the ranks that sleep before it: in_step [MILLISECONDS], so long for the last rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step <= 3; step++) {
        long words[3] = {rank ? 0 : step, rank ? 0 : step, rank ? 0 : step};
        int sum = 0;
        MPI_Bcast(words, sizeof words, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&step, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        printf("rank %d step %d: %ld %d\n", rank, step, words[0], sum);
        fflush(stdout);
    }
    if (rank == size - 1 && argc > 1)
        usleep((useconds_t)(1000 * atoi(argv[1])));
    MPI_Finalize();
    return 0;
}
