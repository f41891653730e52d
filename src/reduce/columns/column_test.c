#include "reduce/columns/column.h"

#include "reduce/columns/column_histogram.h"
#include "support/spill_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- deterministic noise ---- */

static uint64_t seed;

static uint64_t noise(void) /* splitmix64 */
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* About normal: mean 0, deviation 1024. */
static int64_t bell(void)
{
    int64_t total = 0;
    for (int i = 0; i < 12; i++)
        total += (int64_t)(noise() % 1024);
    return total - 6 * 1024;
}

/* ---- shapes: value i of a sequence ---- */

static int64_t shape_constant(uint64_t i)
{
    (void)i;
    return -77;
}
static int64_t shape_zero(uint64_t i)
{
    (void)i;
    return 0;
}
static int64_t shape_late_change(uint64_t i)
{
    return i % 5000 == 4999;
}
static int64_t shape_runs(uint64_t i)
{
    return (int64_t)(i / 100 * i / 100 % 7);
}
static int64_t shape_counter(uint64_t i)
{
    return (int64_t)(1000000 + 17 * i);
}
static int64_t shape_period(uint64_t i)
{
    return (int64_t[]){1, 2, 3, 4, 1000000, -5}[i % 6];
}
static int64_t shape_rising_period(uint64_t i)
{
    return (int64_t)(i / 3 * 10 + i % 3 * i % 3);
}
static int64_t shape_broken_period(uint64_t i)
{
    return i % 1000 == 999 ? 12345 : (int64_t)(i % 8 * 512);
}
static int64_t shape_duration(uint64_t i)
{
    return i % 37 == 5 ? 20000 + bell() : 300 + bell() / 100;
}
static int64_t shape_tail(uint64_t i)
{
    (void)i;
    return (int64_t)(noise() >> (34 + noise() % 28));
}
static int64_t shape_walk(uint64_t i)
{
    static int64_t at;
    at = i ? at + bell() : 1000000000;
    return at;
}
static int64_t shape_sizes(uint64_t i)
{
    (void)i;
    return (int64_t[]){8, 8, 1024, 65536, 1 << 20}[noise() % 5];
}
static int64_t shape_ticks(uint64_t i) /* a clock that advances 26 units at a time */
{
    return 26 * shape_duration(i);
}
static int64_t shape_bits(uint64_t i)
{
    (void)i;
    return (int64_t)(noise() & 1);
}
static int64_t shape_any(uint64_t i)
{
    (void)i;
    return (int64_t)noise();
}
static int64_t shape_extremes(uint64_t i)
{
    (void)i;
    return (int64_t[]){INT64_MIN, INT64_MAX, 0, -1, INT64_MIN + 1}[noise() % 5];
}
static int64_t shape_swings(uint64_t i)
{
    return i & 1 ? INT64_MAX : INT64_MIN;
}

typedef int64_t shape_fn(uint64_t);
static shape_fn *const shapes[] = {
    shape_constant, shape_zero,          shape_late_change,   shape_runs,     shape_counter,
    shape_period,   shape_rising_period, shape_broken_period, shape_duration, shape_tail,
    shape_walk,     shape_sizes,         shape_bits,          shape_ticks,    shape_any,
    shape_extremes, shape_swings};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* ---- helpers ---- */

static struct rfn_reader reader_over_buf(const struct rfn_buf *buf)
{
    return rfn_reader_over(buf->data, buf->size);
}

static struct rfn_column column_of(const int64_t *values, uint64_t n)
{
    struct rfn_column column;
    rfn_column_init(&column);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(rfn_column_append(&column, values[i]), 0);
        assert_int_equal(column.last, values[i]);
    }
    assert_int_equal(column.n, n);
    return column;
}

/* A store that has the column, and something before and behind it. */
static struct rfn_extent store(struct spill_model *model, const uint8_t *bytes, size_t size)
{
    uint64_t before, at, behind;
    spill_model_init(model);
    assert_int_equal(model->spill.write(model, "before", 6, &before), 0);
    assert_int_equal(model->spill.write(model, bytes, size, &at), 0);
    assert_int_equal(model->spill.write(model, "behind", 6, &behind), 0);
    return (struct rfn_extent){at, size};
}

