/* The executions of a stream: known answers; and random streams against what the page says, worked
 * out with all segments at hand (doc/trace-profiling.md). */
#include "reduce/stream_profile.h"

#include "reduce/one_way.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_SEGMENTS = 4000, MAX_EVENTS = 4, TOP = -1 };

static const uint32_t symbols[MAX_EVENTS] = {5, 6, 5, 7};

/* A segment as it was executed: of a context or the top, its start, and what is in it. */
struct real {
    int context;
    int64_t start;
    size_t n;
    int64_t vector[2 * MAX_EVENTS + 2];
    int64_t extra[2];
    size_t n_extra;
    uint8_t roles;
};

static struct real reals[MAX_SEGMENTS];
static size_t n_reals;

static struct rfn_stream_profile *make(const char *criterion, bool exact, uint32_t max_per_kind,
                                       uint64_t max_events)
{
    struct rfn_stream_profile_options options = {
        .max_per_kind = max_per_kind, .max_events = max_events, .exact_starts = exact};
    assert_int_equal(rfn_criterion_parse(criterion, false, &options.criterion, NULL), 0);
    struct rfn_stream_profile *profile = rfn_stream_profile_new(&options);
    assert_non_null(profile);
    return profile;
}

static int put(struct rfn_stream_profile *profile, const struct real *real)
{
    struct rfn_segment segment = {.context = real->context == TOP ? 77 : (uint32_t)real->context,
                                  .events = symbols,
                                  .n = real->n,
                                  .messages = 1,
                                  .roles = real->roles,
                                  .vector = real->vector,
                                  .extra = real->extra,
                                  .n_extra = real->n_extra};
    return rfn_stream_profile_put(profile, &segment, real->start, real->context == TOP);
}

/* The next segment of the stream; its events end at these times since its start. */
static void add(int context, int64_t start, size_t n, const int64_t *ends)
{
    struct real *real = &reals[n_reals++];
    *real = (struct real){.context = context, .start = start, .n = n};
    for (size_t i = 0; i < n; i++) {
        real->vector[2 * i + 1] = i ? ends[i - 1] : 0;
        real->vector[2 * i + 2] = ends[i];
    }
    real->vector[2 * n + 1] = ends[n - 1];
}
#define ADD(context, start, ...) \
    add(context, start, sizeof((const int64_t[]){__VA_ARGS__}) / 8, (const int64_t[]){__VA_ARGS__})

static struct rfn_stream_profile *put_all(const char *criterion, bool exact)
{
    struct rfn_stream_profile *profile = make(criterion, exact, 0, 0);
    for (size_t i = 0; i < n_reals; i++)
        assert_int_equal(put(profile, &reals[i]), 0);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    return profile;
}

static void expect_column(const struct rfn_column *column, size_t n, const int64_t *values)
{
    struct rfn_column_cursor cursor;
    int64_t value;
    assert_int_equal(column->n, n);
    rfn_column_open_growing(&cursor, column);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rfn_column_next(&cursor, &value), 0);
        assert_int_equal(value, values[i]);
    }
    rfn_column_close(&cursor);
}
#define EXPECT(column, ...)                                           \
    expect_column(column, sizeof((const int64_t[]){__VA_ARGS__}) / 8, \
                  (const int64_t[]){__VA_ARGS__})

/* ---- known answers ---- */

/* Of context 2 the lengths 100, 200, 110, 90: the first stands for the third and the fourth, whose
 * mean length is 100. The tolerance is 20, of the top's first 2. */
