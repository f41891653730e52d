#include "record/core/smpi_heap.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SMALLEST = 16, /* bytes; room for the pointer to the next free piece */
    CLASSES = 13,  /* up to 64 KiB */
    FIRST_BLOCK = 256 << 10,
    BLOCKS = 24 /* doubling: four terabytes */
};

/* Before every piece. */
struct head {
    _Alignas(16) unsigned class;
};

static struct block {
    uint8_t *start, *end;
} blocks[BLOCKS];
static unsigned n_blocks;
static uint8_t *fresh;       /* in the last block: never used, zeros */
static void *freed[CLASSES]; /* each piece holds the address of the next one */

static size_t class_size(unsigned class)
{
    return (size_t)SMALLEST << class;
}

static unsigned class_of(size_t size)
{
    unsigned class = 0;
    while (class < CLASSES && class_size(class) < size)
        class ++;
    return class;
}

static bool is_mine(const void *memory)
{
    const uint8_t *at = memory;
    for (unsigned i = n_blocks; i-- > 0;) {
        if (at >= blocks[i].start && at < blocks[i].end)
            return true;
    }
    return false;
}

static bool add_block(void)
{
    if (n_blocks == BLOCKS)
        return false;
    size_t size = (size_t)FIRST_BLOCK << n_blocks;
    void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        return false;
    fresh = start;
    blocks[n_blocks++] = (struct block){fresh, fresh + size};
    return true;
}

/* *zeros: whether the piece is known to hold nothing else. */
static void *take(unsigned class, bool *zeros)
{
    void *memory = freed[class];
    *zeros = !memory;
    if (memory) {
        memcpy(&freed[class], memory, sizeof freed[class]);
        return memory;
    }
    size_t size = sizeof(struct head) + class_size(class);
    if ((n_blocks == 0 || (size_t)(blocks[n_blocks - 1].end - fresh) < size) && !add_block())
        return NULL;
    struct head *head = (struct head *)(void *)fresh;
    head->class = class;
    fresh += size;
    return head + 1;
}

void *rec_smpi_heap_malloc(size_t size)
{
    bool zeros;
    unsigned class = class_of(size);
    return class < CLASSES ? take(class, &zeros) : malloc(size);
}

void *rec_smpi_heap_calloc(size_t n, size_t size)
{
    bool zeros;
    if (size && n > SIZE_MAX / size)
        return NULL;
    unsigned class = class_of(n * size);
    if (class == CLASSES)
        return calloc(n, size);
    void *memory = take(class, &zeros);
    return memory && !zeros ? memset(memory, 0, n * size) : memory;
}

void rec_smpi_heap_free(void *memory)
{
    if (!is_mine(memory)) {
        free(memory);
        return;
    }
    unsigned class = ((struct head *)memory - 1)->class;
    memcpy(memory, &freed[class], sizeof freed[class]);
    freed[class] = memory;
}

void *rec_smpi_heap_realloc(void *memory, size_t size)
{
    if (!memory)
        return rec_smpi_heap_malloc(size);
    if (!is_mine(memory))
        return realloc(memory, size);
    size_t old = class_size(((struct head *)memory - 1)->class);
    if (size <= old)
        return memory;
    void *moved = rec_smpi_heap_malloc(size);
    if (!moved)
        return NULL;
    memcpy(moved, memory, old);
    rec_smpi_heap_free(memory);
    return moved;
}
