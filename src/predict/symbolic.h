/* symbolic.h - when something happens under every assumption: a time or a delay as a maximum over
 * unknowns.
 *
 *     form = max(u1 + c1, u2 + c2, ...)
 *
 * An unknown is by how much a stream is late at some point, under an assumption that nobody knows
 * yet; unknown 0 is 0. The recorded model (doc/whatif.md) makes times of times by adding constants
 * and by taking the latest, and so does this. Forms are canonical: terms in order of their
 * unknowns, each unknown once. So forms that are equal term by term are equal whatever is assumed.
 * Unequal ones may be equal all the same.
 *
 * A form has few terms. A longer one becomes an unknown of its own; the last few of these
 * are remembered: where one of them is at least another term, that is left out (`max` of both is
 * the first).
 */
#ifndef RFN_PREDICT_SYMBOLIC_H
#define RFN_PREDICT_SYMBOLIC_H

#include <stdbool.h>
#include <stdint.h>

enum { RFN_FORM_TERMS = 8, RFN_FORMS_REMEMBERED = 1024 };

struct rfn_term {
    uint64_t unknown;
    int64_t ns;
};

struct rfn_form {
    uint32_t n; /* terms; 0: earlier than anything */
    struct rfn_term terms[RFN_FORM_TERMS];
};

/* An unknown that is a maximum of others. */
struct rfn_remembered {
    uint64_t unknown; /* 0: none */
    uint32_t n;
    struct rfn_term terms[2 * RFN_FORM_TERMS];
};

struct rfn_unknowns {
    uint32_t most; /* terms of a form, 1 to RFN_FORM_TERMS */
    uint64_t made;
    struct rfn_remembered remembered[RFN_FORMS_REMEMBERED];
};

/* A new unknown. */
struct rfn_form rfn_form_unknown(struct rfn_unknowns *unknowns);
/* Never late: unknown 0. */
struct rfn_form rfn_form_zero(void);
struct rfn_form rfn_form_later(const struct rfn_form *form, int64_t ns);
/* The later of both, under every assumption. */
struct rfn_form rfn_form_latest(struct rfn_unknowns *unknowns, const struct rfn_form *a,
                                const struct rfn_form *b);
bool rfn_form_equal(const struct rfn_form *a, const struct rfn_form *b);

#endif
