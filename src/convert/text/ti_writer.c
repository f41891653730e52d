#include "convert/text/ti_writer.h"

#include "base/c_numbers.h"
#include "base/grow.h"

#include <stdlib.h>

enum { TYPE_BYTE = 6, TYPES_OF_THESIS = 7 };
enum { PEERS_FROM = -(1 << 10) /* of the peers that a key can hold, the lowest */ };

_Static_assert((int)PEERS_FROM <= (int)RFN_ACTION_ANY, "a key can hold a receive from any rank");

static const int64_t OWN_REQUESTS = (int64_t)1 << 60;
/* In place of a key: first request << 24 | how many. */
static const uint64_t GROUP = (uint64_t)1 << 63;

static int cannot(struct rfn_ti_writer *writer, const char *what)
{
    rfn_c_print(writer->fault, sizeof writer->fault, "%s", what);
    return RFN_E_UNSUPPORTED;
}

void rfn_ti_writer_release(struct rfn_ti_writer *writer)
{
    rfn_map_release(&writer->pending);
    rfn_expansion_release(&writer->expansion);
    free(writer->order);
    free(writer->waited);
}

/* ---- lines ---- */

static void put_text(struct rfn_ti_writer *writer, const char *text)
{
    rfn_buf_bytes(writer->text, text, strlen(text));
}

static void put_number(struct rfn_ti_writer *writer, int64_t number)
{
    char digits[24];
    char *at = digits + sizeof digits;
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    *--at = ' ';
    rfn_buf_bytes(writer->text, at, (size_t)(digits + sizeof digits - at));
}

/* As few digits as read back to the same. */
static void put_real(struct rfn_ti_writer *writer, double value)
{
    char text[40];
    if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value) {
        put_number(writer, (int64_t)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        rfn_c_print(text, sizeof text, " %.*g", digits, value);
        if (rfn_c_double(text, NULL) == value)
            break;
    }
    put_text(writer, text);
}

static void put_head(struct rfn_ti_writer *writer, const char *name)
{
    if (!writer->head[0])
        rfn_c_print(writer->head, sizeof writer->head, "%u ", writer->rank);
    put_text(writer, writer->head);
    put_text(writer, name);
    writer->summary->lines++;
}

/* A line, behind that of all that was computed since the last one. */
static void begin_line(struct rfn_ti_writer *writer, const char *name)
{
    if (writer->computed > 0) {
        put_head(writer, "compute");
        put_real(writer, writer->computed);
        rfn_buf_u8(writer->text, '\n');
        writer->computed = 0;
    }
    put_head(writer, name);
}

static int end_line(struct rfn_ti_writer *writer)
{
    rfn_buf_u8(writer->text, '\n');
    return rfn_buf_status(writer->text);
}

static int put_line(struct rfn_ti_writer *writer, const char *name)
{
    begin_line(writer, name);
    return end_line(writer);
}

/* n numbers of a list, or zeros where there is none. */
static void put_list(struct rfn_ti_writer *writer, const int64_t *numbers)
{
    for (uint32_t i = 0; i < writer->n_ranks; i++)
        put_number(writer, numbers ? numbers[i] : 0);
}

static int64_t sum_of(const struct rfn_ti_writer *writer, const int64_t *sizes)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < writer->n_ranks; i++)
        sum += sizes[i] > INT64_MAX - sum ? 0 : sizes[i];
    return sum;
}

static void put_displacements(struct rfn_ti_writer *writer, const int64_t *sizes)
{
    int64_t at = 0;
    for (uint32_t i = 0; i < writer->n_ranks; i++) {
        put_number(writer, at);
        at += sizes[i] > INT64_MAX - at ? 0 : sizes[i];
    }
}

/* ---- requests ---- */

static uint64_t key_of(const struct rfn_action *action, int64_t tag)
{
    return (uint64_t)(action->peer - PEERS_FROM) << 33 |
           (uint64_t)(action->kind == RFN_ACTION_SEND) << 32 | (uint32_t)tag;
}

static int keep(struct rfn_ti_writer *writer, int64_t request, uint64_t key)
{
    if (writer->dialect == RFN_TEXT_THESIS) {
        RFN_TRY(RFN_GROW(writer->order, writer->order_capacity, writer->n_order + 1));
        writer->order[writer->n_order++] = request;
    }
    return rfn_map_put(&writer->pending, (uint64_t)request, key & ~GROUP);
}

