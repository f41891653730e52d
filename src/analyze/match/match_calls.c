/* match_calls.c - what a call sends, posts, joins or completes, when it enters.
 *
 * What a call, or the one that completes it, has to wait for is put into the stream's list of
 * awaited things; it is measured when the event leaves. Ranks, communicators and counts come from a
 * file: what makes no sense is left out.
 */
#include "analyze/match/matching.h"
#include "base/grow.h"
#include "refrain/event.h"

#include <string.h>

/* The event that enters. */
struct call {
    struct rfn_match *match;
    struct rfn_match_stream *stream;
    struct rfn_match_symbol *symbol;
    const struct rfn_event_order_stream *at;
    const struct rfn_record *record;
    const struct rfn_call *role;
};

/* Room for so many awaited things more. */
static inline int reserve(const struct call *call, size_t n)
{
    struct rfn_match_stream *stream = call->stream;
    return RFN_GROW(stream->awaited, stream->awaited_capacity, stream->n_awaited + n);
}

static int await(struct call *call, struct rfn_awaited awaited)
{
    struct rfn_match_stream *stream = call->stream;
    RFN_TRY(reserve(call, 1));
    stream->awaited[stream->n_awaited++] = awaited;
    return 0;
}

static struct rfn_match_process *process_of(const struct call *call)
{
    return &call->match->processes[call->at->rank];
}

static int64_t input(const struct call *call, int8_t place, int64_t otherwise)
{
    return place < 0 ? otherwise : call->record->in[place];
}

static bool is_partitioned(const struct rfn_call *role)
{
    return role->operation == RFN_MPI_Psend || role->operation == RFN_MPI_Precv;
}

static const struct rfn_volume *volume_of(const struct call *call)
{
    return &call->symbol->volume;
}

static bool valid_comm(const struct rfn_match *match, int64_t comm)
{
    return comm >= 0 && comm < rfn_archive_comms(match->archive);
}

/* ---- messages ---- */

/* A channel from or to the rank; RFN_E_NOTFOUND when there is none. */
static int64_t channel_of(struct call *call, int64_t source, int64_t dest, int64_t comm,
                          int64_t tag)
{
    uint32_t ranks = call->match->n_ranks;
    if (source < 0 || source >= ranks || dest < 0 || dest >= ranks)
        return RFN_E_NOTFOUND;
    const struct rfn_channel_key key = {
        .source = (uint32_t)source, .dest = (uint32_t)dest, .comm = (uint32_t)comm, .tag = tag};
    return rfn_channel_of(&call->match->channels, &key);
}

/* A channel that the symbol may remember. */
static int64_t remembered(const struct call *call, uint32_t channel, uint32_t generation)
{
    if (!call->symbol->constant || !channel)
        return RFN_NONE;
    struct rfn_channel *of = &call->match->channels.items[channel - 1];
    of->used |= of->generation == generation;
    return of->generation == generation ? (int64_t)channel - 1 : RFN_NONE;
}

/* Communication with nobody, with processes of another job, or on a communicator that is not
 * there. */
static bool elsewhere(struct call *call, int64_t peer, int64_t world, int64_t comm)
{
    if (peer == RFN_PROC_NULL || !valid_comm(call->match, comm))
        return true;
    if (world < 0 || world >= call->match->n_ranks) {
        call->match->foreign++;
        return true;
    }
    return false;
}

/* The channel of what the call sends, or the start of a persistent request; RFN_E_NOTFOUND: it
 * sends to nobody that is known. */
static int64_t find_send_channel(struct call *call, const struct rfn_persistent *persistent)
{
    struct rfn_match_symbol *symbol = call->symbol;
    const struct rfn_volume *volume = persistent ? &persistent->volume : volume_of(call);
    int64_t tag = persistent ? persistent->send_tag : input(call, call->role->send_tag, RFN_ANY);
    if (elsewhere(call, volume->dest, volume->dest_world, volume->comm))
        return RFN_E_NOTFOUND;
    int64_t channel = channel_of(call, call->at->rank, volume->dest_world, volume->comm, tag);
    if (channel < 0)
        return channel;
    symbol->send_channel = (uint32_t)channel + 1;
    symbol->send_generation = call->match->channels.items[channel].generation;
    symbol->sent_bytes = volume->sent_bytes;
    return channel;
}

