/* Trace profiles out of memory: of all allocations each fails once; making or measuring the profile
 * says so, and nothing is left behind. */
#include "refrain/trace_profile.h"

#include "refrain/behaviour.h"

#define FAKE_EVENTS 256
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

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

static int run(const void *similar)
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

static int run_behaviour(const void *across)
{
    struct rfn_behaviour *behaviour;
    struct rfn_diag diag = {0};
    int error = rfn_behaviour_new(&fake, across, &behaviour, &diag);
    if (!error)
        rfn_behaviour_free(behaviour);
    return error;
}

static void test_profile(void **state)
{
    (void)state;
    write_streams();
    fail_each(100, run, "haarWave:0.01"); /* coding a column can do without */
    fail_each(100, run, "iterK:3:average");
}

static void test_behaviour(void **state)
{
    (void)state;
    write_streams();
    fail_each(100, run_behaviour, "avgWave:0.01");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profile),
                                       cmocka_unit_test(test_behaviour)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
