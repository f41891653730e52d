/* merge.h - the ranks merge: equal structures, equal values and equal definitions are found along a
 * tree, and every one gets a number.
 *
 * Each process contributes its definitions (modules, paths, datatypes, ...: content and 64-bit
 * hash) and for each of its streams digests (stream_classes.h). On the way up, a node holds the
 * union of its subtree, in order of first appearance by rank. What parent and child both have, in
 * the same order, is not sent: hashes that the parent shows say so. Rank 0 numbers the result; down
 * come the numbers of what each child brought, so that every rank can translate its references and
 * knows which structures and value sets it is the one to write.
 *
 * Definitions can be merged before the end, as often as ranks like. Only new ones go up the tree
 * then, and get numbers behind those that are there.
 *
 * Cost: O(log P) steps; messages and memory of the size of the result of the subtree.
 */
#ifndef RFN_REDUCE_MERGE_MERGE_H
#define RFN_REDUCE_MERGE_MERGE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "reduce/merge/exchange.h"
#include "reduce/merge/rank_runs.h"
#include "reduce/merge/stream_classes.h"
#include "refrain/archive.h"

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
    const uint8_t *bytes; /* content; NULL where it is not known, and in the end but on rank 0 */
    size_t size;
    uint64_t number; /* in the end */
};

/* The definitions of one kind that the process's subtree has; on rank 0, in the end by number. */
struct rfn_definitions {
    struct rfn_definition *items;
    size_t n, capacity;
    size_t merged;          /* of them in runs so far: the parent knows these, numbers are final */
    struct rfn_map by_hash; /* hash -> place */
};

struct rfn_merge {
    struct rfn_definitions definitions[RFN_DEFINITION_KINDS];
    struct rfn_stream_classes streams;
    uint64_t together;      /* on rank 0: rfn_stream_classes_number; 0 at first */
    struct rfn_arena arena; /* bytes of the definitions */
    uint64_t content_bytes; /* in it */
    /* Of each child, what its definitions are here. */
    struct rfn_mapping children[RFN_EXCHANGE_CHILDREN][RFN_DEFINITION_KINDS];
    int64_t held; /* bytes that its exchange counts */
    int error;    /* of an earlier run: ranks may not agree any more, and later runs fail */
};

void rfn_merge_init(struct rfn_merge *merge);
void rfn_merge_release(struct rfn_merge *merge);

/* Contributes a definition (bytes are copied). hash 0: the hash of the bytes is taken. Returns the
 * hash through *used (may be NULL). Equal hashes are the same definition. bytes NULL: another
 * process contributes it, this one only wants to know its number. */
int rfn_merge_define(struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t hash,
                     const void *bytes, size_t size, uint64_t *used);
/* What has been contributed under a hash, as far as this process knows; NULL: nothing. */
const struct rfn_definition *rfn_merge_definition(const struct rfn_merge *merge,
                                                  enum rfn_definition_kind kind, uint64_t hash);
/* Contributes a stream's digests; streams in ascending order. RFN_E_NOMEM. */
int rfn_merge_stream(struct rfn_merge *merge, const struct rfn_stream_digests *digests);

/* Definitions that no run has merged. */
uint64_t rfn_merge_new(const struct rfn_merge *merge);
/* Collective, any number of times before rfn_merge_run and with its error: merges what definitions
 * there are so far. Contents have to be there, in the same run, by whoever contributes them. */
int rfn_merge_definitions(struct rfn_merge *merge, struct rfn_exchange *exchange, int error);

/* Collective. Afterwards the numbers are final and equal on all ranks. error: this rank has failed
 * before and only takes part so that nobody hangs; every rank then returns an error. */
int rfn_merge_run(struct rfn_merge *merge, struct rfn_exchange *exchange, int error);

/* The number of a definition of the process's subtree, or -1. */
int64_t rfn_merge_number(const struct rfn_merge *merge, enum rfn_definition_kind kind,
                         uint64_t hash);

/* ---- tables: words per member of a group, joined up the tree ---- */

/* n tables; each has n_slots sequences (0 until a member has contributed). */
struct rfn_tables {
    struct rfn_table {
        struct rfn_rank_runs *slots;
        size_t n_slots;
    } * tables;
    size_t n;
};