/* The call sends a message, or the start of a persistent request does. *message: its number + 1, 0
 * if it goes to nobody. */
static int send(struct call *call, const struct rfn_call *role,
                const struct rfn_persistent *persistent, uint32_t *message)
{
    const struct rfn_match_symbol *symbol = call->symbol;
    int64_t channel = remembered(call, symbol->send_channel, symbol->send_generation);
    if (channel < 0)
        channel = find_send_channel(call, persistent);
    if (channel < 0)
        return channel == RFN_E_NOTFOUND ? 0 : (int)channel;
    int64_t number = rfn_channels_send(&call->match->channels, (uint32_t)channel,
                                       call->stream->here, symbol->sent_bytes, role->mode, true);
    RFN_TRY((int)(number < 0 ? number : 0));
    *message = (uint32_t)number + 1;
    return 0;
}

/* The rank of MPI_COMM_WORLD that a source means; RFN_ANY stays. */
static int64_t world_of(const struct call *call, int64_t comm, int64_t source)
{
    if (source == RFN_ANY)
        return RFN_ANY;
    return rfn_comm_peer(call->match->archive, (uint32_t)comm, call->at->rank, source);
}

static int64_t find_receive_channel(struct call *call, int64_t comm, int64_t world, int64_t tag)
{
    struct rfn_match_symbol *symbol = call->symbol;
    int64_t channel = channel_of(call, world, call->at->rank, comm, tag);
    if (channel >= 0) {
        symbol->receive_channel = (uint32_t)channel + 1;
        symbol->receive_generation = call->match->channels.items[channel].generation;
    }
    return channel;
}

/* Posts a receive from a channel. *receive: its number + 1. */
static int post_in(struct call *call, int64_t channel, uint32_t *receive)
{
    int64_t number = rfn_channels_post_in(&call->match->channels, (uint32_t)channel, call->at->rank,
                                          call->stream->here);
    RFN_TRY((int)(number < 0 ? number : 0));
    *receive = (uint32_t)number + 1;
    return 0;
}

/* Posts a receive of a message from `source` (of comm) with a tag, each perhaps RFN_ANY. */
static int post(struct call *call, int64_t comm, int64_t source, int64_t tag, uint32_t *receive)
{
    if (source == RFN_PROC_NULL || !valid_comm(call->match, comm))
        return 0;
    int64_t world = world_of(call, comm, source);
    if (source != RFN_ANY && elsewhere(call, source, world, comm))
        return 0;
    if (source != RFN_ANY && tag != RFN_ANY) {
        int64_t channel = find_receive_channel(call, comm, world, tag);
        if (channel < 0)
            return channel == RFN_E_NOTFOUND ? 0 : (int)channel;
        return post_in(call, channel, receive);
    }
    int64_t number = rfn_channels_post(&call->match->channels, call->at->rank, call->stream->here,
                                       (uint32_t)comm, world, tag);
    RFN_TRY((int)(number < 0 ? number : 0));
    *receive = (uint32_t)number + 1;
    return 0;
}

/* A receive that was posted with a wildcard turns out to be of (source, tag) of comm.
 * RFN_E_NOTFOUND: that is a process of another job. */
static int tell(struct call *call, uint32_t receive, int64_t comm, int64_t source, int64_t tag)
{
    struct rfn_channels *channels = &call->match->channels;
    if (channels->receives[receive].known || !valid_comm(call->match, comm))
        return 0;
    int64_t world = world_of(call, comm, source);
    int64_t channel = channel_of(call, world, call->at->rank, comm, tag);
    if (channel == RFN_E_NOTFOUND)
        return source >= 0 ? RFN_E_NOTFOUND : 0;
    RFN_TRY((int)(channel < 0 ? channel : 0));
    return rfn_channels_tell(channels, receive, (uint32_t)channel);
}

/* A receive from this job, or one that is not known yet: with its words as posted (from `in`), and
 * as they turned out, if they have. */
struct source {
    int64_t comm, source, tag;
};

static struct source posted(const struct call *call)
{
    return (struct source){input(call, call->role->in[RFN_IN_COMM], -1),
                           input(call, call->role->in[RFN_IN_source], RFN_PROC_NULL),
                           input(call, call->role->recv_tag, RFN_ANY)};
}

