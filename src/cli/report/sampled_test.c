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
static struct rfn_sample_count counts[ROWS];
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

static void apart(int32_t source, int32_t dest, uint8_t size_class, uint64_t messages, uint64_t n)
{
    samples.counts = counts;
    counts[samples.n_counts++] = (struct rfn_sample_count){source,   dest,          size_class,
                                                           messages, 10 * messages, n};
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

static const struct rfn_sampled *of_pair(int32_t source, int32_t dest)
{
    return rfn_sampled_find(&list,
                            &(struct rfn_sample_key){source, dest, RFN_SAMPLE_OTHER_SITE,
                                                     RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_ANY_SIZE});
}

/* 4,800 messages of a pair, of which the rows that are left know one; another pair lost nothing. */
static void given_up(void)
{
    sent(0, 1, SEND, 4, 1, 10);
    sent(2, 3, SEND, 4, 100, 1000);
    sent(RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_ANY_SIZE, 4799, 47990);
    got((struct rfn_sample_key){2, 3, SEND, RECV, 4}, 7, 1, 500, 10);
    got((struct rfn_sample_key){RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, RFN_SAMPLE_OTHER_SITE,
                                RFN_SAMPLE_OTHER_SITE, RFN_SAMPLE_ANY_SIZE},
        5, 1, 900, 10);
    apart(0, 1, 4, 1800, 5);
    apart(0, 1, 5, 3000, 0);
    apart(2, 3, 4, 100, 7);
}

static void test_given_up_pairs(void **state)
{
    (void)state;
    given_up();
    make(RFN_SAMPLED_PAIR);
    assert_int_equal(list.n, 3);
    const struct rfn_sampled *lost = of_pair(0, 1), *whole = of_pair(2, 3),
                             *any = of_pair(RFN_SAMPLE_ANY, RFN_SAMPLE_ANY);
    assert_true(lost->messages == 4800 && lost->bytes == 48000 && !lost->estimated);
    assert_true(lost->partial && lost->n == 0);
    assert_true(whole->messages == 100 && !whole->estimated && !whole->partial && whole->n == 7);
    assert_true(any->messages == 0 && any->estimated && any->partial && any->n == 5);
    make(RFN_SAMPLED_ALL);
    assert_int_equal(list.n, 1);
    assert_true(list.items[0].messages == 4900 && list.items[0].n == 12);
    assert_false(list.items[0].estimated || list.items[0].partial);
    make(RFN_SAMPLED_SIZE);
    assert_int_equal(list.n, 3); /* 4, 5 and any */
    assert_true(list.items[0].messages == 1900 && !list.items[0].estimated);
    assert_true(list.items[1].messages == 3000 && !list.items[1].estimated);
}

/* What has lost a key, or was found again after it was given up, says so. */
static void test_given_up_categories(void **state)
{
    (void)state;
    given_up();
    make(RFN_SAMPLED_CATEGORY);
    assert_int_equal(list.n, 3);
    for (size_t i = 0; i < list.n; i++) {
        const struct rfn_sampled *group = &list.items[i];
        const bool whole = group->key.source == 2;
        assert_int_equal(group->partial, !whole);
        assert_int_equal(group->estimated, !whole);
    }
    make(RFN_SAMPLED_SITES);
    for (size_t i = 0; i < list.n; i++)
        assert_true(list.items[i].partial && list.items[i].estimated);
}

/* Pairs for which there was no room to count: no pair is known to have all. */
static void test_no_room_for_pairs(void **state)
{
    (void)state;
    sent(2, 3, SEND, 4, 100, 1000);
    apart(2, 3, 4, 100, 0);
    apart(RFN_SAMPLE_ANY, RFN_SAMPLE_ANY, 4, 50, 0);
    make(RFN_SAMPLED_PAIR);
    assert_true(of_pair(2, 3)->messages == 100 && of_pair(2, 3)->estimated);
    make(RFN_SAMPLED_SIZE);
    assert_int_equal(list.n, 1);
    assert_true(list.items[0].messages == 150 && !list.items[0].estimated);
}

/* An older archive has no numbers apart: then no pair is known to have all, if rows were given up.
 */
static void test_older_archive(void **state)
{
    (void)state;
    given_up();
    samples.counts = NULL;
    samples.n_counts = 0;
    make(RFN_SAMPLED_PAIR);
    assert_true(of_pair(0, 1)->messages == 1 && of_pair(0, 1)->estimated);
    make(RFN_SAMPLED_CATEGORY);
    for (size_t i = 0; i < list.n; i++)
        assert_true(list.items[i].partial && list.items[i].estimated);
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
        TEST(test_counted),
        TEST(test_shared_out),
        TEST(test_not_sampled),
        TEST(test_not_counted),
        TEST(test_collective),
        TEST(test_some),
        TEST(test_coverage),
        TEST(test_limits),
        TEST(test_damaged_weight),
        TEST(test_given_up_pairs),
        TEST(test_given_up_categories),
        TEST(test_no_room_for_pairs),
        TEST(test_older_archive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
