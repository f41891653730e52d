#include "base/equal_keys.h"

#include <stdlib.h>

struct keyed {
    uint64_t key;
    uint32_t place;
};

static int compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

int rfn_first_equal(const uint64_t *keys, uint32_t n, uint32_t *first)
{
    struct keyed *sorted = malloc((n + (size_t)1) * sizeof *sorted);
    if (!sorted)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = (struct keyed){keys[i], i};
    qsort(sorted, n, sizeof *sorted, compare);
    for (uint32_t i = 0, lowest = 0; i < n; i++) {
        if (sorted[i].key != sorted[lowest].key)
            lowest = i;
        first[sorted[i].place] = sorted[lowest].place;
    }
    free(sorted);
    return 0;
}
