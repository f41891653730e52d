#include "convert/events/archive_stream.h"

#include "analyze/match/topology.h"
#include "base/c_numbers.h"
#include "base/grow.h"
#include "base/order.h"
#include "refrain/demangle.h"

#include <stdlib.h>
#include <string.h>

enum {
    NEIGHBOR_TAG = 1 << 30, /* of messages that a neighbourhood collective is made of */
    /* A program that does no more than this between two polls, in ns or instructions, waits. */
    SPIN = 250 * 1000,
    NAMES_MAX = 300
};

static const int64_t SLOTS = (int64_t)1 << 56, PARTS = (int64_t)1 << 57;

static int no_memory(const struct rfn_archive_stream *stream)
{
    return rfn_fail(stream->diag, RFN_E_NOMEM, -1, (int)stream->rank, "out of memory");
}

/* ---- memory ---- */

static void free_slot(struct rfn_stream_slot *slot)
{
    if (!slot)
        return;
    free(slot->sizes.sizes);
    free(slot->parts);
    free(slot);
}

void rfn_archive_stream_release(struct rfn_archive_stream *stream)
{
    for (size_t i = 0; i < stream->symbols_capacity; i++)
        free(stream->symbols[i].sizes.sizes);
    for (size_t i = 0; i < stream->slots_capacity; i++)
        free_slot(stream->slots[i]);
    rfn_open_regions_release(&stream->regions);
    rfn_off_times_release(&stream->own);
    if (stream->cursor)
        rfn_cursor_close(stream->cursor);
    rfn_fates_close(stream->fates);
    rfn_map_release(&stream->groups);
    rfn_map_release_objects(&stream->handles, free);
    rfn_neighborhoods_release(&stream->neighborhoods);
    free(stream->symbols);
    free(stream->slots);
    free(stream->queue);
    free(stream->requests);
}

/* ---- what cannot be told ---- */

/* "libsolver.so: PCG::solve < step < main", of at most four names, as far as they fit. */
static void print_path(const struct rfn_archive *archive, uint32_t number, char *text, size_t size)
{
    const struct rfn_path path = rfn_archive_path(archive, number);
    enum { NAMES = 4 };
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i <= NAMES && i < path.n_frames && at + 1 < size; i++) {
        const struct rfn_location of = rfn_archive_location(archive, path.frames[i]);
        char *label = of.function ? rfn_function_label(of.function, of.file, of.module,
                                                       rfn_archive_run(archive)->program)
                                  : NULL;
        const int n = rfn_c_print(text + at, size - at, "%s%s", i ? " < " : "",
                                  i == NAMES ? "..."
                                  : label    ? label
                                             : "?");
        at += n > 0 ? (size_t)n : 0;
        free(label);
    }
}

static int refuse(const struct rfn_archive_stream *stream, const struct rfn_record *record,
                  const char *why)
{
    char path[NAMES_MAX];
    print_path(stream->archive, record->path, path, sizeof path);
    return rfn_fail(
        stream->diag, RFN_E_UNSUPPORTED, -1, (int)stream->rank,
        "rank %u, event %llu: %s (%s) %s, which a time-independent trace cannot express",
        stream->rank, (unsigned long long)record->index,
        rfn_archive_function(stream->archive, record->function)->name,
        path[0] ? path : "call path not known", why);
}

/* ---- symbols ---- */

static enum rfn_call_use use_of_other(const struct rfn_call *call)
{
    switch (call->class_) {
    case RFN_CLASS_RMA:
    case RFN_CLASS_RMA_SYNC:
        return RFN_USE_REFUSE;
    case RFN_CLASS_FILE:
        return call->in[RFN_IN_FILE] >= 0 ? RFN_USE_LEFT_OUT : RFN_USE_NONE;
    case RFN_CLASS_UNRECORDED:
        return RFN_USE_LEFT_OUT;
    default:
        return rfn_class_is_mpi(call->class_) ? RFN_USE_NONE : RFN_USE_MARK;
    }
}

/* Which calls that make something synchronize: freeing does not. */
static bool makes(const struct rfn_call *call)
{
    return call->out[RFN_OUT_COMM] >= 0 || call->out[RFN_OUT_WIN] >= 0 ||
           call->out[RFN_OUT_FILE] >= 0;
}

static bool is_sleep(const struct rfn_function_info *function)
{
    return strcmp(function->name, "sleep") == 0 && function->n_in > 0;
}

