/* path_word.h - a sequence of call paths that is to be used again, short: what is equal to it up to
 * repetition (elastic_signature.h) and has fewer calls, where that is easy to find. The middle of a
 * stretch, between the shortest prefix and the shortest suffix that have all its call hashes, says
 * nothing; the same holds for what is before and behind (Siekmann and Szabo 1982 have it as a
 * rewriting system).
 */
#ifndef RFN_REDUCE_CLUSTERS_PATH_WORD_H
#define RFN_REDUCE_CLUSTERS_PATH_WORD_H

#include "refrain/error.h"

#include <stddef.h>
#include <stdint.h>

/* The numbers of its call hashes, below n_call_hashes. */
struct rfn_path_word {
    uint32_t *numbers;
    size_t n, capacity;
    size_t reduce_at; /* length at which it is shortened */
};

/* What shortening needs; one for many words. */
struct rfn_path_alphabet {
    uint64_t *seen; /* per call hash */
    uint64_t stamp;
};

enum { RFN_PATH_WORD_MAX = 1 << 24 }; /* calls */

int rfn_path_alphabet_init(struct rfn_path_alphabet *alphabet, uint32_t n_call_hashes); /* NOMEM */
void rfn_path_alphabet_release(struct rfn_path_alphabet *alphabet);

void rfn_path_word_release(struct rfn_path_word *word);
/* Appends n calls, and shortens the word now and then: amortized O(call hashes) each, in fact
 * mostly O(1). RFN_E_NOMEM; RFN_E_RANGE when it is longer than RFN_PATH_WORD_MAX. */
int rfn_path_word_append(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet,
                         const uint32_t *numbers, size_t n);
/* Makes it shorter, where that is easy. */
void rfn_path_word_shorten(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet);

/* Its elastic signature. hashes: the call hash of each number. O(n * call hashes); when that is
 * beyond 2^28 it is a hash of the word as it is, which may tell apart what is equal.
 * RFN_E_NOMEM. */
int rfn_path_word_hash(const struct rfn_path_word *word, const uint64_t *hashes,
                       uint32_t n_call_hashes, uint64_t *hash);

#endif
