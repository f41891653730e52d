#include "simulate/collectives/coll_build.h"

/* ---- ranks reduced to a power of two ---- */

/* The greatest power of two of ranks take part in a step by step algorithm. Of the first
 * 2 * `over` ranks one of each pair acts for both: it takes the other one's data before, and hands
 * it its result behind. */
struct fold {
    uint32_t power, over;
    uint32_t act; /* which one of a pair: 0 the even one, 1 the odd one */
    bool takes_part;
    uint32_t place; /* among those that take part */
};

static struct fold fold_ranks(const struct coll *c, uint32_t act)
{
    struct fold fold = {.power = coll_power_below(c->size), .act = act};
    fold.over = c->size - fold.power;
    bool paired = c->rank < 2 * fold.over;
    fold.takes_part = !paired || c->rank % 2 == act;
    fold.place = paired ? c->rank / 2 : c->rank - fold.over;
    return fold;
}

static uint32_t rank_of_place(const struct fold *fold, uint32_t place)
{
    return place < fold->over ? 2 * place + fold->act : place + fold->over;
}

static void fold_in(struct coll *c, const struct fold *fold, struct coll_part part)
{
    if (c->rank >= 2 * fold->over)
        return;
    if (fold->takes_part)
        coll_recv(c, c->rank ^ 1, part);
    else
        coll_send(c, c->rank ^ 1, part);
}

static void fold_out(struct coll *c, const struct fold *fold, struct coll_part part)
{
    if (part.bytes == 0 || c->rank >= 2 * fold->over)
        return;
    if (fold->takes_part)
        coll_send(c, c->rank ^ 1, part);
    else
        coll_recv(c, c->rank ^ 1, part);
}

/* ---- reduce_scatter ---- */

void coll_reduce_scatter_linear(struct coll *c)
{
    const int64_t *sizes = c->action->receives;
    struct rfn_action reduce = {.kind = RFN_ACTION_REDUCE,
                                .bytes = coll_blocks(c, 0, c->size).bytes};
    struct rfn_action scatter = {
        .kind = RFN_ACTION_SCATTERV, .sends = sizes, .receive_bytes = sizes[c->rank]};
    struct coll first = coll_with(c, &reduce, COLL_TAG_REDUCE);
    coll_to_root(&first);
    struct coll second = coll_with(&first, &scatter, COLL_TAG_SCATTERV);
    coll_from_root_to_all(&second);
    c->error = second.error;
}

/* Blocks of the places from one to another: places of pairs have both ranks' blocks. */
static struct coll_part blocks_of_places(const struct coll *c, const struct fold *fold,
                                         uint32_t from, uint32_t to)
{
    uint32_t first = from < fold->over ? 2 * from : from + fold->over;
    uint32_t behind = to < fold->over ? 2 * to : to + fold->over;
    return coll_blocks(c, first, behind - first);
}

static void halve(struct coll *c, const struct fold *fold)
{
    uint32_t from = 0, to = fold->power; /* places whose blocks the rank still has */
    for (uint32_t half = fold->power / 2; half > 0; half /= 2) {
        uint32_t other = rank_of_place(fold, fold->place ^ half), middle = from + half;
        struct coll_part low = blocks_of_places(c, fold, from, middle);
        struct coll_part high = blocks_of_places(c, fold, middle, to);
        bool keeps_low = !(fold->place & half);
        struct coll_part keep = keeps_low ? low : high, give = keeps_low ? high : low;
        uint32_t first = c->ops->requests;
        if (keep.bytes > 0)
            coll_irecv(c, other, keep);
        if (give.bytes > 0)
            coll_send(c, other, give);
        coll_wait_since(c, first);
        from = keeps_low ? from : middle;
        to = keeps_low ? middle : to;
    }
}

void coll_reduce_scatter_halving(struct coll *c)
{
    struct fold fold = fold_ranks(c, 1);
    struct coll_part all = coll_blocks(c, 0, c->size);
    if (all.bytes == 0)
        return;
    fold_in(c, &fold, all);
    if (fold.takes_part)
        halve(c, &fold);
    fold_out(c, &fold, coll_blocks(c, c->rank & ~1u, 1));
}

/* Where the block of a rank goes around the ring: all send to the next rank what has come from the
 * last one, with their own added. The first block that a rank sends is `first`; it ends with the
 * one that is size - 1 before it. */
static void reduce_around(struct coll *c, uint32_t first,
                          struct coll_part (*part)(const struct coll *c, uint32_t block))
{
    uint32_t next = coll_around(c, c->rank, 1), last = coll_around(c, c->rank, -1);
    if (c->size < 2)
        return;
    uint32_t request = coll_irecv(c, last, part(c, coll_around(c, first, -1)));
    coll_send(c, next, part(c, first));
    for (uint32_t i = 2; i < c->size; i++) {
        uint32_t posted = coll_irecv(c, last, part(c, coll_around(c, first, -(int64_t)i)));
        coll_wait(c, request, 1);
        coll_send(c, next, part(c, coll_around(c, first, 1 - (int64_t)i)));
        request = posted;
    }
    coll_wait(c, request, 1);
}

