#include "convert/text/ti_expand.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_expansion_release(struct rfn_expansion *expansion)
{
    free(expansion->actions);
    free(expansion->requests);
    free(expansion->world);
}

/* ---- tags ---- */

enum {
    OWN_TAG = 1 << 30, /* from here on, of messages that make up collective calls */
    COLLECTIVE_TAG = OWN_TAG + (1 << 29),
    NEIGHBOR_TAG = OWN_TAG + (1 << 28),
    COMM_TAG = 1 << 29,
    TAG_BITS = 16,
    COMMS = 1 << 13 /* that have a part of the tags each */
};

int64_t rfn_text_tag(uint32_t comm, int64_t tag)
{
    if (comm && tag == OWN_TAG)
        return NEIGHBOR_TAG + (comm & (COMMS - 1));
    if (!comm || comm >= COMMS || tag < 0 || tag >= 1 << TAG_BITS)
        return tag;
    return COMM_TAG + (int64_t)((uint64_t)comm << TAG_BITS) + tag;
}

/* ---- steps ---- */

static int add(struct rfn_expansion *to, const struct rfn_action *action)
{
    RFN_TRY(RFN_GROW(to->actions, to->capacity, to->n + 1));
    to->actions[to->n++] = *action;
    return 0;
}

static int add_message(struct rfn_expansion *to, enum rfn_action_kind kind, uint32_t with,
                       int64_t bytes, bool blocks)
{
    const struct rfn_action action = {.kind = kind,
                                      .blocks = blocks,
                                      .peer = to->members[with],
                                      .tag = to->tag,
                                      .bytes = bytes,
                                      .type_bytes = 1,
                                      .request = blocks ? -1 : to->next_request++};
    return add(to, &action);
}

static int send(struct rfn_expansion *to, uint32_t with, int64_t bytes)
{
    return add_message(to, RFN_ACTION_SEND, with, bytes, true);
}

static int receive(struct rfn_expansion *to, uint32_t with, int64_t bytes)
{
    return add_message(to, RFN_ACTION_RECV, with, bytes, true);
}

static int post_send(struct rfn_expansion *to, uint32_t with, int64_t bytes)
{
    return add_message(to, RFN_ACTION_SEND, with, bytes, false);
}

static int post_receive(struct rfn_expansion *to, uint32_t with, int64_t bytes)
{
    return add_message(to, RFN_ACTION_RECV, with, bytes, false);
}

/* A wait for the requests from `first` on. */
static int wait(struct rfn_expansion *to, int64_t first)
{
    const size_t n = (size_t)(to->next_request - first);
    const struct rfn_action action = {
        .kind = RFN_ACTION_WAIT, .blocks = true, .type_bytes = 1, .request = -1, .n_requests = n};
    RFN_TRY(RFN_GROW(to->requests, to->requests_capacity, to->n_requests + n));
    for (size_t i = 0; i < n; i++)
        to->requests[to->n_requests++] = first + (int64_t)i;
    return n ? add(to, &action) : 0;
}

static int compute(struct rfn_expansion *to, double volume)
{
    const struct rfn_action action = {
        .kind = RFN_ACTION_COMPUTE, .volume = volume, .type_bytes = 1, .request = -1};
    return volume > 0 ? add(to, &action) : 0;
}

/* ---- calls that block ---- */

static int barrier(struct rfn_expansion *to)
{
    for (uint32_t far = 1; far < to->size; far *= 2) {
        const int64_t first = to->next_request;
        RFN_TRY(post_receive(to, (to->own + to->size - far) % to->size, 0));
        RFN_TRY(post_send(to, (to->own + far) % to->size, 0));
        RFN_TRY(wait(to, first));
    }
    return 0;
}

/* Ranks are counted from the root on. */
static uint32_t turned(const struct rfn_expansion *to, uint32_t root, uint32_t rank)
{
    return (rank + root) % to->size;
}

static int bcast(struct rfn_expansion *to, uint32_t root, int64_t bytes)
{
    const uint32_t own = (to->own + to->size - root) % to->size;
    uint64_t mask = 1;
    while (mask < to->size && !(own & mask))
        mask *= 2;
    if (mask < to->size)
        RFN_TRY(receive(to, turned(to, root, own - (uint32_t)mask), bytes));
    for (mask /= 2; mask; mask /= 2) {
        if (own + mask < to->size)
            RFN_TRY(send(to, turned(to, root, own + (uint32_t)mask), bytes));
    }
    return 0;
}

