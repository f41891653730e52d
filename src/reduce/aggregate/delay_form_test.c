/* Forms against their values: for random unknowns, and shifts that lie where they are said to, what
 * is equal has equal values, what covers is not less, and the latest of two is the larger. */
#include "reduce/aggregate/delay_form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

enum { NUMBERS = 4096, UNKNOWNS = 4, STEPS = 400, FORMS = 6 };

/* What unknowns and shifts, which have numbers of one kind, happen to be. */
static int64_t values[NUMBERS];
static unsigned state = 1;

static int64_t draw(int64_t low, int64_t high)
{
    state = state * 1103515245 + 12345;
    return low + (int64_t)(state >> 8) % (high - low + 1);
}

static int64_t value_of(const struct rfn_delay_form *form)
{
    int64_t value = INT64_MIN;
    for (uint32_t i = 0; i < form->n; i++) {
        const struct rfn_delay_term *term = &form->terms[i];
        const int64_t of = values[term->unknown] + (term->shift ? values[term->shift] : 0);
        assert_true(term->low <= (term->shift ? values[term->shift] : 0));
        assert_true(term->high >= (term->shift ? values[term->shift] : 0));
        value = of > value ? of : value;
    }
    return value;
}

/* New numbers get the values that the terms are to have: of a shift the one before it, and x more.
 */
static void settle(const struct rfn_delay_form *latest, const struct rfn_delay_form *a, int64_t x,
                   const struct rfn_delay_form *b, int64_t y, uint64_t before)
{
    const struct rfn_delay_form *from[] = {a, b};
    const int64_t by[] = {x, y};
    for (uint32_t i = 0; i < latest->n; i++) {
        const struct rfn_delay_term *term = &latest->terms[i];
        int64_t most = INT64_MIN;
        for (int k = 0; k < 2; k++) {
            for (uint32_t m = 0; m < from[k]->n; m++) {
                const struct rfn_delay_term *old = &from[k]->terms[m];
                const int64_t shift = (old->shift ? values[old->shift] : 0) + by[k];
                if (old->unknown == term->unknown && shift > most)
                    most = shift;
            }
        }
        if (term->shift > before)
            values[term->shift] = most;
        else if (term->unknown > before) /* a form that was too long */
            values[term->unknown] = value_of(a) + x > value_of(b) + y ? value_of(a) + x
                                                                      : value_of(b) + y;
    }
}

static void step(struct rfn_delay_form forms[FORMS], uint64_t *made)
{
    const uint64_t before = *made;
    const struct rfn_delay_form a = forms[draw(0, FORMS - 1)], b = forms[draw(0, FORMS - 1)];
    const int64_t lows[] = {draw(-9, 0), draw(-9, 0)};
    const int64_t own[2] = {lows[0], draw(lows[0], 0)}, others[2] = {lows[1], draw(lows[1], 0)};
    const int64_t x = draw(own[0], own[1]), y = draw(others[0], others[1]);
    const struct rfn_delay_form latest = rfn_delay_latest(&a, own, &b, others, made);
    assert_true(*made < NUMBERS);
    settle(&latest, &a, x, &b, y, before);
    const int64_t one = value_of(&a) + x, other = value_of(&b) + y;
    assert_int_equal(value_of(&latest), one > other ? one : other);
    forms[draw(0, FORMS - 1)] = latest;
    if (rfn_delay_equal(&a, &b))
        assert_int_equal(value_of(&a), value_of(&b));
    const int64_t most = draw(-20, 0);
    if (rfn_delay_covers(&a, &b, most))
        assert_true(value_of(&a) >= value_of(&b) + most);
}

static void test_values(void **unused)
{
    (void)unused;
    for (int run = 0; run < 200; run++) {
        struct rfn_delay_form forms[FORMS];
        uint64_t made = UNKNOWNS;
        for (int i = 0; i <= UNKNOWNS; i++)
            values[i] = draw(0, 30);
        for (int i = 0; i < FORMS; i++)
            forms[i] = rfn_delay_of((uint64_t)draw(1, UNKNOWNS));
        for (int i = 0; i < STEPS; i++)
            step(forms, &made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
