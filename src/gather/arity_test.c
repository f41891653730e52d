/* Steps of trees, and arities with the fewest. */
#include "gather/arity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

static void test_steps(void **state)
{
    (void)state;
    assert_int_equal(gth_steps(2, 1), 0);
    assert_int_equal(gth_steps(2, 7), 3);
    assert_int_equal(gth_steps(3, 9), 2);
    assert_int_equal(gth_steps(3, 10), 3);
    assert_int_equal(gth_steps(64, 2147483647), 6);
}

static void test_arity(void **state)
{
    (void)state;
    assert_int_equal(gth_arity(1, 1), 2);
    assert_int_equal(gth_arity(7, 7), 7);   /* one step */
    assert_int_equal(gth_arity(64, 64), 8); /* two */
    assert_int_equal(gth_arity(16, 16), 4);
    assert_int_equal(gth_arity(16, 2), 8); /* the first one inside of nodes */
    assert_int_equal(gth_arity(1000, 1000), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps), cmocka_unit_test(test_arity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