/* What a blocking call says that it has got. */
static struct source outcome(const struct call *call)
{
    struct source source = posted(call);
    const struct rfn_call *role = call->role;
    int64_t came = role->out[RFN_OUT_RANK] < 0 ? RFN_AS_POSTED
                                               : call->record->out[role->out[RFN_OUT_RANK]];
    int64_t tag = role->out[RFN_OUT_TAG] < 0 ? RFN_AS_POSTED
                                             : call->record->out[role->out[RFN_OUT_TAG]];
    if (came != RFN_AS_POSTED)
        source.source = came;
    if (tag != RFN_AS_POSTED)
        source.tag = tag;
    return source;
}

/* What a call asks for, with a request. */
static int post_asked(struct call *call, uint32_t *receive)
{
    const struct rfn_match_symbol *symbol = call->symbol;
    int64_t channel = remembered(call, symbol->receive_channel, symbol->receive_generation);
    if (channel >= 0)
        return post_in(call, channel, receive);
    struct source source = posted(call);
    return post(call, source.comm, source.source, source.tag, receive);
}

static bool came_as_posted(const struct call *call, int8_t outcome)
{
    return outcome < 0 || call->record->out[outcome] == RFN_AS_POSTED;
}

/* A blocking receive: its outcome is known, so that it can be posted as if it had asked for it. */
static int receive_now(struct call *call, uint32_t *receive)
{
    if (came_as_posted(call, call->role->out[RFN_OUT_RANK]) &&
        came_as_posted(call, call->role->out[RFN_OUT_TAG]))
        return post_asked(call, receive);
    struct source source = outcome(call), asked = posted(call);
    RFN_TRY(post(call, source.comm, source.source, source.tag, receive));
    if (*receive)
        call->match->channels.receives[*receive - 1].any = rfn_wildcards(asked.source, asked.tag);
    if (source.source != asked.source || source.tag != asked.tag)
        call->symbol->receive_channel = 0; /* the next one may be of another channel */
    return 0;
}

/* ---- matched probes: the message is taken for a handle ---- */

static int probe_matched(struct call *call)
{
    uint32_t receive = 0;
    int64_t handle = call->record->out[call->role->out[RFN_OUT_MESSAGE]];
    RFN_TRY(receive_now(call, &receive));
    if (!receive)
        return 0;
    RFN_TRY(rfn_map_put(&process_of(call)->handles, (uint64_t)handle, receive - 1));
    /* The probe waits for the message, but the receive of the handle is the one that ends it. */
    return await(call, (struct rfn_awaited){.kind = RFN_AWAITS_PROBED, .number = receive - 1});
}

static void receive_matched(struct call *call, uint32_t *receive)
{
    uint64_t handle = (uint64_t)input(call, call->role->in[RFN_IN_MESSAGE], -1);
    const uint64_t *number = rfn_map_get(&process_of(call)->handles, handle);
    if (!number)
        return;
    *receive = (uint32_t)*number + 1;
    rfn_map_remove(&process_of(call)->handles, handle);
}

static int probe(struct call *call)
{
    struct source source = outcome(call);
    if (source.source == RFN_PROC_NULL || !valid_comm(call->match, source.comm))
        return 0;
    int64_t world = world_of(call, source.comm, source.source);
    int64_t channel = channel_of(call, world, call->at->rank, source.comm, source.tag);
    if (channel < 0)
        return channel == RFN_E_NOTFOUND ? 0 : (int)channel;
    const struct source asked = posted(call);
    return await(call, (struct rfn_awaited){.kind = RFN_AWAITS_ARRIVAL,
                                            .any = rfn_wildcards(asked.source, asked.tag),
                                            .number = (uint32_t)channel});
}

/* ---- collective calls ---- */

static int64_t object_of(struct call *call)
{
    struct rfn_collectives *collectives = call->match->collectives;
    switch (call->role->kind) {
    case RFN_CALL_INIT:
        return rfn_collectives_of_run(collectives, false);
    case RFN_CALL_FINALIZE:
        return rfn_collectives_of_run(collectives, true);
    default:
        break;
    }
    if (call->role->in[RFN_IN_COMM] >= 0)
        return rfn_collectives_of_comm(collectives, call->record->in[call->role->in[RFN_IN_COMM]]);
    return rfn_collectives_of_file(collectives, call->at->rank,
                                   input(call, call->role->in[RFN_IN_FILE], -1));
}

