/* The events of a stream as those of a location.
 *
 * OTF2 knows regions that are entered and left, an archive the call path of each call. A frame is
 * entered right before the first call in it and left right after the last one, so it has no time
 * that it may not have had. Where a region of the program is open when a frame around it ends, it
 * is left and entered again.
 *
 * Sizes of collective calls are those of Score-P: of all messages that the call stands for. */
#include "analyze/match/call_words.h"
#include "base/grow.h"
#include "convert/otf2/otf2_operations.h"
#include "convert/otf2/otf2_writing.h"
#include "refrain/completion.h"
#include "refrain/volume.h"

#include <stdlib.h>

/* A region that is open. */
struct open {
    struct otf2_frame frame; /* line: that it was entered with */
    uint64_t polls;          /* unsuccessful ones that it stands for */
    bool is_users;
};

/* What a collective call tells. */
struct together {
    OTF2_CollectiveOp operation;
    OTF2_CommRef comm;
    uint32_t root;
    uint64_t sent, received;
    bool known; /* it is one that OTF2 has */
};

/* A request: what it is for, and its numbers in OTF2; 0: it has none at the moment. */
struct posted {
    uint64_t send, receive, collective;
    int64_t dest, tag, bytes, comm;
    bool sends, receives;
    struct together together;
};

struct writer {
    struct otf2_writing *of;
    OTF2_EvtWriter *to;
    OTF2_AttributeList *attributes; /* of an Enter */
    OTF2_ErrorCode code;            /* the first error of libotf2, */
    int error;                      /* and of others */
    uint32_t stream, rank, thread;
    bool counts;
    uint64_t counter;
    uint64_t last_ns;
    struct open *open;
    size_t n_open, open_capacity;
    struct open *again; /* regions to be entered again */
    size_t n_again, again_capacity;
    struct posted *posted; /* by the tracker's ids */
    size_t posted_capacity;
    uint64_t requests;      /* so far */
    struct rfn_map words;   /* of requests that are there -> id */
    struct rfn_map windows; /* handle -> number */
    struct rfn_map made_on; /* communicator -> windows so far */
    uint64_t accesses;      /* to windows, so far */
};

static void check(struct writer *writer, OTF2_ErrorCode code)
{
    if (writer->code == OTF2_SUCCESS)
        writer->code = code;
}

/* ---- regions ---- */

static void count(struct writer *writer, uint64_t ns)
{
    static const OTF2_Type type = OTF2_TYPE_UINT64;
    const OTF2_MetricValue value = {.unsigned_int = writer->counter};
    if (writer->counts)
        check(writer, OTF2_EvtWriter_Metric(writer->to, NULL, ns, 0, 1, &type, &value));
}

static void enter(struct writer *writer, uint64_t ns, struct open open)
{
    if (RFN_GROW(writer->open, writer->open_capacity, writer->n_open + 1) < 0) {
        writer->error = RFN_E_NOMEM;
        return;
    }
    writer->open[writer->n_open++] = open;
    if (open.frame.line)
        check(writer, OTF2_AttributeList_AddUint32(writer->attributes, OTF2_LINE, open.frame.line));
    if (open.polls)
        check(writer, OTF2_AttributeList_AddUint64(writer->attributes, OTF2_POLLS, open.polls));
    count(writer, ns);
    check(writer, OTF2_EvtWriter_Enter(writer->to, writer->attributes, ns, open.frame.region));
    check(writer, OTF2_AttributeList_RemoveAllAttributes(writer->attributes));
}

static void leave(struct writer *writer, uint64_t ns)
{
    count(writer, ns);
    check(writer,
          OTF2_EvtWriter_Leave(writer->to, NULL, ns, writer->open[--writer->n_open].frame.region));
}

/* Leaves regions that are open down to the `n` outermost ones; remembers those of the user. */
static void leave_down_to(struct writer *writer, size_t n)
{
    writer->n_again = 0;
    for (size_t i = n; i < writer->n_open; i++) {
        if (!writer->open[i].is_users)
            continue;
        if (RFN_GROW(writer->again, writer->again_capacity, writer->n_again + 1) < 0) {
            writer->error = RFN_E_NOMEM;
            return;
        }
        writer->again[writer->n_again++] = writer->open[i];
    }
    while (writer->n_open > n)
        leave(writer, writer->last_ns);
}

