/* What completion calls complete, for every form of request and of completion call. */
#include "refrain/completion.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, DOUBLE = 1, WORLD = 0, ASKED = RFN_AS_POSTED };
#define RECENT(distance)        ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)              ((slot)*4 + RFN_REQUEST_SLOT)
#define FOREIGN(stream, number) rfn_foreign_request(stream, number)

static struct rfn_volumes *volumes;
static struct rfn_tracker *tracker;
static struct rfn_request_effects effects;
static struct rfn_cursor cursor;

static int setup(void **state)
{
    (void)state;
    fake_reset();
    volumes = rfn_volumes_new(&fake);
    tracker = rfn_tracker_new(&fake);
    cursor = (struct rfn_cursor){.archive = &fake};
    return volumes && tracker ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    rfn_tracker_free(tracker);
    rfn_volumes_free(volumes);
    return 0;
}

/* Shows the tracker the events that have been written since the last time; effects are the last
 * one's. */
static void run(void)
{
    const struct rfn_record *record = NULL;
    while (rfn_cursor_next(&cursor, &record, NULL) > 0) {
        struct rfn_volume volume = rfn_volume_of(volumes, &cursor, 0, record);
        assert_int_equal(
            rfn_tracker_event(tracker, cursor.stream, &cursor, record, &volume, false, &effects),
            0);
    }
}

static void expect_receive(size_t i, uint32_t position, int64_t source, int64_t tag, int64_t bytes)
{
    assert_true(i < effects.n_completed);
    const struct rfn_completed *completed = &effects.completed[i];
    assert_true(completed->known);
    assert_true(completed->origin->receives);
    assert_int_equal(completed->position, position);
    assert_int_equal(completed->origin->volume->source, source);
    assert_int_equal(completed->origin->volume->tag, tag);
    assert_int_equal(completed->origin->volume->received_bytes, bytes);
}

static void irecv(int64_t source, int64_t tag, int64_t count)
{
    EVENT(0, IRECV, 0, 0, 1, PLAIN, count, DOUBLE, source, tag, WORLD);
}

static void isend(int64_t dest)
{
    EVENT(0, ISEND, 0, 0, 1, PLAIN, 1, DOUBLE, dest, 9, WORLD);
}

static void test_wait(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    isend(2);
    irecv(RFN_ANY, RFN_ANY, 10);
    EVENT(0, WAIT, 0, 0, 1, RECENT(3), 0);
    run();
    assert_int_equal(effects.n_completed, 1);
    expect_receive(0, 0, 1, 7, 80); /* as posted */
    EVENT(0, WAIT, 0, 0, 1, RECENT(1), LIST(0, 3, 5, 16, 0, 0));
    run();
    expect_receive(0, 0, 3, 5, 16);
    EVENT(0, WAIT, 0, 0, 1, RECENT(2), 0);
    run();
    assert_int_equal(effects.n_completed, 1);
    assert_false(effects.completed[0].origin->receives);
    assert_int_equal(rfn_tracker_created(tracker, 0), 3);
    EVENT(0, WAIT, 0, 0, 1, RECENT(2), 0); /* has completed already */
    run();
    assert_false(effects.completed[0].known);
}

static void test_null_and_foreign(void **state)
{
    (void)state;
    EVENT(0, WAIT, 0, 0, 1, RFN_REQUEST_NULL, 0);
    run();
    assert_int_equal(effects.n_completed, 0);
    EVENT(0, WAIT, 0, 0, 1, 4 * 3 + RFN_REQUEST_FOREIGN, 0);
    run();
    assert_int_equal(effects.n_completed, 1);
    assert_false(effects.completed[0].known);
    EVENT(0, WAIT, 0, 0, 1, RECENT(1), 0); /* a distance beyond the beginning */
    run();
    assert_false(effects.completed[0].known);
}

