/* describe_calls.c - says of calls that are held which messages and collective calls they have a
 * part in, and which only go together.
 *
 * A call of communication is unknown until all its parts are known: its requests and messages are
 * told by record/samples, before the call has been taken (requests) or behind that (messages; the
 * position of a receive in its channel may be known still later). A call that is unknown
 * when the window ends stays.
 */
#include "base/grow.h"
#include "event/calls.h"
#include "record/handles/comms.h"
#include "record/handles/params.h"
#include "record/handles/types.h"
#include "record/keep/keep_internal.h"
#include "reduce/aggregate/may_go.h"

#include <stdlib.h>

enum { UNKNOWN = RFN_WINDOW_STAYS | RFN_WINDOW_UNKNOWN };

/* In place of a maker: of a request that is not followed. */
#define NOT_FOLLOWED UINT64_MAX

static struct {
    struct kind {
        struct rfn_call role;
        bool may_go;
    } * kinds;           /* by function of MPI */
    uint64_t base;       /* flags of the last event whatever it is */
    uint64_t flags;      /* of the call under way, by its requests */
    uint32_t wants, has; /* likewise */
    uint64_t *meetings;  /* by communicator: collective calls so far */
    size_t meetings_capacity;
} describing;

int rec_describe_begin(void)
{
    describing.kinds = calloc(REC_FN_COUNT, sizeof *describing.kinds);
    if (!describing.kinds)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < REC_FN_COUNT; i++) {
        rfn_call_init(&describing.kinds[i].role, &rec_functions[i]);
        describing.kinds[i].may_go = rfn_may_go(&rec_functions[i]);
    }
    return 0;
}

void rec_describe_release(void)
{
    free(describing.kinds);
    free(describing.meetings);
    describing.kinds = NULL;
    describing.meetings = NULL;
    describing.meetings_capacity = 0;
}

uint64_t rec_describe_flags(const struct rfn_event *event)
{
    const bool first = rec_keep.taken == 0;
    describing.base = first || rec_keep.polled ? RFN_WINDOW_STAYS : 0;
    if (event->function >= REC_FN_COUNT)
        return RFN_WINDOW_STAYS;
    const struct kind *kind = describing.kinds ? &describing.kinds[event->function] : NULL;
    if (!kind || event->error || event->poll || kind->role.kind != RFN_CALL_OTHER ||
        kind->role.class_ != RFN_CLASS_OTHER)
        return UNKNOWN;
    return describing.base | (kind->may_go ? 0 : RFN_WINDOW_STAYS);
}

static struct rec_window *window(void)
{
    return &rec_keep.window;
}

/* Whether the window at hand has a call; its number there. */
static bool find(uint64_t call, uint32_t *number)
{
    const uint64_t first = window()->first;
    *number = (uint32_t)(call - first);
    return call >= first && call - first < window()->head.n_calls;
}

/* Without memory all stays. */
static void *add(void **array, size_t *capacity, uint32_t *n, size_t size)
{
    if ((size_t)*n + 1 > *capacity && rfn_grow(array, capacity, (size_t)*n + 1, size) < 0) {
        rec_keep_give_up();
        return NULL;
    }
    return (char *)*array + size * (*n)++;
}

#define ADD(window, array, n)                                                 \
    add((void **)&(window)->array, &(window)->array##_capacity, &(window)->n, \
        sizeof *(window)->array)

/* The call that is under way has no number yet that find knows. */
static void pair(uint32_t call, uint32_t maker)
{
    struct rfn_window_pair *pair = ADD(window(), pairs, head.n_pairs);
    if (pair)
        *pair = (struct rfn_window_pair){call, maker};
}

/* ---- requests ---- */

/* Whether a call, or a request, is of the stream whose calls are held. Once one is not, all stays,
 * and nothing is described: requests of other streams have other numbers. */
static bool is_own(const struct rec_stream *stream)
{
    if (!rec_keep_holds(stream))
        rec_keep_give_up();
    return rec_keep_holds(stream);
}

static bool is_own_call(const struct rec_call *call)
{
    return is_own(rec_stream_of((struct rec_call *)(uintptr_t)call));
}

static void made(const struct rec_call *call, struct rec_request *request)
{
    const bool follows = is_own_call(call) && !(request->flags & REC_REQUEST_PERSISTENT);
    request->maker = follows ? 1 + rec_keep.taken : NOT_FOLLOWED;
}

static void note_completed(struct rec_window *of, size_t i)
{
    if (RFN_GROW(of->completed, of->completed_capacity, i + 1) < 0)
        return;
    for (; of->n_completed <= i; of->n_completed++)
        of->completed[of->n_completed] = 0;
    of->completed[i] = 1;
}

