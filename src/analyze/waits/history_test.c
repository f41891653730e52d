/* Logs that are shorter than what is asked of them: sums since marks are right nevertheless. */
#include "analyze/waits/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LENGTH = 8, WHATS = 5, LONG = 20000 };

static struct rfn_history history, other;
static struct rfn_sums sums;
static struct rfn_done done[LONG]; /* all that the history ever did */
static uint64_t n_done;

static int setup(void **state)
{
    (void)state;
    n_done = 0;
    assert_int_equal(rfn_history_init(&history, LENGTH), 0);
    return rfn_history_init(&other, LENGTH);
}

static int teardown(void **state)
{
    (void)state;
    rfn_history_release(&history);
    rfn_history_release(&other);
    rfn_sums_release(&sums);
    sums = (struct rfn_sums){0};
    return 0;
}

static void add(uint32_t what, int64_t ns)
{
    assert_int_equal(rfn_history_add(&history, &sums, what, ns), 0);
    done[n_done++] = (struct rfn_done){what, ns};
}

/* `n` more, of changing length. */
static void add_many(int n)
{
    for (int i = 0; i < n; i++)
        add((uint32_t)(n_done % WHATS), (int64_t)(n_done * n_done % 1009) + 1);
}

static int64_t sum_of(uint32_t what)
{
    for (size_t i = 0; i < sums.n_touched; i++) {
        if (sums.touched[i] == what)
            return rfn_sums_of(&sums, what);
    }
    return 0;
}

static int64_t done_between(uint64_t from, uint64_t to, uint32_t what)
{
    int64_t ns = 0;
    for (uint64_t i = from; i < to; i++)
        ns += done[i].what == what ? done[i].ns : 0;
    return ns;
}

/* Asks for what was done since a mark, or since `from`; all of it from `known` on is right. */
static void expect_sums(const struct rfn_mark *mark, uint64_t from, uint64_t to, uint64_t known)
{
    rfn_sums_reset(&sums);
    rfn_history_sum(&history, mark, from, to, 1, &sums);
    for (uint32_t what = 0; what < WHATS; what++)
        assert_int_equal(sum_of(what), done_between(known, to, what));
}

static const struct rfn_mark *mark_of(uint64_t key, uint64_t count)
{
    for (unsigned i = 0; i < history.n_marks; i++) {
        if (history.marks[i].key == key && history.marks[i].count == count)
            return &history.marks[i];
    }
    return NULL;
}

/* ---- sums ---- */

static void test_in_log(void **state)
{
    (void)state;
    add_many(LENGTH);
    assert_int_equal(history.first, 0);
    for (uint64_t from = 0; from <= LENGTH; from++) {
        for (uint64_t to = from; to <= LENGTH; to++)
            expect_sums(NULL, from, to, from);
    }
}

/* Numbers of questions come again: what the first one has touched is not taken for this one's. */
static void test_many_questions(void **state)
{
    (void)state;
    add_many(LENGTH);
    expect_sums(NULL, 0, LENGTH, 0);
    assert_int_equal(sums.question, 1);
    sums.question = UINT32_MAX;
    expect_sums(NULL, 0, LENGTH, 0);
    assert_int_equal(sums.question, 1);
    expect_sums(NULL, LENGTH / 2, LENGTH, LENGTH / 2);
}

/* Since the beginning, whatever the log has lost. */
static void test_beginning(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        add_many(1);
        expect_sums(&history.marks[0], 0, n_done, 0);
    }
    assert_true(history.first > 1000 - LENGTH - 1);
}

/* Without a mark what is older than the log is left out. */
static void test_without_mark(void **state)
{
    (void)state;
    add_many(100);
    expect_sums(NULL, 10, n_done, history.first);
    expect_sums(NULL, history.first + 1, n_done, history.first + 1);
}

/* Marks at every place of the log, of which some are in the half that is folded. */
static void test_marks(void **state)
{
    (void)state;
    for (uint64_t key = 1; key < RFN_HISTORY_MARKS; key++) {
        rfn_history_mark(&history, key, key * 7, 0);
        add_many(1);
    }
    for (int i = 0; i < 100; i++) {
        for (uint64_t key = 1; key < RFN_HISTORY_MARKS; key++) {
            const struct rfn_mark *mark = mark_of(key, key * 7);
            assert_int_equal(mark->at, key - 1);
            expect_sums(mark, mark->at, n_done, mark->at);
            expect_sums(mark, mark->at, n_done - 1, mark->at);
        }
        add_many(1);
    }
}

