/* topology.c - three forms of a topology:
 *
 *   cartesian    dimensions and whether they are periodic. Ranks are row-major: the last
 *                dimension changes fastest.
 *   graph        the arrays `index` and `edges` of MPI_Graph_create, the same on all ranks
 *   distributed  a list of sources per rank. MPI_Dist_graph_create_adjacent tells a rank's own,
 *                the edges of MPI_Dist_graph_create may belong to anyone. Lists are sorted, and
 *                what is in them twice is removed, when they are asked for.
 *
 * The ranks in the arguments are those of the new communicator: where MPI reorders, the node that
 * rank i of the old communicator describes is rank i of the new one.
 */
#include "analyze/match/topology.h"

#include "base/grow.h"

#include <stdlib.h>

enum form { FORM_CART, FORM_GRAPH, FORM_DISTRIBUTED };

enum {
    SIZE_MAX_BELIEVED = 1 << 24 /* a graph of a larger communicator is not looked at */
};

struct ranks {
    uint32_t *ranks;
    size_t n, capacity;
    bool sorted; /* and each is there once */
};

struct topology {
    enum form form;
    uint32_t size;
    unsigned n_dims;
    uint32_t *dims; /* then a word per dimension: whether it is periodic */
    uint32_t *ends; /* of a graph, per rank: where its edges end */
    uint32_t *edges;
    struct ranks *lists; /* distributed: the sources of each rank */
};

struct rfn_topologies {
    const struct rfn_archive *archive;
    uint32_t *of_comm; /* number in `all` + 1, 0 without a topology */
    uint32_t n_comms;
    struct topology **all;
    size_t n, capacity;
    uint32_t near[2 * RFN_DIMS_MAX]; /* the neighbours last asked for in a Cartesian topology */
};

struct rfn_topologies *rfn_topologies_new(const struct rfn_archive *archive)
{
    struct rfn_topologies *topologies = calloc(1, sizeof *topologies);
    if (!topologies)
        return NULL;
    topologies->archive = archive;
    topologies->n_comms = rfn_archive_comms(archive);
    topologies->of_comm = calloc((size_t)topologies->n_comms + 1, sizeof *topologies->of_comm);
    if (topologies->of_comm)
        return topologies;
    free(topologies);
    return NULL;
}

static void free_topology(struct topology *topology)
{
    for (size_t i = 0; topology->lists && i < topology->size; i++)
        free(topology->lists[i].ranks);
    free(topology->lists);
    free(topology->dims);
    free(topology->ends);
    free(topology->edges);
    free(topology);
}

void rfn_topologies_free(struct rfn_topologies *topologies)
{
    if (!topologies)
        return;
    for (size_t i = 0; i < topologies->n; i++)
        free_topology(topologies->all[i]);
    free(topologies->all);
    free(topologies->of_comm);
    free(topologies);
}

bool rfn_topologies_concerns(const struct rfn_topologies *topologies, uint32_t function)
{
    return rfn_makes_topology(rfn_archive_call(topologies->archive, function));
}

/* ---- the table ---- */

static struct topology *topology_of(const struct rfn_topologies *topologies, int64_t comm)
{
    if (comm < 0 || comm >= topologies->n_comms || !topologies->of_comm[comm])
        return NULL;
    return topologies->all[topologies->of_comm[comm] - 1];
}

/* A new topology of comm, of which it has none yet; NULL when out of memory. */
static struct topology *add(struct rfn_topologies *topologies, int64_t comm, enum form form)
{
    if (RFN_GROW(topologies->all, topologies->capacity, topologies->n + 1) < 0)
        return NULL;
    struct topology *topology = calloc(1, sizeof *topology);
    if (!topology)
        return NULL;
    topology->form = form;
    topology->size = rfn_archive_comm(topologies->archive, (uint32_t)comm)->size;
    topologies->all[topologies->n++] = topology;
    topologies->of_comm[comm] = (uint32_t)topologies->n;
    return topology;
}

