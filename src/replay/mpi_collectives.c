/* mpi_collectives.c - collective calls: blocking, nonblocking, persistent.
 *
 * What is sent and received are bytes, as many as were recorded; reductions use MPI_BOR, which
 * there is for bytes, unless the program's own operation was already.
 */
#include "replay/mpi_player.h"

#include "base/grow.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* The arguments of a collective call, as MPI takes them. */
struct arguments {
    const struct rfn_call_event *call;
    MPI_Comm comm;
    int root, size, rank; /* size: of the group that it communicates with */
    int sources, destinations;
    bool roots; /* this rank gathers or scatters */
    struct rpl_piece sent, received;
    void *sendbuf, *recvbuf; /* MPI_IN_PLACE, or of the pool */
    int *sendcounts, *sdispls, *recvcounts, *rdispls;
    MPI_Datatype *types;  /* all MPI_BYTE */
    void *kept[RPL_KEPT]; /* all of the pool, until the call is complete */
    int n_kept;
    MPI_Request *request;
};

/* Calls MPI in one of three ways. Open MPI 4 has persistent collectives as extensions only; Open
 * MPI 5 has the standard's, though it says that it is MPI 3.1. */
#if RPL_HAVE_MPI_Bcast_init && defined OPEN_MPI && OMPI_MAJOR_VERSION < 5
#define PERSISTENT(name, ...) MPIX_##name##_init(__VA_ARGS__, MPI_INFO_NULL, a->request)
#elif RPL_HAVE_MPI_Bcast_init
#define PERSISTENT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, a->request)
#else
#define PERSISTENT(name, ...) (void)0
#endif

#define CALL(name, nonblocking, ...)                             \
    do {                                                         \
        if (a->call->call->variant == RFN_CALL_BLOCKING)         \
            MPI_##name(__VA_ARGS__);                             \
        else if (a->call->call->variant == RFN_CALL_NONBLOCKING) \
            MPI_##nonblocking(__VA_ARGS__, a->request);          \
        else                                                     \
            PERSISTENT(name, __VA_ARGS__);                       \
    } while (0)

/* ---- arguments ---- */

static void neighbours(MPI_Comm comm, int *sources, int *destinations)
{
    int status = MPI_UNDEFINED, weighted;
    PMPI_Topo_test(comm, &status);
    if (status == MPI_CART) {
        PMPI_Cartdim_get(comm, sources);
        *sources *= 2;
        *destinations = *sources;
    } else if (status == MPI_GRAPH) {
        int rank;
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, sources);
        *destinations = *sources;
    } else if (status == MPI_DIST_GRAPH) {
        PMPI_Dist_graph_neighbors_count(comm, sources, destinations, &weighted);
    }
}

static void look_at_comm(struct rpl_player *player, struct arguments *a)
{
    int inter = 0;
    int64_t root = rfn_word(a->call, RFN_IN_root, 0);
    a->comm = rpl_mpi_comm(player, rfn_word(a->call, RFN_IN_COMM, -1));
    a->root = rpl_mpi_rank(root);
    PMPI_Comm_test_inter(a->comm, &inter);
    PMPI_Comm_rank(a->comm, &a->rank);
    if (inter)
        PMPI_Comm_remote_size(a->comm, &a->size);
    else
        PMPI_Comm_size(a->comm, &a->size);
    a->roots = root == RFN_ROOT || (!inter && root == a->rank);
    a->sources = a->destinations = a->size;
    if (a->call->call->class_ == RFN_CLASS_NEIGHBOR)
        neighbours(a->comm, &a->sources, &a->destinations);
}

/* Where MPI takes MPI_IN_PLACE: a damaged archive may have it anywhere. */
static bool may_be_in_place(const struct arguments *a, enum rfn_input role)
{
    const struct rfn_call *call = a->call->call;
    bool scatters = call->operation == RFN_MPI_Scatter || call->operation == RFN_MPI_Scatterv;
    uint8_t class_ = call->class_;
    if (role == RFN_IN_recvbuf || scatters)
        return role == RFN_IN_recvbuf && scatters && a->roots;
    return class_ != RFN_CLASS_NEIGHBOR && (class_ != RFN_CLASS_ALL_TO_ONE || a->roots);
}

static bool in_place(const struct arguments *a, enum rfn_input role)
{
    return rfn_word(a->call, role, 0) == RFN_BUFFER_IN_PLACE && may_be_in_place(a, role);
}

/* Bytes of the pool that stay until the call is complete. */
static int keep(struct rpl_player *player, struct arguments *a, int64_t bytes, void **kept)
{
    RFN_TRY(rpl_take(player, bytes, kept));
    a->kept[a->n_kept++] = *kept;
    return 0;
}

