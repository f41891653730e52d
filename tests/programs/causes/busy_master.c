/* Workers wait for a master that handles each result for 3 ms; tasks take 6 ms. ranks: 8 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
static int rank, size;

void store_result(double r)
{
    (void)r;
    usleep(3000);
}
double compute_task(int t)
{
    usleep(6000);
    return t;
}

void master(int tasks)
{
    int sent = 0, done = 0;
    double r;
    MPI_Status st;
    for (int w = 1; w < size; w++) {
        MPI_Send(&sent, 1, MPI_INT, w, 1, MPI_COMM_WORLD);
        sent++;
    }
    while (done < tasks) {
        MPI_Recv(&r, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &st);
        done++;
        store_result(r);
        int next = sent < tasks ? sent++ : -1;
        MPI_Send(&next, 1, MPI_INT, st.MPI_SOURCE, 1, MPI_COMM_WORLD);
    }
}

void worker(void)
{
    for (;;) {
        int t;
        MPI_Recv(&t, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (t < 0)
            break;
        double r = compute_task(t);
        MPI_Send(&r, 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        master(500);
    else
        worker();
    MPI_Finalize();
    return 0;
}
