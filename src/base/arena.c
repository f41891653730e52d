#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

struct rfn_arena_block {
    struct rfn_arena_block *older;
    size_t used, size;
    alignas(max_align_t) uint8_t bytes[];
};

void rfn_arena_release(struct rfn_arena *arena)
{
    while (arena->blocks) {
        struct rfn_arena_block *older = arena->blocks->older;
        free(arena->blocks);
        arena->blocks = older;
    }
}

static int add_block(struct rfn_arena *arena, size_t needed)
{
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_BLOCK)
        size = LARGEST_BLOCK;
    if (size < needed)
        size = needed;
    if (size > SIZE_MAX - sizeof(struct rfn_arena_block))
        return -1;
    struct rfn_arena_block *block = malloc(sizeof *block + size);
    if (!block)
        return -1;
    block->older = arena->blocks;
    block->used = 0;
    block->size = size;
    arena->blocks = block;
    return 0;
}

void *rfn_arena_alloc(struct rfn_arena *arena, size_t size)
{
    if (size > SIZE_MAX - alignof(max_align_t))
        return NULL;
    size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    struct rfn_arena_block *block = arena->blocks;
    if (!block || size > block->size - block->used) {
        if (add_block(arena, size) < 0)
            return NULL;
        block = arena->blocks;
    }
    void *memory = block->bytes + block->used;
    block->used += size;
    return memory;
}

void *rfn_arena_zeroed(struct rfn_arena *arena, size_t n, size_t size)
{
    void *memory = rfn_arena_alloc(arena, (n + 1) * size);
    if (memory)
        memset(memory, 0, (n + 1) * size);
    return memory;
}

void *rfn_arena_copy(struct rfn_arena *arena, const void *bytes, size_t size)
{
    uint8_t *copy = size < SIZE_MAX ? rfn_arena_alloc(arena, size + 1) : NULL;
    if (copy) {
        if (size)
            memcpy(copy, bytes, size);
        copy[size] = 0;
    }
    return copy;
}