static bool is_member(const struct topology *topology, int64_t rank)
{
    return rank >= 0 && rank < topology->size;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts and leaves each rank once; how many those are. */
static size_t sort_once(uint32_t *ranks, size_t n)
{
    size_t kept = n ? 1 : 0;
    if (n > 1)
        qsort(ranks, n, sizeof *ranks, compare);
    for (size_t i = 1; i < n; i++) {
        if (ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    }
    return kept;
}

/* ---- Cartesian ---- */

/* Makes dims and periods, if the dimensions fit the communicator. */
static int add_cart(struct rfn_topologies *topologies, int64_t comm, const uint32_t *dims,
                    const uint32_t *periods, unsigned n)
{
    uint64_t size = rfn_archive_comm(topologies->archive, (uint32_t)comm)->size, product = 1;
    for (unsigned i = 0; i < n; i++) {
        product *= dims[i];
        if (product == 0 || product > size)
            return 0;
    }
    if (product != size)
        return 0;
    uint32_t *copy = malloc((n + (size_t)1) * 2 * sizeof *copy);
    struct topology *topology = copy ? add(topologies, comm, FORM_CART) : NULL;
    if (!topology) {
        free(copy);
        return RFN_E_NOMEM;
    }
    for (unsigned i = 0; i < n; i++) {
        copy[i] = dims[i];
        copy[n + i] = periods[i];
    }
    topology->dims = copy;
    topology->n_dims = n;
    return 0;
}

static int cart(struct rfn_topologies *topologies, const struct rfn_call_event *event, int64_t made)
{
    uint32_t dims[RFN_DIMS_MAX], periods[RFN_DIMS_MAX];
    size_t n, n_periods;
    const int64_t *d = rfn_word_list(event, RFN_IN_dims, RFN_KIND_INT, &n);
    const int64_t *p = rfn_word_list(event, RFN_IN_periods, RFN_KIND_FLAG, &n_periods);
    if (n > RFN_DIMS_MAX || n_periods != n)
        return 0;
    for (size_t i = 0; i < n; i++) {
        dims[i] = d[i] > 0 && d[i] <= UINT32_MAX ? (uint32_t)d[i] : 0;
        periods[i] = p[i] != 0;
    }
    return add_cart(topologies, made, dims, periods, (unsigned)n);
}

static int cart_sub(struct rfn_topologies *topologies, const struct rfn_call_event *event,
                    int64_t made)
{
    const struct topology *parent = topology_of(topologies, rfn_word(event, RFN_IN_COMM, -1));
    uint32_t dims[RFN_DIMS_MAX], periods[RFN_DIMS_MAX];
    size_t n_flags;
    unsigned n = 0;
    const int64_t *remain = rfn_word_list(event, RFN_IN_remain_dims, RFN_KIND_FLAG, &n_flags);
    if (!parent || parent->form != FORM_CART || n_flags != parent->n_dims)
        return 0;
    for (unsigned i = 0; i < parent->n_dims; i++) {
        if (!remain[i])
            continue;
        dims[n] = parent->dims[i];
        periods[n++] = parent->dims[parent->n_dims + i];
    }
    return add_cart(topologies, made, dims, periods, n);
}

/* Row-major: `stride` is how far apart the ranks of a dimension are. */
static size_t cart_neighbours(const struct topology *topology, uint32_t rank, uint32_t *near)
{
    size_t n = 0;
    uint32_t stride = 1;
    for (unsigned i = topology->n_dims; i-- > 0;) {
        uint32_t dim = topology->dims[i], at = rank / stride % dim, first = rank - at * stride;
        bool periodic = topology->dims[topology->n_dims + i];
        if (at > 0 || periodic)
            near[n++] = first + (at > 0 ? at - 1 : dim - 1) * stride;
        if (at + 1 < dim || periodic)
            near[n++] = first + (at + 1 < dim ? at + 1 : 0) * stride;
        stride *= dim;
    }
    return sort_once(near, n);
}

/* ---- graphs told in full ---- */

static bool graph_fits(const int64_t *index, size_t n, size_t n_edges, uint32_t size)
{
    for (size_t i = 0; i < n; i++) {
        if (index[i] < (i ? index[i - 1] : 0) || (uint64_t)index[i] > n_edges)
            return false;
    }
    return n == size && n_edges <= UINT32_MAX;
}

/* Copies the edges of each rank, those that exist, each once. */
static void fill_graph(struct topology *topology, const int64_t *index, const int64_t *edges)
{
    uint32_t end = 0;
    for (uint32_t rank = 0; rank < topology->size; rank++) {
        uint32_t *near = topology->edges + end;
        size_t n = 0;
        for (int64_t i = rank ? index[rank - 1] : 0; i < index[rank]; i++) {
            if (is_member(topology, edges[i]))
                near[n++] = (uint32_t)edges[i];
        }
        end += (uint32_t)sort_once(near, n);
        topology->ends[rank] = end;
    }
}

static int graph(struct rfn_topologies *topologies, const struct rfn_call_event *event,
                 int64_t made)
{
    size_t n, n_edges;
    const int64_t *index = rfn_word_list(event, RFN_IN_index, RFN_KIND_INT, &n);
    const int64_t *edges = rfn_word_list(event, RFN_IN_edges, RFN_KIND_INT, &n_edges);
    if (!graph_fits(index, n, n_edges, rfn_archive_comm(topologies->archive, (uint32_t)made)->size))
        return 0;
    uint32_t *ends = calloc(n + 1, sizeof *ends);
    uint32_t *copy = malloc((n_edges + 1) * sizeof *copy);
    struct topology *topology = ends && copy ? add(topologies, made, FORM_GRAPH) : NULL;
    if (!topology) {
        free(ends);
        free(copy);
        return RFN_E_NOMEM;
    }
    topology->ends = ends;
    topology->edges = copy;
    fill_graph(topology, index, edges);
    return 0;
}

/* ---- distributed graphs ---- */

/* The topology of comm, made when this rank is the first to tell of it; NULL if it is too large. */
static int distributed(struct rfn_topologies *topologies, int64_t comm, struct topology **topology)
{
    *topology = topology_of(topologies, comm);
    if (*topology)
        return 0;
    uint32_t size = rfn_archive_comm(topologies->archive, (uint32_t)comm)->size;
    if (size > SIZE_MAX_BELIEVED)
        return 0;
    struct ranks *lists = calloc((size_t)size + 1, sizeof *lists);
    *topology = lists ? add(topologies, comm, FORM_DISTRIBUTED) : NULL;
    if (!*topology) {
        free(lists);
        return RFN_E_NOMEM;
    }
    (*topology)->lists = lists;
    return 0;
}

static void tidy(struct ranks *list)
{
    if (!list->sorted)
        list->n = sort_once(list->ranks, list->n);
    list->sorted = true;
}

/* A list may be told again and again: it grows only if what is in it once fills half of it. */
static int append(struct ranks *list, uint32_t rank)
{
    if (list->n == list->capacity) {
        tidy(list);
        RFN_TRY(RFN_GROW(list->ranks, list->capacity, list->n * 2 + 1));
    }
    list->ranks[list->n++] = rank;
    list->sorted = false;
    return 0;
}

static int append_members(const struct topology *topology, struct ranks *list, const int64_t *ranks,
                          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_member(topology, ranks[i]))
            RFN_TRY(append(list, (uint32_t)ranks[i]));
    }
    return 0;
}

