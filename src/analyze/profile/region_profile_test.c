/* Regions and pauses in the profile of runs that are small enough to be worked out by hand. */
#include "analyze/profile/region_profile.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SETUP, SOLVE };

static struct rfn_profile *profile;

static int setup(void **state)
{
    (void)state;
    fake_reset();
    profile = NULL;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_profile_free(profile);
    return 0;
}

static void make(void)
{
    struct rfn_diag diag = {0};
    assert_int_equal(rfn_profile_new(&fake, NULL, NULL, &profile, &diag), 0);
}

static const struct rfn_region_row *row(const char *name)
{
    for (size_t i = 0; i < profile->n_regions; i++) {
        if (strcmp(profile->regions[i].name, name) == 0)
            return &profile->regions[i];
    }
    fail_msg("there is no region %s", name);
    return NULL;
}

static void expect(const char *name, uint64_t visits, int64_t time_ns, int64_t mpi_ns)
{
    assert_int_equal(row(name)->visits, visits);
    assert_int_equal(row(name)->time.total_ns, time_ns);
    assert_int_equal(row(name)->mpi.total_ns, mpi_ns);
}

#define BEGIN_AT(rank, ns, region) EVENT(rank, BEGIN, 0, ns, ns, region)
#define END_AT(rank, ns, region)   EVENT(rank, END, 0, ns, ns, region)

/* A region in another: what is inside counts for both. */
static void test_nested(void **state)
{
    (void)state;
    EVENT(0, INIT, 0, 0, 10, 0);
    BEGIN_AT(0, 20, SETUP);
    EVENT(0, BARRIER, 0, 25, 30, 0);
    BEGIN_AT(0, 40, SOLVE);
    EVENT(0, BARRIER, 0, 45, 52, 0);
    END_AT(0, 60, SOLVE);
    END_AT(0, 100, SETUP);
    EVENT(0, BARRIER, 0, 110, 120, 0);
    EVENT(0, FINALIZE, 0, 130, 140, 0);
    make();
    assert_int_equal(profile->n_regions, 2);
    assert_string_equal(profile->regions[0].name, "setup");
    expect("setup", 1, 80, 12);
    expect("solve", 1, 20, 7);
    assert_int_equal(profile->events, 9);
    assert_int_equal(profile->calls, 5);
    assert_int_equal(profile->region_events, 4);
    for (size_t i = 0; i < profile->n_rows; i++)
        assert_true(profile->rows[i].function != FAKE_BEGIN &&
                    profile->rows[i].function != FAKE_END);
}

static void test_ranks(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 3; rank++) {
        for (uint32_t visit = 0; visit < 2; visit++) {
            BEGIN_AT(rank, 100 * visit, SOLVE);
            EVENT(rank, BARRIER, 0, 100 * visit + 1, 100 * visit + 2 + rank, 0);
            END_AT(rank, 100 * visit + 10 * (rank + 1), SOLVE);
        }
    }
    make();
    expect("solve", 6, 20 + 40 + 60, 2 + 4 + 6);
    const struct rfn_spread *time = &row("solve")->time;
    assert_int_equal(time->ranks, 3);
    assert_int_equal(time->min_ns, 20);
    assert_int_equal(time->min_rank, 0);
    assert_int_equal(time->max_ns, 60);
    assert_int_equal(time->max_rank, 2);
}

/* A region inside of itself: no moment counts twice. */
static void test_recursion(void **state)
{
    (void)state;
    BEGIN_AT(0, 0, SOLVE);
    BEGIN_AT(0, 10, SOLVE);
    EVENT(0, BARRIER, 0, 12, 15, 0);
    END_AT(0, 20, SOLVE);
    END_AT(0, 30, SOLVE);
    make();
    expect("solve", 2, 30, 3);
}

/* No archive of the recorder's has such ends, but a file may say anything. */
static void test_improper(void **state)
{
    (void)state;
    END_AT(0, 1, SOLVE);
    BEGIN_AT(0, 10, SETUP);
    BEGIN_AT(0, 20, SOLVE);
    END_AT(0, 30, SETUP); /* ends both */
    END_AT(0, 40, SOLVE);
    BEGIN_AT(0, 50, 3);     /* is not there */
    BEGIN_AT(0, 60, SOLVE); /* has no end: to the last event */
    EVENT(0, BARRIER, 0, 70, 75, 0);
    make();
    expect("setup", 1, 20, 0);
    expect("solve", 2, 10 + 15, 5);
}

