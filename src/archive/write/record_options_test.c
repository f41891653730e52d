/* The table of options, and what each of them takes. */
#include "refrain/record_options.h"
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool takes(enum rfn_record_option option, const char *text)
{
    struct rfn_diag diag = {.text = ""};
    int error = rfn_record_check(option, "--it", text, &diag);
    assert_true(error == 0 || error == RFN_E_USAGE);
    assert_true((error != 0) == (strncmp(diag.text, "--it", 4) == 0));
    return error == 0;
}

static void refuses(enum rfn_record_option option, const char *text, const char *why)
{
    struct rfn_diag diag = {.text = ""};
    assert_int_equal(rfn_record_check(option, "--it", text, &diag), RFN_E_USAGE);
    assert_string_equal(diag.text, why);
}

/* Defaults are values; options, keys and variables are each their own. */
static void test_rows(void **state)
{
    (void)state;
    for (int i = 0; i < RFN_RECORD_N; i++) {
        const struct rfn_record_row *row = rfn_record_row((enum rfn_record_option)i);
        assert_true((row->option != NULL) == (i < RFN_RECORD_WITH_OPTION));
        assert_int_equal(strncmp(row->variable, "REFRAIN_", 8), 0);
        if (row->preset)
            assert_true(takes((enum rfn_record_option)i, row->preset));
        for (int k = 0; k < i; k++) {
            const struct rfn_record_row *other = rfn_record_row((enum rfn_record_option)k);
            assert_string_not_equal(row->variable, other->variable);
            if (row->option) {
                assert_string_not_equal(row->option, other->option);
                assert_int_not_equal(row->key, other->key);
            }
        }
    }
    assert_string_equal(rfn_record_row(RFN_RECORD_TIME)->variable, "REFRAIN_TIME");
    assert_int_equal(rfn_record_row(RFN_RECORD_OUTPUT)->key, 'o');
    assert_string_equal(rfn_record_row(RFN_RECORD_TOOL)->variable, "REFRAIN_TOOL");
}

static void test_words(void **state)
{
    (void)state;
    assert_true(takes(RFN_RECORD_POLLS, "runs"));
    assert_true(takes(RFN_RECORD_POLLS, "all"));
    assert_true(takes(RFN_RECORD_CHILDREN, "no"));
    assert_true(takes(RFN_RECORD_OUTPUT, "x"));
    refuses(RFN_RECORD_POLLS, "al", "--it is one of runs, all, not 'al'");
    refuses(RFN_RECORD_POLLS, "runs,all", "--it is one of runs, all, not 'runs,all'");
    refuses(RFN_RECORD_POLLS, "", "--it is one of runs, all, not ''");
    refuses(RFN_RECORD_FORCE, "yes", "--it is one of 1, 0, not 'yes'");
    refuses(RFN_RECORD_OUTPUT, "", "--it is the name of a file, not ''");
}

static void test_checked(void **state)
{
    (void)state;
    static const struct {
        enum rfn_record_option option;
        const char *good[3], *bad[4];
    } cases[] = {
        {RFN_RECORD_RESOLUTION, {"1ns", "50us", "1s"}, {"0", "5", "2s", "1 us"}},
        {RFN_RECORD_VOLUME, {"cpu", "instructions", "papi:PAPI_TOT_CYC"}, {"cycles", ""}},
        {RFN_RECORD_FUNCTIONS, {"*", "a*,!b?"}, {"", "a,,b", "!"}},
        {RFN_RECORD_FUNCTIONS_MIN, {"10us"}, {"0", "10"}},
        {RFN_RECORD_FUNCTIONS_RATE, {"1", "1000000000", "none"}, {"0", "1e6", "1000000001"}},
        {RFN_RECORD_MEMORY, {"1M", "1048576", "3G"}, {"1K", "32MB", "M", "99999999T"}},
        {RFN_RECORD_CALL_PATH_MATCH, {"all", "ends", "ends:2,3"}, {"ends:1,0", "some"}},
        {RFN_RECORD_SIMILARITY, {"jitter", "avgWave:0.2"}, {"", "wave", "avgWave:-1"}},
        {RFN_RECORD_SEGMENT_MIN_CALLS, {"1", "2147483647"}, {"0", "2147483648", "x", "1x"}},
        {RFN_RECORD_IGNORE_PARAMETER, {"peer", "peer,count"}, {"", "peer,cont"}},
        {RFN_RECORD_MERGE_INTERVAL, {"1", "30s", "0.5s"}, {"0", "1.5", "s"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int k = 0; k < 3 && cases[i].good[k]; k++)
            assert_true(takes(cases[i].option, cases[i].good[k]));
        for (int k = 0; k < 4 && cases[i].bad[k]; k++)
            assert_false(takes(cases[i].option, cases[i].bad[k]));
    }
    refuses(RFN_RECORD_RESOLUTION, "5x",
            "--it is a time from 1ns to 1s, as in 50ns or 1us, not '5x'");
    refuses(RFN_RECORD_SIMILARITY, "jitter:x",
            "--it: 'x' is not a threshold of jitter: a number from 0 on");
}

static void test_sizes(void **state)
{
    (void)state;
    assert_int_equal(rfn_size_parse("32M"), 32 << 20);
    assert_int_equal(rfn_size_parse("1048577"), 1048577);
    assert_int_equal(rfn_size_parse("2048K"), 2 << 20);
    assert_int_equal(rfn_size_parse("2T"), INT64_C(2) << 40);
    assert_int_equal(rfn_size_parse("1048575"), 0);
    assert_int_equal(rfn_size_parse("16777216T"), 0); /* 2^64 */
    assert_int_equal(rfn_size_parse("-1M"), 0);
    assert_int_equal(rfn_size_parse(" 1M"), 0);
    assert_int_equal(rfn_size_parse("1Mi"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_checked),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