static enum rfn_call_use use_of(const struct rfn_call *call,
                                const struct rfn_function_info *function)
{
    switch (call->kind) {
    case RFN_CALL_SEND:
    case RFN_CALL_RECV:
    case RFN_CALL_SENDRECV:
    case RFN_CALL_PROBE:
        return RFN_USE_MESSAGE;
    case RFN_CALL_MPROBE:
        return RFN_USE_MPROBE;
    case RFN_CALL_MRECV:
        return RFN_USE_MRECV;
    case RFN_CALL_START:
        return RFN_USE_START;
    case RFN_CALL_READY:
        return RFN_USE_READY;
    case RFN_CALL_COMPLETE:
        return RFN_USE_COMPLETE;
    case RFN_CALL_NEIGHBOR:
        return RFN_USE_NEIGHBORS;
    case RFN_CALL_MAKE:
        if (call->class_ == RFN_CLASS_RMA_SYNC || call->in[RFN_IN_COMM] < 0)
            return use_of_other(call);
        return makes(call) ? RFN_USE_COLLECTIVE : RFN_USE_NONE;
    case RFN_CALL_INIT:
        return RFN_USE_INIT;
    case RFN_CALL_FINALIZE:
        return RFN_USE_FINALIZE;
    default:
        if (rfn_call_is_collective(call))
            return RFN_USE_COLLECTIVE;
        return is_sleep(function) ? RFN_USE_SLEEP : use_of_other(call);
    }
}

/* NULL: out of memory. */
static inline struct rfn_stream_symbol *symbol_of(struct rfn_archive_stream *stream,
                                                  const struct rfn_record *record)
{
    if (RFN_GROW_ZEROED(stream->symbols, stream->symbols_capacity, (size_t)record->symbol + 1) < 0)
        return NULL;
    struct rfn_stream_symbol *symbol = &stream->symbols[record->symbol];
    if (!symbol->call) {
        symbol->call = rfn_archive_call(stream->archive, record->function);
        symbol->use = use_of(symbol->call, rfn_archive_function(stream->archive, record->function));
    }
    return symbol;
}

/* ---- the queue ---- */

static struct rfn_action *put(struct rfn_archive_stream *stream, const struct rfn_action *action,
                              const struct rfn_record *record)
{
    if (RFN_GROW(stream->queue, stream->queue_capacity, stream->n + 1) < 0)
        return NULL;
    struct rfn_action *to = &stream->queue[stream->n++];
    *to = *action;
    to->event = record->index;
    to->path = record->path;
    return to;
}

/* What was computed so far becomes an action. */
static int emit_computed(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    if (!(stream->computed > 0))
        return 0;
    const int64_t activity = rfn_activity_of(stream->activities, &stream->activity);
    const struct rfn_action compute = {.kind = RFN_ACTION_COMPUTE,
                                       .volume = stream->computed,
                                       .request = -1,
                                       .type_bytes = 1,
                                       .activity = (uint32_t)activity};
    if (activity < 0 || !put(stream, &compute, record))
        return RFN_E_NOMEM;
    stream->computed = stream->most = 0;
    return 0;
}

/* What was computed, then the action. NULL: out of memory. */
static struct rfn_action *emit(struct rfn_archive_stream *stream, const struct rfn_action *action,
                               const struct rfn_record *record)
{
    return emit_computed(stream, record) < 0 ? NULL : put(stream, action, record);
}

static int emit_alone(struct rfn_archive_stream *stream, enum rfn_action_kind kind,
                      const struct rfn_record *record)
{
    const struct rfn_action action = {.kind = kind, .request = -1, .type_bytes = 1, .blocks = true};
    return emit(stream, &action, record) ? 0 : RFN_E_NOMEM;
}

/* ---- what is computed ---- */

static bool goes_on(const struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    return record->function == stream->polls_function && record->path == stream->polls_path;
}

/* A run of polls is over: what was done between them is work only where it is much. How much that
 * is per poll the gap before the next poll of the kind says, if there is one; of times it is known
 * (take_times). */
static void end_polls(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    const double each = goes_on(stream, record) ? (double)record->volume_gap : 0;
    if (!stream->measured && each <= SPIN)
        stream->polled -= each * (double)(stream->polls - 1);
    stream->computed += stream->polled > 0 ? stream->polled : 0;
    stream->polls = 0;
    stream->polled = 0;
}

/* Of times: what lies between this event and the one before, without the recorder's own work, and
 * of polls between them. */
static void take_times(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    const int64_t before = stream->last_ns < 0 ? record->enter_ns : stream->last_ns;
    if (record->enter_ns > before)
        stream->computed += (double)(record->enter_ns - before -
                                     rfn_off_times_overlap(&stream->own, &stream->own_at, before,
                                                           record->enter_ns));
    stream->last_ns = record->exit_ns;
    if (!record->failed_poll)
        return;
    const int64_t outside = record->exit_ns - record->enter_ns - record->inside_ns;
    if (outside > 0 && (uint64_t)outside / SPIN >= record->polls)
        stream->computed += (double)outside;
}

