/* wait_calls.c - what a call sends, posts, joins or completes, when it enters.
 *
 * What a call, or the one that completes it, has to wait for is put into the stream's list of
 * awaited things; it is measured when the event leaves. Ranks, communicators and counts come from a
 * file: what makes no sense is left out.
 */
#include "analyze/places.h"
#include "analyze/wait_pass.h"
#include "base/grow.h"
#include "refrain/event.h"

#include <string.h>

/* The event that enters. */
struct call {
    struct rfn_wait_pass *pass;
    struct rfn_wait_stream *stream;
    struct rfn_wait_process *process;
    struct rfn_wait_symbol *symbol;
    const struct rfn_replay_stream *at;
    const struct rfn_record *record;
    const struct rfn_role *role;
};

static int await(struct call *call, struct rfn_awaited awaited)
{
    struct rfn_wait_stream *stream = call->stream;
    RFN_TRY(RFN_GROW(stream->awaited, stream->awaited_capacity, stream->n_awaited + 1));
    stream->awaited[stream->n_awaited++] = awaited;
    return 0;
}

static int64_t input(const struct call *call, int8_t place, int64_t otherwise)
{
    return rfn_input(call->record, place, otherwise);
}

static const struct rfn_volume *volume_of(const struct call *call)
{
    return rfn_tally_volume(call->symbol->tally);
}

static bool valid_comm(const struct rfn_wait_pass *pass, int64_t comm)
{
    return comm >= 0 && comm < rfn_archive_comms(pass->archive);
}

/* ---- messages ---- */

/* A channel from or to the rank; RFN_E_NOTFOUND when there is none. */
static int64_t channel_of(struct call *call, int64_t source, int64_t dest, int64_t comm,
                          int64_t tag)
{
    uint32_t ranks = call->pass->waits->n_ranks;
    if (source < 0 || source >= ranks || dest < 0 || dest >= ranks)
        return RFN_E_NOTFOUND;
    const struct rfn_channel_key key = {
        .source = (uint32_t)source, .dest = (uint32_t)dest, .comm = (uint32_t)comm, .tag = tag};
    return rfn_channel_of(&call->pass->channels, &key);
}

/* A channel that the symbol may remember. */
static int64_t remembered(const struct call *call, uint32_t channel, uint32_t generation)
{
    if (!call->symbol->constant || !channel)
        return RFN_NONE;
    struct rfn_channel *of = &call->pass->channels.items[channel - 1];
    of->used |= of->generation == generation;
    return of->generation == generation ? (int64_t)channel - 1 : RFN_NONE;
}

static int64_t send_channel(struct call *call, const struct rfn_volume *volume, int64_t tag)
{
    struct rfn_wait_symbol *symbol = call->symbol;
    int64_t channel = remembered(call, symbol->send_channel, symbol->send_generation);
    if (channel >= 0)
        return channel;
    channel = channel_of(call, call->at->rank, volume->dest_world, volume->comm, tag);
    if (channel >= 0) {
        symbol->send_channel = (uint32_t)channel + 1;
        symbol->send_generation = call->pass->channels.items[channel].generation;
    }
    return channel;
}

/* Communication with nobody, with processes of another job, or on a communicator that is not
 * there. */
static bool elsewhere(struct call *call, int64_t peer, int64_t world, int64_t comm)
{
    if (peer == RFN_PROC_NULL || !valid_comm(call->pass, comm))
        return true;
    if (world < 0 || world >= call->pass->waits->n_ranks) {
        call->pass->waits->matching.foreign++;
        return true;
    }
    return false;
}

static int send(struct call *call, const struct rfn_volume *volume, int64_t tag,
                const struct rfn_role *role, struct rfn_awaited *awaited)
{
    if (elsewhere(call, volume->dest, volume->dest_world, volume->comm))
        return 0;
    int64_t channel = send_channel(call, volume, tag);
    if (channel < 0)
        return channel == RFN_E_NOTFOUND ? 0 : (int)channel;
    int64_t message = rfn_channels_send(&call->pass->channels, (uint32_t)channel,
                                        call->stream->here, volume->sent_bytes, role->mode, true);
    RFN_TRY((int)(message < 0 ? message : 0));
    *awaited = (struct rfn_awaited){.kind = RFN_AWAITS_MESSAGE_TAKEN, .number = (uint32_t)message};
    return 0;
}

