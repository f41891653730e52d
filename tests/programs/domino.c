/* A chain of ranks, and ranks that wait for its end: their waits are the longest, and worth
 * nothing.
 *
 *     domino MILLISECONDS... of each stage
 *
 * Seven ranks compute a stage each, after the one before them. Seven more ranks compute for 0, 1,
 * ... 6 ms, then wait for the last stage; the first of them then computes for 30 ms. Each stage and
 * each spare rank has a function of its own. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { STAGES = 7, FINISH_US = 30000 };

static int rank;

/* A receive that has its place in the function itself. */
#define RECEIVE(from) MPI_Recv(&(int){0}, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)

static void send_to(int to)
{
    MPI_Send(&rank, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
}

static void pass_on(void)
{
    const int last = rank == STAGES - 1;
    for (int to = rank + 1; to <= (last ? 2 * STAGES - 1 : rank + 1); to++)
        send_to(to);
}

/* What ranks compute is named by a function of their own. */
#define WORK(name)                                            \
    __attribute__((noinline)) static void name(useconds_t us) \
    {                                                         \
        usleep(us);                                           \
    }
#define STAGE(n)                                                  \
    WORK(work##n)                                                 \
    __attribute__((noinline)) static void stage##n(useconds_t us) \
    {                                                             \
        if (n > 0)                                                \
            RECEIVE(n - 1);                                       \
        work##n(us);                                              \
        pass_on();                                                \
    }
#define SPARE(n)                                         \
    WORK(prepare##n)                                     \
    __attribute__((noinline)) static void spare##n(void) \
    {                                                    \
        prepare##n(1000 * n);                            \
        RECEIVE(STAGES - 1);                             \
        if (n == 0)                                      \
            finish(FINISH_US);                           \
    }
WORK(finish)
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6)
EACH(STAGE)
EACH(SPARE)
#define STAGE_NAME(n) stage##n,
#define SPARE_NAME(n) spare##n,
static void (*const stages[])(useconds_t) = {EACH(STAGE_NAME)};
static void (*const spares[])(void) = {EACH(SPARE_NAME)};

int main(int argc, char **argv)
{
    useconds_t us[STAGES] = {0};
    for (int i = 0; i < STAGES && i + 1 < argc; i++)
        us[i] = 1000 * (useconds_t)atoi(argv[i + 1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank < STAGES)
        stages[rank](us[rank]);
    else if (rank >= STAGES)
        spares[rank - STAGES]();
    MPI_Finalize();
    return 0;
}