static inline void take_gap(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    if (stream->measured) {
        take_times(stream, record);
        return;
    }
    if (record->failed_poll) {
        if (stream->polls && !goes_on(stream, record))
            end_polls(stream, record);
        stream->polls += record->polls;
        stream->polled += (double)record->volume_gap;
        stream->polls_function = record->function;
        stream->polls_path = record->path;
        return;
    }
    if (stream->polls)
        end_polls(stream, record);
    stream->computed += (double)record->volume_gap;
}

/* A call that is no action works, too. */
static void take_inside(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    stream->computed += stream->measured ? (double)(record->exit_ns - record->enter_ns)
                                         : (double)record->volume_inside;
}

/* ---- requests ---- */

/* What will become of a message that a request is for now. */
static int take_fate(struct rfn_archive_stream *stream, uint64_t posting, struct rfn_fate *fate)
{
    if (!stream->fates)
        RFN_TRY(rfn_fates_open(&stream->fates, stream->archive, stream->volumes, stream->stream,
                               stream->diag));
    do
        RFN_TRY(rfn_fates_next(stream->fates, fate, stream->diag));
    while (stream->fates_taken++ < posting);
    return 0;
}

static bool is_any(const struct rfn_action *action)
{
    return (action->kind == RFN_ACTION_RECV &&
            (action->peer == RFN_ACTION_ANY || action->tag == RFN_ANY)) ||
           (action->kind == RFN_ACTION_SENDRECV &&
            (action->receive_peer == RFN_ACTION_ANY || action->receive_tag == RFN_ANY));
}

/* Puts in whom a receive gets its message from. false: the message is none. */
static int resolve(struct rfn_archive_stream *stream, const struct rfn_call_event *call,
                   int64_t comm, struct rfn_action *action)
{
    struct rfn_fate fate;
    const uint64_t posting = stream->postings++;
    if (!stream->wants_fates && !is_any(action))
        return 1;
    RFN_TRY(take_fate(stream, posting, &fate));
    if (fate.cancelled)
        return 0;
    if (!is_any(action))
        return 1;
    const int64_t source = rfn_action_peer(call, comm, fate.source);
    if (source == RFN_ACTION_ANY || source < 0 || fate.tag < 0)
        return refuse(stream, call->record,
                      "receives from any rank, and the archive does not tell who sent the message");
    *(action->kind == RFN_ACTION_RECV ? &action->peer : &action->receive_peer) = source;
    *(action->kind == RFN_ACTION_RECV ? &action->tag : &action->receive_tag) = fate.tag;
    return 1;
}

/* Both sides of a Sendrecv with one request. */
static int post_both(struct rfn_archive_stream *stream, const struct rfn_action *action,
                     int64_t request, const struct rfn_record *record)
{
    struct rfn_action send = *action, receive = *action;
    send.kind = RFN_ACTION_SEND;
    receive.kind = RFN_ACTION_RECV;
    receive.peer = action->receive_peer;
    receive.tag = action->receive_tag;
    receive.bytes = action->receive_bytes;
    RFN_TRY(rfn_map_put(&stream->groups, (uint64_t)request,
                        (uint64_t)stream->parts | (uint64_t)2 << 40));
    send.request = PARTS + stream->parts++;
    receive.request = PARTS + stream->parts++;
    return emit(stream, &receive, record) && emit(stream, &send, record) ? 0 : RFN_E_NOMEM;
}

/* A message, or a collective call, with a request. */
static int post(struct rfn_archive_stream *stream, const struct rfn_action *action, int64_t request,
                const struct rfn_record *record)
{
    if (action->kind == RFN_ACTION_SENDRECV)
        return post_both(stream, action, request, record);
    struct rfn_action *posted = emit(stream, action, record);
    if (!posted)
        return RFN_E_NOMEM;
    posted->request = request;
    posted->blocks = false;
    return 0;
}

/* ---- persistent requests ---- */

/* A slot for a request that is made; *slot NULL: none. RFN_E_NOMEM. */
static int make_slot(struct rfn_archive_stream *stream, const struct rfn_call_event *call,
                     struct rfn_stream_slot **slot)
{
    const int64_t word = rfn_made(call, RFN_OUT_REQUEST);
    const int64_t number = word > 0 && (word & 3) == RFN_REQUEST_SLOT ? word >> 2 : RFN_SLOTS_MAX;
    *slot = NULL;
    if (number >= RFN_SLOTS_MAX)
        return 0;
    RFN_TRY(RFN_GROW_ZEROED(stream->slots, stream->slots_capacity, (size_t)number + 1));
    free_slot(stream->slots[number]);
    *slot = stream->slots[number] = calloc(1, sizeof **stream->slots);
    return *slot ? 0 : RFN_E_NOMEM;
}

