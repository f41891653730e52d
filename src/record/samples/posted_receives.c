/* posted_receives.c - which message of its channel a receive gets.
 *
 * MPI matches in order (MPI 4.1, 3.5): of two receives that both might take a message, the one that
 * was posted first does. So the receives that take from one channel, in the order in which they
 * were posted, get its messages in the order in which they were sent.
 *
 * A receive without wildcards stands in the queue of its channel from the beginning, one with
 * wildcards from when it is done, at the place of its posting. The first of a queue gets its
 * position when it is done, and no receive with wildcards is left that was posted before it and
 * might take from the channel.
 */
#include "record/samples/samples_internal.h"

#include <stdlib.h>
#include <string.h>

struct rec_posted_receive {
    struct rec_posted_receive *previous, *next; /* in its queue, or among wildcards */
    struct rec_in_channel *channel;             /* NULL: not known yet */
    const struct rec_comm *comm;
    int64_t source, tag;                  /* in comm; MPI's wildcards */
    int64_t got_source, got_tag;          /* when it is over */
    struct rec_posted_receive *next_over; /* of those that the same call completes */
    uint64_t number;                      /* in the order of posting */
    const struct rec_stream *stream;
    struct rec_message_end end;
    bool done, seen; /* seen: by the program, while recording was on */
};

/* Of a call that receives. */
struct received_kind {
    uint32_t site, stream, comm;
    int64_t source, tag;
    uint64_t site_hash;
    struct rec_in_channel *channel;
};

enum { KIND_BITS = 8 };

static struct received_kind kinds[1 << KIND_BITS];
static struct rec_posted_receive *first_wildcard, *last_wildcard, *free_receives;
static struct rec_in_channel *waiting; /* for wildcards */
static uint64_t n_posted;
static bool lost; /* from now on positions are not known */

/* Whether the call may make samples. One that has failed has got a message, but not all of it. */
static bool is_seen(const struct rec_call *call)
{
    return !call->off && (call->rc == MPI_SUCCESS || call->n_requests > 0);
}

/* ---- channels ---- */

static struct rec_in_channel *find_channel(const struct rec_comm *comm, int64_t source, int64_t tag)
{
    const int64_t world = rec_world_rank(comm, source);
    if (world < 0)
        return NULL;
    const uint64_t hash = rfn_sample_channel(comm->identity, (uint32_t)world, rec_sampling.rank,
                                             tag);
    struct rec_in_channel *channel = rec_in_channel(hash, (uint32_t)world, rfn_sample_is_part(tag));
    if (channel && !channel->known) {
        channel->known = true;
        channel->comm = comm->number;
        channel->source_in_comm = source;
        channel->tag = tag;
    }
    return channel;
}

__attribute__((noinline)) static void learn(struct received_kind *kind, const struct rec_call *call,
                                            const struct rec_comm *comm, int64_t source,
                                            int64_t tag)
{
    *kind = (struct received_kind){.site = call->off ? UINT32_MAX : call->site,
                                   .stream = rec_sample_stream(call)->number,
                                   .comm = comm->number,
                                   .source = source,
                                   .tag = tag,
                                   .site_hash = rec_sample_site(call),
                                   .channel = find_channel(comm, source, tag)};
}

/* What the call's site and its message say, looked up once. A call that is not recorded has no
 * site. */
static inline const struct received_kind *
kind_of(const struct rec_call *call, const struct rec_comm *comm, int64_t source, int64_t tag)
{
    const uint32_t site = call->off ? UINT32_MAX : call->site;
    struct received_kind *kind =
        &kinds[rec_sample_place(site ^ (uint64_t)source << 32, (uint64_t)tag, KIND_BITS)];
    const uint64_t differs = (uint64_t)((kind->source ^ source) | (kind->tag ^ tag)) |
                             (kind->site ^ site) | (kind->comm ^ comm->number) |
                             (kind->stream ^ rec_sample_stream(call)->number);
    if (__builtin_expect(!kind->channel || differs, 0))
        learn(kind, call, comm, source, tag);
    return kind;
}

/* ---- positions ---- */

/* Threads post in an order that nobody knows. */
static inline void note_thread(struct rec_in_channel *channel, const struct rec_stream *stream)
{
    if (!channel->stream)
        channel->stream = stream;
    channel->uncertain |= channel->stream != stream;
}

static bool might_take(const struct rec_posted_receive *wildcard,
                       const struct rec_in_channel *channel)
{
    return wildcard->comm->number == channel->comm && !rfn_sample_is_part(channel->tag) &&
           (wildcard->source == MPI_ANY_SOURCE || wildcard->source == channel->source_in_comm) &&
           (wildcard->tag == MPI_ANY_TAG || wildcard->tag == channel->tag);
}

/* Whether another thread has posted a receive with wildcards that might take from the channel. It
 * may have been posted before one that has a lower number. */
static bool others_wildcard_might(const struct rec_in_channel *channel)
{
    const struct rec_posted_receive *wildcard = first_wildcard;
    while (wildcard && (wildcard->stream == channel->stream || !might_take(wildcard, channel)))
        wildcard = wildcard->next;
    return wildcard;
}

