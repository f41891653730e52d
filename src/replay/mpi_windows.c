/* mpi_windows.c - one-sided communication.
 *
 * Windows are as large as they were. What is put, got and accumulated are bytes at the recorded
 * displacements; accumulation is MPI_BOR unless it was MPI_REPLACE or MPI_NO_OP. Windows whose
 * memory is attached later (MPI_Win_create_dynamic) are not replayed: their displacements are
 * addresses.
 */
#include "replay/mpi_player.h"

#include "base/grow.h"

#include <limits.h>
#include <string.h>

/* ---- windows ---- */

static MPI_Win win_of(const struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t slot = rfn_word(call, RFN_IN_WIN, -1);
    return slot >= 0 && (uint64_t)slot < player->made.wins_capacity ? player->made.wins[slot]
                                                                    : MPI_WIN_NULL;
}

static int keep_win(struct rpl_player *player, const struct rfn_call_event *call, MPI_Win win)
{
    int64_t slot = rfn_outcome(call, RFN_OUT_WIN);
    size_t before = player->made.wins_capacity;
    if (slot < 0 || slot >= RFN_SLOTS_MAX)
        return rfn_fail(player->diag, RFN_E_CORRUPT, -1, (int)player->rank,
                        "a window has no number");
    RFN_TRY(RFN_GROW(player->made.wins, player->made.wins_capacity, (size_t)slot + 1));
    for (size_t i = before; i < player->made.wins_capacity; i++)
        player->made.wins[i] = MPI_WIN_NULL;
    player->made.wins[slot] = win;
    return 0;
}

/* Memory of MPI_Win_create is MPI's here, so that it goes with the window. */
static int issue_win_create(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t size = rfn_word(call, RFN_IN_size, 0), unit = rfn_word(call, RFN_IN_disp_unit, 1);
    MPI_Comm comm = rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1));
    int disp_unit = unit > 0 && unit <= INT_MAX ? (int)unit : 1;
    MPI_Aint bytes = size > 0 ? (MPI_Aint)size : 0;
    void *base;
    MPI_Win win;
    if (call->call->operation == RFN_MPI_Win_allocate_shared)
        MPI_Win_allocate_shared(bytes, disp_unit, MPI_INFO_NULL, comm, &base, &win);
    else
        MPI_Win_allocate(bytes, disp_unit, MPI_INFO_NULL, comm, &base, &win);
    return keep_win(player, call, win);
}

static int issue_win_free(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Win win = win_of(player, call);
    if (win == MPI_WIN_NULL)
        return 0;
    MPI_Win_free(&win);
    player->made.wins[rfn_word(call, RFN_IN_WIN, 0)] = MPI_WIN_NULL;
    return 0;
}

/* ---- synchronization ---- */

/* The lock's type is the number of the MPI with which this was recorded. */
static int lock_type(const struct rfn_call_event *call)
{
    bool mpich = strcmp(rfn_archive_run(call->archive)->flavour, "mpich") == 0;
    return rfn_word(call, RFN_IN_lock_type, 0) == (mpich ? 235 : 2) ? MPI_LOCK_SHARED
                                                                    : MPI_LOCK_EXCLUSIVE;
}

static int issue_win_sync(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Win win = win_of(player, call);
    const uint8_t operation = call->call->operation;
    int rank = rpl_mpi_rank(rfn_word(call, RFN_IN_rank, 0));
    if (operation == RFN_MPI_Win_fence)
        MPI_Win_fence(0, win);
    else if (operation == RFN_MPI_Win_lock)
        MPI_Win_lock(lock_type(call), rank, 0, win);
    else if (operation == RFN_MPI_Win_unlock)
        MPI_Win_unlock(rank, win);
    else if (operation == RFN_MPI_Win_lock_all)
        MPI_Win_lock_all(0, win);
    else if (operation == RFN_MPI_Win_unlock_all)
        MPI_Win_unlock_all(win);
    else if (operation == RFN_MPI_Win_flush)
        MPI_Win_flush(rank, win);
    else if (operation == RFN_MPI_Win_flush_all)
        MPI_Win_flush_all(win);
    else if (operation == RFN_MPI_Win_flush_local)
        MPI_Win_flush_local(rank, win);
    else if (operation == RFN_MPI_Win_flush_local_all)
        MPI_Win_flush_local_all(win);
    else if (operation == RFN_MPI_Win_complete)
        MPI_Win_complete(win);
    else /* MPI_Win_wait, and a successful MPI_Win_test */
        MPI_Win_wait(win);
    return 0;
}

