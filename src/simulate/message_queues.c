#include "simulate/message_queues.h"

#include "base/hash.h"
#include "base/pool.h"

#include <stdlib.h>

struct rfn_queue {
    struct rfn_channel channel;
    struct rfn_message_list sends, receives;
    uint32_t next; /* + 1; in its bucket, or of the free ones */
};

static const struct rfn_message_list empty = {RFN_NO_MESSAGE, RFN_NO_MESSAGE};

int rfn_message_queues_init(struct rfn_message_queues *messages, uint32_t ranks)
{
    *messages = (struct rfn_message_queues){.n_buckets = 1024};
    messages->buckets = calloc(messages->n_buckets, sizeof *messages->buckets);
    messages->mailboxes = malloc((ranks + (size_t)1) * sizeof *messages->mailboxes);
    if (!messages->buckets || !messages->mailboxes)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < ranks; i++)
        messages->mailboxes[i] = (struct rfn_mailbox){empty, empty, 0};
    return 0;
}

void rfn_message_queues_release(struct rfn_message_queues *messages)
{
    free(messages->messages);
    free(messages->queues);
    free(messages->buckets);
    free(messages->mailboxes);
}

int64_t rfn_message_new(struct rfn_message_queues *messages)
{
    const int64_t number = RFN_POOL_TAKE(messages->messages, messages->capacity, messages->n,
                                         messages->free, next);
    if (number < 0)
        return number;
    messages->used++;
    messages->messages[number] = (struct rfn_message){.order = messages->order++};
    return number;
}

void rfn_message_free(struct rfn_message_queues *messages, uint32_t number)
{
    messages->used--;
    RFN_POOL_GIVE(messages->messages, messages->free, next, number);
}

/* ---- queues ---- */

static size_t bucket_of(const struct rfn_message_queues *messages,
                        const struct rfn_channel *channel)
{
    uint64_t hash = rfn_hash_mix(0, (uint64_t)channel->target << 32 | channel->comm);
    hash = rfn_hash_mix(hash, (uint64_t)channel->source);
    return rfn_hash_mix(hash, (uint64_t)channel->tag) & (messages->n_buckets - 1);
}

static bool equal(const struct rfn_channel *a, const struct rfn_channel *b)
{
    return a->target == b->target && a->source == b->source && a->tag == b->tag &&
           a->comm == b->comm;
}

/* Where the number of the channel's queue, + 1, is; 0 if it has none. */
static uint32_t *find(const struct rfn_message_queues *messages, const struct rfn_channel *channel)
{
    uint32_t *at = &messages->buckets[bucket_of(messages, channel)];
    while (*at && !equal(&messages->queues[*at - 1].channel, channel))
        at = &messages->queues[*at - 1].next;
    return at;
}

static int add_buckets(struct rfn_message_queues *messages)
{
    uint32_t *old = messages->buckets;
    const size_t n = messages->n_buckets;
    uint32_t *larger = calloc(2 * n, sizeof *larger);
    if (!larger)
        return RFN_E_NOMEM;
    messages->buckets = larger;
    messages->n_buckets = 2 * n;
    for (size_t i = 0; i < n; i++) {
        for (uint32_t number = old[i], next; number; number = next) {
            struct rfn_queue *queue = &messages->queues[number - 1];
            uint32_t *bucket = &larger[bucket_of(messages, &queue->channel)];
            next = queue->next;
            queue->next = *bucket;
            *bucket = number;
        }
    }
    free(old);
    return 0;
}

static int64_t make(struct rfn_message_queues *messages, const struct rfn_channel *channel)
{
    if (messages->used_queues == messages->n_buckets)
        RFN_TRY(add_buckets(messages));
    const int64_t number = RFN_POOL_TAKE(messages->queues, messages->queues_capacity,
                                         messages->n_queues, messages->free_queue, next);
    if (number < 0)
        return number;
    messages->used_queues++;
    messages->queues[number] = (struct rfn_queue){*channel, empty, empty, 0};
    *find(messages, channel) = (uint32_t)number + 1;
    return number;
}

static void drop(struct rfn_message_queues *messages, uint32_t *at)
{
    const uint32_t number = *at - 1;
    *at = messages->queues[number].next;
    messages->used_queues--;
    RFN_POOL_GIVE(messages->queues, messages->free_queue, next, number);
}

/* ---- lists ---- */

static void append(struct rfn_message_queues *messages, struct rfn_message_list *list,
                   uint32_t number)
{
    struct rfn_message *message = &messages->messages[number];
    message->next = RFN_NO_MESSAGE;
    message->before = list->last;
    *(list->last == RFN_NO_MESSAGE ? &list->first : &messages->messages[list->last].next) = number;
    list->last = number;
}

