/* Trace profiles of archives that come through the real reader: a small one, which must be
 * recreated exactly where nothing is lost, and the same with every byte damaged. */
#include "analyze/trace_profile/approximation.h"
#include "analyze/trace_profile/trace_profile.h"
#include "refrain/trace_profile.h"
#include "support/archive_model.h"

#include <stdlib.h>

static struct rfn_archive *open_bytes(const struct rfn_buf *file)
{
    struct rfn_archive *archive = NULL;
    assert_int_equal(rfn_archive_open_memory(file->data, file->size, &archive, NULL), 0);
    return archive;
}

static struct rfn_trace_profile *reduce(const struct rfn_archive *archive, const char *similar,
                                        uint32_t min_calls)
{
    struct rfn_trace_profile_options options = {
        .similar = similar, .min_calls = min_calls, .exact_starts = true};
    struct rfn_trace_profile *profile = NULL;
    assert_int_equal(rfn_trace_profile_new(archive, &options, &profile, NULL), 0);
    return profile;
}

/* The times of a stream, recreated, against those the cursor reads. */
static void expect_same_times(const struct rfn_archive *archive,
                              const struct rfn_trace_profile *profile, uint32_t stream,
                              uint32_t min_calls)
{
    struct rfn_recreation recreation;
    const struct rfn_record *record;
    struct rfn_cursor *cursor;
    size_t at = 0;
    assert_int_equal(rfn_recreation_open(&recreation, profile->streams[stream].profile), 0);
    assert_int_equal(rfn_cursor_open(archive, stream, &cursor, NULL), 0);
    assert_int_equal(rfn_cursor_cut_segments(cursor, min_calls, NULL), 0);
    while (rfn_cursor_next(cursor, &record, NULL) > 0) {
        struct rfn_segment_place place = rfn_cursor_place(cursor);
        if (place.begins) {
            assert_int_equal(at, recreation.executed.n);
            assert_int_equal(rfn_recreation_next(&recreation), 0);
            at = 0;
        }
        assert_int_equal(rfn_recreation_time(&recreation, 2 * at + 1), record->enter_ns);
        assert_int_equal(rfn_recreation_time(&recreation, 2 * at + 2), record->exit_ns);
        at++;
    }
    rfn_cursor_close(cursor);
    rfn_recreation_close(&recreation);
}

static void test_exact(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, true, true);
    struct rfn_archive *archive = open_bytes(&file);
    for (uint32_t min_calls = 1; min_calls < 5; min_calls++) {
        struct rfn_trace_profile *profile = reduce(archive, "euclidean:0", min_calls);
        for (uint32_t i = 0; i < N_STREAMS; i++)
            expect_same_times(archive, profile, i, min_calls);
        rfn_trace_profile_free(profile);
    }
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* Loops that cut: 2, 0, 4 and 1 exchanges on three ranks, 5, 1 and 0 on the fourth, each with a
 * TEST behind; INIT SPLIT, ALLTOALLW, FINALIZE; and a thread with one event. All kinds and all
 * matches there can be. */
static void test_counts(void **state)
{
    (void)state;
    struct rfn_buf file = write_archive(SOUND, false, true);
    struct rfn_archive *archive = open_bytes(&file);
    struct rfn_trace_profile *profile = reduce(archive, "iterAvg", 1);
    struct rfn_trace_profile_stats stats = rfn_trace_profile_stats(profile);
    assert_int_equal(stats.executions, 3 * (7 + 3 + 3) + (6 + 2 + 3) + 1);
    assert_int_equal(stats.kinds, 4 * 5 + 1);
    assert_int_equal(stats.representatives, 4 * 5 + 1);
    assert_int_equal(stats.events, 3 * 21 + 18 + 1);
    rfn_trace_profile_free(profile);
    rfn_archive_close(archive);
    rfn_buf_release(&file);
}

/* What a damaged archive gives is an error or a profile; measuring it too. */
static void try_bytes(const struct rfn_buf *file, const char *similar, size_t *profiles)
{
    struct rfn_trace_profile_options options = {
        .similar = similar, .across = "absDiff", .min_calls = 2, .max_per_kind = 3};
    struct rfn_trace_profile *profile;
    struct rfn_reduction_measures measures;
    struct rfn_archive *archive;
    if (rfn_archive_open_memory(file->data, file->size, &archive, NULL) < 0)
        return;
    if (rfn_trace_profile_new(archive, &options, &profile, NULL) == 0) {
        assert_int_equal(rfn_trace_profile_measure(profile, &measures, NULL), 0);
        assert_true(measures.degree_of_matching >= 0 && measures.degree_of_matching <= 1);
        rfn_trace_profile_free(profile);
        ++*profiles;
    }
    rfn_archive_close(archive);
}

/* Each byte in turn takes a few other values; where checksums catch it, the archive is shorter. */
static void test_flips(void **state)
{
    (void)state;
    static const char *const methods[] = {"avgWave:0.2", "relDiff:0.8", "iterK:2:centroid",
                                          "jitter:0.02"};
    struct rfn_buf file = write_archive(SOUND, false, true);
    size_t profiles = 0;
    for (size_t i = 0; i < file.size; i++) {
        uint8_t before = file.data[i];
        file.data[i] ^= (uint8_t)(1u << i % 8);
        try_bytes(&file, methods[i % 4], &profiles);
        file.data[i] = before;
    }
    assert_true(profiles > 0);
    rfn_buf_release(&file);
}

/* Archives that contradict themselves under right checksums. */
static void test_contradictions(void **state)
{
    (void)state;
    size_t profiles = 0;
    for (enum fault fault = SOUND; fault < N_FAULTS; fault++) {
        struct rfn_buf file = write_archive(fault, fault % 2, true);
        try_bytes(&file, "manhattan:0.4", &profiles);
        rfn_buf_release(&file);
    }
    assert_true(profiles > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_contradictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
