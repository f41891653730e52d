/* mpi_comms.c - groups, communicators and topologies, made by what was recorded.
 *
 * Ranks are not reordered, whatever the program allowed: what is made is compared with what was
 * recorded, since later calls name ranks of it.
 */
#include "replay/mpi_player.h"

#include "base/grow.h"

#include <string.h>

/* ---- groups ---- */

static MPI_Group group_of(const struct rpl_player *player, int64_t word)
{
    if (word >= 0 && (uint64_t)word < player->made.groups_capacity)
        return player->made.groups[word];
    return word == -2 ? MPI_GROUP_EMPTY : MPI_GROUP_NULL;
}

int rpl_keep_group(struct rpl_player *player, const struct rfn_call_event *call, MPI_Group group)
{
    int64_t slot = rfn_outcome(call, RFN_OUT_GROUP);
    if (slot < 0 || slot >= RFN_SLOTS_MAX) {
        if (group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY)
            PMPI_Group_free(&group);
        return 0;
    }
    RFN_TRY(RFN_GROW(player->made.groups, player->made.groups_capacity, (size_t)slot + 1));
    player->made.groups[slot] = group;
    return 0;
}

static MPI_Group input(const struct rpl_player *player, const struct rfn_call_event *call,
                       enum rfn_input role)
{
    return group_of(player, rfn_word(call, role, -1));
}

static int issue_comm_group(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Group group;
    if (call->call->operation == RFN_MPI_Comm_group)
        MPI_Comm_group(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), &group);
    else
        MPI_Comm_remote_group(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), &group);
    return rpl_keep_group(player, call, group);
}

static int issue_group_of_two(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Group one = input(player, call, RFN_IN_GROUP), other = input(player, call, RFN_IN_group2),
              made;
    const uint8_t operation = call->call->operation;
    if (operation == RFN_MPI_Group_union)
        MPI_Group_union(one, other, &made);
    else if (operation == RFN_MPI_Group_difference)
        MPI_Group_difference(one, other, &made);
    else
        MPI_Group_intersection(one, other, &made);
    return rpl_keep_group(player, call, made);
}

static int issue_group_of_ranks(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Group group = input(player, call, RFN_IN_GROUP), made;
    size_t n;
    int *ranks = rpl_int_list(player, call, RFN_IN_ranks, RFN_KIND_RANK, 0, &n);
    if (!ranks)
        return rpl_no_memory(player);
    if (call->call->operation == RFN_MPI_Group_incl)
        MPI_Group_incl(group, (int)n, ranks, &made);
    else
        MPI_Group_excl(group, (int)n, ranks, &made);
    rpl_buffers_give(&player->pool, ranks);
    return rpl_keep_group(player, call, made);
}

static int issue_group_of_ranges(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Group group = input(player, call, RFN_IN_GROUP), made;
    size_t n;
    int *ranges = rpl_int_list(player, call, RFN_IN_ranges, RFN_KIND_INT, 0, &n);
    if (!ranges)
        return rpl_no_memory(player);
    if (call->call->operation == RFN_MPI_Group_range_incl)
        MPI_Group_range_incl(group, (int)(n / 3), (int(*)[3])(void *)ranges, &made);
    else
        MPI_Group_range_excl(group, (int)(n / 3), (int(*)[3])(void *)ranges, &made);
    rpl_buffers_give(&player->pool, ranges);
    return rpl_keep_group(player, call, made);
}

static int issue_group_free(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t slot = rfn_word(call, RFN_IN_GROUP, -1);
    MPI_Group group = group_of(player, slot);
    if (slot < 0 || group == MPI_GROUP_NULL)
        return 0;
    MPI_Group_free(&group);
    player->made.groups[slot] = MPI_GROUP_NULL;
    return 0;
}

/* ---- communicators ---- */

static int mismatch(const struct rpl_player *player, const struct rfn_call_event *call)
{
    return rfn_fail(player->diag, RFN_E_UNSUPPORTED, -1, (int)player->rank,
                    "rank %u, event %llu: MPI_%s makes another communicator here than the one that "
                    "was recorded",
                    player->rank, (unsigned long long)call->record->index,
                    rfn_operation_name(call->call->operation));
}

/* The communicator that the call made, in its place; MPI_COMM_NULL where that is what there was. */
static int keep_comm(struct rpl_player *player, const struct rfn_call_event *call, MPI_Comm comm)
{
    int64_t number = rfn_outcome(call, RFN_OUT_COMM);
    int rank, size, remote = 0, inter;
    if (number < 0 || number >= player->known.n_comms)
        return comm == MPI_COMM_NULL ? 0 : mismatch(player, call);
    if (comm == MPI_COMM_NULL)
        return mismatch(player, call);
    const struct rfn_comm_info *info = rfn_archive_comm(player->archive, (uint32_t)number);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_size(comm, &remote);
    int64_t recorded = rfn_comm_rank_of(player->archive, (uint32_t)number, player->rank);
    bool sized = (uint32_t)(size + remote) == info->size + info->remote_size;
    if (recorded != rank || !sized)
        return mismatch(player, call);
    player->made.comms[number] = comm;
    player->made.owned[number] = true;
    return 0;
}

