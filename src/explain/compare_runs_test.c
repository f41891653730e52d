/* Two runs that are made up, side by side. */
#include "explain/compare_runs.h"

#include "support/fake_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rfn_compared_runs compared;

static int setup(void **state)
{
    (void)state;
    fake_runs_reset();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_compared_runs_release(&compared);
    return 0;
}

static void compare(void)
{
    assert_int_equal(rfn_compared_runs_init(&compared, fake_runs), 0);
}

static void near(double found, double expected)
{
    assert_true(found > expected - 1 && found < expected + 1); /* ns */
}

static void test_sums(void **state)
{
    (void)state;
    compare();
    const struct rfn_compared_run *a = &compared.runs[0], *b = &compared.runs[1];
    near(a->spent_ns[RFN_SPENT_COMPUTING], 8e9);
    near(b->spent_ns[RFN_SPENT_COMPUTING], 7.5e9);
    near(a->spent_ns[RFN_SPENT_WAITING], 1.5e9);
    near(b->spent_ns[RFN_SPENT_WAITING], 2e9);
    near(a->spent_ns[RFN_SPENT_IN_MPI], 0.5e9);
    assert_int_equal(a->messages, 60);
    assert_true(compared.differ);
    assert_false(compared.nothing_common);
    assert_false(compared.other_programs);
}

/* Receives from three places in exchange() are one; a call that only one run has is there, too. */
static void test_calls(void **state)
{
    (void)state;
    compare();
    assert_int_equal(compared.n_calls, 4);
    const struct rfn_call_change *recv = &compared.calls[0], *reduce = &compared.calls[1],
                                 *barrier = &compared.calls[2];
    assert_int_equal(recv->of[0].site.path, EXCHANGE_88); /* that takes most */
    assert_int_equal(recv->of[1].site.path, EXCHANGE_80);
    assert_int_equal(recv->of[0].ns, SECONDS(4));
    assert_int_equal(recv->of[0].wait_ns, SECONDS(2));
    assert_int_equal(recv->of[0].calls, 15);
    assert_int_equal(recv->of[0].bytes, 120);
    assert_int_equal(recv->of[1].wait_ns, SECONDS(8));
    near(recv->by_ns, 1.25e9);
    near(reduce->by_ns, -0.875e9);
    assert_int_equal(barrier->of[0].ranks, 0);
    near(barrier->by_ns, 0.125e9);
    assert_int_equal(compared.n_regions, 1);
    near(compared.regions[0].by_ns, -1e9);
}

/* What makes others wait in another way is the same all the same. */
static void test_findings(void **state)
{
    (void)state;
    compare();
    assert_int_equal(compared.n_findings, 2);
    const struct rfn_finding_change *first = &compared.findings[0], *second = &compared.findings[1];
    assert_int_equal(first->change, RFN_CHANGE_MORE);
    assert_int_equal(first->of[0]->pattern, RFN_WAIT_AT_NXN);
    assert_int_equal(first->of[1]->pattern, RFN_LATE_SENDER);
    near(first->by_ns, 1e9);
    assert_int_equal(second->change, RFN_CHANGE_GONE);
    assert_null(second->of[1]);
    near(second->by_ns, -0.5e9);
}

/* What costs a little more than a trifle in one run, and a little less in the other, is in both. */
static void test_almost_trifles(void **state)
{
    struct rfn_cause before[] = {fake_causes[0][0], fake_causes[0][1]},
                     after[] = {fake_causes[1][0], fake_causes[0][1]};
    (void)state;
    fake_waits[0].causes = before;
    fake_waits[1].causes = after;
    fake_waits[1].n_causes = 2;
    before[1].total_ns = SECONDS(0.24); /* 0.6 % and 0.375 % of 40 s */
    after[1].total_ns = SECONDS(0.15);
    compare();
    assert_int_equal(compared.n_findings, 2);
    assert_int_equal(compared.findings[1].change, RFN_CHANGE_NONE);
    near(compared.findings[1].by_ns, -0.0225e9);
    rfn_compared_runs_release(&compared);
    before[1].total_ns = SECONDS(0.15);
    compare();
    assert_int_equal(compared.n_findings, 1);
}

