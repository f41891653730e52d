#include "reduce/lists.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void rfn_lists_release(struct rfn_lists *lists)
{
    free(lists->words);
    free(lists->ends);
    rfn_map_release(&lists->by_hash);
    *lists = (struct rfn_lists)RFN_LISTS_INIT;
}

const int64_t *rfn_lists_get(const struct rfn_lists *lists, size_t number, size_t *n)
{
    *n = 0;
    if (number == 0 || number > lists->n)
        return NULL;
    size_t start = number == 1 ? 0 : lists->ends[number - 2];
    *n = lists->ends[number - 1] - start;
    return lists->words + start;
}

static int64_t add(struct rfn_lists *lists, const int64_t *words, size_t n, uint64_t hash)
{
    RFN_TRY(RFN_GROW(lists->words, lists->words_capacity, lists->n_words + n));
    RFN_TRY(RFN_GROW(lists->ends, lists->ends_capacity, lists->n + 1));
    RFN_TRY(rfn_map_put(&lists->by_hash, hash, lists->n + 1));
    memcpy(lists->words + lists->n_words, words, n * sizeof *words);
    lists->n_words += n;
    lists->ends[lists->n++] = lists->n_words;
    return (int64_t)lists->n;
}

int64_t rfn_lists_intern(struct rfn_lists *lists, const int64_t *words, size_t n)
{
    if (n == 0)
        return 0;
    for (uint64_t hash = rfn_hash_bytes(words, n * sizeof *words);; hash++) {
        const uint64_t *number = rfn_map_get(&lists->by_hash, hash);
        if (!number)
            return add(lists, words, n, hash);
        size_t n_known;
        const int64_t *known = rfn_lists_get(lists, *number, &n_known);
        if (n_known == n && memcmp(known, words, n * sizeof *words) == 0)
            return (int64_t)*number;
    }
}
