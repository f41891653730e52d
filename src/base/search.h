/* search.h - bisection over elements that begin with an ascending uint32_t. */
#ifndef RFN_BASE_SEARCH_H
#define RFN_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The index of the last of n elements, `step` bytes apart, that begins with at most this number; 0
 * if none does. */
static inline size_t rfn_last_at_most(const void *elements, size_t step, size_t n, uint32_t number)
{
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        uint32_t at;
        memcpy(&at, (const uint8_t *)elements + middle * step, sizeof at);
        if (at <= number)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
