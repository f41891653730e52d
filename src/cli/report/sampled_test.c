/* Categories and groups of samples that are made up. */
#include "cli/report/sampled.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 16 };
enum { SEND = 1, RECV = 2, OTHER_RECV = 3, BCAST = 4 }; /* call sites */

static struct rfn_sample_row rows[ROWS];
static struct rfn_samples samples;
static struct rfn_sampled_list list;

static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < ROWS; i++)
        rows[i] = (struct rfn_sample_row){.messages = 0};
    samples = (struct rfn_samples){.known = true, .rows = rows};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_sampled_release(&list);
    return 0;
}

static void sent(int32_t source, int32_t dest, uint64_t site, uint8_t size_class, uint64_t messages,
                 uint64_t bytes)
{
    struct rfn_sample_row *row = &rows[samples.n_rows++];
    row->key = (struct rfn_sample_key){source, dest, site, RFN_SAMPLE_NO_SITE, size_class};
    row->messages = messages;
    row->bytes = bytes;
}

/* n samples of the same weight, size and latency. */
static struct rfn_sample_row *got(struct rfn_sample_key key, uint64_t n, double weight,
                                  double latency_ns, double bytes)
{
    struct rfn_sample_row *row = &rows[samples.n_rows++];
    *row = (struct rfn_sample_row){.key = key,
                                   .n = n,
                                   .weight = (double)n * weight,
                                   .weight2 = (double)n * weight * weight,
                                   .sampled_bytes = (double)n * weight * bytes,
                                   .mean_ns = latency_ns,
                                   .min_ns = latency_ns,
                                   .max_ns = latency_ns};
    row->buckets[rfn_sample_bucket(latency_ns)] = row->weight;
    return row;
}

static void make(enum rfn_sampled_by by)
{
    rfn_sampled_release(&list);
    assert_int_equal(rfn_sampled_list(&list, &samples, by, NULL, NULL), 0);
}

/* Received in one place: what the sender counted is known of it. */
static void test_counted(void **state)
{
    (void)state;
    sent(0, 1, SEND, 4, 100, 1000);
    got((struct rfn_sample_key){0, 1, SEND, RECV, 4}, 7, 10, 500, 9);
    make(RFN_SAMPLED_CATEGORY);
    assert_int_equal(list.n, 1);
    assert_float_equal(list.items[0].messages, 100, 0);
    assert_float_equal(list.items[0].bytes, 1000, 0);
    assert_false(list.items[0].estimated);
    assert_int_equal(list.items[0].n, 7);
    assert_float_equal(list.items[0].mean.value, 500, 1e-9);
}

/* In two: it is shared out, by weights. */
static void test_shared_out(void **state)
{
    (void)state;
    got((struct rfn_sample_key){0, 1, SEND, RECV, 4}, 3, 10, 500, 10);
    got((struct rfn_sample_key){0, 1, SEND, OTHER_RECV, 4}, 1, 10, 900, 10);
    sent(0, 1, SEND, 4, 100, 1000);
    make(RFN_SAMPLED_CATEGORY);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.items[0].key.receive, OTHER_RECV); /* the longer tail first */
    assert_float_equal(list.items[0].messages, 25, 1e-9);
    assert_float_equal(list.items[0].bytes, 250, 1e-9);
    assert_float_equal(list.items[1].messages, 75, 1e-9);
    assert_true(list.items[0].estimated && list.items[1].estimated);
    make(RFN_SAMPLED_PAIR);
    assert_int_equal(list.n, 1);
    assert_float_equal(list.items[0].messages, 100, 1e-9);
    assert_float_equal(list.items[0].mean.value, 600, 1e-9);
    for (unsigned bin = 0; bin < RFN_SAMPLED_BINS; bin++) {
        const double from = rfn_sampled_bin_ns(bin), to = rfn_sampled_bin_ns(bin + 1);
        const double share = (from <= 500 && 500 < to) * 0.75 + (from <= 900 && 900 < to) * 0.25;
        assert_float_equal(list.items[0].bins[bin], share, 1e-9);
    }
    assert_int_equal(list.items[0].key.send, RFN_SAMPLE_OTHER_SITE);
}

static void test_limits(void **state)
{
    (void)state;
    assert_float_equal(rfn_sampled_bin_ns(0), 64, 0);
    assert_float_equal(rfn_sampled_bin_ns(5), 160, 0);
    assert_float_equal(rfn_sampled_bin_ns(RFN_SAMPLED_BINS), 0x1p36, 0);
    for (unsigned bucket = 0; bucket < RFN_SAMPLE_BUCKETS; bucket++)
        assert_int_equal(rfn_sample_bucket(rfn_sample_bucket_ns(bucket)), bucket);
}

/* A row as no recorder writes it: its weight is not that of its histogram. */
static void test_damaged_weight(void **state)
{
    (void)state;
    got((struct rfn_sample_key){0, 1, SEND, RECV, 4}, 7, 10, 500, 9)->weight = 1e-300;
    make(RFN_SAMPLED_ALL);
    double all = 0;
    for (unsigned bin = 0; bin < RFN_SAMPLED_BINS; bin++)
        all += list.items[0].bins[bin];
    assert_float_equal(all, 1, 1e-9);
}

