/* What can be asked of a recording, as it is written on a command line. */
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- resolutions ---- */

static void test_legal_resolutions(void **state)
{
    (void)state;
    assert_int_equal(rfn_resolution_parse("1ns"), 1);
    assert_int_equal(rfn_resolution_parse("50ns"), 50);
    assert_int_equal(rfn_resolution_parse("007us"), 7000);
    assert_int_equal(rfn_resolution_parse("3ms"), 3000000);
    assert_int_equal(rfn_resolution_parse("1s"), 1000000000);
    assert_int_equal(rfn_resolution_parse("1000000000ns"), 1000000000);
}

static void test_illegal_resolutions(void **state)
{
    static const char *const texts[] = {
        "",      "1",   "ns",    "0ns",         "-1ns",
        "+1ns",  "1 s", "1sec",  "1.5us",       "2s",
        "1000s", "1NS", "0x1ns", "9999999999s", "18446744073709551617ns"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(rfn_resolution_parse(texts[i]), 0);
}

/* ---- frames of call paths ---- */

static void test_legal_path_ends(void **state)
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

static void test_illegal_path_ends(void **state)
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

/* ---- how often ranks merge ---- */

static void test_legal_every(void **state)
{
    static const struct {
        const char *text;
        uint64_t segments, ns;
    } cases[] = {{"1", 1, 0},
                 {"1000", 1000, 0},
                 {"1000000000", 1000000000, 0},
                 {"30s", 0, 30000000000},
                 {"0.5s", 0, 500000000},
                 {"0.000000001s", 0, 1},
                 {"1000000.25s", 0, 1000000250000000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rfn_every every;
        assert_true(rfn_every_parse(cases[i].text, &every));
        assert_int_equal(every.segments, cases[i].segments);
        assert_int_equal(every.ns, cases[i].ns);
    }
}

static void test_illegal_every(void **state)
{
    static const char *const texts[] = {
        "",    "0",    "-1",         "+1",       "1.5",           "0s",          "0.0s",
        "s",   ".5s",  "1.s",        "1 s",      "1ms",           "1m",          "1S",
        "1e3", "0x10", "1000000001", "1000001s", "0.0000000001s", "99999999999", "1s "};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rfn_every every = {1, 1};
        assert_false(rfn_every_parse(texts[i], &every));
        assert_true(every.segments == 0 && every.ns == 0);
    }
}

static void test_snapshot_interval(void **state)
{
    (void)state;
    assert_int_equal(rfn_snapshot_interval_parse("0.1s"), 100000000);
    assert_int_equal(rfn_snapshot_interval_parse("60s"), 60000000000);
    assert_int_equal(rfn_snapshot_interval_parse("0.09s"), 0);
    assert_int_equal(rfn_snapshot_interval_parse("60"), 0); /* segments, elsewhere */
    assert_int_equal(rfn_snapshot_interval_parse("1m"), 0);
}

/* ---- functions ---- */

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_legal_resolutions),
                                       cmocka_unit_test(test_illegal_resolutions),
                                       cmocka_unit_test(test_legal_path_ends),
                                       cmocka_unit_test(test_illegal_path_ends),
                                       cmocka_unit_test(test_legal_every),
                                       cmocka_unit_test(test_illegal_every),
                                       cmocka_unit_test(test_snapshot_interval),
                                       cmocka_unit_test(test_one_pattern),
                                       cmocka_unit_test(test_last_one_decides),
                                       cmocka_unit_test(test_either_name),
                                       cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_rates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