/* The rank of MPI_COMM_WORLD that a source means; RFN_ANY stays. */
static int64_t world_of(const struct call *call, int64_t comm, int64_t source)
{
    if (source == RFN_ANY)
        return RFN_ANY;
    return rfn_comm_peer(call->pass->archive, (uint32_t)comm, call->at->rank, source);
}

static int64_t receive_channel(struct call *call, int64_t comm, int64_t world, int64_t tag)
{
    struct rfn_wait_symbol *symbol = call->symbol;
    int64_t channel = remembered(call, symbol->receive_channel, symbol->receive_generation);
    if (channel >= 0)
        return channel;
    channel = channel_of(call, world, call->at->rank, comm, tag);
    if (channel >= 0) {
        symbol->receive_channel = (uint32_t)channel + 1;
        symbol->receive_generation = call->pass->channels.items[channel].generation;
    }
    return channel;
}

/* Posts a receive of a message from `source` (of comm) with a tag, each perhaps RFN_ANY. */
static int post(struct call *call, int64_t comm, int64_t source, int64_t tag,
                struct rfn_awaited *awaited)
{
    struct rfn_channels *channels = &call->pass->channels;
    if (source == RFN_PROC_NULL || !valid_comm(call->pass, comm))
        return 0;
    bool open = source == RFN_ANY || tag == RFN_ANY;
    int64_t known = open ? RFN_NONE
                         : remembered(call, call->symbol->receive_channel,
                                      call->symbol->receive_generation);
    int64_t world = known >= 0 ? 0 : world_of(call, comm, source);
    if (known < 0 && source != RFN_ANY && elsewhere(call, source, world, comm))
        return 0;
    int64_t receive;
    if (open) {
        receive = rfn_channels_post(channels, call->at->rank, call->stream->here, (uint32_t)comm,
                                    world, tag);
    } else {
        int64_t channel = known >= 0 ? known : receive_channel(call, comm, world, tag);
        if (channel < 0)
            return channel == RFN_E_NOTFOUND ? 0 : (int)channel;
        receive = rfn_channels_post_in(channels, (uint32_t)channel, call->at->rank,
                                       call->stream->here);
    }
    RFN_TRY((int)(receive < 0 ? receive : 0));
    *awaited = (struct rfn_awaited){.kind = RFN_AWAITS_MESSAGE, .number = (uint32_t)receive};
    return 0;
}

/* A receive that was posted with a wildcard turns out to be of (source, tag) of comm.
 * RFN_E_NOTFOUND: that is a process of another job. */
static int tell(struct call *call, const struct rfn_awaited *awaited, int64_t comm, int64_t source,
                int64_t tag)
{
    struct rfn_channels *channels = &call->pass->channels;
    if (channels->receives[awaited->number].known || !valid_comm(call->pass, comm))
        return 0;
    int64_t world = world_of(call, comm, source);
    int64_t channel = channel_of(call, world, call->at->rank, comm, tag);
    if (channel == RFN_E_NOTFOUND)
        return source >= 0 ? RFN_E_NOTFOUND : 0;
    RFN_TRY((int)(channel < 0 ? channel : 0));
    return rfn_channels_tell(channels, awaited->number, (uint32_t)channel);
}

/* A receive from this job, or one that is not known yet: with its words as posted (from `in`), and
 * as they turned out, if they have. */
struct source {
    int64_t comm, source, tag;
};

static struct source posted(const struct call *call)
{
    return (struct source){input(call, call->role->comm, -1),
                           input(call, call->role->source, RFN_PROC_NULL),
                           input(call, call->role->recv_tag, RFN_ANY)};
}

