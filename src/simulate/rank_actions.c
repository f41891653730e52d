/* rank_actions.c - what actions do, by the operations that they are made of. */
#include "base/grow.h"
#include "simulate/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURN = 256 /* actions at a time, so that no rank gets far ahead */ };

static const uint64_t CALL = (uint64_t)1 << 63; /* of requests: a pending call */

void rfn_rank_describe(const struct rfn_engine *engine, uint32_t rank, char *text, size_t size)
{
    const struct rfn_engine_rank *state = &engine->ranks[rank];
    const struct rfn_action *action = &state->action;
    char peer[64] = "";
    if (!state->acts) {
        snprintf(text, size, "rank %" PRIu32 " waits for requests at its end", rank);
        return;
    }
    if (action->kind == RFN_ACTION_SEND || action->kind == RFN_ACTION_SENDRECV)
        snprintf(peer, sizeof peer, " to %" PRId64 ", tag %" PRId64, action->peer, action->tag);
    else if (action->kind == RFN_ACTION_RECV || action->kind == RFN_ACTION_PROBE)
        snprintf(peer, sizeof peer, " from %" PRId64 ", tag %" PRId64, action->peer, action->tag);
    for (size_t i = 0; i < state->n_waits && action->kind == RFN_ACTION_WAIT; i++) {
        const struct rfn_message *message = &engine->messages.messages[state->waits[i] / 2];
        if (!message->known)
            snprintf(peer, sizeof peer, " for %s %" PRId64,
                     state->waits[i] % 2 ? "a message from" : "a receive of",
                     state->waits[i] % 2 ? message->channel.source
                                         : (int64_t)message->channel.target);
    }
    snprintf(text, size, "rank %" PRIu32 " in %s%s (%" PRIu64 ")", rank,
             rfn_action_name(action->kind), peer, action->event);
}

static int wrong(const struct rfn_engine *engine, uint32_t rank, int error, const char *why)
{
    char text[128];
    rfn_rank_describe(engine, rank, text, sizeof text);
    return rfn_fail(engine->diag, error, -1, (int)rank, "%s: %s", text, why);
}

/* ---- computing ---- */

static double flops_of(const struct rfn_engine *engine, const struct rfn_engine_rank *rank,
                       double volume)
{
    const double scale = engine->options->scale > 0 ? engine->options->scale : 1;
    return scale * volume *
           (engine->flops_per_unit > 0 ? engine->flops_per_unit : rank->speed * 1e-9);
}

/* What the volume is as the caller has it. */
static double weighted(const struct rfn_engine *engine, uint32_t rank,
                       const struct rfn_action *action)
{
    const struct rfn_simulate_options *options = engine->options;
    const double per_unit = engine->flops_per_unit > 0
                                ? engine->flops_per_unit / engine->ranks[rank].speed
                                : 1e-9; /* seconds */
    const double volume = options->seconds ? options->seconds(options->context, action) / per_unit
                                           : action->volume;
    return options->weight ? volume * options->weight(options->context, rank, action) : volume;
}

/* On a core of its own. */
static void compute_alone(struct rfn_engine *engine, uint32_t number, double volume)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const double seconds = flops_of(engine, rank, volume) / rank->speed;
    rank->clock += seconds;
    engine->simulated->ranks[number].compute += seconds;
}

static int compute(struct rfn_engine *engine, uint32_t number, double volume)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (rank->stage == RFN_WAITING) {
        rank->stage = RFN_FRESH;
        return 1;
    }
    if (!rank->crowded || !(volume > 0)) {
        compute_alone(engine, number, volume);
        return 1;
    }
    const int time = rfn_in_time(engine, number, false);
    if (time <= 0)
        return time;
    rank->stage = RFN_WAITING;
    rank->computes = true;
    rank->computes_from = rank->clock;
    return rfn_flow_compute(&engine->flows, number, rank->host, flops_of(engine, rank, volume),
                            engine->now);
}

int rfn_rank_computed(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    rank->computes = false;
    rank->clock = engine->now;
    engine->simulated->ranks[number].compute += rank->clock - rank->computes_from;
    return rfn_flow_end(&engine->flows, number);
}

static void do_sleep(struct rfn_engine *engine, uint32_t number, double seconds)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (seconds > 0 && seconds < engine->model.precision)
        seconds = engine->model.precision;
    rank->clock += seconds;
    engine->simulated->ranks[number].sleep += seconds;
}

/* ---- requests ---- */

/* A request without a number is over at the end of the rank. */
static int keep_request(struct rfn_engine_rank *rank, int64_t request, uint64_t value)
{
    static const uint64_t nameless = (uint64_t)1 << 62;
    if (request >= 0)
        return rfn_map_put(&rank->requests, (uint64_t)request, value);
    return rfn_map_put(&rank->requests, nameless + rank->nameless++, value);
}

