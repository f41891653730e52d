/* computing.h - what stands before messages and collective calls in programs that compute.
 *
 * To be included before all else (-include). Programs of this folder only communicate, so that in
 * simulated time all iterations take equally long; with this they compute for 90 to 110 us before
 * each of these calls, as drawn at random by each rank, and no iteration is quite like another one,
 * as on real machines. They sleep, which takes simulated time as well, and leaves the core to
 * others where ranks share it. */
#define _GNU_SOURCE
#include <mpi.h>
#include <time.h>

static void computing_compute(void)
{
    static unsigned long long state;
    int rank;
    if (!state) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        state = (unsigned long long)rank * 2862933555777941757u + 3037000493u;
    }
    state = state * 6364136223846793005u + 1442695040888963407u;
    const struct timespec work = {.tv_nsec = 90000 + (long)((state >> 33) * 20000 >> 31)};
    nanosleep(&work, NULL);
}

#define MPI_Send(...)      (computing_compute(), MPI_Send(__VA_ARGS__))
#define MPI_Isend(...)     (computing_compute(), MPI_Isend(__VA_ARGS__))
#define MPI_Sendrecv(...)  (computing_compute(), MPI_Sendrecv(__VA_ARGS__))
#define MPI_Alltoall(...)  (computing_compute(), MPI_Alltoall(__VA_ARGS__))
#define MPI_Allreduce(...) (computing_compute(), MPI_Allreduce(__VA_ARGS__))
#define MPI_Bcast(...)     (computing_compute(), MPI_Bcast(__VA_ARGS__))