/* Several marks at one place, and one where nothing was done since. */
static void test_marks_at_one_place(void **state)
{
    (void)state;
    add_many(LENGTH / 2);
    rfn_history_mark(&history, 1, 1, 0);
    rfn_history_mark(&history, 2, 1, 0);
    add_many(50);
    rfn_history_mark(&history, 3, 1, 0);
    for (uint64_t key = 1; key <= 3; key++)
        expect_sums(mark_of(key, 1), mark_of(key, 1)->at, n_done, mark_of(key, 1)->at);
}

/* Of a key the last two are kept; a mark that takes the place of an old one has its own sums. */
static void test_two_of_a_key(void **state)
{
    (void)state;
    for (uint64_t count = 0; count < 20; count++) {
        rfn_history_mark(&history, 1, count, 0);
        uint64_t at = n_done;
        add_many(30);
        assert_int_equal(mark_of(1, count)->at, at);
        expect_sums(mark_of(1, count), at, n_done, at);
        if (count)
            expect_sums(mark_of(1, count - 1), at - 30, n_done, at - 30);
        assert_null(mark_of(1, count - 2));
    }
    assert_int_equal(history.n_marks, 3);
}

/* When there are too many keys the oldest mark goes, never the beginning. */
static void test_too_many_keys(void **state)
{
    (void)state;
    for (uint64_t key = 1; key < 100; key++) {
        rfn_history_mark(&history, key, 1, 0);
        add_many(3);
        assert_non_null(mark_of(key, 1));
    }
    assert_int_equal(history.n_marks, RFN_HISTORY_MARKS);
    assert_int_equal(history.marks[0].key, RFN_MARK_BEGINNING);
    assert_null(mark_of(99 - RFN_HISTORY_MARKS + 1, 1));
    assert_non_null(mark_of(99 - RFN_HISTORY_MARKS + 2, 1));
    expect_sums(&history.marks[0], 0, n_done, 0);
}

/* Waiting is kept apart from activities of the same number; signs make differences. */
static void test_passed_on(void **state)
{
    (void)state;
    add(3, 10);
    add(RFN_PASSED_ON | 3, 25);
    add(3, 5);
    rfn_sums_reset(&sums);
    rfn_history_sum(&history, NULL, 0, 3, 1, &sums);
    assert_int_equal(sum_of(3), 15);
    assert_int_equal(sum_of(RFN_PASSED_ON | 3), 25);
    rfn_history_sum(&history, NULL, 0, 1, -1, &sums);
    assert_int_equal(sum_of(3), 5);
    assert_int_equal(sums.n_touched, 2);
}

/* What takes longer than an entry holds. */
static void test_long_activity(void **state)
{
    (void)state;
    const int64_t ns = 3 * (int64_t)UINT32_MAX + 7;
    assert_int_equal(rfn_history_add(&history, &sums, 1, UINT32_MAX), 0);
    assert_int_equal(rfn_history_add(&history, &sums, 2, ns), 0);
    assert_int_equal(history.at, 5);
    rfn_sums_reset(&sums);
    rfn_history_sum(&history, NULL, 0, history.at, 1, &sums);
    rfn_history_sum(&history, NULL, 4, history.at, -1, &sums);
    assert_int_equal(sum_of(1), UINT32_MAX);
    assert_int_equal(sum_of(2), ns - 7);
    for (int i = 0; i < 3 * LENGTH; i++) /* it leaves the log */
        assert_int_equal(rfn_history_add(&history, &sums, 1, 1), 0);
    rfn_sums_reset(&sums);
    rfn_history_sum(&history, &history.marks[0], 0, history.at, 1, &sums);
    assert_int_equal(sum_of(2), ns);
}

static int64_t sum_since(const struct rfn_history *of, const struct rfn_mark *mark, uint32_t what)
{
    rfn_sums_reset(&sums);
    rfn_history_sum(of, mark, mark->at, of->at, 1, &sums);
    return sum_of(what);
}

