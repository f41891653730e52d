/* grow.h - arrays that grow by doubling. */
#ifndef RFN_BASE_GROW_H
#define RFN_BASE_GROW_H

#include "refrain/error.h"

#include <stddef.h>

/* Makes room for `needed` elements: RFN_TRY(RFN_GROW(array, capacity, n + 1)). The new elements
 * are not initialized. capacity is a size_t lvalue. On RFN_E_NOMEM the array is as it was. */
#define RFN_GROW(array, capacity, needed) \
    ((size_t)(needed) <= (capacity)       \
         ? 0                              \
         : rfn_grow((void **)&(array), &(capacity), (needed), sizeof *(array)))

/* The same, but the new elements, up to the new capacity, are all zeros. */
#define RFN_GROW_ZEROED(array, capacity, needed) \
    ((size_t)(needed) <= (capacity)              \
         ? 0                                     \
         : rfn_grow_zeroed((void **)&(array), &(capacity), (needed), sizeof *(array)))

int rfn_grow_zeroed(void **array, size_t *capacity, size_t needed, size_t element_size);
int rfn_grow(void **array, size_t *capacity, size_t needed, size_t element_size);

#endif
