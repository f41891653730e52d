/* failing_heap.h - for tests of running out of memory: counts allocations and has one of them fail.
 *
 * To be included by one file of a test program whose name ends in _nomem_test.c: the linker leads
 * its allocations, and those of the library, here (mk/test.mk).
 */
#ifndef RFN_TESTS_SUPPORT_FAILING_HEAP_H
#define RFN_TESTS_SUPPORT_FAILING_HEAP_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static uint64_t allocations, failing = UINT64_MAX; /* so far; the number of the one that fails */
static int64_t alive;                              /* allocations that are not freed */
static size_t heap, peak, largest;                 /* bytes: now, at most, asked for at once */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static bool fails(size_t size)
{
    largest = size > largest ? size : largest;
    return allocations++ == failing;
}

static void *counted(void *memory)
{
    alive += memory != NULL;
    heap += malloc_usable_size(memory);
    peak = heap > peak ? heap : peak;
    return memory;
}

static void uncounted(size_t size)
{
    alive--;
    heap -= size;
}

void *__wrap_malloc(size_t size)
{
    return fails(size) ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(n * size) ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (fails(size))
        return NULL;
    size_t before = malloc_usable_size(memory);
    void *moved = __real_realloc(memory, size);
    if (moved && memory)
        uncounted(before);
    return counted(moved);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails(size) ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory)
{
    if (memory)
        uncounted(malloc_usable_size(memory));
    __real_free(memory);
}

#endif
