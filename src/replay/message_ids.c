#include "replay/message_ids.h"

#include <string.h>

static uint64_t key_of(const struct rpl_channel *channel)
{
    const int64_t words[] = {channel->comm, channel->source, channel->dest, channel->tag};
    return rfn_hash_bytes(words, sizeof words);
}

int rpl_message_ids_next(struct rpl_message_ids *stamps, const struct rpl_channel *channel,
                         uint64_t *stamp)
{
    uint64_t key = key_of(channel), end = rfn_hash_mix(key, channel->sending);
    uint64_t *count = rfn_map_get(&stamps->next, end);
    uint64_t k = count ? *count : 0;
    *stamp = rfn_hash_mix(key, k);
    if (!count)
        return rfn_map_put(&stamps->next, end, 1);
    ++*count;
    return 0;
}

void rpl_message_ids_release(struct rpl_message_ids *stamps)
{
    rfn_map_release(&stamps->next);
}

static size_t length_of(int64_t bytes)
{
    return bytes <= 0 ? 0 : bytes < (int64_t)sizeof(uint64_t) ? (size_t)bytes : sizeof(uint64_t);
}

void rpl_message_id_put(uint64_t stamp, void *buffer, int64_t bytes)
{
    if (length_of(bytes))
        memcpy(buffer, &stamp, length_of(bytes));
}

bool rpl_message_id_fits(uint64_t stamp, const void *buffer, int64_t bytes)
{
    return length_of(bytes) == 0 || memcmp(&stamp, buffer, length_of(bytes)) == 0;
}
