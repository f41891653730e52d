/* Windows with made-up events: who waited for whom, to the nanosecond. */
#include "analyze/match/one_sided.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { WORLD = 0, SELF = 1, ODD = 2, BETWEEN = 3, EVEN = 7, MANY = 8 };
enum { EXCLUSIVE = 1, SHARED = 2, NO_CHECK = 1, NO_PRECEDE = 2 }; /* as Open MPI has them */

static struct rfn_mpi_groups *groups;
static struct rfn_one_sided *os;

static void open_archive(void)
{
    groups = rfn_mpi_groups_new(&fake);
    os = rfn_one_sided_new(&fake, groups);
    assert_non_null(groups);
    assert_non_null(os);
}

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    fake.run.flavour = "openmpi";
    fake.run.streams = FAKE_RANKS + 1; /* one more to be a second thread */
    open_archive();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rfn_one_sided_free(os);
    rfn_mpi_groups_free(groups);
    return 0;
}

/* The log position that goes with a time. */
static struct rfn_point point(uint32_t stream, int64_t ns)
{
    return (struct rfn_point){stream, (uint64_t)ns * 3 + stream, ns};
}

static void show_enter(uint32_t stream, uint32_t rank, const struct rfn_record *record)
{
    struct rfn_cursor cursor = {.archive = &fake, .stream = rank};
    const struct rfn_call_event event = rfn_call_event(&fake, &cursor, rank, record);
    assert_int_equal(rfn_mpi_groups_event(groups, &event), 0);
    assert_int_equal(rfn_one_sided_enter(os, &event, point(stream, record->enter_ns)), 0);
    fake.streams[rank].n = 0; /* events are gone once they are shown */
}
#define ENTER(rank, ns, function, ...) \
    show_enter(rank, rank, EVENT(rank, function, 0, ns, ns, __VA_ARGS__))
#define ENTER_THREAD(stream, rank, ns, function, ...) \
    show_enter(stream, rank, EVENT(rank, function, 0, ns, ns, __VA_ARGS__))

static struct rfn_wait leave(uint32_t stream, int64_t ns)
{
    struct rfn_wait wait = {RFN_LATE_SENDER, -1, {9, 9, 9}, 0};
    assert_int_equal(rfn_one_sided_leave(os, point(stream, ns), &wait), 0);
    return wait;
}

static void no_wait(uint32_t stream, int64_t ns)
{
    assert_int_equal(leave(stream, ns).ns, 0);
}

static void expect_wait(uint32_t stream, int64_t left, enum rfn_pattern pattern, int64_t ns,
                        uint32_t until_stream, int64_t until_ns)
{
    struct rfn_wait wait = leave(stream, left);
    struct rfn_point until = point(until_stream, until_ns);
    assert_int_equal(wait.ns, ns);
    assert_int_equal(wait.pattern, pattern);
    assert_int_equal(wait.until.stream, until.stream);
    assert_int_equal(wait.until.at, until.at);
    assert_int_equal(wait.until.ns, until.ns);
}

/* All four ranks make a window in a slot. */
static void make_windows(int64_t slot)
{
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 0, WIN_CREATE, 0, 8, 1, -1, WORLD, slot);
    for (uint32_t rank = 0; rank < 4; rank++)
        no_wait(rank, 1);
}

/* A group of ranks of MPI_COMM_WORLD, in a slot. */
static void make_group(uint32_t rank, int64_t slot, int64_t members)
{
    ENTER(rank, 1, COMM_GROUP, WORLD, 63);
    ENTER(rank, 1, INCL, 63, 0, members, slot);
}

static void test_concerns(void **state)
{
    (void)state;
    for (uint32_t i = FAKE_WIN_CREATE; i <= FAKE_FLUSH_ALL; i++)
        assert_true(rfn_one_sided_concerns(os, i));
    assert_true(rfn_one_sided_concerns(os, FAKE_PUT));
    assert_true(rfn_one_sided_concerns(os, FAKE_GET));
    assert_false(rfn_one_sided_concerns(os, FAKE_WIN_SYNC));
    assert_false(rfn_one_sided_concerns(os, FAKE_WIN_GET_GROUP));
    assert_false(rfn_one_sided_concerns(os, FAKE_BARRIER));
}