static int keep_message(struct rfn_archive_stream *stream, const struct rfn_call_event *call,
                        const struct rfn_action *action, bool acts)
{
    struct rfn_stream_slot *slot;
    RFN_TRY(make_slot(stream, call, &slot));
    if (!slot)
        return 0;
    slot->use = RFN_USE_MESSAGE;
    slot->comm = rfn_word(call, RFN_IN_COMM, -1);
    slot->partitioned = rfn_has(call, RFN_IN_partitions) && call->call->kind == RFN_CALL_SEND;
    slot->partitions = rfn_word(call, RFN_IN_partitions, 0);
    slot->action = *action;
    if (!acts)
        slot->action.kind = RFN_ACTION_KINDS; /* it starts, and counts, but does nothing */
    return 0;
}

static struct rfn_stream_slot *slot_of(const struct rfn_archive_stream *stream, int64_t word)
{
    const uint64_t number = (uint64_t)word >> 2;
    return (word & 3) == RFN_REQUEST_SLOT && number < stream->slots_capacity ? stream->slots[number]
                                                                             : NULL;
}

static int start_neighbors(struct rfn_archive_stream *stream, const struct rfn_stream_slot *slot,
                           int64_t request, const struct rfn_record *record);

static int start_message(struct rfn_archive_stream *stream, const struct rfn_call_event *call,
                         struct rfn_stream_slot *slot, int64_t request)
{
    struct rfn_action action = slot->action;
    const int happens = resolve(stream, call, slot->comm, &action);
    if (happens <= 0 || action.kind == RFN_ACTION_KINDS)
        return happens < 0 ? happens : 0;
    slot->missing = slot->partitions;
    return slot->partitioned && slot->partitions > 0 ? 0
                                                     : post(stream, &action, request, call->record);
}

static int start_one(struct rfn_archive_stream *stream, const struct rfn_call_event *call,
                     int64_t word)
{
    struct rfn_stream_slot *slot = slot_of(stream, word);
    const int64_t request = SLOTS + (word >> 2);
    if (!slot || slot->use == RFN_USE_NONE)
        return 0;
    if (slot->use == RFN_USE_MESSAGE)
        return start_message(stream, call, slot, request);
    if (slot->use == RFN_USE_NEIGHBORS)
        return start_neighbors(stream, slot, request, call->record);
    return post(stream, &slot->action, request, call->record);
}

/* The words of the requests of a call: of an array, or of the one input. */
static const int64_t *request_words(const struct rfn_call_event *call, size_t *n)
{
    if (call->call->requests)
        return rfn_word_list(call, RFN_IN_REQUEST, RFN_KIND_REQUEST, n);
    *n = 1;
    return &call->record->in[call->call->in[RFN_IN_REQUEST]];
}

static int start_all(struct rfn_archive_stream *stream, const struct rfn_call_event *call)
{
    size_t n;
    const int64_t *words = request_words(call, &n);
    for (size_t i = 0; words && i < n; i++)
        RFN_TRY(start_one(stream, call, words[i]));
    return 0;
}

static int64_t ready_partitions(const struct rfn_call_event *call)
{
    if (rfn_has(call, RFN_IN_length))
        return rfn_word(call, RFN_IN_length, 0);
    if (!rfn_has(call, RFN_IN_partition_low))
        return 1;
    return rfn_word(call, RFN_IN_partition_high, 0) - rfn_word(call, RFN_IN_partition_low, 0) + 1;
}

/* A partitioned message is sent when its last partition is ready. */
static int make_ready(struct rfn_archive_stream *stream, const struct rfn_call_event *call)
{
    const int64_t word = call->record->in[call->call->in[RFN_IN_REQUEST]];
    struct rfn_stream_slot *slot = slot_of(stream, word);
    if (!slot || !slot->partitioned || slot->missing <= 0 || slot->action.kind == RFN_ACTION_KINDS)
        return 0;
    const int64_t ready = ready_partitions(call);
    slot->missing -= ready < 0 ? 0 : ready < slot->missing ? ready : slot->missing;
    return slot->missing ? 0 : post(stream, &slot->action, SLOTS + (word >> 2), call->record);
}

/* ---- completions ---- */

static int add_request(struct rfn_archive_stream *stream, int64_t request)
{
    RFN_TRY(RFN_GROW(stream->requests, stream->requests_capacity, stream->n_requests + 1));
    stream->requests[stream->n_requests++] = request;
    return 0;
}

