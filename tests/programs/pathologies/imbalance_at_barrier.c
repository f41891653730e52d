/* Imbalance at a barrier: the higher the rank, the longer it computes before MPI_Barrier.
 *
 * Known answer: wait_at_barrier on all ranks but the last, `extra` * (size - 1 - rank) / (size - 1)
 * per iteration, because the last rank computes in unequal_work().
 *
 * --work SECONDS        that all compute in each iteration
 * --extra SECONDS       that the last rank computes, others in proportion to their rank more
 * --iterations NUMBER */
#include "work.h"

ROLE void unequal_work(int64_t work, int64_t longest, int iterations)
{
    int64_t mine = size > 1 ? work + (longest - work) * rank / (size - 1) : work;
    for (int i = 0; i < iterations; i++) {
        do_work(mine);
        MPI_Barrier(MPI_COMM_WORLD);
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
    unequal_work(work, longer, iterations);
    MPI_Finalize();
    return 0;
}
