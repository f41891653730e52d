/* Groups made by hand, and who is in them. */
#include "analyze/match/mpi_groups.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { WORLD = 0, SELF = 1, ODD = 2, BETWEEN = 3, EVEN = 7, MANY = 8 };
enum { GROUP_NULL = -1, GROUP_EMPTY = -2 };

static struct rfn_mpi_groups *groups;

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    groups = rfn_mpi_groups_new(&fake);
    return groups ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rfn_mpi_groups_free(groups);
    return 0;
}

static void show(uint32_t rank, const struct rfn_record *record)
{
    struct rfn_cursor cursor = {.archive = &fake, .stream = rank};
    const struct rfn_call_event event = rfn_call_event(&fake, &cursor, rank, record);
    assert_int_equal(rfn_mpi_groups_event(groups, &event), 0);
}
#define SHOW(rank, function, ...) show(rank, EVENT(rank, function, 0, 0, 1, __VA_ARGS__))

static void expect(uint32_t rank, int64_t handle, const uint32_t *expected, size_t n_expected)
{
    size_t n;
    const uint32_t *members = rfn_mpi_groups_members(groups, rank, handle, &n);
    assert_non_null(members);
    assert_int_equal(n, n_expected);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(members[i], expected[i]);
}
#define EXPECT(rank, handle, ...)                                \
    expect(rank, handle, (const uint32_t[]){0, __VA_ARGS__} + 1, \
           sizeof((uint32_t[]){0, __VA_ARGS__}) / sizeof(uint32_t) - 1)

static void expect_unknown(uint32_t rank, int64_t handle)
{
    size_t n;
    assert_null(rfn_mpi_groups_members(groups, rank, handle, &n));
    assert_int_equal(n, 0);
}

static void test_concerns(void **state)
{
    (void)state;
    for (uint32_t i = FAKE_COMM_GROUP; i <= FAKE_WIN_FREE; i++)
        assert_true(rfn_mpi_groups_concerns(groups, i));
    assert_false(rfn_mpi_groups_concerns(groups, FAKE_FENCE));
    assert_false(rfn_mpi_groups_concerns(groups, FAKE_WIN_POST));
    assert_false(rfn_mpi_groups_concerns(groups, FAKE_BARRIER));
}

static void test_communicators(void **state)
{
    (void)state;
    SHOW(1, COMM_GROUP, WORLD, 0);
    SHOW(1, COMM_GROUP, ODD, 1);
    SHOW(1, COMM_GROUP, SELF, 2);
    SHOW(1, COMM_GROUP, BETWEEN, 3);
    SHOW(1, REMOTE_GROUP, BETWEEN, 4);
    EXPECT(1, 0, 0, 1, 2, 3);
    EXPECT(1, 1, 1, 3);
    EXPECT(1, 2, 1);
    EXPECT(1, 3, 0, 1);
    EXPECT(1, 4, 2, 3);
    SHOW(2, COMM_GROUP, BETWEEN, 0);
    SHOW(2, REMOTE_GROUP, BETWEEN, 1);
    SHOW(2, COMM_GROUP, SELF, 2);
    EXPECT(2, 0, 2, 3);
    EXPECT(2, 1, 0, 1);
    EXPECT(2, 2, 2);
    EXPECT(1, 0, 0, 1, 2, 3);
    expect(0, GROUP_EMPTY, NULL, 0);
    expect_unknown(0, GROUP_NULL);
    expect_unknown(0, 0);
}

static void test_selection(void **state)
{
    (void)state;
    SHOW(0, COMM_GROUP, WORLD, 0);
    SHOW(0, INCL, 0, 3, LIST(3, 0, 2), 1);
    EXPECT(0, 1, 3, 0, 2);
    SHOW(0, INCL, 1, 2, LIST(2, 0), 2);
    EXPECT(0, 2, 2, 3);
    SHOW(0, EXCL, 1, 1, LIST(1), 3);
    EXPECT(0, 3, 3, 2);
    SHOW(0, INCL, 0, 0, 0, 4);
    expect(0, 4, NULL, 0);
    SHOW(0, EXCL, 0, 0, 0, 4);
    EXPECT(0, 4, 0, 1, 2, 3);
    SHOW(0, INCL, GROUP_EMPTY, 0, 0, 4);
    expect(0, 4, NULL, 0);
}

