/* A call path with known lines: MPI_Barrier at inner (INNER) < middle (MIDDLE) < main (MAIN). */
#include <mpi.h>

enum { CALLS = 10 };

static volatile int keep;

static __attribute__((noinline)) void inner(int i)
{
    keep = i;
    MPI_Barrier(MPI_COMM_WORLD); /* INNER */
    keep = i + 1;
}

static __attribute__((noinline)) void middle(int i)
{
    inner(i + 1); /* MIDDLE */
    keep = i;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < CALLS; i++) {
        middle(i); /* MAIN */
        keep = i;
    }
    MPI_Finalize();
    return 0;
}
