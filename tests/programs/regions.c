/* Regions of the program: nested, in loops, recursive, with names that change in place, and ends
 * that fit no begin. ranks: 2 */
#include "expect.h"

#include <refrain/region.h>

#define BEGIN(name) CALL(refrain_region_begin(name), "name=%s", name)
#define END(name)   CALL(refrain_region_end(name), "name=%s", name)

static void descend(int depth)
{
    BEGIN("descend");
    if (depth > 0)
        descend(depth - 1);
    END("descend");
}

/* One place in memory, and one in the program, for many names. */
static void many_names(void)
{
    char name[32];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "part-%d", i % 100);
        BEGIN(name);
        strcpy(name, "other");
        BEGIN(name);
        END(name);
        snprintf(name, sizeof name, "part-%d", i % 100);
        END(name);
    }
}

/* Regions in a callback, inside of an MPI call: not recorded. */
static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    refrain_region_begin("inside");
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
    refrain_region_end("inside");
}

static void callback(void)
{
    MPI_Op op;
    int one = 1, sum;
    CALL(MPI_Op_create(add, 1, &op), "commute=1");
    CALL(MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD), "count=1");
    CALL(MPI_Op_free(&op), "%s", "");
}

static void improper(void)
{
    refrain_region_end("nothing");
    BEGIN("outer");
    refrain_region_end("inner"); /* is not open */
    BEGIN("inner");
    refrain_region_end("outer"); /* not the innermost */
    END("inner");
    END("outer");
    refrain_region_end("outer"); /* not any more */
}

int main(int argc, char **argv)
{
    int rank;
    char blanks[] = "two words";
    refrain_region_end("before all");
    BEGIN("whole");
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    BEGIN("loops");
    for (int i = 0; i < 50; i++) {
        BEGIN("step");
        CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
        for (int k = 0; k < i % 4; k++) {
            BEGIN("inner");
            CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
            END("inner");
        }
        END("step");
    }
    END("loops");
    CALL(refrain_region_begin(blanks), "%s", "name=two\\swords");
    CALL(refrain_region_end("two words"), "%s", "name=two\\swords");
    CALL(refrain_region_begin(""), "%s", "name=");
    CALL(refrain_region_end(""), "%s", "name=");
    descend(300);
    many_names();
    callback();
    improper();
    BEGIN("open");
    printf("rank %d is done\n", rank);
    /* Those that are open end with the run. */
    expect("refrain_region_end(", "name=open");
    expect("refrain_region_end(", "name=whole");
    int failed = expect_finalize(rank);
    refrain_region_end("open");
    refrain_region_begin("late");
    refrain_region_end("late");
    refrain_region_end("whole");
    return failed;
}
