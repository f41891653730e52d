#include "cli/text/run_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct rfn_run reduced(const char *across)
{
    return (struct rfn_run){.reduced = true,
                            .similar = "iterK:10:average",
                            .across = across,
                            .file_bytes = 2048,
                            .reduction = {.executions = 1000,
                                          .kinds = 20,
                                          .representatives = 118,
                                          .corrections = 1,
                                          .streams = 16,
                                          .classes = 2,
                                          .time_sets = 4,
                                          .widened = 3,
                                          .full_bytes = 20480}};
}

static void expect_lines(const struct rfn_run *run, const char *expected)
{
    struct rfn_text out = {0};
    rfn_reduction_lines(&out, run);
    rfn_text_char(&out, '\0');
    assert_string_equal(out.data, expected);
    rfn_text_release(&out);
}

static void test_lines(void **state)
{
    (void)state;
    struct rfn_run run = reduced(NULL);
    expect_lines(&run, "Reduced     times are those of similar iterations (iterK 10 average)\n"
                       "Segments    1,000 of 20 kinds, 118 kept; 1 start corrected; the threshold "
                       "of 3 kinds widened\n"
                       "Matching    90.0 % of what can match\n"
                       "Was         20.0 KiB in full, of which this is 10 %\n");
    run.reduction = (struct rfn_run_reduction){.long_streams = 1};
    run.ranks = 128;
    expect_lines(&run,
                 "Reduced     times are those of similar iterations (iterK 10 average), as full "
                 "ones of 1 thread take more than 512 KiB\n"
                 "Segments    0 of 0 kinds, 0 kept; 0 starts corrected\n"
                 "Matching    100.0 % of what can match\n");
    run.reduced = false;
    expect_lines(&run, "");
    run.times = true;
    expect_lines(&run, "Times       full: of every event (each thread's take at most 512 KiB, or "
                       "--time=full)\n");
    run = reduced("avgWave:0.4");
    run.reduction.full_bytes = run.reduction.widened = 0;
    run.reduction.exact_starts = true;
    expect_lines(&run, "Reduced     times are those of similar iterations (iterK 10 average, "
                       "across processes avgWave 0.4); starts are exact\n"
                       "Segments    1,000 of 20 kinds, 118 kept; 1 start corrected\n"
                       "Matching    89.9 % of what can match\n"
                       "Times of    4 of 16 threads, which are of 2 classes\n");
    run.reduction.time_sets = 16;
    expect_lines(&run, "Reduced     times are those of similar iterations (iterK 10 average, "
                       "across processes avgWave 0.4, where no two went alike); starts are exact\n"
                       "Segments    1,000 of 20 kinds, 118 kept; 1 start corrected\n"
                       "Matching    88.7 % of what can match\n"
                       "Times of    16 of 16 threads, which are of 2 classes\n");
    run = reduced("avgWave:0.4");
    run.reduction = (struct rfn_run_reduction){.executions = 10,
                                               .kinds = 1,
                                               .representatives = 1,
                                               .streams = 16,
                                               .classes = 1,
                                               .time_sets = 1};
    expect_lines(&run, "Reduced     times are those of similar iterations (iterK 10 average, "
                       "across processes avgWave 0.4)\n"
                       "Segments    10 of 1 kind, 1 kept; 0 starts corrected\n"
                       "Matching    100.0 % of what can match\n"
                       "Times of    1 of 16 threads, which are of 1 class\n");
    run.reduced = false;
    expect_lines(&run, "");
    run.forced = "peer,count";
    expect_lines(&run, "Merged      some parameters are those of the lowest rank of each cluster "
                       "(peer,count), and messages may not match\n");
    run.forced = NULL;
    run.predicted = "rank:3 x 0.5";
    expect_lines(&run, "Predicted   times are predicted, not recorded: rank:3 x 0.5\n");
    run.predicted = "";
    expect_lines(&run, "Predicted   times are predicted, not recorded: nothing is assumed\n");
}

static void expect_across_one(uint64_t time_sets, const char *expected)
{
    struct rfn_run run = reduced("one");
    struct rfn_text out = {0};
    run.reduction.time_sets = time_sets;
    rfn_reduction_append(&out, &run);
    rfn_text_char(&out, '\0');
    assert_string_equal(out.data, expected);
    rfn_text_release(&out);
}

static void test_across_one(void **state)
{
    (void)state;
    expect_across_one(4,
                      "times are those of similar iterations (iterK 10 average), and times of one "
                      "rank stand for those of its cluster (those of 4 threads for 16)");
    expect_across_one(1,
                      "times are those of similar iterations (iterK 10 average), and times of one "
                      "rank stand for those of its cluster (those of 1 thread for 16)");
    expect_across_one(16, "times are those of similar iterations (iterK 10 average), each rank's "
                          "its own, as no two have the same loops and parameters");
}

static void test_degree(void **state)
{
    (void)state;
    struct rfn_run run = reduced(NULL);
    assert_true(rfn_reduction_degree(&run) == 882.0 / 980.0);
    run.across = "avgWave:0.4";
    assert_true(rfn_reduction_degree(&run) == 894.0 / 994.0);
    run.reduction = (struct rfn_run_reduction){0};
    assert_true(rfn_reduction_degree(&run) == 1.0);
    run.reduction.representatives = UINT64_MAX; /* a file that says nonsense */
    run.reduction.executions = 5;
    assert_true(rfn_reduction_degree(&run) == 0.0);
}

static void test_json(void **state)
{
    (void)state;
    struct rfn_run run = reduced(NULL);
    json_t *value = rfn_json_reduction(&run);
    assert_string_equal(json_string_value(json_object_get(value, "similarity")),
                        "iterK:10:average");
    assert_true(json_is_null(json_object_get(value, "across")));
    assert_int_equal(json_integer_value(json_object_get(value, "kept")), 118);
    assert_int_equal(json_integer_value(json_object_get(value, "full_bytes")), 20480);
    json_decref(value);
    run.reduced = false;
    value = rfn_json_reduction(&run);
    assert_true(json_is_null(value));
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_across_one),
        cmocka_unit_test(test_degree),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
