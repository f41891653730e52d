/* Tests of corrected times: against plain arithmetic, with drift over hours, beyond the
 * measurements, at the limits of the numbers, and of what is no CLOCKS. */
#include "archive/read/host_clocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static struct rfn_buf payload_of(const struct rfn_clock_offset *offsets, uint64_t n)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, 0);
    rfn_buf_varint(&out, 1);
    rfn_buf_varint(&out, 2);
    rfn_buf_varint(&out, n);
    for (uint64_t i = 0; i < n; i++) {
        rfn_buf_u64(&out, offsets[i].monotonic_ns);
        rfn_buf_svarint(&out, offsets[i].offset_ns);
        rfn_buf_varint(&out, offsets[i].round_trip_ns);
    }
    return out;
}

/* Three hosts, of which the last is listed. The bytes are copied, so that a sanitizer sees reading
 * beyond them. */
static const char *read_clocks(struct rfn_host_clocks *clocks, const void *bytes, size_t size)
{
    struct rfn_payload payload = {.data = malloc(size + 1), .size = size};
    if (size)
        memcpy(payload.data, bytes, size);
    *clocks = (struct rfn_host_clocks){0};
    uint8_t *exact = realloc(payload.data, size ? size : 1);
    payload.data = exact;
    const char *fault = rfn_host_clocks_read(clocks, &payload, 3, true);
    free(exact);
    return fault;
}

static struct rfn_host_clocks clocks_of(const struct rfn_clock_offset *offsets, uint64_t n)
{
    struct rfn_host_clocks clocks;
    struct rfn_buf payload = payload_of(offsets, n);
    const char *fault = read_clocks(&clocks, payload.data, payload.size);
    if (fault)
        print_error("%s\n", fault);
    assert_null(fault);
    assert_null(rfn_host_clock(&clocks, 0));
    assert_null(rfn_host_clock(&clocks, 1));
    assert_non_null(rfn_host_clock(&clocks, 2));
    rfn_buf_release(&payload);
    return clocks;
}

static uint64_t corrected(const struct rfn_host_clocks *clocks, uint64_t time)
{
    struct rfn_clock_place place = {0};
    return rfn_clock_ns(rfn_host_clock(clocks, 2), &place, time);
}

static void test_constant(void **state)
{
    (void)state;
    static const struct rfn_clock_offset one[] = {{700, -300, 20}};
    static const struct rfn_clock_offset twice[] = {{700, -300, 20}, {700, 5, 20}};
    for (uint64_t n = 1; n <= 2; n++) {
        struct rfn_host_clocks clocks = clocks_of(n == 1 ? one : twice, n);
        assert_int_equal(corrected(&clocks, 700), 400);
        assert_int_equal(corrected(&clocks, 300), 0);
        assert_int_equal(corrected(&clocks, 0), UINT64_C(0) - 300);
        assert_int_equal(corrected(&clocks, UINT64_MAX), UINT64_MAX - 300);
        rfn_host_clocks_release(&clocks);
    }
}

/* Two days with 20 ppm: each nanosecond is right to a nanosecond, in between and beyond. */
static void test_drift(void **state)
{
    (void)state;
    const uint64_t begin = 5 * SECOND, day = 86400 * SECOND;
    const struct rfn_clock_offset offsets[] = {
        {begin, -7 * (int64_t)SECOND / 2, 8000},
        {begin + 2 * day, -7 * (int64_t)SECOND / 2 + (int64_t)(2 * day / 50000), 9000}};
    struct rfn_host_clocks clocks = clocks_of(offsets, 2);
    uint64_t before = 0;
    for (int i = -4; i < 4000; i++) { /* from a second before to a day after */
        uint64_t time = begin + (i < 0 ? UINT64_C(0) - SECOND / 4 * (uint64_t)-i
                                       : 3 * day / 4000 * (uint64_t)i);
        int64_t since = (int64_t)(time - begin);
        int64_t expected = (int64_t)begin - 7 * (int64_t)SECOND / 2 + since + since / 50000;
        int64_t wrong = (int64_t)corrected(&clocks, time) - expected;
        assert_true(wrong >= -1 && wrong <= 1);
        assert_true(corrected(&clocks, time) > before);
        before = corrected(&clocks, time);
    }
    rfn_host_clocks_release(&clocks);
}

/* Ten seconds apart a drift is continued, a nanosecond less not. */
static void test_ends(void **state)
{
    (void)state;
    for (int less = 0; less < 2; less++) {
        const struct rfn_clock_offset offsets[] = {
            {20 * SECOND, 100, 8}, {25 * SECOND, 200, 8}, {30 * SECOND - (uint64_t)less, 400, 8}};
        struct rfn_host_clocks clocks = clocks_of(offsets, 3);
        assert_int_equal(corrected(&clocks, 20 * SECOND), 20 * SECOND + 100);
        assert_int_equal(corrected(&clocks, 25 * SECOND), 25 * SECOND + 200);
        assert_int_equal(corrected(&clocks, 30 * SECOND), 30 * SECOND + 400);
        assert_int_equal(corrected(&clocks, 45 * SECOND / 2), 45 * SECOND / 2 + 150);
        assert_int_equal(corrected(&clocks, 15 * SECOND), 15 * SECOND + (less ? 100 : 0));
        assert_int_equal(corrected(&clocks, 40 * SECOND), 40 * SECOND + (less ? 400 : 800));
        rfn_host_clocks_release(&clocks);
    }
}

