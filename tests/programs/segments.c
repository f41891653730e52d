/* Iterations that the program marks as segments, loops that it does not mark, and ends that fit no
 * begin. 84 segments per rank: setup, 40 steps, each with the end of a region behind it, 30
 * barriers, one that is open at the end, MPI_Finalize. ranks: 2 */
#include "expect.h"

#include <refrain/region.h>

#define BEGIN(name) CALL(refrain_segment_begin(name), "name=%s", name)
#define END()       CALL(refrain_segment_end(), "!name")

enum { STEPS = 40, SUMS = 3, BARRIERS = 30 };

static void step(void)
{
    int one = 1, sum;
    BEGIN("step");
    CALL(refrain_region_begin("sums"), "name=sums");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    for (int i = 0; i < SUMS; i++)
        CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), "count=1");
    END(); /* within the region that was begun in the segment */
    CALL(refrain_region_end("sums"), "name=sums");
}

int main(int argc, char **argv)
{
    int rank, number = 0;
    refrain_segment_end();
    BEGIN("setup");
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    END();
    for (int i = 0; i < STEPS; i++)
        step();
    for (int i = 0; i < BARRIERS; i++)
        CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    refrain_segment_end();
    BEGIN("open");
    CALL(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD), "root=0");
    printf("rank %d is done\n", rank);
    expect("refrain_segment_end(", "!name"); /* what is open ends with the run */
    int failed = expect_finalize(rank);
    refrain_segment_end();
    refrain_segment_begin("late");
    return failed;
}
