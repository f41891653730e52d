#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>

int rfn_grow(void **array, size_t *capacity, size_t needed, size_t element_size)
{
    if (needed <= *capacity)
        return 0;
    size_t larger = *capacity ? *capacity : 8;
    while (larger < needed) {
        if (larger > SIZE_MAX / 2)
            return RFN_E_NOMEM;
        larger *= 2;
    }
    if (larger > SIZE_MAX / element_size)
        return RFN_E_NOMEM;
    void *moved = realloc(*array, larger * element_size);
    if (!moved)
        return RFN_E_NOMEM;
    *array = moved;
    *capacity = larger;
    return 0;
}
