/* Who is blamed for a wait, from two histories written by hand. */
#include "analyze/waits/delay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LENGTH = 16, WAITING = 3, LATE = 5, LATE_RANK = 50, CALL = 40 };

static struct rfn_history waiting, late;
static struct rfn_delays delays;

static int setup(void **state)
{
    (void)state;
    delays = (struct rfn_delays){0};
    assert_int_equal(rfn_history_init(&waiting, LENGTH), 0);
    return rfn_history_init(&late, LENGTH);
}

static int teardown(void **state)
{
    (void)state;
    rfn_history_release(&waiting);
    rfn_history_release(&late);
    rfn_delays_release(&delays);
    return 0;
}

static void does(struct rfn_history *history, uint32_t what, int64_t ns)
{
    assert_int_equal(rfn_history_add(history, &delays.sums, what, ns), 0);
}

static void mark_both(uint64_t key, uint64_t count)
{
    rfn_history_mark(&waiting, key, count, CALL);
    rfn_history_mark(&late, key, count, CALL);
}

static void synchronize(uint64_t at, uint64_t late_at)
{
    uint32_t hint = 0;
    const struct rfn_last_sync sync = {WAITING, LATE, at, late_at};
    assert_int_equal(rfn_last_syncs_add(&delays.last_syncs, &hint, &sync), 0);
}

/* The wait began where the one is now, and lasted until the point `at` of the other. */
static void find_until(uint64_t at, int64_t ns)
{
    const struct rfn_wait wait = {RFN_LATE_SENDER, ns, {LATE, at, 0}, 0};
    int64_t sum = 0;
    assert_int_equal(
        rfn_delays_find(&delays, &waiting, WAITING, waiting.at, &late, LATE_RANK, &wait), 0);
    for (size_t i = 0; i < delays.n_blames; i++)
        sum += delays.blames[i].ns;
    assert_int_equal(sum, delays.n_blames ? ns : 0);
}

static void find(int64_t ns)
{
    find_until(late.at, ns);
}

/* The i-th blame is for an activity of the late rank. */
static void expect_blame(size_t i, uint32_t activity, int64_t ns)
{
    assert_true(i < delays.n_blames);
    const struct rfn_blame *blame = &delays.blames[i];
    assert_true(blame->direct);
    assert_int_equal(delays.causes[blame->cause].rank, LATE_RANK);
    assert_int_equal(delays.causes[blame->cause].activity, activity);
    assert_int_equal(blame->ns, ns);
}

static void test_excesses(void **state)
{
    (void)state;
    does(&waiting, 1, 100);
    does(&waiting, 2, 500);
    does(&late, 1, 300);
    does(&late, 2, 400); /* it was faster there */
    does(&late, 3, 50);
    find(250);
    assert_int_equal(delays.n_blames, 2);
    expect_blame(0, 1, 200);
    expect_blame(1, 3, 50);
}

/* Excesses are shares: 300 and 100 of a wait of 40; of 41 the first takes what is left. */
static void test_shares(void **state)
{
    (void)state;
    does(&late, 1, 100);
    does(&late, 2, 300);
    find(40);
    expect_blame(0, 2, 30);
    expect_blame(1, 1, 10);
    find(41);
    expect_blame(0, 2, 31);
    expect_blame(1, 1, 10);
}

/* Excesses of 200 and 100 cost no more; what they do not explain, the late one has left the call
 * later in which the two were in step. */
static void test_left_late(void **state)
{
    (void)state;
    does(&waiting, 7, 1);
    does(&late, 7, 100000);
    mark_both(3, 1);
    does(&waiting, 1, 100);
    does(&late, 1, 300);
    does(&late, 2, 100);
    find(350);
    assert_int_equal(delays.n_blames, 3);
    expect_blame(0, 1, 200);
    expect_blame(1, 2, 100);
    expect_blame(2, CALL, 50);
}

/* It was not slower in anything. */
static void test_only_left_late(void **state)
{
    (void)state;
    does(&waiting, 7, 1);
    mark_both(3, 1);
    does(&waiting, 1, 100);
    does(&late, 1, 100);
    find(350);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, CALL, 350);
}