/* The channel's next message is this one. */
static inline void take_position(struct rec_in_channel *channel, struct rec_message_end *end,
                                 bool seen)
{
    const struct rfn_sample_strategy *strategy = &rec_sampling.strategy;
    const bool agrees = rfn_sample_agrees(strategy);
    end->position = channel->position++;
    if (rec_follower && seen && !(channel->uncertain | lost))
        rec_follower->received(channel->hash, end->position, end->post_call, end->done_call);
    if (!seen || strategy->kind == RFN_SAMPLE_OFF)
        return;
    if (agrees && !rfn_sample_chosen(strategy, channel->hash, end->position))
        return;
    end->rate = agrees ? rfn_sample_rate(strategy, end->position) : 0;
    end->uncertain = channel->uncertain | lost;
    if (__builtin_expect(rec_threads_multiple, 0) && !end->uncertain)
        end->uncertain = rec_others_might_receive(channel) || others_wildcard_might(channel);
    rec_end_received(channel, end);
}

/* Whether a receive with wildcards that was posted earlier might take from the channel. */
static bool is_behind_wildcard(const struct rec_in_channel *channel, uint64_t number)
{
    const struct rec_posted_receive *wildcard = first_wildcard;
    while (wildcard && wildcard->number < number && !might_take(wildcard, channel))
        wildcard = wildcard->next;
    return wildcard && wildcard->number < number;
}

/* ---- queues ---- */

static void insert_behind(struct rec_posted_receive *receive, struct rec_posted_receive *before,
                          struct rec_posted_receive **first, struct rec_posted_receive **last)
{
    receive->previous = before;
    receive->next = before ? before->next : *first;
    *(before ? &before->next : first) = receive;
    *(receive->next ? &receive->next->previous : last) = receive;
}

static void take_out(struct rec_posted_receive *receive, struct rec_posted_receive **first,
                     struct rec_posted_receive **last)
{
    *(receive->previous ? &receive->previous->next : first) = receive->next;
    *(receive->next ? &receive->next->previous : last) = receive->previous;
}

static struct rec_posted_receive *take_receive(void)
{
    struct rec_posted_receive *receive = free_receives;
    if (receive)
        free_receives = receive->next;
    else
        receive = malloc(sizeof *receive);
    if (receive)
        memset(receive, 0, sizeof *receive);
    return receive;
}

static void give_receive(struct rec_posted_receive *receive)
{
    receive->next = free_receives;
    free_receives = receive;
}

/* Gives positions to the receives at the front of the channel's queue that are done. */
static void settle(struct rec_in_channel *channel)
{
    struct rec_posted_receive *receive = channel->first;
    for (; receive && receive->done; receive = channel->first) {
        if (is_behind_wildcard(channel, receive->number)) {
            if (!channel->waits_for_wildcards) {
                channel->waits_for_wildcards = true;
                channel->next_waiting = waiting;
                waiting = channel;
            }
            return;
        }
        take_out(receive, &channel->first, &channel->last);
        take_position(channel, &receive->end, receive->seen);
        give_receive(receive);
    }
}

/* A receive with wildcards is out of the way. */
static void settle_waiting(void)
{
    struct rec_in_channel *channel = waiting;
    waiting = NULL;
    while (channel) {
        struct rec_in_channel *next = channel->next_waiting;
        channel->waits_for_wildcards = false;
        settle(channel);
        channel = next;
    }
}

static void enqueue(struct rec_posted_receive *receive, struct rec_in_channel *channel)
{
    struct rec_posted_receive *before = channel->last;
    while (before && before->number > receive->number)
        before = before->previous;
    receive->channel = channel;
    note_thread(channel, receive->stream);
    insert_behind(receive, before, &channel->first, &channel->last);
}

/* ---- calls ---- */

struct rec_posted_receive *rec_post_receive(const struct rec_call *call,
                                            const struct rec_comm *comm, int64_t source,
                                            int64_t tag)
{
    const bool wild = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
    struct rec_posted_receive *receive = take_receive();
    if (!receive) {
        lost = true;
        return NULL;
    }
    receive->comm = comm;
    receive->source = source;
    receive->tag = tag;
    receive->number = n_posted++;
    receive->stream = rec_sample_stream(call);
    receive->seen = is_seen(call);
    receive->end.posted = call->enter;
    receive->end.post_call = rec_sampling.call;
    if (wild) {
        receive->end.site = rec_sample_site(call);
        insert_behind(receive, last_wildcard, &first_wildcard, &last_wildcard);
        return receive;
    }
    const struct received_kind *kind = kind_of(call, comm, source, tag);
    if (!kind->channel) { /* another job's process */
        give_receive(receive);
        return NULL;
    }
    receive->end.site = kind->site_hash;
    enqueue(receive, kind->channel);
    return receive;
}

