/* exchange.h - how reducers talk between ranks without knowing MPI.
 *
 * Whoever runs a merge hands in two functions that send and receive whole messages; everything
 * else is built here on a binomial tree over ranks 0 to size - 1. In the tree a rank's children are
 * rank + 1, + 2, + 4, ... as far as they belong to it, so that the ranks below a node are
 * contiguous and follow the node: what is merged in order of children is in order of ranks.
 */
#ifndef RFN_REDUCE_EXCHANGE_H
#define RFN_REDUCE_EXCHANGE_H

#include "base/buf.h"

#include <stdint.h>

struct rfn_exchange {
    int rank, size;
    void *context;
    /* Both block until done; a receive appends the message to bytes. 0 or RFN_E_EXCHANGE. */
    int (*send)(void *context, int to, const void *bytes, size_t size);
    int (*receive)(void *context, int from, struct rfn_buf *bytes);
    uint64_t bytes_sent; /* by this rank, so far */
};

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

/* The sum of `mine` over the ranks before this one, and over all. A failure of any rank (error <
 * 0) reaches all. */
int rfn_exchange_scan(struct rfn_exchange *exchange, uint64_t mine, int error, uint64_t *before,
                      uint64_t *total);

#endif