static int issue_dup(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Comm made, comm = rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1));
    if (call->call->operation == RFN_MPI_Comm_dup)
        MPI_Comm_dup(comm, &made);
    else
        MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
    return keep_comm(player, call, made);
}

#if RPL_HAVE_MPI_Comm_idup
/* It is there when the request is complete, and not asked before. */
static int issue_idup(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t number = rfn_outcome(call, RFN_OUT_COMM);
    struct rpl_request *request;
    RFN_TRY(rpl_new_request(player, call, &request));
    if (number < 0 || number >= player->known.n_comms)
        return mismatch(player, call);
    player->made.owned[number] = true;
    MPI_Comm_idup(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)),
                  &player->made.comms[number], &request->request);
    return 0;
}
#endif

static int split_word(int64_t word)
{
    return word == RFN_UNDEFINED ? MPI_UNDEFINED : (int)word;
}

static int issue_split(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Comm made;
    MPI_Comm_split(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)),
                   split_word(rfn_word(call, RFN_IN_color, RFN_UNDEFINED)),
                   split_word(rfn_word(call, RFN_IN_key, 0)), &made);
    return keep_comm(player, call, made);
}

/* Who shares what was so where this was recorded: those who got one communicator get one. */
static int issue_split_type(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t number = rfn_outcome(call, RFN_OUT_COMM);
    bool made_one = number >= 0 && number < player->known.n_comms;
    int64_t color = MPI_UNDEFINED, key = 0;
    MPI_Comm made;
    if (made_one) {
        color = rfn_comm_world_rank(player->archive, (uint32_t)number, false, 0);
        key = rfn_comm_rank_of(player->archive, (uint32_t)number, player->rank);
    }
    MPI_Comm_split(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), (int)color, (int)key,
                   &made);
    return keep_comm(player, call, made);
}

static int issue_create(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Comm made, comm = rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1));
    MPI_Group group = input(player, call, RFN_IN_GROUP);
    if (group == MPI_GROUP_NULL)
        return mismatch(player, call);
    if (call->call->operation == RFN_MPI_Comm_create)
        MPI_Comm_create(comm, group, &made);
    else
        MPI_Comm_create_group(comm, group, rpl_mpi_tag(rfn_word(call, RFN_IN_tag, 0)), &made);
    return keep_comm(player, call, made);
}

static int issue_intercomm(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Comm made;
    MPI_Intercomm_create(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)),
                         rpl_mpi_rank(rfn_word(call, RFN_IN_local_leader, 0)),
                         rpl_mpi_comm(player, rfn_word(call, RFN_IN_peer_comm, -1)),
                         rpl_mpi_rank(rfn_word(call, RFN_IN_remote_leader, 0)),
                         rpl_mpi_tag(rfn_word(call, RFN_IN_tag, 0)), &made);
    return keep_comm(player, call, made);
}

static int issue_merge(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Comm made;
    MPI_Intercomm_merge(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)),
                        rfn_word(call, RFN_IN_high, 0) != 0, &made);
    return keep_comm(player, call, made);
}

static int issue_comm_free(struct rpl_player *player, const struct rfn_call_event *call)
{
    int64_t number = rfn_word(call, RFN_IN_COMM, -1);
    if (number < 0 || number >= player->known.n_comms || !player->made.owned[number])
        return 0;
    if (call->call->operation == RFN_MPI_Comm_free)
        MPI_Comm_free(&player->made.comms[number]);
    else
        MPI_Comm_disconnect(&player->made.comms[number]);
    player->made.owned[number] = false;
    return 0;
}

/* ---- topologies ---- */

static int issue_cart(struct rpl_player *player, const struct rfn_call_event *call)
{
    size_t n, n_periods;
    int *dims = rpl_int_list(player, call, RFN_IN_dims, RFN_KIND_INT, 0, &n);
    int *periods = rpl_int_list(player, call, RFN_IN_periods, RFN_KIND_FLAG, n, &n_periods);
    MPI_Comm made;
    if (!dims || !periods)
        return rpl_no_memory(player);
    MPI_Cart_create(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), (int)n, dims, periods, 0,
                    &made);
    rpl_buffers_give(&player->pool, dims);
    rpl_buffers_give(&player->pool, periods);
    return keep_comm(player, call, made);
}

static int issue_cart_sub(struct rpl_player *player, const struct rfn_call_event *call)
{
    MPI_Comm made, comm = rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1));
    int dims = 0;
    size_t n;
    PMPI_Cartdim_get(comm, &dims);
    int *remain = rpl_int_list(player, call, RFN_IN_remain_dims, RFN_KIND_FLAG, (size_t)dims, &n);
    if (!remain)
        return rpl_no_memory(player);
    MPI_Cart_sub(comm, remain, &made);
    rpl_buffers_give(&player->pool, remain);
    return keep_comm(player, call, made);
}

