/* Early gather: rank 0 comes to MPI_Gather while all others still compute.
 *
 * Known answer: early_reduce on rank 0, `extra` per iteration, because the others compute in
 * give_late().
 *
 * --work SECONDS        that all compute in each iteration
 * --extra SECONDS       that all but rank 0 compute more
 * --iterations NUMBER */
#include "work.h"

enum { ROOT = 0, MOST = 1024 };

ROLE void gather_early(int64_t work, int iterations)
{
    static int all[MOST];
    for (int i = 0; i < iterations; i++) {
        do_work(work);
        MPI_Gather(&i, 1, MPI_INT, all, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    }
}

ROLE void give_late(int64_t work, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        do_work(work);
        MPI_Gather(&i, 1, MPI_INT, NULL, 0, MPI_INT, ROOT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct parameter with[] = {{"work", 0.01}, {"extra", 0.02}, {"iterations", 50}};
    parse(argc, argv, with, 3);
    int64_t work = to_ns(with[0].value), longer = to_ns(with[0].value + with[1].value);
    int iterations = (int)with[2].value;
    MPI_Init(&argc, &argv);
    work_begin();
    if (size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank == ROOT)
        gather_early(work, iterations);
    else
        give_late(longer, iterations);
    MPI_Finalize();
    return 0;
}