static void test_known(void **state)
{
    (void)state;
    n_reals = 0;
    ADD(TOP, 1000, 10);
    ADD(2, 1010, 100);
    ADD(2, 1110, 200);
    ADD(2, 1310, 110);
    ADD(2, 1420, 90);
    ADD(TOP, 1510, 5);
    ADD(0, 1515, 40);
    struct rfn_stream_profile *profile = put_all("chebyshev:0.2", false);
    const struct rfn_profile_columns *columns = rfn_stream_profile_columns(profile, 2);
    EXPECT(&columns->representative, 0, 1, 0, 0);
    EXPECT(&columns->correction, 0, 0, 0, 0);
    EXPECT(&columns->pace, 0, 0);
    EXPECT(&columns->kept, 1, 0);
    EXPECT(rfn_stream_profile_top(profile), 0, 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->kept, 0);
    assert_int_equal(rfn_stream_profile_columns(profile, 1)->representative.n, 0);
    assert_null(rfn_stream_profile_columns(profile, 3));
    assert_int_equal(rfn_stream_profile_first(profile), 1000);
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(profile);
    assert_int_equal(stats.executions, 7);
    assert_int_equal(stats.kinds, 4);
    assert_int_equal(stats.representatives, 5);
    assert_int_equal(stats.kept_events, 5);
    assert_int_equal(stats.kept_messages, 5);
    assert_int_equal(stats.corrections, 0);
    rfn_stream_profile_free(profile);
}

/* Starts that nothing predicts. The tolerance is 0.2 times 100, rounded down to 19. The second
 * segment is 130 late, which is nearest to 7 times that; so the third is predicted at 1333, 63
 * late, nearest to 3 times. Exactly: 130 and 60. */
static void test_corrections(void **state)
{
    (void)state;
    n_reals = 0;
    ADD(0, 1000, 100);
    ADD(0, 1230, 100);
    ADD(0, 1270, 100);
    struct rfn_stream_profile *profile = put_all("chebyshev:0.2", false);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->correction, 0, 7, -3);
    assert_int_equal(rfn_stream_profile_stats(profile).corrections, 2);
    rfn_stream_profile_free(profile);
    profile = put_all("chebyshev:0.2", true);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->correction, 0, 130, -60);
    rfn_stream_profile_free(profile);
}

/* iterAvg: lengths 100, 110, 300 of one representative, whose length is the average 170, as is its
 * pace: 0 more. iterK:1:average: the first is kept, what follows is executed as the average, which
 * is the first again; its pace is 205. */
static void test_averages(void **state)
{
    (void)state;
    struct rfn_profile_walk *walk;
    struct rfn_executed executed;
    n_reals = 0;
    ADD(0, 0, 100);
    ADD(0, 100, 110);
    ADD(0, 210, 300);
    struct rfn_stream_profile *profile = put_all("iterAvg", true);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->representative, 0, 0, 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->pace, 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->correction, 0, -70, -60);
    walk = rfn_profile_walk_new(profile);
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
    assert_true(executed.first);
    assert_int_equal(executed.vector[2], 170);
    rfn_profile_walk_free(walk);
    rfn_stream_profile_free(profile);
    profile = put_all("iterK:1:average", true);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->representative, 0, 1, 1);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->pace, 0, 105);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->kept, 0, 1);
    rfn_stream_profile_free(profile);
}

/* A full store: what is like nothing in it is loose, and has numbers all the same. */
static void test_full(void **state)
{
    (void)state;
    const int64_t lengths[] = {100, 1000, 5000, 100, 5000, 1001, 20000};
    struct rfn_stream_profile *profile = make("chebyshev:0.2", false, 0, 2);
    struct rfn_executed executed;
    int64_t at = 0;
    n_reals = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ADD(0, at, lengths[i]);
        at += lengths[i];
        assert_int_equal(put(profile, &reals[i]), 0);
    }
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->representative, 0, 1, 2, 0, 3, 1, 4);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->kept, 1, 1, 0, 0, 0);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
        assert_int_equal(executed.loose, i == 2 || i == 4 || i == 6);
        assert_int_equal(executed.vector[2], lengths[i] == 1001 ? 1000 : lengths[i]);
    }
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 0);
    rfn_profile_walk_free(walk);
    rfn_stream_profile_free(profile);
}

/* The second start is 300 us late. The tolerance is some 41.8 us: 0.02 of 1.09 and 1 ms; segments
 * that only send may be off by ten times that. Theirs are two representatives, which are all taken
 * to be as long as the mean of all, 1033750 ns. Where starts are exact they are like others. */
