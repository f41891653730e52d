/* tiles.c - an example to mend, with a fault of its own: doc/tutorial.md.
 *
 * A series of images lies in a store, in tiles. The ranks share the tiles of each image. A rank
 * fetches its tiles, exchanges its outer columns with the ranks beside it, and smooths them; then
 * all ranks agree on the brightness of the image.
 *
 * A slow store takes 40 ms for a tile. Here nanosleep() is that store, so the times do not depend
 * on the machine, and the ranks may share cores.
 *
 *     mpicc -O2 -g -o tiles tiles.c && mpirun -n 4 ./tiles [images] [tiles per image]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SIDE = 256 }; /* pixels of a tile, both ways */

/* Which tile of an image is the first one of a rank; of rank `ranks`: how many there are. */
static int first_tile(int tiles, int rank, int ranks)
{
    return rank < ranks ? tiles / ranks * rank : tiles;
}

static void fetch_tile(int image, int tile, float *pixels)
{
    nanosleep(&(struct timespec){.tv_nsec = 40000000}, NULL);
    for (int i = 0; i < SIDE * SIDE; i++)
        pixels[i] = (float)((image * 31 + tile * 17 + i * 7) % 256);
}

/* columns: SIDE pixels each; 0 and n + 1 belong to the ranks beside this one. */
static void exchange_columns(float *columns, int n, int rank, int ranks)
{
    int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&columns[SIDE], SIDE, MPI_FLOAT, left, 0, &columns[(n + 1) * SIDE], SIDE,
                 MPI_FLOAT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&columns[n * SIDE], SIDE, MPI_FLOAT, right, 1, columns, SIDE, MPI_FLOAT, left, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The sum of n columns, each the mean of itself and its neighbours. */
static double smooth(const float *columns, int n)
{
    double sum = 0;
    for (int i = SIDE; i < (n + 1) * SIDE; i++)
        sum += (columns[i - SIDE] + columns[i] + columns[i + SIDE]) / 3;
    return sum;
}

int main(int argc, char **argv)
{
    int images = argc > 1 ? atoi(argv[1]) : 20, tiles = argc > 2 ? atoi(argv[2]) : 11;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int first = first_tile(tiles, rank, ranks), last = first_tile(tiles, rank + 1, ranks);
    int n = (last - first) * SIDE;
    float *columns = calloc((size_t)(n + 2) * SIDE, sizeof *columns);
    double all = 0;
    for (int image = 0; image < images; image++) {
        for (int tile = first; tile < last; tile++)
            fetch_tile(image, tile, &columns[((tile - first) * SIDE + 1) * SIDE]);
        exchange_columns(columns, n, rank, ranks);
        double sum = smooth(columns, n);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("tiles: %d images, brightness of the last %.1f\n", images,
               all / ((double)tiles * SIDE * SIDE));
    free(columns);
    MPI_Finalize();
    return 0;
}