static int issue_graph(struct rpl_player *player, const struct rfn_call_event *call)
{
    size_t n, n_edges;
    int *index = rpl_int_list(player, call, RFN_IN_index, RFN_KIND_INT, 0, &n);
    int *edges = rpl_int_list(player, call, RFN_IN_edges, RFN_KIND_INT, 0, &n_edges);
    MPI_Comm made;
    if (!index || !edges)
        return rpl_no_memory(player);
    if (n && (size_t)index[n - 1] != n_edges)
        return mismatch(player, call);
    MPI_Graph_create(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), (int)n, index, edges, 0,
                     &made);
    rpl_buffers_give(&player->pool, index);
    rpl_buffers_give(&player->pool, edges);
    return keep_comm(player, call, made);
}

#if RPL_HAVE_MPI_Dist_graph_create
/* Weights would only matter for reordering. (volatile: the compiler takes MPI_UNWEIGHTED for an
 * array that is too small.) */
static int issue_dist_graph(struct rpl_player *player, const struct rfn_call_event *call)
{
    int *volatile none = MPI_UNWEIGHTED;
    size_t n, n_destinations, n_degrees;
    int *sources = rpl_int_list(player, call, RFN_IN_sources, RFN_KIND_RANK, 0, &n);
    int *degrees = rpl_int_list(player, call, RFN_IN_degrees, RFN_KIND_INT, n, &n_degrees);
    int *destinations = rpl_int_list(player, call, RFN_IN_destinations, RFN_KIND_RANK, 0,
                                     &n_destinations);
    int64_t sum = 0;
    MPI_Comm made;
    if (!sources || !degrees || !destinations)
        return rpl_no_memory(player);
    for (size_t i = 0; i < n; i++)
        sum += degrees[i];
    if (sum != (int64_t)n_destinations)
        return mismatch(player, call);
    MPI_Dist_graph_create(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), (int)n, sources,
                          degrees, destinations, none, MPI_INFO_NULL, 0, &made);
    rpl_buffers_give(&player->pool, sources);
    rpl_buffers_give(&player->pool, degrees);
    rpl_buffers_give(&player->pool, destinations);
    return keep_comm(player, call, made);
}

static int issue_dist_graph_adjacent(struct rpl_player *player, const struct rfn_call_event *call)
{
    int *volatile none = MPI_UNWEIGHTED;
    size_t n_in, n_out;
    int *in = rpl_int_list(player, call, RFN_IN_sources, RFN_KIND_RANK, 0, &n_in);
    int *out = rpl_int_list(player, call, RFN_IN_destinations, RFN_KIND_RANK, 0, &n_out);
    MPI_Comm made;
    if (!in || !out)
        return rpl_no_memory(player);
    MPI_Dist_graph_create_adjacent(rpl_mpi_comm(player, rfn_word(call, RFN_IN_COMM, -1)), (int)n_in,
                                   in, none, (int)n_out, out, none, MPI_INFO_NULL, 0, &made);
    rpl_buffers_give(&player->pool, in);
    rpl_buffers_give(&player->pool, out);
    return keep_comm(player, call, made);
}
#endif

const struct rpl_named_handler rpl_comm_handlers[] = {
    {RFN_MPI_Comm_group, issue_comm_group},
    {RFN_MPI_Comm_remote_group, issue_comm_group},
    {RFN_MPI_Group_union, issue_group_of_two},
    {RFN_MPI_Group_difference, issue_group_of_two},
    {RFN_MPI_Group_intersection, issue_group_of_two},
    {RFN_MPI_Group_incl, issue_group_of_ranks},
    {RFN_MPI_Group_excl, issue_group_of_ranks},
    {RFN_MPI_Group_range_incl, issue_group_of_ranges},
    {RFN_MPI_Group_range_excl, issue_group_of_ranges},
    {RFN_MPI_Group_free, issue_group_free},
    {RFN_MPI_Comm_dup, issue_dup},
    {RFN_MPI_Comm_dup_with_info, issue_dup},
#if RPL_HAVE_MPI_Comm_idup
    {RFN_MPI_Comm_idup, issue_idup},
    {RFN_MPI_Comm_idup_with_info, issue_idup},
#endif
    {RFN_MPI_Comm_split, issue_split},
    {RFN_MPI_Comm_split_type, issue_split_type},
    {RFN_MPI_Comm_create, issue_create},
    {RFN_MPI_Comm_create_group, issue_create},
    {RFN_MPI_Intercomm_create, issue_intercomm},
    {RFN_MPI_Intercomm_merge, issue_merge},
    {RFN_MPI_Comm_free, issue_comm_free},
    {RFN_MPI_Comm_disconnect, issue_comm_free},
    {RFN_MPI_Cart_create, issue_cart},
    {RFN_MPI_Cart_sub, issue_cart_sub},
    {RFN_MPI_Graph_create, issue_graph},
#if RPL_HAVE_MPI_Dist_graph_create
    {RFN_MPI_Dist_graph_create, issue_dist_graph},
    {RFN_MPI_Dist_graph_create_adjacent, issue_dist_graph_adjacent},
#endif
    {RFN_MPI_OTHER, NULL}};
