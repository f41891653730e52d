/* 1 to 1 with system noise, the receiver late: equal work, then MPI_Ssend to the rank of the pair
 * that is interrupted more. The number of ranks is a multiple of 32.
 *
 * Known answer: late_receiver on the senders, because the receivers compute in receive();
 * late_sender on the receivers whenever the sender was the one that was interrupted. The former is
 * more, as the ranks with most interruptions receive.
 *
 * --work SECONDS        that each rank computes in each iteration
 * --nodes NUMBER        of nodes, whose interruptions (noise.h) the ranks bear
 * --iterations NUMBER */
#include "noise.h"

/* Half of the ranks can be late: of each cluster of 32 places 0 to 14 and 31, among them all that
 * are interrupted more than others. Each is paired with one of the other half. */
static int may_be_late(void)
{
    return (rank + 1) % CLUSTER < CLUSTER / 2;
}

static int partner(void)
{
    return rank ^ (CLUSTER / 2);
}

ROLE void send(int64_t work, int iterations, int nodes)
{
    for (int i = 0; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Ssend(&i, 1, MPI_INT, partner(), 1, MPI_COMM_WORLD);
    }
}

ROLE void receive(int64_t work, int iterations, int nodes)
{
    for (int i = 0, data; i < iterations; i++) {
        do_noisy_work(work, nodes);
        MPI_Recv(&data, 1, MPI_INT, partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
    if (size % CLUSTER != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (may_be_late())
        receive(work, iterations, nodes);
    else
        send(work, iterations, nodes);
    MPI_Finalize();
    return 0;
}
