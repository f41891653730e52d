#include "reduce/columns/column_adaptive.h"

#include "reduce/columns/column_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rfn_coder_memory memory; /* used by all, one after the other */
static uint64_t seed = 1;

static uint64_t noise(void) /* splitmix64 */
{
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* ---- one block ---- */

/* The size that n values take, which are what is read then. */
static size_t round_trip(const int64_t *values, const int64_t *guide, uint32_t n)
{
    struct rfn_buf out = RFN_BUF_INIT;
    int64_t *read = malloc(n * sizeof *read);
    assert_int_equal(rfn_column_adaptive_encode(values, guide, n, &memory, &out), 0);
    struct rfn_reader reader = rfn_reader_over(out.data, out.size);
    assert_int_equal(rfn_column_adaptive_decode(&reader, guide, n, read), 0);
    assert_memory_equal(read, values, n * sizeof *read);
    size_t size = out.size;
    rfn_buf_release(&out);
    free(read);
    return size;
}

static void test_any_values(void **state)
{
    (void)state;
    static const int64_t few[] = {0, -1, 1, INT64_MIN, INT64_MAX, 7, 4096, 1 << 20, 0, 0};
    for (uint32_t n = 1; n <= sizeof few / sizeof *few; n++)
        round_trip(few, n % 2 ? few : NULL, n);
    int64_t values[RFN_COLUMN_BLOCK];
    for (unsigned shift = 0; shift < 64; shift += 3) {
        for (uint32_t i = 0; i < RFN_COLUMN_BLOCK; i++)
            values[i] = (int64_t)(noise() >> shift);
        round_trip(values, NULL, RFN_COLUMN_BLOCK);
        round_trip(values, values, RFN_COLUMN_BLOCK);
    }
}

/* An entropy of 2 bits is hardly exceeded; what is known costs nothing. */
static void test_sizes(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t values[N], other[N], cycle[N];
    for (uint32_t i = 0; i < N; i++) {
        values[i] = (int64_t)(noise() % 4);
        other[i] = (int64_t[]){5, 0, 3, 11}[values[i]];
        cycle[i] = i % 3;
    }
    assert_in_range(round_trip(values, NULL, N), 249, 285);
    assert_in_range(round_trip(other, values, N), 1, 25);
    assert_in_range(round_trip(cycle, NULL, N), 1, 20);
    memset(values, 0, sizeof values);
    assert_in_range(round_trip(values, NULL, N), 1, 4);
}

/* The coding is what refrain-archive(5) says, for ever. */
static void test_bytes(void **state)
{
    (void)state;
    static const int64_t values[] = {0, 1, 2, 0, 1, 2, -3};
    struct rfn_buf out = RFN_BUF_INIT;
    assert_int_equal(rfn_column_adaptive_encode(values, NULL, 7, &memory, &out), 0);
    char text[64] = "";
    for (size_t i = 0; i < out.size; i++)
        snprintf(text + 2 * i, 3, "%02x", out.data[i]);
    assert_string_equal(text, "03838fef7b");
    rfn_buf_release(&out);
}

/* What was written before there were matches is still read. */
static void test_old_bytes(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x01, 0x84, 0x61, 0x8a, 0xd7};
    static const int64_t values[] = {0, 1, 2, 0, 1, 2, -3};
    int64_t read[7];
    struct rfn_reader reader = rfn_reader_over(bytes, sizeof bytes);
    assert_int_equal(rfn_column_adaptive_decode(&reader, NULL, 7, read), 0);
    assert_memory_equal(read, values, sizeof values);
}

/* What went before is known again, however long ago it was, and goes on after an interruption. */
static void test_repetition(void **state)
{
    (void)state;
    enum { N = 4000, ONCE = 400 };
    int64_t values[N];
    for (uint32_t i = 0; i < N; i++)
        values[i] = i < ONCE ? (int64_t)(noise() % 4) : values[i - ONCE];
    size_t once = round_trip(values, NULL, ONCE);
    assert_in_range(round_trip(values, NULL, N), once, once + 60);
    for (uint32_t i = ONCE; i < N; i += 100)
        values[i] = 3 - values[i];
    assert_in_range(round_trip(values, NULL, N), once, 2 * once + 60);
}

/* A value that the guide's next one tells. */
static void test_guide_ahead(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t values[N], guide[N] = {0};
    for (uint32_t i = 0; i < N; i++)
        values[i] = (int64_t)(noise() % 4);
    for (uint32_t i = 1; i < N; i++)
        guide[i] = values[i - 1];
    assert_in_range(round_trip(values, guide, N), 1, 60);
}

/* Bytes too many, too few, a zero at the end, another form. */
static void test_damage(void **state)
{
    (void)state;
    static const int64_t values[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
    enum { N = sizeof values / sizeof *values };
    int64_t read[N];
    struct rfn_buf out = RFN_BUF_INIT;
    assert_int_equal(rfn_column_adaptive_encode(values, NULL, N, &memory, &out), 0);
    for (uint8_t more = 0; more < 2; more++) {
        struct rfn_buf longer = RFN_BUF_INIT;
        rfn_buf_bytes(&longer, out.data, out.size);
        for (int i = 0; i < 5; i++)
            rfn_buf_u8(&longer, more);
        struct rfn_reader reader = rfn_reader_over(longer.data, longer.size);
        assert_int_equal(rfn_column_adaptive_decode(&reader, NULL, N, read), RFN_E_CORRUPT);
        rfn_buf_release(&longer);
    }
    struct rfn_reader none = rfn_reader_over(out.data, 0);
    assert_int_equal(rfn_column_adaptive_decode(&none, NULL, N, read), RFN_E_CORRUPT);
    out.data[0] = 4;
    struct rfn_reader reader = rfn_reader_over(out.data, out.size);
    assert_int_equal(rfn_column_adaptive_decode(&reader, NULL, N, read), RFN_E_CORRUPT);
    rfn_buf_release(&out);
}

/* What was coded before leaves nothing in the memory. */
static void test_memory(void **state)
{
    (void)state;
    enum { N = 1000 };
    int64_t values[N];
    for (uint32_t i = 0; i < N; i++)
        values[i] = (int64_t)(noise() % 40) - 20;
    for (uint32_t n = 1; n <= N; n = 3 * n + 1) {
        struct rfn_coder_memory fresh = {0};
        struct rfn_buf one = RFN_BUF_INIT, other = RFN_BUF_INIT;
        round_trip(values, values, N);
        assert_int_equal(rfn_column_adaptive_encode(values, NULL, n, &memory, &one), 0);
        assert_int_equal(rfn_column_adaptive_encode(values, NULL, n, &fresh, &other), 0);
        assert_int_equal(one.size, other.size);
        assert_memory_equal(one.data, other.data, one.size);
        rfn_buf_release(&one);
        rfn_buf_release(&other);
        rfn_coder_memory_release(&fresh);
    }
}

static int release_memory(void **state)
{
    (void)state;
    rfn_coder_memory_release(&memory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_values), cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_bytes),      cmocka_unit_test(test_old_bytes),
        cmocka_unit_test(test_repetition), cmocka_unit_test(test_guide_ahead),
        cmocka_unit_test(test_damage),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, release_memory);
}