/* Reads a column from a store: never more than a window of it stays in memory. Returns how often
 * the store was read. */
static size_t check_stored(const uint8_t *bytes, size_t size, const int64_t *values, uint64_t n)
{
    struct spill_model model;
    struct rfn_extent at = store(&model, bytes, size);
    struct rfn_column_cursor cursor;
    int64_t value = 0;
    assert_int_equal(rfn_column_open_stored(&cursor, &model.spill, &at), 0);
    assert_int_equal(cursor.n, n);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        if (value != values[i])
            fail_msg("value %llu of %llu", (unsigned long long)i, (unsigned long long)n);
        if (cursor.own.capacity > RFN_COLUMN_WINDOW)
            fail_msg("%zu bytes are kept", cursor.own.capacity);
    }
    assert_false(rfn_column_bytes_left(&cursor));
    assert_int_equal(rfn_column_next(&cursor, &value), RFN_E_RANGE);
    assert_int_equal(cursor.own.capacity, 0);
    rfn_column_close(&cursor);
    rfn_buf_release(&model.bytes);
    return model.reads;
}

/* Writes the column between two marks and reads it back, also from a store; returns the written
 * size. */
static size_t check_column(const struct rfn_column *column, const int64_t *values, uint64_t n)
{
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_buf_u8(&buf, 0xa5);
    rfn_column_write(column, &buf);
    size_t size = buf.size - 1;
    rfn_buf_u8(&buf, 0x5a);
    assert_int_equal(rfn_buf_status(&buf), 0);

    struct rfn_reader reader = reader_over_buf(&buf);
    struct rfn_column_cursor cursor;
    rfn_reader_u8(&reader);
    assert_int_equal(rfn_column_open(&cursor, &reader), 0);
    assert_int_equal(rfn_reader_u8(&reader), 0x5a);
    assert_int_equal(cursor.n, n);
    int64_t value = 0;
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        if (value != values[i])
            fail_msg("value %llu of %llu", (unsigned long long)i, (unsigned long long)n);
    }
    assert_int_equal(rfn_column_next(&cursor, &value), RFN_E_RANGE);
    rfn_column_close(&cursor);
    check_stored(buf.data + 1, size, values, n);
    rfn_buf_release(&buf);
    return size;
}

static size_t round_trip(const int64_t *values, uint64_t n)
{
    struct rfn_column column = column_of(values, n);
    size_t size = check_column(&column, values, n);
    rfn_column_release(&column);
    return size;
}

static int64_t *make(shape_fn *shape, uint64_t n)
{
    int64_t *values = calloc(n + 1, sizeof *values);
    assert_non_null(values);
    for (uint64_t i = 0; i < n; i++)
        values[i] = shape(i);
    return values;
}

/* ---- tests ---- */

static void test_round_trips(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {
        0,    1,    2,    3,    4,    5,    7,    8,    15,   16,   17,    23,   24,  25,
        31,   32,   33,   34,   63,   64,   100,  255,  256,  257,  511,   512,  513, 1000,
        2047, 4095, 4096, 4097, 4098, 4127, 4128, 8191, 8192, 8193, 12289, 20000};
    for (unsigned s = 0; s < N_SHAPES; s++) {
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            int64_t *values = make(shapes[s], lengths[l]);
            round_trip(values, lengths[l]);
            free(values);
        }
    }
}

/* Sequences put together from pieces of all shapes, of many lengths. */
static void test_mixtures(void **state)
{
    (void)state;
    enum { N = 30000 };
    int64_t *values = calloc(N, sizeof *values);
    assert_non_null(values);
    for (unsigned round = 0; round < 40; round++) {
        uint64_t n = 0, total = noise() % N;
        while (n < total) {
            shape_fn *shape = shapes[noise() % N_SHAPES];
            uint64_t length = 1 + noise() % (1u << noise() % 14);
            for (uint64_t i = 0; i < length && n < total; i++)
                values[n++] = shape(i);
        }
        round_trip(values, total);
    }
    free(values);
}