/* Messages that were not sampled are there, without latencies. */
static void test_not_sampled(void **state)
{
    (void)state;
    sent(0, 1, SEND, 4, 100, 1000);
    sent(2, 3, SEND, 4, 5, 50);
    got((struct rfn_sample_key){0, 1, SEND, RECV, 4}, 7, 10, 500, 9);
    make(RFN_SAMPLED_CATEGORY);
    assert_int_equal(list.n, 2);
    assert_int_equal(list.items[1].key.source, 2);
    assert_float_equal(list.items[1].messages, 5, 0);
    assert_true(isnan(list.items[1].mean.value) && isnan(list.items[1].min_ns));
    make(RFN_SAMPLED_ALL);
    assert_int_equal(list.n, 1);
    assert_float_equal(list.items[0].messages, 105, 0);
    make(RFN_SAMPLED_SIZE);
    assert_int_equal(list.n, 1);
    assert_int_equal(list.items[0].key.size_class, 4);
    make(RFN_SAMPLED_SITES); /* all that are sent there are received in the one place known */
    assert_int_equal(list.n, 1);
    assert_float_equal(list.items[0].messages, 105, 0);
    assert_false(list.items[0].estimated);
}

/* What no sender counted is estimated by weights alone. */
static void test_not_counted(void **state)
{
    (void)state;
    got((struct rfn_sample_key){RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, RFN_SAMPLE_OTHER_SITE,
                                RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_ANY_SIZE},
        2, 10, 500, 9);
    make(RFN_SAMPLED_CATEGORY);
    assert_int_equal(list.n, 1);
    assert_true(list.items[0].estimated);
    assert_float_equal(list.items[0].messages, 20, 1e-9);
    assert_float_equal(list.items[0].bytes, 180, 1e-9);
}

static void test_collective(void **state)
{
    (void)state;
    for (int32_t rank = 0; rank < 3; rank++) {
        struct rfn_sample_row *row = got(
            (struct rfn_sample_key){rank, RFN_SAMPLE_COLLECTIVE, BCAST, RFN_SAMPLE_NO_SITE, 4}, 2,
            5, 100 * (rank + 1), 9);
        row->messages = 10;
        row->bytes = 90;
    }
    sent(0, 1, SEND, 4, 100, 1000);
    make(RFN_SAMPLED_COLLECTIVE);
    assert_int_equal(list.n, 1);
    assert_float_equal(list.items[0].messages, 30, 1e-9);
    assert_false(list.items[0].estimated);
    assert_float_equal(list.items[0].mean.value, 200, 1e-9);
    make(RFN_SAMPLED_ALL);
    assert_float_equal(list.items[0].messages, 100, 0);
}

static bool is_of_rank(const void *context, const struct rfn_sample_key *key)
{
    return key->source == *(const int32_t *)context;
}

static void test_some(void **state)
{
    (void)state;
    const int32_t rank = 2;
    const struct rfn_sample_key key = {2, 3, RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_OTHER_SITE,
                                       RFN_SAMPLE_ANY_SIZE};
    for (int32_t i = 0; i < 4; i++)
        sent(i, 3, SEND, 4, 10, 100);
    assert_int_equal(rfn_sampled_list(&list, &samples, RFN_SAMPLED_PAIR, is_of_rank, &rank), 0);
    assert_int_equal(list.n, 1);
    assert_ptr_equal(rfn_sampled_find(&list, &key), &list.items[0]);
    assert_null(rfn_sampled_find(&list, &(struct rfn_sample_key){.source = 1}));
}

static void test_coverage(void **state)
{
    (void)state;
    struct rfn_sampled items[2] = {{.key.source = 1}, {.key.source = 2}}, all[2];
    const struct rfn_sampled *sorted[2] = {&items[0], &items[1]}, *of_all[2] = {&all[0], &all[1]};
    const struct rfn_sampled_list found = {items, 2, sorted}, truth = {all, 2, of_all};
    memcpy(all, items, sizeof all);
    for (int i = 0; i < 2; i++) {
        items[i].mean = (struct rfn_sample_interval){10, 9, 11};
        items[i].median = (struct rfn_sample_interval){10, 10, 10};
        items[i].p99 = (struct rfn_sample_interval){20, 15, NAN}; /* without an end it is none */
        all[i].mean.value = i ? 11 : 12;
        all[i].median.value = i ? 10.15 : 9.8; /* half a bucket is 1.6 % */
        all[i].p99.value = 20;
    }
    const struct rfn_sampled_coverage coverage = rfn_sampled_coverage(&found, &truth);
    assert_int_equal(coverage.intervals, 4);
    assert_int_equal(coverage.contain, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_counted),     TEST(test_shared_out), TEST(test_not_sampled),
        TEST(test_not_counted), TEST(test_collective), TEST(test_some),
        TEST(test_coverage),    TEST(test_limits),     TEST(test_damaged_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
