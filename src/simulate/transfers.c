/* transfers.c - sends, receives and what waits for them. */
#include "base/grow.h"
#include "simulate/engine.h"

#include <math.h>
#include <stdlib.h>

enum { LOOKS = 256 /* that fail before it is checked whether they can succeed */ };

static struct rfn_message *message_at(struct rfn_engine *engine, uint64_t number)
{
    return &engine->messages.messages[number];
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

int rfn_in_time(struct rfn_engine *engine, uint32_t rank, bool matters)
{
    const double clock = engine->ranks[rank].clock;
    if (clock <= engine->now || !(engine->ordered || matters))
        return 1;
    RFN_TRY(rfn_event_set(&engine->heap, rank, clock));
    return 0;
}

/* SimGrid's sleeps have a least length. */
static void sleep_for(const struct rfn_engine *engine, struct rfn_engine_rank *rank, double seconds)
{
    if (seconds > 0)
        rank->clock += most(seconds, engine->model.precision);
}

/* ---- the transfer ---- */

static void tell_known(struct rfn_engine *engine, uint32_t of)
{
    struct rfn_engine_rank *rank = &engine->ranks[of];
    if (--rank->unknown == 0)
        rfn_rank_ready(engine, of);
}

static void end_known(struct rfn_engine *engine, struct rfn_message *message, double end)
{
    message->known = true;
    message->end = end;
    if (message->receiver_waits)
        tell_known(engine, message->channel.target);
    if (message->sender_waits)
        tell_known(engine, (uint32_t)message->channel.source);
}

static int64_t way_of(struct rfn_engine *engine, const struct rfn_message *message)
{
    const uint32_t from = engine->ranks[message->channel.source].host;
    return rfn_way_between(&engine->ways, from, engine->ranks[message->channel.target].host);
}

/* By how much a message of so many bytes differs from the platform's. */
static struct rfn_scaled_messages scaled_by(const struct rfn_engine *engine, int64_t bytes)
{
    const struct rfn_scaled_network *scaled = engine->options->scaled;
    struct rfn_scaled_messages cost = {bytes, bytes, 1, 1};
    for (size_t i = 0; scaled && i < scaled->n_messages; i++) {
        const struct rfn_scaled_messages *messages = &scaled->messages[i];
        if (bytes < messages->least || bytes > messages->most)
            continue;
        cost.latency *= messages->latency;
        cost.transfer *= messages->transfer;
    }
    return cost;
}

/* The message sets off. */
static int begin(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_message *message = message_at(engine, number);
    const double size = (double)message->bytes + RFN_ENVELOPE_BYTES;
    const int64_t at = way_of(engine, message);
    if (at < 0)
        return (int)at;
    struct rfn_way *way = &engine->ways.ways[at];
    const struct rfn_scaled_messages scaled = scaled_by(engine, message->bytes);
    const double latency = way->latency * rfn_factor_at(&engine->model.latency, size) *
                           scaled.latency;
    way->bytes += size;
    engine->simulated->messages++;
    message->begun = true;
    message->start = message->eager ? message->sent : most(message->sent, message->posted);
    if (engine->ordered)
        return rfn_event_set(&engine->heap, engine->n_ranks + number, message->start + latency);
    const double rate = way->alone * rfn_factor_at(&engine->model.bandwidth, size);
    end_known(engine, message,
              message->start + latency + (rate > 0 ? size * scaled.transfer / rate : 0));
    return 0;
}

static int set_off(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_message *message = message_at(engine, number);
    const double size = (double)message->bytes + RFN_ENVELOPE_BYTES;
    const int64_t at = way_of(engine, message);
    if (at < 0)
        return (int)at;
    message->flows = true;
    return rfn_flow_start(&engine->flows, engine->n_ranks + number, &engine->ways.ways[at],
                          size * scaled_by(engine, message->bytes).transfer,
                          rfn_factor_at(&engine->model.bandwidth, size), engine->now);
}

/* ---- who gets which message ---- */

/* Of two ends that were posted apart, and are two messages: each becomes its own end. */
static int join_apart(struct rfn_engine *engine, uint32_t send, uint32_t receive)
{
    struct rfn_message *message = message_at(engine, send), *other = message_at(engine, receive);
    rfn_event_drop(&engine->heap, engine->n_ranks + send);
    rfn_message_leave(&engine->messages, send);
    rfn_message_leave(&engine->messages, receive);
    message->has_receive = other->has_send = true;
    message->posted = other->posted;
    message->receiver_done = true;
    other->sender_done = true;
    other->sent = message->sent;
    other->bytes = message->bytes;
    other->detached = message->detached;
    other->channel = message->channel;
    if (!message->begun)
        RFN_TRY(begin(engine, send));
    other->start = message->start;
    end_known(engine, other, message->end);
    if (message->sender_done)
        rfn_message_free(&engine->messages, send);
    return 0;
}

/* The receive that gets a send of this channel: the first one that was posted. */
static uint32_t taker(const struct rfn_engine *engine, const struct rfn_channel *channel)
{
    const struct rfn_message_queues *messages = &engine->messages;
    const uint32_t named = rfn_message_first(messages, channel, false);
    const uint32_t any = rfn_message_wildcard(messages, channel);
    if (named == RFN_NO_MESSAGE || any == RFN_NO_MESSAGE)
        return named == RFN_NO_MESSAGE ? any : named;
    return messages->messages[named].order < messages->messages[any].order ? named : any;
}

/* No wildcard is left: other receives get what had to wait for its time. */
static int match_rest(struct rfn_engine *engine, uint32_t rank)
{
    uint32_t next = engine->messages.mailboxes[rank].sends.first;
    while (next != RFN_NO_MESSAGE) {
        const uint32_t send = next;
        next = message_at(engine, send)->listed;
        const uint32_t receive = rfn_message_first(&engine->messages,
                                                   &message_at(engine, send)->channel, false);
        if (receive != RFN_NO_MESSAGE)
            RFN_TRY(join_apart(engine, send, receive));
    }
    return 0;
}

/* A message comes to a rank with wildcards, at its time. */
static int arrive(struct rfn_engine *engine, uint32_t number)
{
    const uint32_t target = message_at(engine, number)->channel.target;
    const uint32_t receive = taker(engine, &message_at(engine, number)->channel);
    if (receive == RFN_NO_MESSAGE)
        return 0;
    RFN_TRY(join_apart(engine, number, receive));
    return engine->messages.mailboxes[target].n_wildcards ? 0 : match_rest(engine, target);
}

int rfn_message_event(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_message *message = message_at(engine, number);
    if (!engine->ordered)
        return arrive(engine, number);
    if (!message->flows)
        return set_off(engine, number);
    RFN_TRY(rfn_flow_end(&engine->flows, engine->n_ranks + number));
    end_known(engine, message, engine->now);
    return 0;
}

/* ---- posting ---- */

static rfn_end end_of(uint64_t number, bool receiver)
{
    return number * 2 + receiver;
}

static void set_send(struct rfn_engine *engine, struct rfn_message *message, uint32_t rank,
                     const struct rfn_transfer *transfer, bool detached)
{
    message->channel = (struct rfn_channel){(uint32_t)transfer->peer, transfer->comm, rank,
                                            transfer->tag};
    message->has_send = true;
    message->sent = engine->ranks[rank].clock;
    message->bytes = transfer->bytes;
    message->detached = message->sender_done = detached;
    message->eager = !transfer->synchronous && transfer->bytes < engine->model.eager;
    engine->simulated->ranks[rank].sent++;
    engine->simulated->ranks[rank].bytes += (uint64_t)transfer->bytes;
}

static int64_t post_send(struct rfn_engine *engine, uint32_t rank,
                         const struct rfn_transfer *transfer, bool detached)
{
    struct rfn_message_queues *messages = &engine->messages;
    const struct rfn_channel channel = {(uint32_t)transfer->peer, transfer->comm, rank,
                                        transfer->tag};
    const bool early = messages->mailboxes[channel.target].n_wildcards &&
                       engine->ranks[rank].clock > engine->now;
    const uint32_t other = early ? RFN_NO_MESSAGE : taker(engine, &channel);
    const int64_t number = other == RFN_NO_MESSAGE ? rfn_message_new(messages) : (int64_t)other;
    if (number < 0)
        return number;
    if (other != RFN_NO_MESSAGE)
        rfn_message_leave(messages, other);
    struct rfn_message *message = message_at(engine, (uint64_t)number);
    set_send(engine, message, rank, transfer, detached);
    if (other == RFN_NO_MESSAGE)
        RFN_TRY(rfn_message_wait(messages, (uint32_t)number));
    if (early)
        RFN_TRY(rfn_event_set(&engine->heap, engine->n_ranks + (uint32_t)number, message->sent));
    if (other != RFN_NO_MESSAGE || message->eager)
        RFN_TRY(begin(engine, (uint32_t)number));
    return number;
}

int rfn_transfer_send(struct rfn_engine *engine, uint32_t rank, const struct rfn_transfer *transfer,
                      rfn_end *end)
{
    struct rfn_engine_rank *state = &engine->ranks[rank];
    const struct rfn_mpi_model *model = &engine->model;
    const bool detached = !transfer->synchronous && transfer->bytes < model->detached;
    if (state->stage == RFN_FRESH) {
        const struct rfn_pieces *costs = transfer->blocks ? &model->send : &model->isend;
        if (detached || !transfer->blocks || transfer->synchronous)
            sleep_for(engine, state, rfn_cost_at(costs, (double)transfer->bytes));
        state->stage = RFN_PAID;
    }
    if (state->stage == RFN_PAID) {
        const int time = rfn_in_time(engine, rank, false);
        if (time <= 0)
            return time;
        const int64_t number = post_send(engine, rank, transfer, detached);
        if (number < 0)
            return (int)number;
        state->stage = RFN_FRESH;
        *end = detached ? RFN_NO_END : end_of((uint64_t)number, false);
        if (detached || !transfer->blocks)
            return 1;
        state->stage = RFN_WAITING;
        RFN_TRY(rfn_wait_add(state, *end));
    }
    return rfn_wait(engine, rank);
}

/* All sends that are here have to wait for their time, now that there is a wildcard. */
static int hold_sends(struct rfn_engine *engine, uint32_t rank)
{
    uint32_t number = engine->messages.mailboxes[rank].sends.first;
    for (; number != RFN_NO_MESSAGE; number = message_at(engine, number)->listed) {
        const double sent = message_at(engine, number)->sent;
        if (sent > engine->now)
            RFN_TRY(rfn_event_set(&engine->heap, engine->n_ranks + number, sent));
    }
    return 0;
}

static uint32_t find_send(struct rfn_engine *engine, const struct rfn_channel *channel)
{
    const struct rfn_message_queues *messages = &engine->messages;
    if (rfn_channel_is_wildcard(channel))
        return rfn_message_earliest(messages, channel, engine->now);
    const uint32_t send = rfn_message_first(messages, channel, true);
    const bool later = send != RFN_NO_MESSAGE && messages->mailboxes[channel->target].n_wildcards &&
                       messages->messages[send].sent > engine->now;
    return later ? RFN_NO_MESSAGE : send;
}

static int64_t post_receive(struct rfn_engine *engine, uint32_t rank,
                            const struct rfn_transfer *transfer)
{
    struct rfn_message_queues *messages = &engine->messages;
    const struct rfn_channel channel = {rank, transfer->comm, transfer->peer, transfer->tag};
    const uint32_t send = find_send(engine, &channel);
    const int64_t number = send == RFN_NO_MESSAGE ? rfn_message_new(messages) : (int64_t)send;
    if (number < 0)
        return number;
    struct rfn_message *message = message_at(engine, (uint64_t)number);
    if (send != RFN_NO_MESSAGE) {
        rfn_message_leave(messages, send);
        if (!engine->ordered)
            rfn_event_drop(&engine->heap, engine->n_ranks + send);
    } else {
        message->channel = channel;
    }
    message->has_receive = true;
    message->posted = engine->ranks[rank].clock;
    message->room = transfer->bytes;
    if (send == RFN_NO_MESSAGE) {
        RFN_TRY(rfn_message_wait(messages, (uint32_t)number));
        if (!engine->ordered && rfn_channel_is_wildcard(&channel))
            RFN_TRY(hold_sends(engine, rank));
    } else if (!message->begun) {
        RFN_TRY(begin(engine, send));
    }
    return number;
}

/* What depends on the order in which messages come. */
static bool order_matters(const struct rfn_engine *engine, uint32_t rank,
                          const struct rfn_transfer *transfer)
{
    return transfer->peer == RFN_ANY_SOURCE || transfer->tag == RFN_ANY_TAG ||
           engine->messages.mailboxes[rank].n_wildcards;
}

int rfn_transfer_receive(struct rfn_engine *engine, uint32_t rank,
                         const struct rfn_transfer *transfer, rfn_end *end)
{
    struct rfn_engine_rank *state = &engine->ranks[rank];
    if (state->stage == RFN_FRESH) {
        const int time = rfn_in_time(engine, rank, order_matters(engine, rank, transfer));
        if (time <= 0)
            return time;
        const int64_t number = post_receive(engine, rank, transfer);
        if (number < 0)
            return (int)number;
        *end = end_of((uint64_t)number, true);
        if (!transfer->blocks)
            return 1;
        state->stage = RFN_WAITING;
        RFN_TRY(rfn_wait_add(state, *end));
    }
    return rfn_wait(engine, rank);
}

/* ---- waiting ---- */

int rfn_wait_add(struct rfn_engine_rank *rank, rfn_end end)
{
    RFN_TRY(RFN_GROW(rank->waits, rank->waits_capacity, rank->n_waits + 1));
    rank->waits[rank->n_waits++] = end;
    return 0;
}

static void begin_wait(struct rfn_engine *engine, struct rfn_engine_rank *rank)
{
    rank->in_wait = true;
    rank->waits_from = rank->clock;
    rank->unknown = 0;
    for (size_t i = 0; i < rank->n_waits; i++) {
        struct rfn_message *message = message_at(engine, rank->waits[i] / 2);
        if (message->known)
            continue;
        rank->unknown++;
        *(rank->waits[i] % 2 ? &message->receiver_waits : &message->sender_waits) = true;
    }
    rank->stage = RFN_WAITING;
}

static int by_end(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void leave_end(struct rfn_engine *engine, rfn_end end)
{
    struct rfn_message *message = message_at(engine, end / 2);
    *(end % 2 ? &message->receiver_done : &message->sender_done) = true;
    if (message->sender_done && message->receiver_done)
        rfn_message_free(&engine->messages, (uint32_t)(end / 2));
}

/* What the receiver pays for a message that its sender left behind. */
static double cost_of(const struct rfn_engine *engine, const struct rfn_message *message,
                      bool receiver)
{
    if (!receiver || !message->detached)
        return 0;
    const bool is_less = message->room >= 0 && message->room < message->bytes;
    const int64_t bytes = is_less ? message->room : message->bytes;
    const double cost = rfn_cost_at(&engine->model.recv, (double)bytes);
    return cost > 0 ? most(cost, engine->model.precision) : 0;
}

/* It pays for each message as it comes, one after the other. Returns when the last partner was
 * there. */
static int pay_ends(struct rfn_engine *engine, struct rfn_engine_rank *rank, double *partner)
{
    const size_t n = rank->n_waits;
    bool costs = false;
    RFN_TRY(RFN_GROW(engine->sorted, engine->sorted_capacity, 2 * n));
    for (size_t i = 0; i < n; i++) {
        const bool receiver = rank->waits[i] % 2;
        const struct rfn_message *message = message_at(engine, rank->waits[i] / 2);
        engine->sorted[2 * i] = message->end;
        engine->sorted[2 * i + 1] = cost_of(engine, message, receiver);
        costs |= engine->sorted[2 * i + 1] > 0;
        *partner = most(*partner, receiver ? message->sent : message->posted);
    }
    if (costs && n > 1)
        qsort(engine->sorted, n, 2 * sizeof *engine->sorted, by_end);
    for (size_t i = 0; i < n; i++)
        rank->clock = most(rank->clock, engine->sorted[2 * i]) + engine->sorted[2 * i + 1];
    return 0;
}

int rfn_wait(struct rfn_engine *engine, uint32_t number)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    if (!rank->in_wait)
        begin_wait(engine, rank);
    if (rank->unknown)
        return 0;
    double partner = rank->waits_from;
    RFN_TRY(pay_ends(engine, rank, &partner));
    if (partner > rank->clock)
        partner = rank->clock;
    engine->simulated->ranks[number].waiting += partner - rank->waits_from;
    for (size_t i = 0; i < rank->n_waits; i++)
        leave_end(engine, rank->waits[i]);
    rank->n_waits = 0;
    rank->in_wait = false;
    rank->stage = RFN_FRESH;
    return 1;
}

/* ---- looking ---- */

/* Sleeps, longer after each look of any rank that failed. */
static void sleep_before_look(const struct rfn_engine *engine, struct rfn_engine_rank *rank,
                              double seconds, uint32_t failed)
{
    const double least = engine->model.precision > 0 ? engine->model.precision : 1e-9;
    rank->clock += most(engine->model.patient ? seconds * (failed + 1) : seconds, least);
}

/* Nobody does anything but look for messages that are not on their way. It is looked into now and
 * then, as it takes a look at all ranks. */
static bool all_look_in_vain(const struct rfn_engine *engine)
{
    if (engine->failed_probes % LOOKS || engine->n_ready || engine->flows.n_opened ||
        engine->heap.n >= engine->probing)
        return false;
    for (uint32_t i = 0; i < engine->n_ranks; i++) {
        const struct rfn_engine_rank *rank = &engine->ranks[i];
        if (rank->in_probe &&
            rfn_message_earliest(&engine->messages, &rank->looks_for, HUGE_VAL) != RFN_NO_MESSAGE)
            return false;
    }
    return true;
}

int rfn_transfer_probe(struct rfn_engine *engine, uint32_t number,
                       const struct rfn_transfer *transfer, int64_t *bytes)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    const struct rfn_channel channel = {number, transfer->comm, transfer->peer, transfer->tag};
    for (;;) {
        const int time = rfn_in_time(engine, number, true);
        if (time <= 0)
            return time;
        if (rank->stage == RFN_FRESH) {
            engine->probing += !rank->in_probe;
            rank->in_probe = true;
            rank->looks_for = channel;
            sleep_before_look(engine, rank, engine->model.probe, engine->failed_probes);
            rank->stage = RFN_PAID;
            continue;
        }
        const uint32_t found = rfn_message_earliest(&engine->messages, &channel, engine->now);
        rank->stage = RFN_FRESH;
        if (found != RFN_NO_MESSAGE) {
            *bytes = message_at(engine, found)->bytes;
            engine->failed_probes = 0;
            engine->probing--;
            rank->in_probe = false;
            return 1;
        }
        engine->failed_probes++;
        if (all_look_in_vain(engine))
            return 0;
    }
}

int rfn_transfer_test(struct rfn_engine *engine, uint32_t number, rfn_end end, bool *over)
{
    struct rfn_engine_rank *rank = &engine->ranks[number];
    for (;;) {
        const int time = rfn_in_time(engine, number, true);
        if (time <= 0)
            return time;
        if (rank->stage == RFN_PAID)
            break;
        sleep_before_look(engine, rank, engine->model.test, engine->failed_tests);
        rank->stage = RFN_PAID;
    }
    const struct rfn_message *message = message_at(engine, end / 2);
    rank->stage = RFN_FRESH;
    *over = message->known && message->end <= rank->clock;
    if (!*over) {
        engine->failed_tests++;
        return 1;
    }
    engine->failed_tests = 0;
    RFN_TRY(rfn_wait_add(rank, end));
    return rfn_wait(engine, number);
}
