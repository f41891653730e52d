#include "replay/buffers.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, SMALLEST = 6, LARGEST = 46 }; /* logarithms of sizes */

struct rpl_buffers_block {
    struct rpl_buffers_block *next;
    unsigned power;
};

static unsigned power_of(int64_t bytes)
{
    unsigned power = SMALLEST;
    while (power <= LARGEST && (INT64_C(1) << power) < bytes)
        power++;
    return power;
}

void *rpl_buffers_take(struct rpl_buffers *pool, int64_t bytes)
{
    unsigned power = power_of(bytes);
    if (power > LARGEST)
        return NULL;
    struct rpl_buffers_block *block = pool->free[power];
    if (block) {
        pool->free[power] = block->next;
    } else {
        block = aligned_alloc(ALIGNMENT, ALIGNMENT + ((size_t)1 << power));
        if (!block)
            return NULL;
        memset(block, 0, ALIGNMENT + ((size_t)1 << SMALLEST));
        block->power = power;
    }
    return (char *)block + ALIGNMENT;
}

static struct rpl_buffers_block *block_of(const void *buffer)
{
    return (struct rpl_buffers_block *)(void *)((char *)buffer - ALIGNMENT);
}

int64_t rpl_buffers_room(const void *buffer)
{
    return INT64_C(1) << block_of(buffer)->power;
}

void rpl_buffers_give(struct rpl_buffers *pool, void *buffer)
{
    if (!buffer)
        return;
    struct rpl_buffers_block *block = block_of(buffer);
    block->next = pool->free[block->power];
    pool->free[block->power] = block;
}

void rpl_buffers_release(struct rpl_buffers *pool)
{
    for (unsigned power = 0; power < 64; power++) {
        while (pool->free[power]) {
            struct rpl_buffers_block *block = pool->free[power];
            pool->free[power] = block->next;
            free(block);
        }
    }
}
