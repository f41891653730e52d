/* Lists of ranks as users type them. */
#include "cli/args/rank_filter.h"

#include "refrain/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* Which of the first eight ranks a list has, as a text of 0 and 1. */
static void expect(const char *list, const char *members)
{
    struct rfn_rank_filter filter;
    assert_int_equal(rfn_rank_filter_init(&filter, list), 0);
    for (uint32_t i = 0; members[i]; i++)
        assert_int_equal(rfn_rank_filter_has(&filter, i), members[i] == '1');
    rfn_rank_filter_release(&filter);
}

static void test_lists(void **state)
{
    (void)state;
    expect("0", "10000000");
    expect("3", "00010000");
    expect("0-3,7", "11110001");
    expect("7,1-1", "01000001");
    expect("2-5,3-6", "00111110");
    expect("1-4294967294", "01111111");
}

static void test_wrong(void **state)
{
    static const char *const lists[] = {"",
                                        ",",
                                        "x",
                                        "-1",
                                        "1,",
                                        "1-",
                                        "3-1",
                                        "1--2",
                                        "1 2",
                                        "+1",
                                        "4294967295",
                                        "1-2-3",
                                        "0x1",
                                        "1;2",
                                        " 1",
                                        "1.5",
                                        ",1",
                                        "all",
                                        "99999999999999999999"};
    struct rfn_rank_filter filter;
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_int_equal(rfn_rank_filter_init(&filter, lists[i]), RFN_E_USAGE);
        assert_null(filter.ranges);
    }
}

static int64_t beyond(const char *list, uint32_t n)
{
    struct rfn_rank_filter filter;
    assert_int_equal(rfn_rank_filter_init(&filter, list), 0);
    int64_t rank = rfn_rank_filter_beyond(&filter, n);
    rfn_rank_filter_release(&filter);
    return rank;
}

static void test_beyond(void **state)
{
    (void)state;
    assert_int_equal(beyond("0-3,7", 8), -1);
    assert_int_equal(beyond("0-3,7", 7), 7);
    assert_int_equal(beyond("0-3,7", 2), 2);
    assert_int_equal(beyond("5-9", 3), 5);
    assert_int_equal(beyond("0", 0), 0);
    assert_int_equal(rfn_rank_filter_beyond(NULL, 3), -1);
    assert_true(rfn_rank_filter_has(NULL, 12345));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
