/* message_queues.h - messages under way, and which receive gets which of them.
 *
 * A message is there from the moment when one of its ends is. Those of which the other end is not
 * there yet wait in a queue, one per channel (target, source, communicator, tag); messages of a
 * channel do not overtake each other. Receives from any rank, or of any tag, wait at their rank.
 */
#ifndef RFN_SIMULATE_MESSAGE_QUEUES_H
#define RFN_SIMULATE_MESSAGE_QUEUES_H

#include "refrain/actions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RFN_NO_MESSAGE UINT32_MAX
/* As a receive's source and tag. */
enum { RFN_ANY_SOURCE = RFN_ACTION_ANY, RFN_ANY_TAG = -444 };

struct rfn_channel {
    uint32_t target, comm;
    int64_t source, tag;
};

struct rfn_message {
    struct rfn_channel channel;     /* as the receive has it until a send is there */
    double sent, posted;            /* seconds; where the end is there */
    double start, end;              /* of the transfer; where it is known */
    int64_t bytes, room;            /* of the send and the receive */
    uint32_t next, before;          /* in its queue or its target's list */
    uint32_t listed, listed_before; /* among the target's sends, in order of arrival */
    uint64_t order;                 /* of posting */
    bool has_send, has_receive, begun, known;
    bool detached; /* the sender goes on */
    bool eager;    /* sets off without a receive */
    bool flows;    /* its latency is over */
    bool sender_waits, receiver_waits, sender_done, receiver_done;
};

struct rfn_message_list {
    uint32_t first, last;
};

/* What waits at a rank. */
struct rfn_mailbox {
    struct rfn_message_list sends;     /* by listed */
    struct rfn_message_list wildcards; /* receives */
    size_t n_wildcards;
};

struct rfn_message_queues {
    struct rfn_message *messages;
    size_t n, capacity, used; /* used: not free */
    uint32_t free;            /* by next */
    struct rfn_queue *queues;
    size_t n_queues, queues_capacity, used_queues;
    uint32_t free_queue;
    uint32_t *buckets; /* queue + 1 */
    size_t n_buckets;
    struct rfn_mailbox *mailboxes; /* by rank */
    uint64_t order;
};

int rfn_message_queues_init(struct rfn_message_queues *messages, uint32_t ranks);
void rfn_message_queues_release(struct rfn_message_queues *messages);

/* A message without ends; RFN_E_NOMEM. */
int64_t rfn_message_new(struct rfn_message_queues *messages);
void rfn_message_free(struct rfn_message_queues *messages, uint32_t number);

/* Waits, as what it has of its ends. RFN_E_NOMEM. */
int rfn_message_wait(struct rfn_message_queues *messages, uint32_t number);
/* Waits no longer. */
void rfn_message_leave(struct rfn_message_queues *messages, uint32_t number);
/* The first send, or receive, that waits in the channel; wildcards aside. */
uint32_t rfn_message_first(const struct rfn_message_queues *messages,
                           const struct rfn_channel *channel, bool send);
/* The wildcard that would get a send of this channel. */
uint32_t rfn_message_wildcard(const struct rfn_message_queues *messages,
                              const struct rfn_channel *channel);
/* The earliest send at or before `now` that a receive of this channel, maybe a wildcard, may get.
 */
uint32_t rfn_message_earliest(const struct rfn_message_queues *messages,
                              const struct rfn_channel *channel, double now);

static inline bool rfn_channel_is_wildcard(const struct rfn_channel *channel)
{
    return channel->source == RFN_ANY_SOURCE || channel->tag == RFN_ANY_TAG;
}

#endif
