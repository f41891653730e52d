/* Trace profiles out of memory: of all allocations each fails once; making or measuring the profile
 * says so, and nothing is left behind. */
#include "refrain/trace_profile.h"

#include "refrain/behaviour.h"

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

static int run_behaviour(const char *across)
{
    struct rfn_behaviour *behaviour;
    struct rfn_diag diag = {0};
    int error = rfn_behaviour_new(&fake, across, &behaviour, &diag);
    if (!error)
        rfn_behaviour_free(behaviour);
    return error;
}

/* Has each allocation fail once. */
static void fail_each(int (*what)(const char *criterion), const char *criterion)
{
    failing = UINT64_MAX;
    allocations = 0;
    int64_t before = alive;
    assert_int_equal(what(criterion), 0);
    uint64_t n = allocations, did_without = 0; /* coding a column can */
    assert_true(n > 100);
    for (uint64_t at = 0; at < n; at++) {
        allocations = 0;
        failing = at;
        int error = what(criterion);
        assert_true(error == RFN_E_NOMEM || error == 0);
        assert_int_equal(alive, before);
        did_without += error == 0;
    }
    assert_true(did_without < n / 2);
    failing = UINT64_MAX;
}

static void test_profile(void **state)
{
    (void)state;
    write_streams();
    fail_each(run, "haarWave:0.01");
    fail_each(run, "iterK:3:average");
}

static void test_behaviour(void **state)
{
    (void)state;
    write_streams();
    fail_each(run_behaviour, "avgWave:0.01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profile),
                                       cmocka_unit_test(test_behaviour)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