/* Appending and replacing in any order, against a plain array. */
static void test_set_last(void **state)
{
    (void)state;
    enum { N = 20000 };
    int64_t *values = calloc(N, sizeof *values);
    assert_non_null(values);
    for (unsigned round = 0; round < 60; round++) {
        struct rfn_column column;
        rfn_column_init(&column);
        uint64_t n = 0, variety = 1 + noise() % (1u << noise() % 10);
        uint64_t total = 1 + noise() % (round % 3 ? 100 : N);
        while (n < total) {
            int64_t value = (int64_t)(noise() % 64 < 60 ? 0 : noise() % variety);
            if (n && noise() % 4 == 0) {
                values[n - 1] = value;
                assert_int_equal(rfn_column_set_last(&column, value), 0);
            } else {
                values[n++] = value;
                assert_int_equal(rfn_column_append(&column, value), 0);
            }
            assert_int_equal(column.last, value);
            assert_int_equal(column.n, n);
        }
        check_column(&column, values, n);
        rfn_column_release(&column);
    }
    free(values);
}

/* Replacing the last value at every place around the ends of blocks. */
static void test_set_last_at_blocks(void **state)
{
    (void)state;
    for (unsigned s = 0; s < N_SHAPES; s++) {
        uint64_t n = 2 * RFN_COLUMN_BLOCK + 40;
        int64_t *values = make(shapes[s], n);
        struct rfn_column column;
        rfn_column_init(&column);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t in_block = (i + 20) % RFN_COLUMN_BLOCK;
            bool near = in_block < 40;
            assert_int_equal(rfn_column_append(&column, near ? (int64_t)(i % 2) : values[i]), 0);
            if (near)
                assert_int_equal(rfn_column_set_last(&column, values[i]), 0);
        }
        check_column(&column, values, n);
        rfn_column_release(&column);
        free(values);
    }
}

/* A trip count that grows up to the same number each time: the column stays one run. */
static void test_growing_trips(void **state)
{
    (void)state;
    struct rfn_column column;
    rfn_column_init(&column);
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(rfn_column_append(&column, 2), 0);
        for (int64_t trips = 3; trips <= 9; trips++)
            assert_int_equal(rfn_column_set_last(&column, trips), 0);
    }
    assert_true(!column.values || column.values->constant);
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_column_write(&column, &buf);
    assert_in_range(buf.size, 1, 8);
    rfn_buf_release(&buf);
    rfn_column_release(&column);
}

/* A column may be written, then grow on. */
static void test_write_is_repeatable(void **state)
{
    (void)state;
    int64_t *values = make(shape_duration, 9000);
    struct rfn_column column;
    rfn_column_init(&column);
    for (uint64_t i = 0; i < 9000; i++) {
        assert_int_equal(rfn_column_append(&column, values[i]), 0);
        if (i % 701 == 0)
            check_column(&column, values, i + 1);
    }
    check_column(&column, values, 9000);
    rfn_column_release(&column);
    free(values);
}

static void test_skip(void **state)
{
    (void)state;
    enum { N = 5 * RFN_COLUMN_BLOCK + 77 };
    for (unsigned s = 0; s < N_SHAPES; s++) {
        int64_t *values = make(shapes[s], N);
        struct rfn_column column = column_of(values, N);
        struct rfn_buf buf = RFN_BUF_INIT;
        rfn_column_write(&column, &buf);
        struct spill_model model;
        struct rfn_extent stored = store(&model, buf.data, buf.size);
        for (unsigned round = 0; round < 20; round++) {
            struct rfn_reader reader = reader_over_buf(&buf);
            struct rfn_column_cursor cursor;
            int error = round % 2 ? rfn_column_open(&cursor, &reader)
                                  : rfn_column_open_stored(&cursor, &model.spill, &stored);
            assert_int_equal(error, 0);
            uint64_t at = 0;
            int64_t value = 0;
            while (at < N) {
                uint64_t step = noise() % (1u << noise() % 15);
                if (step > N - at) {
                    assert_int_equal(rfn_column_skip(&cursor, step), RFN_E_RANGE);
                    step = N - at;
                }
                assert_int_equal(rfn_column_skip(&cursor, step), 0);
                at += step;
                assert_int_equal(rfn_column_at(&cursor), at);
                if (at == N)
                    break;
                assert_int_equal(rfn_column_next(&cursor, &value), 0);
                assert_int_equal(value, values[at]);
                at++;
            }
            assert_int_equal(rfn_column_next(&cursor, &value), RFN_E_RANGE);
            rfn_column_close(&cursor);
        }
        rfn_buf_release(&model.bytes);
        rfn_buf_release(&buf);
        rfn_column_release(&column);
        free(values);
    }
}