static int reduce(struct rfn_expansion *to, uint32_t root, int64_t bytes)
{
    const uint32_t own = (to->own + to->size - root) % to->size;
    for (uint64_t mask = 1; mask < to->size; mask *= 2) {
        if (own & mask)
            return send(to, turned(to, root, own - (uint32_t)mask), bytes);
        if (own + mask < to->size)
            RFN_TRY(receive(to, turned(to, root, own + (uint32_t)mask), bytes));
    }
    return 0;
}

static int chain(struct rfn_expansion *to, int64_t bytes)
{
    if (to->own)
        RFN_TRY(receive(to, to->own - 1, bytes));
    return to->own + 1 < to->size ? send(to, to->own + 1, bytes) : 0;
}

/* ---- linear: also of calls with a request ---- */

static int64_t size_at(const int64_t *sizes, uint32_t i, int64_t otherwise)
{
    return sizes ? sizes[i] : otherwise;
}

/* Receives from all others, or from those below. */
static int receive_all(struct rfn_expansion *to, const int64_t *sizes, int64_t bytes, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++) {
        if (i != to->own)
            RFN_TRY(post_receive(to, i, size_at(sizes, i, bytes)));
    }
    return 0;
}

static int send_all(struct rfn_expansion *to, const int64_t *sizes, int64_t bytes, uint32_t begin)
{
    for (uint32_t i = begin; i < to->size; i++) {
        if (i != to->own)
            RFN_TRY(post_send(to, i, size_at(sizes, i, bytes)));
    }
    return 0;
}

static int exchange(struct rfn_expansion *to, const int64_t *sends, int64_t bytes,
                    const int64_t *receives, int64_t receive_bytes)
{
    RFN_TRY(receive_all(to, receives, receive_bytes, to->size));
    return send_all(to, sends, bytes, 0);
}

static int from_root(struct rfn_expansion *to, uint32_t root, const int64_t *sizes, int64_t bytes,
                     int64_t own_bytes)
{
    return to->own == root ? send_all(to, sizes, bytes, 0) : post_receive(to, root, own_bytes);
}

static int to_root(struct rfn_expansion *to, uint32_t root, const int64_t *sizes, int64_t bytes,
                   int64_t own_bytes)
{
    return to->own == root ? receive_all(to, sizes, bytes, to->size)
                           : post_send(to, root, own_bytes);
}

static int linear(struct rfn_expansion *to, const struct rfn_action *action)
{
    const uint32_t root = (uint32_t)action->root;
    const int64_t bytes = action->bytes, receive_bytes = action->receive_bytes;
    switch (action->kind) {
    case RFN_ACTION_BCAST:
        return from_root(to, root, NULL, bytes, bytes);
    case RFN_ACTION_REDUCE:
        return to_root(to, root, NULL, bytes, bytes);
    case RFN_ACTION_SCATTER:
        return from_root(to, root, NULL, bytes, receive_bytes);
    case RFN_ACTION_SCATTERV:
        return from_root(to, root, action->sends, 0, receive_bytes);
    case RFN_ACTION_GATHER:
        return to_root(to, root, NULL, receive_bytes, bytes);
    case RFN_ACTION_GATHERV:
        return to_root(to, root, action->receives, 0, bytes);
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        RFN_TRY(receive_all(to, NULL, bytes, to->own));
        return send_all(to, NULL, bytes, to->own + 1);
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLTOALL:
        return exchange(to, NULL, bytes, NULL, receive_bytes);
    case RFN_ACTION_ALLGATHERV:
        return exchange(to, NULL, bytes, action->receives, 0);
    case RFN_ACTION_ALLTOALLV:
        return exchange(to, action->sends, 0, action->receives, 0);
    case RFN_ACTION_REDUCE_SCATTER:
        return exchange(to, action->receives, 0, NULL, action->receives[to->own]);
    default: /* barrier, allreduce */
        return exchange(to, NULL, bytes, NULL, bytes);
    }
}

