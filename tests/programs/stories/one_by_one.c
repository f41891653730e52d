/* Ranks execute a part one after the other, or nearly. */
#include "stories.h"

/* A token goes round: who has it appends to a file. */
WORK void ordered_output(double length)
{
    if (rank > 0)
        receive_from(rank - 1);
    work(length);
    if (rank < size - 1)
        send_to(rank + 1);
}

static void token(void)
{
    for (int i = 0; i < steps; i++) {
        work(5);
        ordered_output(6);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

WORK void append_to_file(double length)
{
    work(length);
}

/* Barriers say whose turn it is. */
static void barrier_turns(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) {
        work(5);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int turn = 0; turn < size; turn++) {
            if (rank == turn)
                append_to_file(6);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* Two ranks have turns, the others none. */
static void two_turns(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) {
        for (int turn = 0; turn < 2; turn++) {
            if (rank == turn)
                append_to_file(6);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
}

/* All append at once, and each takes as long as the others. */
static void no_turns(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) {
        append_to_file(6);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Rank 0 lets one rank after the other in, and does nothing else. */
static void permits(void)
{
    for (int i = 0; i < steps; i++) {
        for (int turn = 1; rank == 0 && turn < size; turn++) {
            send_to(turn);
            receive_from(turn);
        }
        if (rank > 0) {
            receive_from(0);
            append_to_file(6);
            send_to(0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The lock of a window, for `length`, in order of ranks; windows are those of ranks 0 to
 * `windows` - 1. */
static void locks(int type, int windows, double length)
{
    static int count;
    MPI_Win window;
    MPI_Win_create(&count, sizeof count, sizeof count, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < steps; i++) {
        work(0.001 * rank);
        MPI_Win_lock(type, rank % windows, 0, window);
        append_to_file(length);
        MPI_Win_unlock(rank % windows, window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
}

static void lock(void)
{
    locks(MPI_LOCK_EXCLUSIVE, 1, 6);
}

static void shared_lock(void)
{
    locks(MPI_LOCK_SHARED, 1, 6);
}

static void two_locks(void)
{
    locks(MPI_LOCK_EXCLUSIVE, 2, 6);
}

static void long_lock(void)
{
    locks(MPI_LOCK_EXCLUSIVE, 1, rank == 0 ? 60 : 0.1);
}

/* The token goes round and round. Whoever has handed it on does other things until it is back. */
static void token_in_time(void)
{
    for (int i = 0; i < steps; i++) {
        if (rank > 0 || i > 0)
            receive_from((rank + size - 1) % size);
        work(6);
        if (rank < size - 1 || i < steps - 1)
            send_to((rank + 1) % size);
        work(6 * (size - 1));
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {{"token", token},
                                       {"barrier_turns", barrier_turns},
                                       {"two_turns", two_turns},
                                       {"no_turns", no_turns},
                                       {"permits", permits},
                                       {"lock", lock},
                                       {"shared_lock", shared_lock},
                                       {"two_locks", two_locks},
                                       {"long_lock", long_lock},
                                       {"token_in_time", token_in_time},
                                       {NULL, NULL}};
    return run_program(argc, argv, programs);
}
