/* Intervals with known answers, and how often they hold. */
#include "reduce/samples/sample_table.h"
#include "reduce/samples/strategy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.10g, but %.10g is expected", value, expected);
}

static void assert_interval(struct rfn_sample_interval interval, double value, double low,
                            double high)
{
    assert_near(interval.value, value, 1e-12);
    assert_near(interval.low, low, 1e-6);
    assert_near(interval.high, high, 1e-6);
}

static void add(struct rfn_sample_row *row, double ns, double weight)
{
    const struct rfn_sample_values values = {.latency_ns = ns, .weight = weight};
    rfn_sample_row_sample(row, &values, true);
}

/* ---- means ---- */

/* n samples with a mean of 1000000 and a deviation of 100. */
static struct rfn_sample_row with_moments(uint64_t n)
{
    return (struct rfn_sample_row){.n = n,
                                   .weight = (double)n,
                                   .weight2 = (double)n,
                                   .mean_ns = 1e6,
                                   .moment2 = 1e4 * (double)(n - 1),
                                   .min_ns = 9e5,
                                   .max_ns = 2e6};
}

static void test_student(void **state)
{
    (void)state;
    static const struct {
        uint64_t degrees;
        double t; /* 97.5 % */
    } known[] = {{1, 12.7062047}, {2, 4.3026527},   {5, 2.5705818},     {9, 2.2621572},
                 {10, 2.2281389}, {11, 2.2009852},  {15, 2.1314495},    {20, 2.0859634},
                 {30, 2.0422725}, {100, 1.9839715}, {1000000, 1.959966}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct rfn_sample_row row = with_moments(known[i].degrees + 1);
        const struct rfn_sample_interval mean = rfn_sample_mean(&row, 0);
        const double half = known[i].t * 100 / sqrt((double)row.n);
        assert_true(mean.value == 1e6);
        assert_near(rfn_sample_deviation_ns(&row), 100, 1e-14);
        assert_near(mean.high - 1e6, half, 5e-6);
        assert_near(1e6 - mean.low, half, 5e-6);
    }
}

static void test_finite_population(void **state)
{
    (void)state;
    const struct rfn_sample_row row = with_moments(101);
    const double half = 1.9839715 * 100 / sqrt(101);
    assert_interval(rfn_sample_mean(&row, 101e9), 1e6, 1e6 - half, 1e6 + half);
    assert_interval(rfn_sample_mean(&row, 404), 1e6, 1e6 - half * sqrt(0.75),
                    1e6 + half * sqrt(0.75));
    const struct rfn_sample_interval nearly = rfn_sample_mean(&row, 101.01);
    assert_true(nearly.low < 1e6 && nearly.low > 1e6 - half / 50);
    assert_interval(rfn_sample_mean(&row, 101), 1e6, 1e6, 1e6);
    assert_interval(rfn_sample_mean(&row, 50), 1e6, 1e6, 1e6);
}

/* Weights 1, 1, 2 and 10, 20, 30: n = 16 / 6, mean = 90 / 4, moment = 275. */
static void test_weighted_mean(void **state)
{
    (void)state;
    struct rfn_sample_row row = {0};
    add(&row, 10, 1);
    add(&row, 20, 1);
    add(&row, 30, 2);
    const double n = 16.0 / 6, variance = 275.0 / 4 * (n / (n - 1));
    assert_near(variance, 110, 1e-14);
    assert_near(rfn_sample_deviation_ns(&row), sqrt(variance), 1e-14);
    const struct rfn_sample_interval mean = rfn_sample_mean(&row, 4e9);
    assert_near(mean.value, 22.5, 1e-14);
    assert_near(mean.high, 22.5 + 12.7062047 * sqrt(variance / n), 1e-6);
    assert_true(mean.low == 0); /* there are no negative latencies */
    row.min_ns = -1;
    assert_near(rfn_sample_mean(&row, 0).low, 22.5 - 12.7062047 * sqrt(variance / n), 1e-6);
}

