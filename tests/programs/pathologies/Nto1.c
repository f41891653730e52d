/* N to 1 with system noise: equal work, then every rank sends to the root, a rank that is
 * interrupted little, which waits for all of them.
 *
 * Known answer: late_sender on the root in MPI_Waitall, because the ranks interrupted most compute
 * in give(). Nobody else waits before the end: the others run ahead of the root and wait for it in
 * MPI_Finalize.
 *
 * In MPI_Gather the root would wait as long, but the pattern early_reduce, in which it waits for
 * the *first* of the others, sees nothing of that; early_gather is the program for it. The root
 * posts all receives at the beginning: ranks that run ahead would otherwise have messages lying
 * there, older than the one it waits for, and it would wait for messages in wrong order.
 *
 * --work SECONDS        that each rank computes in each iteration
 * --nodes NUMBER        of nodes, whose interruptions (noise.h) the ranks bear
 * --iterations NUMBER
 * --root RANK           that collects */
#include "noise.h"

ROLE void collect(int64_t work, int iterations, int nodes)
{
    int from = size - 1, n = iterations * from;
    int *data = calloc((size_t)n, sizeof *data);
    MPI_Request *requests = calloc((size_t)n, sizeof *requests);
    for (int i = 0; i < n; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, i % from + (i % from >= rank), 1, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Waitall(from, requests + (size_t)i * (size_t)from, MPI_STATUSES_IGNORE);
    }
    free(requests);
    free(data);
}

ROLE void give(int64_t work, int iterations, int nodes, int root)
{
    for (int i = 0; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Send(&i, 1, MPI_INT, root, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct parameter with[] = {{"work", 0.001}, {"nodes", 32}, {"iterations", 1000}, {"root", 2}};
    parse(argc, argv, with, 4);
    int64_t work = to_ns(with[0].value);
    int nodes = (int)with[1].value, iterations = (int)with[2].value;
    MPI_Init(&argc, &argv);
    work_begin();
    int root = (int)with[3].value;
    if (rank == root)
        collect(work, iterations, nodes);
    else
        give(work, iterations, nodes, root);
    MPI_Finalize();
    return 0;
}
