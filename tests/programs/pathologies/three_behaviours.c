/* Eight ranks meet at a barrier in each of 100 steps. In 80 steps the ranks 0 to 3 are late, since
 * work_b takes them longer; in 15, of double length, they write data; in 5 all do alike. */
#include "work.h"

enum { STEPS = 100 };
static const int64_t ms = 1000000;

ROLE void work_b(int late)
{
    do_work((late ? 8 : 2) * ms);
    MPI_Barrier(MPI_COMM_WORLD);
}

ROLE void write_data(int late)
{
    int nothing = 0;
    MPI_Bcast(&nothing, 1, MPI_INT, 0, MPI_COMM_SELF);
    do_work(late ? 14 * ms : 0);
    MPI_Bcast(&nothing, 1, MPI_INT, 0, MPI_COMM_SELF);
    do_work(2 * ms);
}

int main(int argc, char **argv)
{
    parse(argc, argv, NULL, 0);
    MPI_Init(&argc, &argv);
    work_begin();
    for (int i = 0; i < STEPS; i++) {
        int writes = i % 20 >= 16 && i % 20 < 19, alike = i % 20 == 19;
        do_work(2 * ms);
        write_data(rank < 4 && writes);
        work_b(rank < 4 && !writes && !alike);
    }
    MPI_Finalize();
    return 0;
}
