#include "refrain/trace_profile.h"

#define FAKE_EVENTS 4096
#include "analyze/trace_profile/approximation.h"
#include "analyze/trace_profile/trace_profile.h"
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct rfn_trace_profile *reduce_across(const char *similar, const char *across,
                                               bool exact_starts)
{
    struct rfn_trace_profile_options options = {
        .similar = similar, .across = across, .min_calls = 1, .exact_starts = exact_starts};
    struct rfn_trace_profile *profile = NULL;
    struct rfn_diag diag = {0};
    int error = rfn_trace_profile_new(&fake, &options, &profile, &diag);
    if (error)
        print_error("%s\n", diag.text);
    assert_int_equal(error, 0);
    return profile;
}

static struct rfn_trace_profile *reduce(const char *similar, bool exact_starts)
{
    return reduce_across(similar, NULL, exact_starts);
}

static struct rfn_reduction_measures measure(const struct rfn_trace_profile *profile)
{
    struct rfn_reduction_measures measures;
    assert_int_equal(rfn_trace_profile_measure(profile, &measures, NULL), 0);
    return measures;
}

/* Microseconds to ns, nearly equal. */
static void assert_ns(double microseconds, double nanoseconds)
{
    assert_true(microseconds * 1000 > nanoseconds - 1e-6);
    assert_true(microseconds * 1000 < nanoseconds + 1e-6);
}

/* ---- Mohror's example (Fig. 9) as a program ---- */

/* An iteration that starts where the one before ended. */
static void iteration(uint32_t rank, int64_t start, const int64_t times[4])
{
    fake_segment(rank, 1);
    EVENT(rank, BARRIER, 1, start + times[0], start + times[1], 0);
    EVENT(rank, ALLGATHER, 2, start + times[2], start + times[3], 0, 1, 1, 0, 1, 1, 0);
}

static void write_shifted(uint32_t rank, int64_t shift)
{
    fake_segment(rank, 0);
    EVENT(rank, INIT, 0, shift, shift + 10, 0);
    iteration(rank, shift + 10, (const int64_t[]){1, 20, 21, 49});  /* to 59 */
    iteration(rank, shift + 59, (const int64_t[]){1, 40, 41, 50});  /* to 109 */
    iteration(rank, shift + 109, (const int64_t[]){1, 17, 18, 48}); /* to 157 */
    fake_segment(rank, 2);
    EVENT(rank, FINALIZE, 3, shift + 160, shift + 170, 0);
}

static void write_example(uint32_t rank)
{
    write_shifted(rank, 0);
}

/* The third iteration is executed as the first; their mean length is 48.5, so that the end is
 * predicted at 158, near enough to 157. */
static void test_example(void **state)
{
    (void)state;
    fake_reset();
    write_example(0);
    struct rfn_trace_profile *profile = reduce("euclidean:0.2", false);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_int_equal(stats.events, 8);
    assert_int_equal(stats.executions, 5);
    assert_int_equal(stats.kinds, 3);
    assert_int_equal(stats.representatives, 4);
    assert_int_equal(stats.kept_events, 6);
    assert_int_equal(stats.corrections, 0);
    struct rfn_reduction_measures measures = measure(profile);
    assert_true(measures.degree_of_matching == 0.5);
    /* of 16 times 11 are right, three are off by 1 and two, the 15th and 16th, by 3 */
    assert_ns(measures.approximation_distance_us, 3);
    assert_ns(measures.largest_distance_us, 3);
    rfn_trace_profile_free(profile);
}

