/* What is to be seen where a finding leads to; the argument says which:
 *
 *   one: rank 2 sleeps 120 ms before the sixth of ten barriers, 3 ms before the others; the others
 *        wait for it in meet().
 *   turns: ranks sleep 15 ms one after the other, 4 times; each gets a token from the rank before
 *          it in take_turn().
 *   server: rank 0 answers all others in serve(), 8 ms for each answer; they wait in ask().
 *   reader: rank 0 sleeps 25 ms before each of 4 broadcasts; the others wait in load().
 *   places: rank 2 sleeps 2 ms before each of 40 barriers that the others reach by one call path,
 *           and 6 ms before each of 50 that they reach by 50 paths. The one path costs most, but
 *           the longest waits are on the others. Longer than these is one in part().
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, ranks;

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static __attribute__((noinline)) void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void one(void)
{
    for (int i = 0; i < 10; i++) {
        if (rank == 2)
            sleep_ms(i == 5 ? 120 : 3);
        meet();
    }
}

static __attribute__((noinline)) void take_turn(int step)
{
    int token = step;
    if (rank > 0)
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sleep_ms(15);
    if (rank + 1 < ranks)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

static void turns(void)
{
    for (int i = 0; i < 4; i++) {
        take_turn(i);
        meet();
    }
}

static __attribute__((noinline)) void serve(int requests)
{
    for (int i = 0; i < requests; i++) {
        MPI_Status status;
        int number;
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
        sleep_ms(8);
        MPI_Send(&number, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD);
    }
}

static __attribute__((noinline)) void ask(int number)
{
    MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void server(void)
{
    if (rank == 0)
        serve(6 * (ranks - 1));
    for (int i = 0; rank > 0 && i < 6; i++)
        ask(i);
}

static __attribute__((noinline)) void load(int *data)
{
    MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void reader(void)
{
    for (int i = 0; i < 4; i++) {
        int data = i;
        if (rank == 0)
            sleep_ms(25);
        load(&data);
        meet();
    }
}

static __attribute__((noinline)) int descend(int levels)
{
    const int below = levels > 0 ? descend(levels - 1) : 0;
    if (levels == 0)
        meet();
    return below + 1; /* behind the call, which so has a frame of its own */
}

static __attribute__((noinline)) void part(void)
{
    if (rank == 2)
        sleep_ms(30);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void places(void)
{
    part();
    for (int i = 0; i < 90; i++) {
        if (rank == 2)
            sleep_ms(i < 40 ? 2 : 6);
        descend(rank == 2 || i < 40 ? 0 : i - 39);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    meet();
    const char *what = argc > 1 ? argv[1] : "one";
    if (strcmp(what, "one") == 0)
        one();
    else if (strcmp(what, "turns") == 0)
        turns();
    else if (strcmp(what, "server") == 0)
        server();
    else if (strcmp(what, "places") == 0)
        places();
    else
        reader();
    meet();
    MPI_Finalize();
    return 0;
}
