/* Requests are followed by the tracker (refrain/completion.h), stream by stream: what a thread
 * completes that another one has begun is not known. To learn for which requests an open completion
 * waits, it is shown to the tracker as if it had completed them. */
#include "analyze/hang/hang_scan.h"

#include "archive/read/archive_calls.h"
#include "base/grow.h"
#include "refrain/completion.h"

#include <stdlib.h>

/* A request that is under way. */
struct pending {
    bool active;
    bool null;   /* it sends to MPI_PROC_NULL, or receives from there */
    bool waited; /* the thread is in a call that waits for it */
    struct rfn_hang_wait wait;
};

struct scanning {
    struct rfn_hang_scan *scan;
    struct rfn_tracker *tracker;
    struct rfn_volumes *volumes;
    const struct rfn_cursor *cursor;
    struct rfn_hang_thread *thread;
    struct pending *pending; /* by id */
    size_t n_pending;
    size_t waits_capacity;
    struct rfn_hang_wait *waits; /* of the thread at hand */
    size_t n_waits;
};

/* ---- channels ---- */

static uint64_t channel_key(uint32_t source, uint32_t dest, int64_t comm, int64_t tag)
{
    const int64_t parts[] = {source, dest, comm, tag};
    return rfn_hash_bytes(parts, sizeof parts);
}

struct rfn_hang_channel *rfn_hang_channel_find(const struct rfn_hang_scan *scan, uint32_t source,
                                               uint32_t dest, int64_t comm, int64_t tag)
{
    return rfn_map_object(&scan->by_channel, channel_key(source, dest, comm, tag));
}

/* NULL: out of memory. */
static struct rfn_hang_channel *channel_of(struct rfn_hang_scan *scan, int64_t source, int64_t dest,
                                           int64_t comm, int64_t tag)
{
    const uint64_t key = channel_key((uint32_t)source, (uint32_t)dest, comm, tag);
    const bool is_new = !rfn_map_object(&scan->by_channel, key);
    if (is_new && RFN_GROW(scan->channels, scan->channels_capacity, scan->n_channels + 1) < 0)
        return NULL;
    struct rfn_hang_channel *channel = rfn_map_make_object(&scan->by_channel, key, sizeof *channel);
    if (channel && is_new) {
        *channel = (struct rfn_hang_channel){
            .source = (uint32_t)source, .dest = (uint32_t)dest, .comm = comm, .tag = tag};
        scan->channels[scan->n_channels++] = channel;
    }
    return channel;
}

static int note_sent(const struct scanning *scanning, const struct rfn_hang_wait *wait)
{
    if (wait->peer < 0)
        return 0;
    struct rfn_hang_channel *channel = channel_of(scanning->scan, scanning->thread->rank,
                                                  wait->peer, wait->comm, wait->tag);
    if (!channel)
        return RFN_E_NOMEM;
    channel->sent++;
    channel->function = wait->function;
    channel->path = wait->path;
    return 0;
}

static int note_received(const struct scanning *scanning, int64_t source, int64_t comm, int64_t tag)
{
    if (source < 0)
        return 0;
    struct rfn_hang_channel *channel = channel_of(scanning->scan, source, scanning->thread->rank,
                                                  comm, tag);
    if (!channel)
        return RFN_E_NOMEM;
    channel->received++;
    return 0;
}

/* ---- collective calls ---- */

static uint64_t calls_key(uint32_t rank, int64_t place)
{
    const int64_t parts[] = {rank, place};
    return rfn_hash_bytes(parts, sizeof parts);
}

const struct rfn_hang_place_calls *rfn_hang_calls_of(const struct rfn_hang_scan *scan,
                                                     uint32_t rank, int64_t place)
{
    return rfn_map_object(&scan->by_place, calls_key(rank, place));
}

/* Operations of which all ranks give the same count. */
static bool counts_agree(const struct rfn_call *call)
{
    return call->operation == RFN_MPI_Bcast || call->operation == RFN_MPI_Reduce ||
           call->operation == RFN_MPI_Allreduce || call->kind == RFN_CALL_SCAN;
}

static int64_t input_of(const struct rfn_call *call, const struct rfn_record *record,
                        enum rfn_input input)
{
    return call->in[input] < 0 ? -1 : record->in[call->in[input]];
}

