/* Late broadcast: rank 0 computes longer than those that wait for its data in MPI_Bcast.
 *
 * Known answer: late_broadcast on all other ranks, `extra` per iteration, because rank 0 computes
 * in broadcast_late().
 *
 * --work SECONDS        that all compute in each iteration
 * --extra SECONDS       that rank 0 computes more
 * --iterations NUMBER */
#include "work.h"

enum { ROOT = 0 };

ROLE void broadcast_late(int64_t work, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        do_work(work);
        MPI_Bcast(&i, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    }
}

ROLE void take(int64_t work, int iterations)
{
    for (int i = 0, data; i < iterations; i++) {
        do_work(work);
        MPI_Bcast(&data, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
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
    if (rank == ROOT)
        broadcast_late(longer, iterations);
    else
        take(work, iterations);
    MPI_Finalize();
    return 0;
}
