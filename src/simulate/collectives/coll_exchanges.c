#include "simulate/collectives/coll_build.h"

/* ---- everything with every other rank ---- */

void coll_pairwise(struct coll *c)
{
    bool pairs = coll_is_power(c->size);
    for (uint32_t step = 1; step < c->size; step++) {
        uint32_t to = pairs ? c->rank ^ step : coll_around(c, c->rank, step);
        uint32_t from = pairs ? to : coll_around(c, c->rank, -(int64_t)step);
        coll_sendrecv(c, to, coll_outgoing(c, to), from, coll_incoming(c, from));
    }
}

void coll_scattered(struct coll *c, uint32_t n)
{
    for (uint32_t from = 0; from < c->size; from += n) {
        uint32_t first = c->ops->requests, left = c->size - from;
        uint32_t behind = from + (n < left ? n : left);
        for (uint32_t i = from > 0 ? from : 1; i < behind; i++) {
            uint32_t other = coll_around(c, c->rank, i);
            coll_irecv(c, other, coll_incoming(c, other));
        }
        for (uint32_t i = from > 0 ? from : 1; i < behind; i++) {
            uint32_t other = coll_around(c, c->rank, -(int64_t)i);
            coll_isend(c, other, coll_outgoing(c, other));
        }
        coll_wait_since(c, first);
    }
}

/* In step k a block moves on by 2^k ranks if it has bit k of its way to go. */
void coll_alltoall_bruck(struct coll *c)
{
    for (uint32_t k = 0; (uint64_t)1 << k < c->size; k++) {
        uint32_t by = 1u << k, blocks = 0;
        for (uint32_t way = 1; way < c->size; way++)
            blocks += way >> k & 1;
        struct coll_part part = {-1 - (int64_t)k, blocks * c->action->bytes};
        coll_sendrecv(c, coll_around(c, c->rank, by), part, coll_around(c, c->rank, -(int64_t)by),
                      part);
    }
}

/* ---- blocks of all ranks to all ranks ---- */

void coll_allgather_bruck(struct coll *c)
{
    for (uint32_t by = 1; by < c->size; by *= 2) {
        uint32_t left = c->size - by, n = by < left ? by : left;
        uint32_t from = coll_around(c, c->rank, by);
        coll_sendrecv(c, coll_around(c, c->rank, -(int64_t)by), coll_blocks(c, c->rank, n), from,
                      coll_blocks(c, from, n));
    }
}

void coll_allgather_ring(struct coll *c)
{
    uint32_t next = coll_around(c, c->rank, 1), last = coll_around(c, c->rank, -1);
    for (uint32_t i = 0; i + 1 < c->size; i++) {
        uint32_t out = coll_around(c, c->rank, -(int64_t)i);
        uint32_t in = coll_around(c, c->rank, -1 - (int64_t)i);
        coll_sendrecv(c, next, coll_blocks(c, out, 1), last, coll_blocks(c, in, 1));
    }
}

void coll_allgather_doubling(struct coll *c)
{
    for (uint32_t n = 1; n < c->size; n *= 2) {
        uint32_t other = c->rank ^ n;
        coll_sendrecv(c, other, coll_blocks(c, c->rank & ~(n - 1), n), other,
                      coll_blocks(c, other & ~(n - 1), n));
    }
}

/* First with the one of a pair, then by turns with the neighbour on the other side and the one of
 * the pair: the two blocks that came last. */
void coll_allgather_neighbors(struct coll *c)
{
    bool even = c->rank % 2 == 0;
    uint32_t pair = coll_around(c, c->rank, even ? 1 : -1);
    uint32_t other = coll_around(c, c->rank, even ? -1 : 1);
    coll_sendrecv(c, pair, coll_blocks(c, c->rank, 1), pair, coll_blocks(c, pair, 1));
    uint32_t here = even ? c->rank : pair, out = here;
    for (uint32_t i = 1; i < c->size / 2; i++) {
        /* From the other side come pairs that are farther and farther on that side. */
        bool from_behind = (i % 2 == 1) != even;
        int64_t far = ((int64_t)i + 1) / 2 * 2;
        uint32_t in = coll_around(c, here, from_behind ? far : -far);
        uint32_t with = i % 2 == 1 ? other : pair;
        coll_sendrecv(c, with, coll_blocks(c, out, 2), with, coll_blocks(c, in, 2));
        out = in;
    }
}

/* ---- barriers and scans ---- */

void coll_barrier_dissemination(struct coll *c)
{
    for (uint32_t by = 1; by < c->size; by *= 2)
        coll_sendrecv(c, coll_around(c, c->rank, by), coll_all(c),
                      coll_around(c, c->rank, -(int64_t)by), coll_all(c));
}

void coll_barrier_doubling(struct coll *c)
{
    uint32_t power = coll_power_below(c->size);
    if (c->rank >= power) {
        uint32_t other = c->rank - power;
        coll_sendrecv(c, other, coll_all(c), other, coll_all(c));
        return;
    }
    if (c->rank + power < c->size)
        coll_recv(c, c->rank + power, coll_all(c));
    for (uint32_t step = 1; step < power; step *= 2)
        coll_sendrecv(c, c->rank ^ step, coll_all(c), c->rank ^ step, coll_all(c));
    if (c->rank + power < c->size)
        coll_send(c, c->rank + power, coll_all(c));
}

void coll_barrier_tree(struct coll *c)
{
    uint32_t step = 1;
    for (; step < c->size && !(c->rank & step); step *= 2)
        if (c->rank + step < c->size)
            coll_recv(c, c->rank + step, coll_all(c));
    if (c->rank > 0) {
        coll_send(c, c->rank - step, coll_all(c));
        coll_recv(c, c->rank - step, coll_all(c));
    }
    for (step /= 2; step > 0; step /= 2)
        if (c->rank + step < c->size)
            coll_send(c, c->rank + step, coll_all(c));
}

void coll_scan_doubling(struct coll *c)
{
    for (uint32_t step = 1; step < c->size; step *= 2) {
        uint32_t other = c->rank ^ step;
        if (other < c->size)
            coll_sendrecv(c, other, coll_all(c), other, coll_all(c));
    }
}

void coll_scan_chain(struct coll *c)
{
    if (c->rank > 0)
        coll_recv(c, c->rank - 1, coll_all(c));
    if (c->rank + 1 < c->size)
        coll_send(c, c->rank + 1, coll_all(c));
}