/* The object and the rank's place in it; false if there is none. */
static int find_object(struct call *call, int64_t *object, int64_t *place)
{
    struct rfn_match_symbol *symbol = call->symbol;
    bool constant = symbol->constant && call->role->in[RFN_IN_FILE] < 0;
    if (!constant || symbol->object == RFN_NONE) {
        symbol->object = object_of(call);
        if (symbol->object >= 0)
            symbol->place = rfn_collectives_place(call->match->collectives,
                                                  (uint32_t)symbol->object, call->at->rank);
    }
    *object = symbol->object;
    *place = symbol->place;
    return *object == RFN_E_NOMEM ? RFN_E_NOMEM : 0;
}

static bool moves_data(const struct call *call)
{
    const struct rfn_volume *volume = volume_of(call);
    bool always = call->role->kind == RFN_CALL_BARRIER || call->role->kind >= RFN_CALL_MAKE;
    return always || volume->sent_bytes > 0 || volume->received_bytes > 0;
}

/* What a call does that is about to be waited for, by itself or by who completes its request. */
struct doing {
    uint32_t message, receive; /* + 1; 0: none. The message may be RFN_JOINS: */
    struct rfn_share share;
};

static int join(struct call *call, uint32_t object, uint32_t place, const struct rfn_call *role,
                int64_t root, bool data, struct doing *doing)
{
    const struct rfn_collective_call made = {
        .object = object, .place = place, .kind = role->kind, .root = root, .data = data};
    doing->message = RFN_JOINS;
    return rfn_collectives_enter(call->match->collectives, &made, call->stream->here,
                                 &doing->share);
}

static int collective(struct call *call, struct doing *doing)
{
    int64_t object, place;
    RFN_TRY(find_object(call, &object, &place));
    if (object < 0 || place < 0)
        return 0;
    int64_t root = input(call, call->role->in[RFN_IN_root], RFN_UNKNOWN);
    RFN_TRY(
        join(call, (uint32_t)object, (uint32_t)place, call->role, root, moves_data(call), doing));
    if (call->role->out[RFN_OUT_FILE] < 0)
        return 0;
    return rfn_collectives_opened(call->match->collectives, &doing->share, call->at->rank,
                                  call->record->out[call->role->out[RFN_OUT_FILE]]);
}

/* The call has to wait for it. */
static int await_all(struct call *call, const struct doing *doing, bool cancelled)
{
    struct rfn_begun messages = {doing->message, doing->receive};
    if (doing->message == RFN_JOINS) {
        messages.message = 0;
        RFN_TRY(await(call, (struct rfn_awaited){.kind = RFN_AWAITS_ALL,
                                                 .cancelled = cancelled,
                                                 .share = doing->share}));
    }
    RFN_TRY(reserve(call, 2));
    rfn_match_await(call->stream, messages, cancelled);
    return 0;
}

/* ---- requests ---- */

static inline int operation_of(struct call *call, int64_t id, struct rfn_begun **operation)
{
    struct rfn_match_process *process = process_of(call);
    RFN_TRY(RFN_GROW_ZEROED(process->begun, process->begun_capacity, (size_t)id + 1));
    *operation = &process->begun[id];
    return 0;
}

static int tell_posted(struct call *call, const struct doing *doing)
{
    struct rfn_match *match = call->match;
    const uint32_t stream = call->stream->here.stream;
    const struct rfn_awaited joined = {.kind = RFN_AWAITS_ALL, .share = doing->share};
    const struct rfn_awaited sent = {.kind = RFN_AWAITS_MESSAGE_TAKEN,
                                     .number = doing->message - 1};
    const struct rfn_awaited posted = {.kind = RFN_AWAITS_MESSAGE, .number = doing->receive - 1};
    if (doing->message)
        RFN_TRY(match->hooks.posted(match, stream, doing->message == RFN_JOINS ? &joined : &sent));
    return doing->receive ? match->hooks.posted(match, stream, &posted) : 0;
}

/* What was begun becomes that of the request. */
static int keep_doing(struct call *call, uint32_t id, const struct doing *doing)
{
    struct rfn_match_process *process = process_of(call);
    process->begun[id] = (struct rfn_begun){doing->message, doing->receive};
    if (call->match->hooks.posted)
        RFN_TRY(tell_posted(call, doing));
    if (doing->message != RFN_JOINS)
        return 0;
    RFN_TRY(RFN_GROW(process->shares, process->shares_capacity, (size_t)id + 1));
    process->shares[id] = doing->share;
    return 0;
}