static int add_group(struct rfn_archive_stream *stream, int64_t request, uint64_t group)
{
    const int64_t first = (int64_t)(group & (((uint64_t)1 << 40) - 1)), n = (int64_t)(group >> 40);
    rfn_map_remove(&stream->groups, (uint64_t)request);
    for (int64_t i = 0; i < n; i++)
        RFN_TRY(add_request(stream, PARTS + first + i));
    return 0;
}

/* The request that a word means. */
static inline int add_word(struct rfn_archive_stream *stream, int64_t word)
{
    int64_t request;
    if ((word & 3) == RFN_REQUEST_RECENT)
        request = stream->made - (word >> 2);
    else if ((word & 3) == RFN_REQUEST_SLOT)
        request = SLOTS + (word >> 2);
    else
        return 0; /* none, or another thread's */
    if (request < 0)
        return 0;
    if (stream->groups.n) {
        const uint64_t *group = rfn_map_get(&stream->groups, (uint64_t)request);
        if (group)
            return add_group(stream, request, *group);
    }
    return add_request(stream, request);
}

/* What has not completed though its call returned: an error of another one. */
static bool is_pending(const struct rfn_call_event *call, size_t position)
{
    size_t n;
    const int8_t at = call->call->out[RFN_OUT_COMPLETIONS];
    const int64_t list = at < 0 || !call->record->error ? 0 : call->record->out[at];
    if (list <= 0)
        return false;
    const int64_t *entry = rfn_cursor_list(call->cursor, list, &n, RFN_KIND_COMPLETIONS);
    for (; entry && n >= RFN_COMPLETION_WORDS;
         n -= RFN_COMPLETION_WORDS, entry += RFN_COMPLETION_WORDS) {
        if (entry[0] == (int64_t)position)
            return entry[5] & RFN_COMPLETION_PENDING;
    }
    return false;
}

static int add_completed(struct rfn_archive_stream *stream, const struct rfn_call_event *call)
{
    size_t n, n_indices = 1;
    const int8_t at = call->call->out[RFN_OUT_INDEX];
    const int64_t *words = request_words(call, &n);
    const int64_t *indices = at < 0 ? NULL : &call->record->out[at];
    if (at >= 0 && call->call->indices)
        indices = rfn_cursor_list(call->cursor, *indices, &n_indices, RFN_KIND_INT);
    for (size_t i = 0; at < 0 && words && i < n; i++) {
        if (!is_pending(call, i))
            RFN_TRY(add_word(stream, words[i]));
    }
    for (size_t i = 0; indices && words && i < n_indices; i++) {
        if (indices[i] >= 0 && (uint64_t)indices[i] < n && !is_pending(call, (size_t)indices[i]))
            RFN_TRY(add_word(stream, words[indices[i]]));
    }
    return 0;
}

static int complete(struct rfn_archive_stream *stream, const struct rfn_call_event *call)
{
    stream->n_requests = 0;
    RFN_TRY(add_completed(stream, call));
    if (!stream->n_requests) {
        take_inside(stream, call->record);
        return 0;
    }
    RFN_TRY(emit_alone(stream, RFN_ACTION_WAIT, call->record));
    struct rfn_action *wait = &stream->queue[stream->n - 1];
    wait->requests = stream->requests;
    wait->n_requests = stream->n_requests;
    return 0;
}

/* ---- messages ---- */

/* Blocking receives tell whom they have received from, so theirs can only be a broken one. */
static int check_known(const struct rfn_archive_stream *stream, const struct rfn_action *action,
                       const struct rfn_record *record)
{
    return is_any(action) || (action->kind == RFN_ACTION_PROBE &&
                              (action->peer == RFN_ACTION_ANY || action->tag == RFN_ANY))
               ? refuse(stream, record, "does not tell who sent its message")
               : 0;
}

static int take_message(struct rfn_archive_stream *stream, const struct rfn_stream_symbol *symbol,
                        const struct rfn_call_event *call, struct rfn_action action)
{
    const int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    switch (symbol->call->variant) {
    case RFN_CALL_BLOCKING:
        if (!symbol->acts)
            return 0;
        RFN_TRY(check_known(stream, &action, call->record));
        return emit(stream, &action, call->record) ? 0 : RFN_E_NOMEM;
    case RFN_CALL_PERSISTENT:
        return keep_message(stream, call, &action, symbol->acts);
    default:
        break;
    }
    const int happens = resolve(stream, call, comm, &action);
    return happens > 0 && symbol->acts ? post(stream, &action, stream->request, call->record)
           : happens < 0               ? happens
                                       : 0;
}

