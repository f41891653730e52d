/* merge.h - the ranks meet: equal structures, equal values and equal definitions are found along a
 * tree, and every one gets a number.
 *
 * Each process contributes its definitions (modules, paths, datatypes, ...: content and 64-bit
 * hash) and for each of its streams two 128-bit digests: of the structure (groups) and of the value
 * columns (value sets). On the way up, a node holds the union of what its subtree contributed,
 * in order of first appearance by rank. Rank 0 then has the result; the hashes and digests in order
 * of their numbers come down, so that every rank can translate its own references and knows which
 * structures and value sets it is the one to write: those of which it has the first stream.
 *
 * Cost: O(log P) steps; messages and memory of the size of the result of the subtree.
 */
#ifndef RFN_REDUCE_MERGE_H
#define RFN_REDUCE_MERGE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "reduce/exchange.h"
#include "reduce/runs.h"

#include <stddef.h>
#include <stdint.h>

/* In the order in which an archive lists them. Paths refer to modules, datatypes to datatypes: by
 * hash, and what is referred to is contributed before. */
enum rfn_definition_kind {
    RFN_DEFINITION_MODULE,
    RFN_DEFINITION_PATH,
    RFN_DEFINITION_FUNCTION,
    RFN_DEFINITION_DATATYPE,
    RFN_DEFINITION_COMM,
    RFN_DEFINITION_HOST,
    RFN_DEFINITION_REGION,
    RFN_DEFINITION_KINDS
};

struct rfn_definition {
    uint64_t hash;
    const uint8_t *bytes; /* content; NULL on ranks other than 0 after the merge */
    size_t size;
};

/* The definitions of one kind, by number. */
struct rfn_definitions {
    struct rfn_definition *items;
    size_t n, capacity;
    struct rfn_map by_hash; /* hash -> number */
};

/* One of the distinct structures or value sets. */
struct rfn_distinct {
    struct rfn_hash128 digest;
    uint64_t first; /* stream (numbered over all ranks) that has it and writes it */
};

struct rfn_distincts {
    struct rfn_distinct *items;
    size_t n, capacity;
    struct rfn_map by_hash; /* low half of the digest -> number */
};

struct rfn_merge {
    struct rfn_definitions definitions[RFN_DEFINITION_KINDS];
    struct rfn_distincts groups, values;
    struct rfn_arena arena; /* bytes of the definitions */
    uint64_t content_bytes; /* in it */
};

void rfn_merge_init(struct rfn_merge *merge);
void rfn_merge_release(struct rfn_merge *merge);

/* Contributes a definition (bytes are copied). hash 0: the hash of the bytes is taken. Returns the
 * hash through *used (may be NULL). Equal hashes are the same definition. */
int rfn_merge_define(struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t hash,
                     const void *bytes, size_t size, uint64_t *used);
/* Contributes a stream's digests; streams in ascending order. */
int rfn_merge_stream(struct rfn_merge *merge, uint64_t stream, struct rfn_hash128 structure,
                     struct rfn_hash128 values);

/* Collective. Afterwards the numbers are final and equal on all ranks. error: this rank has failed
 * before and only takes part so that nobody hangs; every rank then returns an error. */
int rfn_merge_run(struct rfn_merge *merge, struct rfn_exchange *exchange, int error);

/* The number of a definition or -1; of a digest or -1. */
int64_t rfn_merge_number(const struct rfn_merge *merge, enum rfn_definition_kind kind,
                         uint64_t hash);
int64_t rfn_merge_distinct(const struct rfn_distincts *distincts, struct rfn_hash128 digest);

/* ---- tables: words per member of a group, joined up the tree ---- */

/* n_groups tables; table g has n_slots[g] sequences (0 until a member has contributed). */
struct rfn_tables {
    struct rfn_table {
        struct rfn_runs *slots;
        size_t n_slots;
    } * tables;
    size_t n;
};

int rfn_tables_init(struct rfn_tables *tables, size_t n);
void rfn_tables_release(struct rfn_tables *tables);
/* The table with room for n_slots sequences; NULL when out of memory or when it has another
 * number of slots. */
struct rfn_table *rfn_tables_use(struct rfn_tables *tables, size_t table, size_t n_slots);
/* Collective: afterwards rank 0 holds the words of all ranks. Several at once are one message. */
int rfn_tables_run(struct rfn_tables *const *tables, size_t n, struct rfn_exchange *exchange,
                   int error);

/* ---- what ranks must know of each other before they merge ---- */

enum {
    RFN_SURVEY_STREAMS,
    RFN_SURVEY_EVENTS,
    RFN_SURVEY_WRITES,  /* to the journals */
    RFN_SURVEY_WRITTEN, /* bytes */
    RFN_SURVEY_COUNTS = 6
};

/* What is counted is the caller's affair, but for the names above. */
struct rfn_survey {
    struct rfn_map *set; /* keys, with how often each was contributed (1, or 2: more than once):
                            becomes the union over all ranks */
    uint64_t counts[RFN_SURVEY_COUNTS]; /* of this rank */
    uint64_t before[RFN_SURVEY_COUNTS]; /* afterwards: the sums over the ranks before this one, */
    uint64_t total[RFN_SURVEY_COUNTS];  /* and over all */
    uint64_t first;                     /* rank 0's word, afterwards on all ranks */
    int64_t least;                      /* a number, afterwards the smallest over all ranks */
};

/* Contributes a key, once more; RFN_E_NOMEM. */
int rfn_survey_add(struct rfn_map *set, uint64_t key);

/* Collective: up the tree and down again. A failure of any rank (error < 0) reaches all. */
int rfn_survey_run(struct rfn_survey *survey, struct rfn_exchange *exchange, int error);

#endif