static bool is_frame(const struct open *open, const struct otf2_frame *frame)
{
    return open->frame.region == frame->region && open->frame.line == frame->line;
}

/* The frames that are open become those of the path. gap: what was counted since the last call. */
static const struct otf2_path *follow(struct writer *writer, uint32_t number, uint64_t ns,
                                      int64_t gap)
{
    const struct otf2_path *path = rfn_otf2_path(writer->of, number);
    size_t i = 0;
    uint32_t k = 0;
    if (!path) {
        writer->error = RFN_E_NOMEM;
        return NULL;
    }
    for (; i < writer->n_open; i++) {
        if (writer->open[i].is_users)
            continue;
        if (k == path->n || !is_frame(&writer->open[i], &path->frames[k]))
            break;
        k++;
    }
    leave_down_to(writer, i);
    writer->counter += gap > 0 ? (uint64_t)gap : 0;
    for (; k < path->n && !writer->error; k++)
        enter(writer, ns, (struct open){.frame = path->frames[k]});
    for (size_t j = 0; j < writer->n_again && !writer->error; j++)
        enter(writer, ns, writer->again[j]);
    return writer->error ? NULL : path;
}

/* A region ends, with what is in it. */
static void end_region(struct writer *writer, uint64_t ns, uint32_t region)
{
    size_t i = writer->n_open;
    while (i && !(writer->open[i - 1].is_users && writer->open[i - 1].frame.region == region))
        i--;
    while (i && writer->n_open >= i)
        leave(writer, ns);
}

static void mark(struct writer *writer, const struct rfn_call_event *event)
{
    const uint64_t ns = (uint64_t)event->record->enter_ns;
    const int64_t region = rfn_otf2_user_region(writer->of, (uint32_t)event->record->in[0]);
    if (region < 0) {
        writer->error = (int)region;
    } else if (event->call->kind == RFN_CALL_REGION_END) {
        end_region(writer, ns, (uint32_t)region);
    } else {
        const struct otf2_path *path = follow(writer, event->record->path, ns, 0);
        if (path)
            enter(writer, ns,
                  (struct open){.frame = {(uint32_t)region, path->line}, .is_users = true});
    }
}

/* ---- collective calls ---- */

static OTF2_CollectiveOp operation_of(const struct rfn_call *call)
{
    if (call->operation == RFN_MPI_Comm_free || call->operation == RFN_MPI_Comm_disconnect)
        return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    if (call->kind == RFN_CALL_MAKE && call->class_ == RFN_CLASS_COMM)
        return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    return rfn_otf2_operation_of((enum rfn_operation)call->operation);
}

static uint32_t root_of(const struct rfn_call_event *event)
{
    const int64_t root = rfn_word(event, RFN_IN_root, RFN_UNKNOWN);
    if (root == RFN_ROOT)
        return OTF2_COLLECTIVE_ROOT_SELF;
    if (root == RFN_PROC_NULL)
        return OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    return root >= 0 ? (uint32_t)root : OTF2_COLLECTIVE_ROOT_NONE;
}

static uint64_t size(int64_t bytes)
{
    return bytes > 0 ? (uint64_t)bytes : 0;
}

/* From what the call's buffers hold to what its messages would. */
static void count_messages(struct together *together, uint64_t n, uint64_t own)
{
    const uint64_t sent = together->sent;
    switch (together->operation) {
    case OTF2_COLLECTIVE_OP_BCAST:
        if (!together->received) /* the root gets it, too */
            together->received = sent;
        together->sent *= n;
        break;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
        together->sent *= n;
        break;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        together->sent *= n;
        together->received *= n;
        break;
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        together->received *= n;
        break;
    case OTF2_COLLECTIVE_OP_SCAN:
        together->sent = sent * (n - own);
        together->received = sent * (own + 1);
        break;
    case OTF2_COLLECTIVE_OP_EXSCAN:
        together->sent = sent * (n - own - 1);
        together->received = sent * own;
        break;
    default:
        break;
    }
}

