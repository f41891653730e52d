#include "analyze/profile/messages.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

unsigned rfn_size_bin(uint64_t bytes)
{
    return bytes ? 64u - (unsigned)__builtin_clzll(bytes) : 0;
}

void rfn_size_count(struct rfn_size_bin bins[RFN_SIZE_BINS], uint64_t bytes, uint64_t count)
{
    struct rfn_size_bin *bin = &bins[rfn_size_bin(bytes)];
    bin->count += count;
    bin->bytes += bytes * count;
}

int rfn_messages_count(struct rfn_messages *messages, uint32_t source, uint32_t dest,
                       uint64_t bytes, uint64_t count)
{
    uint64_t key = (uint64_t)source << 32 | dest;
    uint64_t *at = rfn_map_get(&messages->index, key);
    if (!at) {
        RFN_TRY(RFN_GROW(messages->pairs, messages->capacity, messages->n_pairs + 1));
        RFN_TRY(rfn_map_put(&messages->index, key, messages->n_pairs));
        messages->pairs[messages->n_pairs] = (struct rfn_pair){source, dest, count, bytes * count};
        messages->n_pairs++;
        return 0;
    }
    messages->pairs[*at].messages += count;
    messages->pairs[*at].bytes += bytes * count;
    return 0;
}

static int by_ranks(const void *left, const void *right)
{
    const struct rfn_pair *a = left, *b = right;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->dest < b->dest ? -1 : a->dest > b->dest;
}

struct rfn_pair *rfn_messages_take(struct rfn_messages *messages, size_t *n)
{
    struct rfn_pair *pairs = messages->pairs;
    *n = messages->n_pairs;
    if (pairs)
        qsort(pairs, *n, sizeof *pairs, by_ranks);
    messages->pairs = NULL;
    rfn_messages_release(messages);
    return pairs;
}

void rfn_messages_release(struct rfn_messages *messages)
{
    rfn_map_release(&messages->index);
    free(messages->pairs);
    memset(messages, 0, sizeof *messages);
}
