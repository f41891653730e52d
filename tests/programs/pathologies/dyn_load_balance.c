/* Dynamic load balancing: equal work at first, then half of the ranks get slower and half get
 * faster by `step` in each iteration, until after `period` iterations the work is balanced; and so
 * again and again. Each iteration ends with MPI_Alltoall.
 *
 * Known answer: wait_at_nxn on the upper half of the ranks, in iteration i of a period 2 * i *
 * step, because the lower half computes in slower().
 *
 * --work SECONDS        that all compute where the load is balanced
 * --step SECONDS        more and less per iteration
 * --period NUMBER       of iterations from balance to balance
 * --iterations NUMBER */
#include "work.h"

enum { MOST = 1024 };
static int out[MOST], in[MOST];

ROLE void slower(int64_t work, int64_t step, int period, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        do_work(work + i % period * step);
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    }
}

ROLE void faster(int64_t work, int64_t step, int period, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        do_work(work - i % period * step);
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct parameter with[] = {
        {"work", 0.001}, {"step", 0.00002}, {"period", 40}, {"iterations", 1000}};
    parse(argc, argv, with, 4);
    int64_t work = to_ns(with[0].value), step = to_ns(with[1].value);
    int period = (int)with[2].value, iterations = (int)with[3].value;
    MPI_Init(&argc, &argv);
    work_begin();
    if (size > MOST || period < 1 || work < (period - 1) * step)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (rank < size / 2)
        slower(work, step, period, iterations);
    else
        faster(work, step, period, iterations);
    MPI_Finalize();
    return 0;
}