static int adjacent(struct rfn_topologies *topologies, const struct rfn_call_event *event,
                    int64_t made)
{
    struct topology *topology;
    size_t n;
    int64_t comm = rfn_word(event, RFN_IN_COMM, -1);
    const int64_t *in = rfn_word_list(event, RFN_IN_sources, RFN_KIND_RANK, &n);
    RFN_TRY(distributed(topologies, made, &topology));
    int64_t self = comm >= 0 && comm < topologies->n_comms
                       ? rfn_comm_rank_of(topologies->archive, (uint32_t)comm, event->rank)
                       : -1;
    if (!topology || topology->form != FORM_DISTRIBUTED || !is_member(topology, self))
        return 0;
    return append_members(topology, &topology->lists[self], in, n);
}

static int edges(struct rfn_topologies *topologies, const struct rfn_call_event *event,
                 int64_t made)
{
    struct topology *topology;
    size_t n, n_degrees, n_to, at = 0;
    const int64_t *from = rfn_word_list(event, RFN_IN_sources, RFN_KIND_RANK, &n);
    const int64_t *degrees = rfn_word_list(event, RFN_IN_degrees, RFN_KIND_INT, &n_degrees);
    const int64_t *to = rfn_word_list(event, RFN_IN_destinations, RFN_KIND_RANK, &n_to);
    RFN_TRY(distributed(topologies, made, &topology));
    if (!topology || topology->form != FORM_DISTRIBUTED)
        return 0;
    for (size_t i = 0; i < n && i < n_degrees; i++) {
        for (int64_t k = 0; k < degrees[i] && at < n_to; k++, at++) {
            if (is_member(topology, from[i]) && is_member(topology, to[at]))
                RFN_TRY(append(&topology->lists[to[at]], (uint32_t)from[i]));
        }
    }
    return 0;
}

