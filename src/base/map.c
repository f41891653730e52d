#include "base/map.h"

#include <stdlib.h>

void rfn_map_release(struct rfn_map *map)
{
    free(map->slots);
    *map = (struct rfn_map)RFN_MAP_INIT;
}

static uint64_t home(const struct rfn_map *map, uint64_t key)
{
    return rfn_hash_mix(0, key) & map->mask;
}

/* The slot that holds key, or the free slot where it would go. */
static struct rfn_map_slot *find(const struct rfn_map *map, uint64_t key)
{
    uint64_t i = home(map, key);
    while (map->slots[i].used && map->slots[i].key != key)
        i = (i + 1) & map->mask;
    return &map->slots[i];
}

uint64_t *rfn_map_get(const struct rfn_map *map, uint64_t key)
{
    if (!map->slots)
        return NULL;
    struct rfn_map_slot *slot = find(map, key);
    return slot->used ? &slot->value : NULL;
}

static int resize(struct rfn_map *map, uint64_t n_slots)
{
    struct rfn_map larger = {
        .slots = calloc(n_slots, sizeof *larger.slots), .n = map->n, .mask = n_slots - 1};
    if (!larger.slots)
        return RFN_E_NOMEM;
    for (uint64_t i = 0; map->slots && i <= map->mask; i++) {
        if (map->slots[i].used)
            *find(&larger, map->slots[i].key) = map->slots[i];
    }
    free(map->slots);
    *map = larger;
    return 0;
}

int rfn_map_put(struct rfn_map *map, uint64_t key, uint64_t value)
{
    if (!map->slots || (map->n + 1) * 4 > (map->mask + 1) * 3)
        RFN_TRY(resize(map, map->slots ? (map->mask + 1) * 2 : 16));
    struct rfn_map_slot *slot = find(map, key);
    if (!slot->used)
        map->n++;
    *slot = (struct rfn_map_slot){key, value, true};
    return 0;
}

bool rfn_map_remove(struct rfn_map *map, uint64_t key)
{
    if (!map->slots)
        return false;
    struct rfn_map_slot *hole = find(map, key);
    if (!hole->used)
        return false;
    map->n--;
    uint64_t gap = (uint64_t)(hole - map->slots);
    for (uint64_t i = (gap + 1) & map->mask; map->slots[i].used; i = (i + 1) & map->mask) {
        uint64_t distance = (i - home(map, map->slots[i].key)) & map->mask;
        if (distance >= ((i - gap) & map->mask)) {
            map->slots[gap] = map->slots[i];
            gap = i;
        }
    }
    map->slots[gap].used = false;
    return true;
}

/* ---- objects ---- */

void *rfn_map_object(const struct rfn_map *map, uint64_t key)
{
    const uint64_t *value = rfn_map_get(map, key);
    return value ? (void *)(uintptr_t)*value : NULL;
}

int rfn_map_put_object(struct rfn_map *map, uint64_t key, void *object)
{
    return rfn_map_put(map, key, (uint64_t)(uintptr_t)object);
}

void *rfn_map_make_object(struct rfn_map *map, uint64_t key, size_t size)
{
    void *object = rfn_map_object(map, key);
    if (object)
        return object;
    object = calloc(1, size);
    if (object && rfn_map_put_object(map, key, object) < 0) {
        free(object);
        return NULL;
    }
    return object;
}

void rfn_map_release_objects(struct rfn_map *map, void (*release)(void *object))
{
    for (uint64_t i = 0; map->slots && i <= map->mask; i++) {
        if (map->slots[i].used)
            release((void *)(uintptr_t)map->slots[i].value);
    }
    rfn_map_release(map);
}

/* ---- equal keys ---- */

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
