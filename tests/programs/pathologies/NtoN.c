/* N to N with system noise: equal work, then MPI_Allreduce. One interrupted rank keeps all waiting.
 *
 * Known answer: wait_at_nxn on all ranks; the more a rank is interrupted, the less it waits and the
 * more others wait for its computing in iterate().
 *
 * --work SECONDS        that each rank computes in each iteration
 * --nodes NUMBER        of nodes, whose interruptions (noise.h) the ranks bear
 * --iterations NUMBER */
#include "noise.h"

ROLE void iterate(int64_t work, int iterations, int nodes)
{
    for (int i = 0, sum; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct parameter with[] = {{"work", 0.001}, {"nodes", 32}, {"iterations", 1000}};
    parse(argc, argv, with, 3);
    int64_t work = to_ns(with[0].value);
    int nodes = (int)with[1].value, iterations = (int)with[2].value;
    MPI_Init(&argc, &argv);
    work_begin();
    iterate(work, iterations, nodes);
    MPI_Finalize();
    return 0;
}