/* ---- events ---- */

/* What every rank tells in the same way is taken from the first. */
static int learn(struct rfn_topologies *topologies, const struct rfn_call_event *event,
                 int64_t made)
{
    int64_t parent;
    if (topologies->of_comm[made])
        return 0;
    switch (event->call->operation) {
    case RFN_MPI_Cart_create:
        return cart(topologies, event, made);
    case RFN_MPI_Cart_sub:
        return cart_sub(topologies, event, made);
    case RFN_MPI_Graph_create:
        return graph(topologies, event, made);
    default:
        parent = rfn_word(event, RFN_IN_COMM, -1);
        if (parent >= 0 && parent < topologies->n_comms)
            topologies->of_comm[made] = topologies->of_comm[parent];
        return 0;
    }
}

int rfn_topologies_event(struct rfn_topologies *topologies, const struct rfn_call_event *event)
{
    int64_t made = rfn_made(event, RFN_OUT_COMM);
    if (!rfn_topologies_concerns(topologies, event->record->function) || made < 0 ||
        made >= topologies->n_comms || !rfn_comm_countable(topologies->archive, (uint32_t)made))
        return 0;
    if (event->call->operation == RFN_MPI_Dist_graph_create_adjacent)
        return adjacent(topologies, event, made);
    if (event->call->operation == RFN_MPI_Dist_graph_create)
        return edges(topologies, event, made);
    return learn(topologies, event, made);
}

/* ---- questions ---- */

const uint32_t *rfn_topology_sources(struct rfn_topologies *topologies, int64_t comm,
                                     int64_t rank_in_comm, size_t *n)
{
    const struct topology *topology = topology_of(topologies, comm);
    *n = 0;
    if (!topology || !is_member(topology, rank_in_comm))
        return NULL;
    const uint32_t *ranks = topologies->near;
    if (topology->form == FORM_CART) {
        *n = cart_neighbours(topology, (uint32_t)rank_in_comm, topologies->near);
    } else if (topology->form == FORM_GRAPH) {
        uint32_t start = rank_in_comm ? topology->ends[rank_in_comm - 1] : 0;
        ranks = topology->edges + start;
        *n = topology->ends[rank_in_comm] - start;
    } else {
        struct ranks *list = &topology->lists[rank_in_comm];
        tidy(list);
        ranks = list->ranks;
        *n = list->n;
    }
    return *n ? ranks : NULL;
}