/* Bytes of a rank's part. */
static int64_t count_of(const struct rfn_archive *archive, const struct rfn_call *call,
                        const struct rfn_record *record)
{
    const int64_t count = input_of(call, record, RFN_IN_count);
    const int64_t type = input_of(call, record, RFN_IN_datatype);
    if (!counts_agree(call) || count < 0 || type < 0)
        return -1;
    const int64_t size = rfn_archive_datatype(archive, (uint32_t)type)->size;
    return size > 0 && count <= INT64_MAX / size ? count * size : -1;
}

static int note_collective(const struct scanning *scanning, const struct rfn_call *call,
                           const struct rfn_record *record, int64_t place, bool open)
{
    struct rfn_hang_place_calls *calls = rfn_map_make_object(
        &scanning->scan->by_place, calls_key(scanning->thread->rank, place), sizeof *calls);
    if (!calls)
        return RFN_E_NOMEM;
    const size_t at = calls->n % RFN_HANG_LAST_CALLS;
    RFN_TRY(RFN_GROW(calls->last, calls->capacity, at + 1));
    calls->last[at] = (struct rfn_hang_call){
        .operation = call->operation,
        .variant = call->variant,
        .root = input_of(call, record, RFN_IN_root),
        .count = count_of(scanning->scan->archive, call, record),
        .function = record->function,
        .path = record->path};
    calls->n += !open;
    calls->open = open;
    return 0;
}

/* ---- what a call sends or receives ---- */

static int64_t world_rank(const struct scanning *scanning, int64_t comm, int64_t rank)
{
    return comm < 0 ? -1
                    : rfn_comm_peer(scanning->scan->archive, (uint32_t)comm, scanning->thread->rank,
                                    rank);
}

static struct rfn_hang_wait send_of(const struct rfn_call *call, const struct rfn_record *record,
                                    const struct rfn_volume *volume)
{
    return (struct rfn_hang_wait){.what = RFN_HANG_SEND,
                                  .peer = volume->dest_world,
                                  .tag = call->send_tag < 0 ? RFN_ANY : record->in[call->send_tag],
                                  .comm = volume->comm,
                                  .function = record->function,
                                  .path = record->path};
}

/* As it was asked for. */
static struct rfn_hang_wait receive_of(const struct scanning *scanning,
                                       const struct rfn_record *record, int64_t comm)
{
    const struct rfn_posted posted = rfn_volume_posted(scanning->volumes, record->function);
    return (struct rfn_hang_wait){
        .what = RFN_HANG_RECEIVE,
        .peer = posted.source < 0 ? -1 : world_rank(scanning, comm, record->in[posted.source]),
        .tag = posted.tag < 0 ? RFN_ANY : record->in[posted.tag],
        .comm = comm,
        .function = record->function,
        .path = record->path};
}

/* Nothing is sent to MPI_PROC_NULL, and nothing comes from there. */
static bool is_null(const struct rfn_call *call, const struct rfn_record *record)
{
    const int8_t at = rfn_call_sends(call) ? call->in[RFN_IN_dest] : call->in[RFN_IN_source];
    return at >= 0 && record->in[at] == RFN_PROC_NULL;
}

static struct pending *pending_at(struct scanning *scanning, int64_t id)
{
    if (id < 0 || RFN_GROW_ZEROED(scanning->pending, scanning->n_pending, (size_t)id + 1) < 0)
        return NULL;
    return &scanning->pending[id];
}

/* The event has made a request. */
static int note_request(struct scanning *scanning, const struct rfn_call *call,
                        const struct rfn_record *record, const struct rfn_volume *volume,
                        int64_t place, int64_t id)
{
    struct pending *pending = pending_at(scanning, id);
    if (!pending)
        return RFN_E_NOMEM;
    /* What MPI_Imrecv gets is there already. */
    *pending = (struct pending){.null = is_null(call, record) || call->kind == RFN_CALL_MRECV};
    pending->active = call->variant == RFN_CALL_NONBLOCKING && !pending->null;
    if (rfn_call_sends(call))
        pending->wait = send_of(call, record, volume);
    else if (rfn_call_receives(call))
        pending->wait = receive_of(scanning, record, volume->comm);
    else
        pending->wait = (struct rfn_hang_wait){.what = RFN_HANG_COLLECTIVE,
                                               .peer = -1,
                                               .comm = rfn_hang_place_comm(place),
                                               .place = place,
                                               .function = record->function,
                                               .path = record->path};
    if (rfn_call_sends(call) && call->variant == RFN_CALL_NONBLOCKING)
        return note_sent(scanning, &pending->wait);
    return 0;
}