static struct together together_of(const struct writer *writer, const struct rfn_call_event *event,
                                   const struct rfn_volume *volume)
{
    const struct rfn_archive *archive = writer->of->archive;
    struct together together = {.operation = operation_of(event->call)};
    if (together.operation == OTF2_NO_OPERATION || !rfn_call_is_collective(event->call) ||
        volume->comm < 0 || event->record->error)
        return together;
    const uint32_t comm = (uint32_t)volume->comm;
    const int64_t own = rfn_comm_rank_of(archive, comm, writer->rank);
    const uint32_t n = rfn_comm_peers(archive, comm, writer->rank);
    together.known = own >= 0 && n > 0;
    together.root = root_of(event);
    together.sent = size(volume->sent_bytes);
    together.received = size(volume->received_bytes);
    if (together.known)
        count_messages(&together, n, (uint64_t)own < n ? (uint64_t)own : 0);
    if (together.known)
        together.comm = rfn_otf2_comm_ref(writer->of, comm);
    return together;
}

/* ---- messages ---- */

static uint32_t tag_of(int64_t tag)
{
    return tag >= 0 && tag < UINT32_MAX ? (uint32_t)tag : OTF2_UNDEFINED_UINT32;
}

static OTF2_CommRef comm_ref(struct writer *writer, int64_t comm)
{
    return rfn_otf2_comm_ref(writer->of, (uint32_t)comm);
}

static bool can_tell(struct writer *writer, int64_t peer, int64_t comm)
{
    if (peer >= 0 && comm >= 0)
        return true;
    writer->of->summary->left_out.unresolved += peer != RFN_PROC_NULL;
    return false;
}

static void send(struct writer *writer, uint64_t ns, const struct rfn_call_event *event,
                 const struct rfn_volume *volume)
{
    const int tag = event->call->send_tag;
    if (can_tell(writer, volume->dest, volume->comm))
        check(writer, OTF2_EvtWriter_MpiSend(writer->to, NULL, ns, (uint32_t)volume->dest,
                                             comm_ref(writer, volume->comm),
                                             tag_of(tag < 0 ? -1 : event->record->in[tag]),
                                             size(volume->sent_bytes)));
}

static void receive(struct writer *writer, uint64_t ns, const struct rfn_volume *volume)
{
    if (can_tell(writer, volume->source, volume->comm))
        check(writer, OTF2_EvtWriter_MpiRecv(writer->to, NULL, ns, (uint32_t)volume->source,
                                             comm_ref(writer, volume->comm), tag_of(volume->tag),
                                             size(volume->received_bytes)));
}

/* ---- requests ---- */

static struct posted *posted_of(struct writer *writer, uint32_t id)
{
    if (RFN_GROW_ZEROED(writer->posted, writer->posted_capacity, (size_t)id + 1) < 0) {
        writer->error = RFN_E_NOMEM;
        return NULL;
    }
    return &writer->posted[id];
}

static struct posted describe(const struct writer *writer, const struct rfn_call_event *event,
                              const struct rfn_volume *volume)
{
    const int tag = event->call->send_tag;
    return (struct posted){.dest = volume->dest,
                           .tag = tag < 0 ? -1 : event->record->in[tag],
                           .bytes = volume->sent_bytes,
                           .comm = volume->comm,
                           .sends = rfn_call_sends(event->call),
                           .receives = rfn_call_receives(event->call),
                           .together = together_of(writer, event, volume)};
}

/* A request begins to work. */
static void post(struct writer *writer, uint64_t enter_ns, uint64_t exit_ns, struct posted *posted,
                 int64_t source)
{
    posted->send = posted->receive = posted->collective = 0;
    if (posted->sends && can_tell(writer, posted->dest, posted->comm)) {
        posted->send = ++writer->requests;
        check(writer, OTF2_EvtWriter_MpiIsend(writer->to, NULL, enter_ns, (uint32_t)posted->dest,
                                              comm_ref(writer, posted->comm), tag_of(posted->tag),
                                              size(posted->bytes), posted->send));
    }
    if (posted->receives && source != RFN_PROC_NULL) {
        posted->receive = ++writer->requests;
        check(writer, OTF2_EvtWriter_MpiIrecvRequest(writer->to, NULL, exit_ns, posted->receive));
    }
    if (posted->together.known) {
        posted->collective = ++writer->requests;
        check(writer, OTF2_EvtWriter_NonBlockingCollectiveRequest(writer->to, NULL, exit_ns,
                                                                  posted->collective));
    }
}

