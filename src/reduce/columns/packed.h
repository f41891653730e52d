/* packed.h - decoded numbers in as few bytes as the largest of them needs.
 *
 * Whoever reads many columns in turn has a block of each decoded: the less they take, the more of
 * them stay near the processor. Each number counts from a base, modulo 2^64. Behind the last there
 * is room enough that each can be stored, and loaded, as 8 bytes, least significant first: a store
 * in order spoils only what is yet to come.
 */
#ifndef RFN_REDUCE_COLUMNS_PACKED_H
#define RFN_REDUCE_COLUMNS_PACKED_H

#include "base/buf.h"
#include "refrain/error.h"

#include <stddef.h>
#include <stdint.h>

struct rfn_packed {
    int64_t base;
    uint32_t width; /* bytes of a number: 0 (all are the base), 1, 2, 4 or 8 */
    uint8_t *bytes;
    size_t capacity;
};

/* The i-th number. */
static inline int64_t rfn_packed_at(const struct rfn_packed *packed, size_t i)
{
    uint64_t mask = packed->width ? UINT64_MAX >> (64 - 8 * packed->width) : 0;
    uint64_t more = rfn_load_64(packed->bytes + i * packed->width) & mask;
    return (int64_t)((uint64_t)packed->base + more);
}

/* Copies n numbers from the i-th on. */
void rfn_packed_copy(const struct rfn_packed *packed, size_t i, size_t n, int64_t *to);

/* Makes room for n numbers up to base + largest, which are put in next; what was there is gone.
 * RFN_E_NOMEM: there are none then. */
int rfn_packed_begin(struct rfn_packed *packed, uint64_t n, int64_t base, uint64_t largest);
/* Puts in n values, at least one. RFN_E_NOMEM. */
int rfn_packed_values(struct rfn_packed *packed, const int64_t *values, uint32_t n);
void rfn_packed_release(struct rfn_packed *packed);

#endif