static void test_one_way(void **state)
{
    (void)state;
    const uint8_t roles[] = {RFN_ROLE_SENDS, RFN_ROLE_MEETS, RFN_ROLE_SENDS};
    for (size_t i = 0; i < 3; i++) {
        n_reals = 0;
        ADD(0, 0, 500000, 1000000);
        ADD(0, 1300000, 590000, 1090000);
        ADD(0, 2390000, 700000, 1045000);
        ADD(0, 3435000, 500000, 1000000);
        for (size_t k = 0; k < n_reals; k++)
            reals[k].roles = roles[i];
        struct rfn_stream_profile *profile = put_all("jitter:0.02", i == 2);
        const struct rfn_profile_columns *columns = rfn_stream_profile_columns(profile, 0);
        if (i == 0) {
            EXPECT(&columns->representative, 0, 0, 1, 0);
            EXPECT(&columns->correction, 0, 0, 0, 0);
            EXPECT(&columns->pace, 1033750 - 1030000, 1033750 - 1045000);
        } else {
            EXPECT(&columns->representative, 0, 1, 2, 0);
            EXPECT(&columns->correction, 0, i == 2 ? 300000 : 7, 0, 0);
            EXPECT(&columns->pace, 0, 0, 0);
        }
        rfn_stream_profile_free(profile);
    }
}

static void test_impossible(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("chebyshev:0.2", false, 0, 0);
    n_reals = 0;
    ADD(0, 0, -1);
    ADD(0, 0, INT64_MAX);
    ADD(0, INT64_MIN, INT64_C(1) << 62);
    ADD(TOP, INT64_MAX, 1);
    assert_int_equal(put(profile, &reals[0]), RFN_E_CORRUPT);
    assert_int_equal(put(profile, &reals[1]), RFN_E_CORRUPT);
    assert_int_equal(put(profile, &reals[2]), 0);
    assert_int_equal(put(profile, &reals[3]), RFN_E_CORRUPT);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    assert_int_equal(rfn_stream_profile_stats(profile).executions, 1);
    rfn_stream_profile_free(profile);
    profile = make("avgWave", false, 0, 0); /* nothing at all */
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    assert_int_equal(rfn_stream_profile_contexts(profile), 0);
    rfn_stream_profile_free(profile);
}

/* ---- random streams ---- */

static uint64_t random_state = 1;

