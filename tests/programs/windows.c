/* Windows of every kind and synchronizations that one_sided.c does not have. ranks: 2 */
#include "expect.h"

static int rank, other;
static int memory[64];

/* Memory that both ranks see. */
static void shared(void)
{
    MPI_Win win;
    MPI_Aint size;
    UNIT unit;
    int *base;
    CALL(MPI_Win_allocate_shared(64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
         "size=64 disp_unit=4 info=MPI_INFO_NULL comm=world win=win#0");
    CALL(MPI_Win_shared_query(win, other, &size, &unit, &base), "win=win#0 rank=%d", other);
    CALL(MPI_Win_lock_all(MPI_MODE_NOCHECK, win), "assert=%d win=win#0", MPI_MODE_NOCHECK);
    base[0] = rank;
    CALL(MPI_Win_sync(win), "win=win#0");
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Win_sync(win), "win=win#0");
    CALL(MPI_Win_unlock_all(win), "win=win#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

/* Memory that is attached; the displacement is an address, which the other side tells. */
static void dynamic(void)
{
    MPI_Win win;
    MPI_Aint address, there;
    int data[4] = {0};
    CALL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win),
         "info=MPI_INFO_NULL comm=world win=win#0");
    CALL(MPI_Win_attach(win, memory, sizeof memory), "win=win#0 size=256");
    CALL(MPI_Get_address(memory, &address), "%s", "");
    CALL(MPI_Sendrecv(&address, 1, MPI_AINT, other, 1, &there, 1, MPI_AINT, other, 1,
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE),
         "dest=%d bytes=8", other);
    CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, other, 0, win), "lock_type=%d rank=%d win=win#0",
         MPI_LOCK_EXCLUSIVE, other);
    CALL(MPI_Put(data, 4, MPI_INT, other, there, 4, MPI_INT, win), "target_rank=%d bytes=16",
         other);
    CALL(MPI_Win_unlock(other, win), "rank=%d win=win#0", other);
    CALL(MPI_Barrier(MPI_COMM_WORLD), "comm=world");
    CALL(MPI_Win_detach(win, memory), "win=win#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

/* Operations with requests, and what flushes them. */
static void requests(void)
{
    MPI_Win win;
    MPI_Request r[4];
    int data[4] = {0}, result[4], *base;
    CALL(MPI_Win_allocate(256, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win),
         "size=256 disp_unit=4 win=win#0");
    CALL(MPI_Win_lock_all(0, win), "win=win#0");
    CALL(MPI_Rput(data, 4, MPI_INT, other, 0, 4, MPI_INT, win, &r[0]), "bytes=16 win=win#0");
    CALL(MPI_Rget(result, 3, MPI_INT, other, 8, 3, MPI_INT, win, &r[1]), "target_disp=8 bytes=12");
    CALL(MPI_Raccumulate(data, 2, MPI_INT, other, 16, 2, MPI_INT, MPI_SUM, win, &r[2]),
         "origin_count=2 target_rank=%d target_disp=16 target_count=2 op=MPI_SUM bytes=8", other);
    CALL(MPI_Rget_accumulate(NULL, 0, MPI_INT, result, 1, MPI_INT, other, 24, 1, MPI_INT, MPI_NO_OP,
                             win, &r[3]),
         "result_count=1 target_rank=%d target_disp=24 op=MPI_NO_OP !origin_count", other);
    CALL(MPI_Waitall(4, r, MPI_STATUSES_IGNORE),
         "array_of_requests=[recent:4,recent:3,recent:2,recent:1] completed=[0,1,2,3]");
    CALL(MPI_Put(data, 1, MPI_INT, other, 0, 1, MPI_INT, win), "bytes=4");
    CALL(MPI_Win_flush_local(other, win), "rank=%d win=win#0", other);
    CALL(MPI_Win_flush_local_all(win), "win=win#0");
    CALL(MPI_Win_flush_all(win), "win=win#0");
    CALL(MPI_Win_unlock_all(win), "win=win#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

/* Rank 0 exposes and asks whether rank 1 is done. */
static void tested(void)
{
    MPI_Win win;
    MPI_Group all, peer;
    int data[2] = {0}, flag;
    CALL(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win),
         "size=256 disp_unit=4 win=win#0");
    CALL(MPI_Win_get_group(win, &all), "win=win#0 group=group#0");
    CALL(MPI_Group_incl(all, 1, &other, &peer), "newgroup=group#1");
    if (rank == 0) {
        CALL(MPI_Win_post(peer, 0, win), "group=group#1 assert=0 win=win#0");
        POLL(MPI_Win_test(win, &flag), flag, "win=win#0", "win=win#0 !polls");
    } else {
        CALL(MPI_Win_start(peer, 0, win), "group=group#1 assert=0 win=win#0");
        CALL(MPI_Put(data, 2, MPI_INT, 0, 0, 2, MPI_INT, win), "target_rank=0 bytes=8");
        CALL(MPI_Win_complete(win), "win=win#0");
    }
    CALL(MPI_Group_free(&peer), "group=group#1");
    CALL(MPI_Group_free(&all), "group=group#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

/* What a window carries beside its memory. */
static void properties(void)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME];
    int length, keyval, flag, *base;
    void *found;
    CALL(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), "win=win#0");
    CALL(MPI_Win_set_name(win, "halo"), "win=win#0 win_name=halo");
    CALL(MPI_Win_get_name(win, name, &length), "win=win#0");
    CALL(MPI_Win_get_info(win, &info), "win=win#0 info_used=info#0");
    CALL(MPI_Win_set_info(win, info), "win=win#0 info=info#0");
    CALL(MPI_Info_free(&info), "info=info#0");
    CALL(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN), "win=win#0 errhandler=MPI_ERRORS_RETURN");
    CALL(MPI_Win_get_errhandler(win, &handler), "win=win#0 errhandler=MPI_ERRORS_RETURN");
    CALL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &keyval, NULL),
         "win_keyval=keyval#0");
    CALL(MPI_Win_set_attr(win, keyval, name), "win=win#0 win_keyval=keyval#0");
    CALL(MPI_Win_get_attr(win, keyval, &found, &flag), "win=win#0 win_keyval=keyval#0 flag=1");
    CALL(MPI_Win_get_attr(win, MPI_WIN_SIZE, &found, &flag), "win_keyval=MPI_WIN_SIZE flag=1");
    CALL(MPI_Win_delete_attr(win, keyval), "win=win#0 win_keyval=keyval#0");
    CALL(MPI_Win_free_keyval(&keyval), "win_keyval=keyval#0");
    CALL(MPI_Win_free(&win), "win=win#0");
}

int main(int argc, char **argv)
{
    CALL(MPI_Init(&argc, &argv), "%s", "");
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "comm=world");
    other = 1 - rank;
    shared();
    dynamic();
    requests();
    tested();
    properties();
    return expect_finalize(rank);
}
