#include "reduce/aggregate/delay_form.h"

#include <stddef.h>

struct rfn_delay_form rfn_delay_of(uint64_t unknown)
{
    return (struct rfn_delay_form){.n = 1, .terms = {{.unknown = unknown}}};
}

bool rfn_delay_equal(const struct rfn_delay_form *a, const struct rfn_delay_form *b)
{
    bool equal = a->n == b->n;
    for (uint32_t i = 0; i < a->n && equal; i++)
        equal = a->terms[i].unknown == b->terms[i].unknown &&
                a->terms[i].shift == b->terms[i].shift;
    return equal;
}

static const struct rfn_delay_term *term_of(const struct rfn_delay_form *form, uint64_t unknown)
{
    for (uint32_t i = 0; i < form->n; i++) {
        if (form->terms[i].unknown == unknown)
            return &form->terms[i];
    }
    return NULL;
}

bool rfn_delay_covers(const struct rfn_delay_form *a, const struct rfn_delay_form *b, int64_t most)
{
    bool covers = true;
    for (uint32_t i = 0; i < b->n && covers; i++) {
        const struct rfn_delay_term *term = &b->terms[i], *over = term_of(a, term->unknown);
        const bool same = over && over->shift == term->shift && most <= 0;
        covers = over && (same || over->low >= term->high + most);
    }
    return covers;
}

static struct rfn_delay_form shift(const struct rfn_delay_form *form, const int64_t by[2],
                                   uint64_t *made)
{
    struct rfn_delay_form shifted = *form;
    if (by[0] == 0 && by[1] == 0)
        return shifted;
    for (uint32_t i = 0; i < form->n; i++) {
        shifted.terms[i].shift = ++*made;
        shifted.terms[i].low += by[0];
        shifted.terms[i].high += by[1];
    }
    return shifted;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The larger of two terms of one unknown. */
static struct rfn_delay_term larger(const struct rfn_delay_term *a, const struct rfn_delay_term *b,
                                    uint64_t *made)
{
    if (a->shift == b->shift || a->low >= b->high)
        return *a;
    if (b->low >= a->high)
        return *b;
    return (struct rfn_delay_term){a->unknown, ++*made, most(a->low, b->low),
                                   most(a->high, b->high)};
}

/* All terms of both, each unknown once; how many. */
static uint32_t unite(const struct rfn_delay_form *a, const struct rfn_delay_form *b,
                      struct rfn_delay_term terms[2 * RFN_DELAY_TERMS], uint64_t *made)
{
    uint32_t i = 0, k = 0, n = 0;
    while (i < a->n || k < b->n) {
        const struct rfn_delay_term *one = i < a->n ? &a->terms[i] : NULL;
        const struct rfn_delay_term *other = k < b->n ? &b->terms[k] : NULL;
        const bool takes_one = one && (!other || one->unknown <= other->unknown);
        const bool takes_other = other && (!one || other->unknown <= one->unknown);
        terms[n++] = takes_one && takes_other ? larger(one, other, made)
                     : takes_one              ? *one
                                              : *other;
        i += takes_one;
        k += takes_other;
    }
    return n;
}

struct rfn_delay_form rfn_delay_latest(const struct rfn_delay_form *a, const int64_t x[2],
                                       const struct rfn_delay_form *b, const int64_t y[2],
                                       uint64_t *made)
{
    struct rfn_delay_term terms[2 * RFN_DELAY_TERMS];
    const struct rfn_delay_form one = shift(a, x, made), other = shift(b, y, made);
    struct rfn_delay_form latest = {.n = unite(&one, &other, terms, made)};
    if (latest.n > RFN_DELAY_TERMS)
        return rfn_delay_of(++*made);
    for (uint32_t i = 0; i < latest.n; i++)
        latest.terms[i] = terms[i];
    return latest;
}
