#include "reduce/segments/similarity.h"

#include "reduce/segments/wave.h"
#include "refrain/recording.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX = 64 };

static bool similar(const struct rfn_criterion *criterion, const int64_t *a, const int64_t *b,
                    size_t n)
{
    double first[MAX], second[MAX];
    struct rfn_wave wave_a = {first, 0}, wave_b = {second, 0};
    size_t length = rfn_similarity_length(criterion->method, n);
    assert_true(length <= MAX);
    wave_a.largest = rfn_similarity_transform(criterion->method, a, n, first);
    wave_b.largest = rfn_similarity_transform(criterion->method, b, n, second);
    return rfn_similar(criterion, &wave_a, &wave_b, length);
}

static double distance(const struct rfn_similarity *method, const int64_t *a, const int64_t *b,
                       size_t n)
{
    double first[MAX], second[MAX];
    rfn_similarity_transform(method, a, n, first);
    rfn_similarity_transform(method, b, n, second);
    return rfn_similarity_distance(method, first, second, rfn_similarity_length(method, n));
}

/* ---- Mohror's example: Fig. 9, 4.3.1.1 to 4.3.1.4 ---- */

/* 0, enter and exit of do_work, enter and exit of MPI_Allgather, end. */
enum { N = 6 };
static const int64_t s0[N] = {0, 1, 20, 21, 49, 50}, s1[N] = {0, 1, 40, 41, 50, 51},
                     s2[N] = {0, 1, 17, 18, 48, 49};

static void assert_near(double value, double expected, double error)
{
    assert_true(value > expected - error && value < expected + error);
}

static void expect(const struct rfn_similarity *method, double threshold, bool s2_s1, bool s2_s0)
{
    struct rfn_criterion criterion = {
        .method = method, .threshold = threshold, .more = (double)method->more_ns};
    assert_int_equal(similar(&criterion, s2, s1, N), s2_s1);
    assert_int_equal(similar(&criterion, s2, s0, N), s2_s0);
}

static void test_rel_diff(void **state)
{
    (void)state;
    expect(&rfn_rel_diff, 0.5, false, true);
    assert_near(distance(&rfn_rel_diff, s2, s1, N), 0.575, 1e-9); /* 17 against 40 */
    assert_near(distance(&rfn_rel_diff, s2, s0, N), 0.15, 1e-9);  /* 17 against 20 */
    expect(&rfn_rel_diff, 0.575, true, true);
    expect(&rfn_rel_diff, 0.15, false, true);
    expect(&rfn_rel_diff, 0.149, false, false);
    assert_true(rfn_rel_diff.difference(0, 0) == 0);
    assert_true(rfn_rel_diff.difference(0, 5) == 1);
    assert_true(rfn_rel_diff.difference(100, 125) == 0.2);
}

/* The threshold is in microseconds, a vector in nanoseconds. */
static void test_abs_diff(void **state)
{
    (void)state;
    expect(&rfn_abs_diff, 0.020, false, true);
    expect(&rfn_abs_diff, 0.023, true, true);
    expect(&rfn_abs_diff, 0.003, false, true);
    expect(&rfn_abs_diff, 0.0029, false, false);
    assert_near(distance(&rfn_abs_diff, s2, s1, N), 23, 1e-9);
    struct rfn_criterion criterion = {.method = &rfn_abs_diff, .threshold = 1000};
    assert_true(similar(&criterion, (int64_t[]){0, 5}, (int64_t[]){0, 1000005}, 2));
    assert_false(similar(&criterion, (int64_t[]){0, 5}, (int64_t[]){0, 1000006}, 2));
}

/* The example's vectors have no 0 in front, which makes no difference here. The largest is 51, of
 * s2 and s0 50: at 0.2 distances up to 10.2 and 10 are similar. */
static void test_manhattan(void **state)
{
    (void)state;
    assert_near(distance(&rfn_manhattan, s2, s1, N), 50, 1e-9);
    assert_near(distance(&rfn_manhattan, s2, s0, N), 8, 1e-9);
    expect(&rfn_manhattan, 0.2, false, true);
    expect(&rfn_manhattan, 0.15, false, false);
    expect(&rfn_manhattan, 0.981, true, true); /* 50 / 51 = 0.980 */
}

static void test_euclidean(void **state)
{
    (void)state;
    assert_near(distance(&rfn_euclidean, s2, s1, N), 32.6 * 32.6, 5);
    assert_near(distance(&rfn_euclidean, s2, s0, N), 20, 1e-9); /* 4.5 */
    expect(&rfn_euclidean, 0.2, false, true);
    expect(&rfn_euclidean, 0.0894, false, false); /* 4.472 / 50 = 0.08944 */
    expect(&rfn_euclidean, 0.0895, false, true);
    expect(&rfn_euclidean, 0.641, true, true); /* 32.65 / 51 = 0.6402 */
}

