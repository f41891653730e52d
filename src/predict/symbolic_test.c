/* Forms against brute force: whatever the unknowns are, a form has the value of what it was made
 * of; and forms are told equal exactly where they are, as long as none became an unknown. */
#include "predict/symbolic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FORMS = 12, STEPS = 400, RUNS = 60, VALUES = 7, UNKNOWNS = 8192 };

static struct rfn_unknowns unknowns;
static uint32_t state;

static uint32_t draw(uint32_t n)
{
    state = state * 1103515245 + 12345;
    return (state >> 8) % n;
}

/* What the unknowns are, as assumed: several assumptions at once. */
static int64_t assumed[UNKNOWNS][VALUES];

static int64_t value(const struct rfn_form *form, int which)
{
    int64_t most = INT64_MIN;
    for (uint32_t i = 0; i < form->n; i++) {
        assert_true(form->terms[i].unknown < UNKNOWNS);
        const int64_t term = assumed[form->terms[i].unknown][which] + form->terms[i].ns;
        most = term > most ? term : most;
    }
    return most;
}

static void check_canonical(const struct rfn_form *form)
{
    assert_in_range(form->n, 1, unknowns.most);
    for (uint32_t i = 1; i < form->n; i++)
        assert_true(form->terms[i - 1].unknown < form->terms[i].unknown);
}

/* A stream's delay, and what it is under each of the assumptions. */
struct pair {
    struct rfn_form form;
    int64_t values[VALUES];
};

/* An unknown that a form became is what the form was. */
static void learn(const struct pair *pair, uint64_t before)
{
    assert_true(unknowns.made <= before + 1);
    for (int which = 0; unknowns.made > before && which < VALUES; which++)
        assumed[unknowns.made][which] = pair->values[which] - pair->form.terms[0].ns;
}

static void step(struct pair *pairs)
{
    struct pair *to = &pairs[draw(FORMS)];
    const struct pair *one = &pairs[draw(FORMS)], *other = &pairs[draw(FORMS)];
    const uint64_t before = unknowns.made;
    const int64_t ns = (int64_t)draw(9) - 4;
    struct pair next;
    switch (draw(12)) {
    case 0:
        next.form = rfn_form_unknown(&unknowns);
        for (int i = 0; i < VALUES; i++)
            next.values[i] = (int64_t)draw(40) - 20;
        break;
    case 1:
    case 2:
        next.form = rfn_form_later(&one->form, ns);
        for (int i = 0; i < VALUES; i++)
            next.values[i] = one->values[i] + ns;
        break;
    default:
        next.form = rfn_form_latest(&unknowns, &one->form, &other->form);
        for (int i = 0; i < VALUES; i++)
            next.values[i] = one->values[i] > other->values[i] ? one->values[i] : other->values[i];
    }
    learn(&next, before);
    check_canonical(&next.form);
    for (int i = 0; i < VALUES; i++)
        assert_int_equal(value(&next.form, i), next.values[i]);
    *to = next;
    for (int i = 0; i < FORMS; i++) {
        for (int k = 0; k < VALUES && rfn_form_equal(&pairs[i].form, &next.form); k++)
            assert_int_equal(pairs[i].values[k], next.values[k]);
    }
}

static void against_brute_force(void **unused)
{
    (void)unused;
    for (uint32_t run = 0; run < RUNS; run++) {
        struct pair pairs[FORMS] = {{{0}, {0}}};
        unknowns = (struct rfn_unknowns){.most = 1 + run % RFN_FORM_TERMS};
        state = run + 1;
        for (int i = 0; i < FORMS; i++)
            pairs[i].form = rfn_form_zero();
        for (int i = 0; i < STEPS; i++)
            step(pairs);
    }
}

/* All values from -3 to 3 of three unknowns tell any two forms of them apart. */
static bool same_everywhere(const struct rfn_form *a, const struct rfn_form *b)
{
    for (int64_t x = -3; x <= 3; x++) {
        for (int64_t y = -3; y <= 3; y++) {
            for (int64_t z = -3; z <= 3; z++) {
                assumed[1][0] = x;
                assumed[2][0] = y;
                assumed[3][0] = z;
                if (value(a, 0) != value(b, 0))
                    return false;
            }
        }
    }
    return true;
}

static struct rfn_form drawn(const struct rfn_form *bases)
{
    struct rfn_form form = {0};
    for (uint32_t i = 0, n = 1 + draw(4); i < n; i++) {
        const struct rfn_form term = rfn_form_later(&bases[draw(3)], (int64_t)draw(3) - 1);
        form = rfn_form_latest(&unknowns, &form, &term);
    }
    return form;
}

static void equal_where_they_are(void **unused)
{
    unsigned equal = 0;
    (void)unused;
    unknowns = (struct rfn_unknowns){.most = 3};
    const struct rfn_form bases[] = {rfn_form_unknown(&unknowns), rfn_form_unknown(&unknowns),
                                     rfn_form_unknown(&unknowns)};
    state = 7;
    for (int i = 0; i < 3000; i++) {
        const struct rfn_form a = drawn(bases), b = drawn(bases);
        assert_int_equal(rfn_form_equal(&a, &b), same_everywhere(&a, &b));
        equal += rfn_form_equal(&a, &b);
    }
    assert_int_equal(unknowns.made, 3);
    assert_in_range(equal, 50, 1500);
}

/* What became an unknown covers what it was made of, not more. */
static void remembers(void **unused)
{
    struct rfn_form all = {0}, terms[4];
    (void)unused;
    unknowns = (struct rfn_unknowns){.most = 3};
    for (int i = 0; i < 4; i++) {
        terms[i] = rfn_form_unknown(&unknowns);
        all = rfn_form_latest(&unknowns, &all, &terms[i]);
    }
    assert_int_equal(all.n, 1);
    assert_int_equal(all.terms[0].unknown, 5);
    struct rfn_form latest = rfn_form_latest(&unknowns, &all, &terms[1]);
    assert_true(rfn_form_equal(&latest, &all));
    const struct rfn_form later = rfn_form_later(&terms[1], 1);
    latest = rfn_form_latest(&unknowns, &all, &later);
    assert_int_equal(latest.n, 2);
    const struct rfn_form all_later = rfn_form_later(&all, 1);
    latest = rfn_form_latest(&unknowns, &later, &all_later);
    assert_true(rfn_form_equal(&latest, &all_later));
    for (int i = 0; i < RFN_FORMS_REMEMBERED; i++) /* forgotten, by another one in its place */
        rfn_form_unknown(&unknowns);
    unknowns.remembered[5].unknown += RFN_FORMS_REMEMBERED;
    latest = rfn_form_latest(&unknowns, &all, &terms[1]);
    assert_int_equal(latest.n, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(against_brute_force),
                                       cmocka_unit_test(equal_where_they_are),
                                       cmocka_unit_test(remembers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
