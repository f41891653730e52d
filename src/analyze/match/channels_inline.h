/* channels_inline.h - how messages and receives find each other, where it is done once per event.
 *
 * channels.c does all of it by these functions, for those who ask through channels.h; events of
 * loops (wait_loop.c) take them in line.
 */
#ifndef RFN_ANALYZE_MATCH_CHANNELS_INLINE_H
#define RFN_ANALYZE_MATCH_CHANNELS_INLINE_H

#include "analyze/match/channels.h"

/* ---- channels.c ---- */

/* Whether one of the first n open receives of a rank may come before one of this channel. */
bool rfn_channels_is_behind(const struct rfn_channels *channels,
                            const struct rfn_channel_rank *rank, size_t n, uint32_t channel);
/* A receive has no place yet. RFN_E_NOMEM. */
int rfn_channels_make_open(struct rfn_channels *channels, uint32_t receive);

/* ---- pools ---- */

static inline int64_t rfn_channels_new_message(struct rfn_channels *channels)
{
    return RFN_POOL_TAKE(channels->messages, channels->messages_capacity, channels->n_messages,
                         channels->free_message, next);
}

static inline int64_t rfn_channels_new_receive(struct rfn_channels *channels)
{
    return RFN_POOL_TAKE(channels->receives, channels->receives_capacity, channels->n_receives,
                         channels->free_receive, next);
}

/* ---- queues ---- */

static inline void rfn_channels_queue_message(struct rfn_channels *channels, uint32_t number,
                                              uint32_t at)
{
    struct rfn_channel *channel = &channels->items[number];
    uint32_t last = channel->last_message;
    channels->messages[at].next = 0;
    channel->last_message = at + 1;
    if (last) {
        channels->messages[last - 1].next = at + 1;
        return;
    }
    channel->first_message = at + 1;
    channels->ranks[channel->key.dest].n_lying++;
}

/* The first message leaves its channel. */
static inline void rfn_channels_unqueue_first(struct rfn_channels *channels, uint32_t number)
{
    struct rfn_channel *channel = &channels->items[number];
    channel->first_message = channels->messages[channel->first_message - 1].next;
    if (channel->first_message)
        return;
    channel->last_message = 0;
    channels->ranks[channel->key.dest].n_lying--;
}

static inline void rfn_channels_queue_receive(struct rfn_channels *channels,
                                              struct rfn_channel *channel, uint32_t at)
{
    uint32_t last = channel->last_receive;
    channels->receives[at].next = 0;
    channel->last_receive = at + 1;
    if (last)
        channels->receives[last - 1].next = at + 1;
    else
        channel->first_receive = at + 1;
}

/* ---- joining ---- */

static inline int rfn_channels_tell_bound(struct rfn_channels *channels, uint32_t receive)
{
    struct rfn_receive *of = &channels->receives[receive];
    return of->stream && channels->messages[of->message - 1].begun
               ? channels->hooks.bound(channels->hooks.context, receive)
               : 0;
}

static inline int rfn_channels_bind(struct rfn_channels *channels, uint32_t message,
                                    uint32_t receive)
{
    struct rfn_message *of = &channels->messages[message];
    of->receive = receive + 1;
    of->taken = true;
    of->posted = channels->receives[receive].posted;
    channels->receives[receive].message = message + 1;
    channels->counts.joined++;
    if (__builtin_expect(of->awaits, 0)) {
        of->awaits = false;
        channels->hooks.wake(channels->hooks.context, of->sent.stream);
    }
    return rfn_channels_tell_bound(channels, receive);
}

/* A message that is (again) nobody's goes to the receive that waits longest, or waits itself. */
static inline int rfn_channels_offer(struct rfn_channels *channels, uint32_t number, uint32_t at)
{
    struct rfn_channel *channel = &channels->items[number];
    uint32_t receive = channel->first_receive;
    if (!receive || channel->first_message) { /* it may have to wait behind a doubtful one */
        rfn_channels_queue_message(channels, number, at);
        if (channel->prober)
            channels->hooks.wake(channels->hooks.context, channel->prober - 1);
        channel->prober = 0;
        return 0;
    }
    channel->first_receive = channels->receives[receive - 1].next;
    if (!channel->first_receive)
        channel->last_receive = 0;
    return rfn_channels_bind(channels, at, receive - 1);
}

