/* message_ids.h - what a replayed message carries, so that a wrong match shows.
 *
 * The k-th message of a channel (communicator, sender, receiver, tag) carries a number that follows
 * from the channel and k. Sender and receiver count for themselves: MPI matches messages of a
 * channel in the order in which they were sent with receives in the order in which they were
 * posted. A message that is shorter than the number carries its first bytes.
 */
#ifndef RFN_REPLAY_MESSAGE_IDS_H
#define RFN_REPLAY_MESSAGE_IDS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rpl_message_ids {
    struct rfn_map next; /* channel, seen from one end, to how many messages there were */
};

/* Ranks are those of MPI_COMM_WORLD; comm is a number that both ends share. */
struct rpl_channel {
    int64_t comm, source, dest, tag;
    bool sending; /* which end this is: one process may be both */
};

/* The number that the channel's next message carries, and counts it; RFN_E_NOMEM. */
int rpl_message_ids_next(struct rpl_message_ids *stamps, const struct rpl_channel *channel,
                         uint64_t *stamp);
void rpl_message_ids_release(struct rpl_message_ids *stamps);

void rpl_message_id_put(uint64_t stamp, void *buffer, int64_t bytes);
/* Whether a message that was received is the one with the number. */
bool rpl_message_id_fits(uint64_t stamp, const void *buffer, int64_t bytes);

#endif