/* One that would turn the log over many times is what its pieces one by one are. */
static void test_longest_activity(void **state)
{
    (void)state;
    const int64_t turn = (int64_t)LENGTH * UINT32_MAX;
    const int64_t lengths[] = {2 * turn, 2 * turn + 1, 3 * turn, 3 * turn + 1, 21 * turn + 99};
    for (size_t i = 0; i < 3 * LENGTH + sizeof lengths / sizeof *lengths; i++) {
        int64_t left = lengths[i % (sizeof lengths / sizeof *lengths)];
        assert_int_equal(rfn_history_add(&history, &sums, 1, 5), 0); /* at any place of the log */
        assert_int_equal(rfn_history_add(&other, &sums, 1, 5), 0);
        rfn_history_mark(&history, i % 3, i, 0);
        rfn_history_mark(&other, i % 3, i, 0);
        assert_int_equal(rfn_history_add(&history, &sums, 2, left), 0);
        for (; left > 0; left -= UINT32_MAX)
            assert_int_equal(
                rfn_history_add(&other, &sums, 2, left < UINT32_MAX ? left : UINT32_MAX), 0);
        assert_int_equal(history.at - history.first, other.at - other.first);
        for (unsigned m = 0; m < history.n_marks; m++) {
            for (uint32_t what = 1; what <= 2; what++)
                assert_int_equal(sum_since(&history, &history.marks[m], what),
                                 sum_since(&other, &other.marks[m], what));
        }
    }
    assert_true(history.at < other.at / 2);
}

/* Activities at random, and marks between them, for long. */
static void test_long(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (uint64_t count = 0; n_done < LONG - 100; count++) {
        random = random * 1103515245 + 12345;
        rfn_history_mark(&history, 1 + (random >> 16) % 4, count, 0);
        add_many((int)((random >> 20) % 40));
        for (unsigned i = 0; i < history.n_marks; i++)
            expect_sums(&history.marks[i], history.marks[i].at, n_done, history.marks[i].at);
    }
}

/* ---- in step ---- */

static void mark_both(uint64_t key, uint64_t count)
{
    rfn_history_mark(&history, key, count, 0);
    rfn_history_mark(&other, key, count, 0);
}

static void other_does(int n)
{
    for (int i = 0; i < n; i++)
        assert_int_equal(rfn_history_add(&other, &sums, 0, 1), 0);
}

static void expect_in_step(uint64_t at, uint64_t other_at, uint64_t a, uint64_t b)
{
    struct rfn_in_step step = rfn_history_in_step(&history, at, &other, other_at);
    assert_int_equal(step.at[0], a);
    assert_int_equal(step.at[1], b);
    assert_int_equal(step.mark[0]->at, a);
    assert_int_equal(step.mark[1]->at, b);
}

static void test_in_step(void **state)
{
    (void)state;
    add_many(3);
    other_does(20);
    expect_in_step(3, 20, 0, 0);
    mark_both(1, 0);
    add_many(30);
    other_does(5);
    mark_both(1, 1);
    add_many(30);
    other_does(5);
    expect_in_step(63, 30, 33, 25);
    expect_in_step(32, 30, 3, 20); /* the second was after the point of the one, */
    expect_in_step(63, 24, 3, 20); /* or of the other */
    expect_in_step(2, 30, 0, 0);
}

/* One of them has gone on to the next call of a communicator, which the other one has not left. */
static void test_one_is_ahead(void **state)
{
    (void)state;
    add_many(5);
    mark_both(1, 0);
    add_many(5);
    other_does(7);
    rfn_history_mark(&history, 1, 1, 0);
    add_many(5);
    expect_in_step(15, 7, 5, 0);
    rfn_history_mark(&other, 2, 1, 0); /* another communicator */
    expect_in_step(15, 7, 5, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_in_log),        TEST(test_beginning),          TEST(test_without_mark),
        TEST(test_marks),         TEST(test_marks_at_one_place), TEST(test_two_of_a_key),
        TEST(test_too_many_keys), TEST(test_passed_on),          TEST(test_longest_activity),
        TEST(test_long),          TEST(test_long_activity),      TEST(test_in_step),
        TEST(test_one_is_ahead),  TEST(test_many_questions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