/* Its name is not used behind the call at hand. */
static void is_over(const struct rec_request *request, uint32_t call)
{
    struct rec_window *of = window();
    if (request->flags & (REC_REQUEST_PERSISTENT | REC_REQUEST_UNSEEN))
        return;
    if (request->number >= of->first_request) {
        note_completed(of, (size_t)(request->number - of->first_request));
        return;
    }
    if (RFN_GROW(of->late, of->late_capacity, of->n_late + 1) == 0)
        of->late[of->n_late++] = (struct rec_late_request){call, request->number};
}

static void complete(const struct rec_request *request, uint32_t maker, uint32_t call)
{
    struct rec_held_call *held = &window()->held[maker];
    const enum rfn_call_kind kind = describing.kinds[held->function].role.kind;
    pair(call, maker);
    if (kind == RFN_CALL_SEND && held->wants) {
        describing.wants++;
        describing.has += held->sends != RFN_WINDOW_NONE;
        if (held->sends != RFN_WINDOW_NONE)
            window()->ends[held->sends].done = call;
    } else if (kind == RFN_CALL_RECV) {
        describing.wants += request->source != MPI_PROC_NULL;
    } else if (kind != RFN_CALL_SEND) {
        describing.flags |= UNKNOWN;
    }
}

static void completed(const struct rec_call *call, struct rec_request *request, bool got)
{
    const uint32_t own = (uint32_t)(rec_keep.taken - window()->first);
    uint32_t maker;
    const bool own_call = is_own_call(call);
    if (!is_own(request->stream))
        return;
    is_over(request, own);
    if (!own_call)
        return;
    const bool over = got || !(request->flags & REC_REQUEST_RECV);
    if (!over || request->maker == 0 || request->maker == NOT_FOLLOWED ||
        !find(request->maker - 1, &maker) || window()->held[maker].function >= REC_FN_COUNT)
        describing.flags |= UNKNOWN;
    else
        complete(request, maker, own);
}

static void freed(struct rec_request *request)
{
    uint32_t maker;
    if (!is_own(request->stream))
        return;
    is_over(request, (uint32_t)(rec_keep.taken - window()->first));
    if (request->maker && request->maker != NOT_FOLLOWED && find(request->maker - 1, &maker))
        window()->calls[maker].flags |= RFN_WINDOW_STAYS;
}

/* Requests that the call names and does not complete. Whether all of them are of the window. */
static bool join_named(const struct rec_call *call, uint32_t own)
{
    bool known = true;
    uint32_t maker;
    for (uint32_t i = 0; i < call->n_requests; i++) {
        const struct rec_request *request = call->requests[i];
        if (!request)
            continue;
        if (request->maker && request->maker != NOT_FOLLOWED && find(request->maker - 1, &maker))
            pair(own, maker);
        else
            known = false;
    }
    return known;
}

/* ---- messages ---- */

static void sent(const struct rec_call *call, uint64_t channel, uint64_t position, uint64_t bytes)
{
    const struct rfn_call *role = &describing.kinds[call->function].role;
    struct rec_window *of = window();
    uint32_t own;
    if (!is_own_call(call) || !find(rec_keep.taken - 1, &own))
        return;
    struct rfn_window_end *end = ADD(of, ends, head.n_ends);
    if (!end)
        return;
    const bool at_once = role->variant == RFN_CALL_BLOCKING && role->kind != RFN_CALL_START;
    *end = (struct rfn_window_end){.channel = channel,
                                   .position = position,
                                   .bytes = bytes,
                                   .post = own,
                                   .done = at_once ? own : RFN_WINDOW_NONE,
                                   .mode = role->mode};
    of->held[own].sends = of->head.n_ends - 1;
    of->held[own].has++;
}

static void received(uint64_t channel, uint64_t position, uint64_t post_call, uint64_t done_call)
{
    struct rec_window *of = window();
    uint32_t post, done;
    if (rec_keep_gave_up() || !find(post_call, &post) || !find(done_call, &done))
        return;
    struct rfn_window_end *end = ADD(of, ends, head.n_ends);
    if (!end)
        return;
    *end = (struct rfn_window_end){
        .channel = channel, .position = position, .post = post, .done = done, .received = 1};
    of->held[done].has++;
    if (post != done)
        of->held[post].has++;
}

/* ---- collective calls ---- */

static int64_t input(const struct rec_call *call, int8_t place)
{
    return place < 0 ? 0 : call->in[place];
}