static int64_t noise(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* Gaps and durations around typical ones of the context, some much longer; between segments mostly
 * nothing; now and then a segment of the top. */
static void make_random(size_t n)
{
    int64_t at = noise(1000);
    n_reals = 0;
    while (n_reals < n) {
        int context = noise(40) ? (int)noise(3) : TOP;
        int64_t ends[MAX_EVENTS], end = 0;
        size_t events = 1 + (size_t)noise(noise(9) ? context + 2 : MAX_EVENTS);
        for (size_t i = 0; i < events; i++)
            ends[i] = end += 200 * (context + 2) + noise(noise(20) ? 30 : 3000);
        add(context, at, events, ends);
        struct real *real = &reals[n_reals - 1];
        real->n_extra = (size_t)noise(3);
        real->roles = context == 1 ? RFN_ROLE_SENDS : RFN_ROLE_MEETS;
        for (size_t i = 0; i < real->n_extra; i++)
            real->extra[i] = (int64_t)n_reals + (int64_t)i;
        at += end + (noise(10) ? 0 : noise(100));
    }
}

/* What each segment was executed as, with a store alone: the first pass. */
struct reference {
    uint32_t number[MAX_SEGMENTS];
    struct rfn_store *store;
};

static void put_in_store(struct reference *reference, const char *criterion, bool exact,
                         uint32_t max_per_kind)
{
    struct rfn_store_options options = {.max_per_kind = max_per_kind, .both_ways = exact};
    assert_int_equal(rfn_criterion_parse(criterion, false, &options.criterion, NULL), 0);
    reference->store = rfn_store_new(&options);
    for (size_t i = 0; i < n_reals; i++) {
        struct rfn_segment segment = {.context = (uint32_t)reals[i].context,
                                      .events = symbols,
                                      .n = reals[i].n,
                                      .roles = reals[i].roles,
                                      .vector = reals[i].vector};
        if (reals[i].context != TOP)
            assert_true(rfn_store_put(reference->store, &segment, &reference->number[i]) >= 0);
    }
    rfn_store_finish(reference->store);
}

/* The vector and the pace of what segment i is executed as. */
static const int64_t *vector_of(const struct reference *reference, size_t i, int64_t *pace)
{
    *pace = reals[i].vector[2 * reals[i].n + 1];
    if (reals[i].context == TOP)
        return reals[i].vector;
    uint32_t context = (uint32_t)reals[i].context;
    uint32_t now = rfn_store_forward(reference->store, context, reference->number[i]);
    struct rfn_representative is = rfn_store_representative(reference->store, context, now);
    *pace = is.pace;
    return is.vector;
}

/* Tolerances by which the start of a segment may be off. */
static uint64_t starts_of(const struct rfn_criterion *criterion, const struct real *real,
                          bool exact)
{
    bool one_way = !exact && real->context != TOP && rfn_roles_one_way(real->roles) &&
                   criterion->method->one_way > 0;
    return one_way ? criterion->method->one_way_starts : 1;
}

/* Times in a segment are off by what jitter allows, or those of what was like the same one. */
static void expect_near(const struct rfn_criterion *criterion, const struct real *real,
                        const int64_t *vector, bool exact)
{
    size_t n = 2 * real->n + 2;
    int64_t longer = vector[n - 1] > real->vector[n - 1] ? vector[n - 1] : real->vector[n - 1];
    double allowed = rfn_criterion_allowed(criterion, 1.01 * (double)longer);
    if (starts_of(criterion, real, exact) > 1)
        allowed *= 2 * criterion->method->one_way;
    for (size_t k = 0; k < n; k++)
        assert_true((double)llabs(vector[k] - real->vector[k]) <= allowed + 1);
}

/* A walk gives the vectors that the store alone gives, starts that deviate from the real ones by at
 * most the tolerance, and where they do not, the predicted ones. */
static void expect_walk(const struct rfn_stream_profile *profile, const struct reference *reference,
                        const char *criterion, bool exact, bool limited)
{
    struct rfn_criterion parsed;
    struct rfn_executed executed;
    uint64_t corrections = 0;
    int64_t predicted = reals[0].start;
    bool widened = limited && !exact;
    assert_int_equal(rfn_criterion_parse(criterion, false, &parsed, NULL), 0);
    struct rfn_start_tolerance tolerance = rfn_start_tolerance_of(&parsed, exact);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    for (size_t i = 0; i < n_reals; i++) {
        int64_t pace;
        const struct real *real = &reals[i];
        const int64_t *vector = vector_of(reference, i, &pace);
        assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
        assert_int_equal(executed.top, real->context == TOP);
        assert_int_equal(executed.n, real->n);
        assert_memory_equal(executed.events, symbols, real->n * sizeof *symbols);
        assert_memory_equal(executed.vector, vector, (2 * real->n + 2) * sizeof *vector);
        if (executed.first && memcmp(vector, real->vector, sizeof *vector) == 0 && executed.n_extra)
            assert_memory_equal(executed.extra, real->extra, real->n_extra * sizeof *real->extra);
        if (parsed.method == &rfn_jitter && !limited)
            expect_near(&parsed, real, vector, exact);
        uint64_t allowed = rfn_start_tolerance(&tolerance, vector[2 * real->n + 1]) *
                           starts_of(&parsed, real, exact);
        assert_true(llabs(executed.start - real->start) <= (long long)(allowed * (1 + widened)));
        corrections += executed.start != predicted;
        if (executed.start != predicted && !widened) /* was it that far off? */
            assert_true(llabs(predicted - real->start) > (long long)(allowed - allowed / 4));
        predicted = executed.start + pace;
    }
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 0);
    assert_int_equal(rfn_stream_profile_stats(profile).corrections, corrections);
    rfn_profile_walk_free(walk);
}