static void complete(struct writer *writer, uint64_t ns, struct posted *posted,
                     const struct rfn_completed *completed)
{
    const struct rfn_volume *volume = completed->origin->volume;
    const struct together *together = &posted->together;
    if (posted->send && completed->cancelled)
        check(writer, OTF2_EvtWriter_MpiRequestCancelled(writer->to, NULL, ns, posted->send));
    else if (posted->send)
        check(writer, OTF2_EvtWriter_MpiIsendComplete(writer->to, NULL, ns, posted->send));
    if (posted->receive && completed->cancelled)
        check(writer, OTF2_EvtWriter_MpiRequestCancelled(writer->to, NULL, ns, posted->receive));
    else if (posted->receive && can_tell(writer, volume->source, volume->comm))
        check(writer, OTF2_EvtWriter_MpiIrecv(writer->to, NULL, ns, (uint32_t)volume->source,
                                              comm_ref(writer, volume->comm), tag_of(volume->tag),
                                              size(volume->received_bytes), posted->receive));
    if (posted->collective)
        check(writer, OTF2_EvtWriter_NonBlockingCollectiveComplete(
                          writer->to, NULL, ns, together->operation, together->comm, together->root,
                          together->sent, together->received, posted->collective));
    posted->send = posted->receive = posted->collective = 0;
}

/* A request of another thread: only a message that it received is known. */
static void complete_foreign(struct writer *writer, uint64_t ns,
                             const struct rfn_completed *completed)
{
    const struct rfn_volume *volume = completed->origin->volume;
    if (completed->origin->receives && can_tell(writer, volume->source, volume->comm))
        check(writer, OTF2_EvtWriter_MpiIrecv(writer->to, NULL, ns, (uint32_t)volume->source,
                                              comm_ref(writer, volume->comm), tag_of(volume->tag),
                                              size(volume->received_bytes), ++writer->requests));
}

enum { FORMS = 4 };

/* What a word says of a request, whenever that is asked: its number or its slot. */
static uint64_t name_of_word(int64_t word, uint64_t created)
{
    const uint64_t value = (uint64_t)word / FORMS;
    if (word <= 0)
        return 0;
    if (word % FORMS == RFN_REQUEST_RECENT)
        return value <= created ? 2 * (created - value) + 2 : 0;
    return word % FORMS == RFN_REQUEST_SLOT ? 2 * value + 1 : 0;
}

static void test(struct writer *writer, uint64_t ns, int64_t word, uint64_t created)
{
    const uint64_t name = name_of_word(word, created);
    const uint64_t *id = name ? rfn_map_get(&writer->words, name) : NULL;
    if (!id)
        return;
    const struct posted *posted = &writer->posted[*id];
    const uint64_t numbers[] = {posted->send, posted->receive, posted->collective};
    for (int i = 0; i < 3; i++) {
        if (numbers[i])
            check(writer, OTF2_EvtWriter_MpiRequestTest(writer->to, NULL, ns, numbers[i]));
    }
}

/* A test that was not successful. */
static void test_all(struct writer *writer, const struct rfn_call_event *event, uint64_t created)
{
    const uint64_t ns = (uint64_t)event->record->exit_ns;
    size_t n = 0;
    if (!event->call->requests) {
        test(writer, ns, rfn_word(event, RFN_IN_REQUEST, 0), created);
        return;
    }
    const int64_t *words = rfn_word_list(event, RFN_IN_REQUEST, RFN_KIND_REQUEST, &n);
    for (size_t i = 0; words && i < n; i++)
        test(writer, ns, words[i], created);
}

/* Remembers which request a word will mean. */
static void name_request(struct writer *writer, const struct rfn_call_event *event,
                         uint64_t created, uint32_t id)
{
    const bool persistent = event->call->variant == RFN_CALL_PERSISTENT;
    const uint64_t name = persistent ? name_of_word(rfn_outcome(event, RFN_OUT_REQUEST), 0)
                                     : 2 * created + 2;
    if (rfn_map_put(&writer->words, name, id) < 0)
        writer->error = RFN_E_NOMEM;
}

