/* Which call paths read the same. */
#include "explain/same_paths.h"

#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_same(void **state)
{
    struct rfn_same_paths same;
    (void)state;
    assert_int_equal(rfn_same_paths_init(&same, &fake), 0);
    assert_int_equal(rfn_same_paths_first(&same, EXCHANGE_88_TWIN), EXCHANGE_88);
    for (uint32_t i = 0; i < N_PATHS; i++) {
        if (i != EXCHANGE_88_TWIN)
            assert_int_equal(rfn_same_paths_first(&same, i), i);
    }
    assert_int_equal(rfn_same_paths_first(&same, N_PATHS), N_PATHS);
    assert_int_equal(rfn_same_paths_first(&same, UINT32_MAX), UINT32_MAX);
    rfn_same_paths_release(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
