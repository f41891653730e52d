/* Blocks that go from rank to rank. */
#include "stories.h"

WORK void sweep(int blocks, int from, int to, double length)
{
    for (int b = 0; b < blocks; b++) {
        if (from >= 0 && from < size)
            receive_from(from);
        work(length);
        if (to >= 0 && to < size)
            send_to(to);
    }
}

/* Ranks work at the same time but at both ends. */
static void forwards(int blocks, double length)
{
    for (int i = 0; i < steps; i++) {
        sweep(blocks, rank - 1, rank + 1, length);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void blocks_6(void)
{
    forwards(6, 4);
}

static void blocks_400(void)
{
    forwards(400, 4);
}

/* Both ends receive from nobody and send to nobody, and so make the same calls as the others. */
static void with_null(int blocks, double length)
{
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL,
        next = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    for (int i = 0; i < steps; i++) {
        for (int b = 0; b < blocks; b++) {
            receive_from(before);
            work(length);
            send_to(next);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* 6 * 14 / (14 + 5) = 4.4 of 6 ranks are at work, and with 16 blocks 4.6: three quarters are 4.5.
 */
static void blocks_14(void)
{
    with_null(14, 4);
}

static void blocks_16(void)
{
    with_null(16, 4);
}

/* One stage takes twice as long as the others. */
static void slow_stage(void)
{
    with_null(100, rank == 2 ? 8 : 4);
}

/* Forward elimination, and back. */
static void there_and_back(void)
{
    for (int i = 0; i < steps; i++) {
        sweep(4, rank - 1, rank + 1, 4);
        sweep(4, rank + 1, rank - 1, 4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* A grid of `wide` columns, from the corner to the one across. */
WORK void wavefront(int wide, int blocks)
{
    int x = rank % wide, y = rank / wide;
    for (int b = 0; b < blocks; b++) {
        if (x > 0)
            receive_from(rank - 1);
        if (y > 0)
            receive_from(rank - wide);
        work(4);
        if (x < wide - 1)
            send_to(rank + 1);
        if (rank + wide < size)
            send_to(rank + wide);
    }
}

static void corner(void)
{
    for (int i = 0; i < steps; i++) {
        wavefront(3, 4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The next block is received while this one is worked on. */
static void two_buffers(void)
{
    enum { BLOCKS = 5 };
    for (int i = 0; i < steps; i++) {
        int in[BLOCKS];
        MPI_Request receives[BLOCKS], send = MPI_REQUEST_NULL;
        for (int b = 0; rank > 0 && b < BLOCKS; b++)
            MPI_Irecv(&in[b], 1, MPI_INT, rank - 1, b, MPI_COMM_WORLD, &receives[b]);
        for (int b = 0; b < BLOCKS; b++) {
            if (rank > 0)
                MPI_Wait(&receives[b], MPI_STATUS_IGNORE);
            work(5);
            MPI_Wait(&send, MPI_STATUS_IGNORE);
            if (rank < size - 1)
                MPI_Isend(&rank, 1, MPI_INT, rank + 1, b, MPI_COMM_WORLD, &send);
        }
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const struct program programs[] = {{"blocks_6", blocks_6},
                                       {"blocks_14", blocks_14},
                                       {"blocks_16", blocks_16},
                                       {"blocks_400", blocks_400},
                                       {"slow_stage", slow_stage},
                                       {"there_and_back", there_and_back},
                                       {"corner", corner},
                                       {"two_buffers", two_buffers},
                                       {NULL, NULL}};
    return run_program(argc, argv, programs);
}