static int64_t sum_of(const int64_t *sizes, uint32_t n)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += sizes[i] > INT64_MAX - sum ? 0 : sizes[i];
    return sum;
}

static int blocking(struct rfn_expansion *to, const struct rfn_action *action)
{
    const int64_t first = to->next_request;
    switch (action->kind) {
    case RFN_ACTION_BARRIER:
        return barrier(to);
    case RFN_ACTION_BCAST:
        return bcast(to, (uint32_t)action->root, action->bytes);
    case RFN_ACTION_REDUCE:
        return reduce(to, (uint32_t)action->root, action->bytes);
    case RFN_ACTION_ALLREDUCE:
        RFN_TRY(reduce(to, 0, action->bytes));
        return bcast(to, 0, action->bytes);
    case RFN_ACTION_SCAN:
    case RFN_ACTION_EXSCAN:
        return chain(to, action->bytes);
    case RFN_ACTION_REDUCE_SCATTER:
        RFN_TRY(reduce(to, 0, sum_of(action->receives, to->size)));
        RFN_TRY(from_root(to, 0, action->receives, 0, action->receives[to->own]));
        return wait(to, first);
    default:
        RFN_TRY(linear(to, action));
        return wait(to, first);
    }
}

/* Lists have stopped growing. */
static void point_at_requests(struct rfn_expansion *expansion)
{
    const int64_t *at = expansion->requests;
    for (size_t i = 0; i < expansion->n; i++) {
        expansion->actions[i].requests = at;
        if (expansion->actions[i].kind == RFN_ACTION_WAIT)
            at += expansion->actions[i].n_requests;
    }
}

int rfn_expand(struct rfn_expansion *expansion, const struct rfn_action *action,
               const int64_t *members, uint32_t size, uint32_t rank)
{
    expansion->n = expansion->n_requests = 0;
    expansion->members = members;
    expansion->size = size;
    expansion->own = 0;
    while (expansion->own < size && members[expansion->own] != rank)
        expansion->own++;
    if (expansion->own == size)
        return RFN_E_UNSUPPORTED;
    RFN_TRY(action->blocks ? blocking(expansion, action) : linear(expansion, action));
    RFN_TRY(compute(expansion, action->volume));
    point_at_requests(expansion);
    return 0;
}

/* ---- calls of a source ---- */

/* Ranks of MPI_COMM_WORLD; NULL: out of memory. */
static const int64_t *world_members(struct rfn_expansion *expansion, uint32_t n)
{
    if (expansion->world)
        return expansion->world;
    expansion->world = malloc(((size_t)n + 1) * sizeof *expansion->world);
    for (uint32_t i = 0; expansion->world && i < n; i++)
        expansion->world[i] = i;
    return expansion->world;
}

static int cannot(const char **fault, const char *why)
{
    *fault = why;
    return RFN_E_UNSUPPORTED;
}

int rfn_expand_call(struct rfn_expansion *expansion, const struct rfn_actions *actions,
                    const struct rfn_action *action, uint32_t rank, const char **fault)
{
    uint32_t n = rfn_actions_ranks(actions);
    const int64_t *members = action->comm ? rfn_actions_comm(actions, action->comm, &n)
                                          : world_members(expansion, n);
    if (!members)
        return action->comm
                   ? cannot(fault, "is a call on a communicator whose members are not known")
                   : RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        if (members[i] < 0)
            return cannot(fault, "is a call with processes that are not in MPI_COMM_WORLD");
    }
    expansion->tag = COLLECTIVE_TAG + (action->comm & (COMMS - 1));
    const int error = rfn_expand(expansion, action, members, n, rank);
    return error == RFN_E_UNSUPPORTED
               ? cannot(fault, "is a call on a communicator that the rank is not in")
               : error;
}

void rfn_expand_sendrecv(const struct rfn_action *action, int64_t request,
                         struct rfn_action parts[2])
{
    parts[0] = parts[1] = *action;
    parts[0].kind = RFN_ACTION_RECV;
    parts[0].peer = action->receive_peer;
    parts[0].tag = action->receive_tag;
    parts[0].bytes = action->receive_bytes;
    parts[1].kind = RFN_ACTION_SEND;
    for (int i = 0; i < 2; i++) {
        parts[i].blocks = false;
        parts[i].request = request + i;
    }
}
