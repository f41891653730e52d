/* delay_form.h - by how much a stream is late under an assumption that nobody knows yet, while
 * neither the network nor what a call takes itself is known: a maximum of unknowns and shifts.
 *
 *     form = max(u1 + s1, u2 + s2, ...)
 *
 * An unknown depends on the assumption. A shift is a constant of the recorded model (doc/whatif.md)
 * that is not known, since it depends on the network, but lies in an interval. Shifts have numbers:
 * forms of equal unknowns and shifts are equal under every assumption and with every network.
 * predict/symbolic.h has the same with known constants.
 */
#ifndef RFN_REDUCE_AGGREGATE_DELAY_FORM_H
#define RFN_REDUCE_AGGREGATE_DELAY_FORM_H

#include <stdbool.h>
#include <stdint.h>

enum { RFN_DELAY_TERMS = 3 };

struct rfn_delay_term {
    uint64_t unknown, shift; /* shift 0: none */
    int64_t low, high;       /* where the shift lies, ns */
};

struct rfn_delay_form {
    uint32_t n; /* terms, in ascending order of unknowns, each once */
    struct rfn_delay_term terms[RFN_DELAY_TERMS];
};

/* A term of an unknown. */
struct rfn_delay_form rfn_delay_of(uint64_t unknown);
bool rfn_delay_equal(const struct rfn_delay_form *a, const struct rfn_delay_form *b);
/* Whether a is at least b + some shift of at most `most`, whatever is assumed. */
bool rfn_delay_covers(const struct rfn_delay_form *a, const struct rfn_delay_form *b, int64_t most);
/* The later of a + x and b + y, each of which lies in an interval (ns, from low to high). *made
 * counts numbers for what is new. A form that would have too many terms is a new unknown. */
struct rfn_delay_form rfn_delay_latest(const struct rfn_delay_form *a, const int64_t x[2],
                                       const struct rfn_delay_form *b, const int64_t y[2],
                                       uint64_t *made);

#endif
