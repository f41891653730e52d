#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int rfn_grow_zeroed(void **array, size_t *capacity, size_t needed, size_t element_size)
{
    size_t old = *capacity;
    RFN_TRY(rfn_grow(array, capacity, needed, element_size));
    memset((char *)*array + old * element_size, 0, (*capacity - old) * element_size);
    return 0;
}