static uint64_t noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 20;
}

/* Random measurements: where the clock was read last makes no difference, time never goes backwards
 * between the first and the last, and it is exact at both ends of each piece. */
static void test_random(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 300; round++) {
        struct rfn_clock_offset offsets[9] = {{noise(&random), -(int64_t)noise(&random), 1}};
        for (int i = 1; i < 9; i++) {
            uint64_t step = noise(&random) >> (noise(&random) % 40);
            uint64_t rise = noise(&random) % 4 ? step + step / 1000 * (noise(&random) % 3) : 0;
            offsets[i].monotonic_ns = offsets[i - 1].monotonic_ns + step;
            offsets[i].offset_ns = offsets[i - 1].offset_ns + (int64_t)(rise - step);
            offsets[i].round_trip_ns = noise(&random);
        }
        if (offsets[0].monotonic_ns + (uint64_t)offsets[0].offset_ns > UINT64_MAX / 2)
            continue; /* the reference's time would not ascend */
        struct rfn_host_clocks clocks = clocks_of(offsets, 9);
        const struct rfn_clock *clock = rfn_host_clock(&clocks, 2);
        struct rfn_clock_place place = {0};
        for (int i = 0; i < 8; i++) {
            uint64_t low = offsets[i].monotonic_ns, width = offsets[i + 1].monotonic_ns - low;
            uint64_t before = low + (uint64_t)offsets[i].offset_ns;
            if (width == 0)
                continue;
            for (uint64_t k = 0; k <= 16; k++) {
                uint64_t at = low + (uint64_t)((rfn_u128)width * k / 16);
                uint64_t got = rfn_clock_ns(clock, &place, at);
                assert_int_equal(got, corrected(&clocks, at));
                if (k < 16) {
                    assert_true(got >= before);
                    before = got;
                }
            }
        }
        rfn_host_clocks_release(&clocks);
    }
}

/* Nothing overflows into undefined behaviour, whatever the numbers. */
static void test_limits(void **state)
{
    (void)state;
    static const struct rfn_clock_offset offsets[][2] = {
        {{0, INT64_MAX, UINT64_MAX}, {UINT64_MAX, 0, 0}},
        {{0, 0, 0}, {1, -2, 0}},
        {{1, INT64_MIN, 0}, {UINT64_MAX, 0, 0}},
        {{UINT64_MAX - 1, 1, 0}, {UINT64_MAX, 0, 0}},
    };
    static const uint64_t times[] = {0, 1, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct rfn_host_clocks clocks = clocks_of(offsets[i], 2);
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            corrected(&clocks, times[k]);
        for (int k = 0; k < 2; k++) { /* a slope has 63 bits, and a piece may be 64 bits long */
            uint64_t exact = offsets[i][k].monotonic_ns + (uint64_t)offsets[i][k].offset_ns;
            assert_true(exact - corrected(&clocks, offsets[i][k].monotonic_ns) <= 1);
        }
        rfn_host_clocks_release(&clocks);
    }
}

static void expect_fault(const struct rfn_buf *payload)
{
    struct rfn_host_clocks clocks;
    assert_non_null(read_clocks(&clocks, payload->data, payload->size));
    rfn_host_clocks_release(&clocks);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct rfn_clock_offset backwards[][2] = {
        {{500, 100, 1}, {499, 300, 1}},  /* the host's time */
        {{500, 100, 1}, {600, -1, 1}},   /* the reference's */
        {{500, -501, 1}, {600, 100, 1}}, /* it begins below 0 */
    };
    for (size_t i = 0; i < sizeof backwards / sizeof *backwards; i++) {
        struct rfn_buf payload = payload_of(backwards[i], 2);
        expect_fault(&payload);
        rfn_buf_release(&payload);
    }
    static const uint8_t bytes[][16] = {
        {3, 0},       /* no such reference */
        {0, 4},       /* more hosts than there are */
        {0, 1, 3, 1}, /* no such host */
        {0, 1, 2, 0}, /* no measurement */
        {0, 1, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
    };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct rfn_buf payload = RFN_BUF_INIT;
        rfn_buf_bytes(&payload, bytes[i], sizeof bytes[i]);
        expect_fault(&payload);
        rfn_buf_release(&payload);
    }
}

/* Cut at every length, a byte too long, a host twice. */
static void test_cuts(void **state)
{
    (void)state;
    static const struct rfn_clock_offset offsets[] = {{10, 1, 300}, {20, -5, 1}, {30, 70000, 9}};
    struct rfn_buf payload = payload_of(offsets, 3);
    struct rfn_host_clocks clocks;
    for (size_t size = 0; size < payload.size; size++) {
        assert_non_null(read_clocks(&clocks, payload.data, size));
        rfn_host_clocks_release(&clocks);
    }
    rfn_buf_u8(&payload, 0);
    expect_fault(&payload);
    rfn_buf_release(&payload);
    payload = payload_of(offsets, 3);
    const size_t size = payload.size;
    uint8_t *copy = malloc(size);
    memcpy(copy, payload.data, size);
    payload.data[1] = 2;
    rfn_buf_bytes(&payload, copy + 2, size - 2);
    expect_fault(&payload);
    free(copy);
    rfn_buf_release(&payload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant), cmocka_unit_test(test_drift),  cmocka_unit_test(test_ends),
        cmocka_unit_test(test_random),   cmocka_unit_test(test_limits), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
