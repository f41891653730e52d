/* Six ranks go through two loops of the same number of steps. In the first the ranks 0 and 1 are
 * late; in the second rank 5 is in every second step. There each rank first talks to itself: the
 * lower ranks twice in a step, the upper ones three times. */
#include "work.h"

enum { STEPS = 60 };
static const int64_t ms = 1000000;

ROLE void first_loop(void)
{
    for (int i = 0; i < STEPS; i++) {
        do_work((rank < 2 ? 5 : 1) * ms);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

ROLE void talk(int times)
{
    for (int i = 0; i < times; i++) {
        int word = i;
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_SELF);
        do_work(ms / 2);
    }
}

ROLE void second_loop(void)
{
    for (int i = 0; i < STEPS; i++) {
        int times = rank < 3 ? 2 : 3;
        talk(times);
        do_work((rank == 5 && i % 2 ? 8 : 1) * ms + (3 - times) * ms / 2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv, NULL, 0);
    MPI_Init(&argc, &argv);
    work_begin();
    first_loop();
    second_loop();
    MPI_Finalize();
    return 0;
}