/* Buffers of both sides; a side that the call does not have has 0 bytes. */
static int take_buffers(struct rpl_player *player, struct arguments *a, int64_t send,
                        int64_t receive)
{
    RFN_TRY(keep(player, a, send, &a->sendbuf));
    RFN_TRY(keep(player, a, receive, &a->recvbuf));
    if (in_place(a, RFN_IN_sendbuf))
        a->sendbuf = MPI_IN_PLACE;
    if (in_place(a, RFN_IN_recvbuf))
        a->recvbuf = MPI_IN_PLACE;
    return 0;
}

/* With a part of equal size for each. */
static int pieces(struct rpl_player *player, struct arguments *a, bool send_all, bool receive_all)
{
    int64_t sent = rfn_element_bytes(a->call, RFN_IN_sendcount, RFN_IN_sendtype);
    int64_t received = rfn_element_bytes(a->call, RFN_IN_recvcount, RFN_IN_recvtype);
    a->sent = rpl_piece(player, sent);
    a->received = rpl_piece(player, received);
    return take_buffers(player, a, rfn_product(sent, send_all ? a->destinations : 1),
                        rfn_product(received, receive_all ? a->sources : 1));
}

/* Parts of a size each: bytes, and where they lie one after the other. */
struct side {
    enum rfn_input counts, type, types;
    int parts;
};

static int keep_ints(struct rpl_player *player, struct arguments *a, size_t n, int **kept)
{
    void *bytes;
    RFN_TRY(keep(player, a, (int64_t)((n + 1) * sizeof **kept), &bytes));
    *kept = bytes;
    return 0;
}

static int parts_of(struct rpl_player *player, struct arguments *a, const struct side *side,
                    int **counts, int **displacements, int64_t *total)
{
    size_t n, n_types;
    const int64_t *list = rfn_word_list(a->call, side->counts, RFN_KIND_COUNT, &n);
    const int64_t *types = rfn_word_list(a->call, side->types, RFN_KIND_TYPE, &n_types);
    int64_t type = rfn_word(a->call, side->type, rfn_word(a->call, RFN_IN_datatype, -1));
    size_t parts = (size_t)side->parts > n ? (size_t)side->parts : n;
    RFN_TRY(keep_ints(player, a, parts, counts));
    RFN_TRY(keep_ints(player, a, parts, displacements));
    *total = 0;
    for (size_t i = 0; i < parts; i++) {
        int64_t size = rfn_type_bytes(a->call->archive, i < n_types ? types[i] : type);
        int64_t bytes = i < n ? rfn_product(list[i], size) : 0;
        if (bytes > INT_MAX - *total)
            return rfn_fail(player->diag, RFN_E_RANGE, -1, (int)player->rank,
                            "a collective call with more than 2 GiB is not replayed");
        (*counts)[i] = (int)bytes;
        (*displacements)[i] = (int)*total;
        *total += bytes;
    }
    return 0;
}

static int take_types(struct rpl_player *player, struct arguments *a)
{
    size_t n = (size_t)(a->sources > a->destinations ? a->sources : a->destinations) + 1;
    void *types;
    RFN_TRY(keep(player, a, (int64_t)(n * sizeof *a->types), &types));
    a->types = types;
    for (size_t i = 0; i < n; i++)
        a->types[i] = MPI_BYTE;
    return 0;
}

/* Both sides of a v-collective; one that has no list of counts has one part. */
static int lists(struct rpl_player *player, struct arguments *a)
{
    const struct side send = {RFN_IN_sendcounts, RFN_IN_sendtype, RFN_IN_sendtypes,
                              a->destinations};
    const struct side receive = {RFN_IN_recvcounts, RFN_IN_recvtype, RFN_IN_recvtypes, a->sources};
    int64_t sent = rfn_element_bytes(a->call, RFN_IN_sendcount, RFN_IN_sendtype);
    int64_t received = rfn_element_bytes(a->call, RFN_IN_recvcount, RFN_IN_recvtype);
    a->sent = rpl_piece(player, sent);
    a->received = rpl_piece(player, received);
    if (rfn_has(a->call, RFN_IN_sendcounts))
        RFN_TRY(parts_of(player, a, &send, &a->sendcounts, &a->sdispls, &sent));
    if (rfn_has(a->call, RFN_IN_recvcounts))
        RFN_TRY(parts_of(player, a, &receive, &a->recvcounts, &a->rdispls, &received));
    RFN_TRY(take_types(player, a));
    return take_buffers(player, a, sent, received);
}