/* What the event does to requests. */
static void follow_requests(struct writer *writer, struct rfn_tracker *tracker,
                            const struct rfn_call_event *event, const struct rfn_volume *volume)
{
    const uint64_t enter_ns = (uint64_t)event->record->enter_ns;
    const uint64_t exit_ns = (uint64_t)event->record->exit_ns;
    const uint64_t created = rfn_tracker_created(tracker, writer->thread);
    struct rfn_request_effects effects;
    if (event->record->failed_poll && event->call->kind == RFN_CALL_COMPLETE)
        test_all(writer, event, created);
    writer->error = rfn_tracker_event(tracker, writer->thread, event->cursor, event->record, volume,
                                      false, &effects);
    if (writer->error)
        return;
    if (effects.created >= 0) {
        struct posted *posted = posted_of(writer, (uint32_t)effects.created);
        if (!posted)
            return;
        *posted = describe(writer, event, volume);
        name_request(writer, event, created, (uint32_t)effects.created);
        if (event->call->variant != RFN_CALL_PERSISTENT)
            post(writer, enter_ns, exit_ns, posted, volume->source);
    }
    for (size_t i = 0; i < effects.n_started; i++) {
        struct posted *posted = posted_of(writer, effects.started[i]->id);
        if (posted)
            post(writer, enter_ns, exit_ns, posted, effects.started[i]->volume->source);
    }
    for (size_t i = 0; i < effects.n_completed; i++) {
        const struct rfn_completed *completed = &effects.completed[i];
        struct posted *posted = completed->known ? posted_of(writer, completed->origin->id) : NULL;
        if (posted)
            complete(writer, exit_ns, posted, completed);
        else
            complete_foreign(writer, exit_ns, completed);
    }
}

/* ---- windows ---- */

static void make_window(struct writer *writer, const struct rfn_call_event *event, int64_t comm,
                        uint64_t ns)
{
    const int64_t handle = rfn_made(event, RFN_OUT_WIN);
    const uint64_t *before = comm < 0 ? NULL : rfn_map_get(&writer->made_on, (uint64_t)comm);
    if (handle < 0 || comm < 0)
        return;
    const uint64_t ordinal = before ? *before : 0;
    const int64_t window = rfn_otf2_window(writer->of, (uint32_t)comm, (uint32_t)ordinal);
    if (window < 0 || rfn_map_put(&writer->made_on, (uint64_t)comm, ordinal + 1) < 0 ||
        rfn_map_put(&writer->windows, (uint64_t)handle, (uint64_t)window) < 0)
        writer->error = RFN_E_NOMEM;
    else
        check(writer, OTF2_EvtWriter_RmaWinCreate(writer->to, NULL, ns, (OTF2_RmaWinRef)window));
}

static void access_window(struct writer *writer, const struct rfn_call_event *event,
                          const struct rfn_volume *volume, OTF2_RmaWinRef window, uint64_t ns)
{
    const uint64_t sent = size(volume->sent_bytes), received = size(volume->received_bytes);
    const uint32_t target = (uint32_t)volume->target;
    if (volume->target < 0)
        return;
    switch (event->call->operation) {
    case RFN_MPI_Put:
    case RFN_MPI_Rput:
        check(writer, OTF2_EvtWriter_RmaPut(writer->to, NULL, ns, window, target, sent,
                                            ++writer->accesses));
        break;
    case RFN_MPI_Get:
    case RFN_MPI_Rget:
        check(writer, OTF2_EvtWriter_RmaGet(writer->to, NULL, ns, window, target, received,
                                            ++writer->accesses));
        break;
    default:
        check(writer, OTF2_EvtWriter_RmaAtomic(writer->to, NULL, ns, window, target,
                                               OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, sent, received,
                                               ++writer->accesses));
        break;
    }
}

