/* channels.h - joins messages with receives (doc/analysis.md, "Matching").
 *
 * A channel is (source, destination, communicator, tag). It holds the messages that no receive has
 * taken yet, or the receives that have taken their place before the message was sent. Messages and
 * receives are numbered; a number is valid until its owner lets it go (rfn_channels_sent,
 * rfn_channels_received) and the other side, if any, too.
 */
#ifndef RFN_ANALYZE_MATCH_CHANNELS_H
#define RFN_ANALYZE_MATCH_CHANNELS_H

#include "analyze/match/match_point.h"
#include "base/map.h"
#include "base/pool.h"
#include "refrain/event.h"

#include <stddef.h>

enum { RFN_NONE = -1 };

struct rfn_channel_key {
    uint32_t source, dest; /* ranks of MPI_COMM_WORLD */
    uint32_t comm;
    uint32_t part; /* 0; of partitioned communication which pair of inits, from 1 */
    int64_t tag;
};

struct rfn_message {
    struct rfn_point sent; /* where the send was entered; of a partitioned one its last Pready */
    int64_t bytes;
    uint32_t channel, dest; /* the channels' own */
    uint32_t receive;       /* ... + 1 */
    uint32_t next;          /* ... + 1: in the channel, or free */
    enum rfn_send_mode mode;
    bool begun;              /* sent means something */
    bool taken;              /* by a receive: posted means something */
    bool cancelled;          /* or about to be */
    bool over, got;          /* the channels' own: the send is; the receive is */
    bool awaits;             /* the sending stream is to be woken when a receive takes it */
    struct rfn_point posted; /* where the receive was posted */
    uint64_t user;           /* the consumer's; 0 when it is sent */
};

enum rfn_wildcards { RFN_ANY_SOURCE = 1, RFN_ANY_TAG = 2 };

static inline uint8_t rfn_wildcards(int64_t source, int64_t tag)
{
    return (uint8_t)((source == RFN_ANY ? RFN_ANY_SOURCE : 0) | (tag == RFN_ANY ? RFN_ANY_TAG : 0));
}

struct rfn_receive {
    struct rfn_point posted;
    uint32_t message; /* + 1; 0: not there yet */
    bool left;        /* the call that completes it has, without knowing the message */
    uint32_t stream;  /* that waits for the message, or has left without; + 1 */
    uint32_t note;    /* the user's, when it has left */
    uint8_t any;      /* what it was posted with: enum rfn_wildcards */
    /* the channels' own */
    bool known, placed; /* its channel is known; it has its place in it */
    uint32_t rank, channel, next;
    uint32_t comm;       /* what it may take, where it is not placed */
    int64_t source, tag; /* ranks of MPI_COMM_WORLD; RFN_ANY */
};

struct rfn_channel {
    struct rfn_channel_key key;
    uint32_t first_message, last_message, first_receive, last_receive; /* + 1 */
    uint32_t same_hash;                                                /* + 1 */
    uint32_t send_inits, recv_inits;   /* partitioned communication that was set up */
    uint32_t prober;                   /* the stream that waits for a message to come, + 1 */
    uint32_t received_user, sent_user; /* the consumer's, per end; first 0 */
    uint32_t generation;               /* changes when the channel becomes another */
    bool used, free;
};

/* Receives of a rank that have no place yet, in order of posting. */
struct rfn_channel_rank {
    uint32_t *open;
    size_t n_open, capacity;
    size_t n_known; /* of the open ones: those whose channel is, and that are behind another */
    size_t n_lying; /* channels to it with messages that no receive has taken */
};

struct rfn_channels {
    struct rfn_channel *items;
    size_t n, capacity, n_free, sweep_at;
    uint32_t free;
    struct rfn_map index;
    struct rfn_message *messages;
    size_t n_messages, messages_capacity;
    uint32_t free_message;
    struct rfn_receive *receives;
    size_t n_receives, receives_capacity;
    uint32_t free_receive;
    struct rfn_channel_rank *ranks;
    uint32_t n_ranks;
    struct rfn_channel_counts {
        uint64_t sends, posts, joined, cancelled; /* so far */
    } counts;
    struct rfn_channel_hooks {
        void *context;
        /* A receive that a stream waits for, or has left without, has now got its message;
         * RFN_E_NOMEM. */
        int (*bound)(void *context, uint32_t receive);
        /* A prober, or a stream whose message is taken. */
        void (*wake)(void *context, uint32_t stream);
        /* May be NULL: a message is over at both ends, and its number is given back. RFN_E_NOMEM.
         */
        int (*ended)(void *context, uint32_t message);
    } hooks; /* the user's */
};

