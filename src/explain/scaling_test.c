/* Runs that are made up, by ranks. */
#include "refrain/explain.h"

#include "support/fake_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The first of two runs on as many ranks, half of which are left out: as on two ranks. */
static void halve(void)
{
    fake_profiles[0].n_ranks = fake_waits[0].n_ranks = 2;
    fake_runs[0].efficiency = rfn_profile_efficiency(&fake_profiles[0]);
}

static void expect_answer(const struct rfn_scaling *scaling, const char *expected)
{
    struct rfn_text text = {0};
    rfn_scaling_append(&text, scaling);
    assert_string_equal(rfn_text_terminated(&text), expected);
    rfn_text_release(&text);
}

static void near(double found, double expected)
{
    assert_true(found > expected - 1e-9 && found < expected + 1e-9);
}

/* Four ranks compute 7.5 s each of 5 s + 5 s in MPI: twice as much, all in all, as 8 s of two. */
static void test_factors(void **state)
{
    struct rfn_scaling scaling;
    (void)state;
    fake_runs_reset();
    halve();
    fake_profiles[1].end_ns = SECONDS(8);
    rfn_profile_take_whole(&fake_profiles[1]);
    fake_runs[1].efficiency = rfn_profile_efficiency(&fake_profiles[1]);
    const struct rfn_measured runs[] = {fake_runs[1], fake_runs[0]};
    assert_int_equal(rfn_scaling_init(&scaling, runs, 2, 1), 0);
    assert_int_equal(scaling.n, 2);
    assert_int_equal(scaling.runs[0].given, 1);
    assert_int_equal(scaling.runs[1].given, 0);
    near(scaling.runs[0].speedup, 1);
    near(scaling.runs[0].global, 0.8);
    near(scaling.runs[1].speedup, 1.25);
    near(scaling.runs[1].ideal, 2);
    near(scaling.runs[1].computation, 16.0 / 30);
    near(scaling.runs[1].global, 7.5 / 8 * 16 / 30);
    assert_int_equal(scaling.runs[1].run.findings.n, 1);
    expect_answer(&scaling,
                  "4 ranks are 1.25 times as fast as 2, of 2.00 at best: 10.0 s -> 8.00 s. Global "
                  "efficiency falls from 80.0 % to 50.0 %, most of it by computation scaling "
                  "(100.0 % -> 53.3 %).");
    rfn_scaling_release(&scaling);
}

static void test_alike(void **state)
{
    struct rfn_scaling scaling;
    (void)state;
    fake_runs_reset();
    const struct rfn_measured runs[] = {fake_runs[0], fake_runs[0], fake_runs[0]};
    assert_int_equal(rfn_scaling_init(&scaling, runs, 3, 0), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(scaling.runs[i].given, i);
    assert_int_equal(scaling.runs[0].run.findings.n, 0);
    expect_answer(&scaling, "All have 4 ranks; the last is 1.00 times as fast as the first: 10.0 s "
                            "-> 10.0 s. Global efficiency stays at 80.0 %.");
    rfn_scaling_release(&scaling);
}

/* The first that has times is what the others are measured by. */
static void test_without_times(void **state)
{
    struct rfn_scaling scaling;
    struct rfn_waits none;
    (void)state;
    fake_runs_reset();
    none = fake_waits[0];
    none.times = false;
    struct rfn_measured runs[] = {fake_runs[0], fake_runs[0], fake_runs[1]};
    runs[0].waits = &none;
    assert_int_equal(rfn_scaling_init(&scaling, runs, 3, 1), 0);
    near(scaling.runs[0].speedup, 0);
    near(scaling.runs[1].speedup, 1);
    near(scaling.runs[2].speedup, 1);
    rfn_scaling_release(&scaling);
    assert_int_equal(rfn_scaling_init(&scaling, runs, 2, 1), 0);
    expect_answer(&scaling, "How these runs scale is not known: fewer than two have times.");
    rfn_scaling_release(&scaling);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_factors), cmocka_unit_test(test_alike),
                                       cmocka_unit_test(test_without_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
