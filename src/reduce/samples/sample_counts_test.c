/* Messages by pair and size: exact against sums in plain arrays; what there is no room for is exact
 * by size; bytes, good ones and cut ones. */
#include "reduce/samples/sample_counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 40, CLASSES = 12, MESSAGES = 20000 };

static struct rfn_sample_counts *make(uint32_t room)
{
    return rfn_sample_counts_init(calloc(1, rfn_sample_counts_bytes(room)), room);
}

/* What an independent table has. */
static uint64_t truth[RANKS][RANKS][CLASSES];
static uint64_t random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void count_some(struct rfn_sample_counts *counts)
{
    memset(truth, 0, sizeof truth);
    for (int i = 0; i < MESSAGES; i++) {
        const uint32_t source = draw(RANKS), dest = draw(RANKS), class_ = draw(CLASSES);
        struct rfn_sample_count *row = rfn_sample_counts_row(counts, (int32_t)source, (int32_t)dest,
                                                             (uint8_t)class_);
        row->messages++;
        row->bytes += 3;
        row->samples += i % 2 == 0;
        truth[source][dest][class_]++;
    }
}

static void expect_exact(struct rfn_sample_counts *counts)
{
    const struct rfn_sample_count *rows = rfn_sample_counts_rows(counts);
    uint64_t messages = 0, samples = 0;
    assert_int_equal(counts->n, counts->n_pairs);
    for (uint32_t i = 0; i < counts->n; i++) {
        assert_true(rows[i].messages == truth[rows[i].source][rows[i].dest][rows[i].size_class]);
        assert_true(rows[i].bytes == 3 * rows[i].messages);
        messages += rows[i].messages;
        samples += rows[i].samples;
    }
    assert_int_equal(messages, MESSAGES);
    assert_int_equal(samples, MESSAGES / 2);
}

static void test_exact(void **state)
{
    (void)state;
    struct rfn_sample_counts *counts = make(RANKS * RANKS * CLASSES);
    count_some(counts);
    expect_exact(counts);
    free(counts);
}

/* Sizes and the whole stay exact, and what pairs there are is never too much. */
static void test_no_room(void **state)
{
    (void)state;
    struct rfn_sample_counts *counts = make(100);
    uint64_t found[CLASSES] = {0}, expected[CLASSES] = {0};
    count_some(counts);
    const struct rfn_sample_count *rows = rfn_sample_counts_rows(counts);
    assert_int_equal(counts->n_pairs, 100);
    assert_int_equal(counts->n, 100 + CLASSES);
    for (uint32_t i = 0; i < counts->n; i++) {
        found[rows[i].size_class] += rows[i].messages;
        if (rows[i].source != RFN_SAMPLE_ANY)
            assert_true(rows[i].messages ==
                        truth[rows[i].source][rows[i].dest][rows[i].size_class]);
        else
            assert_int_equal(rows[i].dest, RFN_SAMPLE_ANY);
    }
    for (int i = 0; i < RANKS * RANKS * CLASSES; i++)
        expected[i % CLASSES] += (&truth[0][0][0])[i];
    assert_memory_equal(found, expected, sizeof found);
    free(counts);
}

/* All size classes fit behind the last pair. */
static void test_all_classes(void **state)
{
    (void)state;
    struct rfn_sample_counts *counts = make(8);
    for (int class_ = 0; class_ < 65; class_++)
        for (int32_t dest = 0; dest < 3; dest++)
            rfn_sample_counts_row(counts, 0, dest, (uint8_t)class_)->messages++;
    assert_int_equal(counts->n, 8 + 65 - 2); /* of two classes all three pairs have rows */
    free(counts);
}

static void test_bytes(void **state)
{
    (void)state;
    struct rfn_sample_counts *counts = make(RANKS * RANKS * CLASSES), *sum = make(counts->room);
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_sample_count *rows;
    size_t n;
    count_some(counts);
    rfn_sample_counts_pack(counts, &out);
    assert_int_equal(rfn_buf_status(&out), 0);
    struct rfn_reader reader = rfn_reader_over(out.data, out.size);
    rfn_sample_counts_unpack(sum, &reader);
    assert_true(!reader.failed && rfn_reader_left(&reader) == 0);
    expect_exact(sum);
    reader = rfn_reader_over(out.data, out.size);
    assert_int_equal(rfn_sample_counts_read(&reader, &rows, &n), 0);
    assert_int_equal(n, counts->n);
    for (size_t i = 0; i < n; i++)
        assert_true(rows[i].messages == truth[rows[i].source][rows[i].dest][rows[i].size_class]);
    free(rows);
    for (size_t size = 0; size < 300; size++) {
        reader = rfn_reader_over(out.data, size);
        assert_int_equal(rfn_sample_counts_read(&reader, &rows, &n), RFN_E_CORRUPT);
        assert_true(!rows && n == 0);
    }
    rfn_buf_release(&out);
    free(counts);
    free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_no_room),
                                       cmocka_unit_test(test_all_classes),
                                       cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