/* Adds what a request stands for, and forgets it. */
static int add_request(struct rfn_engine *engine, uint32_t number, uint64_t request)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const uint64_t *value = rfn_map_get(&rank->requests, request);
    if (!value)
        return 0;
    const uint64_t what = *value;
    rfn_map_remove(&rank->requests, request);
    if (!(what & CALL))
        return rfn_wait_add(rank, what);
    struct rfn_pending_call *call = &engine->calls[what & ~CALL];
    for (size_t i = 0; i < call->n; i++)
        RFN_TRY(rfn_wait_add(rank, call->ends[i]));
    rank->behind += call->compute;
    RFN_TRY(RFN_GROW(engine->free_calls, engine->free_calls_capacity, engine->n_free_calls + 1));
    engine->free_calls[engine->n_free_calls++] = (uint32_t)(what & ~CALL);
    return 0;
}

/* Until the ends are over; then the rank computes what is behind them. */
static int wait_and_compute(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const int over = rfn_wait(engine, number);
    if (over > 0 && rank->behind > 0) {
        compute_alone(engine, number, rank->behind);
        rank->behind = 0;
    }
    return over;
}

static int wait_for(struct rfn_engine *engine, uint32_t number, const int64_t *requests, size_t n)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (rank->stage == RFN_FRESH) {
        for (size_t i = 0; i < n; i++)
            RFN_TRY(add_request(engine, number, (uint64_t)requests[i]));
        rank->stage = RFN_WAITING;
    }
    return wait_and_compute(engine, number);
}

static int add_all_requests(struct rfn_engine *engine, uint32_t number)
{
    const struct rfn_map *requests = &engine->ranks[number].requests;
    uint64_t *keys = malloc((requests->n + 1) * sizeof *keys);
    size_t n = 0;
    int error = keys ? 0 : RFN_E_NOMEM;
    for (uint64_t i = 0; keys && requests->slots && i <= requests->mask; i++) {
        if (requests->slots[i].used)
            keys[n++] = requests->slots[i].key;
    }
    for (size_t i = 0; i < n && !error; i++)
        error = add_request(engine, number, keys[i]);
    free(keys);
    return error;
}

/* What no action waited for. */
static int wait_for_rest(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (rank->stage == RFN_FRESH)
        RFN_TRY(add_all_requests(engine, number));
    rank->stage = RFN_WAITING;
    return wait_and_compute(engine, number);
}

static int test(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    bool over = false;
    if (!rank->action.n_requests)
        return 1;
    const uint64_t request = (uint64_t)rank->action.requests[0];
    const uint64_t *value = rfn_map_get(&rank->requests, request);
    if (!value || *value & CALL)
        return 1;
    const int done = rfn_transfer_test(engine, number, *value, &over);
    if (done > 0 && over)
        rfn_map_remove(&rank->requests, request);
    return done;
}

/* ---- messages ---- */

static int check_peer(const struct rfn_engine *engine, uint32_t rank, int64_t peer, bool any)
{
    if ((peer >= 0 && peer < engine->n_ranks) || (any && peer == RFN_ANY_SOURCE))
        return 0;
    return wrong(engine, rank, RFN_E_CORRUPT, "there is no such rank");
}

static int send(struct rfn_engine *engine, uint32_t number, bool blocks)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const struct rfn_action *action = &rank->action;
    const struct rfn_transfer transfer = {action->peer,  action->tag, action->comm,
                                          action->bytes, blocks,      action->synchronous};
    rfn_end end;
    RFN_TRY(check_peer(engine, number, action->peer, false));
    const int done = rfn_transfer_send(engine, number, &transfer, &end);
    if (done > 0 && !blocks && end != RFN_NO_END)
        RFN_TRY(keep_request(rank, action->request, end));
    return done;
}

/* A receive of unknown size looks for its message first. */
static int receive(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    struct rfn_action *action = &rank->action;
    const struct rfn_transfer transfer = {action->peer,  action->tag,    action->comm,
                                          action->bytes, action->blocks, false};
    rfn_end end;
    RFN_TRY(check_peer(engine, number, action->peer, true));
    if (action->bytes < 0) {
        const int found = rfn_transfer_probe(engine, number, &transfer, &action->bytes);
        return found <= 0 ? found : receive(engine, number);
    }
    const int done = rfn_transfer_receive(engine, number, &transfer, &end);
    if (done > 0 && !action->blocks)
        RFN_TRY(keep_request(rank, action->request, end));
    return done;
}