/* A reduction; its size was checked by the survey. */
static int reduced(struct rpl_player *player, struct arguments *a, int64_t parts)
{
    int64_t bytes = rfn_reduced_bytes(a->call);
    a->sent = a->received = (struct rpl_piece){(int)bytes, MPI_BYTE};
    return take_buffers(player, a, rfn_product(bytes, parts), rfn_product(bytes, parts));
}

/* ---- calls ---- */

static int barrier(struct rpl_player *player, struct arguments *a)
{
    (void)player;
    if (a->call->call->variant == RFN_CALL_NONBLOCKING)
        MPI_Ibarrier(a->comm, a->request);
    else if (a->call->call->variant == RFN_CALL_BLOCKING)
        MPI_Barrier(a->comm);
    else
        PERSISTENT(Barrier, a->comm);
    return 0;
}

static int bcast(struct rpl_player *player, struct arguments *a)
{
    int64_t bytes = rfn_element_bytes(a->call, RFN_IN_count, RFN_IN_datatype);
    a->sent = rpl_piece(player, bytes);
    RFN_TRY(keep(player, a, bytes, &a->sendbuf));
    CALL(Bcast, Ibcast, a->sendbuf, a->sent.count, a->sent.type, a->root, a->comm);
    return 0;
}

#define SENT     a->sendbuf, a->sent.count, a->sent.type
#define RECEIVED a->recvbuf, a->received.count, a->received.type
#define SENT_V   a->sendbuf, a->sendcounts, a->sdispls
#define GOT_V    a->recvbuf, a->recvcounts, a->rdispls

static int gather(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(pieces(player, a, false, a->roots));
    CALL(Gather, Igather, SENT, RECEIVED, a->root, a->comm);
    return 0;
}

static int gatherv(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Gatherv, Igatherv, SENT, GOT_V, MPI_BYTE, a->root, a->comm);
    return 0;
}

static int scatter(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(pieces(player, a, a->roots, false));
    CALL(Scatter, Iscatter, SENT, RECEIVED, a->root, a->comm);
    return 0;
}

static int scatterv(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Scatterv, Iscatterv, SENT_V, MPI_BYTE, RECEIVED, a->root, a->comm);
    return 0;
}

static int allgather(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(pieces(player, a, false, true));
    CALL(Allgather, Iallgather, SENT, RECEIVED, a->comm);
    return 0;
}

static int allgatherv(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Allgatherv, Iallgatherv, SENT, GOT_V, MPI_BYTE, a->comm);
    return 0;
}

static int alltoall(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(pieces(player, a, true, true));
    CALL(Alltoall, Ialltoall, SENT, RECEIVED, a->comm);
    return 0;
}

static int alltoallv(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Alltoallv, Ialltoallv, SENT_V, MPI_BYTE, GOT_V, MPI_BYTE, a->comm);
    return 0;
}

static int alltoallw(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Alltoallw, Ialltoallw, SENT_V, a->types, GOT_V, a->types, a->comm);
    return 0;
}

static int reduce(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(reduced(player, a, 1));
    CALL(Reduce, Ireduce, a->sendbuf, a->recvbuf, a->sent.count, MPI_BYTE, MPI_BOR, a->root,
         a->comm);
    return 0;
}

#define REDUCTION a->sendbuf, a->recvbuf, a->sent.count, MPI_BYTE, MPI_BOR, a->comm

static int allreduce(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(reduced(player, a, 1));
    CALL(Allreduce, Iallreduce, REDUCTION);
    return 0;
}

static int scan(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(reduced(player, a, 1));
    CALL(Scan, Iscan, REDUCTION);
    return 0;
}

static int exscan(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(reduced(player, a, 1));
    CALL(Exscan, Iexscan, REDUCTION);
    return 0;
}

/* Parts are those of the own group, which is the larger one at most in an inter-communicator. */
static int reduce_scatter_block(struct rpl_player *player, struct arguments *a)
{
    int local;
    PMPI_Comm_size(a->comm, &local);
    RFN_TRY(reduced(player, a, local));
    CALL(Reduce_scatter_block, Ireduce_scatter_block, REDUCTION);
    return 0;
}

static int reduce_scatter(struct rpl_player *player, struct arguments *a)
{
    const struct side receive = {RFN_IN_recvcounts, RFN_IN_datatype, RFN_IN_recvtypes, a->size};
    int64_t bytes = 0;
    RFN_TRY(parts_of(player, a, &receive, &a->recvcounts, &a->rdispls, &bytes));
    RFN_TRY(take_buffers(player, a, bytes, bytes));
    CALL(Reduce_scatter, Ireduce_scatter, a->sendbuf, a->recvbuf, a->recvcounts, MPI_BYTE, MPI_BOR,
         a->comm);
    return 0;
}

