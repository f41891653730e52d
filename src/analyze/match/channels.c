/* channels.c
 *
 * All numbers are indices into pools with free lists; links hold index + 1, 0 is none.
 *
 * Channels that are empty and have not been used for a while are given up when there are many,
 * since programs may use a tag once only; their generation tells users that remember a number.
 */
#include "analyze/match/channels.h"

#include "analyze/match/channels_inline.h"
#include "refrain/event.h"

#include <stdlib.h>
#include <string.h>

enum { SWEEP_AT_LEAST = 1 << 16 };

int rfn_channels_init(struct rfn_channels *channels, uint32_t n_ranks)
{
    *channels = (struct rfn_channels){.n_ranks = n_ranks, .sweep_at = SWEEP_AT_LEAST};
    channels->ranks = calloc((size_t)n_ranks + 1, sizeof *channels->ranks);
    return channels->ranks ? 0 : RFN_E_NOMEM;
}

void rfn_channels_release(struct rfn_channels *channels)
{
    for (uint32_t i = 0; channels->ranks && i < channels->n_ranks; i++)
        free(channels->ranks[i].open);
    free(channels->ranks);
    free(channels->items);
    free(channels->messages);
    free(channels->receives);
    rfn_map_release(&channels->index);
}

/* ---- channels ---- */

static uint64_t hash_key(const struct rfn_channel_key *key)
{
    uint64_t hash = rfn_hash_mix(key->part, (uint64_t)key->source << 32 | key->dest);
    return rfn_hash_mix(rfn_hash_mix(hash, key->comm), (uint64_t)key->tag);
}

static bool same_key(const struct rfn_channel_key *a, const struct rfn_channel_key *b)
{
    return a->source == b->source && a->dest == b->dest && a->comm == b->comm &&
           a->part == b->part && a->tag == b->tag;
}

static bool idle(const struct rfn_channel *channel)
{
    return !channel->first_message && !channel->first_receive && !channel->send_inits &&
           !channel->recv_inits && !channel->key.part && !channel->prober;
}

/* Gives up idle channels that were not asked for since the last sweep; the index is made anew. */
static int sweep(struct rfn_channels *channels)
{
    rfn_map_release(&channels->index);
    for (size_t i = 0; i < channels->n; i++) {
        struct rfn_channel *channel = &channels->items[i];
        if (channel->free)
            continue;
        if (idle(channel) && !channel->used) {
            *channel = (struct rfn_channel){
                .generation = channel->generation + 1, .free = true, .same_hash = channels->free};
            channels->free = (uint32_t)i + 1;
            channels->n_free++;
            continue;
        }
        channel->used = false;
        uint64_t hash = hash_key(&channel->key);
        const uint64_t *first = rfn_map_get(&channels->index, hash);
        channel->same_hash = first ? (uint32_t)*first : 0;
        RFN_TRY(rfn_map_put(&channels->index, hash, i + 1));
    }
    size_t live = channels->n - channels->n_free;
    channels->sweep_at = live * 2 > SWEEP_AT_LEAST ? live * 2 : SWEEP_AT_LEAST;
    return 0;
}

static int64_t new_channel(struct rfn_channels *channels)
{
    if (channels->n - channels->n_free >= channels->sweep_at)
        RFN_TRY(sweep(channels));
    if (channels->free) {
        uint32_t at = channels->free - 1;
        channels->free = channels->items[at].same_hash;
        channels->n_free--;
        return at;
    }
    RFN_TRY(RFN_GROW(channels->items, channels->capacity, channels->n + 1));
    channels->items[channels->n].generation = 0;
    return (int64_t)channels->n++;
}

int64_t rfn_channel_of(struct rfn_channels *channels, const struct rfn_channel_key *key)
{
    uint64_t hash = hash_key(key);
    const uint64_t *first = rfn_map_get(&channels->index, hash);
    for (uint32_t i = first ? (uint32_t)*first : 0; i; i = channels->items[i - 1].same_hash) {
        if (same_key(&channels->items[i - 1].key, key)) {
            channels->items[i - 1].used = true;
            return i - 1;
        }
    }
    int64_t at = new_channel(channels);
    RFN_TRY((int)(at < 0 ? at : 0));
    first = rfn_map_get(&channels->index, hash); /* a sweep may have changed it */
    struct rfn_channel *channel = &channels->items[at];
    *channel = (struct rfn_channel){.key = *key,
                                    .same_hash = first ? (uint32_t)*first : 0,
                                    .generation = channel->generation,
                                    .used = true};
    RFN_TRY(rfn_map_put(&channels->index, hash, (uint64_t)at + 1));
    return at;
}

/* ---- joining ---- */

/* The message and its receive are nothing to each other any more. */
static void part(struct rfn_channels *channels, uint32_t message, uint32_t receive)
{
    channels->messages[message].receive = 0;
    channels->messages[message].taken = false;
    channels->receives[receive].message = 0;
    channels->counts.joined--;
}