/* A long constant stretch costs neither time nor space, and may change afterwards. */
static void test_long_constant(void **state)
{
    (void)state;
    static const uint64_t many = 1000000000000;
    struct rfn_column column;
    rfn_column_init(&column);
    assert_int_equal(rfn_column_append(&column, 42), 0);
    column.n = many; /* as many appends of 42 would leave it */
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_column_write(&column, &buf);
    assert_in_range(buf.size, 1, 16);
    assert_int_equal(rfn_column_append(&column, 43), 0);
    assert_int_equal(rfn_column_append(&column, 44), 0);
    buf.size = 0;
    rfn_column_write(&column, &buf);
    assert_in_range(buf.size, 1, 40);

    struct rfn_reader reader = reader_over_buf(&buf);
    struct rfn_column_cursor cursor;
    int64_t value = 0;
    assert_int_equal(rfn_column_open(&cursor, &reader), 0);
    assert_int_equal(rfn_column_skip(&cursor, many - 1), 0);
    for (int64_t expected = 42; expected <= 44; expected++) {
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        assert_int_equal(value, expected);
    }
    assert_int_equal(rfn_column_next(&cursor, &value), RFN_E_RANGE);
    rfn_column_close(&cursor);
    rfn_buf_release(&buf);
    rfn_column_release(&column);
}

static void check_size(shape_fn *shape, uint64_t n, double limit)
{
    int64_t *values = make(shape, n);
    size_t size = round_trip(values, n);
    if ((double)size > limit)
        fail_msg("%zu bytes for %llu values, limit %.0f", size, (unsigned long long)n, limit);
    free(values);
}

static void test_sizes(void **state)
{
    (void)state;
    check_size(shape_zero, 0, 2);
    check_size(shape_zero, 1000000, 4);
    check_size(shape_constant, 1000000, 9);
    check_size(shape_counter, 3, 16);
    check_size(shape_counter, 100000, 25 * 14);
    check_size(shape_period, 100000, 25 * 20);
    check_size(shape_rising_period, 100000, 25 * 20);
    check_size(shape_late_change, 1000000, 200 * 20);
    check_size(shape_any, 4096, 4096 * 8 + 64);
    /* 40960 values against their entropy, within 3 %: one bit; 1.92 bits of five sizes, one of them
     * twice as frequent; log2(deviation * sqrt(2 pi e)) = 12.05 bits of normal noise, and 5.40 bits
     * for 36 of 37 values, 12.05 for the other, 0.18 for which of them. */
    check_size(shape_bits, 40960, 40960 / 8 * 1.03);
    check_size(shape_sizes, 40960, 40960 / 8 * 1.92 * 1.03);
    check_size(shape_walk, 40960, 40960 / 8 * 12.05 * 1.03);
    check_size(shape_duration, 40960, 40960 / 8 * 5.76 * 1.03);
    check_size(shape_ticks, 40960, 40960 / 8 * 5.76 * 1.03);
    check_size(shape_any, 20, 20 * 10 + 8);
}

/* The first values are multiples of 24; one in the middle leaves all of that, the power of two, the
 * odd part, or nothing. Of so many bits are values of 0 to 24 * 1023 then, within 3 %. */
