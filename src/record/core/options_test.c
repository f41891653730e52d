/* What the recorder makes of the environment. */
#include "record/core/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rec_options untouched = {.times = true};

/* Reads an environment that has these variables alone: pairs of name and value, then NULL. */
static void read_with(const char *const *variables)
{
    for (int i = 0; i < RFN_RECORD_N; i++)
        unsetenv(rfn_record_row((enum rfn_record_option)i)->variable);
    for (; *variables; variables += 2)
        setenv(variables[0], variables[1], 1);
    rec_options = untouched;
    rec_options_read();
}

static void test_defaults(void **state)
{
    (void)state;
    read_with((const char *const[]){NULL});
    assert_null(rec_options.output);
    assert_true(rec_options.times && rec_options.segments && rec_options.keep_short);
    assert_false(rec_options.exact_starts);
    assert_int_equal(rec_options.memory_bytes, 32 << 20);
    assert_int_equal(rec_options.resolution_ns, 1);
    assert_int_equal(rec_options.segment_min_calls, 1);
    assert_int_equal(rec_options.functions_min_ns, 0);
    assert_int_equal(rec_options.functions_rate, 10000);
    assert_int_equal(rec_options.path_ends.inner, 0);
    assert_int_equal(rec_options.merge_interval.segments, 0);
    assert_int_equal(rec_options.forced_roles, 0);
    assert_int_equal(rec_options.clock_sync, REC_CLOCK_SYNC_AUTO);
    assert_true(rec_options.cluster && rec_options.children && rec_options.write);
    assert_false(rec_options.force || rec_options.quiet || rec_options.start_off);
    assert_false(rec_options.all_polls);
    assert_string_equal(rec_options_criterion().method->name, "jitter");
    assert_null(rec_options.across);
    assert_string_equal(rec_options.program, "options_test");
    assert_non_null(strstr(rec_options.command, "options_test"));
}

static void test_values(void **state)
{
    (void)state;
    read_with((const char *const[]){"REFRAIN_OUTPUT",
                                    "/x.rfn",
                                    "REFRAIN_TIME",
                                    "full",
                                    "REFRAIN_FORCE",
                                    "1",
                                    "REFRAIN_QUIET",
                                    "0",
                                    "REFRAIN_MEMORY",
                                    "3M",
                                    "REFRAIN_RESOLUTION",
                                    "2us",
                                    "REFRAIN_COMMAND",
                                    "a b",
                                    "REFRAIN_FUNCTIONS",
                                    "f*",
                                    "REFRAIN_FUNCTIONS_MIN",
                                    "7us",
                                    "REFRAIN_FUNCTIONS_RATE",
                                    "none",
                                    "REFRAIN_CALL_PATH_MATCH",
                                    "ends:2,3",
                                    "REFRAIN_MERGE_INTERVAL",
                                    "1.5s",
                                    "REFRAIN_CLOCK_SYNC",
                                    "never",
                                    "REFRAIN_CHILDREN",
                                    "no",
                                    "REFRAIN_CLUSTER",
                                    "yes",
                                    "REFRAIN_POLLS",
                                    "all",
                                    "REFRAIN_IGNORE_PARAMETER",
                                    "peer",
                                    NULL});
    assert_string_equal(rec_options.output, "/x.rfn");
    assert_true(rec_options.times && !rec_options.segments && !rec_options.keep_short);
    assert_true(rec_options.force && !rec_options.quiet && rec_options.all_polls);
    assert_int_equal(rec_options.memory_bytes, 3 << 20);
    assert_int_equal(rec_options.resolution_ns, 2000);
    assert_string_equal(rec_options.command, "a b");
    assert_string_equal(rec_options.functions, "f*");
    assert_int_equal(rec_options.functions_min_ns, 7000);
    assert_true(rec_options.functions_rate == UINT64_MAX);
    assert_int_equal(rec_options.path_ends.outer, 2);
    assert_int_equal(rec_options.path_ends.inner, 3);
    assert_int_equal(rec_options.merge_interval.ns, 1500000000);
    assert_int_equal(rec_options.clock_sync, REC_CLOCK_SYNC_NEVER);
    assert_true(rec_options.cluster && !rec_options.children);
    assert_int_equal(rec_options.forced_roles, 1);
    assert_null(rec_options.texts[RFN_RECORD_QUIET]); /* as without */
    assert_null(rec_options.texts[RFN_RECORD_CLUSTER]);
}

