/* ghosts.c - an irregular exchange of ghost cells: who exchanges how much with whom stands in
 * tables, which are drawn at random, the same on all ranks. Each rank has equally many neighbours,
 * so all ranks are of one kind; partners are no expressions in the rank.
 *
 *     ghosts [ITERATIONS [NEIGHBOURS]]
 *
 * The number of ranks must be even.
 */
#include <mpi.h>
#include <stdlib.h>

enum { NEIGHBOURS_MAX = 8, CELLS_MAX = 1000 };

static int partners[NEIGHBOURS_MAX], cells[NEIGHBOURS_MAX], n_neighbours = 4;

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

/* Shuffles the ranks once per neighbour: those side by side are partners. */
static void draw_tables(int rank, int size)
{
    unsigned state = 17;
    int *order = malloc((size_t)size * sizeof *order);
    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int k = 0; k < n_neighbours; k++) {
        for (int i = size - 1; i > 0; i--) {
            int other = (int)draw(&state, (unsigned)i + 1), kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        for (int i = 0; i < size; i++) {
            int amount = i % 2 ? cells[k] : 100 + (int)draw(&state, CELLS_MAX - 100);
            if (order[i] == rank || order[i ^ 1] == rank)
                cells[k] = amount;
            if (order[i] == rank)
                partners[k] = order[i ^ 1];
        }
    }
    free(order);
}

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 3, rank, size;
    static double out[CELLS_MAX], in[NEIGHBOURS_MAX][CELLS_MAX];
    MPI_Request requests[NEIGHBOURS_MAX];
    n_neighbours = argc > 2 ? atoi(argv[2]) : n_neighbours;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    draw_tables(rank, size);
    for (int i = 0; i < iterations; i++) {
        for (int k = 0; k < n_neighbours; k++)
            MPI_Irecv(in[k], cells[k], MPI_DOUBLE, partners[k], k, MPI_COMM_WORLD, &requests[k]);
        for (int k = 0; k < n_neighbours; k++)
            MPI_Send(out, cells[k], MPI_DOUBLE, partners[k], k, MPI_COMM_WORLD);
        MPI_Waitall(n_neighbours, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