/* What a blocking call says that it has got. */
static struct source outcome(const struct call *call)
{
    struct source source = posted(call);
    const struct rfn_role *role = call->role;
    int64_t came = role->out_source < 0 ? RFN_AS_POSTED : call->record->out[role->out_source];
    int64_t tag = role->out_tag < 0 ? RFN_AS_POSTED : call->record->out[role->out_tag];
    if (came != RFN_AS_POSTED)
        source.source = came;
    if (tag != RFN_AS_POSTED)
        source.tag = tag;
    return source;
}

/* A blocking receive: its outcome is known, so that it can be posted as if it had asked for it. */
static int receive_now(struct call *call, struct rfn_awaited *awaited)
{
    struct source source = outcome(call), asked = posted(call);
    bool as_asked = source.source == asked.source && source.tag == asked.tag;
    if (!as_asked)
        call->symbol->receive_channel = 0;
    RFN_TRY(post(call, source.comm, source.source, source.tag, awaited));
    if (!as_asked)
        call->symbol->receive_channel = 0; /* the next one may be of another channel */
    return 0;
}

/* ---- matched probes: the message is taken for a handle ---- */

static int probe_matched(struct call *call)
{
    struct rfn_awaited awaited = {0};
    int64_t handle = call->record->out[call->role->out_message];
    RFN_TRY(receive_now(call, &awaited));
    if (awaited.kind == RFN_AWAITS_NOTHING)
        return 0;
    RFN_TRY(rfn_map_put(&call->process->handles, (uint64_t)handle, awaited.number));
    /* The probe waits for the message, but the receive of the handle is the one that ends it. */
    awaited.kind = RFN_AWAITS_PROBED;
    return await(call, awaited);
}

static void receive_matched(struct call *call, struct rfn_awaited *awaited)
{
    uint64_t handle = (uint64_t)input(call, call->role->message, -1);
    const uint64_t *receive = rfn_map_get(&call->process->handles, handle);
    if (!receive)
        return;
    *awaited = (struct rfn_awaited){.kind = RFN_AWAITS_MESSAGE, .number = (uint32_t)*receive};
    rfn_map_remove(&call->process->handles, handle);
}

static int probe(struct call *call)
{
    struct source source = outcome(call);
    if (source.source == RFN_PROC_NULL || !valid_comm(call->pass, source.comm))
        return 0;
    int64_t world = world_of(call, source.comm, source.source);
    int64_t channel = channel_of(call, world, call->at->rank, source.comm, source.tag);
    if (channel < 0)
        return channel == RFN_E_NOTFOUND ? 0 : (int)channel;
    return await(call,
                 (struct rfn_awaited){.kind = RFN_AWAITS_ARRIVAL, .number = (uint32_t)channel});
}

/* ---- collective calls ---- */

static int64_t object_of(struct call *call)
{
    struct rfn_collectives *collectives = call->pass->collectives;
    switch (call->role->collective) {
    case RFN_COLLECTIVE_INIT:
        return rfn_collectives_of_run(collectives, false);
    case RFN_COLLECTIVE_FINALIZE:
        return rfn_collectives_of_run(collectives, true);
    default:
        break;
    }
    if (call->role->comm >= 0)
        return rfn_collectives_of_comm(collectives, call->record->in[call->role->comm]);
    return rfn_collectives_of_file(collectives, call->at->rank, input(call, call->role->file, -1));
}

/* The object and the rank's place in it; false if there is none. */
static int find_object(struct call *call, int64_t *object, int64_t *place)
{
    struct rfn_wait_symbol *symbol = call->symbol;
    bool constant = symbol->constant && call->role->file < 0;
    if (!constant || symbol->object == RFN_NONE) {
        symbol->object = object_of(call);
        if (symbol->object >= 0)
            symbol->place = rfn_collectives_place(call->pass->collectives, (uint32_t)symbol->object,
                                                  call->at->rank);
    }
    *object = symbol->object;
    *place = symbol->place;
    return *object == RFN_E_NOMEM ? RFN_E_NOMEM : 0;
}