static void synchronize_window(struct writer *writer, const struct rfn_call_event *event,
                               OTF2_RmaWinRef window)
{
    const uint64_t enter_ns = (uint64_t)event->record->enter_ns;
    const uint64_t exit_ns = (uint64_t)event->record->exit_ns;
    const int64_t rank = rfn_word(event, RFN_IN_rank, -1);
    switch (event->call->operation) {
    case RFN_MPI_Win_fence:
        check(writer, OTF2_EvtWriter_RmaCollectiveBegin(writer->to, NULL, enter_ns));
        check(writer, OTF2_EvtWriter_RmaCollectiveEnd(
                          writer->to, NULL, exit_ns, OTF2_COLLECTIVE_OP_BARRIER,
                          OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, window,
                          OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
        break;
    case RFN_MPI_Win_free:
        check(writer, OTF2_EvtWriter_RmaWinDestroy(writer->to, NULL, exit_ns, window));
        break;
    case RFN_MPI_Win_lock:
        if (rank >= 0)
            check(writer, OTF2_EvtWriter_RmaAcquireLock(
                              writer->to, NULL, exit_ns, window, (uint32_t)rank, 0,
                              rfn_word(event, RFN_IN_lock_type, 0) ? OTF2_LOCK_SHARED
                                                                   : OTF2_LOCK_EXCLUSIVE));
        break;
    case RFN_MPI_Win_unlock:
        if (rank >= 0)
            check(writer, OTF2_EvtWriter_RmaReleaseLock(writer->to, NULL, exit_ns, window,
                                                        (uint32_t)rank, 0));
        break;
    case RFN_MPI_Win_flush:
    case RFN_MPI_Win_flush_local:
        if (rank >= 0)
            check(writer, OTF2_EvtWriter_RmaSync(writer->to, NULL, exit_ns, window, (uint32_t)rank,
                                                 OTF2_RMA_SYNC_TYPE_MEMORY));
        break;
    default:
        writer->of->summary->left_out.rma++;
        break;
    }
}

static void one_sided(struct writer *writer, const struct rfn_call_event *event,
                      const struct rfn_volume *volume)
{
    const int64_t handle = rfn_word(event, RFN_IN_WIN, -1);
    const uint64_t *window = handle < 0 ? NULL : rfn_map_get(&writer->windows, (uint64_t)handle);
    if (event->call->out[RFN_OUT_WIN] >= 0)
        make_window(writer, event, volume->comm, (uint64_t)event->record->exit_ns);
    else if (window && event->call->class_ == RFN_CLASS_RMA)
        access_window(writer, event, volume, (OTF2_RmaWinRef)*window,
                      (uint64_t)event->record->enter_ns);
    else if (window)
        synchronize_window(writer, event, (OTF2_RmaWinRef)*window);
}

/* ---- calls ---- */

static void write_together(struct writer *writer, const struct rfn_call_event *event,
                           const struct together *together)
{
    const uint64_t exit_ns = (uint64_t)event->record->exit_ns;
    const int64_t made = rfn_made(event, RFN_OUT_COMM);
    check(writer,
          OTF2_EvtWriter_MpiCollectiveBegin(writer->to, NULL, (uint64_t)event->record->enter_ns));
    if (made >= 0 && made < rfn_archive_comms(writer->of->archive))
        check(writer, OTF2_EvtWriter_CommCreate(writer->to, NULL, exit_ns, comm_ref(writer, made)));
    check(writer, OTF2_EvtWriter_MpiCollectiveEnd(writer->to, NULL, exit_ns, together->operation,
                                                  together->comm, together->root, together->sent,
                                                  together->received));
}

/* What happens in a call that makes no request. */
static void happen(struct writer *writer, const struct rfn_call_event *event,
                   const struct rfn_volume *volume)
{
    if (event->record->error || event->record->failed_poll)
        return;
    if (event->call->class_ == RFN_CLASS_RMA || event->call->class_ == RFN_CLASS_RMA_SYNC) {
        one_sided(writer, event, volume);
        return;
    }
    if (event->call->variant != RFN_CALL_BLOCKING)
        return;
    if (rfn_call_sends(event->call))
        send(writer, (uint64_t)event->record->enter_ns, event, volume);
    if (rfn_call_receives(event->call))
        receive(writer, (uint64_t)event->record->exit_ns, volume);
    const struct together together = together_of(writer, event, volume);
    if (together.known)
        write_together(writer, event, &together);
}

static void write_call(struct writer *writer, struct rfn_tracker *tracker,
                       struct rfn_volumes *volumes, const struct rfn_call_event *event)
{
    const struct rfn_record *record = event->record;
    const uint64_t ns = (uint64_t)record->enter_ns;
    const struct rfn_volume volume = rfn_volume_of(volumes, event->cursor, writer->rank, record);
    const int64_t region = rfn_otf2_function_region(writer->of, record->function);
    const struct otf2_path *path = region < 0
                                       ? NULL
                                       : follow(writer, record->path, ns, record->volume_gap);
    if (region < 0)
        writer->error = (int)region;
    if (!path)
        return;
    enter(writer, ns,
          (struct open){.frame = {(uint32_t)region, path->line},
                        .polls = record->failed_poll && record->polls > 1 ? record->polls : 0});
    if (!writer->error)
        happen(writer, event, &volume);
    if (!writer->error && rfn_tracker_concerns(tracker, record->function))
        follow_requests(writer, tracker, event, &volume);
    if (writer->error)
        return;
    writer->counter += record->volume_inside > 0 ? (uint64_t)record->volume_inside : 0;
    leave(writer, (uint64_t)record->exit_ns);
    writer->of->summary->calls++;
}

static int write_event(struct writer *writer, struct rfn_tracker *tracker,
                       struct rfn_volumes *volumes, const struct rfn_cursor *cursor,
                       const struct rfn_record *record)
{
    const struct rfn_call_event event = rfn_call_event(writer->of->archive, cursor, writer->rank,
                                                       record);
    if (rfn_class_is_mpi(event.call->class_))
        write_call(writer, tracker, volumes, &event);
    else if (event.call->kind == RFN_CALL_REGION_BEGIN || event.call->kind == RFN_CALL_REGION_END)
        mark(writer, &event);
    else
        writer->of->summary->left_out.other++;
    writer->last_ns = (uint64_t)record->exit_ns;
    if (record->exit_ns > writer->of->end_ns)
        writer->of->end_ns = record->exit_ns;
    if (writer->error == RFN_E_NOMEM)
        return rfn_fail(writer->of->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    if (writer->code != OTF2_SUCCESS)
        return rfn_otf2_fail(&writer->of->errors, writer->code, RFN_E_IO, writer->of->folder,
                             "cannot be written", writer->of->diag);
    return writer->error;
}

static int write_events(struct writer *writer, struct rfn_tracker *tracker,
                        struct rfn_volumes *volumes)
{
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    int more, error = 0;
    RFN_TRY(rfn_cursor_open(writer->of->archive, writer->stream, &cursor, writer->of->diag));
    while (!error && (more = rfn_cursor_next(cursor, &record, writer->of->diag)) != 0)
        error = more < 0 ? more : write_event(writer, tracker, volumes, cursor, record);
    rfn_cursor_close(cursor);
    while (!error && writer->n_open)
        leave(writer, writer->last_ns);
    return error;
}

static void release(struct writer *writer)
{
    free(writer->open);
    free(writer->again);
    free(writer->posted);
    rfn_map_release(&writer->words);
    rfn_map_release(&writer->windows);
    rfn_map_release(&writer->made_on);
}

int rfn_otf2_write_stream(struct otf2_writing *of, uint32_t stream)
{
    const struct rfn_stream_info info = rfn_archive_stream(of->archive, stream);
    struct writer writer = {
        .of = of,
        .stream = stream,
        .rank = info.rank,
        .thread = info.thread,
        .counts = info.volume,
        .attributes = OTF2_AttributeList_New(),
        .to = OTF2_Archive_GetEvtWriter(of->trace, rfn_otf2_location(of, stream))};
    struct rfn_tracker *tracker = rfn_tracker_new(of->archive);
    struct rfn_volumes *volumes = rfn_volumes_new(of->archive);
    int error = 0;
    if (!writer.to || !writer.attributes)
        error = rfn_otf2_fail(&of->errors, OTF2_SUCCESS, RFN_E_IO, of->folder, "cannot be written",
                              of->diag);
    else if (!tracker || !volumes)
        error = rfn_fail(of->diag, RFN_E_NOMEM, -1, -1, "out of memory");
    else
        error = write_events(&writer, tracker, volumes);
    if (writer.to) {
        OTF2_EvtWriter_GetNumberOfEvents(writer.to, &of->events[stream]);
        check(&writer, OTF2_Archive_CloseEvtWriter(of->trace, writer.to));
    }
    if (writer.attributes)
        OTF2_AttributeList_Delete(writer.attributes);
    of->summary->events += of->events[stream];
    rfn_tracker_free(tracker);
    rfn_volumes_free(volumes);
    release(&writer);
    if (!error && writer.code != OTF2_SUCCESS)
        error = rfn_otf2_fail(&of->errors, writer.code, RFN_E_IO, of->folder, "cannot be written",
                              of->diag);
    return error;
}