static void test_waitall(void **state)
{
    (void)state;
    irecv(1, 7, 1);
    isend(1);
    irecv(2, RFN_ANY, 1);
    int64_t requests = LIST(RECENT(3), RFN_REQUEST_NULL, RECENT(2), RECENT(1));
    EVENT(0, WAITALL, 0, 0, 1, 4, requests,
          LIST(0, ASKED, ASKED, 4, 0, 0, 3, ASKED, 8, ASKED, 0, 0));
    run();
    assert_int_equal(effects.n_completed, 3);
    expect_receive(0, 0, 1, 7, 4);
    assert_int_equal(effects.completed[1].position, 2);
    assert_false(effects.completed[1].origin->receives);
    expect_receive(2, 3, 2, 8, 8);
}

static void test_any_and_some(void **state)
{
    (void)state;
    irecv(0, 0, 1);
    irecv(1, 1, 1);
    irecv(2, 2, 1);
    int64_t requests = LIST(RECENT(3), RECENT(2), RECENT(1));
    EVENT(0, WAITANY, 0, 0, 1, 3, requests, 1, 0);
    run();
    assert_int_equal(effects.n_completed, 1);
    expect_receive(0, 1, 1, 1, 8);
    EVENT(0, WAITSOME, 0, 0, 1, 3, LIST(RECENT(3), RFN_REQUEST_NULL, RECENT(1)), LIST(2, 0),
          LIST(0, ASKED, ASKED, 5, 0, 0, 2, ASKED, ASKED, 6, 0, 0));
    run();
    assert_int_equal(effects.n_completed, 2);
    expect_receive(0, 2, 2, 2, 6); /* in returned order */
    expect_receive(1, 0, 0, 0, 5);
    EVENT(0, WAITANY, 0, 0, 1, 3, requests, RFN_UNDEFINED, 0);
    run();
    assert_int_equal(effects.n_completed, 0);
    EVENT(0, WAITSOME, 0, 0, 1, 3, requests, RFN_LIST_ABSENT, 0);
    run();
    assert_int_equal(effects.n_completed, 0);
}

static void test_polls(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    struct rfn_record *poll = EVENT(0, TEST, 0, 0, 1, RECENT(1), RFN_UNKNOWN);
    poll->failed_poll = true;
    poll->polls = 100;
    run();
    assert_int_equal(effects.n_completed, 0);
    EVENT(0, TEST, 0, 0, 1, RECENT(1), 0);
    run();
    expect_receive(0, 0, 1, 7, 80);
}

static void test_cancelled_and_freed(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    EVENT(0, WAIT, 0, 0, 1, RECENT(1),
          LIST(0, ASKED, ASKED, RFN_UNKNOWN, 0, RFN_COMPLETION_CANCELLED));
    run();
    assert_true(effects.completed[0].cancelled);
    irecv(1, 7, 10);
    EVENT(0, REQUEST_FREE, 0, 0, 1, RECENT(1));
    EVENT(0, WAIT, 0, 0, 1, RECENT(1), 0);
    run();
    assert_false(effects.completed[0].known);
    /* A call that failed has made no request. */
    irecv(1, 1, 1);
    EVENT(0, ISEND, 0, 0, 1, PLAIN, 1, DOUBLE, 77, 9, WORLD)->error = 6;
    EVENT(0, WAIT, 0, 0, 1, RECENT(1), 0);
    run();
    expect_receive(0, 0, 1, 1, 8);
}

/* Waitall failed because of its second request, before the first and the third had completed. */
static void test_pending(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    irecv(1, 8, 10);
    irecv(1, 9, 10);
    EVENT(0, WAITALL, 0, 0, 1, 3, LIST(RECENT(3), RECENT(2), RECENT(1)),
          LIST(0, ASKED, ASKED, ASKED, 0, RFN_COMPLETION_PENDING, 1, ASKED, ASKED, ASKED, 15, 0, 2,
               ASKED, ASKED, ASKED, 0, RFN_COMPLETION_PENDING));
    run();
    assert_int_equal(effects.n_completed, 1);
    assert_int_equal(effects.completed[0].position, 1);
    assert_int_equal(effects.completed[0].error, 15);
    EVENT(0, WAIT, 0, 0, 1, RECENT(3), 0);
    run();
    expect_receive(0, 0, 1, 7, 80);
}