/* ---- fences ---- */

static void test_fence(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, FENCE, 0, 0);
    ENTER(1, 130, FENCE, 0, 0);
    ENTER(3, 110, FENCE, 0, 0);
    assert_false(rfn_one_sided_ready(os, 0));
    ENTER(2, 250, FENCE, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    expect_wait(0, 260, RFN_WAIT_AT_FENCE, 150, 2, 250);
    expect_wait(1, 270, RFN_WAIT_AT_FENCE, 120, 2, 250);
    no_wait(2, 270);
    expect_wait(3, 280, RFN_WAIT_AT_FENCE, 140, 2, 250);
}

/* A rank that is one fence ahead, another that left before the last came (its clock is wrong). */
static void test_fences_follow(void **state)
{
    (void)state;
    make_windows(0);
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 100 + rank, FENCE, 0, 0);
    expect_wait(0, 110, RFN_WAIT_AT_FENCE, 3, 3, 103);
    ENTER(0, 120, FENCE, 0, 0);
    assert_false(rfn_one_sided_ready(os, 0));
    expect_wait(1, 102, RFN_WAIT_AT_FENCE, 1, 3, 103);
    expect_wait(2, 125, RFN_WAIT_AT_FENCE, 1, 3, 103);
    no_wait(3, 126);
    for (uint32_t rank = 1; rank < 4; rank++)
        ENTER(rank, 200 - rank, FENCE, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    expect_wait(0, 300, RFN_WAIT_AT_FENCE, 79, 1, 199);
    no_wait(1, 300);
    expect_wait(2, 300, RFN_WAIT_AT_FENCE, 1, 1, 199);
    expect_wait(3, 300, RFN_WAIT_AT_FENCE, 2, 1, 199);
}

/* With nothing before it, a fence need not wait for anyone; if it did, it counts. */
static void test_fence_without_precedents(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, FENCE, NO_PRECEDE, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(0, 105);
    ENTER(1, 120, FENCE, NO_PRECEDE, 0);
    ENTER(2, 130, FENCE, NO_PRECEDE, 0);
    ENTER(3, 180, FENCE, NO_PRECEDE, 0);
    no_wait(1, 170);
    expect_wait(2, 190, RFN_WAIT_AT_FENCE, 50, 3, 180);
    no_wait(3, 190);
}

/* MPICH has other numbers: what is NO_PRECEDE elsewhere says nothing there. */
static void test_assertions_of_mpich(void **state)
{
    fake.run.flavour = "mpich";
    tear_down(state);
    open_archive();
    make_windows(0);
    ENTER(0, 100, FENCE, NO_PRECEDE, 0);
    assert_false(rfn_one_sided_ready(os, 0));
    ENTER(1, 100, FENCE, 8192 + 16384, 0);
    assert_true(rfn_one_sided_ready(os, 1));
}

/* Two windows of the same ranks are two; on one, the slots differ between ranks. */
static void test_two_windows(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 0, WIN_CREATE, 0, 8, 1, -1, WORLD, rank);
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 0, WIN_CREATE, 0, 8, 1, -1, WORLD, 10 + rank);
    for (uint32_t rank = 0; rank < 3; rank++)
        ENTER(rank, 100, FENCE, 0, rank);
    ENTER(3, 150, FENCE, 0, 13);
    assert_false(rfn_one_sided_ready(os, 0));
    assert_false(rfn_one_sided_ready(os, 3));
    no_wait(3, 160);
    ENTER(3, 170, FENCE, 0, 3);
    expect_wait(0, 180, RFN_WAIT_AT_FENCE, 70, 3, 170);
}

/* Windows on parts of the ranks: only their members wait for each other. */
static void test_window_of_some(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 0, WIN_CREATE, 0, 8, 1, -1, rank % 2 ? ODD : EVEN, 0);
    ENTER(1, 100, FENCE, 0, 0);
    ENTER(0, 110, FENCE, 0, 0);
    ENTER(3, 140, FENCE, 0, 0);
    assert_true(rfn_one_sided_ready(os, 1));
    assert_false(rfn_one_sided_ready(os, 0));
    expect_wait(1, 150, RFN_WAIT_AT_FENCE, 40, 3, 140);
    ENTER(2, 160, FENCE, 0, 0);
    expect_wait(0, 170, RFN_WAIT_AT_FENCE, 50, 2, 160);
}

