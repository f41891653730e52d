/* map.h - a hash table from 64-bit keys to 64-bit values: open addressing, linear probing,
 * deletion by shifting back, at most 3/4 full.
 *
 * Any key is legal. Lookups never allocate; only put does.
 */
#ifndef RFN_BASE_MAP_H
#define RFN_BASE_MAP_H

#include "base/hash.h"
#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rfn_map_slot {
    uint64_t key, value;
    bool used;
};

struct rfn_map {
    struct rfn_map_slot *slots;
    uint64_t n, mask; /* mask + 1 slots; slots is NULL while empty */
};

#define RFN_MAP_INIT \
    {                \
        0            \
    }

void rfn_map_release(struct rfn_map *map);
/* Bytes held. */
static inline size_t rfn_map_bytes(const struct rfn_map *map)
{
    return map->slots ? (size_t)(map->mask + 1) * sizeof *map->slots : 0;
}
/* Where key's value lies (valid until the next put or remove), or NULL. */
uint64_t *rfn_map_get(const struct rfn_map *map, uint64_t key);
/* Sets key's value; RFN_E_NOMEM. */
int rfn_map_put(struct rfn_map *map, uint64_t key, uint64_t value);
/* Returns whether key was there. */
bool rfn_map_remove(struct rfn_map *map, uint64_t key);

/* A map whose values are the addresses of objects. What is there for the key, or NULL. */
void *rfn_map_object(const struct rfn_map *map, uint64_t key);
/* ... made with calloc if there is nothing; NULL: out of memory. */
void *rfn_map_make_object(struct rfn_map *map, uint64_t key, size_t size);
/* Sets it; RFN_E_NOMEM. */
int rfn_map_put_object(struct rfn_map *map, uint64_t key, void *object);
/* Releases the map and, with `release` (free, say), each object. */
void rfn_map_release_objects(struct rfn_map *map, void (*release)(void *object));

/* Not a map: which of n keys are equal, by sorting them, O(n log n). Keys that come from a file can
 * be chosen so that a map takes long. first[i]: the lowest place of a key that equals that at i.
 * RFN_E_NOMEM. */
int rfn_first_equal(const uint64_t *keys, uint32_t n, uint32_t *first);

#endif