/* What a request was for: it is for nothing any more. */
static int take_doing(struct call *call, uint32_t id, struct doing *doing)
{
    struct rfn_begun *operation;
    RFN_TRY(operation_of(call, id, &operation));
    doing->message = operation->message;
    doing->receive = operation->receive;
    if (doing->message == RFN_JOINS)
        doing->share = process_of(call)->shares[id];
    *operation = (struct rfn_begun){0};
    return 0;
}

static struct rfn_persistent *persistent_of(const struct call *call, size_t id)
{
    const struct rfn_match_process *process = process_of(call);
    bool is = id < process->persistent_capacity && process->persistent[id].role;
    return is ? &process->persistent[id] : NULL;
}

/* The n-th partitioned send of a channel goes with the n-th partitioned receive. */
static int64_t part_channel(struct call *call, int64_t channel, bool sends)
{
    if (channel < 0)
        return channel;
    struct rfn_channel *of = &call->match->channels.items[channel];
    struct rfn_channel_key key = of->key;
    key.part = sends ? ++of->send_inits : ++of->recv_inits;
    return rfn_channel_of(&call->match->channels, &key);
}

static int set_up_partitioned(struct call *call, struct rfn_persistent *persistent)
{
    const struct rfn_volume *volume = &persistent->volume;
    bool sends = call->role->kind == RFN_CALL_SEND;
    int64_t peer = sends ? volume->dest : posted(call).source, comm = posted(call).comm;
    if (!valid_comm(call->match, comm) || peer < 0)
        return 0;
    int64_t world = rfn_comm_peer(call->match->archive, (uint32_t)comm, call->at->rank, peer);
    int64_t own = call->at->rank;
    int64_t base = channel_of(call, sends ? own : world, sends ? world : own, comm,
                              persistent->send_tag);
    int64_t channel = part_channel(call, base, sends);
    persistent->partitions = (uint32_t)input(call, call->role->in[RFN_IN_partitions], 0);
    *(sends ? &persistent->send_channel : &persistent->receive_channel) = channel;
    return channel == RFN_E_NOMEM ? RFN_E_NOMEM : 0;
}

static int set_up_collective(struct call *call, struct rfn_persistent *persistent)
{
    int64_t object, place;
    RFN_TRY(find_object(call, &object, &place));
    if (object < 0 || place < 0)
        return 0;
    int64_t starts = rfn_collectives_of_starts(call->match->collectives, (uint32_t)object,
                                               (uint32_t)place);
    RFN_TRY((int)(starts < 0 ? starts : 0));
    persistent->object = (uint32_t)starts + 1;
    persistent->place = (uint32_t)place;
    persistent->root = input(call, call->role->in[RFN_IN_root], RFN_UNKNOWN);
    persistent->data = moves_data(call);
    return 0;
}

/* A persistent request is made. */
static int set_up(struct call *call, int64_t id)
{
    struct rfn_begun *operation;
    struct rfn_match_process *process = process_of(call);
    RFN_TRY(operation_of(call, id, &operation));
    RFN_TRY(RFN_GROW_ZEROED(process->persistent, process->persistent_capacity, (size_t)id + 1));
    struct rfn_persistent *persistent = &process->persistent[id];
    *operation = (struct rfn_begun){0};
    *persistent = (struct rfn_persistent){.role = call->role,
                                          .send_channel = RFN_NONE,
                                          .receive_channel = RFN_NONE,
                                          .volume = *volume_of(call),
                                          .send_tag = input(call, call->role->send_tag, RFN_ANY)};
    if (rfn_call_is_collective(call->role))
        return set_up_collective(call, persistent);
    return is_partitioned(call->role) ? set_up_partitioned(call, persistent) : 0;
}

static int start_partitioned(struct call *call, struct rfn_persistent *persistent,
                             struct doing *doing)
{
    struct rfn_channels *channels = &call->match->channels;
    persistent->ready = 0;
    if (persistent->send_channel >= 0) {
        int64_t message = rfn_channels_send(channels, (uint32_t)persistent->send_channel,
                                            call->stream->here, persistent->volume.sent_bytes,
                                            RFN_SEND_STANDARD, persistent->partitions == 0);
        RFN_TRY((int)(message < 0 ? message : 0));
        doing->message = (uint32_t)message + 1;
    }
    return persistent->receive_channel >= 0
               ? post_in(call, persistent->receive_channel, &doing->receive)
               : 0;
}

