/* coll_mpich.c - MPICH's choices, with its default limits (its CVARs of "..._MSG_SIZE"). Ranks are
 * taken as if each was on a node of its own. */
#include "simulate/collectives/coll_build.h"

enum {
    FEW_RANKS = 8,       /* fewer: bcast and alltoall do without their algorithms for many */
    BCAST_SHORT = 12288, /* bytes */
    BCAST_LONG = 512 * 1024,
    REDUCE_SHORT = 2048,
    ALLGATHER_SHORT = 80 * 1024,
    ALLGATHER_LONG = 512 * 1024,
    ALLTOALL_SHORT = 256,
    ALLTOALL_MEDIUM = 32 * 1024,
    REDUCE_SCATTER_LONG = 512 * 1024,
    ALLTOALL_AT_A_TIME = 32,
};

static void choose_bcast(struct coll *c)
{
    if (c->bytes < BCAST_SHORT || c->size < FEW_RANKS)
        coll_bcast_binomial(c);
    else if (c->bytes < BCAST_LONG && coll_is_power(c->size))
        coll_bcast_scatter_doubling(c);
    else
        coll_bcast_scatter_ring(c);
}

/* Whether a reduction splits the buffer. */
static bool splits(const struct coll *c)
{
    return c->bytes > REDUCE_SHORT && c->bytes / c->element >= coll_power_below(c->size);
}

static void choose_allgather(struct coll *c)
{
    int64_t bytes = coll_blocks(c, 0, c->size).bytes;
    if (coll_is_power(c->size) && bytes < ALLGATHER_LONG)
        coll_allgather_doubling(c);
    else if (bytes < ALLGATHER_SHORT)
        coll_allgather_bruck(c);
    else
        coll_allgather_ring(c);
}

static void choose_alltoall(struct coll *c)
{
    if (c->bytes <= ALLTOALL_SHORT && c->size >= FEW_RANKS)
        coll_alltoall_bruck(c);
    else if (c->bytes <= ALLTOALL_MEDIUM)
        coll_scattered(c, ALLTOALL_AT_A_TIME);
    else
        coll_pairwise(c);
}

static void choose_reduce_scatter(struct coll *c)
{
    if (coll_blocks(c, 0, c->size).bytes < REDUCE_SCATTER_LONG)
        coll_reduce_scatter_halving(c);
    else
        coll_pairwise(c);
}

void coll_choose_mpich(struct coll *c)
{
    switch (c->action->kind) {
    case RFN_ACTION_BARRIER:
        coll_barrier_dissemination(c);
        break;
    case RFN_ACTION_BCAST:
        choose_bcast(c);
        break;
    case RFN_ACTION_REDUCE:
        if (splits(c))
            coll_reduce_halving(c);
        else
            coll_reduce_binomial(c);
        break;
    case RFN_ACTION_ALLREDUCE:
        if (splits(c))
            coll_allreduce_halving(c);
        else
            coll_allreduce_doubling(c);
        break;
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        coll_scan_doubling(c);
        break;
    case RFN_ACTION_GATHER:
        coll_gather_binomial(c);
        break;
    case RFN_ACTION_SCATTER:
        coll_scatter_binomial(c);
        break;
    case RFN_ACTION_GATHERV:
        coll_to_root(c);
        break;
    case RFN_ACTION_SCATTERV:
        coll_from_root_to_all(c);
        break;
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLGATHERV:
        choose_allgather(c);
        break;
    case RFN_ACTION_ALLTOALL:
        choose_alltoall(c);
        break;
    case RFN_ACTION_ALLTOALLV:
        coll_scattered(c, ALLTOALL_AT_A_TIME);
        break;
    default:
        choose_reduce_scatter(c);
        break;
    }
}