/* "wait SOURCE DEST TAG" */
static int put_request(struct rfn_ti_writer *writer, const char *name, uint64_t key)
{
    const int64_t peer = (int64_t)(key >> 33) + PEERS_FROM, own = writer->rank;
    const bool sends = key >> 32 & 1;
    begin_line(writer, name);
    put_number(writer, sends ? own : peer);
    put_number(writer, sends ? peer : own);
    put_number(writer, (int32_t)(uint32_t)key);
    return end_line(writer);
}

static uint64_t group_of(int64_t first, uint64_t n)
{
    return GROUP | (uint64_t)(first - OWN_REQUESTS) << 24 | n;
}

/* A request stands for n others from first on. */
static int keep_group(struct rfn_ti_writer *writer, int64_t request, int64_t first, uint64_t n)
{
    if (n >= 1 << 24 || first - OWN_REQUESTS >= (int64_t)1 << 38)
        return cannot(writer, "has more messages than can be told apart");
    if (!n)
        return 0;
    RFN_TRY(rfn_map_put(&writer->pending, (uint64_t)request, group_of(first, n)));
    writer->n_groups++;
    return 0;
}

/* Lists a message that is waited for, unless it is over, and forgets its request. */
static int take_waited(struct rfn_ti_writer *writer, int64_t request)
{
    const uint64_t *key = rfn_map_get(&writer->pending, (uint64_t)request);
    if (!key)
        return 0;
    RFN_TRY(RFN_GROW(writer->waited, writer->waited_capacity, writer->n_waited + 1));
    writer->waited[writer->n_waited++] = *key;
    rfn_map_remove(&writer->pending, (uint64_t)request);
    return 0;
}

/* Lists each message that a wait is for once, and forgets the requests. */
static int take_all_waited(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    writer->n_waited = 0;
    for (size_t i = 0; i < action->n_requests; i++) {
        const uint64_t *found = rfn_map_get(&writer->pending, (uint64_t)action->requests[i]);
        const uint64_t key = found ? *found : 0;
        if (!(key & GROUP)) {
            RFN_TRY(take_waited(writer, action->requests[i]));
            continue;
        }
        writer->n_groups -= rfn_map_remove(&writer->pending, (uint64_t)action->requests[i]);
        const int64_t first = OWN_REQUESTS + (int64_t)((key & ~GROUP) >> 24);
        for (int64_t k = 0; k < (int64_t)(key & ((1 << 24) - 1)); k++)
            RFN_TRY(take_waited(writer, first + k));
    }
    return 0;
}

static int wait_for_all(struct rfn_ti_writer *writer)
{
    writer->n_order = 0;
    return put_line(writer, writer->dialect == RFN_TEXT_THESIS ? "waitAll" : "waitall");
}

static int wait_for_each(struct rfn_ti_writer *writer)
{
    for (size_t i = 0; i < writer->n_waited; i++)
        RFN_TRY(put_request(writer, "wait", writer->waited[i]));
    return 0;
}

/* The thesis' `wait` is for the request that was posted last: those that are waited for have to be
 * the last ones. */
static int wait_for_last(struct rfn_ti_writer *writer)
{
    const size_t n = writer->n_waited;
    const int64_t *last = writer->order + (writer->n_order - n);
    for (size_t i = 0; i < n; i++) {
        if (rfn_map_get(&writer->pending, (uint64_t)last[i]))
            return cannot(writer, "waits for a request while a later one is pending, and the "
                                  "thesis' wait is for the last one");
    }
    writer->n_order -= n;
    for (size_t i = 0; i < n; i++)
        RFN_TRY(put_line(writer, "wait"));
    return 0;
}

static int write_wait(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    RFN_TRY(take_all_waited(writer, action));
    if (!writer->n_waited)
        return 0;
    if (writer->n_waited > 1 && writer->n_groups == writer->pending.n)
        return wait_for_all(writer);
    return writer->dialect == RFN_TEXT_THESIS ? wait_for_last(writer) : wait_for_each(writer);
}

static int write_test(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    if (!action->n_requests)
        return 0;
    if (writer->dialect == RFN_TEXT_THESIS)
        return cannot(writer, "tests a request, which the thesis has no word for");
    const uint64_t *key = rfn_map_get(&writer->pending, (uint64_t)action->requests[0]);
    return key && !(*key & GROUP) ? put_request(writer, "test", *key) : 0;
}

/* ---- messages ---- */

static const char *message_name(const struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    const bool thesis = writer->dialect == RFN_TEXT_THESIS;
    if (action->kind == RFN_ACTION_SEND)
        return action->blocks ? "send" : thesis ? "Isend" : "isend";
    return action->blocks ? "recv" : thesis ? "Irecv" : "irecv";
}