static int note_effects(struct scanning *scanning, const struct rfn_call *call,
                        const struct rfn_record *record, const struct rfn_volume *volume,
                        int64_t place, const struct rfn_request_effects *effects)
{
    for (size_t i = 0; i < effects->n_completed; i++) {
        const struct rfn_completed *done = &effects->completed[i];
        if (!done->known)
            continue;
        struct pending *pending = pending_at(scanning, done->origin->id);
        if (!pending)
            return RFN_E_NOMEM;
        pending->active = false;
        const struct rfn_volume *its = done->origin->volume;
        if (done->origin->receives && !done->cancelled)
            RFN_TRY(note_received(scanning, world_rank(scanning, its->comm, its->source), its->comm,
                                  its->tag));
    }
    for (size_t i = 0; i < effects->n_started; i++) {
        struct pending *pending = pending_at(scanning, effects->started[i]->id);
        if (!pending)
            return RFN_E_NOMEM;
        pending->active = !pending->null;
        if (pending->wait.what == RFN_HANG_SEND)
            RFN_TRY(note_sent(scanning, &pending->wait));
    }
    if (effects->freed) {
        struct pending *pending = pending_at(scanning, effects->freed->id);
        if (pending)
            pending->active = false;
    }
    return effects->created < 0
               ? 0
               : note_request(scanning, call, record, volume, place, effects->created);
}

static int note_event(struct scanning *scanning, const struct rfn_record *record)
{
    const struct rfn_call *call = rfn_archive_call(scanning->scan->archive, record->function);
    const struct rfn_call_event event = rfn_call_event(scanning->scan->archive, scanning->cursor,
                                                       scanning->thread->rank, record);
    const int64_t place = rfn_hang_place_of(scanning->scan->objects, &event);
    RFN_TRY(rfn_hang_objects_event(scanning->scan->objects, &event, false));
    if (place >= 0 && call->variant != RFN_CALL_PERSISTENT && !record->error)
        RFN_TRY(note_collective(scanning, call, record, place, false));
    if (call->kind == RFN_CALL_OTHER || call->kind >= RFN_CALL_REGION_BEGIN || record->failed_poll)
        return 0;
    const struct rfn_volume volume = rfn_volume_of(scanning->volumes, scanning->cursor,
                                                   scanning->thread->rank, record);
    if (rfn_tracker_concerns(scanning->tracker, record->function)) {
        struct rfn_request_effects effects;
        RFN_TRY(rfn_tracker_event(scanning->tracker, scanning->thread->thread, scanning->cursor,
                                  record, &volume, false, &effects));
        RFN_TRY(note_effects(scanning, call, record, &volume, place, &effects));
    }
    if (record->error)
        return 0;
    if (rfn_call_is_collective(call))
        return 0;
    if (call->kind == RFN_CALL_MPROBE) /* takes the message for MPI_Mrecv */
        return note_received(scanning, world_rank(scanning, volume.comm, volume.source),
                             volume.comm, volume.tag);
    if (call->variant != RFN_CALL_BLOCKING || call->kind == RFN_CALL_MRECV)
        return 0;
    if (rfn_call_sends(call)) {
        const struct rfn_hang_wait send = send_of(call, record, &volume);
        RFN_TRY(note_sent(scanning, &send));
    }
    return rfn_call_receives(call)
               ? note_received(scanning, world_rank(scanning, volume.comm, volume.source),
                               volume.comm, volume.tag)
               : 0;
}

/* ---- what the thread is in ---- */

static int add_wait(struct scanning *scanning, struct rfn_hang_wait wait)
{
    RFN_TRY(RFN_GROW(scanning->waits, scanning->waits_capacity, scanning->n_waits + 1));
    scanning->waits[scanning->n_waits++] = wait;
    return 0;
}

