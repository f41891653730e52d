/* hash.h - the hashes that Refrain uses, all of them xxHash (XXH3) or a cheap mix of words.
 *
 * rfn_hash_bytes and rfn_hash128_bytes are written to files and compared between ranks: they are
 * XXH3 with seed 0 and the same on every machine. rfn_hash_mix is for tables in memory only.
 */
#ifndef RFN_BASE_HASH_H
#define RFN_BASE_HASH_H

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_hash128 {
    uint64_t low, high;
};

static inline uint64_t rfn_hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}

static inline struct rfn_hash128 rfn_hash128_bytes(const void *bytes, size_t size)
{
    XXH128_hash_t h = XXH3_128bits(bytes, size);
    return (struct rfn_hash128){h.low64, h.high64};
}

static inline bool rfn_hash128_equal(struct rfn_hash128 a, struct rfn_hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* Mixes a word into a running hash: multiply, fold the high half down (as wyhash does). Of two
 * words that are no hashes it is no key: it depends on their exclusive or alone. */
static inline uint64_t rfn_hash_mix(uint64_t hash, uint64_t word)
{
    __extension__ unsigned __int128 product =
        (unsigned __int128)(hash ^ word ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