static void test_chebyshev(void **state)
{
    (void)state;
    assert_near(distance(&rfn_chebyshev, s2, s1, N), 23, 1e-9);
    assert_near(distance(&rfn_chebyshev, s2, s0, N), 3, 1e-9);
    expect(&rfn_chebyshev, 0.2, false, true);
    expect(&rfn_chebyshev, 0.06, false, true);
    expect(&rfn_chebyshev, 0.059, false, false);
}

/* As chebyshev, with a millisecond more. */
static void test_jitter(void **state)
{
    (void)state;
    assert_near(distance(&rfn_jitter, s2, s1, N), 23, 1e-9);
    expect(&rfn_jitter, 0.02, true, true); /* 20 us: all of the example is shorter */
    expect(&rfn_jitter, 0.00001, false, true);
    expect(&rfn_jitter, 0.000003, false, true);
    expect(&rfn_jitter, 0.0000029, false, false);
    expect(&rfn_jitter, 0, false, false);
    struct rfn_criterion criterion = {
        .method = &rfn_jitter, .threshold = 0.02, .more = (double)rfn_jitter.more_ns};
    static const struct {
        int64_t a, b; /* ends */
        bool same;
    } pairs[] = {{10000, 30000, true},         {10000, 31000, false},
                 {1000000, 1040000, true},     {1000000, 1041000, false},
                 {100000000, 102000000, true}, {100000000, 103000000, false}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(
            similar(&criterion, (int64_t[]){0, pairs[i].a}, (int64_t[]){0, pairs[i].b}, 2),
            pairs[i].same);
}

/* Fig. 12: (0,1,20,21,49,50,0,0), largest element 17.625. */
static void test_avg_wave(void **state)
{
    (void)state;
    double wave[8];
    assert_int_equal(rfn_similarity_length(&rfn_avg_wave, N), 8);
    assert_true(rfn_similarity_transform(&rfn_avg_wave, s0, N, wave) == 17.625);
    assert_near(distance(&rfn_avg_wave, s0, s2, N), 1.94 * 1.94, 0.02);
    expect(&rfn_avg_wave, 0.2, false, true);
    expect(&rfn_avg_wave, 0.1098, false, false); /* 1.9365 / 17.625 = 0.10987 */
    expect(&rfn_avg_wave, 0.1099, false, true);
}

static void test_haar_wave(void **state)
{
    (void)state;
    double wave[8];
    assert_near(rfn_similarity_transform(&rfn_haar_wave, s0, N, wave), 49.85, 0.005);
    /* 4.47: that of the vectors */
    assert_near(distance(&rfn_haar_wave, s0, s2, N), 20, 1e-9);
    assert_near(distance(&rfn_haar_wave, s2, s1, N), distance(&rfn_euclidean, s2, s1, N), 1e-9);
    expect(&rfn_haar_wave, 0.2, false, true); /* under 9.97 */
    expect(&rfn_haar_wave, 0.0897, false, false);
    expect(&rfn_haar_wave, 0.0898, false, true); /* 4.472 / 49.85 = 0.0897 */
}

/* 4.3.2.1: k of each kind. What that does to segments the store's tests show. */
static void test_iter_k(void **state)
{
    (void)state;
    assert_int_equal(rfn_iter_k.kept(3), 3);
    assert_int_equal(rfn_iter_k.kept(0), 1);
    assert_int_equal(rfn_iter_k.kept(1e30), UINT32_MAX);
    assert_false(rfn_iter_k.averages);
    assert_null(rfn_iter_k.difference);
}

static void test_iter_avg(void **state)
{
    (void)state;
    assert_int_equal(rfn_iter_avg.kept(0), 1);
    assert_true(rfn_iter_avg.averages);
}

/* ---- what holds for every method that measures ---- */

static uint64_t random_state = 1;

static uint64_t noise(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

/* A vector of ascending times, near another one if there is one. */
static void make_vector(int64_t *vector, const int64_t *near, size_t n)
{
    uint64_t range = (uint64_t)1 << noise(40);
    vector[0] = 0;
    for (size_t i = 1; i < n; i++) {
        int64_t step = near ? near[i] - near[i - 1] : (int64_t)noise(range);
        step += near && !noise(3) ? (int64_t)noise((uint64_t)step / 2 + 2) : 0;
        vector[i] = vector[i - 1] + step;
    }
}

static const double thresholds[] = {0, 0.001, 0.1, 0.2, 0.4, 0.8, 1, 1000};

static void check_pair(const struct rfn_similarity *method, const int64_t *a, const int64_t *b,
                       size_t n, size_t *both)
{
    bool before = false;
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        struct rfn_criterion criterion = {
            .method = method, .threshold = thresholds[i], .more = (double)method->more_ns};
        bool now = similar(&criterion, a, b, n);
        assert_true(similar(&criterion, a, a, n));
        assert_int_equal(similar(&criterion, b, a, n), now);
        assert_true(now || !before); /* a larger threshold takes more in */
        before = now;
        both[now]++;
    }
}

/* Symmetric, like itself, monotonic in the threshold. */
static void test_properties(void **state)
{
    (void)state;
    for (size_t m = 0; rfn_similarity_method(m); m++) {
        const struct rfn_similarity *method = rfn_similarity_method(m);
        size_t both[2] = {0, 0};
        for (int round = 0; method->difference && round < 2000; round++) {
            int64_t a[MAX], b[MAX];
            size_t n = 2 + 2 * (size_t)noise(15);
            make_vector(a, NULL, n);
            make_vector(b, a, n);
            check_pair(method, a, b, n, both);
        }
        /* The test saw both answers often. */
        assert_true(!method->difference || (both[0] > 500 && both[1] > 500));
    }
}

/* The loop of a method does what its parts say. */
static void test_within(void **state)
{
    (void)state;
    for (size_t m = 0; rfn_similarity_method(m); m++) {
        const struct rfn_similarity *method = rfn_similarity_method(m);
        for (int round = 0; method->difference && round < 3000; round++) {
            double a[MAX], b[MAX];
            size_t n = noise(20);
            for (size_t i = 0; i < n; i++) {
                a[i] = (double)noise(1000);
                b[i] = a[i] + (noise(3) ? 0 : (double)noise(500));
            }
            double exact = rfn_similarity_distance(method, a, b, n);
            assert_true(method->near(a, b, n, exact * (1 + 1e-12)));
            assert_true(method->near(b, a, n, exact * (1 + 1e-12)));
            assert_true(exact == 0 || !method->near(a, b, n, exact * (1 - 1e-12)));
        }
    }
}

/* What the index relies on: a difference does not fall when its arguments move apart, nor what is
 * allowed when the largest element grows. */
static void test_monotonic(void **state)
{
    (void)state;
    for (size_t m = 0; rfn_similarity_method(m); m++) {
        const struct rfn_similarity *method = rfn_similarity_method(m);
        for (int round = 0; method->difference && round < 20000; round++) {
            uint64_t range = (uint64_t)1 << (1 + noise(40));
            double a = (double)noise(range), b = a + (double)noise(range);
            double c = b + (double)noise(range), margin = 1 + 1e-12;
            assert_true(method->difference(a, b) <= method->difference(a, c) * margin);
            assert_true(method->difference(b, c) <= method->difference(a, c) * margin);
            assert_true(method->allowed(0.3, a) <= method->allowed(0.3, b));
        }
    }
}

/* Clocks that run backwards make negative elements: nothing but odd results may come of it. */
static void test_negative(void **state)
{
    (void)state;
    const int64_t a[] = {0, -5, INT64_MIN, 3}, b[] = {0, 5, INT64_MAX, -3};
    for (size_t m = 0; rfn_similarity_method(m); m++) {
        struct rfn_criterion criterion = {.method = rfn_similarity_method(m),
                                          .threshold = 0.5,
                                          .more = (double)rfn_similarity_method(m)->more_ns};
        if (!criterion.method->difference)
            continue;
        assert_true(similar(&criterion, a, a, 4));
        assert_int_equal(similar(&criterion, a, b, 4), similar(&criterion, b, a, 4));
    }
}

/* ---- the wavelets alone ---- */

static void test_wave(void **state)
{
    (void)state;
    double wave[8] = {0, 1, 20, 21, 49, 50, 0, 0};
    assert_int_equal(rfn_wave_length(1), 1);
    assert_int_equal(rfn_wave_length(8), 8);
    assert_int_equal(rfn_wave_length(9), 16);
    rfn_wave_transform(wave, 8, 0.5);
    /* level by level: 0.5 20.5 49.5 0, then 10.5 24.75, then 17.625: the largest element */
    const double expected[] = {17.625, 7.125, 10, -24.75, 0.5, 0.5, 0.5, 0};
    assert_memory_equal(wave, expected, sizeof expected);
    rfn_wave_transform(wave, 1, 0.5);
    assert_true(wave[0] == 17.625);
}

/* ---- METHOD:THRESHOLD ---- */

static void expect_criterion(const char *text, const struct rfn_similarity *method,
                             double threshold, enum rfn_later later)
{
    struct rfn_criterion criterion;
    struct rfn_diag diag;
    assert_int_equal(rfn_criterion_parse(text, false, &criterion, &diag), 0);
    assert_ptr_equal(criterion.method, method);
    assert_true(criterion.threshold == threshold);
    assert_int_equal(criterion.later, later);
}

static void expect_usage(const char *text, bool across, const char *part)
{
    struct rfn_criterion criterion;
    struct rfn_diag diag = {0};
    assert_int_equal(rfn_criterion_parse(text, across, &criterion, &diag), RFN_E_USAGE);
    assert_non_null(strstr(diag.text, part));
}

static void test_parse(void **state)
{
    (void)state;
    struct rfn_criterion criterion;
    expect_criterion("avgWave:0.2", &rfn_avg_wave, 0.2, RFN_LATER_LAST);
    expect_criterion("avgWave", &rfn_avg_wave, 0.2, RFN_LATER_LAST);
    expect_criterion("absDiff:1e3", &rfn_abs_diff, 1000, RFN_LATER_LAST);
    expect_criterion("relDiff:.5", &rfn_rel_diff, 0.5, RFN_LATER_LAST);
    expect_criterion("iterK", &rfn_iter_k, 10, RFN_LATER_LAST);
    expect_criterion("iterK:3", &rfn_iter_k, 3, RFN_LATER_LAST);
    expect_criterion("iterK:3:average", &rfn_iter_k, 3, RFN_LATER_AVERAGE);
    expect_criterion("iterK:3:centroid", &rfn_iter_k, 3, RFN_LATER_CENTROID);
    expect_criterion("iterAvg", &rfn_iter_avg, 0, RFN_LATER_LAST);
    assert_int_equal(rfn_criterion_parse("absDiff", true, &criterion, NULL), 0);
    assert_true(criterion.threshold == 10000);
    assert_int_equal(rfn_criterion_parse("euclidean", true, &criterion, NULL), 0);
    assert_true(criterion.threshold == 0.4);
}

static void test_parse_errors(void **state)
{
    (void)state;
    expect_usage("avgwave:0.2", false, "relDiff, absDiff, manhattan");
    expect_usage("", false, "iterAvg");
    expect_usage("avgWave:", false, "from 0 on");
    const char *bad[] = {"-0.1", "nan", "inf", "0x10", " 1", "1e999", "0.2:average", "0.2x", "1-2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[32] = "avgWave:";
        expect_usage(strcat(text, bad[i]), false, "is not a threshold of avgWave");
    }
    expect_usage("iterK:0", false, "whole number");
    expect_usage("iterK:2.5", false, "whole number");
    expect_usage("iterK:5000000000", false, "whole number");
    expect_usage("iterK:3:median", false, "whole number");
    expect_usage("iterAvg:1", false, "has none");
    expect_usage("iterK:3", true, "does not compare processes");
}

/* What is given for processes, and within them. */
static void expect_across(const char *given, const char *similar, const char *expected)
{
    char text[RFN_ACROSS_TEXT] = "before";
    struct rfn_diag diag = {0};
    int error = rfn_across_text(given, similar, text, &diag);
    assert_int_equal(error, expected[0] ? 0 : RFN_E_USAGE);
    assert_string_equal(text, expected);
    assert_int_equal(diag.text[0] != 0, error != 0);
}

static void test_across(void **state)
{
    (void)state;
    expect_across("0.4", "jitter:0.02", "jitter:0.4");
    expect_across("", "avgWave:0.1", "avgWave:0.4");
    expect_across("", "absDiff", "absDiff:10000");
    expect_across(".5", "euclidean", "euclidean:0.5");
    expect_across("chebyshev", "iterK:3:average", "chebyshev:0.4");
    expect_across("chebyshev:1e-1", "jitter", "chebyshev:0.1");
    expect_across("0.4", "iterK:3", "");
    expect_across("iterAvg", "jitter", "");
    expect_across("-1", "jitter", "");
    expect_across("./program", "jitter", "");
    expect_across("nearly:0.4", "jitter", "");
    expect_across("one", "iterK:3", "one");
    expect_across("one:3", "jitter", "");
    expect_usage("one", true, "no similarity method 'one'");
    char longest[1000], text[RFN_ACROSS_TEXT] = "before";
    assert_int_equal(rfn_across_text("all", "jitter", text, NULL), 0);
    assert_string_equal(text, "");
    memset(longest, '1', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    expect_across(longest, "jitter", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rel_diff),     cmocka_unit_test(test_abs_diff),
        cmocka_unit_test(test_manhattan),    cmocka_unit_test(test_euclidean),
        cmocka_unit_test(test_chebyshev),    cmocka_unit_test(test_avg_wave),
        cmocka_unit_test(test_haar_wave),    cmocka_unit_test(test_iter_k),
        cmocka_unit_test(test_iter_avg),     cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_properties),   cmocka_unit_test(test_monotonic),
        cmocka_unit_test(test_within),       cmocka_unit_test(test_negative),
        cmocka_unit_test(test_wave),         cmocka_unit_test(test_parse),
        cmocka_unit_test(test_parse_errors), cmocka_unit_test(test_across),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