static void unqueue_message(struct rfn_channels *channels, uint32_t number, uint32_t at)
{
    struct rfn_channel *channel = &channels->items[number];
    uint32_t *link = &channel->first_message, before = 0;
    while (*link && *link != at + 1) {
        before = *link;
        link = &channels->messages[*link - 1].next;
    }
    if (!*link)
        return;
    *link = channels->messages[at].next;
    if (channel->last_message == at + 1)
        channel->last_message = before;
    channels->ranks[channel->key.dest].n_lying -= !channel->first_message;
}

static void unqueue_receive(struct rfn_channels *channels, struct rfn_channel *channel, uint32_t at)
{
    uint32_t *link = &channel->first_receive, before = 0;
    while (*link && *link != at + 1) {
        before = *link;
        link = &channels->receives[*link - 1].next;
    }
    if (!*link)
        return;
    *link = channels->receives[at].next;
    if (channel->last_receive == at + 1)
        channel->last_receive = before;
}

/* A doubtful message, in front of a channel, has been decided: receives that wait take what is
 * there. */
static int pair_up(struct rfn_channels *channels, uint32_t number)
{
    for (;;) {
        struct rfn_channel *channel = &channels->items[number];
        uint32_t message = channel->first_message, receive = channel->first_receive;
        if (!message || !receive || channels->messages[message - 1].cancelled)
            return 0;
        unqueue_message(channels, number, message - 1);
        unqueue_receive(channels, channel, receive - 1);
        RFN_TRY(rfn_channels_bind(channels, message - 1, receive - 1));
    }
}

/* A message that a receive had taken is the first of its channel again. */
static int give_back(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_message *message = &channels->messages[at];
    struct rfn_channel *channel = &channels->items[message->channel];
    message->next = channel->first_message;
    channel->first_message = at + 1;
    if (!channel->last_message) {
        channel->last_message = at + 1;
        channels->ranks[channel->key.dest].n_lying++;
    }
    if (channel->prober)
        channels->hooks.wake(channels->hooks.context, channel->prober - 1);
    channel->prober = 0;
    return pair_up(channels, message->channel);
}

/* ---- receives without a place ---- */

static bool may_take(const struct rfn_receive *open, const struct rfn_channel_key *key)
{
    return open->comm == key->comm && (open->source == RFN_ANY || open->source == key->source) &&
           (open->tag == RFN_ANY || open->tag == key->tag);
}

bool rfn_channels_is_behind(const struct rfn_channels *channels,
                            const struct rfn_channel_rank *rank, size_t n, uint32_t channel)
{
    const struct rfn_channel_key *key = &channels->items[channel].key;
    for (size_t i = 0; i < n; i++) {
        const struct rfn_receive *open = &channels->receives[rank->open[i]];
        if (open->known ? open->channel == channel : may_take(open, key))
            return true;
    }
    return false;
}

static void remove_open(const struct rfn_channels *channels, struct rfn_channel_rank *rank,
                        size_t i)
{
    rank->n_known -= channels->receives[rank->open[i]].known;
    rank->n_open--;
    memmove(&rank->open[i], &rank->open[i + 1], (rank->n_open - i) * sizeof *rank->open);
}

/* Places what can be placed. */
static int settle(struct rfn_channels *channels, struct rfn_channel_rank *rank)
{
    size_t left = rank->n_known;
    for (size_t i = 0; i < rank->n_open && left > 0;) {
        uint32_t at = rank->open[i];
        const struct rfn_receive *receive = &channels->receives[at];
        left -= receive->known;
        if (!receive->known || rfn_channels_is_behind(channels, rank, i, receive->channel)) {
            i++;
            continue;
        }
        remove_open(channels, rank, i);
        RFN_TRY(rfn_channels_place(channels, at));
    }
    return 0;
}

static void forget_open(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_channel_rank *rank = &channels->ranks[channels->receives[at].rank];
    for (size_t i = 0; i < rank->n_open; i++) {
        if (rank->open[i] == at) {
            remove_open(channels, rank, i);
            return;
        }
    }
}

int rfn_channels_make_open(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_channel_rank *rank = &channels->ranks[channels->receives[at].rank];
    RFN_TRY(RFN_GROW(rank->open, rank->capacity, rank->n_open + 1));
    rank->open[rank->n_open++] = at;
    rank->n_known += channels->receives[at].known;
    return 0;
}

int rfn_channels_finish(struct rfn_channels *channels)
{
    for (uint32_t i = 0; i < channels->n_ranks; i++) {
        struct rfn_channel_rank *rank = &channels->ranks[i];
        for (size_t k = 0; k < rank->n_open; k++) {
            if (channels->receives[rank->open[k]].known)
                RFN_TRY(rfn_channels_place(channels, rank->open[k]));
        }
        if (rank->n_open) /* memory of ranks that only claim to be there is not touched */
            rank->n_open = rank->n_known = 0;
    }
    return 0;
}

