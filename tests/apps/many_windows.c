/* Many windows, call paths and displacements, as libraries of distributed arrays make them:
 *
 *     mpirun -n 4 many_windows WINDOWS DEPTH ACCESSES
 *
 * Each of WINDOWS windows lives for ACCESSES accesses of each rank, from one of 2^DEPTH call paths.
 * Displacements repeat every hundred accesses, call paths follow a random sequence, so that almost
 * nothing folds. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 8, PLACES = 100 };

static int rank, ranks;
static uint64_t state;

static unsigned random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33);
}

static __attribute__((noinline)) void add_to(MPI_Win window, int access)
{
    static const long ones[WORDS] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int target = (rank + 1 + access) % ranks;
    MPI_Aint lower, extent;
    MPI_Type_get_true_extent(MPI_LONG, &lower, &extent);
    MPI_Accumulate(ones, WORDS, MPI_LONG, target, WORDS * (access % PLACES), WORDS, MPI_LONG,
                   MPI_SUM, window);
    MPI_Win_flush_local(target, window);
}

/* Two places that call the next level: a bit of the path says which. The instruction keeps them
 * apart. */
static __attribute__((noinline)) void descend(MPI_Win window, int access, unsigned path, int depth)
{
    if (depth == 0) {
        add_to(window, access);
    } else if (path & 1) {
        descend(window, access, path >> 1, depth - 1);
        __asm__ volatile("nop");
    } else {
        descend(window, access, path >> 1, depth - 1);
        __asm__ volatile("nop; nop");
    }
}

/* The sum of what all have added here. */
static long use_window(int depth, int accesses)
{
    long *words, sum = 0;
    MPI_Win window;
    MPI_Win_allocate(PLACES * WORDS * sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &words, &window);
    for (int i = 0; i < PLACES * WORDS; i++)
        words[i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, window);
    for (int i = 0; i < accesses; i++)
        descend(window, i, random_bits(), depth);
    MPI_Win_unlock_all(window);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < PLACES * WORDS; i++)
        sum += words[i];
    MPI_Win_free(&window);
    return sum;
}

int main(int argc, char **argv)
{
    const int windows = argc > 1 ? atoi(argv[1]) : 400, depth = argc > 2 ? atoi(argv[2]) : 10;
    const int accesses = argc > 3 ? atoi(argv[3]) : 100;
    long sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = (uint64_t)rank + 1;
    for (int i = 0; i < windows; i++)
        sum += use_window(depth, accesses);
    MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%ld words were added\n", all);
    MPI_Finalize();
    return 0;
}
