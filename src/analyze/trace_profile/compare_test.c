/* Two archives of one run, made up: what is lost is known to the nanosecond.
 *
 * Four ranks call MPI_Init, a barrier from a() and one from b(), and MPI_Finalize. The run takes 1
 * ms, and who enters a barrier later than others is what the tests choose. */
#include "refrain/compare.h"

#include "analyze/trace_profile/approximation.h"
#include "analyze/trace_profile/trends.h"
#include "support/fake_paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RUN_NS = 1000000, ALIKE = 100000 };

static struct rfn_archive full, reduced;
static struct rfn_comparison *comparison;

/* ---- archives ---- */

/* Copies what was made up; events point to their words. */
static void keep_as(struct rfn_archive *archive)
{
    *archive = fake;
    for (size_t i = 0; i <= FAKE_RANKS; i++) {
        for (size_t k = 0; k < archive->streams[i].n; k++) {
            struct fake_event *event = &archive->streams[i].events[k];
            event->record.in = event->in;
            event->record.out = event->out;
        }
    }
}

/* All leave a barrier when the last has entered. */
static void barrier(uint32_t path, const int64_t enters[4])
{
    int64_t last = 0;
    for (int i = 0; i < 4; i++)
        last = enters[i] > last ? enters[i] : last;
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, BARRIER, path, enters[i], last, 0);
}

/* When ranks enter the barriers; all in a() and all in b() alike where NULL is given. */
static void write_run(struct rfn_archive *archive, const int64_t *in_a, const int64_t *in_b)
{
    static const int64_t alike_a[4] = {ALIKE, ALIKE, ALIKE, ALIKE};
    static const int64_t alike_b[4] = {8 * ALIKE, 8 * ALIKE, 8 * ALIKE, 8 * ALIKE};
    uint32_t shift = archive == fake_shifted ? FAKE_PATHS - 1 : 0;
    fake_reset();
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, INIT, (2 + shift) % FAKE_PATHS, 0, 10, 0);
    barrier((0 + shift) % FAKE_PATHS, in_a ? in_a : alike_a);
    barrier((1 + shift) % FAKE_PATHS, in_b ? in_b : alike_b);
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, FINALIZE, (2 + shift) % FAKE_PATHS, RUN_NS - 10, RUN_NS, 0);
    keep_as(archive);
}
#define ENTERS(...) ((const int64_t[4]){__VA_ARGS__})

static int compare(struct rfn_diag *diag, const struct rfn_archive **concerned)
{
    rfn_comparison_free(comparison);
    comparison = NULL;
    return rfn_comparison_new(&full, &reduced, NULL, NULL, &comparison, concerned, diag);
}

static void expect_comparison(void)
{
    struct rfn_diag diag = {0};
    int error = compare(&diag, NULL);
    if (error)
        print_error("%s\n", diag.text);
    assert_int_equal(error, 0);
}

static void expect_refused(int code, const char *words)
{
    struct rfn_diag diag = {0};
    assert_int_equal(compare(&diag, NULL), code);
    assert_null(comparison);
    if (!strstr(diag.text, words))
        fail_msg("'%s' does not say '%s'", diag.text, words);
}

static void expect_near(double found, double wanted)
{
    if (!(fabs(found - wanted) < 1e-9))
        fail_msg("%.12g, not %.12g", found, wanted);
}

static void expect_change(size_t number, uint32_t path, uint32_t rank, double before, double after)
{
    assert_true(number < comparison->n_changes);
    const struct rfn_trend_change *change = &comparison->changes[number];
    assert_int_equal(change->pattern, RFN_WAIT_AT_BARRIER);
    assert_int_equal(change->function, FAKE_BARRIER);
    assert_int_equal(change->path, path);
    assert_int_equal(change->rank, rank);
    expect_near(change->full_share, before);
    expect_near(change->reduced_share, after);
}

static int setup(void **state)
{
    (void)state;
    comparison = NULL;
    fake_shifted = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_comparison_free(comparison);
    return 0;
}

/* ---- trends ---- */