static void test_ranges(void **state)
{
    (void)state;
    SHOW(0, COMM_GROUP, WORLD, 0);
    SHOW(0, RANGE_INCL, 0, 1, LIST(0, 3, 2), 1);
    EXPECT(0, 1, 0, 2);
    SHOW(0, RANGE_INCL, 0, 2, LIST(3, 2, -1, 0, 0, 1), 2);
    EXPECT(0, 2, 3, 2, 0);
    SHOW(0, RANGE_EXCL, 0, 1, LIST(1, 2, 1), 3);
    EXPECT(0, 3, 0, 3);
    SHOW(0, RANGE_INCL, 0, 1, LIST(1, 3, INT64_MAX), 4);
    EXPECT(0, 4, 1);
    SHOW(0, RANGE_INCL, 0, 1, LIST(3, 1, INT64_MIN), 4);
    EXPECT(0, 4, 3);
    SHOW(0, RANGE_INCL, 0, 1, LIST(3, 1, 1), 4);
    expect(0, 4, NULL, 0);
}

static void test_sets(void **state)
{
    (void)state;
    SHOW(0, COMM_GROUP, WORLD, 0);
    SHOW(0, INCL, 0, 2, LIST(3, 1), 1);
    SHOW(0, INCL, 0, 3, LIST(0, 1, 2), 2);
    SHOW(0, UNION, 1, 2, 3);
    EXPECT(0, 3, 3, 1, 0, 2);
    SHOW(0, INTERSECTION, 2, 1, 4);
    EXPECT(0, 4, 1);
    SHOW(0, DIFFERENCE, 0, 1, 5);
    EXPECT(0, 5, 0, 2);
    SHOW(0, DIFFERENCE, 1, GROUP_EMPTY, 6);
    EXPECT(0, 6, 3, 1);
    SHOW(0, UNION, GROUP_EMPTY, GROUP_EMPTY, 7);
    expect(0, 7, NULL, 0);
}

static void test_process_sets(void **state)
{
    (void)state;
    SHOW(2, PSET, 0, LIST('m', 'p', 'i', ':', '/', '/', 'W', 'O', 'R', 'L', 'D'), 0);
    SHOW(2, PSET, 0, LIST('m', 'p', 'i', ':', '/', '/', 's', 'e', 'l', 'f'), 1);
    SHOW(2, PSET, 0, LIST('a', 'p', 'p'), 2);
    SHOW(2, PSET, 0, -1, 3);
    EXPECT(2, 0, 0, 1, 2, 3);
    EXPECT(2, 1, 2);
    expect_unknown(2, 2);
    expect_unknown(2, 3);
}

static void test_windows(void **state)
{
    (void)state;
    SHOW(3, WIN_CREATE, 0, 8, 1, -1, ODD, 0);
    SHOW(3, WIN_CREATE, 0, 8, 1, -1, WORLD, 1);
    SHOW(3, WIN_GET_GROUP, 0, 5);
    EXPECT(3, 5, 1, 3);
    SHOW(3, WIN_FREE, 0);
    SHOW(3, WIN_GET_GROUP, 0, 6);
    expect_unknown(3, 6);
    SHOW(3, WIN_GET_GROUP, 1, 5);
    EXPECT(3, 5, 0, 1, 2, 3);
    SHOW(3, WIN_CREATE, 0, 8, 1, -1, SELF, 0);
    SHOW(3, WIN_GET_GROUP, 0, 5);
    EXPECT(3, 5, 3);
    expect_unknown(0, 5);
}

/* A slot is another group after it was freed, and unknown if nobody knows what it is. */
static void test_slots_reused(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++)
        SHOW(rank, COMM_GROUP, WORLD, 0);
    SHOW(0, GROUP_FREE, 0);
    expect_unknown(0, 0);
    EXPECT(1, 0, 0, 1, 2, 3);
    SHOW(0, COMM_GROUP, EVEN, 0);
    EXPECT(0, 0, 0, 2);
    EXPECT(1, 0, 0, 1, 2, 3);
    SHOW(1, FILE_GET_GROUP, 0, 0);
    expect_unknown(1, 0);
    SHOW(0, GROUP_FREE, 0);
    SHOW(0, GROUP_FREE, 0);
    SHOW(0, GROUP_FREE, GROUP_EMPTY);
    expect_unknown(0, 0);
    EXPECT(3, 0, 0, 1, 2, 3);
}