static void test_persistent(void **state)
{
    (void)state;
    EVENT(0, RECV_INIT, 0, 0, 1, PLAIN, 3, DOUBLE, 1, 4, WORLD, SLOT(0));
    EVENT(0, SEND_INIT, 0, 0, 1, PLAIN, 2, DOUBLE, 1, 4, WORLD, SLOT(1));
    int64_t both = LIST(SLOT(0), SLOT(1));
    EVENT(0, WAITALL, 0, 0, 1, 2, both, 0); /* inactive requests complete without a word */
    run();
    assert_int_equal(effects.n_completed, 0);
    for (int i = 0; i < 3; i++) {
        EVENT(0, STARTALL, 0, 0, 1, 2, both);
        run();
        assert_int_equal(effects.n_started, 2);
        assert_int_equal(effects.started[1]->volume->sent_bytes, 16);
        EVENT(0, WAITALL, 0, 0, 1, 2, both, 0);
        run();
        assert_int_equal(effects.n_completed, 2);
        expect_receive(0, 0, 1, 4, 24);
    }
    assert_int_equal(rfn_tracker_created(tracker, 0), 0);
    EVENT(0, REQUEST_FREE, 0, 0, 1, SLOT(0));
    EVENT(0, START, 0, 0, 1, SLOT(0));
    run();
    assert_int_equal(effects.n_started, 0);
}

static void test_collective(void **state)
{
    (void)state;
    EVENT(0, IBARRIER, 0, 0, 1, WORLD);
    irecv(1, 7, 1);
    EVENT(0, WAITALL, 0, 0, 1, 2, LIST(RECENT(2), RECENT(1)), 0);
    run();
    assert_int_equal(effects.n_completed, 2);
    assert_int_equal(effects.completed[0].origin->function, FAKE_IBARRIER);
    expect_receive(1, 1, 1, 7, 8);
}

/* Many requests that are open for a long time and complete out of order. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 100000, OPEN = 1000 };
    struct rfn_volume volume = {
        .sent_bytes = -1, .received_bytes = 8, .dest = RFN_UNKNOWN, .dest_world = -1, .source = 1};
    for (int64_t i = 0; i < N + OPEN; i++) {
        int64_t word = RECENT((i * 7919) % 3 == 0 ? OPEN : 1), none = 0;
        struct rfn_record make = {.symbol = (uint32_t)i, .function = FAKE_IRECV};
        struct rfn_record wait = {.function = FAKE_WAIT, .in = &word, .out = &none};
        assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &make, &volume, false, &effects),
                         0);
        if (i < OPEN)
            continue;
        uint64_t number = rfn_tracker_created(tracker, 0) - (uint64_t)(word >> 2);
        assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &wait, &volume, false, &effects),
                         0);
        assert_int_equal(effects.n_completed, 1);
        if (effects.completed[0].known)
            assert_int_equal(effects.completed[0].origin->symbol, number);
    }
}

/* ---- several threads: the streams of the fake archive as threads of one process ---- */

static struct rfn_cursor threads[FAKE_RANKS];

/* Shows the tracker what has been written for this thread since the last time. */
static void run_thread(uint32_t thread)
{
    threads[thread].archive = &fake;
    threads[thread].stream = thread;
    cursor = threads[thread];
    run();
    threads[thread] = cursor;
}

static int setup_threads(void **state)
{
    memset(threads, 0, sizeof threads);
    return setup(state);
}

static void irecv_by(uint32_t thread, int64_t source, int64_t tag)
{
    EVENT(thread, IRECV, 0, 0, 1, PLAIN, 1, DOUBLE, source, tag, WORLD);
}

static void test_foreign_completion(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 3; i++)
        irecv_by(0, 1, 10 + i);
    irecv_by(1, 2, 20);
    run_thread(0);
    run_thread(1);
    assert_int_equal(rfn_tracker_created(tracker, 0), 3);
    assert_int_equal(rfn_tracker_created(tracker, 1), 1);
    assert_int_equal(rfn_tracker_created(tracker, 2), 0);
    /* Thread 1 completes its own and two of thread 0, thread 2 the third. */
    EVENT(1, WAITALL, 0, 0, 1, 3, LIST(FOREIGN(0, 2), RECENT(1), FOREIGN(0, 0)),
          LIST(2, 3, ASKED, 4, 0, 0));
    run_thread(1);
    assert_int_equal(effects.n_completed, 3);
    expect_receive(0, 0, 1, 12, 8);
    expect_receive(1, 1, 2, 20, 8);
    expect_receive(2, 2, 3, 10, 4);
    EVENT(2, WAIT, 0, 0, 1, FOREIGN(0, 1), 0);
    run_thread(2);
    expect_receive(0, 0, 1, 11, 8);
    /* They have ended for their own thread too. */
    EVENT(0, WAIT, 0, 0, 1, RECENT(1), 0);
    run_thread(0);
    assert_false(effects.completed[0].known);
}

