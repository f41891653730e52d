/* Which frames of call paths count, as it is written on a command line. */
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_legal(void **state)
{
    static const struct {
        const char *text;
        struct rfn_path_ends ends;
    } cases[] = {{"all", {0, 0}},      {"ends", {1, 1}},     {"ends:1,1", {1, 1}},
                 {"ends:0,2", {0, 2}}, {"ends:3,1", {3, 1}}, {"ends:1000,1000", {1000, 1000}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rfn_path_ends ends = {7, 7};
        assert_true(rfn_path_match_parse(cases[i].text, &ends));
        assert_int_equal(ends.outer, cases[i].ends.outer);
        assert_int_equal(ends.inner, cases[i].ends.inner);
    }
}

static void test_illegal(void **state)
{
    static const char *const texts[] = {"",
                                        "ALL",
                                        "end",
                                        "ends:",
                                        "ends:1",
                                        "ends:1,",
                                        "ends:,1",
                                        "ends:1,0",
                                        "ends:-1,1",
                                        "ends:1, 1",
                                        "ends:1,1,",
                                        "ends:1,1001",
                                        "ends:1001,1",
                                        "ends:99999999999,1",
                                        "ends:1,1x"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rfn_path_ends ends = {7, 7};
        assert_false(rfn_path_match_parse(texts[i], &ends));
        assert_int_equal(ends.outer, 0);
        assert_int_equal(ends.inner, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_legal),
        cmocka_unit_test(test_illegal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