/* A slot is another window after the first was freed, while another rank still has that one. */
static void test_window_slot_reused(void **state)
{
    (void)state;
    make_windows(0);
    for (uint32_t rank = 0; rank < 3; rank++)
        ENTER(rank, 10, WIN_FREE, 0);
    for (uint32_t rank = 0; rank < 3; rank++)
        ENTER(rank, 20, WIN_CREATE, 0, 8, 1, -1, WORLD, 0);
    ENTER(0, 100, FENCE, 0, 0);
    ENTER(3, 30, WIN_FREE, 0);
    ENTER(3, 40, WIN_CREATE, 0, 8, 1, -1, WORLD, 7);
    ENTER(1, 100, FENCE, 0, 0);
    ENTER(2, 100, FENCE, 0, 0);
    ENTER(3, 200, FENCE, 0, 7);
    expect_wait(0, 210, RFN_WAIT_AT_FENCE, 100, 3, 200);
    ENTER(3, 300, FENCE, 0, 0); /* freed */
    no_wait(3, 310);
}

/* Alone on MPI_COMM_SELF nobody waits. */
static void test_window_of_self(void **state)
{
    (void)state;
    ENTER(0, 0, WIN_CREATE, 0, 8, 1, -1, SELF, 0);
    ENTER(1, 0, WIN_CREATE, 0, 8, 1, -1, SELF, 0);
    ENTER(0, 100, FENCE, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    ENTER(1, 150, FENCE, 0, 0);
    no_wait(0, 200);
    no_wait(1, 200);
    ENTER(0, 300, WIN_FREE, 0);
    ENTER(1, 300, WIN_FREE, 0);
}

/* A rank that stops coming: the others' fences do not pile up without end, and it still waits right
 * when it comes to one of the last. */
static void test_fences_of_missing_rank(void **state)
{
    (void)state;
    make_windows(0);
    for (int64_t i = 0; i < 5000; i++) {
        for (uint32_t rank = 0; rank < 3; rank++)
            ENTER(rank, 1000 + i * 100 + rank, FENCE, 0, 0);
        assert_false(rfn_one_sided_ready(os, 0));
        expect_wait(0, 1000 + i * 100 + 10, RFN_WAIT_AT_FENCE, 2, 2, 1000 + i * 100 + 2);
        leave(1, 1000 + i * 100 + 11);
        leave(2, 1000 + i * 100 + 12);
    }
    for (int64_t i = 0; i < 5000; i++) {
        ENTER(3, 900, FENCE, 0, 0);
        struct rfn_wait wait = leave(3, 1000 + i * 100 + 50);
        assert_int_equal(wait.ns, i < 5000 - 1024 ? 0 : 102 + i * 100);
    }
}

/* ---- posts and starts ---- */

/* Whichever call blocks has waited: here Win_start, there Put, there Win_complete. */
static void late_post(int blocks)
{
    make_windows(0);
    make_group(0, 5, LIST(1, 2));
    make_group(1, 5, LIST(0));
    make_group(2, 5, LIST(0));
    ENTER(1, 90, WIN_POST, 5, 0, 0);
    no_wait(1, 91);
    ENTER(0, 100, WIN_START, 5, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    if (blocks > 0)
        no_wait(0, 101);
    if (blocks > 0)
        ENTER(0, 110, PUT, 0, 1, 1, 2, 0);
    if (blocks > 1)
        no_wait(0, 111);
    if (blocks > 1)
        ENTER(0, 120, WIN_COMPLETE, 0);
    if (blocks > 1)
        assert_false(rfn_one_sided_ready(os, 0));
    ENTER(2, 300, WIN_POST, 5, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    expect_wait(0, 310, RFN_LATE_POST, 200 - blocks * 10, 2, 300);
    no_wait(2, 320);
    if (blocks < 1) {
        ENTER(0, 330, GET, 0, 1, 1, 1, 0);
        no_wait(0, 340);
    }
    if (blocks < 2) {
        ENTER(0, 350, WIN_COMPLETE, 0);
        no_wait(0, 360);
    }
}

static void test_late_post_start(void **state)
{
    (void)state;
    late_post(0);
}

static void test_late_post_put(void **state)
{
    (void)state;
    late_post(1);
}

static void test_late_post_complete(void **state)
{
    (void)state;
    late_post(2);
}

/* Put waits for the rank it goes to and no other. */
static void test_put_to_other(void **state)
{
    (void)state;
    make_windows(0);
    make_group(0, 5, LIST(1, 2));
    make_group(1, 5, LIST(0));
    make_group(2, 5, LIST(0));
    ENTER(1, 90, WIN_POST, 5, 0, 0);
    ENTER(0, 100, WIN_START, 5, 0, 0);
    no_wait(0, 101);
    ENTER(0, 110, PUT, 0, 1, 1, 1, 0);
    ENTER(2, 120, WIN_POST, 5, 0, 0);
    no_wait(0, 130);
    ENTER(0, 140, PUT, 0, 1, 1, 3, 0); /* not in the group */
    no_wait(0, 150);
}

/* The post came after Win_complete had left: it had not waited. */
static void test_post_too_late(void **state)
{
    (void)state;
    make_windows(0);
    make_group(0, 5, LIST(1));
    make_group(1, 5, LIST(0));
    ENTER(0, 100, WIN_START, 5, 0, 0);
    no_wait(0, 110);
    ENTER(0, 120, WIN_COMPLETE, 0);
    assert_false(rfn_one_sided_ready(os, 0));
    ENTER(1, 200, WIN_POST, 5, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(0, 130);
    no_wait(1, 210);
    ENTER(1, 220, WIN_WAIT, 0);
    no_wait(1, 230);
}

static void test_early_wait(void **state)
{
    (void)state;
    make_windows(0);
    make_group(0, 5, LIST(1, 2));
    make_group(1, 5, LIST(0));
    make_group(2, 5, LIST(0));
    ENTER(0, 90, WIN_POST, 5, 0, 0);
    no_wait(0, 95);
    ENTER(1, 92, WIN_START, 5, 0, 0);
    no_wait(1, 96);
    ENTER(2, 93, WIN_START, 5, 0, 0);
    no_wait(2, 97);
    ENTER(0, 100, WIN_WAIT, 0);
    ENTER(2, 150, WIN_COMPLETE, 0);
    assert_false(rfn_one_sided_ready(os, 0));
    ENTER(1, 140, WIN_COMPLETE, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(1, 160);
    no_wait(2, 161);
    expect_wait(0, 170, RFN_LATE_COMPLETE, 50, 2, 150);
    ENTER(0, 180, WIN_WAIT, 0); /* no epoch */
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(0, 190);
}

/* Polls that fail wait for nobody, the one that succeeds may have waited. */
static void test_win_test(void **state)
{
    (void)state;
    make_windows(0);
    make_group(0, 5, LIST(1));
    make_group(1, 5, LIST(0));
    ENTER(0, 90, WIN_POST, 5, 0, 0);
    no_wait(0, 95);
    ENTER(1, 92, WIN_START, 5, 0, 0);
    no_wait(1, 96);
    struct rfn_record *polls = EVENT(0, WIN_TEST, 0, 100, 180, 0);
    polls->failed_poll = true;
    show_enter(0, 0, polls);
    ENTER(1, 120, WIN_COMPLETE, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(0, 180);
    ENTER(0, 110, WIN_TEST, 0);
    expect_wait(0, 190, RFN_LATE_COMPLETE, 10, 1, 120);
}

/* Two epochs in a row with an origin that is an epoch behind, on two windows at once. */
static void test_epochs_in_a_row(void **state)
{
    (void)state;
    make_windows(0);
    make_windows(1);
    make_group(0, 5, LIST(1));
    make_group(1, 5, LIST(0));
    for (int64_t win = 0; win < 2; win++) {
        ENTER(1, 100 + win, WIN_POST, 5, 0, win);
        no_wait(1, 110);
        ENTER(0, 120 + win, WIN_START, 5, 0, win);
        no_wait(0, 125);
    }
    ENTER(1, 130, WIN_WAIT, 1);
    ENTER(0, 140, WIN_COMPLETE, 0);
    no_wait(0, 145);
    assert_false(rfn_one_sided_ready(os, 1));
    ENTER(0, 150, WIN_COMPLETE, 1);
    no_wait(0, 155);
    expect_wait(1, 160, RFN_LATE_COMPLETE, 20, 0, 150);
    ENTER(0, 161, WIN_START, 5, 0, 0);
    ENTER(1, 163, WIN_WAIT, 0);
    no_wait(1, 164);
    ENTER(1, 200, WIN_POST, 5, 0, 0);
    expect_wait(0, 210, RFN_LATE_POST, 39, 1, 200);
}

/* A rank is in a post and a start at once: exposing itself to one, accessing another. */
static void test_ring(void **state)
{
    (void)state;
    make_windows(0);
    for (uint32_t rank = 0; rank < 4; rank++) {
        make_group(rank, 5, LIST((rank + 1) % 4));
        make_group(rank, 6, LIST((rank + 3) % 4));
        ENTER(rank, 100 + 10 * rank, WIN_POST, 6, 0, 0);
        no_wait(rank, 101 + 10 * rank);
        fake.n_lists = 0;
    }
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 102 + 10 * rank, WIN_START, 5, 0, 0);
    for (uint32_t rank = 0; rank < 3; rank++)
        expect_wait(rank, 200, RFN_LATE_POST, 8, rank + 1, 110 + 10 * rank);
    no_wait(3, 200);
    for (uint32_t rank = 0; rank < 4; rank++) {
        ENTER(rank, 300 + 10 * rank, WIN_COMPLETE, 0);
        no_wait(rank, 305 + 10 * rank);
    }
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 307 + 10 * (rank % 4), WIN_WAIT, 0);
    expect_wait(0, 400, RFN_LATE_COMPLETE, 23, 3, 330);
    for (uint32_t rank = 1; rank < 4; rank++)
        no_wait(rank, 400);
}

/* With a group that nobody knows the counts are lost: rather no wait than a wrong one. */
static void test_unknown_group(void **state)
{
    (void)state;
    make_windows(0);
    make_group(0, 5, LIST(1));
    make_group(1, 5, LIST(0));
    ENTER(1, 90, WIN_POST, 17, 0, 0);
    no_wait(1, 95);
    ENTER(0, 100, WIN_START, 5, 0, 0);
    ENTER(1, 150, WIN_POST, 5, 0, 0);
    no_wait(0, 160);
    ENTER(0, 170, WIN_COMPLETE, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(0, 180);
    ENTER(1, 190, WIN_WAIT, 0);
    assert_true(rfn_one_sided_ready(os, 1));
    no_wait(1, 200);
}

/* Posts whose origin never comes are kept only so long. */
static void test_posts_of_missing_origin(void **state)
{
    (void)state;
    make_windows(0);
    make_group(0, 5, LIST(1));
    make_group(1, 5, LIST(0));
    for (int64_t i = 0; i < 5000; i++) {
        ENTER(1, 1000 + i * 10, WIN_POST, 5, 0, 0);
        no_wait(1, 1001 + i * 10);
        ENTER(1, 1002 + i * 10, WIN_WAIT, 0);
        assert_false(rfn_one_sided_ready(os, 1));
        no_wait(1, 1003 + i * 10);
    }
    ENTER(0, 100, WIN_START, 5, 0, 0);
    no_wait(0, 99999);
}

/* ---- locks ---- */

static void test_lock_contention(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(0, 105);
    ENTER(1, 120, LOCK, EXCLUSIVE, 3, 0, 0);
    ENTER(0, 190, UNLOCK, 3, 0);
    no_wait(0, 200);
    expect_wait(1, 205, RFN_LOCK_CONTENTION, 80, 0, 200);
    ENTER(1, 210, PUT, 0, 1, 1, 3, 0);
    no_wait(1, 220);
    ENTER(1, 230, UNLOCK, 3, 0);
    no_wait(1, 240);
}

/* Where the lock is asked for late, another call waits for it. */
static void test_contention_in_unlock(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, LOCK, SHARED, 3, 0, 0);
    no_wait(0, 105);
    ENTER(1, 120, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(1, 121);
    ENTER(1, 130, PUT, 0, 1, 1, 3, 0);
    no_wait(1, 131);
    ENTER(1, 140, FLUSH, 3, 0);
    ENTER(0, 190, UNLOCK, 3, 0);
    no_wait(0, 200);
    expect_wait(1, 205, RFN_LOCK_CONTENTION, 60, 0, 200);
}

/* The lock passes on before the holder's unlock returns: the wait ends where that begins. Not so if
 * the holder may have got the lock only after. */
static void test_unlock_that_ends_later(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(0, 105);
    ENTER(1, 120, LOCK, EXCLUSIVE, 3, 0, 0);
    ENTER(0, 190, UNLOCK, 3, 0);
    expect_wait(1, 195, RFN_LOCK_CONTENTION, 70, 0, 190);
    ENTER(2, 180, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(0, 198);
    expect_wait(2, 199, RFN_LOCK_CONTENTION, 18, 0, 198); /* but takes the lock later */
    ENTER(1, 200, UNLOCK, 3, 0);
    ENTER(2, 202, UNLOCK, 3, 0);
    no_wait(1, 210);
    expect_wait(2, 212, RFN_LOCK_CONTENTION, 8, 1, 210);
}

/* The last of several that held the lock; shared locks do not exclude each other. */
static void test_several_holders(void **state)
{
    (void)state;
    make_windows(0);
    for (uint32_t rank = 0; rank < 3; rank++) {
        ENTER(rank, 100 + rank, LOCK, SHARED, 3, 0, 0);
        no_wait(rank, 110 + rank);
    }
    ENTER(3, 120, LOCK, EXCLUSIVE, 3, 0, 0);
    ENTER(1, 130, UNLOCK, 3, 0);
    no_wait(1, 140);
    ENTER(0, 150, UNLOCK, 3, 0);
    ENTER(2, 141, PUT, 0, 1, 1, 3, 0);
    no_wait(2, 155);
    no_wait(0, 160);
    ENTER(2, 161, UNLOCK, 3, 0);
    no_wait(2, 170);
    ENTER(0, 162, LOCK, EXCLUSIVE, 2, 0, 0); /* of another target */
    no_wait(0, 171);
    expect_wait(3, 175, RFN_LOCK_CONTENTION, 50, 2, 170);
}

/* Locks of all targets are shared: they wait for exclusive ones of any, and the other way round. */
static void test_lock_all(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, LOCK, EXCLUSIVE, 2, 0, 0);
    no_wait(0, 101);
    ENTER(1, 110, LOCK_ALL, 0, 0);
    ENTER(3, 120, LOCK_ALL, 0, 0);
    no_wait(3, 125);
    ENTER(3, 130, PUT, 0, 1, 1, 1, 0);
    ENTER(0, 140, UNLOCK, 2, 0);
    no_wait(0, 150);
    expect_wait(1, 151, RFN_LOCK_CONTENTION, 40, 0, 150);
    no_wait(3, 152); /* rank 0 held another target */
    ENTER(3, 153, FLUSH_ALL, 0);
    no_wait(3, 154);
    ENTER(0, 160, LOCK, EXCLUSIVE, 1, 0, 0);
    ENTER(1, 170, UNLOCK_ALL, 0);
    no_wait(1, 180);
    ENTER(3, 175, UNLOCK_ALL, 0);
    no_wait(3, 190);
    expect_wait(0, 195, RFN_LOCK_CONTENTION, 30, 3, 190);
}

/* Who says that nothing conflicts neither waits nor is waited for. */
static void test_no_check(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, LOCK, EXCLUSIVE, 3, NO_CHECK, 0);
    no_wait(0, 101);
    ENTER(1, 110, LOCK, EXCLUSIVE, 3, 0, 0);
    ENTER(2, 111, LOCK, EXCLUSIVE, 3, NO_CHECK, 0);
    ENTER(0, 120, UNLOCK, 3, 0);
    no_wait(0, 130);
    no_wait(1, 140);
    ENTER(1, 141, UNLOCK, 3, 0);
    no_wait(1, 142);
    no_wait(2, 150);
}

static void test_locks_of_mpich(void **state)
{
    fake.run.flavour = "mpich";
    tear_down(state);
    open_archive();
    make_windows(0);
    ENTER(0, 100, LOCK, 235, 3, 0, 0);
    no_wait(0, 101);
    ENTER(1, 110, LOCK, 235, 3, 0, 0);
    ENTER(2, 110, LOCK, 234, 3, 0, 0);
    ENTER(0, 120, UNLOCK, 3, 0);
    no_wait(0, 130);
    no_wait(1, 140);
    expect_wait(2, 150, RFN_LOCK_CONTENTION, 20, 0, 130);
}

/* More ranks unlock than are remembered: the last still counts, and never the own one. */
static void test_many_unlocks(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(3, 60, LOCK, EXCLUSIVE, 3, 0, 0);
    for (int64_t i = 0; i < 20; i++) {
        uint32_t rank = (uint32_t)i % 3;
        ENTER(rank, 100 + i * 10, LOCK, SHARED, 3, 0, 0);
        no_wait(rank, 101 + i * 10);
        ENTER(rank, 102 + i * 10, UNLOCK, 3, 0);
        no_wait(rank, 105 + i * 10);
    }
    expect_wait(3, 400, RFN_LOCK_CONTENTION, 235, 1, 295);
    ENTER(3, 410, UNLOCK, 3, 0);
    no_wait(3, 420);
    ENTER(3, 415, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(3, 430);
}

/* The next rank has come and gone while an unlock still returns: nobody waited for that one. */
static void test_slow_unlock(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(0, 100, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(0, 105);
    ENTER(1, 120, LOCK, EXCLUSIVE, 3, 0, 0);
    ENTER(0, 190, UNLOCK, 3, 0);
    expect_wait(1, 195, RFN_LOCK_CONTENTION, 70, 0, 190);
    ENTER(1, 200, UNLOCK, 3, 0);
    no_wait(1, 210);
    no_wait(0, 230);
}

/* Two threads of a rank are in calls on two targets at once. */
static void test_threads(void **state)
{
    (void)state;
    make_windows(0);
    ENTER(1, 100, LOCK, EXCLUSIVE, 2, 0, 0);
    no_wait(1, 101);
    ENTER(2, 100, LOCK, EXCLUSIVE, 3, 0, 0);
    no_wait(2, 101);
    ENTER(0, 110, LOCK, EXCLUSIVE, 2, 0, 0);
    ENTER_THREAD(4, 0, 120, LOCK, EXCLUSIVE, 3, 0, 0);
    ENTER(1, 130, UNLOCK, 2, 0);
    no_wait(1, 140);
    expect_wait(0, 145, RFN_LOCK_CONTENTION, 30, 1, 140);
    ENTER(2, 150, UNLOCK, 3, 0);
    no_wait(2, 160);
    expect_wait(4, 165, RFN_LOCK_CONTENTION, 40, 2, 160);
}

/* ---- what should not be ---- */

static void test_garbage(void **state)
{
    (void)state;
    static const int64_t odd[] = {-1, -5, 1, 99, INT64_MAX, INT64_MIN, (int64_t)1 << 32};
    make_windows(0);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        ENTER(0, 100, FENCE, INT64_MAX, odd[i]);
        no_wait(0, 200);
        ENTER(0, 100, WIN_START, odd[i], 0, odd[i]);
        no_wait(0, 200);
        ENTER(0, 100, WIN_COMPLETE, odd[i]);
        no_wait(0, 200);
        ENTER(0, 100, WIN_WAIT, odd[i]);
        no_wait(0, 200);
        ENTER(0, 100, WIN_FREE, odd[i]);
        no_wait(0, 200);
        ENTER(0, 100, UNLOCK_ALL, odd[i]);
        no_wait(0, 200);
        ENTER(0, 100, LOCK, odd[i], odd[i], odd[i], 0);
        no_wait(0, 200);
        ENTER(0, 100, UNLOCK, odd[i], 0);
        no_wait(0, 200);
        ENTER(0, 100, PUT, 0, odd[i], odd[i], odd[i], 0);
        no_wait(0, 200);
        ENTER(0, 100, WIN_CREATE, 0, 8, 1, -1, odd[i], 50);
        no_wait(0, 200);
        ENTER(0, 100, WIN_CREATE, 0, 8, 1, -1, BETWEEN, 51);
        no_wait(0, 200);
        ENTER(0, 100, WIN_CREATE, 0, 8, 1, -1, ODD, 52); /* it is no member */
        no_wait(0, 200);
    }
    ENTER(0, 100, FENCE, 0, 52);
    assert_true(rfn_one_sided_ready(os, 0));
    no_wait(0, 200);
    ENTER(0, 100, FLUSH, 1, 0); /* in no epoch */
    no_wait(0, 200);
    ENTER(0, 100, UNLOCK, 2, 0);
    no_wait(0, 200);
    ENTER(0, 100, BARRIER, WORLD);
    no_wait(0, 200);
}

static void test_streams_out_of_range(void **state)
{
    (void)state;
    make_windows(0);
    ENTER_THREAD(5, 0, 100, FENCE, 0, 0);
    assert_true(rfn_one_sided_ready(os, 5));
    no_wait(5, 200);
    no_wait(UINT32_MAX, 200);
    struct rfn_record *record = EVENT(0, FENCE, 0, 100, 100, 0, 0);
    struct rfn_cursor cursor = {.archive = &fake};
    const struct rfn_call_event event = rfn_call_event(&fake, &cursor, 77, record);
    assert_int_equal(rfn_one_sided_enter(os, &event, point(0, 100)), 0);
    no_wait(0, 200);
}

/* A call that failed did nothing; a call that never ended is over when the next begins. */
static void test_failed_and_unfinished(void **state)
{
    (void)state;
    make_windows(0);
    struct rfn_record *record = EVENT(0, FENCE, 0, 90, 95, 0, 0);
    record->error = 17;
    show_enter(0, 0, record);
    no_wait(0, 95);
    ENTER(0, 96, WIN_START, 3, 0, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 100 + rank, FENCE, 0, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 200, WIN_FREE, 0);
    no_wait(0, 300);
}

/* Windows that only some ranks have: processes that are in no archive are not waited for. */
static void test_members_elsewhere(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 0, WIN_CREATE, 0, 8, 1, -1, MANY, 0);
    for (uint32_t rank = 0; rank < 4; rank++)
        ENTER(rank, 100 + rank, FENCE, 0, 0);
    assert_true(rfn_one_sided_ready(os, 0));
    expect_wait(0, 200, RFN_WAIT_AT_FENCE, 3, 3, 103);
    ENTER(0, 300, LOCK, EXCLUSIVE, 23, 0, 0);
    no_wait(0, 310);
}

/* Ranks that make and free windows over and over, one of them missing at the end. */
static void test_many_windows(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 300; i++) {
        for (uint32_t rank = 0; rank < (i < 200 ? 4u : 3u); rank++)
            ENTER(rank, i * 100, WIN_CREATE, 0, 8, 1, -1, WORLD, i % 3);
        for (uint32_t rank = 0; rank < 3; rank++)
            ENTER(rank, i * 100 + rank + 1, FENCE, 0, i % 3);
        if (i < 200)
            ENTER(3, i * 100 + 50, FENCE, 0, i % 3);
        expect_wait(0, i * 100 + 60, RFN_WAIT_AT_FENCE, i < 200 ? 49 : 2, i < 200 ? 3 : 2,
                    i * 100 + (i < 200 ? 50 : 3));
        for (uint32_t rank = 0; rank < (i < 200 ? 4u : 3u); rank++)
            ENTER(rank, i * 100 + 90, WIN_FREE, i % 3);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(concerns),
        TEST(fence),
        TEST(fences_follow),
        TEST(fence_without_precedents),
        TEST(assertions_of_mpich),
        TEST(two_windows),
        TEST(window_of_some),
        TEST(window_slot_reused),
        TEST(window_of_self),
        TEST(fences_of_missing_rank),
        TEST(late_post_start),
        TEST(late_post_put),
        TEST(late_post_complete),
        TEST(put_to_other),
        TEST(post_too_late),
        TEST(early_wait),
        TEST(win_test),
        TEST(epochs_in_a_row),
        TEST(ring),
        TEST(unknown_group),
        TEST(posts_of_missing_origin),
        TEST(lock_contention),
        TEST(contention_in_unlock),
        TEST(unlock_that_ends_later),
        TEST(several_holders),
        TEST(lock_all),
        TEST(no_check),
        TEST(locks_of_mpich),
        TEST(many_unlocks),
        TEST(slow_unlock),
        TEST(threads),
        TEST(garbage),
        TEST(streams_out_of_range),
        TEST(failed_and_unfinished),
        TEST(members_elsewhere),
        TEST(many_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
