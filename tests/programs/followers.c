/* followers.c - a call that comes after any of twenty others, on rank 0 after 13 of them, so that
 * the ranks are not of one cluster; one that comes once after another and twice after itself; and
 * one that comes always after the same.
 */
#include <mpi.h>

static int rank, size, calls;
static volatile int times = 3;

/* Functions of their own, so that no compiler makes one call of all. */
#define SITE(n)                                          \
    static __attribute__((noinline)) void site_##n(void) \
    {                                                    \
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);            \
        calls += n;                                      \
    }
#define FIVE_SITES(n) SITE(n##0) SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4)
#define FIVE_NAMES(n) site_##n##0, site_##n##1, site_##n##2, site_##n##3, site_##n##4

FIVE_SITES(1)
FIVE_SITES(2)
FIVE_SITES(3)
FIVE_SITES(4)

int main(int argc, char **argv)
{
    static void (*const sites[])(void) = {FIVE_NAMES(1), FIVE_NAMES(2), FIVE_NAMES(3),
                                          FIVE_NAMES(4)};
    int me, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < 400; i++) {
        sites[me ? 7 * i % 20 : i % 13]();
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        for (int k = 0; k < times; k++)
            MPI_Initialized(&flag);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