/* One handle given twice lives until it is freed twice. */
static void test_handed_out_twice(void **state)
{
    (void)state;
    SHOW(0, COMM_GROUP, WORLD, 0);
    SHOW(0, COMM_GROUP, WORLD, 0);
    SHOW(0, GROUP_FREE, 0);
    EXPECT(0, 0, 0, 1, 2, 3);
    SHOW(0, GROUP_FREE, 0);
    expect_unknown(0, 0);
}

/* Equal lists are one list. */
static void test_shared(void **state)
{
    (void)state;
    size_t n;
    SHOW(0, COMM_GROUP, ODD, 0);
    SHOW(1, COMM_GROUP, WORLD, 3);
    SHOW(1, INCL, 3, 2, LIST(1, 3), 4);
    assert_ptr_equal(rfn_mpi_groups_members(groups, 0, 0, &n),
                     rfn_mpi_groups_members(groups, 1, 4, &n));
    SHOW(0, GROUP_FREE, 0);
    EXPECT(1, 4, 1, 3);
}

/* Members outside of MPI_COMM_WORLD count as positions, and are left out of the answer. */
static void test_foreign_members(void **state)
{
    (void)state;
    SHOW(0, COMM_GROUP, MANY, 0);
    EXPECT(0, 0, 0, 1, 2, 3);
    SHOW(0, INCL, 0, 4, LIST(23, 2, 5, 1), 1);
    EXPECT(0, 1, 2, 1);
    SHOW(0, INCL, 1, 2, LIST(0, 3), 2);
    EXPECT(0, 2, 1);
    SHOW(0, RANGE_INCL, 0, 1, LIST(4, 23, 1), 3);
    expect(0, 3, NULL, 0);
    SHOW(0, UNION, 3, 1, 4);
    EXPECT(0, 4, 2, 1);
    SHOW(0, INTERSECTION, 0, 1, 5);
    EXPECT(0, 5, 1, 2);
    SHOW(0, DIFFERENCE, 0, 1, 6);
    EXPECT(0, 6, 0, 3);
}

static void test_garbage(void **state)
{
    (void)state;
    SHOW(0, COMM_GROUP, WORLD, 0);
    SHOW(0, COMM_GROUP, -1, 1);
    SHOW(0, COMM_GROUP, 99, 1);
    SHOW(0, COMM_GROUP, INT64_MAX, 1);
    SHOW(0, REMOTE_GROUP, WORLD, 1);
    SHOW(0, INCL, 0, 1, LIST(4), 1);
    SHOW(0, INCL, 0, 1, LIST(-2), 1);
    SHOW(0, INCL, 0, 5, LIST(0, 0, 0, 0, 0), 1);
    SHOW(0, INCL, 7, 1, LIST(0), 1);
    SHOW(0, INCL, INT64_MIN, 1, LIST(0), 1);
    SHOW(0, EXCL, 0, 1, LIST(INT64_MAX), 1);
    SHOW(0, RANGE_INCL, 0, 1, LIST(0, 3, 0), 1);
    SHOW(0, RANGE_INCL, 0, 1, LIST(0, INT64_MAX, 1), 1);
    SHOW(0, RANGE_INCL, 0, 2, LIST(0, 3, 1, 0, 3, 1), 1);
    SHOW(0, UNION, 0, 9, 1);
    SHOW(0, DIFFERENCE, GROUP_NULL, 0, 1);
    SHOW(0, WIN_GET_GROUP, -7, 1);
    expect_unknown(0, 1);
    SHOW(0, COMM_GROUP, WORLD, -3);
    SHOW(0, COMM_GROUP, WORLD, INT64_MAX);
    SHOW(0, WIN_CREATE, 0, 8, 1, -1, 99, 0);
    SHOW(0, WIN_GET_GROUP, 0, 1);
    SHOW(0, WIN_CREATE, 0, 8, 1, -1, WORLD, RFN_UNKNOWN);
    SHOW(0, WIN_FREE, INT64_MIN);
    expect_unknown(0, 1);
    expect_unknown(0, -3);
    expect_unknown(0, INT64_MAX);
    expect_unknown(4000, 0);
    struct rfn_record *record = EVENT(0, GROUP_FREE, 0, 0, 1, 0);
    record->error = 3;
    show(0, record);
    EXPECT(0, 0, 0, 1, 2, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_concerns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_communicators, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_selection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ranges, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_process_sets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_windows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_slots_reused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_handed_out_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_garbage, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