/* A thread completes what the thread that made it is shown to make only later, or never. */
static void test_foreign_before_it_is_made(void **state)
{
    (void)state;
    EVENT(1, WAIT, 0, 0, 1, FOREIGN(0, 0), LIST(0, 1, 7, 8, 0, 0));
    EVENT(1, REQUEST_FREE, 0, 0, 1, FOREIGN(3, 5));
    run_thread(1);
    assert_null(effects.freed);
    irecv_by(0, 1, 7);
    run_thread(0);
    assert_int_equal(effects.created, 0);
    EVENT(1, WAIT, 0, 0, 1, RFN_UNKNOWN, 0);
    EVENT(1, WAIT, 0, 0, 1, INT64_MAX, 0);
    run_thread(1);
    assert_int_equal(effects.n_completed, 1);
    assert_false(effects.completed[0].known);
    rfn_tracker_reset(tracker);
    EVENT(1, WAIT, 0, 0, 1, FOREIGN(0, 0), LIST(0, 1, 7, 8, 0, 0));
    run_thread(1);
    assert_false(effects.completed[0].known);
    assert_true(effects.completed[0].origin->receives);
    assert_int_equal(effects.completed[0].origin->volume->received_bytes, 8);
}

/* One thread makes a persistent request, others start and complete it. */
static void test_persistent_over_threads(void **state)
{
    (void)state;
    EVENT(0, RECV_INIT, 0, 0, 1, PLAIN, 3, DOUBLE, 1, 4, WORLD, SLOT(0));
    run_thread(0);
    int64_t id = effects.created;
    EVENT(1, START, 0, 0, 1, SLOT(0));
    run_thread(1);
    assert_int_equal(effects.n_started, 1);
    assert_int_equal(effects.started[0]->id, id);
    EVENT(2, WAIT, 0, 0, 1, SLOT(0), 0);
    run_thread(2);
    expect_receive(0, 0, 1, 4, 24);
}

static void test_ids(void **state)
{
    (void)state;
    irecv_by(0, 1, 1); /* 0 */
    irecv_by(1, 1, 2); /* 1 */
    run_thread(0);
    assert_int_equal(effects.created, 0);
    run_thread(1);
    assert_int_equal(effects.created, 1);
    EVENT(0, SEND_INIT, 0, 0, 1, PLAIN, 2, DOUBLE, 1, 4, WORLD, SLOT(0));
    run_thread(0);
    assert_int_equal(effects.created, 2);
    EVENT(1, WAIT, 0, 0, 1, FOREIGN(0, 0), 0);
    run_thread(1);
    assert_int_equal(effects.completed[0].origin->id, 0);
    assert_int_equal(effects.created, -1);
    isend(2);
    run_thread(0);
    assert_int_equal(effects.created, 0); /* again */
    for (int i = 0; i < 2; i++) {
        EVENT(0, START, 0, 0, 1, SLOT(0));
        run_thread(0);
        assert_int_equal(effects.started[0]->id, 2);
        EVENT(0, WAIT, 0, 0, 1, SLOT(0), 0);
        run_thread(0);
        assert_int_equal(effects.completed[0].origin->id, 2);
    }
    EVENT(0, REQUEST_FREE, 0, 0, 1, SLOT(0));
    run_thread(0);
    assert_int_equal(effects.freed->id, 2);
    assert_int_equal(effects.freed->function, FAKE_SEND_INIT);
    EVENT(0, RECV_INIT, 0, 0, 1, PLAIN, 2, DOUBLE, 1, 4, WORLD, SLOT(7));
    run_thread(0);
    assert_int_equal(effects.created, 2);
    /* A slot made anew without having been freed. */
    EVENT(0, SEND_INIT, 0, 0, 1, PLAIN, 2, DOUBLE, 1, 4, WORLD, SLOT(7));
    run_thread(0);
    assert_int_equal(effects.created, 2);
}