int rfn_channels_init(struct rfn_channels *channels, uint32_t n_ranks); /* RFN_E_NOMEM */
void rfn_channels_release(struct rfn_channels *channels);

/* The number of a channel. It stays that of the key while generation stays. RFN_E_NOMEM. */
int64_t rfn_channel_of(struct rfn_channels *channels, const struct rfn_channel_key *key);

/* A message is sent. begun: `sent` holds; else rfn_channels_begin tells later. Its number;
 * RFN_E_NOMEM. */
int64_t rfn_channels_send(struct rfn_channels *channels, uint32_t channel, struct rfn_point sent,
                          int64_t bytes, enum rfn_send_mode mode, bool begun);
int rfn_channels_begin(struct rfn_channels *channels, uint32_t message, struct rfn_point sent);
static inline void rfn_channels_free_message(struct rfn_channels *channels, uint32_t message)
{
    RFN_POOL_GIVE(channels->messages, channels->free_message, next, message);
}
static inline int rfn_channels_end_message(struct rfn_channels *channels, uint32_t message)
{
    if (__builtin_expect(channels->hooks.ended != NULL, 0))
        RFN_TRY(channels->hooks.ended(channels->hooks.context, message));
    rfn_channels_free_message(channels, message);
    return 0;
}
/* It was asked to cancel the message. */
int rfn_channels_sent_or_cancelled(struct rfn_channels *channels, uint32_t message, bool cancelled);
/* The send is over; cancelled: nobody gets the message. RFN_E_NOMEM. */
static inline int rfn_channels_sent(struct rfn_channels *channels, uint32_t message, bool cancelled)
{
    struct rfn_message *of = &channels->messages[message];
    if (__builtin_expect(cancelled || of->cancelled, 0))
        RFN_TRY(rfn_channels_sent_or_cancelled(channels, message, cancelled));
    else if (of->got)
        return rfn_channels_end_message(channels, message);
    else
        of->over = true;
    return 0;
}

/* A receive is posted. What it takes: comm, source (world rank or RFN_ANY), tag (or RFN_ANY). Its
 * number; RFN_E_NOMEM. */
int64_t rfn_channels_post(struct rfn_channels *channels, uint32_t rank, struct rfn_point posted,
                          uint32_t comm, int64_t source, int64_t tag);
/* ... in a channel that is known. */
int64_t rfn_channels_post_in(struct rfn_channels *channels, uint32_t channel, uint32_t rank,
                             struct rfn_point posted);
/* It turns out which channel the message is of. RFN_E_NOMEM. */
int rfn_channels_tell(struct rfn_channels *channels, uint32_t receive, uint32_t channel);
/* ... or that it is of a process of another job: the receive is forgotten. RFN_E_NOMEM. */
int rfn_channels_dismiss(struct rfn_channels *channels, uint32_t receive);
/* Its message, if it has begun, else NULL. */
static inline const struct rfn_message *rfn_channels_message(const struct rfn_channels *channels,
                                                             uint32_t receive)
{
    uint32_t message = channels->receives[receive].message;
    if (!message || !channels->messages[message - 1].begun)
        return NULL;
    return &channels->messages[message - 1];
}
/* The receive is over. cancelled: it has not taken a message, and its place is free. Of one without
 * a message the user says so only when it will never come: it may be bound after the call that
 * completes it. RFN_E_NOMEM. */
int rfn_channels_withdraw(struct rfn_channels *channels, uint32_t receive);
static inline int rfn_channels_received(struct rfn_channels *channels, uint32_t receive,
                                        bool cancelled)
{
    if (__builtin_expect(cancelled, 0))
        RFN_TRY(rfn_channels_withdraw(channels, receive));
    struct rfn_receive *over = &channels->receives[receive];
    if (over->message) {
        struct rfn_message *of = &channels->messages[over->message - 1];
        of->receive = 0;
        of->got = true;
        if (of->over)
            RFN_TRY(rfn_channels_end_message(channels, over->message - 1));
    }
    RFN_POOL_GIVE(channels->receives, channels->free_receive, next, receive);
    return 0;
}

/* The next message that a receive from this channel would get now; NULL: there is none. */
const struct rfn_message *rfn_channels_peek(const struct rfn_channels *channels, uint32_t channel);
/* A stream waits for it; it is woken when it comes. False: another one waits already. */
bool rfn_channels_probe(struct rfn_channels *channels, uint32_t channel, uint32_t stream);
/* At the end of the record: receives whose order could not be decided take places as they were
 * posted. RFN_E_NOMEM. */
int rfn_channels_finish(struct rfn_channels *channels);

#endif