static void expect_times(struct rfn_recreation *recreation, uint32_t context, int64_t start,
                         const int64_t *times, size_t n)
{
    assert_int_equal(rfn_recreation_next(recreation), 0);
    assert_int_equal(recreation->executed.context, context);
    assert_int_equal(recreation->executed.start, start);
    assert_int_equal(2 * recreation->executed.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rfn_recreation_time(recreation, i + 1), times[i]);
}
#define EXPECT(recreation, context, start, ...)                              \
    expect_times(recreation, context, start, (const int64_t[]){__VA_ARGS__}, \
                 sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

static void test_recreated(void **state)
{
    (void)state;
    fake_reset();
    write_example(0);
    for (int exact = 0; exact < 2; exact++) {
        struct rfn_trace_profile *profile = reduce("euclidean:0.2", exact);
        struct rfn_recreation recreation;
        assert_int_equal(rfn_recreation_open(&recreation, profile->streams[0].profile), 0);
        EXPECT(&recreation, 0, 0, 0, 10);
        EXPECT(&recreation, 1, 10, 11, 30, 31, 59);
        EXPECT(&recreation, 1, 59, 60, 99, 100, 109);
        EXPECT(&recreation, 1, 109, 110, 129, 130, 158);
        if (exact)
            EXPECT(&recreation, 2, 157, 160, 170);
        else
            EXPECT(&recreation, 2, 158, 161, 171);
        assert_int_equal(rfn_recreation_next(&recreation), RFN_E_RANGE);
        assert_int_equal(rfn_trace_profile_stats(profile).corrections, exact);
        rfn_recreation_close(&recreation);
        rfn_trace_profile_free(profile);
    }
}

/* A representative that is longer than the time to the next segment: times never go back. */
static void test_ascending(void **state)
{
    (void)state;
    fake_reset();
    fake_segment(0, 0);
    EVENT(0, BARRIER, 1, 0, 100, 0);
    fake_segment(0, 0);
    EVENT(0, BARRIER, 1, 110, 130, 0); /* 30 long instead of 100 */
    fake_segment(0, 0);
    EVENT(0, BARRIER, 1, 135, 230, 0); /* 100 long */
    struct rfn_trace_profile *profile = reduce("absDiff:1", true);
    struct rfn_recreation recreation;
    assert_int_equal(rfn_recreation_open(&recreation, profile->streams[0].profile), 0);
    EXPECT(&recreation, 0, 0, 0, 100);
    EXPECT(&recreation, 0, 100, 100, 200);
    EXPECT(&recreation, 0, 130, 200, 230);
    rfn_recreation_close(&recreation);
    rfn_trace_profile_free(profile);
}

/* ---- starts ---- */

/* 1000 iterations, of 1000 and 1040 ns in turn, and one of 1400 in the middle, all executed as the
 * first one. Around their mean length, 1020, starts are predicted without a correction for ever: of
 * the threshold's 200 only that one is too much, and only once. With the length of the first one
 * each start would be 20 farther off. */
static void test_drift(void **state)
{
    (void)state;
    int64_t at = 0;
    fake_reset();
    fake_segment(0, 1);
    EVENT(0, INIT, 0, 0, 0, 0);
    for (int i = 0; i < 1000; i++) {
        int64_t length = i == 500 ? 1400 : i % 2 ? 1040 : 1000;
        fake_segment(0, 0);
        EVENT(0, BARRIER, 1, at + length / 2, at + length, 0);
        at += length;
    }
    struct rfn_trace_profile *profile = reduce("chebyshev:0.3", false);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_int_equal(stats.representatives, 2);
    assert_int_equal(stats.corrections, 1);
    struct rfn_reduction_measures measures = measure(profile);
    assert_true(measures.degree_of_matching == 1);
    assert_true(measures.largest_distance_us <= 0.4);
    assert_true(measures.execution_bytes < 200); /* most of it: that 30 contexts are empty */
    rfn_trace_profile_free(profile);
    profile = reduce("chebyshev:0.3", true);
    assert_true(rfn_trace_profile_stats(profile).corrections > 900);
    rfn_trace_profile_free(profile);
}

/* ---- methods that keep the first ---- */

static void test_iterations(void **state)
{
    (void)state;
    fake_reset();
    write_example(0);
    struct rfn_trace_profile *profile = reduce("iterAvg", true);
    struct rfn_recreation recreation;
    assert_int_equal(rfn_recreation_open(&recreation, profile->streams[0].profile), 0);
    EXPECT(&recreation, 0, 0, 0, 10);
    EXPECT(&recreation, 1, 10, 11, 36, 37, 59); /* 1, 25.67, 26.67, 49 */
    EXPECT(&recreation, 1, 59, 60, 85, 86, 108);
    EXPECT(&recreation, 1, 109, 110, 135, 136, 158);
    EXPECT(&recreation, 2, 157, 160, 170);
    rfn_recreation_close(&recreation);
    assert_int_equal(rfn_trace_profile_stats(profile).representatives, 3);
    assert_true(measure(profile).degree_of_matching == 1);
    rfn_trace_profile_free(profile);
    profile = reduce("iterK:2", true);
    assert_int_equal(rfn_recreation_open(&recreation, profile->streams[0].profile), 0);
    EXPECT(&recreation, 0, 0, 0, 10);
    EXPECT(&recreation, 1, 10, 11, 30, 31, 59);
    EXPECT(&recreation, 1, 59, 60, 99, 100, 109);
    EXPECT(&recreation, 1, 109, 110, 149, 150, 159);
    EXPECT(&recreation, 2, 157, 160, 170);
    rfn_recreation_close(&recreation);
    assert_true(measure(profile).degree_of_matching == 0.5);
    rfn_trace_profile_free(profile);
    profile = reduce("iterK:2:average", true);
    assert_int_equal(rfn_recreation_open(&recreation, profile->streams[0].profile), 0);
    EXPECT(&recreation, 0, 0, 0, 10);
    EXPECT(&recreation, 1, 10, 11, 30, 31, 59);
    EXPECT(&recreation, 1, 59, 60, 99, 100, 109);
    EXPECT(&recreation, 1, 109, 110, 139, 140, 159); /* 1, 30, 31, 49.5 */
    rfn_recreation_close(&recreation);
    assert_true(measure(profile).degree_of_matching == 0.5);
    rfn_trace_profile_free(profile);
}

/* ---- sizes by model ---- */

/* Three functions are called, whose names have 8 (MPI_Init), 11, 12 and 13 letters; the median of
 * four is the third. Messages: two of the send and receive that both iterations have. */
static void test_model(void **state)
{
    (void)state;
    fake_reset();
    fake_segment(0, 0);
    EVENT(0, INIT, 0, 0, 10, 0);
    for (int64_t i = 1; i <= 2; i++) {
        fake_segment(0, 1);
        EVENT(0, SEND_, 1, 10 * i, 10 * i + 2, 0, 1, 1, 1, 0, 0);
        EVENT(0, RECV_, 2, 10 * i + 5, 10 * i + 10, 0, 1, 1, 1, 0, 0, 1, 0, 1);
    }
    fake_segment(0, 2);
    EVENT(0, FINALIZE, 3, 40, 50, 0);
    struct rfn_trace_profile *profile = reduce("manhattan:0.4", false);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_int_equal(stats.messages, 4);
    assert_int_equal(stats.kept_messages, 2);
    assert_int_equal(stats.representatives, 3);
    /* names of 8, 8, 8 and 12 letters: 8. Ranks 1 to 3 have an event map each, and no events. */
    struct rfn_reduction_measures measures = measure(profile);
    uint64_t full = 4 * 4 * (4 + 8) + 6 * 48 + 4 * 96;
    uint64_t group = 9 + (5 + 3 * 13) + (5 + 4 * 12) + (5 + 3 * 17 + 4 * 23 + 2 * 12);
    uint64_t empty = 9 + 5 + 5 + 5;
    assert_int_equal(measures.model_full_bytes, full);
    assert_int_equal(measures.model_profile_bytes, 10 + 4 * 13 + group + 3 * empty);
    assert_true(measures.model_size_percent ==
                100.0 * (double)measures.model_profile_bytes / (double)full);
    rfn_trace_profile_free(profile);
}

/* ---- what holds for every program ---- */

static uint64_t random_state = 1;

static int64_t noise(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* Streams with segments of several contexts and lengths, whose times vary a little, or much. */
static void write_random(void)
{
    fake_reset();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        int64_t at = noise(1000);
        for (int i = 0; i < 300; i++) {
            uint32_t context = (uint32_t)noise(3);
            int64_t events = context + 1 + noise(8) / 7;
            fake_segment(rank, context);
            for (int64_t j = 0; j < events; j++) {
                int64_t enter = at + 1000 + noise(noise(10) ? 50 : 5000);
                at = enter + 500 + noise(20);
                EVENT(rank, BARRIER, context, enter, at, 0);
            }
        }
    }
}

/* Without any tolerance everything is as it was. */
static void test_lossless(void **state)
{
    (void)state;
    const char *criteria[] = {"relDiff:0",   "absDiff:0", "manhattan:0", "euclidean:0",
                              "chebyshev:0", "avgWave:0", "haarWave:0",  "iterK:1000"};
    for (size_t i = 0; i < 2 * sizeof criteria / sizeof *criteria; i++) {
        write_random();
        struct rfn_trace_profile *profile = reduce(criteria[i / 2], i % 2 || i >= 14);
        assert_true(measure(profile).largest_distance_us == 0);
        rfn_trace_profile_free(profile);
    }
}

/* With the absolute difference, starts are off by at most T and events in their segments by T more.
 */
static void test_bounded(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        char similar[32];
        double threshold = 0.01 * (double)(1 << i % 10);
        bool exact = i % 2;
        write_random();
        snprintf(similar, sizeof similar, "absDiff:%.6f", threshold);
        struct rfn_trace_profile *profile = reduce(similar, exact);
        double largest = measure(profile).largest_distance_us;
        assert_true(largest <= (exact ? 1 : 2) * threshold + 1e-9);
        assert_true(measure(profile).approximation_distance_us <= largest);
        rfn_trace_profile_free(profile);
    }
}