static void test_too_few(void **state)
{
    (void)state;
    struct rfn_sample_row row = {.messages = 5};
    assert_true(isnan(rfn_sample_mean(&row, 5).value) && isnan(rfn_sample_mean(&row, 5).high));
    assert_true(isnan(rfn_sample_quantile(&row, 0.5, 5).value));
    assert_true(isnan(rfn_sample_deviation_ns(&row)));
    add(&row, 1000, 100);
    const struct rfn_sample_interval mean = rfn_sample_mean(&row, 5),
                                     median = rfn_sample_quantile(&row, 0.5, 5);
    assert_true(mean.value == 1000 && isnan(mean.low) && isnan(mean.high));
    assert_true(median.value == 1000 && isnan(median.low) && isnan(median.high));
    assert_true(isnan(rfn_sample_deviation_ns(&row)));
    assert_interval(rfn_sample_mean(&row, 1), 1000, 1000, 1000);
    assert_interval(rfn_sample_quantile(&row, 0.99, 1), 1000, 1000, 1000);
    /* Without a histogram there is a mean. */
    const struct rfn_sample_row few = with_moments(4);
    assert_true(isnan(rfn_sample_quantile(&few, 0.5, 100).value));
    assert_true(rfn_sample_mean(&few, 100).low > 0);
}

/* ---- quantiles ---- */

/* n samples of which the one at the quantile has a bucket of its own, and all before it and behind
 * it have one, which they fill. An end of an interval then says which order statistic it is. */
struct ranks {
    struct rfn_sample_row row;
    double before, behind;
};

enum { BEFORE = 1 << 16, BUCKET_NS = 1 << 11, BEHIND = BEFORE + 2 * BUCKET_NS };

static struct ranks with_ranks(double n, double q)
{
    struct ranks ranks = {.before = ceil(q * n) - 1};
    struct rfn_sample_row *row = &ranks.row;
    ranks.behind = n - ranks.before - 1;
    row->n = (uint64_t)n;
    row->weight = row->weight2 = n;
    row->min_ns = BEFORE;
    row->max_ns = BEHIND + BUCKET_NS;
    row->buckets[rfn_sample_bucket(BEFORE)] = ranks.before;
    row->buckets[rfn_sample_bucket(BEFORE + BUCKET_NS)] = 1;
    row->buckets[rfn_sample_bucket(BEHIND)] = ranks.behind;
    return ranks;
}

/* Which one lies in the middle of its stretch of 1. */
static double rank_of_low(const struct ranks *ranks, double low)
{
    return (low - BEFORE) / BUCKET_NS * ranks->before + 0.5;
}
static double rank_of_high(const struct ranks *ranks, double high)
{
    return (high - BEHIND) / BUCKET_NS * ranks->behind + ranks->before + 1 + 0.5;
}

/* Exact quantiles of the binomial distribution, from sums of its terms with 40 digits. */
static void test_binomial(void **state)
{
    (void)state;
    static const struct {
        double n, q, low, high, error;
    } known[] = {
        {1, 0.5, 0, 1, 0},
        {5, 0.5, 0, 5, 0},
        {6, 0.5, 1, 5, 0},
        {10, 0.5, 2, 8, 0},
        {100, 0.5, 40, 60, 0},
        {100, 0.9, 84, 95, 0},
        {1000, 0.5, 469, 531, 0},
        {39999, 0.5, 19804, 20195, 0},
        {50000, 0.25, 12310, 12690, 0},
        {367, 0.99, 359, 367, 0}, /* the first of them that has no end above, */
        {368, 0.99, 360, 367, 0}, /* and the first one that has */
        {1000, 0.99, 983, 996, 0},
        {3687, 0.999, 3679, 3687, 0},
        {3688, 0.999, 3680, 3687, 0},
        {10000, 0.999, 9983, 9996, 0},
        {1000000, 0.99, 989805, 990195, 0},
        {60000, 0.5, 29760, 30240, 1},
        {60000, 0.25, 14792, 15208, 1},
        {1200000, 0.99, 1187786, 1188213, 1},
        {20000000, 0.999, 19979722, 19980277, 1},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const double n = known[i].n, error = known[i].error + 1e-3;
        const struct ranks ranks = with_ranks(n, known[i].q);
        const struct rfn_sample_interval interval = rfn_sample_quantile(&ranks.row, known[i].q, 0);
        assert_near(interval.value, BEFORE + 1.5 * BUCKET_NS, n > 1 ? 1e-12 : 1);
        if (known[i].low < 1)
            assert_true(isnan(interval.low));
        else
            assert_true(fabs(rank_of_low(&ranks, interval.low) - known[i].low) <= error);
        if (known[i].high + 1 > n)
            assert_true(isnan(interval.high));
        else
            assert_true(fabs(rank_of_high(&ranks, interval.high) - known[i].high - 1) <= error);
    }
}

