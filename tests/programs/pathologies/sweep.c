/* A wavefront sweep over a grid of ranks, standing in for Sweep3D: from each corner in turn, block
 * by block, a rank receives from its neighbours in x and in y on the side of that corner, computes,
 * and sends to those on the other side.
 *
 * Known answer: late_sender in MPI_Recv while the wavefront fills the grid, once per sweep, because
 * the neighbours compute in sweep(). Afterwards the ranks are in step and wait for nobody.
 *
 * In a block what goes on in x is ready before what goes on in y, the earlier the further the row
 * is from the corner. So of the two messages that a rank needs the one from x, which it receives
 * first, has also been sent first, and none are in wrong order: with equal work all over both are
 * sent at once.
 *
 * --columns NUMBER      of the grid: ranks in x; the size is a multiple, of 40 rows at most
 * --work SECONDS        per block
 * --blocks NUMBER       per sweep
 * --iterations NUMBER   of four sweeps each
 * --apart NUMBER        1: ranks have no neighbours, and wait for nobody */
#include "work.h"

static int apart;

/* The rank so many columns or rows further; none at the edge. */
static int neighbour(int columns, int x, int y)
{
    return apart || x < 0 || x >= columns || y < 0 || y >= size / columns ? MPI_PROC_NULL
                                                                          : y * columns + x;
}

/* One sweep towards larger (1) or smaller (-1) x and y. */
ROLE void sweep(int columns, int dx, int dy, int64_t work, int blocks)
{
    int x = rank % columns, y = rank / columns, data = 0;
    int from_x = neighbour(columns, x - dx, y), to_x = neighbour(columns, x + dx, y);
    int from_y = neighbour(columns, x, y - dy), to_y = neighbour(columns, x, y + dy);
    int64_t rest = work / 10 + work / 50 * (dy > 0 ? y : size / columns - 1 - y);
    for (int block = 0; block < blocks; block++) {
        if (from_x != MPI_PROC_NULL)
            MPI_Recv(&data, 1, MPI_INT, from_x, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (from_y != MPI_PROC_NULL)
            MPI_Recv(&data, 1, MPI_INT, from_y, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        do_work(work - rest);
        if (to_x != MPI_PROC_NULL)
            MPI_Send(&data, 1, MPI_INT, to_x, 1, MPI_COMM_WORLD);
        do_work(rest);
        if (to_y != MPI_PROC_NULL)
            MPI_Send(&data, 1, MPI_INT, to_y, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct parameter with[] = {
        {"columns", 4}, {"work", 0.001}, {"blocks", 10}, {"iterations", 50}, {"apart", 0}};
    parse(argc, argv, with, 5);
    int columns = (int)with[0].value, blocks = (int)with[2].value, iterations = (int)with[3].value;
    int64_t work = to_ns(with[1].value);
    apart = with[4].value > 0;
    MPI_Init(&argc, &argv);
    work_begin();
    if (columns < 1 || size % columns != 0 || size / columns > 40)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < iterations; i++) {
        sweep(columns, 1, 1, work, blocks);
        sweep(columns, -1, 1, work, blocks);
        sweep(columns, -1, -1, work, blocks);
        sweep(columns, 1, -1, work, blocks);
    }
    MPI_Finalize();
    return 0;
}