/* A larger threshold matches more; a limit on representatives holds, and nothing is lost. */
static void test_limit(void **state)
{
    (void)state;
    write_random();
    double before = -1;
    for (int i = 0; i < 8; i++) {
        char similar[32];
        snprintf(similar, sizeof similar, "absDiff:%d", i);
        struct rfn_trace_profile *profile = reduce(similar, false);
        double matching = measure(profile).degree_of_matching;
        assert_true(matching > before - 0.02);
        before = matching;
        rfn_trace_profile_free(profile);
    }
    assert_true(before > 0.9);
    struct rfn_trace_profile_options options = {.similar = "avgWave:0.001", .max_per_kind = 5};
    struct rfn_trace_profile *profile;
    assert_int_equal(rfn_trace_profile_new(&fake, &options, &profile, NULL), 0);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_true(stats.widened > 0);
    assert_true(stats.representatives <= 5 * stats.kinds);
    assert_int_equal(stats.executions, FAKE_RANKS * 300);
    assert_true(measure(profile).largest_distance_us > 0);
    rfn_trace_profile_free(profile);
}

/* ---- across processes ---- */

static void expect_groups(const int64_t *shifts, const char *across, const uint32_t *expected)
{
    fake_reset();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        write_shifted(rank, shifts[rank]);
    struct rfn_trace_profile *profile = reduce_across("euclidean:0", across, true);
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        assert_int_equal(rfn_trace_profile_standing_for(profile, rank), expected[rank]);
    rfn_trace_profile_free(profile);
}
#define GROUPS(across, a, b, c, d, ...) \
    expect_groups((const int64_t[]){a, b, c, d}, across, (const uint32_t[]){__VA_ARGS__})

