/* The analysis of waits of many ranks: whose logs are shorter, and whose times add up to more. */
#include "refrain/waits.h"

#define FAKE_RANKS  1024
#define FAKE_EVENTS 16
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { WORLD = 0 };

static struct rfn_waits *waits;

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_waits_free(waits);
    waits = NULL;
    return 0;
}

static void run(bool fix_clocks)
{
    struct rfn_diag diag;
    const struct rfn_waits_options options = {.fix_clocks = fix_clocks};
    int64_t causes = 0;
    rfn_waits_free(waits);
    waits = NULL;
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &waits, &diag), 0);
    for (size_t i = 0; i < waits->n_causes; i++)
        causes += waits->causes[i].total_ns;
    assert_int_equal(causes, waits->total_ns - waits->unexplained_ns);
}

/* Rank r comes to the barrier r us after the first, and the last rank is the cause of all. */
static void test_staircase(void **state)
{
    (void)state;
    const int64_t n = FAKE_RANKS, last = (n - 1) * 1000;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, BARRIER, 0, rank * 1000, last + 1000, WORLD);
    run(false);
    assert_int_equal(waits->total_ns, n * (n - 1) / 2 * 1000);
    assert_int_equal(waits->rows[0].ns_by_rank[0], last);
    assert_int_equal(waits->n_causes, 1);
    assert_int_equal(waits->causes[0].n_ranks, 1);
    assert_int_equal(waits->causes[0].ranks[0].rank, n - 1);
    assert_int_equal(waits->critical_ns, last + 1000);
}

/* The longest times that are believed of each rank: their sum fits, too. */
static void long_times(int64_t first, int64_t others)
{
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        EVENT(rank, PCONTROL, 0, INT64_MIN, INT64_MIN + 1, 0);
        EVENT(rank, BARRIER, 0, rank ? others : first, INT64_MAX, WORLD);
        EVENT(rank, PCONTROL, 0, INT64_MAX, INT64_MAX, 0);
    }
    run(false);
    assert_int_equal(waits->matching.collectives, 1);
    assert_true(waits->critical_ns > 0);
    run(true);
    assert_true(waits->critical_ns > 0);
}

static void test_long_waits(void **state)
{
    (void)state;
    long_times(INT64_MAX - 1, INT64_MIN);
    assert_true(waits->total_ns > 0);
}

static void test_long_computing(void **state)
{
    (void)state;
    long_times(INT64_MAX, INT64_MAX);
}

/* A message from rank to rank, each of which ends before it was sent, by as much as is possible: a
 * clock that is repaired goes no further than the bounds. */
static void test_clocks_far_apart(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank + 1 < FAKE_RANKS; rank++) {
        EVENT(rank + 1, RECV_, 0, INT64_MIN, INT64_MIN, 0, 1, 0, rank, 5, WORLD, -4, -4, -4);
        EVENT(rank, SEND_, 0, INT64_MAX, INT64_MAX, 0, 1, 0, rank + 1, 5, WORLD);
    }
    run(false);
    assert_int_equal(waits->matching.backward, FAKE_RANKS - 1);
    run(true);
    assert_int_equal(waits->matching.matched, FAKE_RANKS - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_staircase),
        TEST(test_long_waits),
        TEST(test_long_computing),
        TEST(test_clocks_far_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
