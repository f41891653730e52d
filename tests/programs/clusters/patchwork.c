/* patchwork.c - ranks of different shapes that execute the same inner loops, each in an order of
 * its own, drawn at random, and some more often than others: where they only compute together, as
 * irregular programs do.
 *
 *     patchwork [PATCHES]
 */
#include <mpi.h>
#include <stdlib.h>

enum { KINDS = 12, PATCHES = 40, COUNT_MAX = 64 };

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

/* A loop with a loop in it, on the rank's own. */
static void stitch(int count, unsigned rounds)
{
    double in[COUNT_MAX] = {0}, out[COUNT_MAX];
    for (unsigned i = 0; i < rounds; i++) {
        MPI_Bcast(in, count, MPI_DOUBLE, 0, MPI_COMM_SELF);
        for (unsigned k = 0; k < 3; k++) {
            MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
            MPI_Reduce(in, out, count + 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_SELF);
        }
        MPI_Barrier(MPI_COMM_SELF);
    }
}

/* Each kind has a call path, and so calls, of its own. */
static void sew(unsigned kind, unsigned rounds)
{
    switch (kind) {
    case 0:
        stitch(1, rounds);
        break;
    case 1:
        stitch(3, rounds);
        break;
    case 2:
        stitch(5, rounds);
        break;
    case 3:
        stitch(7, rounds);
        break;
    case 4:
        stitch(11, rounds);
        break;
    case 5:
        stitch(13, rounds);
        break;
    case 6:
        stitch(17, rounds);
        break;
    case 7:
        stitch(19, rounds);
        break;
    case 8:
        stitch(23, rounds);
        break;
    case 9:
        stitch(29, rounds);
        break;
    case 10:
        stitch(31, rounds);
        break;
    default:
        stitch(37, rounds);
    }
}

int main(int argc, char **argv)
{
    int patches = argc > 1 ? atoi(argv[1]) : PATCHES, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    unsigned state = 17 * (unsigned)rank + 1;
    for (int i = 0; i < patches; i++) {
        unsigned kind = draw(&state, KINDS);
        sew(kind, 2 + draw(&state, 5));
        if (draw(&state, 4) == 0)
            sew(draw(&state, KINDS), 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
