#include "simulate/collectives/coll_build.h"

/* ---- binomial trees, as MPICH's: the low bits of a place are the way to its subtree ---- */

/* A rank at place p talks for the places from p to p + subtree - 1. */
static uint32_t subtree(const struct coll *c, uint32_t place)
{
    uint32_t step = 1;
    while (step < c->size && !(place & step))
        step *= 2;
    return step;
}

void coll_bcast_binomial(struct coll *c)
{
    uint32_t place = coll_from_root(c), step = subtree(c, place);
    if (place > 0)
        coll_recv(c, coll_around(c, c->rank, -(int64_t)step), coll_all(c));
    for (step /= 2; step > 0; step /= 2)
        if (place + step < c->size)
            coll_send(c, coll_around(c, c->rank, step), coll_all(c));
}

void coll_reduce_binomial(struct coll *c)
{
    uint32_t place = coll_from_root(c), below = subtree(c, place);
    for (uint32_t step = 1; step < below; step *= 2)
        if (place + step < c->size)
            coll_recv(c, coll_around(c, c->rank, step), coll_all(c));
    if (place > 0)
        coll_send(c, coll_around(c, c->rank, -(int64_t)below), coll_all(c));
}

/* Blocks of the subtree of the rank `step` places behind. */
static struct coll_part blocks_behind(const struct coll *c, uint32_t place, uint32_t step)
{
    uint32_t left = c->size - place - step;
    return coll_blocks(c, coll_around(c, c->rank, step), step < left ? step : left);
}

/* Own blocks, and of the subtree. */
static struct coll_part own_blocks(const struct coll *c, uint32_t place, uint32_t below)
{
    uint32_t left = c->size - place;
    return coll_blocks(c, c->rank, below < left ? below : left);
}

void coll_gather_binomial(struct coll *c)
{
    uint32_t place = coll_from_root(c), below = subtree(c, place);
    for (uint32_t step = 1; step < below; step *= 2)
        if (place + step < c->size)
            coll_recv(c, coll_around(c, c->rank, step), blocks_behind(c, place, step));
    if (place > 0)
        coll_send(c, coll_around(c, c->rank, -(int64_t)below), own_blocks(c, place, below));
}

void coll_scatter_binomial(struct coll *c)
{
    uint32_t place = coll_from_root(c), below = subtree(c, place);
    if (place > 0)
        coll_recv(c, coll_around(c, c->rank, -(int64_t)below), own_blocks(c, place, below));
    for (uint32_t step = below / 2; step > 0; step /= 2)
        if (place + step < c->size)
            coll_send(c, coll_around(c, c->rank, step), blocks_behind(c, place, step));
}

void coll_scatter_binomial_near_first(struct coll *c)
{
    uint32_t place = coll_from_root(c), below = subtree(c, place);
    if (place > 0)
        coll_recv(c, coll_around(c, c->rank, -(int64_t)below), own_blocks(c, place, below));
    for (uint32_t step = 1; step < below; step *= 2)
        if (place + step < c->size)
            coll_send(c, coll_around(c, c->rank, step), blocks_behind(c, place, step));
}

/* ---- bcast of long buffers: scattered, then gathered by all ---- */

/* The piece of each place; the last ones may have none. */
static int64_t piece(const struct coll *c)
{
    return (c->bytes + c->size - 1) / c->size;
}

static struct coll_part pieces(const struct coll *c, uint32_t place, uint32_t n)
{
    return coll_range(c, place * piece(c), ((int64_t)place + n) * piece(c));
}

static void scatter_pieces(struct coll *c, uint32_t place)
{
    uint32_t step = subtree(c, place);
    if (place > 0 && pieces(c, place, step).bytes > 0)
        coll_recv(c, coll_around(c, c->rank, -(int64_t)step), pieces(c, place, step));
    for (step /= 2; step > 0; step /= 2)
        if (place + step < c->size && pieces(c, place + step, step).bytes > 0)
            coll_send(c, coll_around(c, c->rank, step), pieces(c, place + step, step));
}

void coll_bcast_scatter_ring(struct coll *c)
{
    uint32_t place = coll_from_root(c);
    uint32_t next = coll_around(c, c->rank, 1), last = coll_around(c, c->rank, -1);
    scatter_pieces(c, place);
    for (uint32_t i = 0; i + 1 < c->size; i++) {
        uint32_t out = coll_around(c, place, -(int64_t)i);
        uint32_t in = coll_around(c, place, -1 - (int64_t)i);
        coll_sendrecv(c, next, pieces(c, out, 1), last, pieces(c, in, 1));
    }
}