static bool came_as_asked(const struct rfn_stream_symbol *symbol, const struct rfn_record *record)
{
    const int8_t *out = symbol->call->out;
    return (out[RFN_OUT_RANK] < 0 || record->out[out[RFN_OUT_RANK]] == RFN_AS_POSTED) &&
           (out[RFN_OUT_TAG] < 0 || record->out[out[RFN_OUT_TAG]] == RFN_AS_POSTED) &&
           (out[RFN_OUT_BYTES] < 0 || record->out[out[RFN_OUT_BYTES]] == RFN_AS_POSTED);
}

/* The action of the event, made anew unless it is known. */
static int message(struct rfn_archive_stream *stream, struct rfn_stream_symbol *symbol,
                   const struct rfn_call_event *call)
{
    struct rfn_refusal refusal;
    const bool constant = !call->record->varying && came_as_asked(symbol, call->record);
    if (!constant || !symbol->ready) {
        const int acts = rfn_message_action(call, &symbol->action, &refusal);
        if (acts < 0)
            return refuse(stream, call->record, refusal.why);
        symbol->acts = acts;
        symbol->ready = constant;
    }
    return take_message(stream, symbol, call, symbol->action);
}

static int matched_probe(struct rfn_archive_stream *stream, struct rfn_stream_symbol *symbol,
                         const struct rfn_call_event *call)
{
    RFN_TRY(message(stream, symbol, call));
    const int64_t handle = rfn_outcome(call, RFN_OUT_MESSAGE);
    struct rfn_action *found = rfn_map_make_object(&stream->handles, (uint64_t)handle,
                                                   sizeof *found);
    if (!found)
        return RFN_E_NOMEM;
    *found = symbol->action;
    found->kind = symbol->acts ? RFN_ACTION_RECV : RFN_ACTION_KINDS;
    return 0;
}

/* Receives what a matched probe has found. */
static int matched_receive(struct rfn_archive_stream *stream,
                           const struct rfn_stream_symbol *symbol,
                           const struct rfn_call_event *call)
{
    const uint64_t handle = (uint64_t)rfn_word(call, RFN_IN_MESSAGE, -1);
    struct rfn_action *found = rfn_map_object(&stream->handles, handle);
    const bool blocks = symbol->call->variant == RFN_CALL_BLOCKING;
    const int64_t came = rfn_outcome(call, RFN_OUT_BYTES);
    stream->postings += !blocks;
    if (!found || found->kind == RFN_ACTION_KINDS)
        return 0;
    struct rfn_action action = *found;
    free(found);
    rfn_map_remove(&stream->handles, handle);
    action.bytes = came >= 0 ? came : rfn_element_bytes(call, RFN_IN_count, RFN_IN_datatype);
    if (!blocks)
        return post(stream, &action, stream->request, call->record);
    action.blocks = true;
    return emit(stream, &action, call->record) ? 0 : RFN_E_NOMEM;
}

/* ---- collective calls ---- */

static int collective(struct rfn_archive_stream *stream, struct rfn_stream_symbol *symbol,
                      const struct rfn_call_event *call)
{
    struct rfn_refusal refusal;
    if (call->record->varying || !symbol->ready) {
        const int acts = rfn_collective_action(call, &symbol->sizes, &symbol->action, &refusal);
        if (acts < 0)
            return acts == RFN_E_NOMEM ? acts : refuse(stream, call->record, refusal.why);
        symbol->acts = acts;
        symbol->ready = !call->record->varying;
    }
    if (rfn_makes_topology(symbol->call))
        RFN_TRY(rfn_neighborhoods_event(&stream->neighborhoods, call));
    if (!symbol->acts)
        return 0;
    if (stream->flops)
        symbol->action.volume = (double)rfn_most(call->record->volume_inside, 0);
    if (stream->request >= 0)
        return post(stream, &symbol->action, stream->request, call->record);
    return emit(stream, &symbol->action, call->record) ? 0 : RFN_E_NOMEM;
}

/* A start may come when the symbol's lists are another event's: it has its own. */
static int keep_collective(struct rfn_archive_stream *stream, const struct rfn_call_event *call)
{
    struct rfn_refusal refusal;
    struct rfn_stream_slot *slot;
    RFN_TRY(make_slot(stream, call, &slot));
    if (!slot)
        return 0;
    const int acts = rfn_collective_action(call, &slot->sizes, &slot->action, &refusal);
    if (acts < 0)
        return acts == RFN_E_NOMEM ? acts : refuse(stream, call->record, refusal.why);
    slot->use = acts ? RFN_USE_COLLECTIVE : RFN_USE_NONE;
    return 0;
}

/* ---- neighbourhood collectives: a message from and to each neighbour ---- */

