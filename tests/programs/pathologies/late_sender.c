/* Late sender: in each pair the even rank computes longer, then sends to the odd one, which has
 * been waiting in MPI_Recv.
 *
 * Known answer: late_sender on every odd rank, `extra` per iteration, because the even rank
 * computes in send_late().
 *
 * --work SECONDS        that all compute in each iteration
 * --extra SECONDS       that the senders compute more
 * --iterations NUMBER */
#include "work.h"

ROLE void send_late(int64_t work, int iterations)
{
    for (int i = 0; i < iterations; i++) {
        do_work(work);
        MPI_Send(&i, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    }
}

ROLE void receive(int64_t work, int iterations)
{
    for (int i = 0, data; i < iterations; i++) {
        do_work(work);
        MPI_Recv(&data, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
    if (rank % 2 == 1)
        receive(work, iterations);
    else if (rank + 1 < size)
        send_late(longer, iterations);
    MPI_Finalize();
    return 0;
}