static bool moves_data(const struct call *call)
{
    const struct rfn_volume *volume = volume_of(call);
    return call->role->always_data || volume->sent_bytes > 0 || volume->received_bytes > 0;
}

static int join(struct call *call, uint32_t object, uint32_t place, const struct rfn_role *role,
                int64_t root, bool data, struct rfn_awaited *awaited)
{
    const struct rfn_collective_call made = {
        .object = object, .place = place, .kind = role->collective, .root = root, .data = data};
    RFN_TRY(
        rfn_collectives_enter(call->pass->collectives, &made, call->stream->here, &awaited->share));
    awaited->kind = RFN_AWAITS_ALL;
    return 0;
}

static int collective(struct call *call, struct rfn_awaited *awaited)
{
    int64_t object, place;
    RFN_TRY(find_object(call, &object, &place));
    if (object < 0 || place < 0)
        return 0;
    int64_t root = input(call, call->role->root, RFN_UNKNOWN);
    RFN_TRY(
        join(call, (uint32_t)object, (uint32_t)place, call->role, root, moves_data(call), awaited));
    if (call->role->out_file < 0)
        return 0;
    return rfn_collectives_opened(call->pass->collectives, &awaited->share, call->at->rank,
                                  call->record->out[call->role->out_file]);
}

/* ---- requests ---- */

static inline int operation_of(struct call *call, int64_t id, struct rfn_operation **operation)
{
    struct rfn_wait_process *process = call->process;
    RFN_TRY(RFN_GROW_ZEROED(process->operations, process->operations_capacity, (size_t)id + 1));
    *operation = &process->operations[id];
    return 0;
}

/* The n-th partitioned send of a channel goes with the n-th partitioned receive. */
static int64_t part_channel(struct call *call, int64_t channel, bool sends)
{
    if (channel < 0)
        return channel;
    struct rfn_channel *of = &call->pass->channels.items[channel];
    struct rfn_channel_key key = of->key;
    key.part = sends ? ++of->send_inits : ++of->recv_inits;
    return rfn_channel_of(&call->pass->channels, &key);
}

static int set_up_partitioned(struct call *call, struct rfn_persistent *persistent)
{
    const struct rfn_volume *volume = &persistent->volume;
    bool sends = call->role->action == RFN_ACT_SEND;
    int64_t peer = sends ? volume->dest : posted(call).source, comm = posted(call).comm;
    if (!valid_comm(call->pass, comm) || peer < 0)
        return 0;
    int64_t world = rfn_comm_peer(call->pass->archive, (uint32_t)comm, call->at->rank, peer);
    int64_t own = call->at->rank;
    int64_t base = channel_of(call, sends ? own : world, sends ? world : own, comm,
                              persistent->send_tag);
    int64_t channel = part_channel(call, base, sends);
    persistent->partitions = (uint32_t)input(call, call->role->partitions, 0);
    *(sends ? &persistent->send_channel : &persistent->receive_channel) = channel;
    return channel == RFN_E_NOMEM ? RFN_E_NOMEM : 0;
}

static int set_up_collective(struct call *call, struct rfn_persistent *persistent)
{
    int64_t object, place;
    RFN_TRY(find_object(call, &object, &place));
    if (object < 0 || place < 0)
        return 0;
    int64_t starts = rfn_collectives_of_starts(call->pass->collectives, (uint32_t)object,
                                               (uint32_t)place);
    RFN_TRY((int)(starts < 0 ? starts : 0));
    persistent->object = (uint32_t)starts + 1;
    persistent->place = (uint32_t)place;
    persistent->root = input(call, call->role->root, RFN_UNKNOWN);
    persistent->data = moves_data(call);
    return 0;
}

