/* elastic_signature.h - a sequence of calls up to repetition, while it is made: the signature of
 * what has come so far is known after each call. A call is its call hash (function and call path).
 *
 * How often something is repeated shall not count where ranks are compared, and a single iteration
 * is as good as a loop: `u w w v` and `u w v` must have one signature for all sequences u, w, v.
 * What these demands equate, and nothing else, is the free idempotent semigroup (free band). Two
 * sequences are equal in it exactly if they have the same call hashes, and
 *
 *   - the last call hash to appear for the first time is the same, and what stands before its first
 *     occurrence is equal;
 *   - the first call hash to appear for the last time is the same, and what stands behind its last
 *     occurrence is equal
 *
 * (Green and Rees 1952). The signature is a hash of that recursive form, 0 of no call hash at all:
 *
 *     S(x) = H(S(prefix), last new call hash, first last call hash, S(suffix))
 *
 * On line. Call hashes are kept in order of their last occurrences, newest first. Of the sequence
 * only its stretches [k] are looked at that go from behind the last occurrence of the k-th of these
 * call hashes (k from 0) to the end: [k] has k call hashes, [0] none, and the longest one, with all
 * n call hashes, is the sequence. The suffix of [k] is [k - 1], its first last call hash the one in
 * front of it. Its prefix is what [k - 1] was when its last new call hash came, and stays so as
 * long as [k] has no new call hash: two words per stretch. When a call hash a comes that is the
 * d-th of these, each shorter stretch has a new call hash: [k], k < d, becomes [k + 1] with [k] as
 * its prefix and a as its last new call hash. Of the longer ones only suffixes change, which are
 * hashed when somebody asks. So a call takes O(d), at most as long as there are call hashes,
 * whatever came before.
 *
 * Programs repeat what they do, if not in the same loop, and what comes of a sequence is known
 * where an equal one had the same call hash next. So these steps are kept, from the state of the
 * stretches (a hash of them) and a call hash to the next state, and a known one is a look into a
 * table. Stretches are left as they are meanwhile; call hashes that they have not taken yet wait in
 * a list, until a step is new, or the state is theirs again: then what waits would change nothing.
 *
 * (Radoszewski and Rytter 2010 test whether two given sequences are equal in time length *
 * different call hashes, level by level; this does it in that order of time for a sequence that
 * nobody keeps.)
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
    size_t n, capacity;               /* different call hashes */
    size_t hashed;                    /* so many of the levels have their hash */
    uint64_t taken, work;             /* calls, but for equal neighbours; hashes made for them */
    struct rfn_elastic_steps *steps;  /* that are known */
    uint64_t call_hash, state;        /* the last one, and what it led to */
    uint64_t levels_state;            /* that which the levels have */
    size_t n_waiting;                 /* call hashes that lead from there to `state` */
};

void rfn_elastic_release(struct rfn_elastic *elastic);
size_t rfn_elastic_bytes(const struct rfn_elastic *elastic); /* of memory */

/* call_hash: not 0. RFN_E_NOMEM: to be released. */
int rfn_elastic_append(struct rfn_elastic *elastic, uint64_t call_hash);

/* Whether it has taken more hashes, of some 4 ns, than may be spent on that while a program runs:
 * 2^21 once, which is more than a loop of a thousand call hashes takes until it is known, and 32
 * per call. */
bool rfn_elastic_is_slow(const struct rfn_elastic *elastic);

/* O(different call hashes) after a change, else O(1). */
uint64_t rfn_elastic_signature(struct rfn_elastic *elastic);

#endif
