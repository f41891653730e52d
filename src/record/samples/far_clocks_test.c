/* Tests of how clocks of other nodes are corrected, with stand-ins for the recorder's clock and for
 * the measurement at the start. Quanta are nanoseconds. Whole runs: tests/test_clocks.py. */
#include "record/core/clock_sync.h"
#include "record/samples/samples_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS     1000000
#define SECOND (1000 * MS)
enum { FAR_RANK = 7 };

struct rec_sampling rec_sampling = {.quantum_ns = 1};
struct rec_clock rec_clock = {.kind = REC_CLOCK_MONOTONIC};
static int64_t starts_ns; /* when the program starts, on the common clock */

struct rec_clock_pair rec_start(void)
{
    return (struct rec_clock_pair){.quanta = 0, .monotonic_ns = starts_ns};
}

uint64_t rec_clock_other(void)
{
    return 0;
}

int64_t rec_monotonic_ns(void)
{
    return starts_ns;
}

int rec_clock_sync_share(struct rec_exchange *exchange, struct rfn_buf *measured)
{
    (void)exchange;
    *measured = (struct rfn_buf)RFN_BUF_INIT;
    rfn_buf_u64(measured, 0);
    return 0;
}

bool rec_clock_sync_offset(const uint8_t *measured, size_t size, uint64_t of_host,
                           uint64_t monotonic_ns, int64_t *offset_ns)
{
    (void)measured, (void)size, (void)of_host, (void)monotonic_ns;
    *offset_ns = 0;
    return true;
}

static void start_at(int64_t ns)
{
    starts_ns = ns;
    assert_int_equal(rec_far_start(NULL), 0);
}

/* A clean message took so long from there to here, and one from here to there, both by clocks that
 * are not corrected. */
static void exchange_at(int64_t common_ns, int64_t from_ns, int64_t to_ns)
{
    rec_far_clean(FAR_RANK, common_ns - from_ns, (uint64_t)(common_ns - starts_ns));
    rec_far_told(FAR_RANK, (struct rec_far_least){.span = common_ns / SECOND, .ns = (double)to_ns});
}

/* Added to the far clock it gives the own one. */
static double behind_at(int64_t common_ns)
{
    uint64_t quanta;
    assert_true(rec_far_sent(FAR_RANK, common_ns, &quanta));
    return (double)((int64_t)quanta + starts_ns - common_ns);
}

/* A clock that falls back by 100 ppm is followed. */
static void test_drift(void **state)
{
    (void)state;
    start_at(100 * (int64_t)SECOND);
    for (int64_t s = 101; s < 110; s++) {
        const int64_t at = s * SECOND + SECOND / 2, behind = (at - starts_ns) / 10000;
        exchange_at(at, 2000 + behind, 2000 - behind);
        assert_true(fabs(behind_at(at) - (double)behind) < 10);
        assert_true(fabs(behind_at(at + SECOND) - (double)behind - SECOND / 10000.0) < 10);
    }
    rec_far_release();
}

/* 100 us that are noise, 1 ms after the start, stay in their order of magnitude. */
static void test_noise_after_start(void **state)
{
    (void)state;
    start_at(100 * (int64_t)SECOND + 499 * MS);
    exchange_at(100 * (int64_t)SECOND + 500 * MS, 202000, 2000);
    assert_true(fabs(behind_at(100 * (int64_t)SECOND + 500 * MS) - 100000) < 10);
    assert_true(fabs(behind_at(102 * (int64_t)SECOND)) < 500000);
    rec_far_release();
}

/* A clock that begins with the job, as in a container. */
static void test_near_zero(void **state)
{
    (void)state;
    start_at(MS);
    exchange_at(2 * MS, 3000, 2000); /* span 0 is none */
    rec_far_clean(FAR_RANK, -3 * (int64_t)SECOND, (uint64_t)(-2 * (int64_t)SECOND));
    assert_true(rec_far_least(FAR_RANK, MS).span <= 0); /* others do not believe it */
    rec_far_release();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_noise_after_start),
        cmocka_unit_test(test_near_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