/* The shortest segment, MPI_Init, is 10 long: at 0.2 starts may be 2 apart. */
static void test_across(void **state)
{
    (void)state;
    GROUPS("euclidean:0.2", 0, 2, 3, 5, 0, 0, 2, 2);
    GROUPS("euclidean:0.2", 0, 0, 0, 0, 0, 0, 0, 0);
    GROUPS("euclidean:0.2", 0, 3, 6, 9, 0, 1, 2, 3);
    /* 0 and 2, then 1 and 3 match where the halves are joined */
    GROUPS("euclidean:0.2", 0, 4, 2, 6, 0, 1, 0, 1);
    /* 3 joins 2, and with it 0, though it is 3 from that: the lowest of a set stands for it */
    GROUPS("manhattan:0.2", 0, 7, 2, 3, 0, 1, 0, 0);
    GROUPS("absDiff:0.003", 0, 3, 10, 13, 0, 0, 2, 2);
    GROUPS("absDiff:0.0029", 0, 3, 10, 13, 0, 1, 2, 3);
    /* the relative difference of starts: 0 is like nothing else, 100 like 110 */
    GROUPS("relDiff:0.5", 0, 1, 100, 110, 0, 1, 2, 2);
    GROUPS("avgWave:0.4", 0, 1, 0, 100, 0, 0, 0, 3);
    GROUPS("chebyshev:0", 0, 0, 1, 1, 0, 0, 2, 2);
}

static void test_across_measures(void **state)
{
    (void)state;
    fake_reset();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        write_shifted(rank, (const int64_t[]){0, 2, 3, 5}[rank]);
    struct rfn_trace_profile *profile = reduce_across("euclidean:0", "euclidean:0.2", false);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_int_equal(stats.streams, 4);
    assert_int_equal(stats.classes, 1);
    assert_int_equal(stats.groups, 2);
    struct rfn_reduction_measures measures = measure(profile);
    assert_true(measures.degree_within == 0);
    assert_true(measures.degree_across == 2.0 / 3);
    assert_true(measures.degree_of_matching == 2.0 / (4 * 2 + 3));
    assert_ns(measures.largest_distance_us, 2); /* that of the ranks 1 and 3 */
    assert_ns(measures.approximation_distance_us, 2);
    struct rfn_model_names names = {4, 12}; /* MPI_Init, _Barrier, _Finalize, _Allgather */
    struct rfn_model_group group = {2, 5, 5, 8, 0};
    assert_int_equal(measures.model_profile_bytes,
                     rfn_model_profile_names(&names) + 2 * rfn_model_profile_group(&names, &group));
    rfn_trace_profile_free(profile);
}