static int issue_win_group(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t slot = rfn_word(call, RFN_IN_GROUP, -1);
    MPI_Group group = slot >= 0 && (uint64_t)slot < player->made.groups_capacity
                          ? player->made.groups[slot]
                          : MPI_GROUP_EMPTY;
    if (call->call->operation == RFN_MPI_Win_post)
        MPI_Win_post(group, 0, win_of(player, call));
    else
        MPI_Win_start(group, 0, win_of(player, call));
    return 0;
}

/* MPI_Group_free takes it, as it was. */
static int issue_win_get_group(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Group group;
    MPI_Win_get_group(win_of(player, call), &group);
    return rpl_keep_group(player, call, group);
}

/* ---- access ---- */

/* One side of an access. */
static struct rpl_piece side(struct rpl_player *player, const struct rfn_call_event *call,
                             enum rfn_input count, enum rfn_input type)
{
    return rpl_piece(player, rfn_element_bytes(call, count, type));
}

static MPI_Op op_of(const struct rfn_call_event *call)
{
    const char *name = rfn_kind_predefined(
        RFN_KIND_OP,
        rfn_word(call, RFN_IN_op, 0) < 0 ? (unsigned)(-1 - rfn_word(call, RFN_IN_op, 0)) : 0);
    if (name && strcmp(name, "MPI_REPLACE") == 0)
        return MPI_REPLACE;
    return name && strcmp(name, "MPI_NO_OP") == 0 ? MPI_NO_OP : MPI_BOR;
}

/* A datatype with which MPI does arithmetic. */
static MPI_Datatype element(const struct rfn_call_event *call)
{
    switch (rfn_type_bytes(call->archive, rfn_word(call, RFN_IN_datatype, -1))) {
    case 1:
        return MPI_UINT8_T;
    case 2:
        return MPI_UINT16_T;
    case 4:
        return MPI_UINT32_T;
    default:
        return MPI_UINT64_T;
    }
}

struct access {
    void *origin, *result;
    struct rpl_piece sent, got, target;
    int rank;
    MPI_Aint disp;
    MPI_Win win;
};

/* What calls with one element of their datatype need, of which they tell no count. */
enum { ELEMENT_BYTES = 64 };

/* A pair of buffers serves all accesses: what is read from one does not matter, and what is written
 * to the other is not looked at. When they become larger the old ones stay, as they may be in use.
 * First of all it is seen whether there is room for them. */
static int prepare(struct rpl_player *player, const struct rfn_call_event *call,
                   struct access *access)
{
    int64_t origin = rfn_element_bytes(call, RFN_IN_origin_count, RFN_IN_origin_datatype);
    int64_t result = rfn_element_bytes(call, RFN_IN_result_count, RFN_IN_result_datatype);
    int64_t bytes = origin > result ? origin : result;
    bytes += bytes < INT64_MAX - ELEMENT_BYTES ? ELEMENT_BYTES : 0;
    if (player->memory.n_access == 0 ||
        bytes > rpl_buffers_room(player->memory.access[player->memory.n_access - 1])) {
        RFN_TRY(RFN_GROW(player->memory.access, player->memory.access_capacity,
                         player->memory.n_access + 2));
        for (int i = 0; i < 2; i++, player->memory.n_access++)
            RFN_TRY(rpl_take(player, bytes, &player->memory.access[player->memory.n_access]));
    }
    access->sent = side(player, call, RFN_IN_origin_count, RFN_IN_origin_datatype);
    access->got = side(player, call, RFN_IN_result_count, RFN_IN_result_datatype);
    access->target = side(player, call, RFN_IN_target_count, RFN_IN_target_datatype);
    access->rank = rpl_mpi_rank(rfn_word(call, RFN_IN_target_rank, RFN_PROC_NULL));
    access->disp = (MPI_Aint)rfn_word(call, RFN_IN_target_disp, 0);
    access->win = win_of(player, call);
    access->origin = player->memory.access[player->memory.n_access - 2];
    access->result = player->memory.access[player->memory.n_access - 1];
    return 0;
}