/* A persistent request is made. */
static int set_up(struct call *call, int64_t id)
{
    struct rfn_operation *operation;
    struct rfn_wait_process *process = call->process;
    RFN_TRY(operation_of(call, id, &operation));
    RFN_TRY(RFN_GROW(process->persistent, process->persistent_capacity, (size_t)id + 1));
    struct rfn_persistent *persistent = &process->persistent[id];
    *operation = (struct rfn_operation){.role = call->role, .persistent = true};
    *persistent = (struct rfn_persistent){.send_channel = RFN_NONE,
                                          .receive_channel = RFN_NONE,
                                          .volume = *volume_of(call),
                                          .send_tag = input(call, call->role->send_tag, RFN_ANY)};
    if (call->role->action == RFN_ACT_COLLECTIVE)
        return set_up_collective(call, persistent);
    return call->role->partitioned ? set_up_partitioned(call, persistent) : 0;
}

static int start_partitioned(struct call *call, struct rfn_operation *operation,
                             struct rfn_persistent *persistent)
{
    struct rfn_channels *channels = &call->pass->channels;
    persistent->ready = 0;
    if (persistent->send_channel >= 0) {
        int64_t message = rfn_channels_send(channels, (uint32_t)persistent->send_channel,
                                            call->stream->here, persistent->volume.sent_bytes,
                                            RFN_SEND_STANDARD, persistent->partitions == 0);
        RFN_TRY((int)(message < 0 ? message : 0));
        operation->sends = (struct rfn_awaited){.kind = RFN_AWAITS_MESSAGE_TAKEN,
                                                .number = (uint32_t)message};
    }
    if (persistent->receive_channel >= 0) {
        int64_t receive = rfn_channels_post_in(channels, (uint32_t)persistent->receive_channel,
                                               call->at->rank, call->stream->here);
        RFN_TRY((int)(receive < 0 ? receive : 0));
        operation->receives = (struct rfn_awaited){.kind = RFN_AWAITS_MESSAGE,
                                                   .number = (uint32_t)receive};
    }
    return 0;
}

/* Start of a persistent request. The start call's symbol has no channel to remember. */
static int start(struct call *call, uint32_t id)
{
    struct rfn_operation *operation;
    RFN_TRY(operation_of(call, id, &operation));
    const struct rfn_role *role = operation->role;
    operation->sends = operation->receives = (struct rfn_awaited){0};
    if (!operation->persistent)
        return 0;
    struct rfn_persistent *persistent = &call->process->persistent[id];
    if (role->action == RFN_ACT_COLLECTIVE)
        return persistent->object ? join(call, persistent->object - 1, persistent->place, role,
                                         persistent->root, persistent->data, &operation->sends)
                                  : 0;
    if (role->partitioned)
        return start_partitioned(call, operation, persistent);
    call->symbol->send_channel = call->symbol->receive_channel = 0;
    if (role->action == RFN_ACT_SEND || role->action == RFN_ACT_SENDRECV)
        RFN_TRY(send(call, &persistent->volume, persistent->send_tag, role, &operation->sends));
    if (role->action == RFN_ACT_RECV || role->action == RFN_ACT_SENDRECV)
        RFN_TRY(post(call, persistent->volume.comm, persistent->volume.source,
                     persistent->volume.tag, &operation->receives));
    call->symbol->send_channel = call->symbol->receive_channel = 0;
    return 0;
}

static int make_ready(struct call *call, uint32_t id, uint64_t partitions)
{
    struct rfn_operation *operation;
    RFN_TRY(operation_of(call, id, &operation));
    if (!operation->persistent || operation->sends.kind != RFN_AWAITS_MESSAGE_TAKEN)
        return 0;
    struct rfn_persistent *persistent = &call->process->persistent[id];
    persistent->ready += (uint32_t)partitions;
    const struct rfn_message *message = &call->pass->channels.messages[operation->sends.number];
    if (persistent->ready < persistent->partitions || message->begun)
        return 0;
    return rfn_channels_begin(&call->pass->channels, operation->sends.number, call->stream->here);
}

