/* path_word.h - a sequence of call paths, up to repetition: its canonical form.
 *
 * Trip counts do not count when ranks are compared, and one iteration is as good as many: so `w w`
 * and `w` must be equal for every stretch w, wherever it stands. What these demands equate, and
 * nothing else, is the free idempotent semigroup (the free band). Two sequences are equal in it
 * exactly if they have the same letters, and
 *
 *   - the last letter to appear for the first time is the same, and what stands before its first
 *     occurrence is equal;
 *   - the first letter to appear for the last time is the same, and what stands behind its last
 *     occurrence is equal
 *
 * (Green and Rees 1952; Siekmann and Szabo 1982 have it as a rewriting system). That recursion has
 * no more than two sub-sequences per place and number of letters, so a hash of the canonical form
 * is computed level by level in O(length * letters) (the idea of Radoszewski and Rytter 2010).
 * Sequences are shortened meanwhile: the middle of a stretch, between the shortest prefix and the
 * shortest suffix that have all its letters, says nothing.
 */
#ifndef RFN_REDUCE_PATH_WORD_H
#define RFN_REDUCE_PATH_WORD_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Letters are numbers below n_letters. */
struct rfn_path_word {
    uint32_t *letters;
    size_t n, capacity;
    size_t reduce_at; /* length at which it is shortened */
};

/* What shortening needs; one for many words. */
struct rfn_path_alphabet {
    uint32_t n_letters;
    uint64_t *seen; /* per letter */
    uint64_t stamp;
};

enum { RFN_PATH_WORD_MAX = 1 << 24 }; /* letters */

int rfn_path_alphabet_init(struct rfn_path_alphabet *alphabet, uint32_t n_letters); /* NOMEM */
void rfn_path_alphabet_release(struct rfn_path_alphabet *alphabet);

void rfn_path_word_release(struct rfn_path_word *word);
/* Appends n letters, and shortens the word now and then: amortized O(letters) each, in fact mostly
 * O(1). RFN_E_NOMEM; RFN_E_RANGE when it is longer than RFN_PATH_WORD_MAX. */
int rfn_path_word_append(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet,
                         const uint32_t *letters, size_t n);
/* Makes it shorter, where that is easy. */
void rfn_path_word_shorten(struct rfn_path_word *word, struct rfn_path_alphabet *alphabet);

/* The hash of the canonical form. hashes: what each letter is, whatever its number. O(n *
 * letters); when that is beyond 2^28 the word itself is hashed, which then is not canonical.
 * RFN_E_NOMEM. */
int rfn_path_word_hash(const struct rfn_path_word *word, const uint64_t *hashes, uint32_t n_letters,
                       uint64_t *hash);

#endif
