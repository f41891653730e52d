/* fake_profile.h - for tests: profiles of streams that took a number of steps, each a segment of
 * two events, then a third in every fifth step, with a call at either end.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_PROFILE_H
#define RFN_TESTS_SUPPORT_FAKE_PROFILE_H

#include "reduce/segments/stream_profile.h"

struct fake_stream {
    int64_t begin, unit; /* when the first step begins; quanta per nanosecond */
    int64_t work, wait;  /* of a step */
    int64_t slow;        /* so much longer is every seventh step */
    unsigned steps;
    uint64_t noise; /* seed; 0: none. Up to 30 ns on work */
};

static int64_t fake_noise(uint64_t *seed)
{
    if (!*seed)
        return 0;
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(*seed >> 33) % 31;
}

/* A segment of n events that begins at `at`; when the next one begins. */
static int64_t fake_segment(struct rfn_stream_profile *profile, const struct fake_stream *of,
                            int64_t at, size_t n, int64_t work, bool top, int *error)
{
    static const uint32_t symbols[] = {3, 4, 5};
    int64_t vector[8] = {0}, now = 0;
    for (size_t i = 0; i < n; i++) {
        vector[2 * i + 1] = (now += work);
        vector[2 * i + 2] = (now += of->wait);
    }
    vector[2 * n + 1] = now;
    for (size_t i = 0; i < 2 * n + 2; i++)
        vector[i] *= of->unit;
    struct rfn_segment segment = {
        .context = n > 2, .events = symbols, .n = n, .messages = 1, .vector = vector};
    if (!*error)
        *error = rfn_stream_profile_put(profile, &segment, at * of->unit, top);
    return at + now;
}

/* NULL: out of memory. Finished. */
static struct rfn_stream_profile *fake_profile(const struct fake_stream *of, const char *criterion)
{
    struct rfn_stream_profile_options options = {.max_per_kind = 50};
    uint64_t seed = of->noise;
    int error = rfn_criterion_parse(criterion, false, &options.criterion, NULL);
    options.criterion.more *= (double)of->unit;
    struct rfn_stream_profile *profile = rfn_stream_profile_new(&options);
    if (!profile)
        return NULL;
    int64_t at = fake_segment(profile, of, of->begin, 1, of->work, true, &error);
    for (unsigned i = 0; i < of->steps; i++) {
        int64_t work = of->work + fake_noise(&seed) + (i % 7 == 6 ? of->slow : 0);
        at = fake_segment(profile, of, at, i % 5 == 4 ? 3 : 2, work, false, &error);
    }
    fake_segment(profile, of, at, 1, of->work, true, &error);
    if (!error)
        error = rfn_stream_profile_finish(profile);
    if (!error)
        return profile;
    rfn_stream_profile_free(profile);
    return NULL;
}

#endif