static int probe(struct rfn_engine *engine, uint32_t number)
{
    const struct rfn_action *action = &engine->ranks[number].action;
    const struct rfn_transfer transfer = {
        .peer = action->peer, .tag = action->tag, .comm = action->comm};
    int64_t bytes;
    RFN_TRY(check_peer(engine, number, action->peer, true));
    return rfn_transfer_probe(engine, number, &transfer, &bytes);
}

/* To itself a rank copies. */
static int send_and_receive(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const struct rfn_action *action = &rank->action;
    const struct rfn_transfer sent = {action->peer, action->tag, action->comm, action->bytes, 0, 0};
    const struct rfn_transfer received = {
        action->receive_peer, action->receive_tag, action->comm, action->receive_bytes, 0, 0};
    rfn_end end;
    RFN_TRY(check_peer(engine, number, action->peer, false));
    RFN_TRY(check_peer(engine, number, action->receive_peer, true));
    if (action->peer == number && action->receive_peer == number)
        return 1;
    while (rank->part < 2) {
        const int done = rank->part ? rfn_transfer_receive(engine, number, &received, &end)
                                    : rfn_transfer_send(engine, number, &sent, &end);
        if (done <= 0)
            return done;
        if (end != RFN_NO_END)
            RFN_TRY(rfn_wait_add(rank, end));
        rank->part++;
    }
    return rfn_wait(engine, number);
}

/* ---- collective calls ---- */

/* The communicator's members, NULL: all ranks; the rank's place among them is *place. */
static int find_group(struct rfn_engine *engine, uint32_t number, const int64_t **members,
                      uint32_t *size, uint32_t *place)
{
    const uint32_t comm = engine->ranks[number].action.comm;
    *size = engine->n_ranks;
    *place = number;
    *members = comm ? rfn_actions_comm(engine->actions, comm, size) : NULL;
    if (!comm)
        return 0;
    if (!*members)
        return wrong(engine, number, RFN_E_CORRUPT, "its communicator is not known");
    *place = UINT32_MAX;
    for (uint32_t i = 0; i < *size; i++) {
        RFN_TRY(check_peer(engine, number, (*members)[i], false));
        if ((*members)[i] == number)
            *place = i;
    }
    return *place < UINT32_MAX
               ? 0
               : wrong(engine, number, RFN_E_CORRUPT, "the rank is not in its communicator");
}

/* Its operations, with peers by their rank in MPI_COMM_WORLD. */
static int expand(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const int64_t *members;
    uint32_t size, place;
    RFN_TRY(find_group(engine, number, &members, &size, &place));
    rank->ops.n = 0;
    const int error = rfn_collective_ops(engine->collectives, &rank->action, size, place,
                                         &rank->ops);
    if (error == RFN_E_NOMEM)
        return error;
    if (error)
        return wrong(engine, number, RFN_E_CORRUPT, "its root or its sizes make no sense");
    for (size_t i = 0; members && i < rank->ops.n; i++) {
        struct rfn_coll_op *op = &rank->ops.ops[i];
        if (op->kind <= RFN_COLL_IRECV && op->peer != RFN_COLL_ANY)
            op->peer = (uint32_t)members[op->peer];
    }
    rank->n_ends = 0;
    return 0;
}

static int keep_end(struct rfn_engine_rank *rank, rfn_end end)
{
    RFN_TRY(RFN_GROW(rank->ends, rank->ends_capacity, rank->n_ends + 1));
    rank->ends[rank->n_ends++] = end;
    return 0;
}

static int do_transfer(struct rfn_engine *engine, uint32_t number, const struct rfn_coll_op *op)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const bool blocks = op->kind == RFN_COLL_SEND || op->kind == RFN_COLL_RECV;
    const bool sends = op->kind == RFN_COLL_SEND || op->kind == RFN_COLL_ISEND;
    const struct rfn_transfer transfer = {op->peer == RFN_COLL_ANY ? (int64_t)RFN_ANY_SOURCE
                                                                   : (int64_t)op->peer,
                                          op->tag,
                                          rank->action.comm,
                                          op->bytes,
                                          blocks,
                                          false};
    rfn_end end;
    const int done = sends ? rfn_transfer_send(engine, number, &transfer, &end)
                           : rfn_transfer_receive(engine, number, &transfer, &end);
    return done > 0 && !blocks ? (keep_end(rank, end) ? RFN_E_NOMEM : 1) : done;
}

static int wait_for_ends(struct rfn_engine *engine, uint32_t number, uint64_t first, uint32_t n)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (rank->stage == RFN_FRESH) {
        for (uint64_t i = first; i < first + n && i < rank->n_ends; i++) {
            if (rank->ends[i] != RFN_NO_END)
                RFN_TRY(rfn_wait_add(rank, rank->ends[i]));
        }
        rank->stage = RFN_WAITING;
    }
    return rfn_wait(engine, number);
}