static int neighbor_allgather(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(pieces(player, a, false, true));
    CALL(Neighbor_allgather, Ineighbor_allgather, SENT, RECEIVED, a->comm);
    return 0;
}

static int neighbor_allgatherv(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Neighbor_allgatherv, Ineighbor_allgatherv, SENT, GOT_V, MPI_BYTE, a->comm);
    return 0;
}

static int neighbor_alltoall(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(pieces(player, a, true, true));
    CALL(Neighbor_alltoall, Ineighbor_alltoall, SENT, RECEIVED, a->comm);
    return 0;
}

static int neighbor_alltoallv(struct rpl_player *player, struct arguments *a)
{
    RFN_TRY(lists(player, a));
    CALL(Neighbor_alltoallv, Ineighbor_alltoallv, SENT_V, MPI_BYTE, GOT_V, MPI_BYTE, a->comm);
    return 0;
}

static int addresses(struct rpl_player *player, struct arguments *a, const int *displacements,
                     int n, MPI_Aint **wide)
{
    void *kept;
    RFN_TRY(keep(player, a, (int64_t)(((size_t)n + 1) * sizeof **wide), &kept));
    *wide = kept;
    for (int i = 0; i < n; i++)
        (*wide)[i] = displacements[i];
    return 0;
}

/* Here displacements are addresses. */
static int neighbor_alltoallw(struct rpl_player *player, struct arguments *a)
{
    MPI_Aint *from, *to;
    RFN_TRY(lists(player, a));
    RFN_TRY(addresses(player, a, a->sdispls, a->destinations, &from));
    RFN_TRY(addresses(player, a, a->rdispls, a->sources, &to));
    CALL(Neighbor_alltoallw, Ineighbor_alltoallw, a->sendbuf, a->sendcounts, from, a->types,
         a->recvbuf, a->recvcounts, to, a->types, a->comm);
    return 0;
}

/* ---- the handler of all of them ---- */

#define COLLECTIVES(X)                            \
    X(Barrier, barrier)                           \
    X(Bcast, bcast)                               \
    X(Gather, gather)                             \
    X(Gatherv, gatherv)                           \
    X(Scatter, scatter)                           \
    X(Scatterv, scatterv)                         \
    X(Allgather, allgather)                       \
    X(Allgatherv, allgatherv)                     \
    X(Alltoall, alltoall)                         \
    X(Alltoallv, alltoallv)                       \
    X(Alltoallw, alltoallw)                       \
    X(Reduce, reduce)                             \
    X(Allreduce, allreduce)                       \
    X(Scan, scan)                                 \
    X(Exscan, exscan)                             \
    X(Reduce_scatter_block, reduce_scatter_block) \
    X(Reduce_scatter, reduce_scatter)             \
    X(Neighbor_allgather, neighbor_allgather)     \
    X(Neighbor_allgatherv, neighbor_allgatherv)   \
    X(Neighbor_alltoall, neighbor_alltoall)       \
    X(Neighbor_alltoallv, neighbor_alltoallv)     \
    X(Neighbor_alltoallw, neighbor_alltoallw)

static const struct {
    uint8_t operation;
    int (*issue)(struct rpl_player *player, struct arguments *a);
} calls[] = {
#define X(name, issue) {RFN_MPI_##name, issue},
    COLLECTIVES(X)
#undef X
};

static int call_named(struct rpl_player *player, struct arguments *a)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].operation == a->call->call->operation)
            return calls[i].issue(player, a);
    }
    return 0;
}

static int issue_collective(struct rpl_player *player, const struct rfn_call_event *call)
{
    struct arguments a = {.call = call};
    struct rpl_request *request = NULL;
    look_at_comm(player, &a);
    if (call->call->variant != RFN_CALL_BLOCKING) {
        RFN_TRY(rpl_new_request(player, call, &request));
        a.request = &request->request;
    }
    RFN_TRY(call_named(player, &a));
    if (request) {
        memcpy(request->kept, a.kept, sizeof a.kept);
        return 0;
    }
    for (int i = 0; i < a.n_kept; i++)
        rpl_buffers_give(&player->pool, a.kept[i]);
    return 0;
}

const struct rpl_named_handler rpl_collective_handlers[] = {
#define X(name, issue) {RFN_MPI_##name, issue_collective},
    COLLECTIVES(X)
#undef X
        {RFN_MPI_OTHER, NULL}};