/* The channel of a receive with wildcards is known. */
static void resolve(struct rec_posted_receive *receive, int64_t source, int64_t tag)
{
    struct rec_in_channel *channel = find_channel(receive->comm, source, tag);
    take_out(receive, &first_wildcard, &last_wildcard);
    if (channel)
        enqueue(receive, channel);
    else
        give_receive(receive);
}

/* The call has left. */
static void end_receive(struct rec_posted_receive *receive, const struct rec_call *call)
{
    const bool wild = !receive->channel;
    receive->done = true;
    receive->seen &= is_seen(call);
    receive->end.entered = call->enter;
    receive->end.received = call->exit;
    receive->end.done_call = rec_sampling.call;
    receive->end.waits = !(rec_functions[call->function].flags & RFN_FUNCTION_POLL);
    if (wild)
        resolve(receive, receive->got_source, receive->got_tag);
    if (receive->channel)
        settle(receive->channel);
    if (wild)
        settle_waiting();
}

void rec_receive_done(struct rec_posted_receive *receive, const struct rec_call *call,
                      int64_t source, int64_t tag, uint64_t bytes)
{
    struct rec_stream *stream = rec_sample_stream(call);
    receive->got_source = source;
    receive->got_tag = tag;
    receive->end.bytes = bytes;
    receive->next_over = stream->sampled.received;
    stream->sampled.received = receive;
}

void rec_receives_left(const struct rec_call *call)
{
    struct rec_stream *stream = rec_sample_stream(call);
    struct rec_posted_receive *first = NULL;
    /* In the order in which they were completed, which often is that of posting: then each goes to
     * the end of its channel's queue. */
    while (stream->sampled.received) {
        struct rec_posted_receive *receive = stream->sampled.received;
        stream->sampled.received = receive->next_over;
        receive->next_over = first;
        first = receive;
    }
    while (first) {
        struct rec_posted_receive *receive = first;
        first = receive->next_over;
        end_receive(receive, call);
    }
}

void rec_receive_reposted(struct rec_posted_receive *receive, const struct rec_call *call)
{
    receive->end.site = rec_sample_site(call);
    receive->seen &= !call->off;
}

static void remove_receive(struct rec_posted_receive *receive)
{
    struct rec_in_channel *channel = receive->channel;
    if (channel)
        take_out(receive, &channel->first, &channel->last);
    else
        take_out(receive, &first_wildcard, &last_wildcard);
    give_receive(receive);
    if (channel)
        settle(channel);
    else
        settle_waiting();
}

void rec_receive_cancelled(struct rec_posted_receive *receive)
{
    remove_receive(receive);
}

/* A receive without wildcards takes a message of its channel nevertheless, unless it was cancelled.
 * The channel of another one is not known. */
void rec_receive_lost(struct rec_posted_receive *receive, bool cancelled)
{
    struct rec_in_channel *channel = receive->channel;
    if (channel && !cancelled) {
        receive->done = true;
        receive->seen = false;
        settle(channel);
        return;
    }
    if (channel)
        channel->uncertain = true;
    else
        lost = true;
    remove_receive(receive);
}

void rec_receives_uncertain(void)
{
    lost = true;
}

int64_t rec_receive_part_tag(const struct rec_call *call, int64_t source, int64_t tag)
{
    const int64_t parts = rfn_sample_part_tag(tag, RFN_SAMPLE_PARTS);
    struct rec_in_channel *all = source >= 0 ? find_channel(call->comm, source, parts) : NULL;
    if (!all)
        return parts;
    note_thread(all, rec_sample_stream(call));
    const int64_t own = rfn_sample_part_tag(tag, ++all->parts);
    struct rec_in_channel *part = find_channel(call->comm, source, own);
    if (part)
        part->uncertain |= all->uncertain;
    return own;
}

void rec_received(const struct rec_call *call, int64_t source, int64_t tag, uint64_t bytes)
{
    if (source < 0) { /* it has failed, and what it took is not known */
        lost = true;
        return;
    }
    const struct received_kind *kind = kind_of(call, call->comm, source, tag);
    struct rec_in_channel *channel = kind->channel;
    const struct rec_stream *stream = rec_sample_stream(call);
    if (!channel)
        return;
    if (__builtin_expect(channel->first || first_wildcard, 0)) {
        struct rec_posted_receive *receive = rec_post_receive(call, call->comm, source, tag);
        if (receive) {
            receive->got_source = source;
            receive->got_tag = tag;
            receive->end.bytes = bytes;
            end_receive(receive, call);
        }
        return;
    }
    struct rec_message_end end = {
        .site = kind->site_hash,
        .bytes = bytes,
        .posted = call->enter,
        .entered = call->enter,
        .received = call->exit,
        .post_call = rec_sampling.call,
        .done_call = rec_sampling.call,
        .waits = !(rec_functions[call->function].flags & RFN_FUNCTION_POLL)};
    note_thread(channel, stream);
    take_position(channel, &end, is_seen(call));
}

void rec_receives_release(void)
{
    while (free_receives) {
        struct rec_posted_receive *receive = free_receives;
        free_receives = receive->next;
        free(receive);
    }
    first_wildcard = last_wildcard = NULL; /* their requests may still point at them */
}
