#define _DEFAULT_SOURCE /* madvise */
#include "cli/launch/large_pages.h"

#include <stdint.h>
#include <stdlib.h>

#if defined __GLIBC__ && defined __linux__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/* HEAP is address space, of which only what is used takes memory. What is as large as LARGE is
 * mapped by itself, each time anew: that it is said ends the library's own learning of it. */
enum { PAGE = 2 << 20, HEAP = 32 << 20, LARGE = 4 << 20 };

/* The heap begins at the border of a page, grows by one allocation, and keeps what that had. */
void rfn_large_pages_prefer(void)
{
    if (!mallopt(M_MMAP_THRESHOLD, HEAP) || !mallopt(M_TRIM_THRESHOLD, 2 * HEAP))
        return;
    sbrk((intptr_t)(-(uintptr_t)sbrk(0) % PAGE));
    char *heap = malloc(HEAP - PAGE);
    if (heap)
        madvise(heap - (uintptr_t)heap % PAGE, HEAP - PAGE, MADV_HUGEPAGE);
    free(heap);
    mallopt(M_MMAP_THRESHOLD, LARGE);
}
#else
void rfn_large_pages_prefer(void)
{
}
#endif
