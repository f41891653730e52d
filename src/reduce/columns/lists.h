/* lists.h - interned lists of words: equal lists are one number.
 *
 * Array arguments (counts of a v-collective, requests of a Waitall, names) are one word in an
 * event: the number of the list. Numbers count from 1 in order of first use; 0 is the empty list.
 *
 * A loop of Waitany over n requests may have up to n new lists in each turn, each nearly a copy of
 * an earlier one. So a list is kept as varints, in blocks that are compressed when they are full,
 * and is recognized by a 128-bit hash of its words.
 *
 * Memory stays bounded: full blocks can move to a spill, and no more than RFN_LISTS_KNOWN lists are
 * recognized. When there are that many, those that have not come again since the last time are
 * forgotten; if one of them comes after all, it gets a second number. Which lists these are depends
 * on nothing but the lists, so that alike processes have alike numbers.
 */
#ifndef RFN_REDUCE_COLUMNS_LISTS_H
#define RFN_REDUCE_COLUMNS_LISTS_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/spill.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_LISTS_BLOCK = 1 << 18, RFN_LISTS_KNOWN = 1 << 15 };

/* All zeros are no lists. */
struct rfn_lists {
    size_t n;
    struct rfn_list_known {
        struct rfn_hash128 digest;
        uint64_t number;
        bool again; /* it has come again */
    } * known;
    size_t n_known, known_capacity;
    struct rfn_map
        by_hash;         /* low half of the digest -> place in known; on a collision the next key */
    struct rfn_buf open; /* the block that is being filled: per list varint n, n varints */
    size_t open_first;   /* lists before it */
    struct rfn_list_block {
        size_t first;    /* lists before it */
        uint8_t *bytes;  /* compressed; NULL: in the spill */
        uint64_t offset; /* there */
        size_t size, raw_size;
    } * blocks;
    size_t n_blocks, blocks_capacity;
    size_t n_spilled; /* the first n_spilled blocks are in the spill */
    const struct rfn_spill *spill;
    struct rfn_list_scratch *scratch; /* what rfn_lists_get decodes into */
};

void rfn_lists_release(struct rfn_lists *lists);
/* The list's number, 0 for n = 0, RFN_E_NOMEM. */
int64_t rfn_lists_intern(struct rfn_lists *lists, const int64_t *words, size_t n);
/* The words of a list (number 1 to lists->n), borrowed until the next call, which is cheap for
 * lists that follow each other. NULL and *n = 0 for another number, or when they cannot be read. */
const int64_t *rfn_lists_get(const struct rfn_lists *lists, size_t number, size_t *n);

/* Moves the compressed blocks to the spill. 0 or its error: what is left is in memory. */
int rfn_lists_spill(struct rfn_lists *lists, const struct rfn_spill *spill);
size_t rfn_lists_bytes(const struct rfn_lists *lists); /* held in memory */

#endif
