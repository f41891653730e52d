/* messages.h - counts messages by size and by pair of ranks. */
#ifndef RFN_ANALYZE_PROFILE_MESSAGES_H
#define RFN_ANALYZE_PROFILE_MESSAGES_H

#include "base/map.h"
#include "refrain/profile.h"

struct rfn_messages {
    struct rfn_map index; /* source * 2^32 + dest -> place in pairs */
    struct rfn_pair *pairs;
    size_t n_pairs, capacity;
};

/* The bin that a size belongs to. */
unsigned rfn_size_bin(uint64_t bytes);

/* Counts `count` messages of `bytes` each in a histogram. */
void rfn_size_count(struct rfn_size_bin bins[RFN_SIZE_BINS], uint64_t bytes, uint64_t count);

/* Counts `count` messages of `bytes` each from source to dest; RFN_E_NOMEM. */
int rfn_messages_count(struct rfn_messages *messages, uint32_t source, uint32_t dest,
                       uint64_t bytes, uint64_t count);

/* Hands out the pairs, sorted by (source, dest), and leaves messages empty. */
struct rfn_pair *rfn_messages_take(struct rfn_messages *messages, size_t *n);
void rfn_messages_release(struct rfn_messages *messages);

#endif