static int write_message(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    const bool thesis = writer->dialect == RFN_TEXT_THESIS;
    const int64_t tag = thesis ? 0 : rfn_text_tag(action->comm, action->tag);
    writer->summary->synchronous += action->synchronous;
    if (thesis && action->peer == RFN_ACTION_ANY)
        return cannot(writer, "receives from any rank, which the thesis has no word for");
    begin_line(writer, message_name(writer, action));
    put_number(writer, action->peer);
    if (!thesis)
        put_number(writer, tag);
    if (!thesis || action->kind == RFN_ACTION_SEND || !action->blocks)
        put_number(writer, thesis && action->bytes < 0 ? 0 : action->bytes);
    if (!thesis && action->blocks && action->bytes >= 0 && action->bytes < TYPES_OF_THESIS)
        put_number(writer, TYPE_BYTE); /* tag and bytes could be the thesis' count and type */
    RFN_TRY(end_line(writer));
    if (action->blocks)
        return 0;
    const int64_t request = action->request < 0 ? OWN_REQUESTS + writer->parts++ : action->request;
    return keep(writer, request, key_of(action, tag));
}

/* As MPI has it: both are posted, then waited for. */
static int write_both(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    const int64_t requests[2] = {OWN_REQUESTS + writer->parts, OWN_REQUESTS + writer->parts + 1};
    struct rfn_action parts[2];
    rfn_expand_sendrecv(action, requests[0], parts);
    writer->parts += 2;
    RFN_TRY(write_message(writer, &parts[0]));
    RFN_TRY(write_message(writer, &parts[1]));
    const struct rfn_action wait = {.kind = RFN_ACTION_WAIT, .requests = requests, .n_requests = 2};
    return write_wait(writer, &wait);
}

static int write_sendrecv(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    if (writer->dialect == RFN_TEXT_THESIS || action->comm || action->tag || action->receive_tag)
        return write_both(writer, action);
    begin_line(writer, "sendRecv");
    put_number(writer, action->bytes);
    put_number(writer, action->peer);
    put_number(writer, action->receive_bytes);
    put_number(writer, action->receive_peer);
    return end_line(writer);
}

/* ---- collective calls ---- */

/* NULL: there is none. */
static const char *const thesis_names[RFN_ACTION_KINDS] = {
    [RFN_ACTION_BARRIER] = "barrier",
    [RFN_ACTION_BCAST] = "bcast",
    [RFN_ACTION_REDUCE] = "reduce",
    [RFN_ACTION_ALLREDUCE] = "allReduce",
    [RFN_ACTION_GATHER] = "gather",
    [RFN_ACTION_ALLGATHERV] = "allGatherV",
    [RFN_ACTION_ALLTOALL] = "allToAll",
    [RFN_ACTION_ALLTOALLV] = "allToAllV",
    [RFN_ACTION_REDUCE_SCATTER] = "reduceScatter",
};

/* Counts are int in SimGrid. */
static bool fits_count(const int64_t *sizes, uint32_t n)
{
    for (uint32_t i = 0; sizes && i < n; i++) {
        if (sizes[i] > INT32_MAX)
            return false;
    }
    return true;
}

/* The dialect's word for the call among n members, or NULL. */
static const char *word_for(const struct rfn_ti_writer *writer, const struct rfn_action *action,
                            uint32_t n)
{
    const bool fits = action->bytes <= INT32_MAX && action->receive_bytes <= INT32_MAX &&
                      fits_count(action->sends, n) && fits_count(action->receives, n);
    if (!action->blocks || !fits)
        return NULL;
    if (writer->dialect == RFN_TEXT_THESIS)
        return thesis_names[action->kind];
    return rfn_action_name(action->kind);
}

static void put_all_to_all_v(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    const bool thesis = writer->dialect == RFN_TEXT_THESIS;
    put_number(writer, sum_of(writer, action->sends));
    put_list(writer, action->sends);
    if (thesis)
        put_displacements(writer, action->sends);
    put_number(writer, sum_of(writer, action->receives));
    put_list(writer, action->receives);
    if (thesis)
        put_displacements(writer, action->receives);
}

/* The thesis leaves out a root of 0 and the type of default, or tells both (Fig. 3.20). */
static void put_root(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    const bool thesis = writer->dialect == RFN_TEXT_THESIS;
    const bool buffers = action->kind == RFN_ACTION_GATHER || action->kind == RFN_ACTION_GATHERV ||
                         action->kind == RFN_ACTION_SCATTER || action->kind == RFN_ACTION_SCATTERV;
    const bool rooted = buffers || action->kind == RFN_ACTION_BCAST ||
                        action->kind == RFN_ACTION_REDUCE;
    if (!rooted || (thesis && !action->root))
        return;
    put_number(writer, action->root);
    for (int i = 0; thesis && i < 1 + buffers; i++)
        put_number(writer, TYPE_BYTE);
}