static void test_scales(void **state)
{
    (void)state;
    enum { N = 4096 };
    static const struct {
        int64_t middle;
        double bits;
    } cases[] = {{24, 10}, {8, 11.585}, {3, 13}, {1, 14.585}};
    int64_t *values = calloc(N, sizeof *values);
    assert_non_null(values);
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (unsigned i = 1; i < N; i++)
            values[i] = (int64_t)(24 * (noise() % 1024));
        values[N / 2] = cases[c].middle;
        size_t size = round_trip(values, N);
        assert_true((double)size < cases[c].bits * N / 8 * 1.03);
    }
    free(values);
}

/* Every cut and a great many mutations of valid columns: an error or values, never a bad access. */
static int read_values(struct rfn_column_cursor *cursor)
{
    int error = 0;
    for (unsigned i = 0; !error && i < 20000; i++) {
        int64_t value = 0;
        error = rfn_column_next(cursor, &value);
        if (!error && i % 4099 == 4098)
            error = rfn_column_skip(cursor, noise() % 9000);
    }
    rfn_column_close(cursor);
    return error;
}

static void read_all(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1); /* exact size: a sanitizer sees each step outside */
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    struct rfn_reader reader = rfn_reader_over(copy, size);
    struct rfn_column_cursor cursor = {0};
    int error = rfn_column_open(&cursor, &reader);
    if (!error)
        error = read_values(&cursor);
    assert_true(error == 0 || error == RFN_E_CORRUPT || error == RFN_E_RANGE);
    free(copy);

    struct spill_model model;
    struct rfn_extent stored = store(&model, bytes, size);
    error = rfn_column_open_stored(&cursor, &model.spill, &stored);
    if (!error)
        error = read_values(&cursor);
    assert_true(error == 0 || error == RFN_E_CORRUPT || error == RFN_E_RANGE);
    rfn_buf_release(&model.bytes);
}

static void mutate(struct rfn_buf *buf)
{
    for (uint64_t k = 1 + noise() % 4; k; k--) {
        /* mostly near the beginning, where heads and tables are */
        size_t at = noise() % (noise() % 2 && buf->size > 40 ? 40 : buf->size);
        uint64_t kind = noise() % 4;
        uint8_t *byte = &buf->data[at];
        uint64_t changed = kind == 0   ? noise()
                           : kind == 1 ? *byte ^ (1u << noise() % 8)
                           : kind == 2 ? *byte + 1u
                                       : (noise() & 1) * 0xff;
        *byte = (uint8_t)changed;
    }
}

static void test_damage(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {3, 30, 300, 4200};
    const char *more = getenv("RFN_TEST_ROUNDS");
    unsigned rounds = more ? (unsigned)atoi(more) : 60;
    for (unsigned s = 0; s < N_SHAPES; s++) {
        for (unsigned l = 0; l < 4; l++) {
            int64_t *values = make(shapes[s], lengths[l]);
            struct rfn_column column = column_of(values, lengths[l]);
            struct rfn_buf good = RFN_BUF_INIT;
            rfn_column_write(&column, &good);
            for (size_t cut = 0; cut < good.size; cut += 1 + cut / 16)
                read_all(good.data, cut);
            for (unsigned round = 0; round < rounds; round++) {
                struct rfn_buf bad = RFN_BUF_INIT;
                rfn_buf_bytes(&bad, good.data, good.size);
                mutate(&bad);
                read_all(bad.data, bad.size);
                rfn_buf_release(&bad);
            }
            rfn_buf_release(&good);
            rfn_column_release(&column);
            free(values);
        }
    }
}

/* Reads a column that is not written yet, some values one by one, others skipped. */
static void check_growing(const struct rfn_column *column, const int64_t *values, uint64_t n)
{
    struct rfn_column_cursor cursor;
    rfn_column_open_growing(&cursor, column);
    assert_int_equal(cursor.n, n);
    for (uint64_t i = 0; i < n;) {
        uint64_t step = noise() % 64 ? 0 : noise() % (n - i);
        int64_t value;
        assert_int_equal(rfn_column_skip(&cursor, step), 0);
        i += step;
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        assert_int_equal(value, values[i++]);
    }
    int64_t none;
    assert_int_equal(rfn_column_next(&cursor, &none), RFN_E_RANGE);
    rfn_column_close(&cursor);
}

