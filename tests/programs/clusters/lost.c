/* lost.c - ranks that differ in what main clusters and parameters do not see: each way in which
 * that can be. All calls are the same on all ranks, and so are, of each call path, the partners'
 * distances, the least, the most and the average of counts.
 *
 *     lost tags|order|lists|many
 *
 * tags: each rank sends with its own. order: every second rank sends three messages in another
 * order. lists: MPI_Alltoallv, whose counts are shifted from rank to rank. many: the counts of 80
 * messages, shifted by 7 from rank to rank.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80 };

static int rank, size;

static void pass_on(int count, int tag)
{
    static int out[MOST], in[MOST];
    MPI_Sendrecv(out, count, MPI_INT, (rank + 1) % size, tag, in, MOST, MPI_INT,
                 (rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(void)
{
    int *counts = malloc((size_t)size * sizeof *counts);
    int *places = malloc((size_t)size * sizeof *places);
    int *out = calloc((size_t)(size * size), sizeof *out);
    int *in = calloc((size_t)(size * size), sizeof *in);
    for (int i = 0; i < size; i++) {
        counts[i] = (rank + i) % size + 1;
        places[i] = i * size;
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    free(counts);
    free(places);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int order[2][3] = {{10, 20, 30}, {10, 30, 20}};
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "tags") == 0)
        pass_on(1, rank);
    for (int i = 0; i < 3 && strcmp(what, "order") == 0; i++)
        pass_on(order[rank % 2][i], 0);
    for (int i = 0; i < MOST && strcmp(what, "many") == 0; i++)
        pass_on((i + 7 * rank) % MOST + 1, 0);
    if (strcmp(what, "lists") == 0)
        exchange();
    MPI_Finalize();
    return 0;
}