static void test_reduction(void **state)
{
    (void)state;
    read_with((const char *const[]){"REFRAIN_TIME", "reduced", "REFRAIN_SIMILARITY", "avgWave:0.2",
                                    "REFRAIN_ACROSS", "0.4", "REFRAIN_SEGMENT_MIN_CALLS", "10",
                                    "REFRAIN_SEGMENT_STARTS", "exact", NULL});
    assert_true(rec_options.times && rec_options.segments && rec_options.exact_starts);
    assert_false(rec_options.keep_short);
    assert_string_equal(rec_options.across, "avgWave:0.4");
    assert_int_equal(rec_options.segment_min_calls, 10);
    assert_string_equal(rec_options_criterion().method->name, "avgWave");
    read_with((const char *const[]){"REFRAIN_TIME", "none", "REFRAIN_ACROSS", "all", NULL});
    assert_false(rec_options.times || rec_options.segments);
    assert_null(rec_options.across);
}

/* Without clusters there is nothing to merge in them. */
static void test_without_clusters(void **state)
{
    (void)state;
    read_with((const char *const[]){"REFRAIN_CLUSTER", "no", "REFRAIN_IGNORE_PARAMETER", "peer",
                                    "REFRAIN_MERGE_INTERVAL", "5", NULL});
    assert_false(rec_options.cluster);
    assert_int_equal(rec_options.forced_roles, 0);
    assert_int_equal(rec_options.merge_interval.segments, 0);
}

static void test_bad_values(void **state)
{
    (void)state;
    read_with((const char *const[]){
        "REFRAIN_TIME", "now", "REFRAIN_MEMORY", "1K", "REFRAIN_SIMILARITY", "wave",
        "REFRAIN_ACROSS", "iterK:1", "REFRAIN_RESOLUTION", "5", "REFRAIN_FORCE", "yes",
        "REFRAIN_CLUSTER", "perhaps", "REFRAIN_FUNCTIONS_RATE", "0", "REFRAIN_OUTPUT", "", NULL});
    assert_true(rec_options.times && rec_options.segments);
    assert_int_equal(rec_options.memory_bytes, 32 << 20);
    assert_string_equal(rec_options_criterion().method->name, "jitter");
    assert_null(rec_options.across);
    assert_null(rec_options.texts[RFN_RECORD_ACROSS]);
    assert_int_equal(rec_options.resolution_ns, 1);
    assert_false(rec_options.force);
    assert_true(rec_options.cluster);
    assert_int_equal(rec_options.functions_rate, 10000);
    assert_null(rec_options.output);
}

static void test_clean_environment(void **state)
{
    (void)state;
    read_with((const char *const[]){"REFRAIN_PRELOAD", "/r.so", "REFRAIN_CLOCK", "tsc",
                                    "LD_PRELOAD", "/a.so:/r.so /b.so", NULL});
    rec_options_clean_environment();
    assert_null(getenv("REFRAIN_PRELOAD"));
    assert_null(getenv("REFRAIN_CLOCK"));
    assert_string_equal(getenv("LD_PRELOAD"), "/a.so:/b.so");
    assert_string_equal(rec_options_text(RFN_RECORD_CLOCK), "tsc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),   cmocka_unit_test(test_values),
        cmocka_unit_test(test_reduction),  cmocka_unit_test(test_without_clusters),
        cmocka_unit_test(test_bad_values), cmocka_unit_test(test_clean_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
