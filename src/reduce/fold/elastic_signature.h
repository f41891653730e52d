/* elastic_signature.h - a sequence of letters up to repetition, while it is made: the signature of
 * what has come so far is known after each letter.
 *
 * How often something is repeated shall not count where ranks are compared, and a single iteration
 * is as good as a loop: `u w w v` and `u w v` must have one signature for all sequences u, w, v.
 * What these demands equate, and nothing else, is the free idempotent semigroup (free band). Two
 * sequences are equal in it exactly if they have the same letters, and
 *
 *   - the last letter to appear for the first time is the same, and what stands before its first
 *     occurrence is equal;
 *   - the first letter to appear for the last time is the same, and what stands behind its last
 *     occurrence is equal
 *
 * (Green and Rees 1952). The signature is a hash of that recursive form, 0 of no letter at all:
 *
 *     S(x) = H(S(prefix), last new letter, first last letter, S(suffix))
 *
 * On line. Letters are kept in order of their last occurrences, newest first. Of the sequence only
 * its stretches [k] are looked at that go from behind the last occurrence of the k-th of these
 * letters (k from 0) to the end: [k] has k letters, [0] none, and the longest one, with all n
 * letters, is the sequence. The suffix of [k] is [k - 1], its first last letter the one in front of
 * it. Its prefix is what [k - 1] was when its last new letter came, and stays so as long as [k]
 * has no new letter: two words per stretch. When a letter a comes that is the d-th of these, each
 * shorter stretch has a new letter: [k], k < d, becomes [k + 1] with [k] as its prefix and a as
 * its last new letter. Of the longer ones only suffixes change, which are hashed when somebody
 * asks. So a letter takes O(d), at most as long as there are letters, whatever came before.
 *
 * Programs repeat what they do, if not in the same loop, and what comes of a sequence is known
 * where an equal one had the same letter next. So these steps are kept, from the state of the
 * stretches (a hash of them) and a letter to the next state, and a known one is a look into a
 * table. Stretches are left as they are meanwhile; letters that they have not taken yet wait in a
 * list, until a step is new, or the state is theirs again: then what waits would change nothing.
 *
 * (Radoszewski and Rytter 2010 test whether two given sequences are equal in time length * letters,
 * level by level; this does it in that order of time for a sequence that nobody keeps.)
 */
#ifndef RFN_REDUCE_FOLD_ELASTIC_SIGNATURE_H
#define RFN_REDUCE_FOLD_ELASTIC_SIGNATURE_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RFN_UNSIGNED = 0 }; /* where a signature is not known */

struct rfn_elastic_level;
struct rfn_elastic_steps;

/* {0} is the empty sequence. */
struct rfn_elastic {
    struct rfn_elastic_level *levels; /* [1] to [n] */
    size_t n, capacity;               /* different letters */
    size_t hashed;                    /* so many of the levels have their hash */
    uint64_t taken, work;             /* letters, but for equal neighbours; hashes made for them */
    struct rfn_elastic_steps *steps;  /* that are known */
    uint64_t letter, state;           /* the last one, and what it led to */
    uint64_t levels_state;            /* that which the levels have */
    size_t n_waiting;                 /* letters that lead from there to `state` */
};

void rfn_elastic_release(struct rfn_elastic *elastic);
size_t rfn_elastic_bytes(const struct rfn_elastic *elastic); /* of memory */

/* Letters are hashes, other than 0. RFN_E_NOMEM: to be released. */
int rfn_elastic_append(struct rfn_elastic *elastic, uint64_t letter);

/* Whether it has taken more hashes, of some 4 ns, than may be spent on that while a program runs:
 * 2^21 once, which is more than a loop of a thousand letters takes until it is known, and 32 per
 * letter. */
bool rfn_elastic_is_slow(const struct rfn_elastic *elastic);

/* O(different letters) after a change, else O(1). */
uint64_t rfn_elastic_signature(struct rfn_elastic *elastic);

#endif
