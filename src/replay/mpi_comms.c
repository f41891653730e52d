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
    if (word >= 0 && (uint64_t)word < player->groups_capacity)
        return player->groups[word];
    return word == -2 ? MPI_GROUP_EMPTY : MPI_GROUP_NULL;
}

int rpl_keep_group(struct rpl_player *player, const struct rpl_call *call, MPI_Group group)
{
    int64_t slot = rpl_outcome(call, RFN_KIND_GROUP);
    if (slot < 0 || slot >= RPL_SLOTS_MAX) {
        if (group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY)
            PMPI_Group_free(&group);
        return 0;
    }
    RFN_TRY(RFN_GROW(player->groups, player->groups_capacity, (size_t)slot + 1));
    player->groups[slot] = group;
    return 0;
}

static MPI_Group input(const struct rpl_player *player, const struct rpl_call *call,
                       enum rpl_role role)
{
    return group_of(player, rpl_word(call, role, -1));
}

static int issue_comm_group(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Group group;
    if (strcmp(call->operation->name, "Comm_group") == 0)
        MPI_Comm_group(rpl_mpi_comm(player, rpl_comm(call)), &group);
    else
        MPI_Comm_remote_group(rpl_mpi_comm(player, rpl_comm(call)), &group);
    return rpl_keep_group(player, call, group);
}

static int issue_group_of_two(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Group one = input(player, call, RPL_group1), other = input(player, call, RPL_group2), made;
    const char *name = call->operation->name;
    if (strcmp(name, "Group_union") == 0)
        MPI_Group_union(one, other, &made);
    else if (strcmp(name, "Group_difference") == 0)
        MPI_Group_difference(one, other, &made);
    else
        MPI_Group_intersection(one, other, &made);
    return rpl_keep_group(player, call, made);
}

static int issue_group_of_ranks(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Group group = input(player, call, RPL_group), made;
    size_t n;
    int *ranks = rpl_int_list(player, call, RPL_ranks, RFN_KIND_RANK, 0, &n);
    if (!ranks)
        return rpl_no_memory(player);
    if (strcmp(call->operation->name, "Group_incl") == 0)
        MPI_Group_incl(group, (int)n, ranks, &made);
    else
        MPI_Group_excl(group, (int)n, ranks, &made);
    rpl_pool_give(&player->pool, ranks);
    return rpl_keep_group(player, call, made);
}

static int issue_group_of_ranges(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Group group = input(player, call, RPL_group), made;
    size_t n;
    int *ranges = rpl_int_list(player, call, RPL_ranges, RFN_KIND_INT, 0, &n);
    if (!ranges)
        return rpl_no_memory(player);
    if (strcmp(call->operation->name, "Group_range_incl") == 0)
        MPI_Group_range_incl(group, (int)(n / 3), (int(*)[3])(void *)ranges, &made);
    else
        MPI_Group_range_excl(group, (int)(n / 3), (int(*)[3])(void *)ranges, &made);
    rpl_pool_give(&player->pool, ranges);
    return rpl_keep_group(player, call, made);
}

static int issue_group_free(struct rpl_player *player, const struct rpl_call *call)
{
    int64_t slot = rpl_word(call, RPL_group, -1);
    MPI_Group group = group_of(player, slot);
    if (slot < 0 || group == MPI_GROUP_NULL)
        return 0;
    MPI_Group_free(&group);
    player->groups[slot] = MPI_GROUP_NULL;
    return 0;
}

/* ---- communicators ---- */

static int mismatch(const struct rpl_player *player, const struct rpl_call *call)
{
    return rfn_fail(player->diag, RFN_E_UNSUPPORTED, -1, (int)player->rank,
                    "rank %u, event %llu: MPI_%s makes another communicator here than the one that "
                    "was recorded",
                    player->rank, (unsigned long long)call->record->index, call->operation->name);
}

/* The communicator that the call made, in its place; MPI_COMM_NULL where that is what there was. */
static int keep_comm(struct rpl_player *player, const struct rpl_call *call, MPI_Comm comm)
{
    int64_t number = rpl_outcome(call, RFN_KIND_COMM);
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
    player->comms[number] = comm;
    player->owned[number] = true;
    return 0;
}

static int issue_dup(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Comm made, comm = rpl_mpi_comm(player, rpl_comm(call));
    if (strcmp(call->operation->name, "Comm_dup") == 0)
        MPI_Comm_dup(comm, &made);
    else
        MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &made);
    return keep_comm(player, call, made);
}