/* Since a message it is not known in which call that was. */
static void test_left_late_unknown(void **state)
{
    (void)state;
    mark_both(3, 1);
    does(&waiting, 1, 100);
    does(&late, 1, 100);
    synchronize(1, 1);
    does(&late, 2, 10);
    find(350);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 2, 350);
}

enum { KINDS = 6, MOST = 10 };

/* Nothing costs more than the late one took longer in it, but for having left the call late, which
 * costs no more than that. */
static void test_random_excesses(void **state)
{
    (void)state;
    srand(1);
    for (uint64_t i = 1; i < 1000; i++) {
        int64_t ns[2][KINDS], left_late = 100 * (rand() % MOST), wait_ns = left_late;
        mark_both(3, i);
        for (uint32_t what = 0; what < KINDS; what++) {
            ns[0][what] = 100 * (rand() % MOST);
            ns[1][what] = 100 * (rand() % MOST);
            does(&waiting, what, ns[0][what]);
            does(&late, what, ns[1][what]);
            wait_ns += ns[1][what] - ns[0][what];
        }
        if (wait_ns <= 0)
            continue;
        find(wait_ns);
        for (size_t k = 0; k < delays.n_blames; k++) {
            const struct rfn_blame *blame = &delays.blames[k];
            const uint32_t what = delays.causes[blame->cause].activity;
            assert_true(blame->ns <= (what == CALL ? left_late : ns[1][what] - ns[0][what]));
        }
    }
}

/* What the late one waited itself is its cause's. */
static void test_passed_on(void **state)
{
    (void)state;
    does(&late, RFN_PASSED_ON | 7, 90);
    does(&late, 1, 10);
    find(200);
    assert_int_equal(delays.n_blames, 2);
    assert_false(delays.blames[0].direct);
    assert_int_equal(delays.blames[0].cause, 7);
    assert_int_equal(delays.blames[0].ns, 180);
    expect_blame(1, 1, 20);
}

/* Both waited for the same: no excess. */
static void test_both_waited(void **state)
{
    (void)state;
    does(&waiting, RFN_PASSED_ON | 7, 90);
    does(&late, RFN_PASSED_ON | 7, 90);
    does(&late, 1, 10);
    find(10);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 1, 10);
}

/* Of ten the eight largest. */
static void test_many_excesses(void **state)
{
    (void)state;
    for (uint32_t what = 0; what < 10; what++)
        does(&late, what, 100 + what);
    find(1000);
    assert_int_equal(delays.n_blames, RFN_DELAY_CAUSES);
    for (size_t i = 0; i < RFN_DELAY_CAUSES; i++) {
        assert_int_equal(delays.causes[delays.blames[i].cause].activity, 9 - i);
        assert_true(i == 0 || delays.blames[i].ns <= delays.blames[i - 1].ns);
    }
}

/* Below 1/64 of the largest it is noise. */
static void test_noise(void **state)
{
    (void)state;
    does(&late, 1, 6400);
    does(&late, 2, 99);
    find(500);
    assert_int_equal(delays.n_blames, 1);
    does(&late, 2, 1);
    find(500);
    assert_int_equal(delays.n_blames, 2);
}

/* It did nothing that took longer there: its last activity. */
static void test_no_excess(void **state)
{
    (void)state;
    does(&waiting, 1, 100);
    does(&waiting, 2, 100);
    does(&late, 1, 100);
    does(&late, 2, 50);
    find(70);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 2, 70);
}

static void test_no_excess_after_waiting(void **state)
{
    (void)state;
    does(&waiting, RFN_PASSED_ON | 7, 100);
    does(&late, RFN_PASSED_ON | 7, 100);
    find(70);
    assert_int_equal(delays.n_blames, 1);
    assert_false(delays.blames[0].direct);
    assert_int_equal(delays.blames[0].cause, 7);
}

