/* Windows and what is done to them. ranks: 2 */
#include "expect.h"

static int rank, other;
static int memory[64];

static void fenced(MPI_Win win, const char *name)
{
    int data[8] = {0}, result[8];
    CALL(MPI_Win_fence(0, win), "assert=0 win=%s", name);
    CALL(MPI_Put(data, 3, MPI_INT, other, 4, 3, MPI_INT, win),
         "origin_count=3 origin_datatype=MPI_INT target_rank=%d target_disp=4 target_count=3 "
         "target_datatype=MPI_INT win=%s bytes=12",
         other, name);
    CALL(MPI_Win_fence(0, win), "win=%s", name);
    CALL(MPI_Get(result, 2, MPI_INT, other, 4, 2, MPI_INT, win),
         "target_rank=%d target_disp=4 bytes=8", other);
    CALL(MPI_Win_fence(0, win), "win=%s", name);
    CALL(MPI_Accumulate(data, 2, MPI_INT, other, 0, 2, MPI_INT, MPI_SUM, win),
         "target_rank=%d op=MPI_SUM bytes=8", other);
    CALL(MPI_Win_fence(MPI_MODE_NOSUCCEED, win), "assert=%d win=%s", MPI_MODE_NOSUCCEED, name);
}

static void fences(void)
{
    MPI_Win first, second;
    int *base;
    CALL(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &first),
         "size=256 disp_unit=4 info=MPI_INFO_NULL comm=world win=win#0");
    CALL(MPI_Win_allocate(128, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &second),
         "size=128 disp_unit=4 comm=world win=win#1");
    fenced(first, "win#0");
    fenced(second, "win#1");
    CALL(MPI_Win_free(&first), "win=win#0");
    CALL(MPI_Win_free(&second), "win=win#1");
}

/* Rank 0 exposes, rank 1 accesses. */
static void post_and_start(void)
{
    MPI_Win win;
    MPI_Group world, peer;
    int data[4] = {0};
    CALL(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
         "win=win#0");
    CALL(MPI_Comm_group(MPI_COMM_WORLD, &world), "group=group#0");
    CALL(MPI_Group_incl(world, 1, &other, &peer), "ranks=[%d] newgroup=group#1", other);
    if (rank == 0) {
        CALL(MPI_Win_post(peer, 0, win), "group=group#1 assert=0 win=win#0");
        CALL(MPI_Win_wait(win), "win=win#0");
    } else {
        CALL(MPI_Win_start(peer, 0, win), "group=group#1 assert=0 win=win#0");
        CALL(MPI_Put(data, 4, MPI_INT, other, 0, 4, MPI_INT, win), "target_rank=0 bytes=16");
        CALL(MPI_Win_complete(win), "win=win#0");
    }
    CALL(MPI_Group_free(&peer), "group=group#1");
    CALL(MPI_Group_free(&world), "group=group#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

static void locks(void)
{
    MPI_Win win;
    MPI_Request request;
    int data[4] = {0}, result[4], one = 1, old, *base;
    CALL(MPI_Win_allocate(256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
         "win=win#0");
    CALL(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win), "lock_type=%d rank=%d assert=0 win=win#0",
         MPI_LOCK_SHARED, other);
    CALL(MPI_Put(data, 2, MPI_INT, other, 1, 2, MPI_INT, win), "bytes=8");
    CALL(MPI_Win_flush(other, win), "rank=%d win=win#0", other);
    CALL(MPI_Rput(data, 4, MPI_INT, other, 0, 4, MPI_INT, win, &request),
         "target_rank=%d bytes=16 win=win#0", other);
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 !source");
    CALL(MPI_Rget(result, 4, MPI_INT, other, 0, 4, MPI_INT, win, &request), "bytes=16");
    CALL(MPI_Wait(&request, MPI_STATUS_IGNORE), "request=recent:1 !source");
    CALL(MPI_Win_unlock(other, win), "rank=%d win=win#0", other);
    CALL(MPI_Win_lock_all(0, win), "assert=0 win=win#0");
    CALL(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 9, MPI_SUM, win),
         "datatype=MPI_INT target_rank=0 target_disp=9 op=MPI_SUM bytes=4");
    CALL(MPI_Get_accumulate(data, 2, MPI_INT, result, 2, MPI_INT, other, 3, 2, MPI_INT, MPI_SUM,
                            win),
         "origin_count=2 result_count=2 target_rank=%d target_disp=3 op=MPI_SUM bytes=8", other);
    CALL(MPI_Compare_and_swap(&one, &one, &old, MPI_INT, other, 5, win),
         "datatype=MPI_INT target_rank=%d target_disp=5 bytes=4", other);
    CALL(MPI_Win_flush_all(win), "win=win#0");
    CALL(MPI_Win_unlock_all(win), "win=win#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    fences();
    post_and_start();
    locks();
    return expect_finalize(rank);
}
