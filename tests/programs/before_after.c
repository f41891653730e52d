/* Steps in which ranks share `work` and each does `serial` besides; one rank does `extra` more,
 * then sends to each of the others, which wait for it.
 *
 * Known answer, with S steps and N ranks, as communication takes no time:
 *   run time     S * (serial + work / N + extra)
 *   computing    of each rank S * (serial + work / N), of the slow one S * extra more
 *   waiting      of each other rank S * extra, in MPI_Recv in exchange()
 *   messages     S * (N - 1), of `bytes` bytes each
 *
 * --work, --serial, --extra SECONDS; --slow RANK; --steps, --bytes NUMBER */
#include "pathologies/work.h"
#include "refrain/region.h"

ROLE void smooth(int64_t ns)
{
    refrain_region_begin("smoothing");
    do_work(ns);
    refrain_region_end("smoothing");
}

ROLE void exchange(int slow, char *data, int bytes)
{
    if (rank == slow) {
        for (int to = 0; to < size; to++)
            if (to != rank)
                MPI_Send(data, bytes, MPI_CHAR, to, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, bytes, MPI_CHAR, slow, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

ROLE void step(int slow, int64_t ns, char *data, int bytes)
{
    smooth(ns);
    exchange(slow, data, bytes);
}

int main(int argc, char **argv)
{
    struct parameter with[] = {{"work", 0.16}, {"serial", 0.01}, {"extra", 0},
                               {"slow", 0},    {"steps", 10},    {"bytes", 8}};
    parse(argc, argv, with, 6);
    int slow = (int)with[3].value, bytes = (int)with[5].value;
    char *data = calloc(1, (size_t)bytes + 1);
    MPI_Init(&argc, &argv);
    work_begin();
    double seconds = with[0].value / size + with[1].value + (rank == slow ? with[2].value : 0);
    for (int i = 0; i < (int)with[4].value; i++)
        step(slow, to_ns(seconds), data, bytes);
    free(data);
    MPI_Finalize();
    return 0;
}