static void put_fields(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    const bool thesis = writer->dialect == RFN_TEXT_THESIS;
    switch (action->kind) {
    case RFN_ACTION_BARRIER:
        return;
    case RFN_ACTION_ALLTOALLV:
        put_all_to_all_v(writer, action);
        return;
    case RFN_ACTION_REDUCE_SCATTER:
        put_list(writer, action->receives);
        put_real(writer, action->volume);
        return;
    case RFN_ACTION_SCATTERV:
        put_list(writer, action->sends);
        put_number(writer, action->receive_bytes);
        break;
    case RFN_ACTION_GATHERV:
    case RFN_ACTION_ALLGATHERV:
        put_number(writer, action->bytes);
        put_list(writer, action->receives);
        if (thesis)
            put_displacements(writer, action->receives);
        break;
    case RFN_ACTION_GATHER:
    case RFN_ACTION_SCATTER:
    case RFN_ACTION_ALLGATHER:
    case RFN_ACTION_ALLTOALL:
        put_number(writer, action->bytes);
        put_number(writer, action->receive_bytes);
        break;
    case RFN_ACTION_BCAST:
        put_number(writer, action->bytes);
        break;
    default: /* reductions */
        put_number(writer, action->bytes);
        put_real(writer, action->volume);
        break;
    }
    put_root(writer, action);
}

static bool is_world(const struct rfn_ti_writer *writer, const int64_t *members, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (members[i] != i)
            return false;
    }
    return n == writer->n_ranks;
}

static int write_expanded(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    struct rfn_expansion *expansion = &writer->expansion;
    const int64_t first = OWN_REQUESTS + writer->parts;
    const char *fault;
    expansion->next_request = first;
    const int error = rfn_expand_call(expansion, writer->actions, action, writer->rank, &fault);
    if (error == RFN_E_UNSUPPORTED)
        return cannot(writer, fault);
    RFN_TRY(error);
    const int64_t made = expansion->next_request - first;
    writer->parts += made;
    writer->summary->expanded++;
    for (size_t i = 0; i < expansion->n; i++)
        RFN_TRY(rfn_ti_write(writer, &expansion->actions[i]));
    return action->blocks || action->request < 0
               ? 0
               : keep_group(writer, action->request, first, (uint64_t)made);
}

static int write_collective(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    uint32_t n = writer->n_ranks;
    const int64_t *members = action->comm ? rfn_actions_comm(writer->actions, action->comm, &n)
                                          : NULL;
    const bool world = !action->comm || (members && is_world(writer, members, n));
    const char *word = world ? word_for(writer, action, n) : NULL;
    if (!word)
        return write_expanded(writer, action);
    begin_line(writer, word);
    put_fields(writer, action);
    return end_line(writer);
}

/* ---- actions ---- */

static int write_sleep(struct rfn_ti_writer *writer, double seconds)
{
    if (writer->dialect == RFN_TEXT_THESIS)
        return cannot(writer, "sleeps, which the thesis has no word for");
    begin_line(writer, "sleep");
    put_real(writer, seconds);
    return end_line(writer);
}

int rfn_ti_write_end(struct rfn_ti_writer *writer)
{
    if (writer->ended)
        return 0;
    writer->ended = true;
    return put_line(writer, "finalize");
}

/* Text has one init in front of all else. */
static int begin(struct rfn_ti_writer *writer)
{
    if (writer->begun)
        return 0;
    writer->begun = true;
    return put_line(writer, "init");
}

int rfn_ti_write(struct rfn_ti_writer *writer, const struct rfn_action *action)
{
    RFN_TRY(begin(writer));
    switch (action->kind) {
    case RFN_ACTION_INIT:
        return 0;
    case RFN_ACTION_FINALIZE:
        return rfn_ti_write_end(writer);
    case RFN_ACTION_COMPUTE:
        writer->computed += action->volume;
        return 0;
    case RFN_ACTION_SLEEP:
        return write_sleep(writer, action->seconds);
    case RFN_ACTION_SEND:
    case RFN_ACTION_RECV:
        return write_message(writer, action);
    case RFN_ACTION_PROBE:
        writer->summary->probes++;
        return 0;
    case RFN_ACTION_TEST:
        return write_test(writer, action);
    case RFN_ACTION_WAIT:
        return write_wait(writer, action);
    case RFN_ACTION_SENDRECV:
        return write_sendrecv(writer, action);
    default:
        return write_collective(writer, action);
    }
}
