/* buffers.h - arrays whose elements are used again: those that are free are a list.
 *
 * Links hold an element's index + 1, and 0 ends the list, so that zeroed memory is an empty pool.
 */
#ifndef RFN_BASE_POOL_H
#define RFN_BASE_POOL_H

#include "base/grow.h"

#include <stdint.h>

/* The index of an element to use, or RFN_E_NOMEM (negative): the first of the free ones, else one
 * behind the n that there are. first: the free list, a uint32_t lvalue; link: the member that has
 * the next one's; n and capacity are size_t lvalues. What the element holds is not touched. */
#define RFN_POOL_TAKE(array, capacity, n, first, link)           \
    ((first) ? rfn_pool_reuse(&(first), (array)[(first)-1].link) \
             : rfn_pool_append(&(n), RFN_GROW(array, capacity, (n) + 1)))

/* An element that is free from now on. */
#define RFN_POOL_GIVE(array, first, link, index) \
    ((array)[index].link = (first), (first) = (uint32_t)(index) + 1)

static inline int64_t rfn_pool_reuse(uint32_t *first, uint32_t next)
{
    uint32_t at = *first - 1;
    *first = next;
    return at;
}

/* error: of making room. */
static inline int64_t rfn_pool_append(size_t *n, int error)
{
    return error ? error : (int64_t)(*n)++;
}

#endif
