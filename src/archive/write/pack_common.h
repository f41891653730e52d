/* pack_common.h - collects what structures of several shapes have in common, and writes it and them
 * as COMMON and CLUSTERS have them (refrain-archive(5); common_loops.h reads it).
 *
 * Sites, symbols and loops are numbered in order of first appearance. One of them is the same as
 * another by its content in common numbers, with a digest of 128 bits; of symbols of one structure
 * with equal content the k-th ones of all structures are the same. So a structure that has one
 * twice even so (two loops with equal bodies) cannot refer to what is common, and is to stay as it
 * is.
 */
#ifndef RFN_ARCHIVE_WRITE_PACK_COMMON_H
#define RFN_ARCHIVE_WRITE_PACK_COMMON_H

#include "archive/read/dictionary.h"
#include "base/buf.h"
#include "base/map.h"

struct rfn_common_entry {
    uint64_t rest;      /* of the digest: the map has the other half */
    uint64_t structure; /* the last one that has it, from 1 on */
    uint32_t times;     /* that this one has it so far */
};

/* Sites, symbols or loops. */
struct rfn_common_list {
    struct rfn_map numbers;
    struct rfn_common_entry *entries;
    size_t n, capacity;
};

struct rfn_common_table {
    const struct rfn_dictionary *dictionary;
    size_t max_bytes; /* of memory: a structure that comes when there are more has no common form,
                         nor one with which COMMON could become too large */
    uint64_t structures; /* that were added */
    struct rfn_common_list sites, symbols, loops;
    struct rfn_buf site_bytes, heads, errors, moved, inputs, loop_bytes;
    uint32_t site_before; /* of the last symbol */
};

void rfn_common_table_init(struct rfn_common_table *table, const struct rfn_dictionary *dictionary,
                           size_t max_bytes);
void rfn_common_table_release(struct rfn_common_table *table);

/* Of memory. */
size_t rfn_common_table_bytes(const struct rfn_common_table *table);

/* Writes a structure, given as its numbers, in the common form, and adds to the table what is new.
 * RFN_E_NOMEM; RFN_E_UNSUPPORTED: it has no such form, and what was written is of no use. */
int rfn_common_add(struct rfn_common_table *table, const uint64_t *numbers, size_t n,
                   struct rfn_buf *out);

/* Writes the payload COMMON. RFN_E_NOMEM. */
int rfn_common_pack(const struct rfn_common_table *table, struct rfn_buf *out);

#endif
