#include "convert/events/archive_neighbors.h"

#include "analyze/match/topology.h"

#include <stdlib.h>
#include <string.h>

static void free_neighbors(void *object)
{
    struct rfn_neighbors *neighbors = object;
    free(neighbors->dims);
    free(neighbors->ranks);
    free(neighbors);
}

void rfn_neighborhoods_release(struct rfn_neighborhoods *all)
{
    rfn_map_release_objects(&all->comms, free_neighbors);
}

const struct rfn_neighbors *rfn_neighborhoods_of(const struct rfn_neighborhoods *all, int64_t comm)
{
    return rfn_map_object(&all->comms, (uint64_t)comm);
}

/* Room for a communicator's neighbours, in place of old ones; NULL: out of memory. */
static struct rfn_neighbors *make(struct rfn_neighborhoods *all, int64_t comm, size_t n_in,
                                  size_t n_out)
{
    struct rfn_neighbors *made = rfn_map_make_object(&all->comms, (uint64_t)comm, sizeof *made);
    int64_t *ranks = malloc((n_in + n_out + 1) * sizeof *ranks);
    if (!made || !ranks) {
        free(ranks);
        return NULL;
    }
    free(made->dims);
    free(made->ranks);
    *made = (struct rfn_neighbors){.ranks = ranks, .n_in = n_in, .n_out = n_out};
    return made;
}

/* ---- Cartesian ---- */

/* Row-major; of each dimension first the lower neighbour. */
static void fill_cart(struct rfn_neighbors *of, int64_t rank)
{
    int64_t stride = 1;
    for (size_t i = of->n_dims; i-- > 0;) {
        const int64_t dim = of->dims[i], at = rank / stride % dim, first = rank - at * stride;
        const bool periodic = of->dims[of->n_dims + i];
        const int64_t low = at > 0 ? at - 1 : periodic ? dim - 1 : -1;
        const int64_t high = at + 1 < dim ? at + 1 : periodic ? 0 : -1;
        of->ranks[2 * i] = low < 0 ? -1 : first + low * stride;
        of->ranks[2 * i + 1] = high < 0 ? -1 : first + high * stride;
        stride *= dim;
    }
    memcpy(of->ranks + of->n_in, of->ranks, of->n_in * sizeof *of->ranks);
}

/* dims: n dimensions, then whether they are periodic. Where they do not fit the communicator
 * nothing is known. */
static int add_cart(struct rfn_neighborhoods *all, const struct rfn_call_event *call, int64_t comm,
                    const int64_t *dims, size_t n)
{
    const uint32_t size = rfn_archive_comm(call->archive, (uint32_t)comm)->size;
    const int64_t rank = rfn_comm_rank_of(call->archive, (uint32_t)comm, call->rank);
    int64_t product = 1;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] <= 0 || dims[i] > size / product)
            return 0;
        product *= dims[i];
    }
    if (product != size || rank < 0)
        return 0;
    struct rfn_neighbors *made = make(all, comm, 2 * n, 2 * n);
    if (!made)
        return RFN_E_NOMEM;
    made->dims = malloc((2 * n + 1) * sizeof *made->dims);
    if (!made->dims)
        return RFN_E_NOMEM;
    memcpy(made->dims, dims, 2 * n * sizeof *dims);
    made->n_dims = n;
    fill_cart(made, rank);
    return 0;
}

static int cart_create(struct rfn_neighborhoods *all, const struct rfn_call_event *call,
                       int64_t comm)
{
    int64_t both[2 * RFN_DIMS_MAX];
    size_t n, n_periods;
    const int64_t *dims = rfn_word_list(call, RFN_IN_dims, RFN_KIND_INT, &n);
    const int64_t *periods = rfn_word_list(call, RFN_IN_periods, RFN_KIND_FLAG, &n_periods);
    if (n > RFN_DIMS_MAX || n_periods != n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        both[i] = dims[i];
        both[n + i] = periods[i];
    }
    return add_cart(all, call, comm, both, n);
}