/* A nonblocking call. */
static int begin(struct call *call, int64_t id)
{
    struct rfn_operation *operation;
    const struct rfn_role *role = call->role;
    RFN_TRY(operation_of(call, id, &operation));
    *operation = (struct rfn_operation){.role = role};
    if (role->action == RFN_ACT_COLLECTIVE)
        return collective(call, &operation->sends);
    if (role->action == RFN_ACT_SEND || role->action == RFN_ACT_SENDRECV)
        RFN_TRY(send(call, volume_of(call), input(call, role->send_tag, RFN_ANY), role,
                     &operation->sends));
    struct source source = posted(call);
    if (role->action == RFN_ACT_RECV || role->action == RFN_ACT_SENDRECV)
        RFN_TRY(post(call, source.comm, source.source, source.tag, &operation->receives));
    if (role->action == RFN_ACT_MRECV)
        receive_matched(call, &operation->receives);
    return 0;
}

/* What a completed receive got is told; one from another job is nobody's. */
static int tell_completed(struct call *call, struct rfn_awaited *awaited,
                          const struct rfn_volume *volume)
{
    int told = tell(call, awaited, volume->comm, volume->source, volume->tag);
    if (told != RFN_E_NOTFOUND)
        return told;
    awaited->kind = RFN_AWAITS_NOTHING;
    call->pass->waits->matching.foreign++;
    return rfn_channels_dismiss(&call->pass->channels, awaited->number);
}

/* A request that the call completes. */
static int complete(struct call *call, const struct rfn_completed *completed)
{
    struct rfn_operation *operation;
    const struct rfn_volume *volume = completed->origin->volume;
    RFN_TRY(operation_of(call, completed->origin->id, &operation));
    struct rfn_awaited parts[] = {operation->sends, operation->receives};
    operation->sends = operation->receives = (struct rfn_awaited){0};
    for (int i = 0; i < 2; i++) {
        parts[i].cancelled = completed->cancelled;
        if (parts[i].kind == RFN_AWAITS_MESSAGE && !completed->cancelled)
            RFN_TRY(tell_completed(call, &parts[i], volume));
        if (parts[i].kind != RFN_AWAITS_NOTHING)
            RFN_TRY(await(call, parts[i]));
    }
    return 0;
}

/* A request that is given up while it is under way: what it was for happens, and nobody waits. */
static int give_up(struct call *call, uint32_t id)
{
    struct rfn_operation *operation;
    RFN_TRY(operation_of(call, id, &operation));
    struct rfn_awaited parts[] = {operation->sends, operation->receives};
    *operation = (struct rfn_operation){0};
    for (int i = 0; i < 2; i++) {
        if (parts[i].kind == RFN_AWAITS_MESSAGE_TAKEN)
            RFN_TRY(rfn_channels_sent(&call->pass->channels, parts[i].number, false));
        if (parts[i].kind == RFN_AWAITS_MESSAGE)
            RFN_TRY(rfn_pass_abandon(call->pass, parts[i].number));
        if (parts[i].kind == RFN_AWAITS_ALL)
            rfn_collectives_leave(call->pass->collectives, &parts[i].share);
    }
    return 0;
}

static int cancel(struct call *call, uint32_t id)
{
    struct rfn_operation *operation;
    RFN_TRY(operation_of(call, id, &operation));
    if (operation->sends.kind == RFN_AWAITS_MESSAGE_TAKEN)
        call->pass->channels.messages[operation->sends.number].cancelled = true;
    return 0;
}

