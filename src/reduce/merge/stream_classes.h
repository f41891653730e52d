/* stream_classes.h - the streams of all ranks by what they have in common: equal structures are a
 * group, groups that differ only in numbers a shape, equal values of a group a value set, and value
 * sets of several groups may have one content. Streams of a value set have one call-path signature
 * (RFN_UNSIGNED until one of them was signed); those with equal ones are a main cluster.
 *
 * Each process adds the digests of its streams. On the way up a tree of ranks a node holds each
 * different thing of its subtree once, in order of first appearance; rank 0 numbers them and
 * decides which of them are brought to it, to be stored together: small ones (doc/clustering.md).
 * On the way down each node learns that of the things of its own subtree.
 */
#ifndef RFN_REDUCE_MERGE_STREAM_CLASSES_H
#define RFN_REDUCE_MERGE_STREAM_CLASSES_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/map.h"

/* ---- numbers of a child in the tree, and of its parent ---- */

/* On the way up a node notes, for each of a child's things, which of its own it is. On the way down
 * it tells the child what became of these: their final numbers, as runs, since what is alike has
 * consecutive ones. */
struct rfn_mapping {
    struct rfn_mapped {
        uint32_t to;  /* the own thing's place */
        bool created; /* it is the child who brought it */
    } * things;       /* by the child's places */
    size_t n, capacity;
};

void rfn_mapping_release(struct rfn_mapping *mapping);
/* The next thing of the child. RFN_E_NOMEM. */
int rfn_mapping_add(struct rfn_mapping *mapping, uint32_t to, bool created);
/* The next n things of the child, whose places here follow each other. RFN_E_NOMEM. */
int rfn_mapping_add_run(struct rfn_mapping *mapping, size_t first, size_t n);

/* What became of a thing: its final number, and two bits that mean what users say. */
struct rfn_fate {
    uint64_t number;
    uint8_t bits;
};

void rfn_fates_write(const struct rfn_fate *fates, size_t n, struct rfn_buf *out);
/* Of so many things, whose numbers are below `total`. RFN_E_EXCHANGE. */
int rfn_fates_read(struct rfn_fate *fates, size_t n, uint64_t total, struct rfn_reader *reader);

/* ---- the kinds ---- */

/* A kind refers only to those before it. */
enum rfn_stream_class {
    RFN_KIND_OF_SHAPE,
    RFN_KIND_OF_CONTENT,
    RFN_KIND_OF_GROUP,  /* of a shape */
    RFN_KIND_OF_VALUES, /* of a group and a content */
    RFN_STREAM_KINDS
};

struct rfn_stream_digests {
    uint64_t signature;           /* of its calls (path_signature.h), or RFN_UNSIGNED */
    uint64_t shape;               /* of the structure without the numbers that may differ */
    struct rfn_hash128 structure; /* of all of it */
    struct rfn_hash128 content;   /* of the values */
    uint64_t shape_bytes, content_bytes;
};

enum rfn_kind_bits {
    RFN_KIND_FIRST = 1,   /* whoever brought it here is the first of all to have it */
    RFN_KIND_TOGETHER = 2 /* rank 0 gets it, and writes it */
};

struct rfn_stream_class_bit {
    struct rfn_hash128 digest;
    uint64_t signature; /* of value sets; of a shape, that of the first signed stream of it */
    uint64_t bytes;
    uint32_t of[2];       /* what it refers to, by place */
    uint32_t stream;      /* the process's stream that brought it, or UINT32_MAX */
    struct rfn_fate fate; /* in the end */
};

struct rfn_stream_class_bits {
    struct rfn_stream_class_bit *items;
    size_t n, capacity;
    struct rfn_map by_key;
    uint64_t total; /* in the end: over all ranks */
};

struct rfn_stream_classes {
    struct rfn_stream_class_bits of[RFN_STREAM_KINDS];
    struct rfn_own_classes {
        uint32_t group, values;
    } * own; /* per stream of the process */
    size_t n_own, capacity;
};

void rfn_stream_classes_release(struct rfn_stream_classes *kinds);

/* The process's next stream. RFN_E_NOMEM. */
int rfn_stream_classes_add(struct rfn_stream_classes *kinds,
                           const struct rfn_stream_digests *digests);

/* What is sent up, and read there: a child's things become the node's. RFN_E_NOMEM,
 * RFN_E_EXCHANGE. */
void rfn_stream_classes_write(const struct rfn_stream_classes *kinds, struct rfn_buf *out);
int rfn_stream_classes_join(struct rfn_stream_classes *kinds,
                            struct rfn_mapping mappings[RFN_STREAM_KINDS],
                            struct rfn_reader *reader);

/* A hash of what would be sent up. Where a child's is the node's, what the child has is what the
 * node has, in the same order: that need not be sent, and the mappings say so. RFN_E_NOMEM. */
int rfn_stream_classes_hash(const struct rfn_stream_classes *kinds, uint64_t *hash);
int rfn_stream_classes_recognize(const struct rfn_stream_classes *kinds,
                                 struct rfn_mapping mappings[RFN_STREAM_KINDS]);

/* On rank 0: numbers from 0. together: shapes whose first streams are of one main cluster follow
 * each other, as do groups of a shape and value sets of a group; up to so many bytes of structures,
 * and of values, come to rank 0. 0: numbers are in order of first appearance, and nothing does.
 * RFN_E_NOMEM. */
int rfn_stream_classes_number(struct rfn_stream_classes *kinds, uint64_t together);

/* What a child is told. */
int rfn_stream_classes_tell(const struct rfn_stream_classes *kinds,
                            const struct rfn_mapping mappings[RFN_STREAM_KINDS],
                            struct rfn_buf *out);
int rfn_stream_classes_learn(struct rfn_stream_classes *kinds, struct rfn_reader *reader);

/* In the end: the number of what a stream of the process has, whether this stream is the one to
 * bring or write it, and whether it goes to rank 0. */
struct rfn_stream_class_of {
    uint64_t number;
    bool first, together;
};

struct rfn_stream_class_of rfn_stream_class_of(const struct rfn_stream_classes *kinds,
                                               size_t stream, enum rfn_stream_class kind);

/* On rank 0 in the end: the signature that streams of a value set have, by the set's number;
 * RFN_UNSIGNED where none of them has one, the first that came where there are several. To be
 * freed, NULL: RFN_E_NOMEM. */
uint64_t *rfn_stream_classes_signatures(const struct rfn_stream_classes *kinds);

/* Bytes of memory. */
int64_t rfn_stream_classes_bytes(const struct rfn_stream_classes *kinds);

#endif
