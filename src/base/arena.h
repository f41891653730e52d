/* arena.h - memory that is freed all at once. */
#ifndef RFN_BASE_ARENA_H
#define RFN_BASE_ARENA_H

#include <stddef.h>

struct rfn_arena_block;

struct rfn_arena {
    struct rfn_arena_block *blocks; /* newest first */
};

#define RFN_ARENA_INIT \
    {                  \
        0              \
    }

void rfn_arena_release(struct rfn_arena *arena);
/* size bytes aligned for any type, not initialized; NULL when out of memory. */
void *rfn_arena_alloc(struct rfn_arena *arena, size_t size);
/* Room for n things of this size, and one more, all zero bytes; NULL when out of memory. */
void *rfn_arena_zeroed(struct rfn_arena *arena, size_t n, size_t size);
/* A copy of the bytes, followed by a zero byte (so that a copy of text is a string). */
void *rfn_arena_copy(struct rfn_arena *arena, const void *bytes, size_t size);

#endif