/* Adds the messages of one direction; returns how many there are then, or an error. */
static int64_t add_neighbors(const struct rfn_call_event *call, const int64_t *ranks, size_t n,
                             bool sends, struct rfn_action *parts, int64_t at)
{
    const int64_t comm = rfn_word(call, RFN_IN_COMM, -1);
    for (size_t i = 0; i < n; i++) {
        const int64_t peer = ranks[i] < 0 ? -1 : rfn_action_peer(call, comm, ranks[i]);
        if (peer < 0)
            continue;
        parts[at++] = (struct rfn_action){.kind = sends ? RFN_ACTION_SEND : RFN_ACTION_RECV,
                                          .peer = peer,
                                          .tag = NEIGHBOR_TAG,
                                          .bytes = sends ? rfn_sent_part(call, i)
                                                         : rfn_received_part(call, i),
                                          .comm = rfn_action_comm(call->archive, comm),
                                          .request = -1,
                                          .type_bytes = 1};
    }
    return at;
}

/* parts is to be freed. */
static int neighbor_parts(const struct rfn_archive_stream *stream,
                          const struct rfn_call_event *call, struct rfn_action **parts, size_t *n)
{
    const struct rfn_neighbors *of = rfn_neighborhoods_of(&stream->neighborhoods,
                                                          rfn_word(call, RFN_IN_COMM, -1));
    if (!of)
        return refuse(stream, call->record,
                      "is a neighbourhood collective whose neighbours the archive does not tell");
    *parts = malloc((of->n_in + of->n_out + 1) * sizeof **parts);
    if (!*parts)
        return RFN_E_NOMEM;
    int64_t at = add_neighbors(call, of->ranks, of->n_in, false, *parts, 0);
    at = add_neighbors(call, of->ranks + of->n_in, of->n_out, true, *parts, at);
    *n = (size_t)at;
    return 0;
}

/* Posts the messages as parts of a request. */
static int post_parts(struct rfn_archive_stream *stream, const struct rfn_action *parts, size_t n,
                      int64_t request, const struct rfn_record *record)
{
    if (n)
        RFN_TRY(rfn_map_put(&stream->groups, (uint64_t)request,
                            (uint64_t)stream->parts | (uint64_t)n << 40));
    for (size_t i = 0; i < n; i++)
        RFN_TRY(post(stream, &parts[i], PARTS + stream->parts++, record));
    return 0;
}

static int start_neighbors(struct rfn_archive_stream *stream, const struct rfn_stream_slot *slot,
                           int64_t request, const struct rfn_record *record)
{
    return post_parts(stream, slot->parts, slot->n_parts, request, record);
}

/* ... and waits for them. */
static int exchange(struct rfn_archive_stream *stream, const struct rfn_action *parts, size_t n,
                    const struct rfn_record *record)
{
    stream->n_requests = 0;
    for (size_t i = 0; i < n; i++) {
        RFN_TRY(add_request(stream, PARTS + stream->parts));
        RFN_TRY(post(stream, &parts[i], PARTS + stream->parts++, record));
    }
    RFN_TRY(emit_alone(stream, RFN_ACTION_WAIT, record));
    struct rfn_action *wait = &stream->queue[stream->n - 1];
    wait->requests = stream->requests;
    wait->n_requests = n;
    return 0;
}

static int neighbors(struct rfn_archive_stream *stream, const struct rfn_stream_symbol *symbol,
                     const struct rfn_call_event *call)
{
    struct rfn_action *parts = NULL;
    size_t n = 0;
    struct rfn_stream_slot *slot = NULL;
    if (symbol->call->variant == RFN_CALL_PERSISTENT)
        RFN_TRY(make_slot(stream, call, &slot));
    RFN_TRY(neighbor_parts(stream, call, &parts, &n));
    if (slot) {
        slot->use = RFN_USE_NEIGHBORS;
        slot->parts = parts;
        slot->n_parts = n;
        return 0;
    }
    int error = 0;
    if (symbol->call->variant == RFN_CALL_BLOCKING)
        error = exchange(stream, parts, n, call->record);
    else if (symbol->call->variant == RFN_CALL_NONBLOCKING)
        error = post_parts(stream, parts, n, stream->request, call->record);
    free(parts);
    return error;
}

/* ---- events ---- */

static int sleeps(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    const struct rfn_action action = {.kind = RFN_ACTION_SLEEP,
                                      .seconds = record->in[0] > 0 ? (double)record->in[0] * 1e-9
                                                                   : 0,
                                      .request = -1,
                                      .type_bytes = 1};
    return emit(stream, &action, record) ? 0 : RFN_E_NOMEM;
}

static void leave_out(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    if (!stream->left_out++)
        stream->first_left_out = record->function;
    take_inside(stream, record);
}

