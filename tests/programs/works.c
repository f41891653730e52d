/* works.c - ranks compute in functions that never call MPI: one, several, in a loop, before a call
 * in a deeper function; a helper is inlined. Rank 1 takes longer. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int rank;
static volatile double sink;

static inline double half(double x)
{
    return x / 2;
}

__attribute__((noinline)) void work(int ms)
{
    struct timespec pause = {0, (rank == 1 ? 3 : 1) * ms * 1000000L};
    nanosleep(&pause, NULL);
    sink = half(sink);
}

__attribute__((noinline)) void prepare(void)
{
    work(1);
    sink = 1;
}

__attribute__((noinline)) void move(void)
{
    work(6);
    sink = 2;
}

__attribute__((noinline)) void update(void)
{
    work(5);
    sink = 3;
}

__attribute__((noinline)) void check(void)
{
    work(1);
    sink = 4;
}

__attribute__((noinline)) void output(void)
{
    work(1);
    sink = 5;
}

__attribute__((noinline)) void agree(void)
{
    check();
    MPI_Barrier(MPI_COMM_WORLD);
    sink = 6; /* so that the call above is not the last */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    prepare();
    for (int step = 0; step < 5; step++) {
        update();
        MPI_Barrier(MPI_COMM_WORLD);
        sink = half(sink);
        move();
        MPI_Allreduce(MPI_IN_PLACE, &(double){1}, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        output();
        move();
        MPI_Bcast(&(double){1}, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    agree();
    if (rank == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