static void test_did_nothing(void **state)
{
    (void)state;
    does(&waiting, 1, 100);
    find(70);
    assert_int_equal(delays.n_blames, 0);
}

/* Only what came until the point counts. */
static void test_point_in_the_past(void **state)
{
    (void)state;
    does(&late, 1, 100);
    does(&late, 2, 1000);
    find_until(1, 30);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 1, 30);
}

/* A point that has fallen out of the log: nobody can be blamed. */
static void test_forgotten_point(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < LENGTH * 3; i++)
        does(&late, 1, 100);
    find_until(late.first - 1, 30);
    assert_int_equal(delays.n_blames, 0);
    find_until(late.first, 30);
    assert_int_equal(delays.n_blames, 1);
}

/* ---- since they were in step ---- */

static void test_since_mark(void **state)
{
    (void)state;
    does(&waiting, 1, 10);
    does(&late, 1, 5000);
    mark_both(1, 0);
    does(&waiting, 2, 10);
    does(&late, 2, 110);
    find(100);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 2, 100);
}

/* The interval is a hundred times what the logs hold: 2000 times 3 of the one, 2 of the other. */
static void test_since_old_mark(void **state)
{
    (void)state;
    does(&waiting, 3, 10);
    does(&late, 3, 1000000);
    mark_both(1, 0);
    for (int i = 0; i < 2000; i++) {
        does(&late, 1, 3);
        does(&waiting, 1, 2);
        does(&late, 2, 1);
        does(&waiting, 2, 1);
    }
    does(&late, 4, 500);
    find(2500);
    assert_int_equal(delays.n_blames, 2);
    expect_blame(0, 1, 2000);
    expect_blame(1, 4, 500);
}

/* So is the beginning, where they never synchronized. */
static void test_since_beginning(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        does(&late, 1, 3);
        does(&waiting, 1, 2);
    }
    find(1000);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 1, 1000);
}

/* A message that the one got from the other since. */
static void test_since_last_sync(void **state)
{
    (void)state;
    mark_both(1, 0);
    does(&waiting, 1, 10);
    does(&late, 1, 5000);
    synchronize(1, 1);
    does(&waiting, 2, 10);
    does(&late, 2, 110);
    find(100);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 2, 100);
}

/* A later collective call is nearer. */
static void test_mark_after_last_sync(void **state)
{
    (void)state;
    does(&waiting, 1, 10);
    does(&late, 1, 20);
    synchronize(1, 1);
    does(&late, 2, 300);
    does(&waiting, 2, 100);
    mark_both(1, 0);
    does(&late, 3, 40);
    find(40);
    assert_int_equal(delays.n_blames, 1);
    expect_blame(0, 3, 40);
}

/* A synchronization after the point, or one that the log has lost, is of no use: the mark is. */
static void test_useless_last_syncs(void **state)
{
    (void)state;
    mark_both(1, 0);
    does(&waiting, 1, 10);
    does(&late, 1, 100);
    does(&late, 2, 500);
    synchronize(1, 2);
    find_until(1, 90);
    expect_blame(0, 1, 90);
    for (int i = 0; i < LENGTH * 4; i++)
        does(&late, 2, 10);
    find(90);
    assert_int_equal(delays.n_blames, 2);
    assert_int_equal(delays.causes[delays.blames[0].cause].activity, 2);
    assert_int_equal(delays.causes[delays.blames[1].cause].activity, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_excesses),           TEST(test_shares),
        TEST(test_passed_on),          TEST(test_both_waited),
        TEST(test_many_excesses),      TEST(test_noise),
        TEST(test_no_excess),          TEST(test_no_excess_after_waiting),
        TEST(test_did_nothing),        TEST(test_point_in_the_past),
        TEST(test_forgotten_point),    TEST(test_since_mark),
        TEST(test_since_old_mark),     TEST(test_since_beginning),
        TEST(test_since_last_sync),    TEST(test_mark_after_last_sync),
        TEST(test_useless_last_syncs), TEST(test_left_late),
        TEST(test_only_left_late),     TEST(test_left_late_unknown),
        TEST(test_random_excesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