static struct coll_part one_block(const struct coll *c, uint32_t block)
{
    return coll_blocks(c, block, 1);
}

void coll_reduce_scatter_ring(struct coll *c)
{
    reduce_around(c, coll_around(c, c->rank, -1), one_block);
}

/* ---- allreduce, reduce ---- */

void coll_allreduce_doubling(struct coll *c)
{
    struct fold fold = fold_ranks(c, 1);
    fold_in(c, &fold, coll_all(c));
    for (uint32_t step = 1; fold.takes_part && step < fold.power; step *= 2) {
        uint32_t other = rank_of_place(&fold, fold.place ^ step);
        coll_sendrecv(c, other, coll_all(c), other, coll_all(c));
    }
    fold_out(c, &fold, coll_all(c));
}

/* The buffer in size parts, of which the first have an element more. */
static struct coll_part even_part(const struct coll *c, uint32_t block)
{
    int64_t elements = c->bytes / c->element, each = elements / c->size, more = elements % c->size;
    int64_t from = block * each + (block < more ? block : more);
    int64_t to = from + each + (block < more ? 1 : 0);
    return coll_range(c, from * c->element, to * c->element);
}

void coll_allreduce_ring(struct coll *c)
{
    uint32_t next = coll_around(c, c->rank, 1), last = coll_around(c, c->rank, -1);
    reduce_around(c, c->rank, even_part);
    for (uint32_t i = 0; i + 1 < c->size; i++)
        coll_sendrecv(c, next, even_part(c, coll_around(c, c->rank, 1 - (int64_t)i)), last,
                      even_part(c, coll_around(c, c->rank, -(int64_t)i)));
}

/* Of the buffer in `power` pieces, what a place has after so many halvings. The last piece has
 * what is left over. */
static struct coll_part halved(const struct coll *c, const struct fold *fold, uint32_t place,
                               uint32_t halvings)
{
    int64_t each = c->bytes / c->element / fold->power * c->element;
    uint32_t from = 0, n = fold->power;
    for (uint32_t i = 0; i < halvings; i++) {
        n /= 2;
        from += place >> i & 1 ? n : 0;
    }
    bool ends = from + n == fold->power;
    return (struct coll_part){from * each, ends ? c->bytes - from * each : n * each};
}

static uint32_t steps_of(const struct fold *fold)
{
    uint32_t steps = 0;
    while (1u << steps < fold->power)
        steps++;
    return steps;
}

/* A rank gives half of what it has, and takes the same of what it keeps. */
static void halve_buffer(struct coll *c, const struct fold *fold)
{
    for (uint32_t i = 0; fold->takes_part && i < steps_of(fold); i++) {
        uint32_t place = fold->place ^ 1u << i, other = rank_of_place(fold, place);
        coll_sendrecv(c, other, halved(c, fold, place, i + 1), other,
                      halved(c, fold, fold->place, i + 1));
    }
}

void coll_allreduce_halving(struct coll *c)
{
    struct fold fold = fold_ranks(c, 1);
    uint32_t steps = fold.takes_part ? steps_of(&fold) : 0;
    fold_in(c, &fold, coll_all(c));
    halve_buffer(c, &fold);
    for (uint32_t i = steps; i-- > 0;) {
        uint32_t place = fold.place ^ 1u << i, other = rank_of_place(&fold, place);
        coll_sendrecv(c, other, halved(c, &fold, fold.place, i + 1), other,
                      halved(c, &fold, place, i + 1));
    }
    fold_out(c, &fold, coll_all(c));
}

/* The root's place. A root that handed its data over takes the place, and the piece, of rank 0. */
static uint32_t enter_root(struct coll *c, struct fold *fold)
{
    bool paired = c->root < 2 * fold->over;
    if (!paired || c->root % 2 == fold->act)
        return paired ? c->root / 2 : c->root - fold->over;
    struct coll_part piece = halved(c, fold, 0, steps_of(fold));
    if (c->rank == 0)
        coll_send(c, c->root, piece);
    if (c->rank == c->root) {
        coll_recv(c, 0, piece);
        fold->place = 0;
    }
    if (c->rank == 0 || c->rank == c->root)
        fold->takes_part = c->rank == c->root;
    return 0;
}

void coll_reduce_halving(struct coll *c)
{
    struct fold fold = fold_ranks(c, 0);
    fold_in(c, &fold, coll_all(c));
    halve_buffer(c, &fold);
    uint32_t root = enter_root(c, &fold);
    for (uint32_t i = steps_of(&fold); fold.takes_part && i-- > 0;) {
        uint32_t place = fold.place ^ 1u << i;
        uint32_t other = place == root ? c->root : rank_of_place(&fold, place);
        if (place >> i == root >> i) {
            coll_send(c, other, halved(c, &fold, fold.place, i + 1));
            return;
        }
        coll_recv(c, other, halved(c, &fold, place, i + 1));
    }
}