/* The start call's symbol has no channel to remember. */
static int start_messages(struct call *call, const struct rfn_persistent *persistent,
                          struct doing *doing)
{
    const struct rfn_call *role = persistent->role;
    call->symbol->send_channel = call->symbol->receive_channel = 0;
    if (role->kind == RFN_CALL_SEND || role->kind == RFN_CALL_SENDRECV)
        RFN_TRY(send(call, role, persistent, &doing->message));
    if (role->kind == RFN_CALL_RECV || role->kind == RFN_CALL_SENDRECV)
        RFN_TRY(post(call, persistent->volume.comm, persistent->volume.source,
                     persistent->volume.tag, &doing->receive));
    call->symbol->send_channel = call->symbol->receive_channel = 0;
    return 0;
}

/* Start of a persistent request. */
static int start(struct call *call, uint32_t id)
{
    struct doing doing = {0};
    struct rfn_persistent *persistent = persistent_of(call, id);
    RFN_TRY(take_doing(call, id, &doing));
    doing = (struct doing){0};
    if (!persistent)
        return 0;
    if (is_partitioned(persistent->role))
        RFN_TRY(start_partitioned(call, persistent, &doing));
    else if (!rfn_call_is_collective(persistent->role))
        RFN_TRY(start_messages(call, persistent, &doing));
    else if (persistent->object)
        RFN_TRY(join(call, persistent->object - 1, persistent->place, persistent->role,
                     persistent->root, persistent->data, &doing));
    return keep_doing(call, id, &doing);
}

static int make_ready(struct call *call, uint32_t id, uint64_t partitions)
{
    struct rfn_begun *operation;
    struct rfn_persistent *persistent = persistent_of(call, id);
    RFN_TRY(operation_of(call, id, &operation));
    if (!persistent || !operation->message || operation->message == RFN_JOINS)
        return 0;
    persistent->ready += (uint32_t)partitions;
    const struct rfn_message *message = &call->match->channels.messages[operation->message - 1];
    if (persistent->ready < persistent->partitions || message->begun)
        return 0;
    return rfn_channels_begin(&call->match->channels, operation->message - 1, call->stream->here);
}

/* What a nonblocking call begins. */
static int begin_doing(struct call *call, struct doing *doing)
{
    const struct rfn_call *role = call->role;
    if (rfn_call_is_collective(role))
        return collective(call, doing);
    if (role->kind == RFN_CALL_MRECV)
        receive_matched(call, &doing->receive);
    if (role->kind == RFN_CALL_SEND || role->kind == RFN_CALL_SENDRECV)
        RFN_TRY(send(call, role, NULL, &doing->message));
    if (role->kind == RFN_CALL_RECV || role->kind == RFN_CALL_SENDRECV)
        RFN_TRY(post_asked(call, &doing->receive));
    return 0;
}

/* A nonblocking call. */
static int begin(struct call *call, int64_t id)
{
    struct doing doing = {0};
    struct rfn_begun *operation;
    struct rfn_persistent *persistent = persistent_of(call, (size_t)id);
    RFN_TRY(operation_of(call, id, &operation));
    if (persistent)
        persistent->role = NULL;
    RFN_TRY(begin_doing(call, &doing));
    return keep_doing(call, (uint32_t)id, &doing);
}

/* What a completed receive got is told; one from another job is nobody's. */
static int tell_completed(struct call *call, struct doing *doing, const struct rfn_volume *volume)
{
    uint32_t receive = doing->receive - 1;
    int told = tell(call, receive, volume->comm, volume->source, volume->tag);
    if (told != RFN_E_NOTFOUND)
        return told;
    doing->receive = 0;
    call->match->foreign++;
    return rfn_channels_dismiss(&call->match->channels, receive);
}

/* A request that the call completes. */
static int complete(struct call *call, const struct rfn_completed *completed)
{
    struct doing doing;
    RFN_TRY(take_doing(call, completed->origin->id, &doing));
    if (doing.receive && !completed->cancelled &&
        !call->match->channels.receives[doing.receive - 1].known)
        RFN_TRY(tell_completed(call, &doing, completed->origin->volume));
    return await_all(call, &doing, completed->cancelled);
}

