#include "simulate/collectives/coll_build.h"

/* ---- whose data goes where, by kind ---- */

struct coll_part coll_outgoing(const struct coll *c, uint32_t to)
{
    const struct rfn_action *action = c->action;
    switch (action->kind) {
    case RFN_ACTION_GATHER:
    case RFN_ACTION_GATHERV:
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLGATHERV:
        return (struct coll_part){c->rank, action->bytes};
    case RFN_ACTION_SCATTER:
        return (struct coll_part){to, action->bytes};
    case RFN_ACTION_SCATTERV:
        return (struct coll_part){to, action->sends[to]};
    case RFN_ACTION_REDUCE_SCATTER:
        return (struct coll_part){to, action->receives[to]};
    case RFN_ACTION_ALLTOALL:
        return (struct coll_part){(int64_t)c->rank * c->size + to, action->bytes};
    case RFN_ACTION_ALLTOALLV:
        return (struct coll_part){(int64_t)c->rank * c->size + to, action->sends[to]};
    default:
        return coll_all(c);
    }
}

struct coll_part coll_incoming(const struct coll *c, uint32_t from)
{
    const struct rfn_action *action = c->action;
    switch (action->kind) {
    case RFN_ACTION_GATHER:
    case RFN_ACTION_ALLGATHER:
        return (struct coll_part){from, action->receive_bytes};
    case RFN_ACTION_GATHERV:
    case RFN_ACTION_ALLGATHERV:
        return (struct coll_part){from, action->receives[from]};
    case RFN_ACTION_SCATTER:
    case RFN_ACTION_SCATTERV:
        return (struct coll_part){c->rank, action->receive_bytes};
    case RFN_ACTION_REDUCE_SCATTER:
        return (struct coll_part){c->rank, action->receives[c->rank]};
    case RFN_ACTION_ALLTOALL:
        return (struct coll_part){(int64_t)from * c->size + c->rank, action->receive_bytes};
    case RFN_ACTION_ALLTOALLV:
        return (struct coll_part){(int64_t)from * c->size + c->rank, action->receives[from]};
    default:
        return coll_all(c);
    }
}

/* ---- from and to the root ---- */

void coll_to_root(struct coll *c)
{
    uint32_t first = c->ops->requests;
    if (c->rank != c->root)
        coll_isend(c, c->root, coll_outgoing(c, c->root));
    for (uint32_t other = 0; c->rank == c->root && other < c->size; other++)
        if (other != c->root)
            coll_irecv(c, other, coll_incoming(c, other));
    coll_wait_since(c, first);
}

void coll_from_root_to_all(struct coll *c)
{
    uint32_t first = c->ops->requests;
    if (c->rank != c->root)
        coll_irecv(c, c->root, coll_incoming(c, c->root));
    for (uint32_t other = 0; c->rank == c->root && other < c->size; other++)
        if (other != c->root)
            coll_isend(c, other, coll_outgoing(c, other));
    coll_wait_since(c, first);
}

void coll_barrier_linear(struct coll *c)
{
    if (c->rank > 0) {
        coll_send(c, 0, coll_all(c));
        coll_recv(c, 0, coll_all(c));
        return;
    }
    coll_to_root(c);
    coll_from_root_to_all(c);
}

/* ---- with all others ---- */

void coll_exchange(struct coll *c)
{
    uint32_t first = c->ops->requests;
    for (uint32_t other = 0; other < c->size; other++)
        if (other != c->rank) {
            coll_isend(c, other, coll_outgoing(c, other));
            coll_irecv(c, other, coll_incoming(c, other));
        }
    coll_wait_since(c, first);
}

void coll_exchange_receives_first(struct coll *c)
{
    uint32_t first = c->ops->requests;
    for (uint32_t other = 0; other < c->size; other++)
        if (other != c->rank)
            coll_irecv(c, other, coll_incoming(c, other));
    for (uint32_t other = 0; other < c->size; other++)
        if (other != c->rank)
            coll_isend(c, other, coll_outgoing(c, other));
    coll_wait_since(c, first);
}

void coll_exchange_around(struct coll *c)
{
    uint32_t first = c->ops->requests;
    for (uint32_t i = 1; i < c->size; i++) {
        uint32_t from = coll_around(c, c->rank, i);
        coll_irecv(c, from, coll_incoming(c, from));
    }
    for (uint32_t i = 1; i < c->size; i++) {
        uint32_t to = coll_around(c, c->rank, -(int64_t)i);
        coll_isend(c, to, coll_outgoing(c, to));
    }
    coll_wait_since(c, first);
}

void coll_scan_linear(struct coll *c)
{
    uint32_t first = c->ops->requests;
    for (uint32_t other = 0; other < c->rank; other++)
        coll_irecv(c, other, coll_all(c));
    for (uint32_t other = c->rank + 1; other < c->size; other++)
        coll_isend(c, other, coll_all(c));
    for (uint32_t i = 0; i + 1 < c->size; i++)
        coll_wait(c, first + i, 1);
}

/* ---- one after the other ---- */

void coll_gather_in_turn(struct coll *c)
{
    if (c->rank != c->root)
        coll_send(c, c->root, coll_outgoing(c, c->root));
    for (uint32_t other = 0; c->rank == c->root && other < c->size; other++)
        if (other != c->root)
            coll_recv(c, other, coll_incoming(c, other));
}

void coll_reduce_in_turn(struct coll *c)
{
    if (c->rank != c->root)
        coll_send(c, c->root, coll_all(c));
    for (uint32_t other = c->size; c->rank == c->root && other-- > 0;)
        if (other != c->root)
            coll_recv(c, other, coll_all(c));
}

void coll_scatter_in_turn(struct coll *c)
{
    if (c->rank != c->root)
        coll_recv(c, c->root, coll_incoming(c, c->root));
    for (uint32_t other = 0; c->rank == c->root && other < c->size; other++)
        if (other != c->root)
            coll_send(c, other, coll_outgoing(c, other));
}

/* Open MPI divides the data of a rank into two messages, of which the second is empty unless a size
 * is set. */
void coll_gather_synchronized(struct coll *c)
{
    struct coll_part nothing = {0, 0};
    uint32_t first = c->ops->requests, n = 0;
    if (c->rank != c->root) {
        coll_recv(c, c->root, nothing);
        coll_send(c, c->root, coll_outgoing(c, c->root));
        coll_send(c, c->root, nothing);
        return;
    }
    for (uint32_t other = 0; other < c->size; other++) {
        if (other == c->root)
            continue;
        uint32_t request = coll_irecv(c, other, coll_incoming(c, other));
        coll_send(c, other, nothing);
        coll_irecv(c, other, nothing);
        coll_wait(c, request, 1);
        n++;
    }
    for (uint32_t i = 0; i < n; i++)
        coll_wait(c, first + 2 * i + 1, 1);
}