static int do_op(struct rfn_engine *engine, uint32_t number, const struct rfn_coll_op *op)
{
    switch (op->kind) {
    case RFN_COLL_WAIT:
        return wait_for_ends(engine, number, op->first, op->n);
    case RFN_COLL_COMPUTE:
        return compute(engine, number, op->volume);
    default:
        return do_transfer(engine, number, op);
    }
}

static int64_t new_call(struct rfn_engine *engine)
{
    if (engine->n_free_calls)
        return engine->free_calls[--engine->n_free_calls];
    RFN_TRY(RFN_GROW_ZEROED(engine->calls, engine->calls_capacity, engine->n_calls + 1));
    return (int64_t)engine->n_calls++;
}

/* What is behind the posts of a call that does not block belongs to its request. */
static int leave_pending(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const int64_t at = new_call(engine);
    if (at < 0)
        return (int)at;
    struct rfn_pending_call *call = &engine->calls[at];
    call->n = 0;
    call->compute = 0;
    for (size_t i = 0; i < rank->n_ends; i++) {
        if (rank->ends[i] == RFN_NO_END)
            continue;
        RFN_TRY(RFN_GROW(call->ends, call->capacity, call->n + 1));
        call->ends[call->n++] = rank->ends[i];
    }
    for (; rank->part <= rank->ops.n; rank->part++) {
        const struct rfn_coll_op *op = &rank->ops.ops[rank->part - 1];
        call->compute += op->kind == RFN_COLL_COMPUTE ? op->volume : 0;
    }
    RFN_TRY(keep_request(rank, rank->action.request, CALL | (uint64_t)at));
    return 1;
}

static int collective(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (!rank->part) {
        RFN_TRY(expand(engine, number));
        rank->part = 1;
    }
    while (rank->part <= rank->ops.n) {
        const struct rfn_coll_op *op = &rank->ops.ops[rank->part - 1];
        if (!rank->action.blocks && op->kind >= RFN_COLL_WAIT)
            return leave_pending(engine, number);
        const int done = do_op(engine, number, op);
        if (done <= 0)
            return done;
        rank->part++;
    }
    return 1;
}

/* ---- an action ---- */

static int act(struct rfn_engine *engine, uint32_t number)
{
    const struct rfn_action *action = &engine->ranks[number].action;
    switch (action->kind) {
    case RFN_ACTION_INIT:
    case RFN_ACTION_FINALIZE:
        return 1;
    case RFN_ACTION_COMPUTE:
        return compute(engine, number, weighted(engine, number, action));
    case RFN_ACTION_SLEEP:
        do_sleep(engine, number, action->seconds);
        return 1;
    case RFN_ACTION_SEND:
        return send(engine, number, action->blocks);
    case RFN_ACTION_RECV:
        return receive(engine, number);
    case RFN_ACTION_PROBE:
        return probe(engine, number);
    case RFN_ACTION_TEST:
        return test(engine, number);
    case RFN_ACTION_WAIT:
        return wait_for(engine, number, action->requests, action->n_requests);
    case RFN_ACTION_SENDRECV:
        return send_and_receive(engine, number);
    default:
        return collective(engine, number);
    }
}

static int leave(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    struct rfn_simulated_rank *result = &engine->simulated->ranks[number];
    rank->acts = false;
    result->actions++;
    if (rank->action.kind != RFN_ACTION_COMPUTE && rank->action.kind != RFN_ACTION_SLEEP)
        result->messages += rank->clock - rank->enter - (result->compute - rank->compute_before);
    return engine->options->left ? engine->options->left(engine->options->context, number,
                                                         &rank->action, rank->enter, rank->clock)
                                 : 0;
}

/* 1: there is an action; 0: the rank waits, or is done. */
static int next_action(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const int more = rfn_actions_next(engine->actions, number, &rank->action);
    if (more > 0) {
        rank->enter = rank->clock;
        rank->compute_before = engine->simulated->ranks[number].compute;
        rank->acts = true;
        rank->part = 0;
        return 1;
    }
    if (more < 0)
        return more;
    const int over = wait_for_rest(engine, number);
    if (over > 0)
        rank->done = true;
    return over < 0 ? over : 0;
}

int rfn_rank_run(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    for (int i = 0; i < TURN && !rank->done; i++) {
        if (!rank->acts) {
            const int more = next_action(engine, number);
            if (more <= 0)
                return more;
        }
        const int over = act(engine, number);
        if (over <= 0)
            return over;
        RFN_TRY(leave(engine, number));
    }
    rfn_rank_ready(engine, number);
    return 0;
}