/* A request that is given up while it is under way: what it was for happens, and nobody waits; or,
 * of a receive that was cancelled, does not. */
static int give_up(struct call *call, uint32_t id, bool cancelled)
{
    struct doing doing;
    struct rfn_persistent *persistent = persistent_of(call, id);
    RFN_TRY(take_doing(call, id, &doing));
    if (persistent)
        persistent->role = NULL;
    if (doing.message == RFN_JOINS)
        RFN_TRY(rfn_collectives_leave(call->match->collectives, &doing.share));
    else if (doing.message)
        RFN_TRY(rfn_channels_sent(&call->match->channels, doing.message - 1, false));
    if (doing.receive && cancelled)
        return rfn_channels_received(&call->match->channels, doing.receive - 1, true);
    return doing.receive ? rfn_match_abandon(call->match, doing.receive - 1) : 0;
}

static int cancel(struct call *call, uint32_t id)
{
    struct rfn_begun *operation;
    RFN_TRY(operation_of(call, id, &operation));
    if (operation->message && operation->message != RFN_JOINS)
        call->match->channels.messages[operation->message - 1].cancelled = true;
    return 0;
}

/* The loop that the event's iteration teaches what it does to requests; NULL: none. */
static struct rfn_loop_requests *learning(const struct call *call)
{
    struct rfn_loop_requests *loop = call->stream->loop;
    bool learns = loop && loop->knowledge == RFN_LOOP_LEARNING &&
                  call->at->batch->taken <= call->at->batch->width;
    return learns ? loop : NULL;
}

/* Iterations are not alike in what they do for each other: collective calls are counted, and
 * receives with wildcards are told what they get. */
static int learn_made(struct call *call, const struct rfn_request_origin *made)
{
    struct rfn_loop_requests *loop = learning(call);
    if (!loop)
        return 0;
    const struct rfn_begun *doing = &process_of(call)->begun[made->id];
    enum rfn_call_kind kind = (enum rfn_call_kind)call->role->kind;
    bool message = kind == RFN_CALL_SEND || kind == RFN_CALL_RECV || kind == RFN_CALL_SENDRECV;
    bool known = !doing->receive || call->match->channels.receives[doing->receive - 1].known;
    if (message && known)
        return rfn_loop_makes(loop, call->at->place, made);
    rfn_loop_differs(loop);
    return 0;
}

static int learn_effects(struct call *call, const struct rfn_request_effects *effects)
{
    struct rfn_loop_requests *loop = learning(call);
    if (!loop)
        return 0;
    if (effects->created < 0 && !effects->n_started && !effects->freed && !effects->cancelled &&
        !effects->ready && call->role->kind != RFN_CALL_LOOK)
        return rfn_loop_completes(loop, call->at->place, effects->completed, effects->n_completed);
    rfn_loop_differs(loop);
    return 0;
}

static int create(struct call *call)
{
    const struct rfn_event_order_stream *at = call->at;
    const struct rfn_request_origin *made = rfn_tracker_create(
        call->match->trackers[at->rank], at->thread, call->record, volume_of(call),
        call->symbol->lasts);
    if (!made)
        return RFN_E_NOMEM;
    RFN_TRY(begin(call, made->id));
    return learn_made(call, made);
}

/* ---- requests of a loop whose iterations are alike ---- */

static int create_in_loop(struct call *call, struct rfn_loop_requests *loop)
{
    struct doing doing = {0};
    RFN_TRY(begin_doing(call, &doing));
    if (call->match->hooks.posted)
        RFN_TRY(tell_posted(call, &doing));
    loop->requests[loop->places[call->at->place].first].doing = (struct rfn_begun){doing.message,
                                                                                   doing.receive};
    return 0;
}

