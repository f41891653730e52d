/* Small groups of ranks that compute, and then exchange messages repeatedly, as in the registration
 * of images by control points (Ino et al., Fig. 8): each point is moved by the ranks that have its
 * neighbourhood.
 *
 *     small_groups SEED ITERATIONS GROUP EXCHANGES
 *
 * In each iteration ranks are grouped anew, in order of (rank + shift). All members compute, in the
 * region "move"; then each has exchanges with its neighbours in the group: along a chain, forwards
 * and backwards. */
#include <mpi.h>
#include <refrain/region.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned state;
static int rank, size;

static unsigned draw(unsigned n)
{
    state = state * 1103515245 + 12345;
    return (state >> 8) % n;
}

static void move_point(void)
{
    refrain_region_begin("move");
    usleep(2000 + draw(2000));
    refrain_region_end("move");
}

static void exchange(int first, int place, int n)
{
    double mine = rank, theirs;
    for (int i = 0; i + 1 < n; i++) {
        const int low = (first + i) % size, high = (first + i + 1) % size;
        const int other = place == i ? high : low;
        if (place != i && place != i + 1)
            continue;
        if (place == i)
            MPI_Send(&mine, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(&theirs, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (place != i)
            MPI_Send(&mine, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
        usleep(5);
    }
}

int main(int argc, char **argv)
{
    const int iterations = argc > 4 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = (unsigned)atoi(argv[1]) * 1000 + (unsigned)rank;
    for (int i = 0; i < iterations; i++) {
        const int group = atoi(argv[3]), shift = i % group;
        const int place = (rank + shift) % size % group;
        move_point();
        for (int k = 0; k < atoi(argv[4]); k++)
            exchange((rank - place + size) % size, place, group);
    }
    MPI_Finalize();
    return 0;
}
