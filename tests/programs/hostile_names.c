/* Regions whose names mean something to readers of tables: separators, quotes, ends of lines,
 * formulas; each is around a barrier. */
#include <mpi.h>
#include <refrain/region.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    static const char *const names[] = {
        "=cmd()",     "+1",      "-1",     "@x", "a,b",         "say \"no\"",
        "two\nlines", "\r\001:", "back\\", "{}", "rank 0 {\nl1"};
    MPI_Init(&argc, &argv);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        refrain_region_begin(names[i]);
        MPI_Barrier(MPI_COMM_WORLD);
        refrain_region_end(names[i]);
    }
    MPI_Finalize();
    return 0;
}