/* Whatever else calls do to requests. */
static int requests(struct call *call)
{
    struct rfn_request_effects effects;
    const struct rfn_call *role = call->role;
    const struct rfn_event_order_stream *at = call->at;
    RFN_TRY(rfn_tracker_event(call->match->trackers[at->rank], at->thread, at->cursor, call->record,
                              volume_of(call), call->symbol->lasts, &effects));
    RFN_TRY(learn_effects(call, &effects));
    const struct rfn_match_watcher *watcher = call->match->watcher;
    if (watcher && (effects.n_started || effects.n_completed))
        RFN_TRY(watcher->requests(watcher->context, call->stream->here.stream, &effects));
    if (effects.created >= 0)
        RFN_TRY((role->variant == RFN_CALL_PERSISTENT ? set_up : begin)(call, effects.created));
    for (size_t i = 0; i < effects.n_started; i++)
        RFN_TRY(start(call, effects.started[i]->id));
    if (effects.ready)
        RFN_TRY(make_ready(call, effects.ready->id, effects.partitions));
    for (size_t i = 0; i < effects.n_completed && role->kind != RFN_CALL_LOOK; i++) {
        if (effects.completed[i].known)
            RFN_TRY(complete(call, &effects.completed[i]));
    }
    if (effects.cancelled)
        RFN_TRY(cancel(call, effects.cancelled->id));
    return effects.freed ? give_up(call, effects.freed->id, effects.given_up) : 0;
}

/* ---- the call ---- */

enum { TRUNCATED = 15 }; /* MPI_ERR_TRUNCATE: the message was received nevertheless */

static int blocking(struct call *call)
{
    struct doing doing = {0};
    const struct rfn_call *role = call->role;
    switch (role->kind) {
    case RFN_CALL_SEND:
        RFN_TRY(send(call, role, NULL, &doing.message));
        break;
    case RFN_CALL_RECV:
        RFN_TRY(receive_now(call, &doing.receive));
        break;
    case RFN_CALL_SENDRECV:
        RFN_TRY(send(call, role, NULL, &doing.message));
        RFN_TRY(receive_now(call, &doing.receive));
        break;
    case RFN_CALL_MRECV:
        receive_matched(call, &doing.receive);
        break;
    case RFN_CALL_MPROBE:
        return probe_matched(call);
    case RFN_CALL_PROBE:
        return probe(call);
    default:
        if (!rfn_call_is_collective(role))
            return 0;
        RFN_TRY(collective(call, &doing));
    }
    return await_all(call, &doing, false);
}

/* Events of windows wake who waits at windows: something may be there now. */
static int enter_window(struct call *call, const struct rfn_call_event *event)
{
    struct rfn_match *match = call->match;
    call->stream->one_sided = true;
    const struct rfn_point since = {call->stream->here.stream, call->stream->here.at,
                                    call->stream->since_ns}; /* of the polls that it ends */
    RFN_TRY(rfn_one_sided_enter(match->one_sided, event, since));
    while (match->at_windows.n)
        rfn_event_order_wake(match->replay, match->at_windows.streams[--match->at_windows.n]);
    return 0;
}

/* Shows the event to those that keep a book of objects. */
static int show(struct call *call)
{
    struct rfn_match *match = call->match;
    const struct rfn_call_event event = rfn_call_event(match->archive, call->at->cursor,
                                                       call->at->rank, call->record);
    if (call->symbol->topology)
        RFN_TRY(rfn_topologies_event(match->topologies, &event));
    if (call->symbol->groups)
        RFN_TRY(rfn_mpi_groups_event(match->groups, &event));
    return call->symbol->one_sided ? enter_window(call, &event) : 0;
}

__attribute__((flatten)) int rfn_match_call(struct rfn_match *match,
                                            struct rfn_match_stream *stream,
                                            const struct rfn_event_order_stream *at)
{
    const struct rfn_record *record = at->record;
    struct rfn_match_symbol *symbol = stream->symbol;
    struct call call = {.match = match,
                        .stream = stream,
                        .symbol = symbol,
                        .at = at,
                        .record = record,
                        .role = symbol->role};
    if (record->failed_poll || symbol->role->kind >= RFN_CALL_REGION_BEGIN)
        return 0;
    if (symbol->topology || symbol->groups || symbol->one_sided)
        RFN_TRY(show(&call));
    struct rfn_loop_requests *loop = stream->loop;
    bool closed = loop && loop->knowledge == RFN_LOOP_CLOSED;
    if (symbol->creates && record->error)
        return 0;
    if (symbol->creates)
        return closed ? create_in_loop(&call, loop) : create(&call);
    if (symbol->concerns)
        return closed ? rfn_match_complete_in_loop(stream, at->place) : requests(&call);
    if (record->error && record->error != TRUNCATED)
        return 0;
    return blocking(&call);
}