int rfn_tables_init(struct rfn_tables *tables, size_t n);
void rfn_tables_release(struct rfn_tables *tables);
/* The table with room for n_slots sequences; NULL when out of memory or when it has another
 * number of slots. */
struct rfn_table *rfn_tables_use(struct rfn_tables *tables, size_t table, size_t n_slots);

/* ---- parcels: bytes that ranks hand to rank 0 as they are ---- */

/* Each has a kind and a number, and one rank that brings it. */
struct rfn_root_blob {
    uint32_t kind;
    uint64_t number;
    const uint8_t *bytes; /* borrowed from the parcels, until there are more */
    size_t size;
};

struct rfn_root_blobs {
    struct rfn_buf bytes; /* per parcel: varint kind, varint number, blob */
};

void rfn_root_blobs_release(struct rfn_root_blobs *parcels);
/* RFN_E_NOMEM. */
int rfn_root_blobs_add(struct rfn_root_blobs *parcels, uint32_t kind, uint64_t number,
                       const void *bytes, size_t size);
/* Into a message, and from one: RFN_E_NOMEM, RFN_E_EXCHANGE. */
void rfn_root_blobs_write(const struct rfn_root_blobs *parcels, struct rfn_buf *out);
int rfn_root_blobs_join(struct rfn_root_blobs *parcels, struct rfn_reader *reader);
/* The next one, or false; the reader is over parcels->bytes. */
bool rfn_root_blobs_next(struct rfn_reader *reader, struct rfn_root_blob *parcel);
size_t rfn_root_blobs_bytes(const struct rfn_root_blobs *parcels);

/* What goes to rank 0 in one message per rank. */
enum { RFN_COLLECTED_MESSAGES, RFN_COLLECTED_BYTES, RFN_COLLECTED_SUMS = 5 };
struct rfn_collection {
    struct rfn_tables *const *tables;
    size_t n_tables;
    struct rfn_root_blobs *parcels;
    /* What this rank has sent so far, to which the messages of the collection are added where they
     * arrive; the others are the caller's affair. */
    uint64_t sums[RFN_COLLECTED_SUMS];
};

/* Collective: afterwards rank 0 holds the words and parcels of all ranks, and the sums over them.
 */
int rfn_collect(struct rfn_collection *collection, struct rfn_exchange *exchange, int error);

/* ---- what ranks must know of each other before they merge ---- */

enum {
    RFN_SURVEY_STREAMS,
    RFN_SURVEY_EVENTS,
    RFN_SURVEY_WRITES,  /* to the journals */
    RFN_SURVEY_WRITTEN, /* bytes */
    RFN_SURVEY_LONG,    /* streams whose times are too long to be kept */
    RFN_SURVEY_COUNTS = 10
};

/* What is counted is the caller's affair, but for the names above. */
struct rfn_survey {
    struct rfn_map *set; /* keys, with how often each was contributed (1, or 2: more than once):
                            becomes the union over all ranks */
    bool set_for_first;  /* only rank 0 gets the union, others some of it */
    uint64_t counts[RFN_SURVEY_COUNTS]; /* of this rank */
    uint64_t before; /* afterwards: of the first count, the sum over the ranks before this one */
    uint64_t total[RFN_SURVEY_COUNTS]; /* afterwards, over all ranks: all on rank 0, of which others
                                          learn the first one */
    int64_t least;                     /* a number, afterwards the smallest over all ranks */
};

/* Contributes a key, once more; RFN_E_NOMEM. */
int rfn_survey_add(struct rfn_map *set, uint64_t key);

/* Collective: up the tree and down again. A failure of any rank (error < 0) reaches all. */
int rfn_survey_run(struct rfn_survey *survey, struct rfn_exchange *exchange, int error);

/* ---- when ranks merge next, while they run ---- */

/* Calls until then, at least 1. Ranks that work in step merge in calls that all of them make, and
 * count these. Since the last time they made `calls` (at least 1), in which `done` segments or ns
 * went by; `every` (at least 1) of that makes an interval. The number at most doubles: the interval
 * is approached from below, by few merges, whatever the calls before were like. */
uint64_t rfn_merge_interval_next(uint64_t calls, uint64_t done, uint64_t every);

#endif