/* Of several findings that only lines tell apart the costliest stands for all. */
static void test_alike(void **state)
{
    (void)state;
    fake_activities[0].at.path = EXCHANGE_80;
    fake_activities[1] = fake_activities[0];
    fake_activities[1].at.path = EXCHANGE_88;
    compare();
    assert_int_equal(compared.n_findings, 1);
    const struct rfn_finding_change *change = &compared.findings[0];
    assert_int_equal(change->change, RFN_CHANGE_MORE);
    assert_int_equal(change->n[0], 2);
    assert_int_equal(change->n[1], 1);
    assert_int_equal(change->of[0]->activity, 0);
    assert_int_equal(change->ns[0], SECONDS(6));
    near(change->by_ns, 0.5e9);
}

static void test_itself(void **state)
{
    struct rfn_text text = {0};
    (void)state;
    fake_runs[1] = fake_runs[0];
    compare();
    assert_false(compared.differ);
    assert_int_equal(compared.findings[1].change, RFN_CHANGE_NONE);
    rfn_compared_runs_append(&text, &compared);
    assert_string_equal(rfn_text_terminated(&text),
                        "Nothing differs between A and B: both took 10.0 s.");
    rfn_text_release(&text);
    rfn_compared_runs_release(&compared);
    struct rfn_profile other = fake_profiles[0];
    struct rfn_profile_row rows[4];
    memcpy(rows, fake_rows[0], sizeof rows);
    rows[3].calls++; /* of INIT: one more call is enough */
    other.rows = rows;
    fake_runs[1].profile = &other;
    compare();
    assert_true(compared.differ);
}

static void expect_answer(int64_t end_ns, const char *expected)
{
    struct rfn_text text = {0};
    fake_runs_reset();
    fake_profiles[1].end_ns = end_ns;
    for (unsigned i = 0; i < FAKE_RANKS; i++)
        fake_ranks[1][i].span_ns = end_ns;
    rfn_profile_take_whole(&fake_profiles[1]);
    fake_runs[1].efficiency = rfn_profile_efficiency(&fake_profiles[1]);
    compare();
    rfn_compared_runs_append(&text, &compared);
    assert_string_equal(rfn_text_terminated(&text), expected);
    rfn_text_release(&text);
    rfn_compared_runs_release(&compared);
}

static void test_answer(void **state)
{
    (void)state;
    expect_answer(SECONDS(10), "B takes as long as A: 10.0 s -> 10.0 s.");
    expect_answer(SECONDS(10.04), "B takes as long as A: 10.0 s -> 10.0 s.");
    /* 0.5 s more waiting of a rank, 1.5 s in MPI_Recv; 0.4 s, then 1.0 s less computing. */
    expect_answer(SECONDS(10.1), "B takes 1.01 times as long as A: 10.0 s -> 10.1 s; most of it by "
                                 "more waiting in exchange (halo.c:80).");
    expect_answer(SECONDS(9.5), "B is 1.05 times as fast as A: 10.0 s -> 9.50 s; most of it by "
                                "less computing.");
}

static void test_without_times(void **state)
{
    struct rfn_text text = {0};
    (void)state;
    fake_waits[0].times = false;
    compare();
    assert_int_equal(compared.n_findings, 0);
    assert_int_equal(compared.runs[0].run_ns, 0);
    for (size_t i = 0; i < compared.n_calls; i++)
        assert_true(compared.calls[i].by_ns >= 0 && compared.calls[i].by_ns <= 0);
    rfn_compared_runs_append(&text, &compared);
    assert_string_equal(rfn_text_terminated(&text),
                        "How long A and B took cannot be compared, as A has no times: only calls, "
                        "messages and bytes.");
    rfn_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sums, setup, teardown),
        cmocka_unit_test_setup_teardown(test_calls, setup, teardown),
        cmocka_unit_test_setup_teardown(test_findings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_almost_trifles, setup, teardown),
        cmocka_unit_test_setup_teardown(test_alike, setup, teardown),
        cmocka_unit_test_setup_teardown(test_itself, setup, teardown),
        cmocka_unit_test_setup(test_answer, setup),
        cmocka_unit_test_setup_teardown(test_without_times, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
