/* The payload of PROFILE, read by hand: number by number as refrain-archive(5) lists them. */
#include "archive/write/pack_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* Symbol 1 is a failed poll. Loop 0 does not cut; loop 1 does, with two contexts, of which the
 * second was never executed. */
static const bool failed_polls[] = {false, true};
static const uint32_t contexts[] = {3, UINT32_MAX};
static const struct rfn_profile_loop loops[] = {
    {.cuts = false}, {.cuts = true, .n_contexts = 2, .contexts = contexts}};

static void put(struct rfn_stream_profile *profile, bool top, int64_t start, int64_t length,
                int64_t extra, bool volumes)
{
    const uint32_t events[] = {0, 1};
    const int64_t vector[] = {0, 1, length - 20, length - 10, length, length};
    const int64_t polls[] = {extra, 5}, both[] = {7, 8, extra, 5, extra + 1, 9};
    struct rfn_segment segment = {.context = 3,
                                  .events = events,
                                  .n = 2,
                                  .vector = vector,
                                  .extra = volumes ? both : polls,
                                  .n_extra = volumes ? 6 : 2};
    assert_int_equal(rfn_stream_profile_put(profile, &segment, start, top), 0);
}

/* The top's first segment, of 100, at 1000; four of context 3, as 0, 1, 0 (30 late), 0; the top's
 * second. */
static struct rfn_stream_profile *make(bool volumes)
{
    struct rfn_stream_profile_options options = {.exact_starts = true};
    assert_int_equal(rfn_criterion_parse("chebyshev:0.1", false, &options.criterion, NULL), 0);
    struct rfn_stream_profile *profile = rfn_stream_profile_new(&options);
    assert_non_null(profile);
    put(profile, true, 1000, 100, 60, volumes);
    put(profile, false, 1100, 200, 61, volumes);
    put(profile, false, 1300, 300, 62, volumes);
    put(profile, false, 1630, 200, 63, volumes);
    put(profile, false, 1830, 206, 64, volumes);
    put(profile, true, 2036, 50, 65, volumes);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    return profile;
}

