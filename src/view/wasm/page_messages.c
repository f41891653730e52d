/* page_messages.c - messages and collective calls of the run, in order of time. */
#include "view/wasm/page_reader.h"

#include "base/grow.h"
#include "refrain/match.h"

#include <stdlib.h>

/* Times as double, streams as uint32_t, in rows. */
struct message {
    double sent_ns, received_ns, bytes;
    uint32_t from, to;
    int32_t tag;
    uint32_t comm;
};

struct member {
    double enter_ns, exit_ns;
    uint32_t collective, stream, function, comm;
};

static struct {
    struct message *items;
    size_t n, capacity;
    struct member *members;
    size_t n_members, members_capacity;
    uint32_t collectives;
    size_t most;
} found;

enum { ENOUGH = -1 }; /* no error: the walk has found as much as was asked for */

const void *EXPORT(page_message_rows)(void)
{
    return found.items;
}

const void *EXPORT(page_member_rows)(void)
{
    return found.members;
}

uint32_t EXPORT(page_members)(void)
{
    return (uint32_t)found.n_members;
}

static int take_message(void *context, const struct rfn_match_message *message)
{
    (void)context;
    if (found.n == found.most)
        return ENOUGH;
    RFN_TRY(RFN_GROW(found.items, found.capacity, found.n + 1));
    const struct rfn_match_end *received = &message->received;
    found.items[found.n++] = (struct message){
        .sent_ns = (double)message->sent.posted.ns,
        .received_ns = (double)(received->ended ? received->exit_ns : received->posted.ns),
        .bytes = (double)message->bytes,
        .from = message->sent.posted.stream,
        .to = received->posted.stream,
        .tag = (int32_t)message->tag,
        .comm = message->comm};
    return 0;
}

static int take_collective(void *context, const struct rfn_match_collective *collective)
{
    (void)context;
    for (uint32_t i = 0; i < collective->n_members; i++) {
        const struct rfn_match_member *member = &collective->members[i];
        if (!member->entered || found.n_members == found.most)
            continue;
        RFN_TRY(RFN_GROW(found.members, found.members_capacity, found.n_members + 1));
        found.members[found.n_members++] = (struct member){
            .enter_ns = (double)member->end.posted.ns,
            .exit_ns = (double)(member->end.ended ? member->end.exit_ns : member->end.posted.ns),
            .collective = found.collectives,
            .stream = member->end.posted.stream,
            .function = collective->function,
            .comm = (uint32_t)(collective->comm < 0 ? UINT32_MAX : collective->comm)};
    }
    found.collectives++;
    return 0;
}

/* Finds the messages, from the beginning on, at most so many: their number. */
int EXPORT(page_messages)(uint32_t most)
{
    const struct rfn_match_hooks hooks = {.message = take_message, .collective = take_collective};
    page_forget_error();
    found.n = found.n_members = found.collectives = 0;
    found.most = most;
    const int error = rfn_match_run(page_archive, &hooks, NULL, &page_diag);
    if (error < 0 && error != ENOUGH && !found.n && !found.n_members)
        return page_fail(error);
    return (int)found.n;
}
