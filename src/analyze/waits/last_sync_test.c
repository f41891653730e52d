#include "analyze/waits/last_sync.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rfn_last_syncs syncs;

static int setup(void **state)
{
    (void)state;
    syncs = (struct rfn_last_syncs){0};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_last_syncs_release(&syncs);
    return 0;
}

static void add(uint32_t *hint, uint32_t stream, uint32_t other, uint64_t at, uint64_t other_at)
{
    const struct rfn_last_sync sync = {stream, other, at, other_at};
    assert_int_equal(rfn_last_syncs_add(&syncs, hint, &sync), 0);
}

static void expect(uint32_t stream, uint32_t other, uint64_t at, uint64_t other_at)
{
    const uint32_t hints[] = {0, 1, (uint32_t)syncs.n};
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const struct rfn_last_sync *sync = rfn_last_syncs_find(&syncs, hints[i], stream, other);
        assert_non_null(sync);
        assert_int_equal(sync->stream, stream);
        assert_int_equal(sync->other, other);
        assert_int_equal(sync->at, at);
        assert_int_equal(sync->other_at, other_at);
    }
}

/* Who went on because of whom has a direction. */
static void test_pairs(void **state)
{
    (void)state;
    uint32_t one = 0, back = 0;
    assert_null(rfn_last_syncs_find(&syncs, 0, 1, 2));
    add(&one, 1, 2, 10, 20);
    assert_null(rfn_last_syncs_find(&syncs, 0, 2, 1));
    add(&back, 2, 1, 30, 40);
    expect(1, 2, 10, 20);
    expect(2, 1, 30, 40);
    assert_int_not_equal(one, back);
}

static void test_last_one_counts(void **state)
{
    (void)state;
    uint32_t hint = 0, other_channel = 0;
    add(&hint, 1, 2, 10, 20);
    add(&hint, 1, 2, 11, 25);
    expect(1, 2, 11, 25);
    add(&other_channel, 1, 2, 12, 26);
    expect(1, 2, 12, 26);
    assert_int_equal(hint, other_channel);
    assert_int_equal(syncs.n, 1);
}

/* A hint that is of another pair, since the channel is now another one, does no harm. */
static void test_stale_hint(void **state)
{
    (void)state;
    uint32_t hint = 0;
    add(&hint, 1, 2, 10, 20);
    add(&hint, 3, 4, 30, 40);
    expect(1, 2, 10, 20);
    expect(3, 4, 30, 40);
    add(&hint, 1, 2, 50, 60);
    expect(1, 2, 50, 60);
    expect(3, 4, 30, 40);
}

static void test_many(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 100; i++) {
            for (uint32_t k = 0; k < 100; k++) {
                uint32_t hint = 0;
                add(&hint, i, k, round * 1000 + i, k);
            }
        }
    }
    for (uint32_t i = 0; i < 100; i++) {
        for (uint32_t k = 0; k < 100; k++)
            expect(i, k, 1000 + i, k);
    }
    assert_int_equal(syncs.n, 10000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_pairs),
        TEST(test_last_one_counts),
        TEST(test_stale_hint),
        TEST(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
