/* Partitioned messages: two of one channel, several starts. A message has been sent when the last
 * of its partitions is ready, one step after the first. ranks: 2 */
#include "steps.h"

#if MPI_VERSION >= 4
enum { STARTS = 5, PARTITIONS = 6, EACH = 16 };

static int data[2][PARTITIONS * EACH];
static MPI_Request requests[2];

static void send(void)
{
    int last[] = {5, 1};
    for (int k = 0; k < 2; k++)
        MPI_Psend_init(data[k], PARTITIONS, EACH, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[k]);
    for (int i = 0; i < STARTS; i++) {
        MPI_Startall(2, requests);
        for (int k = 0; k < 2; k++) {
            MPI_Pready(0, requests[k]);
            MPI_Pready_range(2, 4, requests[k]);
        }
        steps(1);
        for (int k = 0; k < 2; k++)
            MPI_Pready_list(2, last, requests[k]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void receive(void)
{
    for (int k = 0; k < 2; k++)
        MPI_Precv_init(data[k], PARTITIONS, EACH, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                       &requests[k]);
    for (int i = 0; i < STARTS; i++) {
        int flag;
        MPI_Startall(2, requests);
        MPI_Parrived(requests[0], 0, &flag);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void both(int rank)
{
    if (rank == 0)
        send();
    else
        receive();
    for (int k = 0; k < 2; k++)
        MPI_Request_free(&requests[k]);
}
#else
static void both(int rank)
{
    (void)rank;
}
#endif

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    both(rank);
    MPI_Finalize();
    return 0;
}