/* A call without an action of its own kind. */
static int take_other(struct rfn_archive_stream *stream, const struct rfn_stream_symbol *symbol,
                      const struct rfn_call_event *call)
{
    switch (symbol->use) {
    case RFN_USE_INIT:
        stream->computed = stream->most = 0;
        return emit_alone(stream, RFN_ACTION_INIT, call->record);
    case RFN_USE_FINALIZE:
        return emit_alone(stream, RFN_ACTION_FINALIZE, call->record);
    case RFN_USE_SLEEP:
        return sleeps(stream, call->record);
    case RFN_USE_REFUSE:
        return refuse(stream, call->record, "is one-sided");
    case RFN_USE_LEFT_OUT:
        leave_out(stream, call->record);
        return 0;
    case RFN_USE_NONE:
        take_inside(stream, call->record);
        return 0;
    default:
        return 0;
    }
}

static int take_call(struct rfn_archive_stream *stream, struct rfn_stream_symbol *symbol,
                     const struct rfn_call_event *call)
{
    const bool persistent = symbol->call->variant == RFN_CALL_PERSISTENT;
    switch (symbol->use) {
    case RFN_USE_MESSAGE:
        return message(stream, symbol, call);
    case RFN_USE_COLLECTIVE:
        return persistent ? keep_collective(stream, call) : collective(stream, symbol, call);
    case RFN_USE_NEIGHBORS:
        return neighbors(stream, symbol, call);
    case RFN_USE_MPROBE:
        return matched_probe(stream, symbol, call);
    case RFN_USE_MRECV:
        return matched_receive(stream, symbol, call);
    case RFN_USE_START:
        return start_all(stream, call);
    case RFN_USE_READY:
        return make_ready(stream, call);
    case RFN_USE_COMPLETE:
        return complete(stream, call);
    default:
        return take_other(stream, symbol, call);
    }
}

enum { TRUNCATED = 15 }; /* MPI_ERR_TRUNCATE: the message was received nevertheless */

static void name_activity(struct rfn_archive_stream *stream, const struct rfn_record *record,
                          double volume)
{
    stream->most = volume;
    stream->activity = (struct rfn_activity){
        .kind = RFN_ACTIVITY_COMPUTE,
        .before = stream->before,
        .at = {record->function, record->path},
        .region = rfn_open_regions_innermost(&stream->regions)};
}

/* What is computed in a region and around it is computed apart. */
static int mark(struct rfn_archive_stream *stream, const struct rfn_stream_symbol *symbol,
                const struct rfn_record *record)
{
    RFN_TRY(emit_computed(stream, record));
    return rfn_open_regions_event(&stream->regions, symbol->call, record);
}

static int take_event(struct rfn_archive_stream *stream, const struct rfn_record *record)
{
    struct rfn_stream_symbol *symbol = symbol_of(stream, record);
    if (!symbol)
        return RFN_E_NOMEM;
    const double before = stream->computed;
    take_gap(stream, record);
    if (stream->computed - before > stream->most)
        name_activity(stream, record, stream->computed - before);
    stream->before = (struct rfn_call_site){record->function, record->path};
    if (symbol->use == RFN_USE_MARK)
        return mark(stream, symbol, record);
    if (record->failed_poll)
        return 0;
    const bool completes = symbol->use == RFN_USE_COMPLETE;
    if (record->error && record->error != TRUNCATED && !completes) { /* it has done nothing */
        take_inside(stream, record);
        return 0;
    }
    stream->request = symbol->call->variant == RFN_CALL_NONBLOCKING ? stream->made++ : -1;
    const struct rfn_call_event call = {stream->archive, symbol->call, stream->cursor, record,
                                        stream->rank};
    return take_call(stream, symbol, &call);
}

static int begin(struct rfn_archive_stream *stream)
{
    RFN_TRY(rfn_cursor_open(stream->archive, stream->stream, &stream->cursor, stream->diag));
    if (stream->usage && rfn_own_times_of(stream->usage, stream->cursor, &stream->own) < 0)
        return no_memory(stream);
    return 0;
}

int rfn_archive_stream_next(struct rfn_archive_stream *stream, struct rfn_action *action)
{
    const struct rfn_record *record;
    if (!stream->cursor)
        RFN_TRY(begin(stream));
    while (stream->at == stream->n) {
        stream->at = stream->n = 0;
        const int got = rfn_cursor_next(stream->cursor, &record, stream->diag);
        if (got <= 0)
            return got;
        const int error = take_event(stream, record);
        if (error < 0)
            return error == RFN_E_NOMEM ? no_memory(stream) : error;
    }
    *action = stream->queue[stream->at++];
    return 1;
}
