/* The locks of a window by themselves; what they make of whole calls is in one_sided_test.c. */
#include "analyze/match/rma_locks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rfn_rma_locks contention;

static int tear_down(void **state)
{
    (void)state;
    rfn_rma_locks_release(&contention);
    return 0;
}

static struct rfn_point at(uint32_t rank, int64_t ns)
{
    return (struct rfn_point){rank, (uint64_t)ns, ns};
}

static struct rfn_lock_call call(uint32_t rank, uint32_t target, int64_t ns)
{
    return (struct rfn_lock_call){rank, target, false, ns};
}

static struct rfn_lock_call locking(uint32_t rank, uint32_t target, int64_t ns)
{
    return (struct rfn_lock_call){rank, target, true, ns};
}

/* Takes a lock at `from`, within 1 ns, and gives it up until `to`, within 2. */
static void hold(uint32_t rank, uint32_t target, bool exclusive, int64_t from, int64_t to)
{
    struct rfn_lock_call lock = locking(rank, target, from), unlock = call(rank, target, to - 2);
    assert_int_equal(rfn_rma_locks_lock(&contention, &lock, exclusive, false), 0);
    rfn_rma_locks_locked(&contention, &lock, from + 1);
    assert_int_equal(rfn_rma_locks_unlock(&contention, &unlock, at(rank, to - 2)), 0);
    assert_int_equal(rfn_rma_locks_unlocked(&contention, &unlock, at(rank, to)), 0);
    assert_null(rfn_rma_locks_around(&contention, &lock));
}

static void expect(struct rfn_lock_call of, int64_t left, uint32_t rank, int64_t ns)
{
    struct rfn_point until;
    assert_true(rfn_rma_locks_waited(&contention, &of, left, &until));
    assert_int_equal(until.stream, rank);
    assert_int_equal(until.ns, ns);
}

static void expect_nothing(struct rfn_lock_call of, int64_t left)
{
    struct rfn_point until;
    assert_false(rfn_rma_locks_waited(&contention, &of, left, &until));
}

/* Many ranks one after the other; the list keeps the latest of them, whatever order they come in.
 */
static void test_latest(void **state)
{
    (void)state;
    struct rfn_lock_call lock = locking(50, 7, 5);
    assert_int_equal(rfn_rma_locks_lock(&contention, &lock, true, false), 0);
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t rank = i * 7 % 40;
        hold(rank, 7, false, 10, 1000 + rank);
    }
    expect(lock, 2000, 39, 1039);
    expect(lock, 1038, 38, 1038);
    expect_nothing(lock, 999);
    hold(36, 7, false, 1500, 1600);
    expect(lock, 2000, 36, 1600);
    hold(36, 7, false, 10, 100); /* an older one changes nothing */
    expect(lock, 2000, 36, 1600);
    expect_nothing(locking(50, 8, 5), 2000); /* no lock there */
}

static void test_modes_and_targets(void **state)
{
    (void)state;
    struct rfn_lock_call shared = locking(1, 3, 5), exclusive = locking(2, 3, 6),
                         all = locking(4, RFN_ALL_TARGETS, 7);
    assert_int_equal(rfn_rma_locks_lock(&contention, &shared, false, false), 0);
    assert_int_equal(rfn_rma_locks_lock(&contention, &exclusive, true, false), 0);
    assert_int_equal(rfn_rma_locks_lock(&contention, &all, false, false), 0);
    hold(5, 3, false, 10, 20);
    expect_nothing(shared, 100);
    expect_nothing(all, 100);
    expect(exclusive, 100, 5, 20);
    hold(6, RFN_ALL_TARGETS, false, 10, 30);
    expect_nothing(shared, 100);
    expect(exclusive, 100, 6, 30);
    hold(7, 9, true, 10, 40);
    expect_nothing(shared, 100);
    expect(all, 100, 7, 40);
    hold(8, 3, true, 10, 50);
    expect(shared, 100, 8, 50);
    expect(exclusive, 100, 8, 50);
    expect(all, 100, 8, 50);
}

/* Nobody waits for itself, in no epoch, or without check; unlocks without locks are nothing. */
static void test_no_conflict(void **state)
{
    (void)state;
    struct rfn_lock_call own = locking(1, 3, 5), unchecked = locking(2, 3, 5),
                         stray = call(9, UINT32_MAX - 1, 10);
    assert_int_equal(rfn_rma_locks_lock(&contention, &unchecked, true, true), 0);
    hold(1, 3, true, 1, 20);
    assert_int_equal(rfn_rma_locks_lock(&contention, &own, true, false), 0);
    expect_nothing(own, 100);
    expect_nothing(unchecked, 100);
    expect_nothing(locking(3, 3, 5), 100);
    assert_int_equal(rfn_rma_locks_unlock(&contention, &stray, at(9, 10)), 0);
    assert_int_equal(rfn_rma_locks_unlocked(&contention, &stray, at(9, 11)), 0);
    rfn_rma_locks_locked(&contention, &stray, 12);
    expect_nothing(own, 100);
}

/* In a call after the one that locks, only those that had locked when it began count. */
static void test_who_comes_next(void **state)
{
    (void)state;
    struct rfn_lock_call lock = locking(1, 3, 5);
    assert_int_equal(rfn_rma_locks_lock(&contention, &lock, true, false), 0);
    rfn_rma_locks_locked(&contention, &lock, 6);
    hold(2, 3, true, 8, 30);
    expect(call(1, 3, 9), 100, 2, 30);
    expect_nothing(call(1, 3, 8), 100);
    expect_nothing(call(1, 3, 30), 100);
    expect(call(1, 3, 29), 30, 2, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_latest, tear_down),
        cmocka_unit_test_teardown(test_modes_and_targets, tear_down),
        cmocka_unit_test_teardown(test_no_conflict, tear_down),
        cmocka_unit_test_teardown(test_who_comes_next, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