/* 1000 of 2000 say as much as 2000 of very many; all of them say all. */
static void test_quantile_of_finite_population(void **state)
{
    (void)state;
    const struct ranks ranks = with_ranks(1000, 0.5);
    const struct rfn_sample_interval interval = rfn_sample_quantile(&ranks.row, 0.5, 2000);
    const double low = (956 - 0.5) / 2, high = (1044 + 1 - 0.5) / 2; /* samples at or below */
    assert_true(fabs(rank_of_low(&ranks, interval.low) - 0.5 - low) < 1e-3);
    assert_true(fabs(rank_of_high(&ranks, interval.high) - 0.5 - high) < 1e-3);
    const double all = BEFORE + 1.5 * BUCKET_NS;
    assert_interval(rfn_sample_quantile(&ranks.row, 0.5, 1000), all, all - BUCKET_NS / 2.0,
                    all + BUCKET_NS / 2.0);
}

/* Of 1000 samples that are equal each quantile is known up to its bucket, as well as of all. */
static void test_equal_samples(void **state)
{
    (void)state;
    enum { LOW_END = 1 << 13 };
    struct rfn_sample_row row = {0};
    add(&row, LOW_END / 2, 1);
    for (int i = 0; i < 1000; i++)
        add(&row, LOW_END, 1);
    add(&row, LOW_END * 2, 1);
    for (int i = 1; i < 10; i++) {
        const struct rfn_sample_interval interval = rfn_sample_quantile(&row, i / 10.0, 1e6);
        assert_true(interval.low == LOW_END && interval.high == LOW_END * (1 + 1.0 / 32));
    }
}

