/* vector_index.h - finds the lowest-numbered of many vectors that is similar to a given one,
 * without trying all (doc/trace-profiling.md, The index).
 *
 * Vectors get their numbers in the order in which they are added. The index consists of k-d trees,
 * each over a range of numbers, the oldest first: a multiple of 16 with a power of two; the newest
 * up to 15 vectors are in none. As in a binary counter, 16 new ones become a tree, and two trees of
 * one size a larger one. A vector is moved at most once per doubling of their number.
 *
 * A search gives exactly what trying the vectors in order would: the header of the page says why.
 */
#ifndef RFN_REDUCE_SEGMENTS_VECTOR_INDEX_H
#define RFN_REDUCE_SEGMENTS_VECTOR_INDEX_H

#include "reduce/segments/similarity.h"

#define RFN_INDEX_NONE UINT32_MAX /* no vector */

struct rfn_index_tree;

struct rfn_vector_index {
    size_t length;    /* of each vector, transformed */
    double *elements; /* of all vectors, one after the other */
    double *largest;  /* of each vector */
    double *allowed;  /* what the largest element of each vector allows */
    uint32_t n;       /* vectors */
    size_t capacity, largest_capacity, allowed_capacity; /* elements; vectors */
    struct rfn_index_tree *trees;
    size_t n_trees, trees_capacity;
    uint32_t n_in_trees;
    uint32_t last;  /* what the last search found, or RFN_INDEX_NONE */
    double *shares; /* per element, for a search; all 0 between searches */
    /* What searches did: vectors compared, nodes of trees visited. */
    uint64_t comparisons, visits;
};

/* length: of transformed vectors, at least 1. Allocates nothing. */
void rfn_vector_index_init(struct rfn_vector_index *index, size_t length);
void rfn_vector_index_release(struct rfn_vector_index *index);

/* Adds a vector, with the next number, copying its elements. RFN_E_NOMEM (it is then not in the
 * index). */
int rfn_vector_index_add(struct rfn_vector_index *index, const struct rfn_criterion *criterion,
                         const struct rfn_wave *vector);

/* The lowest number of a vector that is similar to this one, or RFN_INDEX_NONE. The criterion
 * must be the one that vectors were added with. */
uint32_t rfn_vector_index_find(struct rfn_vector_index *index,
                               const struct rfn_criterion *criterion,
                               const struct rfn_wave *vector);
/* The same by trying all in order. */
uint32_t rfn_vector_index_find_in_order(struct rfn_vector_index *index,
                                        const struct rfn_criterion *criterion,
                                        const struct rfn_wave *vector);

/* A vector of the index; its elements are borrowed until the next one is added. */
struct rfn_wave rfn_vector_index_vector(const struct rfn_vector_index *index, uint32_t number);
/* Bytes held, besides the struct itself. */
size_t rfn_vector_index_bytes(const struct rfn_vector_index *index);

#endif
