/* Which functions a list of patterns names. */
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void wanted(const char *patterns, const char *name)
{
    if (!rfn_function_wanted(patterns, name, NULL))
        fail_msg("%s does not name %s", patterns, name);
}

static void unwanted(const char *patterns, const char *name)
{
    if (rfn_function_wanted(patterns, name, NULL))
        fail_msg("%s names %s", patterns, name);
}

static void test_one_pattern(void **state)
{
    (void)state;
    wanted("solve", "solve");
    unwanted("solve", "solver");
    unwanted("solve", "resolve");
    wanted("*", "anything");
    wanted("*", "");
    wanted("**", "x");
    wanted("solve*", "solve");
    wanted("solve*", "solve_all");
    wanted("*solve*", "resolved");
    wanted("s?lve", "solve");
    unwanted("s?lve", "slve");
    unwanted("solve?", "solve");
    wanted("*a*b*c", "xaxbabxc");
    unwanted("*a*b*c", "xaxbabxcx");
    wanted("*ab", "aab");
    wanted("a::operator[]", "a::operator[]"); /* no sets of characters */
    unwanted("a[bc]", "ab");
    wanted("map<int?int>::*", "map<int,int>::find");
}

static void test_last_one_decides(void **state)
{
    (void)state;
    wanted("a*,b*", "bc");
    unwanted("a*,b*", "cc");
    unwanted("a*,!ab*", "abc");
    wanted("a*,!ab*", "acc");
    wanted("a*,!ab*,abc", "abc");
    wanted("!ab*", "zzz"); /* all others */
    unwanted("!ab*", "abc");
    unwanted("!a*,!b*", "bx");
    wanted("!a*,!b*", "c");
}

static void test_either_name(void **state)
{
    (void)state;
    assert_true(rfn_function_wanted("run", "run", "_Z3runv"));
    assert_true(rfn_function_wanted("_Z3run*", "run", "_Z3runv"));
    assert_false(rfn_function_wanted("*,!_Z3runv", "run", "_Z3runv"));
    assert_false(rfn_function_wanted("run", NULL, NULL));
    assert_true(rfn_function_wanted("app+*", NULL, "app+0x12"));
}

static void test_lists(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "*", "!a", "a,b", "a,!b", "!a,!b,c"};
    static const char *const bad[] = {"", ",", "a,", ",a", "a,,b", "!", "a,!", "!,a"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(rfn_function_patterns(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(rfn_function_patterns(bad[i]));
}

static void test_rates(void **state)
{
    (void)state;
    assert_int_equal(rfn_function_rate_parse("1"), 1);
    assert_int_equal(rfn_function_rate_parse("10000"), 10000);
    assert_int_equal(rfn_function_rate_parse("1000000000"), 1000000000);
    assert_true(rfn_function_rate_parse("none") == UINT64_MAX);
    static const char *const bad[] = {"",   "0",           "-1",         "1e3",
                                      "1k", "10000000000", "1000000001", " 1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(rfn_function_rate_parse(bad[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_pattern), cmocka_unit_test(test_last_one_decides),
        cmocka_unit_test(test_either_name), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