/* In a bucket below the least latency, or above the largest, as damaged files have them. */
static void test_impossible_bucket(void **state)
{
    (void)state;
    for (int above = 0; above < 2; above++) {
        struct rfn_sample_row row = {0};
        add(&row, 5000, 1);
        memset(row.buckets, 0, sizeof row.buckets);
        row.buckets[rfn_sample_bucket(above ? 70000 : 300)] = 1;
        for (int i = 1; i < 10; i++) {
            const struct rfn_sample_interval interval = rfn_sample_quantile(&row, i / 10.0, 1);
            assert_true(interval.low <= interval.value && interval.value <= interval.high);
        }
    }
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Within 1.6 % of the value itself, whatever the latencies are. */
static void expect_close(double *ns, size_t n)
{
    static const double quantiles[] = {0.01, 0.1, 0.5, 0.9, 0.99, 0.999};
    struct rfn_sample_row row = {0};
    for (size_t i = 0; i < n; i++)
        add(&row, ns[i], 3);
    qsort(ns, n, sizeof *ns, compare_doubles);
    for (size_t i = 0; i < 6; i++) {
        const double exact = ns[(size_t)ceil(quantiles[i] * (double)n) - 1];
        const struct rfn_sample_interval found = rfn_sample_quantile(&row, quantiles[i], 1e9);
        assert_near(found.value, exact, 1.0 / 64);
        assert_false(found.low > found.value || found.high < found.value);
        assert_true(found.value >= ns[0] && found.value <= ns[n - 1]);
        assert_false(found.low < ns[0] || found.high > ns[n - 1]);
    }
}

static void test_histogram(void **state)
{
    (void)state;
    enum { N = 5000 };
    static double ns[N];
    for (size_t i = 0; i < N; i++) /* from 64 ns to 69 s */
        ns[i] = 64 * exp2(30 * (double)((i * 2654435761u) % N) / N);
    expect_close(ns, N);
    for (size_t i = 0; i < N; i++) /* few values, at the ends of buckets */
        ns[i] = i % 50 == 0 ? 1000 : i % 3 ? 1024 : i % 5 ? 1087.9 : 3000000;
    expect_close(ns, N);
    for (size_t i = 0; i < N; i++)
        ns[i] = 12345;
    expect_close(ns, N);
    for (size_t i = 0; i < N; i++) /* outside of all buckets */
        ns[i] = i % 2 ? 0x1p40 : 40;
    expect_close(ns, 1);
    struct rfn_sample_row row = {0};
    add(&row, 40, 1);
    add(&row, 0x1p40, 1);
    assert_true(rfn_sample_quantile(&row, 0.1, 2).value >= 40);
    assert_true(rfn_sample_quantile(&row, 0.9, 2).value <= 0x1p40);
}

/* ---- how often intervals hold ---- */

enum { POPULATION = 40000, SEEDS = 400 };
static double population[POPULATION], sorted[POPULATION];

static double uniform(uint64_t *random)
{
    *random += 0x9e3779b97f4a7c15u;
    return ((double)(rfn_sample_mix(*random) >> 11) + 0.5) * 0x1p-53;
}

/* Each latency resembles the one before it (correlation 0.98), and some are very long. */
static void make_population(void)
{
    uint64_t random = 1;
    double level = 0;
    for (size_t i = 0; i < POPULATION; i++) {
        const double normal = sqrt(-2 * log(uniform(&random))) *
                              cos(6.283185307179586 * uniform(&random));
        level = 0.98 * level + sqrt(1 - 0.98 * 0.98) * normal;
        population[i] = 5000 * exp(0.8 * level);
        if (uniform(&random) < 0.01)
            population[i] += 20000 * pow(uniform(&random), -1.0 / 3);
    }
    memcpy(sorted, population, sizeof sorted);
    qsort(sorted, POPULATION, sizeof *sorted, compare_doubles);
}

static double true_quantile(double q)
{
    return sorted[(size_t)ceil(q * POPULATION) - 1];
}

static bool holds(struct rfn_sample_interval interval, double truth)
{
    return !(truth < interval.low || truth > interval.high);
}

/* Between 92 and 98 of 100. */
static void assert_coverage(const char *what, unsigned held)
{
    if (held < SEEDS * 92 / 100 || held > SEEDS * 98 / 100)
        fail_msg("intervals of the %s held %u times of %u", what, held, SEEDS);
}

static void expect_coverage(struct rfn_sample_strategy strategy, double tail)
{
    static struct rfn_sample_row row;
    unsigned mean = 0, median = 0, quantile = 0;
    double truth = 0;
    for (size_t i = 0; i < POPULATION; i++)
        truth += population[i] / POPULATION;
    for (strategy.seed = 0; strategy.seed < SEEDS; strategy.seed++) {
        memset(&row, 0, sizeof row);
        for (uint64_t i = 0; i < POPULATION; i++)
            if (rfn_sample_chosen(&strategy, 42, i))
                add(&row, population[i], 1 / rfn_sample_rate(&strategy, i));
        mean += holds(rfn_sample_mean(&row, POPULATION), truth);
        median += holds(rfn_sample_quantile(&row, 0.5, POPULATION), true_quantile(0.5));
        quantile += holds(rfn_sample_quantile(&row, tail, POPULATION), true_quantile(tail));
    }
    assert_coverage("mean", mean);
    assert_coverage("median", median);
    assert_coverage("tail", quantile);
}

static void test_coverage(void **state)
{
    (void)state;
    make_population();
    expect_coverage((struct rfn_sample_strategy){.kind = RFN_SAMPLE_RANDOM, .rate = 0.03}, 0.99);
    expect_coverage((struct rfn_sample_strategy){.kind = RFN_SAMPLE_RANDOM, .rate = 0.5}, 0.99);
    expect_coverage((struct rfn_sample_strategy){.kind = RFN_SAMPLE_ADAPTIVE, .period = 256}, 0.9);
}

/* ---- sums ---- */

static void test_add_to_nothing(void **state)
{
    (void)state;
    struct rfn_sample_row sum = {.messages = 1, .bytes = 2}, row = {.messages = 3, .bytes = 4};
    rfn_sample_row_add(&sum, &row);
    assert_true(sum.messages == 4 && sum.bytes == 6 && sum.n == 0 && sum.mean_ns == 0);
    add(&row, -5, 2);
    add(&row, -9, 2);
    rfn_sample_row_add(&sum, &row);
    assert_true(sum.n == 2 && sum.mean_ns == row.mean_ns && sum.moment2 == row.moment2);
    assert_true(sum.min_ns == -9 && sum.max_ns == -5);
    struct rfn_sample_row nothing = {0};
    rfn_sample_row_add(&sum, &nothing);
    assert_true(sum.n == 2 && sum.min_ns == -9 && sum.max_ns == -5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student),        cmocka_unit_test(test_finite_population),
        cmocka_unit_test(test_weighted_mean),  cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_equal_samples),  cmocka_unit_test(test_impossible_bucket),
        cmocka_unit_test(test_binomial),       cmocka_unit_test(test_quantile_of_finite_population),
        cmocka_unit_test(test_histogram),      cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_add_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