/* ---- sends ---- */

__attribute__((flatten)) int64_t rfn_channels_send(struct rfn_channels *channels, uint32_t channel,
                                                   struct rfn_point sent, int64_t bytes,
                                                   enum rfn_send_mode mode, bool begun)
{
    return rfn_channels_send_in(channels, channel, sent, bytes, mode, begun);
}

int rfn_channels_begin(struct rfn_channels *channels, uint32_t message, struct rfn_point sent)
{
    struct rfn_message *of = &channels->messages[message];
    of->sent = sent;
    of->begun = true;
    return of->receive ? rfn_channels_tell_bound(channels, of->receive - 1) : 0;
}

/* A message that was never sent. The receive that it was bound to gets the next one. */
static int cancel(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_message *message = &channels->messages[at];
    uint32_t receive = message->receive;
    channels->counts.cancelled++;
    channels->counts.sends--;
    if (!receive) {
        uint32_t channel = message->channel;
        unqueue_message(channels, channel, at);
        rfn_channels_free_message(channels, at);
        return pair_up(channels, channel);
    }
    part(channels, at, receive - 1);
    rfn_channels_free_message(channels, at);
    return rfn_channels_place(channels, receive - 1);
}

/* It was asked to cancel a message, but too late: a receive may have waited for the answer. */
static int keep(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_message *message = &channels->messages[at];
    message->cancelled = false;
    return message->taken ? 0 : pair_up(channels, message->channel);
}

int rfn_channels_sent_or_cancelled(struct rfn_channels *channels, uint32_t message, bool cancelled)
{
    struct rfn_message *of = &channels->messages[message];
    if (cancelled && !of->got)
        return cancel(channels, message);
    if (of->cancelled) /* before it is over: its receive may get it now, and let it go */
        RFN_TRY(keep(channels, message));
    of->over = true;
    return of->got ? rfn_channels_end_message(channels, message) : 0;
}

/* ---- receives ---- */

__attribute__((flatten)) int64_t rfn_channels_post_in(struct rfn_channels *channels,
                                                      uint32_t channel, uint32_t rank,
                                                      struct rfn_point posted)
{
    return rfn_channels_receive_in(channels, channel, rank, posted);
}

int64_t rfn_channels_post(struct rfn_channels *channels, uint32_t rank, struct rfn_point posted,
                          uint32_t comm, int64_t source, int64_t tag)
{
    int64_t at = rfn_channels_new_receive(channels);
    RFN_TRY((int)(at < 0 ? at : 0));
    channels->receives[at] = (struct rfn_receive){.posted = posted,
                                                  .rank = rank,
                                                  .comm = comm,
                                                  .source = source,
                                                  .tag = tag,
                                                  .any = rfn_wildcards(source, tag)};
    channels->counts.posts++;
    RFN_TRY(rfn_channels_make_open(channels, (uint32_t)at));
    return at;
}

int rfn_channels_tell(struct rfn_channels *channels, uint32_t receive, uint32_t channel)
{
    struct rfn_receive *of = &channels->receives[receive];
    if (of->known)
        return 0;
    of->known = true;
    of->channel = channel;
    channels->ranks[of->rank].n_known++;
    return settle(channels, &channels->ranks[of->rank]);
}

/* Takes a receive out of its channel: the message, if it has one, is the next one's. */
static int withdraw(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_receive *receive = &channels->receives[at];
    uint32_t message = receive->message;
    if (!receive->placed) {
        forget_open(channels, at);
        return settle(channels, &channels->ranks[receive->rank]);
    }
    if (!message) {
        unqueue_receive(channels, &channels->items[receive->channel], at);
        return 0;
    }
    part(channels, message - 1, at);
    return give_back(channels, message - 1);
}

int rfn_channels_dismiss(struct rfn_channels *channels, uint32_t receive)
{
    channels->counts.posts--;
    RFN_TRY(withdraw(channels, receive));
    RFN_POOL_GIVE(channels->receives, channels->free_receive, next, receive);
    return 0;
}

int rfn_channels_withdraw(struct rfn_channels *channels, uint32_t receive)
{
    channels->counts.cancelled++;
    channels->counts.posts--;
    return withdraw(channels, receive);
}

const struct rfn_message *rfn_channels_peek(const struct rfn_channels *channels, uint32_t channel)
{
    uint32_t first = channels->items[channel].first_message;
    return first ? &channels->messages[first - 1] : NULL;
}

bool rfn_channels_probe(struct rfn_channels *channels, uint32_t channel, uint32_t stream)
{
    struct rfn_channel *of = &channels->items[channel];
    if (of->prober && of->prober != stream + 1)
        return false;
    of->prober = stream + 1;
    return true;
}