/* A receive takes its place in its channel. A message that may be cancelled is not given out before
 * that is decided. */
static inline int rfn_channels_place(struct rfn_channels *channels, uint32_t at)
{
    struct rfn_receive *receive = &channels->receives[at];
    uint32_t number = receive->channel;
    struct rfn_channel *channel = &channels->items[number];
    uint32_t message = channel->first_message;
    receive->placed = true;
    if (!message || channels->messages[message - 1].cancelled) {
        rfn_channels_queue_receive(channels, channel, at);
        return 0;
    }
    rfn_channels_unqueue_first(channels, number);
    return rfn_channels_bind(channels, message - 1, at);
}

/* ---- what channels.h has, in line ---- */

/* Where the receive was posted, and what the send waited for, is told when it is known. */
static inline int64_t rfn_channels_send_in(struct rfn_channels *channels, uint32_t channel,
                                           struct rfn_point sent, int64_t bytes,
                                           enum rfn_send_mode mode, bool begun)
{
    int64_t at = rfn_channels_new_message(channels);
    RFN_TRY((int)(at < 0 ? at : 0));
    struct rfn_message *message = &channels->messages[at];
    message->sent = sent;
    message->bytes = bytes;
    message->channel = channel;
    message->dest = channels->items[channel].key.dest;
    message->receive = message->next = 0;
    message->mode = mode;
    message->begun = begun;
    message->taken = message->cancelled = message->over = message->got = false;
    message->awaits = false;
    message->user = 0;
    channels->counts.sends++;
    RFN_TRY(rfn_channels_offer(channels, channel, (uint32_t)at));
    return at;
}

static inline int64_t rfn_channels_receive_in(struct rfn_channels *channels, uint32_t channel,
                                              uint32_t rank, struct rfn_point posted)
{
    int64_t at = rfn_channels_new_receive(channels);
    RFN_TRY((int)(at < 0 ? at : 0));
    channels->receives[at] = (struct rfn_receive){
        .posted = posted, .rank = rank, .known = true, .channel = channel};
    channels->counts.posts++;
    const struct rfn_channel_rank *of = &channels->ranks[rank];
    if (of->n_open && rfn_channels_is_behind(channels, of, of->n_open, channel))
        RFN_TRY(rfn_channels_make_open(channels, (uint32_t)at));
    else
        RFN_TRY(rfn_channels_place(channels, (uint32_t)at));
    return at;
}

/* ---- sends and receives that are over at once ---- */

/* The message that a receive of the rank would take if it were posted in the channel now, if it was
 * sent by then; NULL: there is none, or none that is as simple. */
static inline const struct rfn_message *
rfn_channels_there(const struct rfn_channels *channels, uint32_t channel, uint32_t rank, int64_t ns)
{
    uint32_t first = channels->items[channel].first_message;
    if (!first || channels->ranks[rank].n_open)
        return NULL;
    const struct rfn_message *message = &channels->messages[first - 1];
    return message->begun && !message->cancelled && message->sent.ns <= ns ? message : NULL;
}

/* That receive is posted, and is over. Of the message, what matters as long as its send is not
 * over: that it was taken, and when. */
static inline void rfn_channels_take(struct rfn_channels *channels, uint32_t channel,
                                     struct rfn_point posted)
{
    uint32_t at = channels->items[channel].first_message - 1;
    struct rfn_message *message = &channels->messages[at];
    rfn_channels_unqueue_first(channels, channel);
    channels->counts.posts++;
    channels->counts.joined++;
    if (message->over) {
        rfn_channels_free_message(channels, at);
        return;
    }
    message->taken = message->got = true;
    message->posted = posted;
}

/* Whether a message that is sent in the channel now changes nothing but what is in it: nobody has
 * to be told. */
static inline bool rfn_channels_quiet(const struct rfn_channels *channels, uint32_t channel)
{
    const struct rfn_channel *to = &channels->items[channel];
    if (!to->first_receive)
        return !to->prober;
    return !to->first_message && !channels->receives[to->first_receive - 1].stream;
}

/* When the receive was posted that would get that message; INT64_MAX: none has been. */
static inline int64_t rfn_channels_posted_ns(const struct rfn_channels *channels, uint32_t channel)
{
    uint32_t first = channels->items[channel].first_receive;
    return first ? channels->receives[first - 1].posted.ns : INT64_MAX;
}

#endif