/* All that are under way, where it is not known which are meant. */
static int add_all_pending(struct scanning *scanning)
{
    for (size_t i = 0; i < scanning->n_pending; i++) {
        struct pending *pending = &scanning->pending[i];
        if (pending->active && !pending->waited)
            RFN_TRY(add_wait(scanning, pending->wait));
        pending->waited = true;
    }
    return 0;
}

/* Requests that the tracker would have complete with this outcome. */
static int add_completed(struct scanning *scanning, struct rfn_record record, int64_t outcome)
{
    int64_t out[RFN_PARAMS_MAX] = {outcome};
    struct rfn_request_effects effects;
    const struct rfn_volume volume = {.comm = -1};
    record.out = out;
    record.failed_poll = false;
    record.polls = 1;
    RFN_TRY(rfn_tracker_event(scanning->tracker, scanning->thread->thread, scanning->cursor,
                              &record, &volume, false, &effects));
    for (size_t i = 0; i < effects.n_completed; i++) {
        const struct rfn_completed *done = &effects.completed[i];
        struct pending *pending = done->known ? pending_at(scanning, done->origin->id) : NULL;
        scanning->thread->requests_unknown |= !pending;
        if (pending && pending->active)
            RFN_TRY(add_wait(scanning, pending->wait));
        if (pending)
            pending->waited = true;
    }
    return 0;
}

static int add_requests(struct scanning *scanning, const struct rfn_call *call,
                        const struct rfn_record *record)
{
    switch (call->operation) {
    case RFN_MPI_Waitsome:
    case RFN_MPI_Testsome:
        scanning->thread->any = true;
        return add_all_pending(scanning);
    case RFN_MPI_Waitany:
    case RFN_MPI_Testany: {
        size_t n_requests;
        rfn_cursor_list(scanning->cursor, record->in[call->in[RFN_IN_REQUEST]], &n_requests,
                        RFN_KIND_REQUEST);
        scanning->thread->any = true;
        for (size_t i = 0; i < n_requests; i++)
            RFN_TRY(add_completed(scanning, *record, (int64_t)i));
        return 0;
    }
    case RFN_MPI_Request_get_status:
        return add_all_pending(scanning);
    default:
        return add_completed(scanning, *record, 0);
    }
}

static int add_open(struct scanning *scanning, const struct rfn_open_call *open)
{
    const struct rfn_record *record = &open->record;
    const struct rfn_call *call = rfn_archive_call(scanning->scan->archive, record->function);
    if (call->kind == RFN_CALL_FINALIZE)
        return add_wait(scanning, (struct rfn_hang_wait){.what = RFN_HANG_END,
                                                         .peer = -1,
                                                         .comm = -1,
                                                         .function = record->function,
                                                         .path = record->path});
    if (call->kind == RFN_CALL_COMPLETE || call->kind == RFN_CALL_LOOK)
        return add_requests(scanning, call, record);
    const struct rfn_call_event event = rfn_call_event(scanning->scan->archive, scanning->cursor,
                                                       scanning->thread->rank, record);
    const int64_t comm = input_of(call, record, RFN_IN_COMM);
    const int64_t place = rfn_hang_place_of(scanning->scan->objects, &event);
    struct rfn_hang_wait at_window;
    RFN_TRY(rfn_hang_objects_event(scanning->scan->objects, &event, true));
    if (rfn_hang_objects_wait(scanning->scan->objects, &event, &at_window))
        return add_wait(scanning, at_window);
    if (place >= 0 && call->variant == RFN_CALL_BLOCKING) {
        RFN_TRY(note_collective(scanning, call, record, place, true));
        return add_wait(scanning, (struct rfn_hang_wait){.what = RFN_HANG_COLLECTIVE,
                                                         .peer = -1,
                                                         .comm = rfn_hang_place_comm(place),
                                                         .place = place,
                                                         .function = record->function,
                                                         .path = record->path});
    }
    if (is_null(call, record) && call->kind != RFN_CALL_SENDRECV)
        return 0;
    if (rfn_call_sends(call)) {
        const struct rfn_volume volume = {
            .comm = comm,
            .dest_world = world_rank(scanning, comm, input_of(call, record, RFN_IN_dest))};
        const struct rfn_hang_wait send = send_of(call, record, &volume);
        RFN_TRY(note_sent(scanning, &send));
        if (send.peer >= 0)
            RFN_TRY(add_wait(scanning, send));
    }
    if (call->kind == RFN_CALL_RECV || call->kind == RFN_CALL_SENDRECV ||
        call->kind == RFN_CALL_PROBE || call->kind == RFN_CALL_MPROBE) {
        const int8_t source = call->in[RFN_IN_source];
        if (source < 0 || record->in[source] != RFN_PROC_NULL)
            return add_wait(scanning, receive_of(scanning, record, comm));
    }
    return 0;
}