/* An archive and itself. */
static void test_same(void **state)
{
    (void)state;
    write_run(&full, ENTERS(50000, 80000, 90000, 90000), NULL);
    full.run.file_bytes = 1000;
    reduced = full;
    write_run(&reduced, ENTERS(50000, 80000, 90000, 90000), NULL);
    reduced.run.file_bytes = 250;
    expect_comparison();
    assert_int_equal(comparison->events, 16);
    assert_int_equal(comparison->full_times.run_ns, RUN_NS);
    assert_int_equal(comparison->reduced_times.run_ns, RUN_NS);
    expect_near(comparison->full_times.wait_share, 0.0125); /* 40 and 10 of 4000 us */
    expect_near(comparison->reduced_times.wait_share, 0.0125);
    expect_near(comparison->full_times.mpi_share, 0.01252);
    assert_int_equal(comparison->trends, 2); /* ranks 0 and 1 in a() */
    assert_int_equal(comparison->full_bytes, 1000);
    expect_near(comparison->size_percent, 25);
    expect_near(comparison->degree_of_matching, 1);
    expect_near(comparison->approximation_distance_us, 0);
    expect_near(comparison->largest_distance_us, 0);
    assert_true(comparison->trends_retained);
    assert_int_equal(comparison->n_changes, 0);
    expect_near(comparison->largest_change, 0);
    assert_int_equal(comparison->full_outside_ns, comparison->reduced_outside_ns);
}

/* Rank 1 waited 3 % of the time and does not any more; that rank 2 waits is new. */
static void test_lost(void **state)
{
    (void)state;
    write_run(&full, ENTERS(90000, 60000, 90000, 90000), NULL);
    write_run(&reduced, ENTERS(90000, 90000, 70000, 90000), NULL);
    expect_comparison();
    assert_false(comparison->trends_retained);
    assert_int_equal(comparison->trends, 1);
    assert_int_equal(comparison->n_changes, 2);
    expect_change(0, 0, 1, 0.03, 0);
    expect_change(1, 0, 2, 0, 0.02);
    expect_near(comparison->largest_change, 0.03);
    /* what they do not wait they are outside of MPI */
    assert_int_equal(comparison->reduced_outside_ns - comparison->full_outside_ns, 30000 - 20000);
    /* two of 32 times are off */
    expect_near(comparison->approximation_distance_us, 0);
    expect_near(comparison->largest_distance_us, 30);
}

/* The same waiting in another call is another trend. */
static void test_elsewhere(void **state)
{
    (void)state;
    write_run(&full, ENTERS(90000, 60000, 90000, 90000), NULL);
    write_run(&reduced, NULL, ENTERS(800000, 770000, 800000, 800000));
    expect_comparison();
    assert_int_equal(comparison->n_changes, 2);
    expect_change(0, 0, 1, 0.03, 0);
    expect_change(1, 1, 1, 0, 0.03);
}

/* A wait of 8 % and one of 12 % are of one class, one of 8 % and one of 25 % are not. */
static void test_another_class(void **state)
{
    (void)state;
    write_run(&full, NULL, ENTERS(720000, 800000, 800000, 800000));
    write_run(&reduced, NULL, ENTERS(680000, 800000, 800000, 800000));
    expect_comparison();
    assert_true(comparison->trends_retained);
    expect_near(comparison->largest_change, 0.04);
    write_run(&reduced, NULL, ENTERS(550000, 800000, 800000, 800000));
    expect_comparison();
    assert_int_equal(comparison->n_changes, 1);
    expect_change(0, 1, 0, 0.08, 0.25);
}

/* Shares are of the full archive's run time: a reduced run that seems to take twice as long does
 * not halve them. */
static void test_run_time(void **state)
{
    (void)state;
    write_run(&full, NULL, ENTERS(720000, 800000, 800000, 800000));
    write_run(&reduced, NULL, ENTERS(720000, 800000, 800000, 800000));
    for (int i = 0; i < 4; i++)
        reduced.streams[i].events[3].record.exit_ns = 2 * RUN_NS;
    expect_comparison();
    assert_true(comparison->trends_retained);
    expect_near(comparison->largest_change, 0);
    expect_near(comparison->largest_distance_us, 1000);
}

