#include "analyze/distances.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rfn_percentile *of(uint64_t from, uint64_t to, uint64_t factor)
{
    struct rfn_percentile *percentile = calloc(1, sizeof *percentile);
    assert_non_null(percentile);
    for (uint64_t i = from; i <= to; i++)
        rfn_percentile_add(percentile, i * factor);
    return percentile;
}

static void test_exact(void **state)
{
    (void)state;
    struct rfn_percentile *percentile = of(1, 0, 1);
    assert_int_equal(rfn_percentile_at(percentile, 0.9), 0);
    free(percentile);
    percentile = of(1, 1000, 1);
    assert_int_equal(rfn_percentile_at(percentile, 0.9), 900);
    assert_int_equal(rfn_percentile_at(percentile, 0.9001), 901);
    assert_int_equal(rfn_percentile_at(percentile, 0), 1);
    assert_int_equal(rfn_percentile_at(percentile, 1), 1000);
    free(percentile);
    percentile = of(7, 7, 1);
    assert_int_equal(rfn_percentile_at(percentile, 0.9), 7);
    free(percentile);
}

/* Above: a little too small, never too large. */
static void test_large(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 54; bits++) {
        uint64_t factor = (uint64_t)1 << bits;
        struct rfn_percentile *percentile = of(1, 1000, factor);
        for (unsigned share = 1; share <= 10; share++) {
            uint64_t exact = 100 * share * factor;
            uint64_t found = rfn_percentile_at(percentile, share / 10.0);
            assert_true(found <= exact && exact - found <= exact / 1024);
        }
        free(percentile);
    }
    struct rfn_percentile *percentile = of(UINT64_MAX, 0, 1);
    rfn_percentile_add(percentile, UINT64_MAX);
    assert_int_equal(rfn_percentile_at(percentile, 0.5), (uint64_t)2047 << 53);
    free(percentile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