static int requests(struct call *call)
{
    struct rfn_request_effects effects;
    const struct rfn_role *role = call->role;
    const struct rfn_replay_stream *at = call->at;
    RFN_TRY(rfn_tracker_event(call->pass->trackers[at->rank], at->thread, at->cursor, call->record,
                              volume_of(call), call->symbol->volume_lasts, &effects));
    RFN_TRY(rfn_profile_pass_requests(call->pass->profile, call->stream->here.stream, &effects));
    if (effects.created >= 0)
        RFN_TRY((role->persistent ? set_up : begin)(call, effects.created));
    for (size_t i = 0; i < effects.n_started; i++)
        RFN_TRY(start(call, effects.started[i]->id));
    if (effects.ready)
        RFN_TRY(make_ready(call, effects.ready->id, effects.partitions));
    for (size_t i = 0; i < effects.n_completed && !role->looks; i++) {
        if (effects.completed[i].known)
            RFN_TRY(complete(call, &effects.completed[i]));
    }
    if (effects.cancelled)
        RFN_TRY(cancel(call, effects.cancelled->id));
    return effects.freed ? give_up(call, effects.freed->id) : 0;
}

/* ---- the call ---- */

enum { TRUNCATED = 15 }; /* MPI_ERR_TRUNCATE: the message was received nevertheless */

static int blocking(struct call *call)
{
    struct rfn_awaited sends = {0}, receives = {0};
    const struct rfn_role *role = call->role;
    switch (role->action) {
    case RFN_ACT_SEND:
        RFN_TRY(send(call, volume_of(call), input(call, role->send_tag, RFN_ANY), role, &sends));
        break;
    case RFN_ACT_RECV:
        RFN_TRY(receive_now(call, &receives));
        break;
    case RFN_ACT_SENDRECV:
        RFN_TRY(send(call, volume_of(call), input(call, role->send_tag, RFN_ANY), role, &sends));
        RFN_TRY(receive_now(call, &receives));
        break;
    case RFN_ACT_MRECV:
        receive_matched(call, &receives);
        break;
    case RFN_ACT_MPROBE:
        return probe_matched(call);
    case RFN_ACT_PROBE:
        return probe(call);
    case RFN_ACT_COLLECTIVE:
    case RFN_ACT_INIT:
    case RFN_ACT_FINALIZE:
        RFN_TRY(collective(call, &sends));
        break;
    default:
        return 0;
    }
    if (sends.kind != RFN_AWAITS_NOTHING)
        RFN_TRY(await(call, sends));
    return receives.kind != RFN_AWAITS_NOTHING ? await(call, receives) : 0;
}

/* Events of windows wake who waits at windows: something may be there now. */
static int enter_window(struct call *call)
{
    struct rfn_wait_pass *pass = call->pass;
    call->stream->one_sided = true;
    const struct rfn_point since = {call->stream->here.stream, call->stream->here.at,
                                    call->stream->enter_ns}; /* of the polls that it ends */
    RFN_TRY(rfn_one_sided_enter(pass->one_sided, call->at->cursor, call->at->rank, call->record,
                                since));
    while (pass->n_at_windows)
        rfn_replay_wake(pass->replay, pass->at_windows[--pass->n_at_windows]);
    return 0;
}

/* Shows the event to those that keep a book of objects. */
static int show(struct call *call)
{
    struct rfn_wait_pass *pass = call->pass;
    const struct rfn_replay_stream *at = call->at;
    if (call->symbol->topology)
        RFN_TRY(rfn_topologies_event(pass->topologies, at->cursor, at->rank, call->record));
    if (call->symbol->groups)
        RFN_TRY(rfn_groups_event(pass->groups, at->cursor, at->rank, call->record));
    return call->symbol->one_sided ? enter_window(call) : 0;
}

int rfn_pass_call(struct rfn_wait_pass *pass, uint32_t stream, const struct rfn_replay_stream *at)
{
    const struct rfn_record *record = at->record;
    struct call call = {.pass = pass,
                        .stream = &pass->streams[stream],
                        .process = &pass->processes[at->rank],
                        .symbol = pass->streams[stream].symbol,
                        .at = at,
                        .record = record,
                        .role = pass->streams[stream].symbol->role};
    if (record->failed_poll)
        return 0;
    if (call.symbol->seen_by_some)
        RFN_TRY(show(&call));
    if (call.symbol->concerns)
        return requests(&call);
    if (record->error && record->error != TRUNCATED)
        return 0;
    return blocking(&call);
}