/* Whether none leaves before all have entered: each gets something of each other one. */
static bool all_meet(const struct rec_call *call, const struct rfn_call *role)
{
    int8_t count = role->in[RFN_IN_recvcount], type = role->in[RFN_IN_recvtype];
    switch (role->operation) {
    case RFN_MPI_Barrier:
        return true;
    case RFN_MPI_Allreduce:
        count = role->in[RFN_IN_count];
        type = role->in[RFN_IN_datatype];
        break;
    case RFN_MPI_Reduce_scatter_block:
        type = role->in[RFN_IN_datatype];
        break;
    case RFN_MPI_Allgather:
    case RFN_MPI_Alltoall:
        break;
    default:
        return false;
    }
    const int64_t number = input(call, type);
    const struct rec_type *of = type >= 0 && number >= 0 && number < rec_types_count()
                                    ? rec_type((uint32_t)number)
                                    : NULL;
    return of && of->size > 0 && input(call, count) > 0;
}

static bool meet(const struct rec_call *call, const struct rfn_call *role, uint32_t own)
{
    const struct rec_comm *comm = call->comm;
    if (!comm || comm->kind == REC_COMM_INTER ||
        RFN_GROW_ZEROED(describing.meetings, describing.meetings_capacity,
                        (size_t)comm->number + 1) < 0)
        return false;
    struct rfn_window_share *share = ADD(window(), shares, head.n_shares);
    if (!share)
        return false;
    const bool rooted = role->kind == RFN_CALL_ONE_TO_ALL || role->kind == RFN_CALL_ALL_TO_ONE;
    /* Of MPI_COMM_SELF all ranks have one. */
    const uint64_t identity = comm->size > 1 ? comm->identity : comm->identity + rec_keep.rank + 1;
    *share = (struct rfn_window_share){.comm = identity,
                                       .number = describing.meetings[comm->number]++,
                                       .call = own,
                                       .size = comm->size,
                                       .kind = role->kind,
                                       .root = rooted && input(call, role->in[RFN_IN_root]) ==
                                                             (int64_t)comm->my_rank,
                                       .all_meet = all_meet(call, role)};
    return true;
}

/* ---- a call has been taken ---- */

static bool is_to(const struct rec_call *call, int8_t place)
{
    return input(call, place) != RFN_PROC_NULL;
}

/* Whether it is known what the call does; its ends are counted. */
static bool describe(const struct rec_call *call, const struct rfn_call *role, uint32_t own)
{
    struct rec_held_call *held = &window()->held[own];
    const bool at_once = role->variant == RFN_CALL_BLOCKING;
    if (role->variant == RFN_CALL_PERSISTENT)
        return false;
    switch (role->kind) {
    case RFN_CALL_SEND:
        held->wants = is_to(call, role->in[RFN_IN_dest]);
        return true;
    case RFN_CALL_RECV:
        held->wants = is_to(call, role->in[RFN_IN_source]);
        return true;
    case RFN_CALL_SENDRECV:
        held->wants = (uint32_t)(is_to(call, role->in[RFN_IN_dest]) +
                                 is_to(call, role->in[RFN_IN_source]));
        return at_once;
    case RFN_CALL_COMPLETE:
        held->wants = describing.wants;
        held->has = held->has + describing.has;
        return true;
    case RFN_CALL_BARRIER:
    case RFN_CALL_ONE_TO_ALL:
    case RFN_CALL_ALL_TO_ONE:
    case RFN_CALL_ALL_TO_ALL:
    case RFN_CALL_SCAN:
    case RFN_CALL_NEIGHBOR:
        return at_once && meet(call, role, own);
    default:
        return false;
    }
}

static void called(const struct rec_call *call, const struct rfn_call *role)
{
    const bool poll = rec_functions[call->function].flags & RFN_FUNCTION_POLL;
    uint32_t own;
    if (!is_own_call(call))
        return;
    if (call->off || (call->rc != MPI_SUCCESS && rfn_call_is_collective(role)))
        rec_keep_give_up();
    if (!call->off && role->kind != RFN_CALL_OTHER && find(rec_keep.taken - 1, &own)) {
        const bool known = join_named(call, own);
        if (call->rc == MPI_SUCCESS && !poll && describe(call, role, own) &&
            describing.kinds[call->function].may_go)
            window()->calls[own].flags = describing.base | describing.flags |
                                         (known ? 0 : RFN_WINDOW_STAYS);
    }
    describing.flags = 0;
    describing.wants = describing.has = 0;
}

void rec_describe_end(void)
{
    struct rec_window *of = window();
    for (uint32_t i = 0; i < of->head.n_calls; i++) {
        const struct rec_held_call *held = &of->held[i];
        if (held->wants != held->has)
            of->calls[i].flags |= describing.kinds[held->function].role.variant ==
                                          RFN_CALL_NONBLOCKING
                                      ? RFN_WINDOW_STAYS
                                      : UNKNOWN;
    }
}

static uint64_t taken(void)
{
    return rec_keep.taken;
}

const struct rec_follower rec_keep_follower = {.taken = taken,
                                               .made = made,
                                               .completed = completed,
                                               .freed = freed,
                                               .sent = sent,
                                               .received = received,
                                               .called = called};
