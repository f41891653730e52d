#include "reduce/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Of a run in which each call stands for so much, after some meetings. */
static uint64_t after(int meetings, uint64_t calls, uint64_t per_call, uint64_t every)
{
    for (int i = 0; i < meetings; i++)
        calls = rfn_pace_next(calls, calls * per_call, every);
    return calls;
}

static void test_doubles(void **state)
{
    (void)state;
    uint64_t calls = 1;
    for (int i = 1; i <= 6; i++) {
        calls = rfn_pace_next(calls, calls * 10, 1000);
        assert_int_equal(calls, 1 << i);
    }
    assert_int_equal(rfn_pace_next(calls, calls * 10, 1000), 100);
    assert_int_equal(rfn_pace_next(100, 1000, 1000), 100);
}

/* Whatever it was before, the interval is reached, and held. */
static void test_follows(void **state)
{
    (void)state;
    for (uint64_t per_call = 1; per_call < 5000; per_call = per_call * 3 + 1) {
        uint64_t wanted = per_call < 1000 ? (1000 + per_call / 2) / per_call : 1;
        assert_int_equal(after(40, 1, per_call, 1000), wanted);
        assert_int_equal(after(40, 1 << 20, per_call, 1000), wanted);
    }
}

static void test_limits(void **state)
{
    (void)state;
    assert_int_equal(rfn_pace_next(1, 0, 1), 2); /* nothing was done */
    assert_int_equal(rfn_pace_next(5, UINT64_MAX, 1), 1);
    assert_int_equal(after(80, 1, 0, UINT64_MAX), 1 << 30);
    assert_int_equal(rfn_pace_next(UINT64_MAX, 1, UINT64_MAX), 1 << 30);
    assert_int_equal(rfn_pace_next(UINT64_MAX, 1, 1), 1 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles),
        cmocka_unit_test(test_follows),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