static void take_out(struct rfn_message_queues *messages, struct rfn_message_list *list,
                     uint32_t number)
{
    const struct rfn_message *message = &messages->messages[number];
    const uint32_t next = message->next, before = message->before;
    *(before == RFN_NO_MESSAGE ? &list->first : &messages->messages[before].next) = next;
    *(next == RFN_NO_MESSAGE ? &list->last : &messages->messages[next].before) = before;
}

static void append_listed(struct rfn_message_queues *messages, uint32_t number)
{
    struct rfn_message *message = &messages->messages[number];
    struct rfn_message_list *list = &messages->mailboxes[message->channel.target].sends;
    message->listed = RFN_NO_MESSAGE;
    message->listed_before = list->last;
    *(list->last == RFN_NO_MESSAGE ? &list->first
                                   : &messages->messages[list->last].listed) = number;
    list->last = number;
}

static void take_out_listed(struct rfn_message_queues *messages, uint32_t number)
{
    const struct rfn_message *message = &messages->messages[number];
    struct rfn_message_list *list = &messages->mailboxes[message->channel.target].sends;
    const uint32_t next = message->listed, before = message->listed_before;
    *(before == RFN_NO_MESSAGE ? &list->first : &messages->messages[before].listed) = next;
    *(next == RFN_NO_MESSAGE ? &list->last : &messages->messages[next].listed_before) = before;
}

/* ---- waiting ---- */

int rfn_message_wait(struct rfn_message_queues *messages, uint32_t number)
{
    const struct rfn_message *message = &messages->messages[number];
    struct rfn_mailbox *mailbox = &messages->mailboxes[message->channel.target];
    if (!message->has_send && rfn_channel_is_wildcard(&message->channel)) {
        append(messages, &mailbox->wildcards, number);
        mailbox->n_wildcards++;
        return 0;
    }
    const struct rfn_channel channel = message->channel;
    const uint32_t *at = find(messages, &channel);
    const int64_t queue = *at ? (int64_t)*at - 1 : make(messages, &channel);
    if (queue < 0)
        return (int)queue;
    struct rfn_queue *of = &messages->queues[queue];
    append(messages, message->has_send ? &of->sends : &of->receives, number);
    if (message->has_send)
        append_listed(messages, number);
    return 0;
}

void rfn_message_leave(struct rfn_message_queues *messages, uint32_t number)
{
    const struct rfn_message *message = &messages->messages[number];
    struct rfn_mailbox *mailbox = &messages->mailboxes[message->channel.target];
    if (!message->has_send && rfn_channel_is_wildcard(&message->channel)) {
        take_out(messages, &mailbox->wildcards, number);
        mailbox->n_wildcards--;
        return;
    }
    uint32_t *at = find(messages, &message->channel);
    struct rfn_queue *queue = &messages->queues[*at - 1];
    take_out(messages, message->has_send ? &queue->sends : &queue->receives, number);
    if (message->has_send)
        take_out_listed(messages, number);
    if (queue->sends.first == RFN_NO_MESSAGE && queue->receives.first == RFN_NO_MESSAGE)
        drop(messages, at);
}

uint32_t rfn_message_first(const struct rfn_message_queues *messages,
                           const struct rfn_channel *channel, bool send)
{
    const uint32_t *at = find(messages, channel);
    if (!*at)
        return RFN_NO_MESSAGE;
    const struct rfn_queue *queue = &messages->queues[*at - 1];
    return send ? queue->sends.first : queue->receives.first;
}

static bool takes(const struct rfn_channel *receive, const struct rfn_channel *send)
{
    return receive->comm == send->comm &&
           (receive->source == RFN_ANY_SOURCE || receive->source == send->source) &&
           (receive->tag == send->tag || (receive->tag == RFN_ANY_TAG && send->tag >= 0));
}

uint32_t rfn_message_wildcard(const struct rfn_message_queues *messages,
                              const struct rfn_channel *channel)
{
    uint32_t number = messages->mailboxes[channel->target].wildcards.first;
    while (number != RFN_NO_MESSAGE && !takes(&messages->messages[number].channel, channel))
        number = messages->messages[number].next;
    return number;
}

uint32_t rfn_message_earliest(const struct rfn_message_queues *messages,
                              const struct rfn_channel *channel, double now)
{
    uint32_t earliest = RFN_NO_MESSAGE;
    uint32_t number = messages->mailboxes[channel->target].sends.first;
    for (; number != RFN_NO_MESSAGE; number = messages->messages[number].listed) {
        const struct rfn_message *message = &messages->messages[number];
        if (message->sent <= now && takes(channel, &message->channel) &&
            (earliest == RFN_NO_MESSAGE || message->sent < messages->messages[earliest].sent))
            earliest = number;
    }
    return earliest;
}