#if RPL_HAVE_MPI_Comm_idup
/* It is there when the request is complete, and not asked before. */
static int issue_idup(struct rpl_player *player, const struct rpl_call *call)
{
    int64_t number = rpl_outcome(call, RFN_KIND_COMM);
    struct rpl_request *request;
    RFN_TRY(rpl_new_request(player, call, &request));
    if (number < 0 || number >= player->known.n_comms)
        return mismatch(player, call);
    player->owned[number] = true;
    MPI_Comm_idup(rpl_mpi_comm(player, rpl_comm(call)), &player->comms[number], &request->request);
    return 0;
}
#endif

static int split_word(int64_t word)
{
    return word == RFN_UNDEFINED ? MPI_UNDEFINED : (int)word;
}

static int issue_split(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Comm made;
    MPI_Comm_split(rpl_mpi_comm(player, rpl_comm(call)),
                   split_word(rpl_word(call, RPL_color, RFN_UNDEFINED)),
                   split_word(rpl_word(call, RPL_key, 0)), &made);
    return keep_comm(player, call, made);
}

/* Who shares what was so where this was recorded: those who got one communicator get one. */
static int issue_split_type(struct rpl_player *player, const struct rpl_call *call)
{
    int64_t number = rpl_outcome(call, RFN_KIND_COMM);
    bool made_one = number >= 0 && number < player->known.n_comms;
    int64_t color = MPI_UNDEFINED, key = 0;
    MPI_Comm made;
    if (made_one) {
        color = rfn_comm_world_rank(player->archive, (uint32_t)number, false, 0);
        key = rfn_comm_rank_of(player->archive, (uint32_t)number, player->rank);
    }
    MPI_Comm_split(rpl_mpi_comm(player, rpl_comm(call)), (int)color, (int)key, &made);
    return keep_comm(player, call, made);
}

static int issue_create(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Comm made, comm = rpl_mpi_comm(player, rpl_comm(call));
    MPI_Group group = input(player, call, RPL_group);
    if (group == MPI_GROUP_NULL)
        return mismatch(player, call);
    if (strcmp(call->operation->name, "Comm_create") == 0)
        MPI_Comm_create(comm, group, &made);
    else
        MPI_Comm_create_group(comm, group, rpl_mpi_tag(rpl_word(call, RPL_tag, 0)), &made);
    return keep_comm(player, call, made);
}

static int issue_intercomm(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Comm made;
    MPI_Intercomm_create(rpl_mpi_comm(player, rpl_comm(call)),
                         rpl_mpi_rank(rpl_word(call, RPL_local_leader, 0)),
                         rpl_mpi_comm(player, rpl_word(call, RPL_peer_comm, -1)),
                         rpl_mpi_rank(rpl_word(call, RPL_remote_leader, 0)),
                         rpl_mpi_tag(rpl_word(call, RPL_tag, 0)), &made);
    return keep_comm(player, call, made);
}

static int issue_merge(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Comm made;
    MPI_Intercomm_merge(rpl_mpi_comm(player, rpl_comm(call)), rpl_word(call, RPL_high, 0) != 0,
                        &made);
    return keep_comm(player, call, made);
}

static int issue_comm_free(struct rpl_player *player, const struct rpl_call *call)
{
    int64_t number = rpl_comm(call);
    if (number < 0 || number >= player->known.n_comms || !player->owned[number])
        return 0;
    if (strcmp(call->operation->name, "Comm_free") == 0)
        MPI_Comm_free(&player->comms[number]);
    else
        MPI_Comm_disconnect(&player->comms[number]);
    player->owned[number] = false;
    return 0;
}

/* ---- topologies ---- */

static int issue_cart(struct rpl_player *player, const struct rpl_call *call)
{
    size_t n, n_periods;
    int *dims = rpl_int_list(player, call, RPL_dims, RFN_KIND_INT, 0, &n);
    int *periods = rpl_int_list(player, call, RPL_periods, RFN_KIND_FLAG, n, &n_periods);
    MPI_Comm made;
    if (!dims || !periods)
        return rpl_no_memory(player);
    MPI_Cart_create(rpl_mpi_comm(player, rpl_comm(call)), (int)n, dims, periods, 0, &made);
    rpl_pool_give(&player->pool, dims);
    rpl_pool_give(&player->pool, periods);
    return keep_comm(player, call, made);
}

static int issue_cart_sub(struct rpl_player *player, const struct rpl_call *call)
{
    MPI_Comm made, comm = rpl_mpi_comm(player, rpl_comm(call));
    int dims = 0;
    size_t n;
    PMPI_Cartdim_get(comm, &dims);
    int *remain = rpl_int_list(player, call, RPL_remain_dims, RFN_KIND_FLAG, (size_t)dims, &n);
    if (!remain)
        return rpl_no_memory(player);
    MPI_Cart_sub(comm, remain, &made);
    rpl_pool_give(&player->pool, remain);
    return keep_comm(player, call, made);
}