/* Appending and replacing while blocks leave memory at any moment, also when that fails. */
static void test_spill(void **state)
{
    (void)state;
    enum { N = 60000 };
    int64_t *values = calloc(N, sizeof *values);
    assert_non_null(values);
    for (unsigned round = 0; round < 2 * N_SHAPES; round++) {
        struct spill_model model;
        spill_model_init(&model);
        if (round % 5 == 4)
            model.writes_left = round;
        struct rfn_column column;
        rfn_column_init(&column);
        for (uint64_t i = 0; i < N; i++) {
            values[i] = shapes[round / 2](i);
            assert_int_equal(rfn_column_append(&column, values[i]), 0);
            if (noise() % 100 == 0) {
                values[i] ^= (int64_t)(noise() % 3);
                assert_int_equal(rfn_column_set_last(&column, values[i]), 0);
            }
            if (noise() % 1024 == 0) {
                int error = rfn_column_spill(&column, &model.spill, noise() % 2);
                assert_true(error == 0 || (error == RFN_E_IO && model.writes_left == 0));
                assert_true(error || rfn_column_sealed_bytes(&column) == 0);
            }
        }
        assert_true(model.writes > 0);
        check_column(&column, values, N);
        check_growing(&column, values, N);
        rfn_column_release(&column);
        rfn_buf_release(&model.bytes);
    }
    free(values);
}

/* Whether the column is packed with what has been coded ahead. */
static bool packs_ahead(const struct rfn_column *column)
{
    struct rfn_rope rope = RFN_ROPE_INIT;
    bool found = false;
    rfn_column_pack(column, &rope);
    for (size_t i = 0; i < rope.n_pieces; i++)
        found |= column->values && column->values->ahead &&
                 rope.pieces[i].memory == column->values->ahead->tail.data;
    rfn_rope_release(&rope);
    return found;
}

static void test_ahead(void **state)
{
    (void)state;
    int64_t *values = make(shape_any, 3000);
    struct rfn_column column = column_of(values, 3000);
    size_t before = rfn_column_bytes(&column);
    assert_false(packs_ahead(&column));
    rfn_column_code_ahead(&column);
    assert_true(packs_ahead(&column));
    assert_true(rfn_column_bytes(&column) > before + 3000);
    check_column(&column, values, 3000);
    assert_int_equal(rfn_column_append(&column, 5), 0); /* one more value */
    assert_false(packs_ahead(&column));
    rfn_column_code_ahead(&column);
    assert_true(packs_ahead(&column));
    assert_int_equal(rfn_column_set_last(&column, 6), 0); /* as many values, but others */
    assert_false(packs_ahead(&column));
    rfn_column_release(&column);
    free(values);
}

static void check_same(const struct rfn_column *one, const struct rfn_column *two)
{
    struct rfn_buf bytes[2] = {RFN_BUF_INIT, RFN_BUF_INIT};
    rfn_column_write(one, &bytes[0]);
    rfn_column_write(two, &bytes[1]);
    assert_int_equal(bytes[0].size, bytes[1].size);
    assert_memory_equal(bytes[0].data, bytes[1].data, bytes[0].size);
    rfn_buf_release(&bytes[0]);
    rfn_buf_release(&bytes[1]);
}

/* Of two columns that grow in the same way, blocks leaving memory, one is coded ahead now and then:
 * they are written alike. */
static void test_ahead_is_the_same(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 4 * N_SHAPES; round++) {
        struct spill_model models[2];
        struct rfn_column columns[2];
        for (unsigned i = 0; i < 2; i++) {
            spill_model_init(&models[i]);
            rfn_column_init(&columns[i]);
        }
        for (uint64_t i = 0, n = noise() % 12000; i < n; i++) {
            int64_t value = shapes[round / 4](i), other = value ^ (int64_t)(noise() % 3);
            bool replaced = noise() % 100 == 0, spilled = noise() % 2048 == 0, all = noise() % 2;
            bool ahead = noise() % 512 == 0;
            for (unsigned k = 0; k < 2; k++) {
                assert_int_equal(rfn_column_append(&columns[k], value), 0);
                if (replaced)
                    assert_int_equal(rfn_column_set_last(&columns[k], other), 0);
                if (ahead && k == 0)
                    rfn_column_code_ahead(&columns[0]);
                if (spilled || (ahead && i % 2))
                    assert_int_equal(rfn_column_spill(&columns[k], &models[k].spill, all), 0);
            }
            if (ahead || noise() % 1024 == 0)
                check_same(&columns[0], &columns[1]);
        }
        check_same(&columns[0], &columns[1]);
        for (unsigned k = 0; k < 2; k++) {
            rfn_column_release(&columns[k]);
            rfn_buf_release(&models[k].bytes);
        }
    }
}

