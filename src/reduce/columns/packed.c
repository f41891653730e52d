#include "reduce/columns/packed.h"

#include <stdlib.h>

int rfn_packed_begin(struct rfn_packed *packed, uint64_t n, int64_t base, uint64_t largest)
{
    uint32_t width = !largest                ? 0
                     : largest <= UINT8_MAX  ? 1
                     : largest <= UINT16_MAX ? 2
                     : largest <= UINT32_MAX ? 4
                                             : 8;
    size_t size = (width ? n * width : 0) + sizeof(uint64_t);
    if (size > packed->capacity) {
        rfn_packed_release(packed);
        packed->bytes = malloc(size);
        if (!packed->bytes)
            return RFN_E_NOMEM;
        packed->capacity = size;
    }
    packed->base = base;
    packed->width = width;
    rfn_representative_store_64(packed->bytes, 0); /* a width of 0 loads it */
    return 0;
}

int rfn_packed_values(struct rfn_packed *packed, const int64_t *values, uint32_t n)
{
    int64_t least = INT64_MAX, largest = INT64_MIN;
    for (uint32_t i = 0; i < n; i++) {
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
    }
    RFN_TRY(rfn_packed_begin(packed, n, least, (uint64_t)largest - (uint64_t)least));
    uint8_t *to = packed->bytes;
    for (uint32_t i = 0; i < n; i++, to += packed->width)
        rfn_representative_store_64(to, (uint64_t)values[i] - (uint64_t)least);
    return 0;
}

void rfn_packed_copy(const struct rfn_packed *packed, size_t i, size_t n, int64_t *to)
{
    const uint64_t mask = packed->width ? UINT64_MAX >> (64 - 8 * packed->width) : 0;
    const uint8_t *from = packed->bytes + i * packed->width;
    for (size_t k = 0; k < n; k++, from += packed->width)
        to[k] = (int64_t)((uint64_t)packed->base + (rfn_load_64(from) & mask));
}

void rfn_packed_release(struct rfn_packed *packed)
{
    free(packed->bytes);
    *packed = (struct rfn_packed){0};
}
