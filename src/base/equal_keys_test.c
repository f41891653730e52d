#include "base/equal_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_random(void **state)
{
    (void)state;
    enum { MOST = 60 };
    srand(1);
    for (int round = 0; round < 500; round++) {
        uint64_t keys[MOST];
        uint32_t first[MOST], n = (uint32_t)rand() % MOST;
        for (uint32_t i = 0; i < n; i++)
            keys[i] = (uint64_t)(rand() % 30) << 40;
        assert_int_equal(rfn_first_equal(keys, n, first), 0);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t lowest = 0;
            while (keys[lowest] != keys[i])
                lowest++;
            assert_int_equal(first[i], lowest);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