/* 90 % of the 32 times are 29, the others are off by more: 4 us is the 29th, 5 us the 30th. */
static void test_distance(void **state)
{
    (void)state;
    write_run(&full, NULL, NULL);
    write_run(&reduced, NULL, NULL);
    const int64_t off[4] = {5000, -4000, 6000, 5000};
    for (int i = 0; i < 4; i++)
        reduced.streams[i].events[3].record.exit_ns += off[i];
    expect_comparison();
    expect_near(comparison->approximation_distance_us, 4);
    expect_near(comparison->largest_distance_us, 6);
}

/* Numbers of call paths are an archive's own. */
static void test_numbers(void **state)
{
    (void)state;
    fake_shifted = &reduced;
    write_run(&full, ENTERS(50000, 80000, 90000, 90000), NULL);
    write_run(&reduced, ENTERS(50000, 80000, 90000, 90000), NULL);
    assert_int_equal(full.streams[0].events[1].record.path, 0);
    assert_int_equal(reduced.streams[0].events[1].record.path, 2);
    expect_comparison();
    assert_true(comparison->trends_retained);
    write_run(&reduced, ENTERS(90000, 80000, 90000, 90000), NULL);
    expect_comparison();
    assert_int_equal(comparison->n_changes, 1);
    expect_change(0, 0, 0, 0.04, 0);
}

/* ---- severities ---- */

static void test_classes(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.0005, 0.001, 0.002, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 1};
    static const unsigned classes[] = {0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_int_equal(rfn_severity_class(shares[i]), classes[i]);
    assert_string_equal(rfn_severity_words(0), "none");
    assert_string_equal(rfn_severity_words(4), "dominating");
    assert_string_equal(rfn_severity_words(5), "none");
}

static void expect_severity(double share, double other, bool same)
{
    if (rfn_same_severity(share, other) != same || rfn_same_severity(other, share) != same)
        fail_msg("%g and %g are %sthe same", share, other, same ? "not " : "");
}

/* Within 10 % of a border a share belongs to both sides. */
static void test_borders(void **state)
{
    (void)state;
    static const double borders[] = {0.001, 0.01, 0.05, 0.2};
    for (size_t i = 0; i < 4; i++) {
        expect_severity(0.89 * borders[i], 1.11 * borders[i], false);
        expect_severity(0.91 * borders[i], 1.11 * borders[i], true);
        expect_severity(0.89 * borders[i], 1.09 * borders[i], true);
        expect_severity(0.91 * borders[i], 1.09 * borders[i], true);
    }
    expect_severity(0, 0.00109, true);
    expect_severity(0, 0.00111, false);
    expect_severity(0.002, 0.009, true);
    expect_severity(0.002, 0.02, false);
    expect_severity(0.21, 0.99, true);
    expect_severity(0.06, 0.99, false);
}

/* ---- degrees ---- */

static void test_degrees(void **state)
{
    (void)state;
    const struct rfn_run_reduction counts = {.executions = 100,
                                             .kinds = 10,
                                             .representatives = 28,
                                             .streams = 8,
                                             .classes = 2,
                                             .time_sets = 5};
    struct rfn_degrees degrees = rfn_degrees_of(&counts, false);
    expect_near(degrees.within, 0.8);
    expect_near(degrees.across, 0.5);
    expect_near(degrees.both, 0.8);
    expect_near(rfn_degrees_of(&counts, true).both, 75.0 / 96);
    const struct rfn_run_reduction none = {0};
    expect_near(rfn_degrees_of(&none, false).both, 1);
    const struct rfn_run_reduction wrong = {
        .executions = UINT64_MAX, .streams = UINT64_MAX, .time_sets = 7, .kinds = UINT64_MAX - 5};
    degrees = rfn_degrees_of(&wrong, true);
    expect_near(degrees.within, 1);
    assert_true(degrees.across >= 0 && degrees.across <= 1);
    assert_true(degrees.both >= 0 && degrees.both <= 1);
}