void coll_bcast_scatter_doubling(struct coll *c)
{
    uint32_t place = coll_from_root(c);
    scatter_pieces(c, place);
    for (uint32_t n = 1; n < c->size; n *= 2) {
        uint32_t other = place ^ n, rank = coll_around(c, c->root, other);
        coll_sendrecv(c, rank, pieces(c, place & ~(n - 1), n), rank,
                      pieces(c, other & ~(n - 1), n));
    }
}

/* ---- Open MPI's trees ---- */

void coll_chain(const struct coll *c, struct coll_tree *tree)
{
    uint32_t place = coll_from_root(c);
    *tree = (struct coll_tree){.parent = coll_around(c, c->rank, -1), .is_root = place == 0};
    if (place + 1 < c->size)
        tree->children[tree->n++] = coll_around(c, c->rank, 1);
}

/* Level by level from left to right; the children of a place are one and two widths of its level
 * behind. */
void coll_binary(const struct coll *c, struct coll_tree *tree)
{
    uint32_t place = coll_from_root(c), width = coll_power_below(place + 1);
    uint32_t parent = place, above = width / 2;
    while (above > 0 && parent >= width - 1)
        parent -= above;
    *tree = (struct coll_tree){.parent = coll_around(c, c->root, parent), .is_root = place == 0};
    for (uint32_t i = 1; i <= 2; i++)
        if (place + i * width < c->size)
            tree->children[tree->n++] = coll_around(c, c->rank, i * width);
}

/* The high bit of a place is the way from its parent. */
void coll_binomial_high(const struct coll *c, struct coll_tree *tree)
{
    uint32_t place = coll_from_root(c), high = place > 0 ? coll_power_below(place) : 0;
    *tree = (struct coll_tree){.parent = coll_around(c, c->rank, -(int64_t)high),
                               .is_root = place == 0};
    for (uint32_t step = high > 0 ? 2 * high : 1; step < c->size; step *= 2)
        if (place + step < c->size)
            tree->children[tree->n++] = coll_around(c, c->rank, step);
}

void coll_binomial_low(const struct coll *c, struct coll_tree *tree)
{
    uint32_t place = coll_from_root(c), below = subtree(c, place);
    *tree = (struct coll_tree){.parent = coll_around(c, c->rank, place > 0 ? -(int64_t)below : 0),
                               .is_root = place == 0};
    for (uint32_t step = 1; step < below; step *= 2)
        if (place + step < c->size)
            tree->children[tree->n++] = coll_around(c, c->rank, step);
}

/* Digits of a place to the base of 4 are the way to its subtree. */
void coll_quaternomial(const struct coll *c, struct coll_tree *tree)
{
    uint32_t place = coll_from_root(c), step = 1;
    while (step < c->size && place % (4 * step) == 0)
        step *= 4;
    *tree = (struct coll_tree){
        .parent = coll_around(c, c->rank, -(int64_t)(step < c->size ? place % (4 * step) : 0)),
        .is_root = place == 0};
    for (step /= 4; step > 0; step /= 4)
        for (uint32_t i = 1; i < 4; i++)
            if (place + i * step < c->size)
                tree->children[tree->n++] = coll_around(c, c->rank, i * step);
}

void coll_bcast_tree(struct coll *c, const struct coll_tree *tree)
{
    uint32_t first = c->ops->requests;
    if (!tree->is_root)
        coll_irecv(c, tree->parent, coll_all(c));
    coll_wait_since(c, first);
    first = c->ops->requests;
    for (uint32_t i = 0; i < tree->n; i++)
        coll_isend(c, tree->children[i], coll_all(c));
    coll_wait_since(c, first);
}

/* The receive of the next child is posted before the one of the last is waited for. */
void coll_reduce_tree(struct coll *c, const struct coll_tree *tree)
{
    uint32_t first = c->ops->requests;
    for (uint32_t i = 0; i < tree->n; i++) {
        coll_irecv(c, tree->children[i], coll_all(c));
        if (i > 0)
            coll_wait(c, first + i - 1, 1);
    }
    if (tree->n > 0)
        coll_wait(c, first + tree->n - 1, 1);
    if (!tree->is_root)
        coll_send(c, tree->parent, coll_all(c));
}
