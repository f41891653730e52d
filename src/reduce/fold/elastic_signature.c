#include "reduce/fold/elastic_signature.h"

#include "base/grow.h"

#include <stdlib.h>

/* A stretch; it has the call hashes of those before it, and one more. */
struct rfn_elastic_level {
    uint64_t call_hash; /* its first last one */
    uint64_t prefix;    /* signature of what stands before its last new call hash */
    uint64_t newest;    /* that call hash */
    uint64_t hash;      /* its signature */
    uint64_t share;     /* in the state */
};

struct step {
    uint64_t from, call_hash, to; /* call hash 0: none */
};

enum { SET_BITS = 6, WAYS = 4, STEPS = WAYS << SET_BITS, WAITING = 256 };

struct rfn_elastic_steps {
    struct step step[STEPS]; /* by from and call hash */
    uint64_t waiting[WAITING];
};

void rfn_elastic_release(struct rfn_elastic *elastic)
{
    free(elastic->levels);
    free(elastic->steps);
    *elastic = (struct rfn_elastic){0};
}

size_t rfn_elastic_bytes(const struct rfn_elastic *elastic)
{
    return elastic->capacity * sizeof *elastic->levels +
           (elastic->steps ? sizeof *elastic->steps : 0);
}

/* ---- hashes ---- */

/* Multiplies, and folds the high half down. */
static uint64_t fold_product(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* S of a level. Which word is which shows: two of them come multiplied. */
static uint64_t hash_level(const struct rfn_elastic_level *level, uint64_t suffix)
{
    return fold_product(level->prefix + level->newest * 0xd6e8feb86659fd93u + 0x9e3779b97f4a7c15u,
                        suffix + level->call_hash * 0xc2b2ae3d27d4eb4fu + 0x165667b19e3779f9u);
}

/* The state is the sum of what its levels are, each at its place: what changes in some of them
 * changes it by as much. */
static uint64_t share_of_level(const struct rfn_elastic_level *level, size_t place)
{
    return fold_product(level->prefix + level->newest * 0x9fb21c651e98df25u + place,
                        level->call_hash * 0x27d4eb2f165667c5u + 0x85ebca77c2b2ae63u);
}

static void hash_levels(struct rfn_elastic *elastic, size_t n)
{
    uint64_t suffix = elastic->hashed ? elastic->levels[elastic->hashed - 1].hash : 0;
    for (; elastic->hashed < n; elastic->hashed++) {
        struct rfn_elastic_level *level = &elastic->levels[elastic->hashed];
        suffix = level->hash = hash_level(level, suffix);
        elastic->work++;
    }
}

/* ---- levels ---- */

static size_t find_call_hash(const struct rfn_elastic *elastic, uint64_t call_hash)
{
    size_t d = 0;
    while (d < elastic->n && elastic->levels[d].call_hash != call_hash)
        d++;
    return d;
}

/* What the header says of a call hash: level i becomes i + 1, up to the level that has it. */
static int change_levels(struct rfn_elastic *elastic, uint64_t call_hash)
{
    size_t d = find_call_hash(elastic, call_hash);
    bool is_new = d == elastic->n;
    if (is_new)
        RFN_TRY(RFN_GROW(elastic->levels, elastic->capacity, elastic->n + 1));
    hash_levels(elastic, d);
    struct rfn_elastic_level *levels = elastic->levels;
    if (is_new)
        levels[elastic->n++] = (struct rfn_elastic_level){.newest = call_hash};
    uint64_t moved = call_hash, before = 0, suffix = 0, state = elastic->levels_state;
    for (size_t i = 0; i < d; i++) {
        const struct rfn_elastic_level old = levels[i];
        struct rfn_elastic_level new = {.call_hash = moved, .prefix = before, .newest = call_hash};
        suffix = new.hash = hash_level(&new, suffix);
        new.share = share_of_level(&new, i);
        state += new.share - old.share;
        levels[i] = new;
        moved = old.call_hash;
        before = old.hash;
    }
    levels[d].call_hash = moved;
    if (is_new)
        levels[d].prefix = before;
    uint64_t share = share_of_level(&levels[d], d);
    elastic->levels_state = state + share - levels[d].share;
    levels[d].share = share;
    elastic->hashed = d;
    elastic->work += d;
    return 0;
}

/* Nothing waits any more. */
__attribute__((noinline)) static int catch_up(struct rfn_elastic *elastic)
{
    for (size_t i = 0; i < elastic->n_waiting; i++)
        RFN_TRY(change_levels(elastic, elastic->steps->waiting[i]));
    elastic->n_waiting = 0;
    return 0;
}

/* ---- call hashes ---- */

__attribute__((noinline)) static int take_new(struct rfn_elastic *elastic, struct step *step,
                                              uint64_t call_hash)
{
    RFN_TRY(catch_up(elastic));
    RFN_TRY(change_levels(elastic, call_hash));
    *step = (struct step){elastic->state, call_hash, elastic->levels_state};
    elastic->state = elastic->levels_state;
    return 0;
}

int rfn_elastic_append(struct rfn_elastic *elastic, uint64_t call_hash)
{
    if (call_hash == elastic->call_hash)
        return 0; /* once more */
    if (!elastic->steps && !(elastic->steps = calloc(1, sizeof *elastic->steps)))
        return RFN_E_NOMEM;
    uint64_t state = elastic->state, key = (state ^ call_hash) * 0x9e3779b97f4a7c15u;
    struct step *set = &elastic->steps->step[(key >> (64 - SET_BITS)) * WAYS], *step = set;
    elastic->call_hash = call_hash;
    elastic->taken++;
    for (; step < set + WAYS && step->call_hash; step++) {
        if (step->call_hash != call_hash || step->from != state)
            continue;
        elastic->state = step->to;
        if (elastic->state == elastic->levels_state) {
            elastic->n_waiting = 0;
            return 0;
        }
        elastic->steps->waiting[elastic->n_waiting++] = call_hash;
        return elastic->n_waiting == WAITING ? catch_up(elastic) : 0;
    }
    return take_new(elastic, step < set + WAYS ? step : set + key % WAYS, call_hash);
}

bool rfn_elastic_is_slow(const struct rfn_elastic *elastic)
{
    enum { ONCE = 1 << 21, PER_CALL = 32 };
    return elastic->work > ONCE + PER_CALL * elastic->taken;
}

uint64_t rfn_elastic_signature(struct rfn_elastic *elastic)
{
    catch_up(elastic); /* which takes no memory: its call hashes are known */
    hash_levels(elastic, elastic->n);
    return elastic->n ? elastic->levels[elastic->n - 1].hash : 0;
}
