#include "analyze/size_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* random-barrier on four ranks (Mohror, Fig. 14 and 15, Table 4): 50 iterations; 44 calls before, 6
 * after; an iteration has 10 calls and 4 messages on rank 0, 4 calls and 1 message elsewhere. */
static void test_full(void **state)
{
    (void)state;
    struct rfn_model_names names = {21, 39};
    uint64_t records = rfn_model_full_records(550, 200) + 3 * rfn_model_full_records(250, 50);
    assert_int_equal(records, 96000);
    /* The paper's inputs give this; its table has 5,769. */
    assert_int_equal(4 * rfn_model_full_names(&names), 3612);
}

/* Of the iterations three are kept. */
static void test_profile(void **state)
{
    (void)state;
    struct rfn_model_names names = {23, 39};
    struct rfn_model_group first = {1, 5, 52, 44 + 3 * 10 + 6, 3 * 4};
    struct rfn_model_group other = {1, 5, 52, 44 + 3 * 4 + 6, 3 * 1};
    assert_int_equal(rfn_model_profile_names(&names), 10 + 1012);
    assert_int_equal(rfn_model_profile_group(&names, &first),
                     9 + 225 + 629 + 5 + 17 + 1012 + 51 + 690 + 144 + 17 + 138);
    assert_int_equal(3 * rfn_model_profile_group(&names, &other),
                     27 + 675 + 1887 + 15 + 51 + 3036 + 153 + 828 + 108 + 51 + 414);
    assert_int_equal(rfn_model_profile_names(&names) + rfn_model_profile_group(&names, &first) +
                         3 * rfn_model_profile_group(&names, &other),
                     11204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_full), cmocka_unit_test(test_profile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
