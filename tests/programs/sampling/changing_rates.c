/* Messages of two sizes, on two communicators, in and outside of a region, at two levels of
 * MPI_Pcontrol, while the program changes the rate at which they are sampled, each rank at another
 * step.
 *
 *     changing_rates STEPS [change]
 *
 * In each step every rank sends 8 and 4096 bytes to its right neighbour, both also on a duplicate
 * of MPI_COMM_WORLD, and 64 bytes within the region "deep". */
#include <mpi.h>
#include <refrain/region.h>
#include <stdlib.h>
#include <string.h>

static char out[4096], in[4096];
static int rank, size;

static void pass(int bytes, MPI_Comm comm)
{
    MPI_Sendrecv(out, bytes, MPI_CHAR, (rank + 1) % size, 1, in, bytes, MPI_CHAR,
                 (rank + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void pass_twice(MPI_Comm comm)
{
    pass(8, comm);
    pass(4096, comm);
}

int main(int argc, char **argv)
{
    static const char *const rates[] = {"random:0.5", "random:1", "counter:3", "off", "adaptive"};
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Comm_set_name(other, "the other");
    const int steps = atoi(argv[1]);
    for (int step = 0; step < steps; step++) {
        if (argc > 2 && step % 20 == 7 + rank)
            refrain_sample(rates[(unsigned)(step / 20) % 5]);
        MPI_Pcontrol(step % 10 == 9 ? 2 : 1);
        pass_twice(MPI_COMM_WORLD);
        pass_twice(other);
        refrain_region_begin("deep");
        pass(64, MPI_COMM_WORLD);
        refrain_region_end("deep");
    }
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
