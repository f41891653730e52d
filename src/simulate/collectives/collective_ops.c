#include "simulate/collectives/collective_ops.h"

#include "simulate/collectives/coll_build.h"

#include <string.h>

static const char *const names[RFN_COLL_CHOICES] = {"simgrid", "mpich", "ompi"};

const char *rfn_coll_choice_name(enum rfn_coll_choice which)
{
    return which < RFN_COLL_CHOICES ? names[which] : NULL;
}

int rfn_coll_choice_named(const char *name)
{
    for (int i = 0; i < RFN_COLL_CHOICES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

bool rfn_action_is_collective(enum rfn_action_kind kind)
{
    return kind >= RFN_ACTION_BARRIER && kind <= RFN_ACTION_REDUCE_SCATTER;
}

/* ---- the call ---- */

static int32_t tag_of(enum rfn_action_kind kind)
{
    switch (kind) {
    case RFN_ACTION_BARRIER:
        return COLL_TAG_BARRIER;
    case RFN_ACTION_BCAST:
        return COLL_TAG_BCAST;
    case RFN_ACTION_REDUCE:
        return COLL_TAG_REDUCE;
    case RFN_ACTION_ALLREDUCE:
        return COLL_TAG_ALLREDUCE;
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        return COLL_TAG_SCAN;
    case RFN_ACTION_GATHER:
        return COLL_TAG_GATHER;
    case RFN_ACTION_GATHERV:
        return COLL_TAG_GATHERV;
    case RFN_ACTION_SCATTER:
        return COLL_TAG_SCATTER;
    case RFN_ACTION_SCATTERV:
        return COLL_TAG_SCATTERV;
    case RFN_ACTION_ALLGATHER:
        return COLL_TAG_ALLGATHER;
    case RFN_ACTION_ALLGATHERV:
        return COLL_TAG_ALLGATHERV;
    case RFN_ACTION_ALLTOALL:
        return COLL_TAG_ALLTOALL;
    case RFN_ACTION_ALLTOALLV:
        return COLL_TAG_ALLTOALLV;
    default:
        return COLL_TAG_REDUCE_SCATTER;
    }
}

static bool has_root(enum rfn_action_kind kind)
{
    return kind == RFN_ACTION_BCAST || kind == RFN_ACTION_REDUCE || kind == RFN_ACTION_GATHER ||
           kind == RFN_ACTION_GATHERV || kind == RFN_ACTION_SCATTER || kind == RFN_ACTION_SCATTERV;
}

/* A vector that the rank must have is there. */
static bool vectors_are_there(const struct coll *c)
{
    const struct rfn_action *action = c->action;
    switch (action->kind) {
    case RFN_ACTION_GATHERV:
        return c->rank != c->root || action->receives;
    case RFN_ACTION_SCATTERV:
        return c->rank != c->root || action->sends;
    case RFN_ACTION_ALLTOALLV:
        return action->sends && action->receives;
    case RFN_ACTION_ALLGATHERV:
    case RFN_ACTION_REDUCE_SCATTER:
        return action->receives != NULL;
    default:
        return true;
    }
}

/* Blocks that algorithms count with; linear ones look at the action (coll_outgoing). */
static void set_sizes(struct coll *c)
{
    const struct rfn_action *action = c->action;
    c->bytes = action->kind == RFN_ACTION_BARRIER ? 0 : action->bytes;
    if (c->rank == c->root && action->kind == RFN_ACTION_GATHER)
        c->bytes = action->receive_bytes;
    if (c->rank != c->root && action->kind == RFN_ACTION_SCATTER)
        c->bytes = action->receive_bytes;
    if (action->kind == RFN_ACTION_ALLGATHERV || action->kind == RFN_ACTION_REDUCE_SCATTER)
        c->sizes = action->receives;
    c->element = action->type_bytes > 0 ? action->type_bytes : 1;
}

/* ---- SMPI's default choices, and those of calls that do not block ---- */

static void reduce_then_bcast(struct coll *c)
{
    c->tag = COLL_TAG_REDUCE;
    coll_to_root(c);
    c->tag = COLL_TAG_BCAST;
    coll_bcast_binomial(c);
}

static void simgrid_reduce_scatter(struct coll *c)
{
    const int64_t *sizes = c->action->receives;
    bool equal = true;
    for (uint32_t i = 1; i < c->size; i++)
        equal = equal && sizes[i] == sizes[0];
    if (equal)
        coll_reduce_scatter_linear(c);
    else
        coll_reduce_scatter_halving(c);
}

static void choose_simgrid(struct coll *c)
{
    switch (c->action->kind) {
    case RFN_ACTION_BARRIER:
        coll_barrier_linear(c);
        break;
    case RFN_ACTION_BCAST:
        coll_bcast_binomial(c);
        break;
    case RFN_ACTION_ALLREDUCE:
        reduce_then_bcast(c);
        break;
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        coll_scan_linear(c);
        break;
    case RFN_ACTION_REDUCE:
    case RFN_ACTION_GATHER:
    case RFN_ACTION_GATHERV:
        coll_to_root(c);
        break;
    case RFN_ACTION_SCATTER:
    case RFN_ACTION_SCATTERV:
        coll_from_root_to_all(c);
        break;
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLGATHERV:
        coll_exchange(c);
        break;
    case RFN_ACTION_ALLTOALL:
        coll_ompi_alltoall(c);
        break;
    case RFN_ACTION_ALLTOALLV:
        coll_exchange_receives_first(c);
        break;
    default:
        simgrid_reduce_scatter(c);
        break;
    }
}

/* All posts, then a wait. */
static void choose_posts(struct coll *c)
{
    switch (c->action->kind) {
    case RFN_ACTION_REDUCE:
    case RFN_ACTION_GATHER:
    case RFN_ACTION_GATHERV:
        coll_to_root(c);
        break;
    case RFN_ACTION_BCAST:
    case RFN_ACTION_SCATTER:
    case RFN_ACTION_SCATTERV:
        coll_from_root_to_all(c);
        break;
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        coll_scan_linear(c);
        break;
    case RFN_ACTION_ALLTOALL:
        coll_exchange_around(c);
        break;
    case RFN_ACTION_ALLTOALLV:
        coll_exchange_receives_first(c);
        break;
    default:
        coll_exchange(c);
        break;
    }
}

int rfn_collective_ops(enum rfn_coll_choice which, const struct rfn_action *action, uint32_t size,
                       uint32_t rank, struct rfn_coll_ops *ops)
{
    ops->n = ops->requests = 0;
    int64_t root = has_root(action->kind) ? action->root : 0;
    if (!rfn_action_is_collective(action->kind) || rank >= size || root < 0 || root >= size)
        return RFN_E_USAGE;
    struct coll c = {.action = action,
                     .size = size,
                     .rank = rank,
                     .root = (uint32_t)root,
                     .tag = tag_of(action->kind),
                     .ops = ops};
    if (!vectors_are_there(&c))
        return RFN_E_USAGE;
    set_sizes(&c);
    if (!action->blocks)
        choose_posts(&c);
    else if (which == RFN_COLL_CHOICE_MPICH)
        coll_choose_mpich(&c);
    else if (which == RFN_COLL_CHOICE_OMPI)
        coll_choose_ompi(&c);
    else
        choose_simgrid(&c);
    coll_compute(&c, action->volume);
    return c.error;
}