static void expect_column(struct rfn_reader *reader, const int64_t *values, size_t n)
{
    struct rfn_column_cursor cursor;
    assert_int_equal(rfn_column_open(&cursor, reader), 0);
    assert_int_equal(cursor.n, n);
    for (size_t i = 0; i < n; i++) {
        int64_t value;
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        assert_int_equal(value, values[i]);
    }
    rfn_column_close(&cursor);
}
#define COLUMN(reader, ...)                               \
    expect_column(reader, (const int64_t[]){__VA_ARGS__}, \
                  sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define EMPTY(reader) expect_column(reader, NULL, 0)

/* New are the segments of 100, 200, 300 and 50. */
static void expect_symbols(struct rfn_reader *reader, bool volumes)
{
    COLUMN(reader, 1, 1, 1, 1);
    COLUMN(reader, 79, 179, 279, 29);
    COLUMN(reader, 10, 10, 10, 10);
    COLUMN(reader, 10, 10, 10, 10);
    COLUMN(reader, 60, 61, 62, 65);
    COLUMN(reader, 5, 5, 5, 5);
    if (!volumes)
        return;
    COLUMN(reader, 7, 7, 7, 7);
    COLUMN(reader, 8, 8, 8, 8);
    COLUMN(reader, 61, 62, 63, 66);
    COLUMN(reader, 9, 9, 9, 9);
}

/* 202 is the mean length of those that are executed as the one of 200: a pace of 2. The start 1630
 * was predicted at 1600; 1830 at 1832; 2036 at 2032. */
static void expect_segments(struct rfn_reader *reader)
{
    assert_int_equal(rfn_reader_u8(reader), 0);
    assert_int_equal(rfn_reader_u8(reader), 1);
    assert_int_equal(rfn_reader_varint(reader), 100); /* from 900 */
    assert_int_equal(rfn_reader_varint(reader), 0);   /* starts are exact */
    assert_int_equal(rfn_reader_varint(reader), 0);
    COLUMN(reader, 0, 4);
    COLUMN(reader, 0, -2, 30, -2);
    COLUMN(reader, 2, 0);
    COLUMN(reader, 1, 0);
    for (int i = 0; i < 3; i++)
        EMPTY(reader);
    COLUMN(reader, 0, 1, 0, 0);
    EMPTY(reader);
    assert_int_equal(rfn_reader_left(reader), 0);
    assert_false(reader->failed);
}

static void expect_clock(struct rfn_reader *reader, const struct rfn_pack_clock *clock)
{
    assert_int_equal(rfn_reader_u8(reader), clock->kind);
    assert_int_equal(rfn_reader_varint(reader), clock->n_pairs);
    for (size_t i = 0; i < clock->n_pairs; i++) {
        assert_int_equal(rfn_reader_u64(reader), clock->pairs[i].quanta);
        assert_int_equal(rfn_reader_u64(reader), clock->pairs[i].monotonic_ns);
        assert_int_equal(rfn_reader_u64(reader), clock->pairs[i].realtime_ns);
    }
    assert_int_equal(rfn_reader_u64(reader), 900);
    assert_int_equal(rfn_reader_varint(reader), 0);
}

static void expect_payload(const struct rfn_pack_clock *clock, bool volumes)
{
    struct rfn_profile_shape shape = {.failed_polls = failed_polls,
                                      .n_symbols = 2,
                                      .loops = loops,
                                      .n_loops = 2,
                                      .volumes = volumes};
    struct rfn_stream_profile *profile = make(volumes);
    struct rfn_new_times times;
    struct rfn_rope rope = RFN_ROPE_INIT;
    struct rfn_buf flat = RFN_BUF_INIT;
    assert_int_equal(rfn_new_times_make(&times, profile, &shape, (struct rfn_room){0}), 0);
    assert_int_equal(rfn_pack_profile(profile, &times, &shape, clock, &rope), 0);
    rfn_rope_flatten(&rope, &flat);
    struct rfn_reader reader = rfn_reader_over(flat.data, flat.size);
    assert_int_equal(rfn_reader_varint(&reader), volumes ? 3 : 1);
    expect_clock(&reader, clock);
    expect_symbols(&reader, volumes);
    expect_segments(&reader);
    rfn_buf_release(&flat);
    rfn_rope_release(&rope);
    rfn_new_times_release(&times);
    rfn_stream_profile_free(profile);
}

static void test_payload(void **state)
{
    (void)state;
    const struct rfn_pack_pair pairs[] = {{800, 10, 20}, {3000, 11, 22}};
    const struct rfn_pack_clock run = {.kind = RFN_CLOCK_KIND_RUN, .start = 900};
    const struct rfn_pack_clock counter = {.kind = 0, .pairs = pairs, .n_pairs = 2, .start = 900};
    for (int volumes = 0; volumes < 2; volumes++) {
        expect_payload(&run, volumes);
        expect_payload(&counter, volumes);
    }
}

static const struct rfn_run plain_meta = {
    .recorder = "r", .program = "p", .command = "c", .mpi = "m", .flavour = "f", .ranks = 4};
/* Five texts of one letter, the start, the ranks stand before the flags. */
enum { META_FLAGS = 5 * 2 + 8 + 1 };

/* META: what follows the texts and numbers of a full archive. */
static void test_meta(void **state)
{
    (void)state;
    struct rfn_run meta = plain_meta;
    meta.times = true;
    struct rfn_buf full = RFN_BUF_INIT, reduced = RFN_BUF_INIT;
    assert_int_equal(rfn_pack_meta(&meta, &full), 0);
    meta.reduced = true;
    meta.similar = "avgWave:0.2";
    meta.reduction = (struct rfn_run_reduction){.executions = 1,
                                                .kinds = 2,
                                                .representatives = 3,
                                                .corrections = 4,
                                                .streams = 5,
                                                .classes = 6,
                                                .time_sets = 7,
                                                .widened = 8,
                                                .full_bytes = 9,
                                                .long_streams = 12,
                                                .min_calls = 10,
                                                .exact_starts = true};
    assert_int_equal(rfn_pack_meta(&meta, &reduced), 0);
    static const uint8_t more[] = {11, 'a', 'v', 'g', 'W', 'a', 'v', 'e', ':', '0', '.', '2',
                                   0,  25,  10,  1,   2,   3,   4,   5,   6,   7,   8,   9};
    assert_int_equal(reduced.size, full.size + sizeof more);
    assert_int_equal(full.data[META_FLAGS], 1);
    assert_int_equal(reduced.data[META_FLAGS], 1 + 16);
    assert_memory_equal(reduced.data + full.size, more, sizeof more);
    rfn_buf_release(&full);
    rfn_buf_release(&reduced);
}

/* META of call paths that have ends only: these two numbers, behind everything else. */
static void test_meta_of_path_ends(void **state)
{
    (void)state;
    struct rfn_run meta = plain_meta;
    meta.path_ends = (struct rfn_path_ends){.outer = 3, .inner = 2};
    struct rfn_buf out = RFN_BUF_INIT;
    assert_int_equal(rfn_pack_meta(&meta, &out), 0);
    assert_int_equal(out.data[META_FLAGS], 32);
    assert_int_equal(out.data[out.size - 2], 3);
    assert_int_equal(out.data[out.size - 1], 2);
    rfn_buf_release(&out);
}

/* Merged parameters: their names, behind everything else. */
static void test_meta_of_merged_parameters(void **state)
{
    (void)state;
    struct rfn_run meta = plain_meta;
    meta.forced = "peer,tag";
    struct rfn_buf out = RFN_BUF_INIT;
    assert_int_equal(rfn_pack_meta(&meta, &out), 0);
    assert_int_equal(out.data[META_FLAGS], 128);
    assert_int_equal(out.data[META_FLAGS + 1], 1);
    assert_memory_equal(out.data + out.size - 9, "\10peer,tag", 9);
    rfn_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_payload), cmocka_unit_test(test_meta),
                                       cmocka_unit_test(test_meta_of_path_ends),
                                       cmocka_unit_test(test_meta_of_merged_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
