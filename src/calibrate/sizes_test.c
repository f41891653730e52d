/* Sizes: all different, spread over the exponents; every order comes about. */
#include "calibrate/sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

static bool has(const int64_t *bytes, size_t n, int64_t wanted)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == wanted)
            return true;
    }
    return false;
}

static void test_sizes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        int64_t bytes[CAL_MOST_SIZES];
        uint64_t random = seed;
        const size_t n = cal_sizes(bytes, 4040, &random);
        assert_in_range(n, CAL_SIZES * 3 / 4, CAL_MOST_SIZES);
        assert_int_equal(bytes[0], 1);
        assert_int_equal(bytes[n - 1], CAL_MOST_BYTES);
        for (size_t i = 1; i < n; i++)
            assert_true(bytes[i] > bytes[i - 1] && bytes[i] <= bytes[i - 1] * 3 / 2 + 1);
        assert_true(has(bytes, n, 4040) && has(bytes, n, 4041));
    }
}

/* No message, or every one, is sent eagerly. */
static void test_no_sides(void **state)
{
    (void)state;
    int64_t bytes[CAL_MOST_SIZES];
    uint64_t random = 7;
    size_t n = cal_sizes(bytes, 0, &random);
    assert_true(!has(bytes, n, 0));
    n = cal_sizes(bytes, CAL_MOST_BYTES, &random);
    assert_int_equal(bytes[n - 1], CAL_MOST_BYTES);
}

/* Each of three numbers is first, second and third in about a third of 3000 orders: 5 deviations.
 */
static void test_shuffle(void **state)
{
    (void)state;
    size_t times[3][3] = {{0}};
    uint64_t random = 3;
    for (int i = 0; i < 3000; i++) {
        size_t order[3];
        cal_shuffle(order, 3, &random);
        assert_int_equal(order[0] + order[1] + order[2], 3);
        for (int k = 0; k < 3; k++)
            times[k][order[k]]++;
    }
    for (int k = 0; k < 9; k++)
        assert_in_range(times[k / 3][k % 3], 1000 - 130, 1000 + 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_no_sides),
                                       cmocka_unit_test(test_shuffle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
