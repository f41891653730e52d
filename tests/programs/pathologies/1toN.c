/* 1 to N with system noise: equal work, then MPI_Bcast from the rank that is interrupted most.
 *
 * Known answer: late_broadcast on all ranks but the root, because it computes in broadcast(). The
 * root waits for nobody, so that what it loses adds up. Ranks take the data from the root
 * itself, not from each other: run with a flat tree.
 *
 * --work SECONDS        that each rank computes in each iteration
 * --nodes NUMBER        of nodes, whose interruptions (noise.h) the ranks bear
 * --iterations NUMBER
 * --root RANK           that broadcasts */
#include "noise.h"

ROLE void broadcast(int64_t work, int iterations, int nodes)
{
    for (int i = 0; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Bcast(&i, 1, MPI_INT, rank, MPI_COMM_WORLD);
    }
}

ROLE void take(int64_t work, int iterations, int nodes, int root)
{
    for (int i = 0, data; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Bcast(&data, 1, MPI_INT, root, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct parameter with[] = {{"work", 0.001}, {"nodes", 32}, {"iterations", 1000}, {"root", 0}};
    parse(argc, argv, with, 4);
    int64_t work = to_ns(with[0].value);
    int nodes = (int)with[1].value, iterations = (int)with[2].value;
    MPI_Init(&argc, &argv);
    work_begin();
    int root = (int)with[3].value;
    if (rank == root)
        broadcast(work, iterations, nodes);
    else
        take(work, iterations, nodes, root);
    MPI_Finalize();
    return 0;
}