static int cart_sub(struct rfn_neighborhoods *all, const struct rfn_call_event *call, int64_t comm)
{
    const struct rfn_neighbors *parent = rfn_neighborhoods_of(all, rfn_word(call, RFN_IN_COMM, -1));
    int64_t dims[2 * RFN_DIMS_MAX], periods[RFN_DIMS_MAX];
    size_t n_flags, n = 0;
    const int64_t *remain = rfn_word_list(call, RFN_IN_remain_dims, RFN_KIND_FLAG, &n_flags);
    if (!parent || !parent->dims || n_flags != parent->n_dims)
        return 0;
    for (size_t i = 0; i < n_flags; i++) {
        if (!remain[i])
            continue;
        dims[n] = parent->dims[i];
        periods[n++] = parent->dims[parent->n_dims + i];
    }
    memcpy(dims + n, periods, n * sizeof *periods);
    return add_cart(all, call, comm, dims, n);
}

/* ---- graphs ---- */

static int add_lists(struct rfn_neighborhoods *all, int64_t comm, const int64_t *in, size_t n_in,
                     const int64_t *out, size_t n_out)
{
    struct rfn_neighbors *made = make(all, comm, n_in, n_out);
    if (!made)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n_in + n_out; i++) {
        const int64_t rank = i < n_in ? in[i] : out[i - n_in];
        made->ranks[i] = rank < 0 ? -1 : rank;
    }
    return 0;
}

static int graph_create(struct rfn_neighborhoods *all, const struct rfn_call_event *call,
                        int64_t comm)
{
    size_t n, n_edges;
    const int64_t *ends = rfn_word_list(call, RFN_IN_index, RFN_KIND_INT, &n);
    const int64_t *edges = rfn_word_list(call, RFN_IN_edges, RFN_KIND_INT, &n_edges);
    const int64_t rank = rfn_comm_rank_of(call->archive, (uint32_t)comm, call->rank);
    if (rank < 0 || (uint64_t)rank >= n)
        return 0;
    const int64_t from = rank ? ends[rank - 1] : 0, to = ends[rank];
    if (from < 0 || to < from || (uint64_t)to > n_edges)
        return 0;
    const size_t own = (size_t)(to - from);
    return own ? add_lists(all, comm, edges + from, own, edges + from, own)
               : add_lists(all, comm, NULL, 0, NULL, 0);
}

static int adjacent(struct rfn_neighborhoods *all, const struct rfn_call_event *call, int64_t comm)
{
    size_t n_in, n_out;
    const int64_t *in = rfn_word_list(call, RFN_IN_sources, RFN_KIND_RANK, &n_in);
    const int64_t *out = rfn_word_list(call, RFN_IN_destinations, RFN_KIND_RANK, &n_out);
    return add_lists(all, comm, in, n_in, out, n_out);
}

static int copy(struct rfn_neighborhoods *all, int64_t parent, int64_t comm)
{
    const struct rfn_neighbors *of = rfn_neighborhoods_of(all, parent);
    if (!of || parent == comm)
        return 0;
    RFN_TRY(add_lists(all, comm, of->ranks, of->n_in, of->ranks + of->n_in, of->n_out));
    if (!of->dims)
        return 0;
    struct rfn_neighbors *made = rfn_map_object(&all->comms, (uint64_t)comm);
    made->dims = malloc((2 * of->n_dims + 1) * sizeof *made->dims);
    if (!made->dims)
        return RFN_E_NOMEM;
    memcpy(made->dims, of->dims, 2 * of->n_dims * sizeof *made->dims);
    made->n_dims = of->n_dims;
    return 0;
}

int rfn_neighborhoods_event(struct rfn_neighborhoods *all, const struct rfn_call_event *call)
{
    const int64_t made = rfn_made(call, RFN_OUT_COMM);
    if (made < 0 || made >= rfn_archive_comms(call->archive))
        return 0;
    switch (call->call->operation) {
    case RFN_MPI_Cart_create:
        return cart_create(all, call, made);
    case RFN_MPI_Cart_sub:
        return cart_sub(all, call, made);
    case RFN_MPI_Graph_create:
        return graph_create(all, call, made);
    case RFN_MPI_Dist_graph_create_adjacent:
        return adjacent(all, call, made);
    case RFN_MPI_Dist_graph_create: /* other ranks may tell of this one's neighbours */
        return 0;
    default:
        return copy(all, rfn_word(call, RFN_IN_COMM, -1), made);
    }
}
