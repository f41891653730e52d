#include "predict/symbolic.h"

#include <stddef.h>

struct rfn_form rfn_form_unknown(struct rfn_unknowns *unknowns)
{
    return (struct rfn_form){.n = 1, .terms = {{++unknowns->made, 0}}};
}

struct rfn_form rfn_form_zero(void)
{
    return (struct rfn_form){.n = 1};
}

struct rfn_form rfn_form_later(const struct rfn_form *form, int64_t ns)
{
    struct rfn_form later = *form;
    for (uint32_t i = 0; i < later.n; i++)
        later.terms[i].ns += ns;
    return later;
}

bool rfn_form_equal(const struct rfn_form *a, const struct rfn_form *b)
{
    bool equal = a->n == b->n;
    for (uint32_t i = 0; i < a->n && equal; i++)
        equal = a->terms[i].unknown == b->terms[i].unknown && a->terms[i].ns == b->terms[i].ns;
    return equal;
}

/* All terms of both, each unknown once; how many. */
static uint32_t unite(const struct rfn_form *a, const struct rfn_form *b,
                      struct rfn_term terms[2 * RFN_FORM_TERMS])
{
    uint32_t i = 0, k = 0, n = 0;
    while (i < a->n || k < b->n) {
        const struct rfn_term *one = i < a->n ? &a->terms[i] : NULL;
        const struct rfn_term *other = k < b->n ? &b->terms[k] : NULL;
        const bool takes_one = one && (!other || one->unknown <= other->unknown);
        const bool takes_other = other && (!one || other->unknown <= one->unknown);
        terms[n] = takes_one ? *one : *other;
        if (takes_other && other->ns > terms[n].ns)
            terms[n].ns = other->ns;
        i += takes_one;
        k += takes_other;
        n++;
    }
    return n;
}

/* Whether the first term is known to be at least the second one. */
static bool covers(const struct rfn_unknowns *unknowns, const struct rfn_term *term,
                   const struct rfn_term *other)
{
    const struct rfn_remembered *as = &unknowns->remembered[term->unknown % RFN_FORMS_REMEMBERED];
    if (as->unknown != term->unknown)
        return false;
    for (uint32_t i = 0; i < as->n; i++) {
        if (as->terms[i].unknown == other->unknown)
            return as->terms[i].ns + term->ns >= other->ns;
    }
    return false;
}

/* Leaves out terms that others cover. An unknown covers only earlier ones: what covers a
 * term is never left out in its favour. */
static uint32_t leave_out(const struct rfn_unknowns *unknowns, struct rfn_term *terms, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool covered = false;
        for (uint32_t k = i + 1; k < n && !covered; k++)
            covered = covers(unknowns, &terms[k], &terms[i]);
        if (!covered)
            terms[kept++] = terms[i];
    }
    return kept;
}

struct rfn_form rfn_form_latest(struct rfn_unknowns *unknowns, const struct rfn_form *a,
                                const struct rfn_form *b)
{
    struct rfn_remembered all = {0};
    struct rfn_form latest = {0};
    if (a->n == 0 || b->n == 0)
        return a->n ? *a : *b;
    all.n = leave_out(unknowns, all.terms, unite(a, b, all.terms));
    if (all.n > unknowns->most) {
        latest = rfn_form_unknown(unknowns);
        all.unknown = latest.terms[0].unknown;
        unknowns->remembered[all.unknown % RFN_FORMS_REMEMBERED] = all;
        return latest;
    }
    latest.n = all.n;
    for (uint32_t i = 0; i < all.n; i++)
        latest.terms[i] = all.terms[i];
    return latest;
}
