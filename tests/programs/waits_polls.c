/* Rank 0 takes what the others send, one step apart: with Waitsome, which waits, then with Testany
 * and Testsome between its own work, which never do. ranks: 3 or more */
#include "steps.h"

enum { MOST = 64, WORK_MICROSECONDS = 10000 };

static int rank, size, data[MOST];
static MPI_Request requests[MOST];

static void post(int tag)
{
    for (int i = 1; i < size; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[i - 1]);
}

static void send(int tag)
{
    int value = rank;
    steps(rank);
    MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
}

static void wait_some(void)
{
    int indices[MOST], n;
    for (int left = size - 1; left > 0; left -= n)
        MPI_Waitsome(size - 1, requests, &n, indices, MPI_STATUSES_IGNORE);
}

static void test_any(void)
{
    int index, flag;
    for (int left = size - 1; left > 0; left -= flag) {
        usleep(WORK_MICROSECONDS);
        MPI_Testany(size - 1, requests, &index, &flag, MPI_STATUS_IGNORE);
    }
}

static void test_some(void)
{
    int indices[MOST], n;
    for (int left = size - 1; left > 0; left -= n) {
        usleep(WORK_MICROSECONDS);
        MPI_Testsome(size - 1, requests, &n, indices, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    void (*const take[])(void) = {wait_some, test_any, test_some};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank) {
            send(i);
        } else {
            post(i);
            take[i]();
        }
    }
    MPI_Finalize();
    return 0;
}
