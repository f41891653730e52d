/* Tests of which of two measurements are kept. That clocks are compared rightly is tested with
 * whole runs (tests/test_clocks.py). */
#include "record/core/clock_sync.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static void expect(struct rfn_clock_offset first, struct rfn_clock_offset second, size_t n,
                   uint64_t best_ns)
{
    struct rfn_clock_offset offsets[2] = {first, second};
    assert_int_equal(rec_clock_sync_settle(offsets), n);
    assert_int_equal(offsets[0].monotonic_ns, best_ns);
    if (n == 2)
        assert_memory_equal(&offsets[1], &second, sizeof second);
}

#define AT(...) ((struct rfn_clock_offset){__VA_ARGS__})

/* 100 ppm over an hour, in both directions, whatever the offset. */
static void test_drift(void **state)
{
    (void)state;
    const uint64_t hour = 3600 * SECOND;
    const int64_t change = (int64_t)(hour / 10000);
    const int64_t offsets[] = {0, -5, INT64_MIN + change, INT64_MAX - change};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        expect(AT(SECOND, offsets[i], 9000), AT(SECOND + hour, offsets[i] + change, 8000), 2,
               SECOND);
        expect(AT(SECOND, offsets[i], 9000), AT(SECOND + hour, offsets[i] - change, 800000), 2,
               SECOND);
    }
}

/* A millisecond apart a microsecond is the most that a drift could be. */
static void test_noise(void **state)
{
    (void)state;
    const uint64_t at = 7 * SECOND, later = at + 1000000;
    expect(AT(at, 50, 9000), AT(later, 1050, 9100), 2, at);
    expect(AT(at, 50, 9000), AT(later, -950, 9100), 2, at);
    expect(AT(at, 50, 9000), AT(later, 1051, 9100), 1, at);
    expect(AT(at, 50, 9000), AT(later, 1051, 8900), 1, later);
    expect(AT(at, 50, 9000), AT(later, -951, 8900), 1, later);
    expect(AT(at, INT64_MAX, 9000), AT(later, INT64_MIN, 8900), 2, at); /* 1 ns, modulo 2^64 */
}

/* A round trip of 8 ms tells nothing that one of 500 ns does not, half a second away. */
static void test_long_round_trip(void **state)
{
    (void)state;
    const uint64_t at = 7 * SECOND, later = at + SECOND / 2;
    expect(AT(at, 50, 500), AT(later, 10000, 8000000), 1, at);
    expect(AT(at, 50, 8000000), AT(later, 10000, 500), 1, later);
    expect(AT(at, 50, 900000), AT(later, 10000, 500), 2, at);
}

static void test_no_time_between(void **state)
{
    (void)state;
    expect(AT(SECOND, 50, 500), AT(SECOND, 50, 500), 1, SECOND);
    expect(AT(SECOND, 50, 500), AT(SECOND - 1, 50, 400), 1, SECOND - 1);
}

/* ---- what is added to this host's clock ---- */

#define OWN UINT64_C(0x1234567890abcdef)

static void write_host(struct rfn_buf *out, uint64_t host, size_t n,
                       const struct rfn_clock_offset *of)
{
    rfn_buf_u64(out, host);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++) {
        rfn_buf_u64(out, of[i].monotonic_ns);
        rfn_buf_svarint(out, of[i].offset_ns);
        rfn_buf_varint(out, of[i].round_trip_ns);
    }
}

static void expect_offset(const struct rfn_buf *measured, uint64_t at, int64_t expected)
{
    int64_t offset = 0;
    assert_true(rec_clock_sync_offset(measured->data, measured->size, OWN, at, &offset));
    assert_int_equal(offset, expected);
}

static void test_offset(void **state)
{
    (void)state;
    const struct rfn_clock_offset one[] = {AT(SECOND, 70, 9000)};
    const struct rfn_clock_offset near[] = {AT(10 * SECOND, -500, 9), AT(12 * SECOND, -300, 9)};
    const struct rfn_clock_offset far[] = {AT(10 * SECOND, 1000, 9), AT(20 * SECOND, 2000, 9)};
    struct rfn_buf measured = RFN_BUF_INIT;
    int64_t offset;
    assert_false(rec_clock_sync_offset(NULL, 0, OWN, SECOND, &offset));
    rfn_buf_u64(&measured, OWN + 1);
    size_t reference = measured.size;
    write_host(&measured, OWN + 2, 1, one);
    assert_false(rec_clock_sync_offset(measured.data, measured.size, OWN, SECOND, &offset));
    write_host(&measured, OWN, 2, near);
    expect_offset(&measured, 9 * SECOND, -500);
    expect_offset(&measured, 11 * SECOND, -400);
    expect_offset(&measured, 30 * SECOND, -300);
    measured.size--; /* cut short */
    assert_false(rec_clock_sync_offset(measured.data, measured.size, OWN, SECOND, &offset));
    measured.size = reference;
    write_host(&measured, OWN, 2, far);
    expect_offset(&measured, 9 * SECOND, 900);
    expect_offset(&measured, 15 * SECOND, 1500);
    expect_offset(&measured, 22 * SECOND, 2200);
    measured.size = reference;
    write_host(&measured, OWN, 1, one);
    expect_offset(&measured, 0, 70);
    rfn_buf_release(&measured);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift),           cmocka_unit_test(test_noise),
        cmocka_unit_test(test_long_round_trip), cmocka_unit_test(test_no_time_between),
        cmocka_unit_test(test_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
