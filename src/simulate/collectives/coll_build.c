#include "simulate/collectives/coll_build.h"

#include "base/grow.h"

static void add(struct coll *c, struct rfn_coll_op op)
{
    struct rfn_coll_ops *ops = c->ops;
    if (!c->error)
        c->error = RFN_GROW(ops->ops, ops->capacity, ops->n + 1);
    if (!c->error)
        ops->ops[ops->n++] = op;
}

static void add_message(struct coll *c, enum rfn_coll_kind kind, uint32_t peer,
                        struct coll_part part)
{
    add(c, (struct rfn_coll_op){
               .kind = kind, .tag = c->tag, .peer = peer, .bytes = part.bytes, .at = part.at});
}

void coll_send(struct coll *c, uint32_t to, struct coll_part part)
{
    add_message(c, RFN_COLL_SEND, to, part);
}

void coll_recv(struct coll *c, uint32_t from, struct coll_part part)
{
    add_message(c, RFN_COLL_RECV, from, part);
}

uint32_t coll_isend(struct coll *c, uint32_t to, struct coll_part part)
{
    add_message(c, RFN_COLL_ISEND, to, part);
    return c->ops->requests++;
}

uint32_t coll_irecv(struct coll *c, uint32_t from, struct coll_part part)
{
    add_message(c, RFN_COLL_IRECV, from, part);
    return c->ops->requests++;
}

void coll_wait(struct coll *c, uint32_t first, uint32_t n)
{
    if (n > 0)
        add(c, (struct rfn_coll_op){.kind = RFN_COLL_WAIT, .n = n, .first = first});
}

void coll_wait_since(struct coll *c, uint32_t first)
{
    coll_wait(c, first, c->ops->requests - first);
}

void coll_sendrecv(struct coll *c, uint32_t to, struct coll_part out, uint32_t from,
                   struct coll_part in)
{
    if (to == c->rank && from == c->rank)
        return;
    uint32_t first = coll_isend(c, to, out);
    coll_irecv(c, from, in);
    coll_wait(c, first, 2);
}

void coll_compute(struct coll *c, double volume)
{
    if (volume > 0)
        add(c, (struct rfn_coll_op){.kind = RFN_COLL_COMPUTE, .volume = volume});
}

uint32_t coll_power_below(uint32_t n)
{
    uint32_t power = 1;
    while (power <= n / 2)
        power *= 2;
    return power;
}

bool coll_is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

uint32_t coll_around(const struct coll *c, uint32_t rank, int64_t by)
{
    int64_t size = c->size, to = ((int64_t)rank + by) % size;
    return (uint32_t)(to < 0 ? to + size : to);
}

uint32_t coll_from_root(const struct coll *c)
{
    return coll_around(c, c->rank, -(int64_t)c->root);
}

struct coll_part coll_blocks(const struct coll *c, uint32_t first, uint32_t n)
{
    int64_t bytes = c->sizes ? 0 : n * c->bytes;
    for (uint32_t i = 0; c->sizes && i < n; i++)
        bytes += c->sizes[coll_around(c, first, i)];
    return (struct coll_part){first, bytes};
}

struct coll_part coll_all(const struct coll *c)
{
    return (struct coll_part){0, c->bytes};
}

struct coll_part coll_range(const struct coll *c, int64_t from, int64_t to)
{
    from = from < c->bytes ? from : c->bytes;
    to = to < c->bytes ? to : c->bytes;
    return (struct coll_part){from, to > from ? to - from : 0};
}

struct coll coll_with(const struct coll *c, const struct rfn_action *action, int32_t tag)
{
    struct coll with = *c;
    with.action = action;
    with.tag = tag;
    with.bytes = action->bytes;
    with.sizes = NULL;
    return with;
}

void coll_by_rules(struct coll *c, const struct coll_rule *rules, int64_t bytes)
{
    while (c->size >= rules->size || bytes >= rules->bytes)
        rules++;
    rules->algorithm(c);
}
