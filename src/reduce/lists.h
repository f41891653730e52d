/* lists.h - interned lists of words: equal lists are one number.
 *
 * Array arguments (counts of a v-collective, requests of a Waitall, names) are one word in an
 * event: the number of the list. Numbers count from 1 in order of first use; 0 is the empty list.
 *
 * A program may have very many lists: a loop of Waitany over n requests has up to n different ones
 * in each turn, and they differ from turn to turn. But each is nearly a copy of an earlier one. So
 * a list is kept as varints, in blocks that are compressed when they are full, and is recognized by
 * a 128-bit hash of its words; only the entry of 32 bytes and its place in the map stay as they
 * are.
 */
#ifndef RFN_REDUCE_LISTS_H
#define RFN_REDUCE_LISTS_H

#include "base/buf.h"
#include "base/map.h"

#include <stddef.h>
#include <stdint.h>

enum { RFN_LISTS_BLOCK = 1 << 18 };

struct rfn_lists {
    struct rfn_list_entry {
        struct rfn_hash128 digest;
        uint64_t n;             /* words */
        uint32_t block, offset; /* where its varints begin */
    } * entries;                /* of number - 1 */
    size_t n, entries_capacity;
    struct rfn_buf open; /* the block that is being filled; its number is n_blocks */
    struct rfn_list_block {
        uint8_t *bytes; /* compressed */
        size_t size, raw_size;
    } * blocks;
    size_t n_blocks, blocks_capacity;
    struct rfn_map by_hash; /* low half of the digest -> number; on a collision the next key */
    struct rfn_list_scratch *scratch; /* what rfn_lists_get decodes into */
};

#define RFN_LISTS_INIT \
    {                  \
        0              \
    }

void rfn_lists_release(struct rfn_lists *lists);
/* The list's number, 0 for n = 0, RFN_E_NOMEM. */
int64_t rfn_lists_intern(struct rfn_lists *lists, const int64_t *words, size_t n);
/* The words of a list (number 1 to lists->n), borrowed until the next call, which is cheap for
 * lists that follow each other. NULL and *n = 0 for another number, or without memory. */
const int64_t *rfn_lists_get(const struct rfn_lists *lists, size_t number, size_t *n);

#endif