/* A block that has left memory and cannot be read again is an error, not other values. */
static void test_spill_is_lost(void **state)
{
    (void)state;
    struct spill_model model;
    spill_model_init(&model);
    struct rfn_column column;
    rfn_column_init(&column);
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(rfn_column_append(&column, (int64_t)noise()), 0);
    assert_int_equal(rfn_column_spill(&column, &model.spill, true), 0);
    assert_true(rfn_column_bytes(&column) < 1000);
    model.bytes.size /= 2;
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_column_write(&column, &buf);
    assert_true(buf.failed);
    rfn_buf_release(&buf);
    struct rfn_column_cursor cursor;
    rfn_column_open_growing(&cursor, &column);
    int64_t value;
    int error = 0;
    while (!error)
        error = rfn_column_next(&cursor, &value);
    assert_int_equal(error, RFN_E_IO);
    rfn_column_close(&cursor);
    rfn_column_release(&column);
    rfn_buf_release(&model.bytes);
}

/* Heads and blocks begin at every place of a window, and cross its end; a window serves many small
 * blocks. */
static void test_windows(void **state)
{
    (void)state;
    enum { BLOCKS = 3000, LONGEST = 40 };
    static int64_t values[BLOCKS * LONGEST];
    for (unsigned round = 0; round < 4; round++) {
        struct rfn_buf blocks = RFN_BUF_INIT, column = RFN_BUF_INIT;
        uint32_t n = 0;
        for (unsigned i = 0; i < BLOCKS; i++) {
            uint32_t m = 1 + (uint32_t)noise() % LONGEST;
            for (uint32_t k = 0; k < m; k++)
                values[n + k] = (int64_t)(noise() >> (round * 16)) >> noise() % 16;
            rfn_block_put(&blocks, values + n, m, m);
            n += m;
        }
        rfn_buf_varint(&column, n);
        rfn_buf_blob(&column, blocks.data, blocks.size);
        assert_true(column.size > 4 * RFN_COLUMN_WINDOW);
        size_t reads = check_stored(column.data, column.size, values, n);
        assert_in_range(reads, 4, 2 * column.size / RFN_COLUMN_WINDOW);
        rfn_buf_release(&blocks);
        rfn_buf_release(&column);
    }
}

/* What a store has may become shorter, or other, at any moment: an error or other values. */
static void test_store_changes(void **state)
{
    (void)state;
    enum { N = 5 * RFN_COLUMN_BLOCK };
    int64_t *values = make(shape_tail, N), value;
    struct rfn_column column = column_of(values, N);
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_column_write(&column, &buf);
    for (unsigned round = 0; round < 200; round++) {
        struct spill_model model;
        struct rfn_extent at = store(&model, buf.data, buf.size);
        struct rfn_column_cursor cursor;
        assert_int_equal(rfn_column_open_stored(&cursor, &model.spill, &at), 0);
        uint64_t before = noise() % (N - RFN_COLUMN_BLOCK);
        int error = 0;
        for (uint64_t i = 0; i < before; i++)
            assert_int_equal(rfn_column_next(&cursor, &value), 0);
        if (round % 2)
            model.bytes.size /= 2 + round % 3;
        else
            memset(model.bytes.data + model.bytes.size / 2, (int)round, model.bytes.size / 2);
        while (!error)
            error = rfn_column_next(&cursor, &value);
        if (round % 2)
            assert_true(error == RFN_E_IO);
        else
            assert_true(error == RFN_E_CORRUPT || error == RFN_E_RANGE);
        rfn_column_close(&cursor);
        rfn_buf_release(&model.bytes);
    }
    rfn_buf_release(&buf);
    rfn_column_release(&column);
    free(values);
}

