/* exchange.h - how reducers talk between ranks without knowing MPI.
 *
 * Whoever runs a merge hands in two functions that send and receive whole messages; everything
 * else is built here on a binomial tree over ranks 0 to size - 1. In the tree a rank's children are
 * rank + 1, + 2, + 4, ... as far as they belong to it, so that the ranks below a node are
 * contiguous and follow the node: what is merged in order of children is in order of ranks.
 */
#ifndef RFN_REDUCE_MERGE_EXCHANGE_H
#define RFN_REDUCE_MERGE_EXCHANGE_H

#include "base/buf.h"

#include <stdint.h>

struct rfn_exchange {
    int rank, size;
    void *context;
    /* Both block until done; a receive appends the message to bytes. 0 or RFN_E_EXCHANGE. */
    int (*send)(void *context, int to, const void *bytes, size_t size);
    int (*receive)(void *context, int from, struct rfn_buf *bytes);
    /* Collective: rank 0's word reaches all. 0 or RFN_E_EXCHANGE. */
    int (*tell)(void *context, uint64_t *word);
    uint64_t bytes_sent, bytes_received, messages_sent; /* by this rank, so far */
    uint64_t held, peak; /* bytes that merging holds on this rank, now and at most so far */
};

/* In the tree the parent of a rank other than 0 is the rank less this step, and its children are at
 * all smaller powers of two: its lowest set bit, or for rank 0 the first power of two that is not
 * below size. */
int rfn_exchange_parent_step(const struct rfn_exchange *exchange);

/* Whoever merges says how much memory its state takes (or no longer takes); messages are counted
 * here. */
void rfn_exchange_hold(struct rfn_exchange *exchange, int64_t bytes);

/* All ranks learn rank 0's word. It takes no memory, so that those that have none know, too, what
 * is to come: RFN_E_EXCHANGE only when messages fail, and *word is then as it was. What it takes is
 * counted as sent by the ranks that it reaches. */
int rfn_exchange_tell(struct rfn_exchange *exchange, uint64_t *word);

/* Up the tree: merge is called for every child's message, in order of ranks, to bring it into the
 * caller's state; then write puts the state into a message for the parent (not called on rank 0).
 * An error in a callback is carried up in the message's place: every rank above returns
 * RFN_E_EXCHANGE, and no rank hangs. */
int rfn_exchange_up(struct rfn_exchange *exchange,
                    int (*merge)(void *state, const uint8_t *bytes, size_t size),
                    int (*write)(void *state, struct rfn_buf *out), void *state);

/* Down the tree: rank 0's bytes reach all; on other ranks bytes is appended to. A failure of rank
 * 0 (error < 0) reaches all as RFN_E_EXCHANGE; the other ranks' error argument is not looked at. */
int rfn_exchange_down(struct rfn_exchange *exchange, struct rfn_buf *bytes, int error);

/* Up the tree and down again, with a message of its own for each child: one round instead of two
 * passes that know nothing of each other. A callback's error reaches the ranks above it on the way
 * up, and all ranks from rank 0 on; on the way down (write_down, read_down, no memory for the
 * message) only those below it. error < 0: this rank has failed before and only takes part, so that
 * nobody hangs. Children are numbered from 0 in order of ranks. */
struct rfn_round {
    int (*merge)(void *state, int child, const uint8_t *bytes, size_t size);
    int (*write)(void *state, struct rfn_buf *out);
    int (*turn)(void *state); /* on rank 0, when all is there; may be NULL */
    int (*write_down)(void *state, int child, struct rfn_buf *out);
    int (*read_down)(void *state, const uint8_t *bytes, size_t size); /* not on rank 0 */
    /* Both NULL, or: a parent first says to a child in short what it has by then (show), and the
     * child, which has read that (heed), writes what it has beside. */
    int (*show)(void *state, struct rfn_buf *out);
    int (*heed)(void *state, const uint8_t *bytes, size_t size);
};

int rfn_exchange_round(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                       int error);
/* Its first half: only up. */
int rfn_exchange_climb(struct rfn_exchange *exchange, const struct rfn_round *round, void *state,
                       int error);

enum { RFN_EXCHANGE_CHILDREN = 32 }; /* at most */

#endif
