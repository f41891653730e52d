/* Trace profiles out of memory: of all allocations each fails once; making or measuring the profile
 * says so, and nothing is left behind. */
#include "refrain/trace_profile.h"

#define FAKE_EVENTS 256
#include "analyze/fake_archive.h"
#include "base/failing_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void write_streams(void)
{
    fake_reset();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        int64_t at = 0;
        for (int64_t i = 0; i < 100; i++) {
            fake_segment(rank, (uint32_t)(i % 3));
            EVENT(rank, SEND_, 1, at, at + 10 + i * i, 0, 1, 1, 1, 0, 0);
            EVENT(rank, BARRIER, 2, at + 11 + i * i, at + 20 + i * i, 0);
            at += 20 + i * i;
        }
    }
}

static int run(const char *similar)
{
    struct rfn_trace_profile_options options = {
        .similar = similar, .across = "avgWave:0.4", .max_per_kind = 20};
    struct rfn_reduction_measures measures;
    struct rfn_trace_profile *profile;
    struct rfn_diag diag = {0};
    int error = rfn_trace_profile_new(&fake, &options, &profile, &diag);
    if (!error) {
        error = rfn_trace_profile_measure(profile, &measures, &diag);
        rfn_trace_profile_free(profile);
    }
    return error;
}

static void test_profile(void **state)
{
    (void)state;
    const char *criteria[] = {"haarWave:0.01", "iterK:3:average"};
    write_streams();
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++) {
        failing = UINT64_MAX;
        allocations = 0;
        int64_t before = alive;
        assert_int_equal(run(criteria[i]), 0);
        uint64_t n = allocations, did_without = 0; /* coding a column can */
        assert_true(n > 100);
        for (uint64_t at = 0; at < n; at++) {
            allocations = 0;
            failing = at;
            int error = run(criteria[i]);
            assert_true(error == RFN_E_NOMEM || error == 0);
            assert_int_equal(alive, before);
            did_without += error == 0;
        }
        assert_true(did_without < n / 2);
    }
    failing = UINT64_MAX;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