static int keep_waits(const struct scanning *scanning, struct rfn_hang_wait **waits, size_t *n)
{
    *n = scanning->n_waits;
    *waits = rfn_arena_copy(scanning->scan->arena, scanning->waits, *n * sizeof **waits);
    return *waits ? 0 : RFN_E_NOMEM;
}

static int read_open(struct scanning *scanning, struct rfn_cursor *cursor)
{
    struct rfn_hang_thread *thread = scanning->thread;
    struct rfn_open_call open;
    const int known = rfn_cursor_open_call(cursor, &open, scanning->scan->diag);
    if (known <= 0)
        return known;
    thread->known = true;
    thread->kind = open.kind;
    thread->function = open.record.function;
    thread->path = open.record.path;
    thread->since_ns = open.since_ns;
    thread->until_ns = open.until_ns;
    thread->polls = open.record.polls;
    scanning->n_waits = 0;
    if (open.kind != RFN_OPEN_OUTSIDE)
        RFN_TRY(add_open(scanning, &open));
    RFN_TRY(keep_waits(scanning, &thread->waits, &thread->n_waits));
    scanning->n_waits = 0; /* what else it has posted */
    for (size_t i = 0; i < scanning->n_pending; i++) {
        const struct pending *pending = &scanning->pending[i];
        if (pending->active && !pending->waited && pending->wait.what == RFN_HANG_RECEIVE)
            RFN_TRY(add_wait(scanning, pending->wait));
    }
    return keep_waits(scanning, &thread->posted, &thread->n_posted);
}

/* ---- all streams ---- */

static int scan_stream(struct scanning *scanning, uint32_t stream)
{
    struct rfn_hang_scan *scan = scanning->scan;
    const struct rfn_stream_info info = rfn_archive_stream(scan->archive, stream);
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    scanning->thread = &scan->threads[stream];
    *scanning->thread = (struct rfn_hang_thread){
        .stream = stream, .rank = info.rank, .thread = info.thread};
    for (size_t i = 0; i < scanning->n_pending; i++)
        scanning->pending[i] = (struct pending){.active = false};
    rfn_tracker_reset(scanning->tracker);
    RFN_TRY(rfn_cursor_open(scan->archive, stream, &cursor, scan->diag));
    scanning->cursor = cursor;
    int error;
    while ((error = rfn_cursor_next(cursor, &record, scan->diag)) > 0) {
        error = note_event(scanning, record);
        if (error < 0)
            break;
    }
    if (error >= 0)
        error = read_open(scanning, cursor);
    rfn_cursor_close(cursor);
    return error;
}

int rfn_hang_scan(struct rfn_hang_scan *scan)
{
    struct scanning scanning = {.scan = scan,
                                .tracker = rfn_tracker_new(scan->archive),
                                .volumes = rfn_volumes_new(scan->archive)};
    scan->objects = rfn_hang_objects_new(scan->archive);
    int error = scanning.tracker && scanning.volumes && scan->objects ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < rfn_archive_run(scan->archive)->streams && !error; i++)
        error = scan_stream(&scanning, i);
    rfn_tracker_free(scanning.tracker);
    rfn_volumes_free(scanning.volumes);
    free(scanning.pending);
    free(scanning.waits);
    return error;
}

static void free_calls(void *value)
{
    struct rfn_hang_place_calls *calls = value;
    free(calls->last);
    free(calls);
}

void rfn_hang_scan_release(struct rfn_hang_scan *scan)
{
    free(scan->channels);
    rfn_map_release_objects(&scan->by_channel, free);
    rfn_map_release_objects(&scan->by_place, free_calls);
    rfn_hang_objects_free(scan->objects);
}