/* A column must be all of the stretch that it is said to be. */
static void test_stored_size(void **state)
{
    (void)state;
    struct rfn_column_cursor cursor;
    struct rfn_buf buf = RFN_BUF_INIT;
    struct rfn_column column = column_of((const int64_t[]){1, 2, 5, 9}, 4);
    rfn_column_write(&column, &buf);
    struct spill_model model;
    struct rfn_extent at = store(&model, buf.data, buf.size);
    for (uint64_t size = 0; size <= buf.size + 6; size++) {
        at.size = size;
        assert_int_equal(rfn_column_open_stored(&cursor, &model.spill, &at),
                         size == buf.size ? 0 : RFN_E_CORRUPT);
        rfn_column_close(&cursor);
    }
    at.size = buf.size + 7; /* is not there */
    assert_int_equal(rfn_column_open_stored(&cursor, &model.spill, &at), RFN_E_IO);
    rfn_column_close(&cursor);
    rfn_column_release(&column);
    rfn_buf_release(&buf);
    rfn_buf_release(&model.bytes);
}

static int decode(struct rfn_reader *reader, int64_t *values, uint32_t n)
{
    struct rfn_packed packed = {0};
    int error = rfn_column_histogram_decode(reader, n, &packed);
    uint64_t mask = packed.width ? UINT64_MAX >> (64 - 8 * packed.width) : 0;
    for (uint32_t i = 0; i < n && !error; i++) {
        uint64_t number = rfn_load_64(packed.bytes + (size_t)i * packed.width) & mask;
        values[i] = (int64_t)((uint64_t)packed.base + number);
    }
    rfn_packed_release(&packed);
    return error;
}

/* The last bit of the last byte is either a value's or must be 0: no values have two codings.
 */
static void test_last_bit(void **state)
{
    (void)state;
    for (uint32_t n = 2; n < 400; n++) {
        int64_t values[400], read[400];
        for (uint32_t i = 0; i < n; i++)
            values[i] = (int64_t)(noise() % 1000);
        struct rfn_buf out = RFN_BUF_INIT;
        assert_int_equal(rfn_column_histogram_encode(values, n, 0, &out), 0);
        struct rfn_reader reader = rfn_reader_over(out.data, out.size);
        assert_int_equal(decode(&reader, read, n), 0);
        assert_memory_equal(read, values, n * sizeof *values);
        out.data[out.size - 1] ^= 0x80;
        reader = rfn_reader_over(out.data, out.size);
        int error = decode(&reader, read, n);
        assert_true(error == RFN_E_CORRUPT || memcmp(read, values, n * sizeof *values) != 0);
        rfn_buf_release(&out);
    }
}

static int setup(void **state)
{
    (void)state;
    seed = 20240607;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_round_trips, setup),
        cmocka_unit_test_setup(test_mixtures, setup),
        cmocka_unit_test_setup(test_set_last, setup),
        cmocka_unit_test_setup(test_set_last_at_blocks, setup),
        cmocka_unit_test_setup(test_growing_trips, setup),
        cmocka_unit_test_setup(test_write_is_repeatable, setup),
        cmocka_unit_test_setup(test_skip, setup),
        cmocka_unit_test_setup(test_long_constant, setup),
        cmocka_unit_test_setup(test_sizes, setup),
        cmocka_unit_test_setup(test_scales, setup),
        cmocka_unit_test_setup(test_damage, setup),
        cmocka_unit_test_setup(test_spill, setup),
        cmocka_unit_test_setup(test_ahead, setup),
        cmocka_unit_test_setup(test_ahead_is_the_same, setup),
        cmocka_unit_test_setup(test_spill_is_lost, setup),
        cmocka_unit_test_setup(test_windows, setup),
        cmocka_unit_test_setup(test_store_changes, setup),
        cmocka_unit_test_setup(test_stored_size, setup),
        cmocka_unit_test_setup(test_last_bit, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