/* Executions differ in number, or events in their order: such streams are of different classes. */
static void test_classes(void **state)
{
    (void)state;
    fake_reset();
    write_example(0);
    write_example(1);
    fake_segment(1, 2);
    EVENT(1, FINALIZE, 3, 180, 190, 0);
    write_example(2);
    fake_segment(3, 0);
    EVENT(3, INIT, 0, 0, 10, 0);
    struct rfn_trace_profile *profile = reduce_across("avgWave", "absDiff:1000", false);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_int_equal(stats.classes, 3);
    assert_int_equal(stats.groups, 3);
    assert_int_equal(rfn_trace_profile_standing_for(profile, 2), 0);
    assert_true(measure(profile).degree_across == 1);
    rfn_trace_profile_free(profile);
}

/* Random streams in pairs that are alike but for some noise: groups are consistent, and what is
 * recreated is as near as both thresholds promise. */
static void test_across_bounded(void **state)
{
    (void)state;
    uint64_t shared = 0;
    for (int i = 0; i < 30; i++) {
        char across[32];
        double threshold = 0.01 * (double)(1 << i % 8);
        write_random();
        for (uint32_t rank = 0; rank < FAKE_RANKS; rank += 2) {
            fake.streams[rank + 1].n = fake.streams[rank].n;
            memcpy(fake.streams[rank + 1].events, fake.streams[rank].events,
                   sizeof fake.streams[rank].events);
            for (size_t j = 0; j < fake.streams[rank].n; j++)
                fake.streams[rank + 1].events[j].record.exit_ns += noise(100);
        }
        snprintf(across, sizeof across, "absDiff:%.6f", threshold);
        struct rfn_trace_profile *profile = reduce_across("chebyshev:0", across, true);
        assert_true(measure(profile).largest_distance_us <= 2 * threshold + 1e-9);
        for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
            uint32_t stands = rfn_trace_profile_standing_for(profile, rank);
            assert_true(stands <= rank);
            assert_int_equal(rfn_trace_profile_standing_for(profile, stands), stands);
            shared += stands != rank;
        }
        rfn_trace_profile_free(profile);
    }
    assert_true(shared > 10 && shared < 60);
}

/* ---- what cannot be reduced ---- */

static void expect_error(const char *similar, int expected, const char *text)
{
    struct rfn_trace_profile_options options = {.similar = similar};
    struct rfn_trace_profile *profile = NULL;
    struct rfn_diag diag = {0};
    assert_int_equal(rfn_trace_profile_new(&fake, &options, &profile, &diag), expected);
    assert_non_null(strstr(diag.text, text));
    assert_null(profile);
}

static void test_errors(void **state)
{
    (void)state;
    fake_reset();
    write_example(0);
    expect_error("average", RFN_E_USAGE, "no similarity method 'average'");
    struct rfn_trace_profile_options options = {.similar = "avgWave", .across = "iterK"};
    struct rfn_trace_profile *none;
    assert_int_equal(rfn_trace_profile_new(&fake, &options, &none, NULL), RFN_E_USAGE);
    fake.run.times = false;
    expect_error("avgWave", RFN_E_UNSUPPORTED, "no times");
    fake.run.times = true;
    fake.streams[2].fails_with = RFN_E_CORRUPT;
    expect_error("avgWave", RFN_E_CORRUPT, "broken");
    fake.streams[2].fails_with = 0;
    fake.streams[2].opens_with = RFN_E_NOMEM;
    expect_error("avgWave", RFN_E_NOMEM, "lost");
    fake.streams[2].opens_with = 0;
    fake.streams[2].absent = true; /* of a file that was cut short: the others are reduced */
    struct rfn_trace_profile *profile = reduce("avgWave", false);
    assert_int_equal(rfn_trace_profile_stats(profile).events, 8);
    assert_int_equal(measure(profile).model_full_bytes, 3 * 4 * (4 + 12) + 8 * 48);
    rfn_trace_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),    cmocka_unit_test(test_recreated),
        cmocka_unit_test(test_ascending),  cmocka_unit_test(test_drift),
        cmocka_unit_test(test_iterations), cmocka_unit_test(test_model),
        cmocka_unit_test(test_lossless),   cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_limit),      cmocka_unit_test(test_errors),
        cmocka_unit_test(test_across),     cmocka_unit_test(test_across_measures),
        cmocka_unit_test(test_classes),    cmocka_unit_test(test_across_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