static int issue_graph(struct rpl_player *player, const struct rpl_call *call)
{
    size_t n, n_edges;
    int *index = rpl_int_list(player, call, RPL_index, RFN_KIND_INT, 0, &n);
    int *edges = rpl_int_list(player, call, RPL_edges, RFN_KIND_INT, 0, &n_edges);
    MPI_Comm made;
    if (!index || !edges)
        return rpl_no_memory(player);
    if (n && (size_t)index[n - 1] != n_edges)
        return mismatch(player, call);
    MPI_Graph_create(rpl_mpi_comm(player, rpl_comm(call)), (int)n, index, edges, 0, &made);
    rpl_pool_give(&player->pool, index);
    rpl_pool_give(&player->pool, edges);
    return keep_comm(player, call, made);
}

#if RPL_HAVE_MPI_Dist_graph_create
/* Weights would only matter for reordering. (volatile: the compiler takes MPI_UNWEIGHTED for an
 * array that is too small.) */
static int issue_dist_graph(struct rpl_player *player, const struct rpl_call *call)
{
    int *volatile none = MPI_UNWEIGHTED;
    size_t n, n_destinations, n_degrees;
    int *sources = rpl_int_list(player, call, RPL_sources, RFN_KIND_RANK, 0, &n);
    int *degrees = rpl_int_list(player, call, RPL_degrees, RFN_KIND_INT, n, &n_degrees);
    int *destinations = rpl_int_list(player, call, RPL_destinations, RFN_KIND_RANK, 0,
                                     &n_destinations);
    int64_t sum = 0;
    MPI_Comm made;
    if (!sources || !degrees || !destinations)
        return rpl_no_memory(player);
    for (size_t i = 0; i < n; i++)
        sum += degrees[i];
    if (sum != (int64_t)n_destinations)
        return mismatch(player, call);
    MPI_Dist_graph_create(rpl_mpi_comm(player, rpl_comm(call)), (int)n, sources, degrees,
                          destinations, none, MPI_INFO_NULL, 0, &made);
    rpl_pool_give(&player->pool, sources);
    rpl_pool_give(&player->pool, degrees);
    rpl_pool_give(&player->pool, destinations);
    return keep_comm(player, call, made);
}

static int issue_dist_graph_adjacent(struct rpl_player *player, const struct rpl_call *call)
{
    int *volatile none = MPI_UNWEIGHTED;
    size_t n_in, n_out;
    int *in = rpl_int_list(player, call, RPL_sources, RFN_KIND_RANK, 0, &n_in);
    int *out = rpl_int_list(player, call, RPL_destinations, RFN_KIND_RANK, 0, &n_out);
    MPI_Comm made;
    if (!in || !out)
        return rpl_no_memory(player);
    MPI_Dist_graph_create_adjacent(rpl_mpi_comm(player, rpl_comm(call)), (int)n_in, in, none,
                                   (int)n_out, out, none, MPI_INFO_NULL, 0, &made);
    rpl_pool_give(&player->pool, in);
    rpl_pool_give(&player->pool, out);
    return keep_comm(player, call, made);
}
#endif

const struct rpl_named_handler rpl_comm_handlers[] = {
    {"Comm_group", issue_comm_group},
    {"Comm_remote_group", issue_comm_group},
    {"Group_union", issue_group_of_two},
    {"Group_difference", issue_group_of_two},
    {"Group_intersection", issue_group_of_two},
    {"Group_incl", issue_group_of_ranks},
    {"Group_excl", issue_group_of_ranks},
    {"Group_range_incl", issue_group_of_ranges},
    {"Group_range_excl", issue_group_of_ranges},
    {"Group_free", issue_group_free},
    {"Comm_dup", issue_dup},
    {"Comm_dup_with_info", issue_dup},
#if RPL_HAVE_MPI_Comm_idup
    {"Comm_idup", issue_idup},
    {"Comm_idup_with_info", issue_idup},
#endif
    {"Comm_split", issue_split},
    {"Comm_split_type", issue_split_type},
    {"Comm_create", issue_create},
    {"Comm_create_group", issue_create},
    {"Intercomm_create", issue_intercomm},
    {"Intercomm_merge", issue_merge},
    {"Comm_free", issue_comm_free},
    {"Comm_disconnect", issue_comm_free},
    {"Cart_create", issue_cart},
    {"Cart_sub", issue_cart_sub},
    {"Graph_create", issue_graph},
#if RPL_HAVE_MPI_Dist_graph_create
    {"Dist_graph_create", issue_dist_graph},
    {"Dist_graph_create_adjacent", issue_dist_graph_adjacent},
#endif
    {NULL, NULL}};
