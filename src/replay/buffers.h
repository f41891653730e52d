/* buffers.h - buffers for messages in flight, used again and again.
 *
 * Every request has a buffer of its own until it completes, as in the program, because what has
 * been received is looked at. Sizes are powers of two; memory that nobody has written to is not
 * taken from the system. So a process holds at most twice the bytes that were in flight at once.
 */
#ifndef RFN_REPLAY_BUFFERS_H
#define RFN_REPLAY_BUFFERS_H

#include <stdint.h>

struct rpl_buffers {
    struct rpl_buffers_block *free[64]; /* by the size's logarithm */
};

/* At least `bytes` bytes (also for 0), aligned to 64; NULL: out of memory. */
void *rpl_buffers_take(struct rpl_buffers *pool, int64_t bytes);
/* The bytes that such a buffer has. */
int64_t rpl_buffers_room(const void *buffer);
/* NULL is ignored. */
void rpl_buffers_give(struct rpl_buffers *pool, void *buffer);
/* Frees what was given back; other buffers stay, as someone may still write to them. */
void rpl_buffers_release(struct rpl_buffers *pool);

#endif