static void test_freed_and_cancelled(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    isend(3);
    EVENT(0, CANCEL, 0, 0, 1, RECENT(2));
    run();
    assert_int_equal(effects.cancelled->id, 0);
    assert_int_equal(effects.cancelled->volume->tag, 7);
    assert_int_equal(effects.n_completed, 0);
    EVENT(0, REQUEST_FREE, 0, 0, 1, RECENT(1))->error = 5; /* not freed */
    run();
    assert_null(effects.freed);
    EVENT(0, REQUEST_FREE, 0, 0, 1, RECENT(1));
    run();
    assert_int_equal(effects.freed->id, 1);
    assert_int_equal(effects.freed->volume->dest, 3);
    assert_false(effects.given_up);
    EVENT(0, WAIT, 0, 0, 1, RECENT(2),
          LIST(0, ASKED, ASKED, RFN_UNKNOWN, 0, RFN_COMPLETION_CANCELLED));
    run();
    assert_true(effects.completed[0].cancelled);
    assert_null(effects.freed);
    EVENT(0, CANCEL, 0, 0, 1, RECENT(2)); /* no more */
    run();
    assert_null(effects.cancelled);
}

/* Whether what is freed was given up: only a receive that was asked to be cancelled. */
static void expect_freed(int64_t request, bool given_up)
{
    EVENT(0, REQUEST_FREE, 0, 0, 1, request);
    run();
    assert_non_null(effects.freed);
    assert_int_equal(effects.given_up, given_up);
}

static void test_given_up(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    EVENT(0, CANCEL, 0, 0, 1, RECENT(1));
    run();
    expect_freed(RECENT(1), true);
    irecv(1, 7, 10); /* with the same id */
    expect_freed(RECENT(1), false);
    isend(3);
    EVENT(0, CANCEL, 0, 0, 1, RECENT(1));
    run();
    expect_freed(RECENT(1), false);
    EVENT(0, RECV_INIT, 0, 0, 1, PLAIN, 4, DOUBLE, 1, 5, WORLD, SLOT(0));
    run();
    for (int i = 0; i < 2; i++) {
        EVENT(0, START, 0, 0, 1, SLOT(0));
        run();
        if (i > 0)
            break;
        EVENT(0, CANCEL, 0, 0, 1, SLOT(0));
        run();
        EVENT(0, WAIT, 0, 0, 1, SLOT(0),
              LIST(0, ASKED, ASKED, RFN_UNKNOWN, 0, RFN_COMPLETION_CANCELLED));
        run();
    }
    expect_freed(SLOT(0), false); /* it was the start before */
}

static void expect_ready(int64_t id, uint64_t partitions)
{
    run();
    assert_non_null(effects.ready);
    assert_int_equal(effects.ready->id, id);
    assert_int_equal(effects.partitions, partitions);
}

static void test_partitions(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    EVENT(0, PSEND_INIT, 0, 0, 1, PLAIN, 8, 2, DOUBLE, 1, 4, WORLD, SLOT(0));
    EVENT(0, START, 0, 0, 1, SLOT(0));
    EVENT(0, PREADY, 0, 0, 1, 3, SLOT(0));
    expect_ready(1, 1);
    EVENT(0, PREADY_RANGE, 0, 0, 1, 4, 7, SLOT(0));
    expect_ready(1, 4);
    EVENT(0, PREADY_LIST, 0, 0, 1, 3, LIST(0, 1, 2), SLOT(0));
    expect_ready(1, 3);
    EVENT(0, PREADY_RANGE, 0, 0, 1, 4, 3, SLOT(0)); /* of a broken file */
    expect_ready(1, 0);
    EVENT(0, PREADY_LIST, 0, 0, 1, -3, 0, SLOT(0));
    expect_ready(1, 0);
    EVENT(0, PARRIVED, 0, 0, 1, SLOT(0), 3);
    run();
    assert_null(effects.ready);
    EVENT(0, PREADY, 0, 0, 1, 3, SLOT(1));
    run();
    assert_null(effects.ready);
    assert_int_equal(effects.partitions, 0);
}

