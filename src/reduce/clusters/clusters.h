/* clusters.h - a set of clusters that ranks join one by one and sets of ranks all at once.
 *
 * What a rank brings is its call-path signature (path_signature.h) and its *parameters*: a list of
 * fields, each of a call path and one of its inputs, and for each field some words. Ranks with
 * equal signatures are a main cluster. Of these, ranks with the same list of fields are a *shape*:
 * only their words can be compared one by one. Of these, ranks with equal words are a *variant*.
 *
 *   shape    fields, words of its lowest rank
 *            variants: a set of ranks, and the words in which they differ from the lowest rank's
 *
 * What a set contains is a function of the ranks in it alone: merging is associative and
 * commutative, and a set's bytes are equal however it came about. Its memory is that of the result:
 * words once per shape, differences once per variant, ranks in blocks. So it can go up a tree of
 * ranks, or fold an archive.
 *
 * Variants are exact. Counts that are nearly equal are only put together in the end, by
 * rfn_shape_divide: "within 5 % of the cluster's lowest rank" is no equivalence, and would make the
 * result depend on the tree.
 */
#ifndef RFN_REDUCE_CLUSTERS_CLUSTERS_H
#define RFN_REDUCE_CLUSTERS_CLUSTERS_H

#include "reduce/clusters/rank_set.h"
#include "refrain/clusters.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words per entry of a field: PEER three (offset from the own rank modulo the size of the
 * communicator, or a special value; that size; number of the communicator); RANGE and COUNT least
 * and most; COMM number, kind, size; CALL none; SIGNATURE what stands for all parameters, and is a
 * rank's only field then; others one. */
struct rfn_cluster_field {
    uint64_t path;  /* key of the call path */
    uint32_t input; /* which input of its function */
    uint32_t role;  /* enum rfn_cluster_role */
    uint32_t n_words;
};

struct rfn_cluster_difference {
    uint32_t slot; /* number of the word */
    int64_t value;
};

struct rfn_cluster_variant {
    struct rfn_rank_set ranks;
    struct rfn_cluster_difference *differences; /* slots ascending */
    size_t n_differences;
};

struct rfn_cluster_shape {
    uint64_t signature, layout; /* layout: hash of the fields */
    struct rfn_cluster_field *fields;
    size_t n_fields;
    int64_t *words;
    size_t n_words;
    struct rfn_cluster_variant *variants; /* by lowest rank; the first has no differences */
    size_t n_variants, capacity;
    uint64_t calls_least, calls_most; /* of a rank */
};

/* All zeros is the empty set. */
struct rfn_clusters {
    struct rfn_cluster_shape *shapes; /* by lowest rank */
    size_t n, capacity;
};

void rfn_clusters_release(struct rfn_clusters *clusters);

struct rfn_cluster_member {
    uint32_t rank;
    uint64_t signature, calls;
    const struct rfn_cluster_field *fields; /* copied, as are the words */
    size_t n_fields;
    const int64_t *words;
};

/* Makes a set (that was empty) of one rank. RFN_E_NOMEM. */
int rfn_clusters_begin(struct rfn_clusters *clusters, const struct rfn_cluster_member *member);
/* Takes over what another set has, whose ranks are others; it is empty afterwards. RFN_E_NOMEM:
 * both are fit for release only. O(what both have, and the ranks of variants that meet). */
int rfn_clusters_merge(struct rfn_clusters *clusters, struct rfn_clusters *other);

/* The set as bytes (doc/clustering.md, Format). */
void rfn_clusters_write(const struct rfn_clusters *clusters, struct rfn_buf *out);
/* Reads a set of ranks below n_ranks into an empty one. RFN_E_CORRUPT, RFN_E_NOMEM: what is there
 * is to be released. */
int rfn_clusters_read(struct rfn_clusters *clusters, struct rfn_reader *reader, uint32_t n_ranks);

/* The word of a variant. */
int64_t rfn_variant_word(const struct rfn_cluster_shape *shape,
                         const struct rfn_cluster_variant *variant, uint32_t slot);
/* The slots in which variants differ, ascending, to be freed by the caller. RFN_E_NOMEM. */
int rfn_shape_differing(const struct rfn_cluster_shape *shape, uint32_t **slots, size_t *n);
/* The field that a slot belongs to; *first: its first slot. */
const struct rfn_cluster_field *rfn_shape_field(const struct rfn_cluster_shape *shape,
                                                uint32_t slot, uint32_t *first);

/* Puts variants together to sub-clusters: groups[variant] becomes the number of its sub-cluster,
 * from 0 in order of the lowest ranks. A variant belongs to the first sub-cluster whose lowest
 * rank has equal words; of a COUNT, words that differ by at most `tolerance` times the lowest
 * rank's. ignored[slot] (may be NULL): words that do not count. Returns how many there are, or
 * RFN_E_NOMEM. O(variants * sub-clusters that differ in counts only). */
int64_t rfn_shape_divide(const struct rfn_cluster_shape *shape, double tolerance,
                         const bool *ignored, uint32_t *groups);

#endif
