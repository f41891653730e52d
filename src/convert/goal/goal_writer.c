#include "convert/goal/goal_writer.h"

#include "base/grow.h"

#include <stdlib.h>

enum { LABEL_BITS = 40 }; /* of a group in `pending`; above them how many labels it has */

static const int64_t OWN_REQUESTS = (int64_t)1 << 60;

void rfn_goal_writer_release(struct rfn_goal_writer *writer)
{
    rfn_map_release(&writer->pending);
    rfn_expansion_release(&writer->expansion);
    free(writer->waited);
}

/* ---- lines ---- */

static void put_label(struct rfn_goal_writer *writer, uint64_t label)
{
    rfn_text_char(writer->text, 'l');
    rfn_text_unsigned(writer->text, label);
}

static int put_dependency(struct rfn_goal_writer *writer, const char *how, uint64_t label)
{
    put_label(writer, writer->labels);
    rfn_text_string(writer->text, how);
    put_label(writer, label);
    rfn_text_char(writer->text, '\n');
    writer->summary->lines++;
    return writer->text->failed ? RFN_E_NOMEM : 0;
}

static void begin_operation(struct rfn_goal_writer *writer, const char *name, uint64_t number)
{
    put_label(writer, ++writer->labels);
    rfn_text_string(writer->text, name);
    rfn_text_unsigned(writer->text, number);
}

/* What it waits for; begins: those after it wait only until it has begun. */
static int end_operation(struct rfn_goal_writer *writer, bool begins)
{
    const uint64_t last = writer->labels - 1;
    bool is_waited = false;
    rfn_text_char(writer->text, '\n');
    writer->summary->lines++;
    for (size_t i = 0; i < writer->n_waited; i++) {
        is_waited |= writer->waited[i] == last;
        RFN_TRY(put_dependency(writer, " requires ", writer->waited[i]));
    }
    if (last && !is_waited)
        RFN_TRY(put_dependency(writer, writer->begins ? " irequires " : " requires ", last));
    writer->n_waited = 0;
    writer->begins = begins;
    return writer->text->failed ? RFN_E_NOMEM : 0;
}

/* Computing since the last operation, in whole ns. */
static int put_computing(struct rfn_goal_writer *writer)
{
    if (!(writer->computed >= 1))
        return 0;
    const uint64_t ns = writer->computed < 1e18 ? (uint64_t)writer->computed : (uint64_t)1e18;
    writer->computed -= (double)ns;
    begin_operation(writer, ": calc ", ns);
    return end_operation(writer, false);
}

static void put_peer(struct rfn_goal_writer *writer, const char *name, int64_t number)
{
    rfn_text_string(writer->text, name);
    rfn_text_signed(writer->text, number < 0 ? -1 : number); /* -1: any */
}

/* ---- messages and requests ---- */

static int keep(struct rfn_goal_writer *writer, int64_t request, uint64_t first, uint64_t n)
{
    if (first >> LABEL_BITS || n >> (64 - LABEL_BITS)) {
        writer->fault = "has more messages than can be told apart";
        return RFN_E_UNSUPPORTED;
    }
    return n ? rfn_map_put(&writer->pending, (uint64_t)request, n << LABEL_BITS | first) : 0;
}

static int write_message(struct rfn_goal_writer *writer, const struct rfn_action *action)
{
    const bool sends = action->kind == RFN_ACTION_SEND;
    if (!sends && action->bytes < 0) {
        writer->fault =
            "receives a message of a size that the trace does not tell, and GOAL needs it";
        return RFN_E_UNSUPPORTED;
    }
    RFN_TRY(put_computing(writer));
    writer->summary->synchronous += action->synchronous;
    begin_operation(writer, sends ? ": send " : ": recv ",
                    action->bytes > 0 ? (uint64_t)action->bytes : 1);
    put_peer(writer, sends ? "b to " : "b from ", action->peer);
    put_peer(writer, " tag ", rfn_text_tag(action->comm, action->tag));
    RFN_TRY(end_operation(writer, !action->blocks));
    return action->blocks || action->request < 0 ? 0
                                                 : keep(writer, action->request, writer->labels, 1);
}

/* Computing before it does not wait. */
static int write_wait(struct rfn_goal_writer *writer, const struct rfn_action *action)
{
    RFN_TRY(put_computing(writer));
    for (size_t i = 0; i < action->n_requests; i++) {
        const uint64_t *found = rfn_map_get(&writer->pending, (uint64_t)action->requests[i]);
        if (!found)
            continue;
        const uint64_t n = *found >> LABEL_BITS;
        const uint64_t first = *found & (((uint64_t)1 << LABEL_BITS) - 1);
        RFN_TRY(RFN_GROW(writer->waited, writer->waited_capacity, writer->n_waited + n));
        for (uint64_t k = 0; k < n; k++)
            writer->waited[writer->n_waited++] = first + k;
        rfn_map_remove(&writer->pending, (uint64_t)action->requests[i]);
    }
    return 0;
}

static int write_sendrecv(struct rfn_goal_writer *writer, const struct rfn_action *action)
{
    const int64_t requests[2] = {OWN_REQUESTS + writer->parts, OWN_REQUESTS + writer->parts + 1};
    const struct rfn_action wait = {.kind = RFN_ACTION_WAIT, .requests = requests, .n_requests = 2};
    struct rfn_action parts[2];
    rfn_expand_sendrecv(action, requests[0], parts);
    writer->parts += 2;
    RFN_TRY(write_message(writer, &parts[0]));
    RFN_TRY(write_message(writer, &parts[1]));
    return write_wait(writer, &wait);
}

/* The messages of a call with a request have labels in a row: nothing computes between them. */
static int write_collective(struct rfn_goal_writer *writer, const struct rfn_action *action)
{
    struct rfn_expansion *expansion = &writer->expansion;
    RFN_TRY(put_computing(writer));
    const uint64_t first = writer->labels + 1;
    expansion->next_request = OWN_REQUESTS + writer->parts;
    RFN_TRY(rfn_expand_call(expansion, writer->actions, action, writer->rank, &writer->fault));
    writer->parts = expansion->next_request - OWN_REQUESTS;
    writer->summary->expanded++;
    for (size_t i = 0; i < expansion->n; i++)
        RFN_TRY(rfn_goal_write(writer, &expansion->actions[i]));
    return action->blocks || action->request < 0
               ? 0
               : keep(writer, action->request, first, writer->labels + 1 - first);
}

/* ---- actions ---- */

int rfn_goal_write(struct rfn_goal_writer *writer, const struct rfn_action *action)
{
    switch (action->kind) {
    case RFN_ACTION_INIT:
    case RFN_ACTION_FINALIZE:
    case RFN_ACTION_TEST:
        return 0;
    case RFN_ACTION_COMPUTE:
        writer->computed += action->volume;
        return 0;
    case RFN_ACTION_SLEEP:
        writer->computed += action->seconds * 1e9;
        return 0;
    case RFN_ACTION_PROBE:
        writer->summary->probes++;
        return 0;
    case RFN_ACTION_SEND:
    case RFN_ACTION_RECV:
        return write_message(writer, action);
    case RFN_ACTION_WAIT:
        return write_wait(writer, action);
    case RFN_ACTION_SENDRECV:
        return write_sendrecv(writer, action);
    default:
        return write_collective(writer, action);
    }
}

int rfn_goal_write_end(struct rfn_goal_writer *writer)
{
    return put_computing(writer);
}