/* Between Pcontrol(0) and Pcontrol(1) nothing is known. */
static void test_pause(void **state)
{
    (void)state;
    EVENT(0, INIT, 0, 0, 10, 0);
    BEGIN_AT(0, 20, SOLVE);
    EVENT(0, PCONTROL, 0, 30, 31, 0);
    EVENT(0, PCONTROL, 0, 131, 133, 1);
    END_AT(0, 140, SOLVE);
    EVENT(0, FINALIZE, 0, 150, 160, 0);
    EVENT(1, INIT, 0, 0, 10, 0);
    EVENT(1, FINALIZE, 0, 150, 160, 0);
    make();
    assert_true(profile->paused);
    assert_int_equal(profile->unrecorded_ns, 100);
    assert_int_equal(profile->ranks[0].unrecorded_ns, 100);
    assert_int_equal(profile->ranks[1].unrecorded_ns, 0);
    assert_int_equal(rfn_profile_outside_ns(&profile->ranks[0]), 160 - 23 - 100);
    assert_int_equal(rfn_profile_outside_ns(&profile->ranks[1]), 140);
    expect("solve", 1, 20, 3);
    struct rfn_efficiency efficiency = rfn_profile_efficiency(profile);
    assert_int_equal(efficiency.all_ns, 2 * 160 - 100);
}

/* Started with recording off, off again without an end, and a level that is no switch. */
static void test_open_pauses(void **state)
{
    (void)state;
    fake.run.start_off = true;
    EVENT(0, INIT, 0, 0, 10, 0);
    EVENT(0, PCONTROL, 0, 50, 51, 1);
    EVENT(0, PCONTROL, 0, 60, 61, 3);
    EVENT(0, PCONTROL, 0, 70, 71, 0);
    EVENT(0, FINALIZE, 0, 100, 110, 0);
    EVENT(1, INIT, 0, 0, 10, 0); /* never switched on */
    EVENT(1, FINALIZE, 0, 100, 110, 0);
    make();
    assert_int_equal(profile->ranks[0].unrecorded_ns, 40 + 29);
    assert_int_equal(profile->ranks[1].unrecorded_ns, 90);
    assert_int_equal(rfn_profile_outside_ns(&profile->ranks[0]), 9 + 9);
    assert_int_equal(rfn_profile_outside_ns(&profile->ranks[1]), 0);
}

static void test_no_pause(void **state)
{
    (void)state;
    EVENT(0, INIT, 0, 0, 10, 0);
    EVENT(0, PCONTROL, 0, 20, 21, 1);
    EVENT(0, FINALIZE, 0, 100, 110, 0);
    make();
    assert_false(profile->paused);
    assert_int_equal(profile->unrecorded_ns, 0);
}

static void test_no_times(void **state)
{
    (void)state;
    fake.run.times = false;
    BEGIN_AT(0, 0, SETUP);
    END_AT(0, 0, SETUP);
    BEGIN_AT(0, 0, SOLVE);
    END_AT(0, 0, SOLVE);
    BEGIN_AT(0, 0, SOLVE);
    END_AT(0, 0, SOLVE);
    make();
    assert_string_equal(profile->regions[0].name, "solve");
    expect("solve", 2, 0, 0);
    expect("setup", 1, 0, 0);
}

/* Marks of segments are neither visits nor calls; what was not recorded adds up, and says that
 * there is such a region. Nonsense of a damaged archive is left out. */
static void test_marks_and_unrecorded(void **state)
{
    (void)state;
    EVENT(0, INIT, 0, 0, 10, 0);
    EVENT(0, MARK, 0, 20, 20, SOLVE);
    EVENT(0, UNRECORDED, 0, 30, 30, SETUP, 1000);
    EVENT(0, UNRECORDED, 0, 30, 30, SETUP, -7);
    EVENT(0, UNRECORDED, 0, 30, 30, 99, 5);
    EVENT(0, FINALIZE, 0, 130, 140, 0);
    EVENT(1, INIT, 0, 0, 10, 0);
    EVENT(1, UNRECORDED, 0, 40, 40, SETUP, 234);
    EVENT(1, FINALIZE, 0, 130, 140, 0);
    make();
    assert_int_equal(profile->n_regions, 1);
    expect("setup", 0, 0, 0);
    assert_int_equal(row("setup")->unrecorded, 1234);
    assert_int_equal(profile->region_events, 5);
    assert_int_equal(profile->calls, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nested, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_recursion, setup, teardown),
        cmocka_unit_test_setup_teardown(test_improper, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
        cmocka_unit_test_setup_teardown(test_open_pauses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_pause, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_marks_and_unrecorded, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