/* The reduced archive tells how many matches there were. */
static void test_reduced(void **state)
{
    (void)state;
    write_run(&full, NULL, NULL);
    write_run(&reduced, NULL, NULL);
    reduced.run.reduced = true;
    reduced.run.reduction = (struct rfn_run_reduction){.executions = 16,
                                                       .kinds = 6,
                                                       .representatives = 10,
                                                       .streams = 4,
                                                       .classes = 1,
                                                       .time_sets = 3};
    expect_comparison();
    expect_near(comparison->degree_within, 0.6);
    expect_near(comparison->degree_across, 1.0 / 3);
    expect_near(comparison->degree_of_matching, 0.6);
    reduced.run.across = "avgWave:0.4";
    expect_comparison();
    expect_near(comparison->degree_of_matching, 7.0 / 13);
}

/* ---- archives that cannot be compared ---- */

static void test_other_runs(void **state)
{
    (void)state;
    write_run(&full, NULL, NULL);
    write_run(&reduced, NULL, NULL);
    reduced.streams[2].n--;
    expect_refused(RFN_E_USAGE, "thread 0 of rank 2 has 4 events in one and 3 in the other");
    reduced.streams[2].n++;
    reduced.streams[1].rank = 2;
    expect_refused(RFN_E_USAGE, "rank 1 is in one of them only");
    reduced.streams[1].rank = 1;
    reduced.run.streams = 5;
    expect_refused(RFN_E_USAGE, "one has 4 threads of 4 ranks, the other 5 of 4");
    reduced.run.streams = 4;
    reduced.streams[3].events[1].record.function = FAKE_IBARRIER;
    expect_refused(RFN_E_USAGE, "rank 3 calls MPI_Barrier in one and MPI_Ibarrier in the other");
    reduced.streams[3].events[1].record.function = UINT32_MAX;
    expect_refused(RFN_E_USAGE, "as its event 2");
    reduced.streams[3].events[1].record.function = FAKE_BARRIER;
    reduced.streams[3].events[1].record.path = 1;
    expect_refused(RFN_E_USAGE, "rank 3 calls MPI_Barrier from two places, as its event 2");
    reduced.streams[3].events[1].record.path = 17;
    expect_refused(RFN_E_USAGE, "from two places");
    reduced.streams[3].events[1].record.path = 0;
    expect_comparison();
}

static void test_without_times(void **state)
{
    (void)state;
    const struct rfn_archive *concerned = NULL;
    write_run(&full, NULL, NULL);
    write_run(&reduced, NULL, NULL);
    reduced.run.times = false;
    assert_int_equal(compare(NULL, &concerned), RFN_E_UNSUPPORTED);
    assert_ptr_equal(concerned, &reduced);
    full.run.times = false;
    assert_int_equal(compare(NULL, &concerned), RFN_E_UNSUPPORTED);
    assert_ptr_equal(concerned, &full);
}

/* Whose file it is that cannot be read. */
static void test_damaged(void **state)
{
    (void)state;
    struct rfn_archive *archives[] = {&full, &reduced};
    const struct rfn_archive *concerned;
    for (int i = 0; i < 2; i++) {
        write_run(&full, NULL, NULL);
        write_run(&reduced, NULL, NULL);
        archives[i]->streams[2].fails_with = RFN_E_CORRUPT;
        assert_int_equal(compare(NULL, &concerned), RFN_E_CORRUPT);
        assert_ptr_equal(concerned, archives[i]);
        archives[i]->streams[2].fails_with = 0;
        archives[i]->streams[1].absent = true;
        expect_refused(RFN_E_INCOMPLETE, "not there");
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_same),          TEST(test_lost),     TEST(test_elsewhere),
        TEST(test_another_class), TEST(test_run_time), TEST(test_distance),
        TEST(test_numbers),       TEST(test_classes),  TEST(test_borders),
        TEST(test_degrees),       TEST(test_reduced),  TEST(test_other_runs),
        TEST(test_without_times), TEST(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