/* The columns count representatives in order of first execution. */
static void expect_numbers(const struct rfn_stream_profile *profile)
{
    for (uint32_t i = 0; i < rfn_stream_profile_contexts(profile); i++) {
        const struct rfn_profile_columns *columns = rfn_stream_profile_columns(profile, i);
        struct rfn_column_cursor cursor;
        int64_t n = 0;
        rfn_column_open_growing(&cursor, &columns->representative);
        for (uint64_t k = 0; k < columns->representative.n; k++) {
            int64_t number = -1;
            assert_int_equal(rfn_column_next(&cursor, &number), 0);
            assert_true(number >= 0 && number <= n);
            n += number == n;
        }
        rfn_column_close(&cursor);
        assert_int_equal(columns->correction.n, columns->representative.n);
        assert_int_equal(columns->pace.n, n);
        assert_int_equal(columns->kept.n, n);
    }
}

static void test_random(void **state)
{
    (void)state;
    static const char *const criteria[] = {
        "relDiff:0.5",      "absDiff:0.1", "manhattan:0.1", "euclidean:0.1", "chebyshev:0.1",
        "jitter:0.0001",    "avgWave:0.1", "haarWave:0.1",  "iterK:4",       "iterK:4:average",
        "iterK:3:centroid", "iterAvg",     "avgWave:0",     "relDiff:3"};
    static struct reference reference;
    for (size_t i = 0; i < 4 * sizeof criteria / sizeof *criteria; i++) {
        const char *criterion = criteria[i / 4];
        bool exact = i % 2, limited = i / 2 % 2;
        uint32_t max_per_kind = limited ? 5 : 0;
        make_random(1 + (size_t)noise(MAX_SEGMENTS));
        put_in_store(&reference, criterion, exact, max_per_kind);
        struct rfn_stream_profile *profile = make(criterion, exact, max_per_kind, 0);
        for (size_t k = 0; k < n_reals; k++)
            assert_int_equal(put(profile, &reals[k]), 0);
        assert_int_equal(rfn_stream_profile_finish(profile), 0);
        expect_walk(profile, &reference, criterion, exact, limited);
        expect_numbers(profile);
        rfn_stream_profile_free(profile);
        rfn_store_free(reference.store);
    }
}

/* Held is little: for segments that repeat, a few bytes each, whatever is in them. */
static void test_bytes(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("avgWave:0.2", false, 0, 0);
    struct real real = {.context = 0, .n = MAX_EVENTS};
    for (int i = 0; i < 200000; i++) {
        for (size_t k = 1; k <= 2 * MAX_EVENTS; k++)
            real.vector[k] = real.vector[k - 1] + 1000 + noise(50);
        real.vector[2 * MAX_EVENTS + 1] = real.vector[2 * MAX_EVENTS];
        assert_int_equal(put(profile, &real), 0);
        real.start += real.vector[2 * MAX_EVENTS] + noise(20);
    }
    assert_int_equal(rfn_stream_profile_stats(profile).representatives, 1);
    assert_true(rfn_stream_profile_bytes(profile) < 200000);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    rfn_stream_profile_free(profile);
}

static void test_widen(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("avgWave:0", false, 0, 0);
    make_random(MAX_SEGMENTS);
    for (size_t i = 0; i < n_reals; i++)
        assert_int_equal(put(profile, &reals[i]), 0);
    size_t before = rfn_stream_profile_bytes(profile);
    while (rfn_stream_profile_widen(profile) > 0)
        continue;
    assert_true(rfn_stream_profile_bytes(profile) < before / 2);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(profile);
    assert_int_equal(stats.representatives, stats.kinds);
    assert_int_equal(stats.executions, n_reals);
    expect_numbers(profile);
    rfn_stream_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),      cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_averages),   cmocka_unit_test(test_full),
        cmocka_unit_test(test_impossible), cmocka_unit_test(test_random),
        cmocka_unit_test(test_bytes),      cmocka_unit_test(test_widen),
        cmocka_unit_test(test_one_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