/* A slot that only a broken file names, and a request that a call names twice. */
static void test_broken(void **state)
{
    (void)state;
    int64_t far = SLOT((INT64_C(1) << 60) + 5);
    EVENT(0, RECV_INIT, 0, 0, 1, PLAIN, 3, DOUBLE, 1, 4, WORLD, far);
    EVENT(0, START, 0, 0, 1, far);
    EVENT(0, WAIT, 0, 0, 1, far, 0);
    run();
    expect_receive(0, 0, 1, 4, 24);
    irecv(1, 7, 1);
    EVENT(0, WAITALL, 0, 0, 1, 2, LIST(RECENT(1), RECENT(1)), 0);
    run();
    irecv(1, 8, 1);
    run();
    int64_t id = effects.created;
    irecv(1, 9, 1);
    run();
    assert_int_not_equal(effects.created, id);
}

/* One request stays open while a million others come and go: it is still known, and so is a
 * block of many that are open at once. */
static void test_one_stays_open(void **state)
{
    (void)state;
    enum { N = 1000000, BLOCK = 5000 };
    struct rfn_volume volume = {
        .sent_bytes = -1, .received_bytes = 8, .dest = RFN_UNKNOWN, .dest_world = -1, .source = 1};
    struct rfn_record make = {.symbol = 77, .function = FAKE_IRECV};
    int64_t word = RECENT(1), none = 0;
    struct rfn_record wait = {.function = FAKE_WAIT, .in = &word, .out = &none};
    assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &make, &volume, false, &effects), 0);
    for (uint32_t i = 0; i < N; i++) {
        make.symbol = i;
        assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &make, &volume, false, &effects),
                         0);
        assert_int_equal(effects.created, 1);
        assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &wait, &volume, false, &effects),
                         0);
        assert_int_equal(effects.completed[0].origin->symbol, i);
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        make.symbol = i;
        assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &make, &volume, false, &effects),
                         0);
        assert_int_equal(effects.created, i + 1);
    }
    for (uint32_t i = 0; i < BLOCK; i++) {
        word = RECENT(BLOCK - (int64_t)i);
        assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &wait, &volume, false, &effects),
                         0);
        assert_int_equal(effects.completed[0].origin->symbol, i);
    }
    word = RECENT(N + BLOCK + 1);
    assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &wait, &volume, false, &effects), 0);
    assert_true(effects.completed[0].known);
    assert_int_equal(effects.completed[0].origin->symbol, 77);
    assert_int_equal(effects.completed[0].origin->id, 0);
    assert_int_equal(rfn_tracker_event(tracker, 0, &cursor, &wait, &volume, false, &effects), 0);
    assert_false(effects.completed[0].known);
}

/* A second process; it knows nothing of the first one's requests. */
static void test_beside(void **state)
{
    (void)state;
    irecv(1, 7, 10);
    run();
    struct rfn_tracker *first = tracker;
    tracker = rfn_tracker_new_beside(first);
    assert_non_null(tracker);
    assert_true(rfn_tracker_concerns(tracker, FAKE_WAIT));
    EVENT(0, WAIT, 0, 0, 1, RECENT(1), 0);
    struct rfn_cursor here = cursor;
    run();
    assert_false(effects.completed[0].known);
    rfn_tracker_free(tracker);
    tracker = first;
    cursor = here;
    run();
    expect_receive(0, 0, 1, 7, 80);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_threads, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_wait),
        TEST(test_null_and_foreign),
        TEST(test_waitall),
        TEST(test_any_and_some),
        TEST(test_polls),
        TEST(test_cancelled_and_freed),
        TEST(test_pending),
        TEST(test_persistent),
        TEST(test_collective),
        TEST(test_many),
        TEST(test_foreign_completion),
        TEST(test_foreign_before_it_is_made),
        TEST(test_persistent_over_threads),
        TEST(test_ids),
        TEST(test_freed_and_cancelled),
        TEST(test_given_up),
        TEST(test_partitions),
        TEST(test_broken),
        TEST(test_one_stays_open),
        TEST(test_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
