/* Tests of what is kept of the recorder's own work: the sum of all, and the longest in order. */
#include "record/core/own_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_few(void **state)
{
    (void)state;
    struct rec_own_works own;
    rec_own_works_init(&own, 20);
    assert_int_equal(own.since, 0);
    rec_own_works_note(&own, 100, 119); /* too short to be kept */
    assert_int_equal(own.since, 100);
    rec_own_works_note(&own, 200, 220);
    rec_own_works_note(&own, 300, 300);
    rec_own_works_note(&own, 400, 390); /* clocks that disagree */
    rec_own_works_note(&own, 500, 600);
    rec_own_works_note(&own, 550, 650); /* in the one before */
    assert_int_equal(own.sum, 19 + 20 + 100 + 100);
    assert_int_equal(own.n, 2);
    assert_int_equal(own.items[0].from, 200);
    assert_int_equal(own.items[1].to, 600);
}

/* Every 100th of a million takes long: these stay, as far as there is room. */
static void test_many(void **state)
{
    (void)state;
    struct rec_own_works own;
    uint64_t sum = 0, now = 0;
    rec_own_works_init(&own, 20);
    for (uint64_t i = 0; i < 1000000; i++) {
        const uint64_t takes = i % 10000 == 5 ? 100000 : 20 + i % 60;
        now += 100;
        rec_own_works_note(&own, now, now + takes);
        now += takes;
        sum += takes;
    }
    assert_int_equal(own.sum, sum);
    assert_in_range(own.n, 100, REC_OWN_WORKS - 1);
    uint32_t n_long = 0;
    for (uint32_t i = 0; i < own.n; i++) {
        n_long += own.items[i].to - own.items[i].from == 100000;
        assert_true(i == 0 || own.items[i - 1].to <= own.items[i].from);
    }
    assert_int_equal(n_long, 100);
}

/* All are equally long: a doubled limit drops them all, and the sum still has them. */
static void test_equal(void **state)
{
    (void)state;
    struct rec_own_works own;
    rec_own_works_init(&own, 0);
    for (uint64_t i = 0; i < 10000; i++)
        rec_own_works_note(&own, 10 * i, 10 * i + 5);
    assert_int_equal(own.sum, 50000);
    assert_true(own.n < REC_OWN_WORKS);
}

/* Pieces of 10, 20, 20 and 50. */
static void test_shortest(void **state)
{
    (void)state;
    struct rec_own_works own;
    rec_own_works_init(&own, 5);
    assert_true(rec_own_works_shortest(&own, 1000) == UINT64_MAX);
    rec_own_works_note(&own, 1000, 1020);
    rec_own_works_note(&own, 2000, 2010);
    rec_own_works_note(&own, 3000, 3050);
    rec_own_works_note(&own, 4000, 4020);
    assert_int_equal(rec_own_works_shortest(&own, 1000), 10);             /* no time passed */
    assert_int_equal(rec_own_works_shortest(&own, 1000 + 10 * 1000), 10); /* 10 is all of it */
    assert_int_equal(rec_own_works_shortest(&own, 1000 + 11 * 1000), 20);
    assert_int_equal(rec_own_works_shortest(&own, 1000 + 50 * 1000), 20);
    assert_int_equal(rec_own_works_shortest(&own, 1000 + 51 * 1000), 50);
    assert_true(rec_own_works_shortest(&own, 1000 + 101 * 1000) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
