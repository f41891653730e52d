/* A stream's segments out of memory: of all allocations each fails once; that is said, and nothing
 * is left behind. */
#include "reduce/segments/stream_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

static int put(struct rfn_stream_profile *profile, int64_t i)
{
    const uint32_t events[] = {1, 2 + (uint32_t)(i % 2)};
    const int64_t vector[] = {0, 1, 2 + i * 100, 3 + i * 100, 4 + i * 100, 4 + i * 100};
    const int64_t extra[] = {i, -i};
    struct rfn_segment segment = {.context = (uint32_t)(i % 4 / 2),
                                  .events = events,
                                  .n = 2,
                                  .roles = RFN_ROLE_RECEIVES,
                                  .vector = vector,
                                  .extra = extra,
                                  .n_extra = (size_t)(i % 4 % 3)}; /* as the events say */
    return rfn_stream_profile_put(profile, &segment, i * i * 50, i % 7 == 0);
}

static int walk_all(const struct rfn_stream_profile *profile)
{
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    struct rfn_executed executed;
    int more = walk ? 1 : RFN_E_NOMEM;
    while (more > 0)
        more = rfn_profile_walk_next(walk, &executed);
    rfn_profile_walk_free(walk);
    return more;
}

static int fill(struct rfn_stream_profile *profile)
{
    for (int64_t i = 0; i < 120; i++) {
        RFN_TRY(put(profile, i));
        if (i % 50 == 0)
            rfn_stream_profile_code_ahead(profile);
    }
    RFN_TRY(rfn_stream_profile_widen(profile));
    rfn_stream_profile_code_ahead(profile);
    for (int64_t i = 120; i < 130; i++)
        RFN_TRY(put(profile, i));
    RFN_TRY(rfn_stream_profile_finish(profile));
    return walk_all(profile);
}

static int run(const void *text)
{
    struct rfn_stream_profile_options options = {.max_per_kind = 36, .max_events = 200};
    assert_int_equal(rfn_criterion_parse(text, false, &options.criterion, NULL), 0);
    struct rfn_stream_profile *profile = rfn_stream_profile_new(&options);
    if (!profile)
        return RFN_E_NOMEM;
    int error = fill(profile);
    rfn_stream_profile_free(profile);
    return error;
}

static void test_profile(void **state)
{
    (void)state;
    const char *criteria[] = {"avgWave:0", "absDiff:0.1", "iterK:3:centroid", "iterAvg",
                              "jitter:1e-9"};
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++)
        fail_each(30, run, criteria[i]); /* coding a column can do without */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