#define ORIGIN(a) (a).origin, (a).sent.count, (a).sent.type
#define RESULT(a) (a).result, (a).got.count, (a).got.type
#define TARGET(a) (a).rank, (a).disp, (a).target.count, (a).target.type

static int issue_access(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct access a;
    const uint8_t operation = call->call->operation;
    RFN_TRY(prepare(player, call, &a));
    if (operation == RFN_MPI_Put)
        MPI_Put(ORIGIN(a), TARGET(a), a.win);
    else if (operation == RFN_MPI_Get)
        MPI_Get(a.result, a.sent.count, a.sent.type, TARGET(a), a.win);
    else if (operation == RFN_MPI_Accumulate)
        MPI_Accumulate(ORIGIN(a), TARGET(a), op_of(call), a.win);
    else if (operation == RFN_MPI_Get_accumulate)
        MPI_Get_accumulate(ORIGIN(a), RESULT(a), TARGET(a), op_of(call), a.win);
    else if (operation == RFN_MPI_Fetch_and_op)
        MPI_Fetch_and_op(a.origin, a.result, element(call), a.rank, a.disp, op_of(call), a.win);
    else
        MPI_Compare_and_swap(a.origin, a.origin, a.result, element(call), a.rank, a.disp, a.win);
    return 0;
}

static int issue_access_with_request(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct access a;
    const uint8_t operation = call->call->operation;
    struct rpl_request *request;
    RFN_TRY(rpl_new_request(player, call, &request));
    RFN_TRY(prepare(player, call, &a));
    if (operation == RFN_MPI_Rput)
        MPI_Rput(ORIGIN(a), TARGET(a), a.win, &request->request);
    else if (operation == RFN_MPI_Rget)
        MPI_Rget(a.result, a.sent.count, a.sent.type, TARGET(a), a.win, &request->request);
    else if (operation == RFN_MPI_Raccumulate)
        MPI_Raccumulate(ORIGIN(a), TARGET(a), op_of(call), a.win, &request->request);
    else
        MPI_Rget_accumulate(ORIGIN(a), RESULT(a), TARGET(a), op_of(call), a.win, &request->request);
    return 0;
}

const struct rpl_named_handler rpl_window_handlers[] = {
    {RFN_MPI_Win_create, issue_win_create},
    {RFN_MPI_Win_allocate, issue_win_create},
    {RFN_MPI_Win_allocate_shared, issue_win_create},
    {RFN_MPI_Win_free, issue_win_free},
    {RFN_MPI_Win_fence, issue_win_sync},
    {RFN_MPI_Win_lock, issue_win_sync},
    {RFN_MPI_Win_unlock, issue_win_sync},
    {RFN_MPI_Win_lock_all, issue_win_sync},
    {RFN_MPI_Win_unlock_all, issue_win_sync},
    {RFN_MPI_Win_flush, issue_win_sync},
    {RFN_MPI_Win_flush_all, issue_win_sync},
    {RFN_MPI_Win_flush_local, issue_win_sync},
    {RFN_MPI_Win_flush_local_all, issue_win_sync},
    {RFN_MPI_Win_complete, issue_win_sync},
    {RFN_MPI_Win_wait, issue_win_sync},
    {RFN_MPI_Win_test, issue_win_sync},
    {RFN_MPI_Win_post, issue_win_group},
    {RFN_MPI_Win_start, issue_win_group},
    {RFN_MPI_Win_get_group, issue_win_get_group},
    {RFN_MPI_Put, issue_access},
    {RFN_MPI_Get, issue_access},
    {RFN_MPI_Accumulate, issue_access},
    {RFN_MPI_Get_accumulate, issue_access},
    {RFN_MPI_Fetch_and_op, issue_access},
    {RFN_MPI_Compare_and_swap, issue_access},
    {RFN_MPI_Rput, issue_access_with_request},
    {RFN_MPI_Rget, issue_access_with_request},
    {RFN_MPI_Raccumulate, issue_access_with_request},
    {RFN_MPI_Rget_accumulate, issue_access_with_request},
    {RFN_MPI_OTHER, NULL}};
