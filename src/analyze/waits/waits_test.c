/* Wait states, causes and the critical path of events written by hand: every time below is exact.
 *
 * Times are in ns, r0 to r3 are ranks, and "r1 Recv 100-1100" is an event from enter to exit. */
#include "refrain/waits.h"

#define FAKE_EVENTS 2048
#include "support/fake_waits.h"

static int64_t direct(enum rfn_activity_kind kind, enum fake_function at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_causes; i++) {
        if (is_activity(waits->causes[i].activity, kind, at))
            sum += waits->causes[i].direct_ns;
    }
    return sum;
}

static int64_t on_path(enum rfn_activity_kind kind, enum fake_function at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_critical; i++) {
        if (is_activity(waits->critical[i].activity, kind, at))
            sum += waits->critical[i].ns;
    }
    return sum;
}

/* ---- events ---- */

static void send_bytes(uint32_t rank, int64_t enter, int64_t exit, int64_t dest, int64_t tag,
                       int64_t bytes)
{
    EVENT(rank, SEND_, 0, enter, exit, PLAIN, bytes, BYTE, dest, tag, WORLD);
}

static void send(uint32_t rank, int64_t enter, int64_t exit, int64_t dest, int64_t tag)
{
    send_bytes(rank, enter, exit, dest, tag, SIZE);
}

static void isend(uint32_t rank, int64_t enter, int64_t dest, int64_t tag, int64_t bytes)
{
    EVENT(rank, ISEND, 0, enter, enter + 5, PLAIN, bytes, BYTE, dest, tag, WORLD);
}

static void recv(uint32_t rank, int64_t enter, int64_t exit, int64_t source, int64_t tag)
{
    EVENT(rank, RECV_, 0, enter, exit, PLAIN, SIZE, BYTE, source, tag, WORLD, AS, AS, AS);
}

static void irecv(uint32_t rank, int64_t enter, int64_t source, int64_t tag)
{
    EVENT(rank, IRECV, 0, enter, enter + 5, PLAIN, SIZE, BYTE, source, tag, WORLD);
}

static void wait_for(uint32_t rank, int64_t enter, int64_t exit, int64_t distance)
{
    EVENT(rank, WAIT, 0, enter, exit, RECENT(distance), 0);
}

/* Something that is neither communication nor computing. */
static void pass_time(uint32_t rank, int64_t enter, int64_t exit)
{
    EVENT(rank, PCONTROL, 0, enter, exit, 1);
}

static void barrier(uint32_t rank, int64_t enter, int64_t exit, int64_t comm)
{
    EVENT(rank, BARRIER, 0, enter, exit, comm);
}

static void allreduce(uint32_t rank, int64_t enter, int64_t exit, int64_t count)
{
    EVENT(rank, ALLREDUCE, 0, enter, exit, PLAIN, PLAIN, count, BYTE, SUM, WORLD);
}

static void bcast(uint32_t rank, int64_t enter, int64_t exit, int64_t count, int64_t root,
                  int64_t comm)
{
    EVENT(rank, BCAST, 0, enter, exit, PLAIN, count, BYTE, root, comm);
}

/* ---- late sender ---- */

/* r1 Recv 100-1100, r0 Send 600-700: waits 600 - 100. The run begins at 100, so that r0's START
 * lasts 500; the path is that and then what Recv took after 600. */
static void test_late_sender(void **state)
{
    (void)state;
    send(0, 600, 700, 1, 5);
    recv(1, 100, 1100, 0, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 500, 0, 0);
    assert_int_equal(waits->rows[0].count, 1);
    assert_int_equal(waits->rows[0].max_ns, 500);
    assert_int_equal(cost(0, RFN_ACTIVITY_START, 0), 500);
    assert_int_equal(waits->critical_ns, 1000);
    assert_int_equal(waits->critical_rank, 1);
    assert_int_equal(on_path(RFN_ACTIVITY_START, 0), 500);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_RECV_), 500);
    assert_int_equal(waits->matching.messages, 1);
    assert_int_equal(waits->matching.matched, 1);
    assert_int_equal(waits->matching.unmatched_sends, 0);
    assert_int_equal(waits->matching.unmatched_receives, 0);
}

/* Both leave a barrier at 100; r1 Recv 100-1200, r0 Send 1000-1100. In r0's gap of 900 the recorder
 * worked for 700: that much of the wait is its, and the rest the program's. */
static void test_recording(void **state)
{
    (void)state;
    fake.streams[0].own = (struct rfn_own_work){150, 850};
    barrier(0, 0, 100, WORLD);
    barrier(1, 0, 100, WORLD);
    barrier(2, 0, 100, WORLD);
    barrier(3, 0, 100, WORLD);
    send(0, 1000, 1100, 1, 5);
    recv(1, 100, 1200, 0, 5);
    run();
    assert_int_equal(waits->pattern_ns[RFN_LATE_SENDER], 900);
    assert_int_equal(cost(0, RFN_ACTIVITY_RECORDING, 0), 700);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 200);
    assert_int_equal(on_path(RFN_ACTIVITY_RECORDING, 0), 700);
}

static void test_early_sender(void **state)
{
    (void)state;
    send(0, 10, 20, 1, 5);
    recv(1, 100, 1100, 0, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 0, 0, 0);
    assert_int_equal(waits->n_causes, 0);
    assert_int_equal(waits->critical_ns, 1090);
}

/* The wait belongs to the completion: from 100 to the send at 600, not from the Irecv. */
static void test_nonblocking(void **state)
{
    (void)state;
    irecv(1, 0, 0, 5);
    wait_for(1, 100, 1000, 1);
    send(0, 600, 650, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 500, 0, 0);
}

/* r1 sends at 300, r2 at 700: Waitall from 100 waited 600, for r2, and once. */
static void test_waitall(void **state)
{
    (void)state;
    irecv(0, 0, 1, 5);
    irecv(0, 10, 2, 5);
    EVENT(0, WAITALL, 0, 100, 1000, 2, LIST(RECENT(2), RECENT(1)), 0);
    send(1, 300, 350, 0, 5);
    send(2, 700, 750, 0, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAITALL, 600, 0, 0, 0);
    assert_int_equal(waits->rows[0].count, 1);
    assert_int_equal(cost(2, RFN_ACTIVITY_START, 0), 600);
}

/* Probe 100-610 waits for the send at 600; the Recv after it does not. */
static void test_probe(void **state)
{
    (void)state;
    EVENT(1, PROBE, 0, 100, 610, 0, 5, WORLD, AS, AS, SIZE);
    recv(1, 620, 700, 0, 5);
    send(0, 600, 610, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_PROBE, 0, 500, 0, 0);
    assert_int_equal(waits->matching.matched, 1);
}

/* The same, by a wildcard and with a handle: the message is the probe's, not that of the Recv
 * between. */
static void test_matched_probe(void **state)
{
    (void)state;
    EVENT(1, MPROBE, 0, 100, 610, RFN_ANY, 5, WORLD, 7, 0, AS, SIZE);
    recv(1, 620, 900, 0, 5);
    EVENT(1, MRECV, 0, 910, 920, PLAIN, SIZE, BYTE, 7, AS, AS, AS);
    send(0, 600, 650, 1, 5);
    send(0, 800, 850, 1, 5);
    run();
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_MPROBE, 1), 500);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 180);
    assert_int_equal(waits->total_ns, 680);
    assert_int_equal(waits->matching.matched, 2);
}

/* The message of tag 1, sent at 100, lies there while r1 waits from 50 to 500 for that of tag 2; it
 * computes for 60 with that, and with the other one until its next receive, for 300. */
static void two_in_order(int64_t next)
{
    send(0, 100, 110, 1, 1);
    send(0, 500, 510, 1, 2);
    send(0, next + 10, next + 20, 1, 3);
    recv(1, 50, 600, 0, 2);
    recv(1, 660, 700, 0, 1);
    recv(1, next, next + 30, 0, 3);
    run();
}

static void test_wrong_order(void **state)
{
    (void)state;
    two_in_order(940); /* 240, of which a quarter are 60 */
    assert_int_equal(waited(RFN_WRONG_ORDER, FAKE_RECV_, 1), 240);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 450 - 240 + 10);
    assert_int_equal(waits->total_ns, 460);
}

/* It may need both messages for what it computes for longer. */
static void test_order_of_two_that_are_needed(void **state)
{
    (void)state;
    two_in_order(944);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 460);
    assert_int_equal(waits->rows[0].wrong_order_ns, 244);
    assert_int_equal(waits->total_ns, 460);
}

/* The other message was there from 100 on: so of the wait 400 could have been used, of 1 000 that
 * it computes. */
static void test_order_of_much_work(void **state)
{
    (void)state;
    send(0, 100, 110, 1, 1);
    send(0, 500, 510, 1, 2);
    recv(1, 50, 600, 0, 2);
    recv(1, 1600, 1700, 0, 1);
    recv(1, 2700, 2800, 0, 3);
    send(0, 2600, 2650, 1, 3);
    run();
    assert_int_equal(waited(RFN_WRONG_ORDER, FAKE_RECV_, 1), 400);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 50);
}

/* Two messages lie there. In the other order r1 would compute from 100 to 250 with the first, from
 * 300, when the second is there, to 450 with that: 300, all before 500. Sends between do not wait.
 */
static void test_order_of_several(void **state)
{
    (void)state;
    send(0, 100, 110, 1, 1);
    send(2, 300, 310, 1, 2);
    send(0, 500, 510, 1, 3);
    recv(1, 50, 520, 0, 3);
    send(1, 620, 625, 0, 9);
    recv(1, 675, 680, 0, 1);
    recv(1, 830, 840, 2, 2);
    recv(0, 900, 910, 1, 9);
    for (uint32_t rank = 0; rank < 4; rank++)
        barrier(rank, 990, 1000, WORLD);
    run();
    assert_int_equal(waited(RFN_WRONG_ORDER, FAKE_RECV_, 1), 300);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 150);
}

/* The requests of one exchange, all made before: one order is as good as the other. */
static void test_order_of_requests(void **state)
{
    (void)state;
    send(0, 100, 110, 1, 1);
    send(0, 500, 510, 1, 2);
    irecv(1, 10, 0, 1);
    irecv(1, 30, 0, 2);
    wait_for(1, 50, 600, 1);
    wait_for(1, 700, 710, 2);
    recv(1, 900, 910, 0, 3);
    send(0, 800, 810, 1, 3);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 450, 0, 0);
}

/* r1's next receive, whose message lies there. */
static void ask_for_more(int64_t enter)
{
    send(3, 0, 10, 1, 9);
    recv(1, enter, enter + 10, 3, 9);
}

/* Of 450 in late messages so much was in wrong order. */
static void expect_order(int64_t ns)
{
    assert_int_equal(waited(RFN_WRONG_ORDER, FAKE_RECV_, 1), ns);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 450 - ns);
    assert_int_equal(waits->total_ns, 450);
}

/* The same by who takes any rank's message: it took what came first, and times are not quite right.
 */
static void two_for_any(void)
{
    send(2, 100, 110, 1, 5);
    send(0, 500, 510, 1, 5);
    run();
}

static void test_order_of_any(void **state)
{
    (void)state;
    EVENT(1, RECV_, 0, 50, 600, PLAIN, SIZE, BYTE, RFN_ANY, 5, WORLD, 0, AS, AS);
    recv(1, 610, 700, 2, 5);
    ask_for_more(740);
    two_for_any();
    expect_order(0);
}

/* What it would not have taken, by its tag or its source, lies there in wrong order. */
static void test_order_of_other_tag(void **state)
{
    (void)state;
    send(2, 100, 110, 1, 6);
    send(0, 500, 510, 1, 5);
    EVENT(1, RECV_, 0, 50, 600, PLAIN, SIZE, BYTE, RFN_ANY, 5, WORLD, 0, AS, AS);
    recv(1, 610, 700, 2, 6);
    ask_for_more(740);
    run();
    expect_order(40);
}

static void test_order_of_any_tag(void **state)
{
    (void)state;
    EVENT(1, RECV_, 0, 50, 600, PLAIN, SIZE, BYTE, 0, RFN_ANY, WORLD, AS, 5, AS);
    recv(1, 610, 700, 2, 5);
    ask_for_more(740);
    two_for_any();
    expect_order(40);
}

static void test_order_of_any_probed(void **state)
{
    (void)state;
    EVENT(1, PROBE, 0, 50, 510, RFN_ANY, 5, WORLD, 0, AS, SIZE);
    recv(1, 520, 600, 0, 5);
    recv(1, 610, 700, 2, 5);
    two_for_any();
    expect_only(RFN_LATE_SENDER, FAKE_PROBE, 0, 450, 0, 0);
}

static void test_order_of_any_asked(void **state)
{
    (void)state;
    irecv(1, 20, RFN_ANY, 5);
    EVENT(1, WAIT, 0, 50, 600, RECENT(1), LIST(0, 0, AS, AS, 0, 0));
    recv(1, 610, 700, 2, 5);
    two_for_any();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 450, 0, 0);
}

/* ---- late receiver ---- */

/* r0 sends 100-900, r1 posts at 600. */
static void test_late_receiver(void **state)
{
    (void)state;
    EVENT(0, SSEND, 0, 100, 900, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    recv(1, 600, 950, 0, 5);
    run();
    expect_only(RFN_LATE_RECEIVER, FAKE_SSEND, 500, 0, 0, 0);
    assert_int_equal(cost(1, RFN_ACTIVITY_START, 0), 500);
}

static void test_late_receiver_standard(void **state)
{
    (void)state;
    send(0, 100, 900, 1, 5);
    recv(1, 600, 950, 0, 5);
    run();
    expect_only(RFN_LATE_RECEIVER, FAKE_SEND_, 500, 0, 0, 0);
}

/* A buffered send never waits, an eager one did not. */
static void test_local_sends(void **state)
{
    (void)state;
    EVENT(0, BSEND, 0, 100, 900, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    send(0, 910, 920, 1, 6);
    recv(1, 600, 950, 0, 5);
    recv(1, 960, 970, 0, 6);
    run();
    assert_int_equal(waits->total_ns, 0);
}

/* A send completed alone waited for its receiver, whatever its size. */
static void test_late_receiver_nonblocking(void **state)
{
    (void)state;
    isend(0, 0, 1, 5, SIZE);
    wait_for(0, 100, 900, 1);
    recv(1, 600, 950, 0, 5);
    run();
    expect_only(RFN_LATE_RECEIVER, FAKE_WAIT, 500, 0, 0, 0);
}

/* r0 sends 1,000 bytes that are over at 10 although their receive is posted at 20: so large
 * messages go eagerly. Of two requests completed together, 100-900, that of 1,000 bytes says
 * nothing, that of 2,000 waited for the receive at 600. */
static void eager(int64_t second_bytes)
{
    send(0, 0, 10, 1, 4);
    recv(1, 20, 30, 0, 4);
    isend(0, 40, 1, 5, second_bytes);
    isend(0, 50, 1, 6, 1);
    EVENT(0, WAITALL, 0, 100, 900, 2, LIST(RECENT(2), RECENT(1)), 0);
    recv(1, 600, 950, 0, 5);
    recv(1, 960, 970, 0, 6);
    run();
}

static void test_eager(void **state)
{
    (void)state;
    eager(SIZE);
    assert_int_equal(waits->total_ns, 0);
}

static void test_rendezvous(void **state)
{
    (void)state;
    eager(SIZE * 2);
    expect_only(RFN_LATE_RECEIVER, FAKE_WAITALL, 500, 0, 0, 0);
}

/* Nothing is seen of how large messages go eagerly: 512 bytes do, whatever the MPI. */
static void test_small_is_eager(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        isend(i * 2, 0, i * 2 + 1, 5, 512 + i);
        isend(i * 2, 10, i * 2 + 1, 6, 1);
        EVENT(i * 2, WAITALL, 0, 100, 900, 2, LIST(RECENT(2), RECENT(1)), 0);
        recv(i * 2 + 1, 600, 950, i * 2, 5);
        recv(i * 2 + 1, 960, 970, i * 2, 6);
    }
    run();
    expect_only(RFN_LATE_RECEIVER, FAKE_WAITALL, 0, 0, 500, 0);
}

/* The receive of 2,000 bytes was posted at 5, with a wildcard, and is known at its completion only:
 * that the send of 10-20 is over before that does not make 2,000 bytes eager. */
static void test_undecided_is_not_eager(void **state)
{
    (void)state;
    irecv(1, 5, RFN_ANY, 4);
    EVENT(1, WAIT, 0, 300, 310, RECENT(1), LIST(0, 0, AS, AS, 0, 0));
    send_bytes(0, 10, 20, 1, 4, 2000);
    isend(0, 340, 1, 5, 2000);
    isend(0, 350, 1, 6, 1);
    EVENT(0, WAITALL, 0, 400, 900, 2, LIST(RECENT(2), RECENT(1)), 0);
    recv(1, 600, 950, 0, 5);
    recv(1, 960, 970, 0, 6);
    run();
    expect_only(RFN_LATE_RECEIVER, FAKE_WAITALL, 200, 0, 0, 0);
}

/* ---- collective calls ---- */

/* Gather to r0, which enters at 100: r2's part, at 300, was the first to come, r3's, at 800, the
 * last. */
static void gather(int64_t r2_count)
{
    const int64_t enters[] = {100, 500, 300, 800}, exits[] = {1000, 510, 310, 810};
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, GATHER_, 0, enters[i], exits[i], PLAIN, i == 2 ? r2_count : 10, BYTE, PLAIN, 10,
              BYTE, 0, WORLD);
    run();
}

static void test_early_reduce(void **state)
{
    (void)state;
    gather(10);
    assert_int_equal(waited(RFN_EARLY_REDUCE, FAKE_GATHER_, 0), 200);
    assert_int_equal(waited(RFN_WAIT_AT_NX1, FAKE_GATHER_, 0), 500);
    assert_int_equal(waits->total_ns, 700);
    assert_int_equal(waits->matching.collectives, 1);
    assert_int_equal(cost(2, RFN_ACTIVITY_START, 0), 200);
    assert_int_equal(cost(3, RFN_ACTIVITY_START, 0), 500);
    assert_int_equal(on_path(RFN_ACTIVITY_START, 0), 800 - 100);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_GATHER_), 1000 - 800);
}

/* r2 has nothing to give: the first part is r1's, at 500. */
static void test_early_reduce_without_data(void **state)
{
    (void)state;
    gather(0);
    assert_int_equal(waited(RFN_EARLY_REDUCE, FAKE_GATHER_, 0), 400);
    assert_int_equal(waited(RFN_WAIT_AT_NX1, FAKE_GATHER_, 0), 300);
    assert_int_equal(waits->total_ns, 700);
}

/* The root enters at 500. r1 100-700 waits 400, r2 600-710 not; r3 leaves at 300, before the root
 * came (clocks disagree): all of its 100. */
static void test_late_broadcast(void **state)
{
    (void)state;
    bcast(0, 500, 510, 10, 0, WORLD);
    bcast(1, 100, 700, 10, 0, WORLD);
    bcast(2, 600, 710, 10, 0, WORLD);
    bcast(3, 200, 300, 10, 0, WORLD);
    run();
    expect_only(RFN_LATE_BROADCAST, FAKE_BCAST, 0, 400, 0, 100);
}

static void test_empty_broadcast(void **state)
{
    (void)state;
    bcast(0, 500, 510, 0, 0, WORLD);
    for (uint32_t i = 1; i < 4; i++)
        bcast(i, 100, 110, 0, 0, WORLD);
    run();
    assert_int_equal(waits->total_ns, 0);
    assert_int_equal(waits->matching.collectives, 1);
}

static const int64_t many_enters[] = {100, 200, 300, 700}, many_exits[] = {1000, 900, 950, 1000};

/* The last enters at 700, the first leaves at 900: completion is what comes after that. */
static void expect_many(enum rfn_pattern pattern, enum rfn_pattern completion,
                        enum fake_function function)
{
    const int64_t wait_ns[] = {600, 500, 400, 0}, completion_ns[] = {100, 0, 50, 100};
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(waited(pattern, function, i), wait_ns[i]);
        assert_int_equal(waited(completion, function, i), completion_ns[i]);
    }
    assert_int_equal(waits->total_ns, 1750);
    assert_int_equal(waits->pattern_ns[completion], 250);
    assert_int_equal(waits->unexplained_ns, 250);
    assert_int_equal(cost(3, RFN_ACTIVITY_START, 0), 1500);
    assert_int_equal(waits->critical_ns, 900);
}

static void test_nxn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        allreduce(i, many_enters[i], many_exits[i], 10);
    run();
    expect_many(RFN_WAIT_AT_NXN, RFN_NXN_COMPLETION, FAKE_ALLREDUCE);
}

static void test_barrier(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        barrier(i, many_enters[i], many_exits[i], WORLD);
    run();
    expect_many(RFN_WAIT_AT_BARRIER, RFN_BARRIER_COMPLETION, FAKE_BARRIER);
}

/* Nonblocking: enters of the others are where they began it, waits are in the completion. */
static void test_nonblocking_nxn(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        EVENT(i, IALLREDUCE, 0, i * 100, i * 100 + 5, PLAIN, PLAIN, 10, BYTE, SUM, WORLD);
        wait_for(i, 310, 400, 1);
    }
    run();
    assert_int_equal(waits->pattern_ns[RFN_WAIT_AT_NXN], 0); /* the last began at 300 */
    assert_int_equal(waits->matching.collectives, 1);
}

static void test_nonblocking_nxn_waits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        EVENT(i, IALLREDUCE, 0, i * 100, i * 100 + 5, PLAIN, PLAIN, 10, BYTE, SUM, WORLD);
        wait_for(i, i * 100 + 50, 400, 1);
    }
    run();
    /* until 300, from 50, 150, 250 */
    assert_int_equal(waited(RFN_WAIT_AT_NXN, FAKE_WAIT, 0), 250);
    assert_int_equal(waited(RFN_WAIT_AT_NXN, FAKE_WAIT, 1), 150);
    assert_int_equal(waited(RFN_WAIT_AT_NXN, FAKE_WAIT, 2), 50);
    assert_int_equal(waited(RFN_WAIT_AT_NXN, FAKE_WAIT, 3), 0);
}

/* r1 waits for r0 (100 - 50), r2 for nobody, r3 for r2 (300 - 200). */
static void test_early_scan(void **state)
{
    (void)state;
    const int64_t enters[] = {100, 50, 300, 200}, exits[] = {110, 400, 400, 400};
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, SCAN, 0, enters[i], exits[i], PLAIN, PLAIN, 10, BYTE, SUM, WORLD);
    run();
    expect_only(RFN_EARLY_SCAN, FAKE_SCAN, 0, 50, 0, 100);
}

static void test_init(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, INIT, 0, i * 100, 400, 0);
    run();
    expect_only(RFN_WAIT_AT_INIT, FAKE_INIT, 300, 200, 100, 0);
    assert_int_equal(waits->critical_ns, 400);
}

/* r0 leaves at 250, before r3 came: Init did not synchronize. */
static void test_init_without_synchronization(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, INIT, 0, i * 100, i ? 400 : 250, 0);
    run();
    assert_int_equal(waited(RFN_WAIT_AT_INIT, FAKE_INIT, 0), 0);
}

static void test_finalize(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, FINALIZE, 0, i * 100, 400, 0);
    run();
    expect_only(RFN_WAIT_AT_FINALIZE, FAKE_FINALIZE, 300, 200, 100, 0);
}

static void dup(int64_t first_exit)
{
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, COMM_DUP, 0, i * 100, i ? 400 : first_exit, WORLD, 4);
    run();
}

static void test_maybe(void **state)
{
    (void)state;
    dup(400);
    expect_only(RFN_WAIT_AT_NXN, FAKE_COMM_DUP, 300, 200, 100, 0);
}

/* Rank 0 stays in the call for 500 longer than others, and then computes for 10 more: that is what
 * they wait for in the next one. */
static void test_left_late(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const int64_t left = i ? 500 : 1000;
        EVENT(i, COMM_DUP, 0, 400, left, WORLD, 4);
        allreduce(i, left + (i ? 10 : 20), 1100, 10);
    }
    run();
    expect_only(RFN_WAIT_AT_NXN, FAKE_ALLREDUCE, 0, 510, 510, 510);
    assert_int_equal(cost(0, RFN_ACTIVITY_MPI, FAKE_COMM_DUP), 3 * 500);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_ALLREDUCE), 3 * 10);
}

/* Where one left before the last came, nobody waited. */
static void test_maybe_not(void **state)
{
    (void)state;
    dup(250);
    assert_int_equal(waits->total_ns, 0);
}

/* A line of four: r0 waits for r1 (500 - 100), r2 for r3 (900 - 200); r1's neighbours came before
 * it. */
static void test_neighbours(void **state)
{
    (void)state;
    const int64_t enters[] = {100, 500, 200, 900}, exits[] = {550, 560, 950, 960};
    int64_t dims = LIST(4), periods = LIST(0);
    for (uint32_t i = 0; i < 4; i++) {
        EVENT(i, CART_CREATE, 0, 0, 10, WORLD, 1, dims, periods, 0, 4);
        EVENT(i, NEIGHBOR_ALL, 0, enters[i], exits[i], PLAIN, 1, BYTE, PLAIN, 1, BYTE, 4);
    }
    run();
    expect_only(RFN_WAIT_AT_NXN, FAKE_NEIGHBOR_ALL, 400, 0, 700, 0);
}

/* From r0 to the other group, r2 and r3. r1 only makes the call. */
static void test_inter_broadcast(void **state)
{
    (void)state;
    bcast(0, 500, 510, 10, RFN_ROOT, 3);
    bcast(1, 0, 10, 10, RFN_PROC_NULL, 3);
    bcast(2, 100, 600, 10, 0, 3);
    bcast(3, 550, 600, 10, 0, 3);
    run();
    expect_only(RFN_LATE_BROADCAST, FAKE_BCAST, 0, 0, 400, 0);
}

/* From r2, rank 0 of its group, to r0 and r1: r0 is rank 0 of the other group, and no root. */
static void test_inter_broadcast_back(void **state)
{
    (void)state;
    bcast(0, 100, 600, 10, 0, 3);
    bcast(1, 200, 600, 10, 0, 3);
    bcast(2, 500, 510, 10, RFN_ROOT, 3);
    bcast(3, 0, 10, 10, RFN_PROC_NULL, 3);
    run();
    expect_only(RFN_LATE_BROADCAST, FAKE_BCAST, 400, 300, 0, 0);
}

/* 24 processes, of which r0 to r3 are here: they wait for each other, the call is not whole. */
static void test_members_elsewhere(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        barrier(i, i * 100, 400, 8);
    run();
    assert_int_equal(waited(RFN_WAIT_AT_BARRIER, FAKE_BARRIER, 0), 300);
    assert_int_equal(waits->matching.collectives, 0);
    assert_int_equal(waits->matching.unmatched_collectives, 1);
}

/* ---- wildcards ---- */

/* r1 posts A and B, both from anyone. B completes first, 50-210, with r2's message of 200, when it
 * is not yet known what A takes: the wait of 150 is found when A has completed, with r0's of 100.
 */
static void test_undecided(void **state)
{
    (void)state;
    irecv(1, 0, RFN_ANY, 5);
    irecv(1, 10, RFN_ANY, 5);
    EVENT(1, WAIT, 0, 50, 210, RECENT(1), LIST(0, 2, AS, AS, 0, 0));
    EVENT(1, WAIT, 0, 220, 300, RECENT(2), LIST(0, 0, AS, AS, 0, 0));
    send(0, 100, 110, 1, 5);
    send(2, 200, 205, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 150, 0, 0);
    assert_int_equal(waits->matching.matched, 2);
}

/* The same in one call with a receive that can be measured at once, until 400: the call waited
 * until 600, and its time is not counted twice. */
static void test_undecided_together(void **state)
{
    (void)state;
    irecv(1, 0, RFN_ANY, 5);
    irecv(1, 10, RFN_ANY, 5);
    irecv(1, 20, 3, 6);
    EVENT(1, WAITALL, 0, 50, 800, 2, LIST(RECENT(2), RECENT(1)), LIST(0, 2, AS, AS, 0, 0));
    EVENT(1, WAIT, 0, 820, 900, RECENT(3), LIST(0, 0, AS, AS, 0, 0));
    send(0, 100, 110, 1, 5);
    send(2, 600, 610, 1, 5);
    send(3, 400, 410, 1, 6);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAITALL, 0, 550, 0, 0);
    assert_int_equal(waits->matching.matched, 3);
}

/* r0's message lies there, but a receive with a wildcard may get it: the order is not wrong. */
static void test_undecided_order(void **state)
{
    (void)state;
    irecv(1, 0, RFN_ANY, 5);
    recv(1, 50, 600, 2, 6);
    EVENT(1, WAIT, 0, 610, 620, RECENT(1), LIST(0, 0, AS, AS, 0, 0));
    send(0, 100, 110, 1, 5);
    send(2, 500, 510, 1, 6);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 450, 0, 0);
}

/* A never completes: B gets its message at the end of the record. */
static void test_never_decided(void **state)
{
    (void)state;
    irecv(1, 0, RFN_ANY, 5);
    irecv(1, 10, RFN_ANY, 5);
    EVENT(1, WAIT, 0, 50, 210, RECENT(1), LIST(0, 2, AS, AS, 0, 0));
    send(2, 200, 205, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 150, 0, 0);
    assert_int_equal(waits->matching.matched, 1);
    assert_int_equal(waits->matching.unmatched_receives, 1);
}

/* A wildcard that process 10 of comm 8 answers stands in nobody's way. */
static void test_foreign_wildcard(void **state)
{
    (void)state;
    EVENT(1, IRECV, 0, 0, 5, PLAIN, SIZE, BYTE, RFN_ANY, 5, 8);
    EVENT(1, IRECV, 0, 10, 15, PLAIN, SIZE, BYTE, 0, 5, 8);
    EVENT(1, WAIT, 0, 20, 30, RECENT(2), LIST(0, 10, AS, AS, 0, 0));
    EVENT(1, WAIT, 0, 40, 110, RECENT(1), 0);
    EVENT(0, SEND_, 0, 100, 105, PLAIN, SIZE, BYTE, 1, 5, 8);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 60, 0, 0);
    assert_int_equal(waits->matching.foreign, 1);
    assert_int_equal(waits->matching.matched, 1);
    assert_int_equal(waits->matching.unmatched_receives, 0);
}

/* ---- what is not waited for ---- */

static void test_cancelled_receive(void **state)
{
    (void)state;
    irecv(1, 0, 0, 5);
    EVENT(1, CANCEL, 0, 20, 25, RECENT(1));
    EVENT(1, WAIT, 0, 30, 40, RECENT(1), LIST(0, AS, AS, AS, 0, RFN_COMPLETION_CANCELLED));
    recv(1, 50, 150, 0, 5);
    send(0, 100, 110, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 50, 0, 0);
    assert_int_equal(waits->matching.cancelled, 1);
    assert_int_equal(waits->matching.matched, 1);
    assert_int_equal(waits->matching.unmatched_receives, 0);
}

/* The receive gets the second message: of 300, not of 0. */
static void test_cancelled_send(void **state)
{
    (void)state;
    isend(0, 0, 1, 5, SIZE);
    EVENT(0, CANCEL, 0, 20, 25, RECENT(1));
    EVENT(0, WAIT, 0, 30, 40, RECENT(1), LIST(0, AS, AS, AS, 0, RFN_COMPLETION_CANCELLED));
    send(0, 300, 310, 1, 5);
    recv(1, 50, 400, 0, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 250, 0, 0);
    assert_int_equal(waits->matching.cancelled, 1);
    assert_int_equal(waits->matching.messages, 1);
    assert_int_equal(waits->matching.unmatched_sends, 0);
}

/* Cancel came too late; the receive, posted in between, was given up. Numbers of messages that are
 * let go twice would join the later ones wrongly. */
static void test_not_cancelled(void **state)
{
    (void)state;
    isend(0, 0, 1, 5, SIZE);
    EVENT(0, CANCEL, 0, 10, 15, RECENT(1));
    wait_for(0, 40, 50, 1);
    irecv(1, 20, 0, 5);
    EVENT(1, REQUEST_FREE, 0, 30, 35, RECENT(1));
    send(0, 100, 105, 1, 6);
    send(0, 200, 205, 1, 7);
    send(0, 300, 305, 1, 8);
    recv(1, 60, 310, 0, 8);
    recv(1, 320, 330, 0, 6);
    recv(1, 340, 350, 0, 7);
    run();
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 230);
    assert_int_equal(waited(RFN_WRONG_ORDER, FAKE_RECV_, 1), 10);
    assert_int_equal(waits->matching.messages, 4);
    assert_int_equal(waits->matching.matched, 4);
    assert_int_equal(waits->matching.cancelled, 0);
}

static void test_freed(void **state)
{
    (void)state;
    irecv(1, 0, 0, 5);
    EVENT(1, REQUEST_FREE, 0, 20, 25, RECENT(1));
    isend(0, 100, 1, 5, SIZE);
    EVENT(0, REQUEST_FREE, 0, 110, 115, RECENT(1));
    recv(1, 120, 220, 0, 5);
    send(0, 200, 210, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 80, 0, 0);
    assert_int_equal(waits->matching.matched, 2);
}

/* Of a receive with a wildcard that is freed it is never known what it got. */
static void test_freed_wildcard(void **state)
{
    (void)state;
    irecv(1, 0, RFN_ANY, 5);
    EVENT(1, REQUEST_FREE, 0, 10, 20, RECENT(1));
    recv(1, 30, 300, 0, 5);
    send(0, 100, 110, 1, 5);
    send(0, 120, 130, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 70, 0, 0);
    assert_int_equal(waits->matching.matched, 1);
    assert_int_equal(waits->matching.unmatched_sends, 1);
    assert_int_equal(waits->matching.unmatched_receives, 0);
}

static void test_nobody(void **state)
{
    (void)state;
    send(0, 0, 10, RFN_PROC_NULL, 5);
    recv(0, 20, 30, RFN_PROC_NULL, 5);
    EVENT(0, PROBE, 0, 40, 50, RFN_PROC_NULL, 5, WORLD, AS, AS, AS);
    EVENT(0, SEND_, 0, 60, 70, PLAIN, SIZE, BYTE, 10, 5, 8);
    run();
    assert_int_equal(waits->total_ns, 0);
    assert_int_equal(waits->matching.messages, 0);
    assert_int_equal(waits->matching.unmatched_receives, 0);
    assert_int_equal(waits->matching.foreign, 1);
}

/* r0's message has no receive, r1's receive no message, and r3 does not come to the barrier. */
static void test_unmatched(void **state)
{
    (void)state;
    send(0, 0, 10, 1, 5);
    recv(1, 0, 10, 0, 6);
    for (uint32_t i = 0; i < 3; i++)
        barrier(i, 100 + i * 10, 200, WORLD);
    pass_time(3, 0, 300);
    run();
    assert_int_equal(waits->matching.unmatched_sends, 1);
    assert_int_equal(waits->matching.unmatched_receives, 1);
    assert_int_equal(waits->matching.collectives, 0);
    assert_int_equal(waits->matching.unmatched_collectives, 1);
    /* of those that came, the last did at 120 */
    assert_int_equal(waited(RFN_WAIT_AT_BARRIER, FAKE_BARRIER, 0), 20);
    assert_int_equal(waited(RFN_WAIT_AT_BARRIER, FAKE_BARRIER, 1), 10);
    assert_int_equal(waits->critical_ns, 300);
}

/* ---- persistent, partitioned, threads ---- */

static void test_persistent(void **state)
{
    (void)state;
    EVENT(0, SEND_INIT, 0, 0, 1, PLAIN, SIZE, BYTE, 1, 5, WORLD, SLOT(0));
    EVENT(1, RECV_INIT, 0, 0, 1, PLAIN, SIZE, BYTE, 0, 5, WORLD, SLOT(0));
    for (int64_t i = 0; i < 2; i++) { /* twice, 1000 apart */
        EVENT(0, START, 0, i * 1000 + 600, i * 1000 + 610, SLOT(0));
        EVENT(0, WAIT, 0, i * 1000 + 620, i * 1000 + 630, SLOT(0), 0);
        EVENT(1, START, 0, i * 1000 + 50, i * 1000 + 60, SLOT(0));
        EVENT(1, WAIT, 0, i * 1000 + 100, i * 1000 + 700, SLOT(0), 0);
    }
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 1000, 0, 0);
    assert_int_equal(waits->rows[0].count, 2);
    assert_int_equal(waits->matching.matched, 2);
}

static void test_persistent_barrier(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        EVENT(i, BARRIER_INIT, 0, 0, 10, WORLD, SLOT(0));
        EVENT(i, START, 0, 20 + i * 100, 25 + i * 100, SLOT(0));
        EVENT(i, WAIT, 0, 30 + i * 100, 400, SLOT(0), 0);
    }
    run(); /* the last starts at 320 */
    expect_only(RFN_WAIT_AT_BARRIER, FAKE_WAIT, 290, 190, 90, 0);
    assert_int_equal(waits->matching.collectives, 1);
}

/* The message is sent with its last partition, at 600. */
static void test_partitioned(void **state)
{
    (void)state;
    EVENT(0, PSEND_INIT, 0, 0, 1, PLAIN, 2, SIZE, BYTE, 1, 5, WORLD, SLOT(0));
    EVENT(0, START, 0, 100, 110, SLOT(0));
    EVENT(0, PREADY, 0, 300, 310, 1, SLOT(0));
    EVENT(0, PREADY, 0, 600, 610, 0, SLOT(0));
    EVENT(0, WAIT, 0, 620, 630, SLOT(0), 0);
    EVENT(1, PRECV_INIT, 0, 0, 1, PLAIN, 2, SIZE, BYTE, 0, 5, WORLD, SLOT(0));
    EVENT(1, START, 0, 50, 60, SLOT(0));
    EVENT(1, WAIT, 0, 100, 700, SLOT(0), 0);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 0, 500, 0, 0);
    assert_int_equal(waits->matching.matched, 1);
}

/* Of r0 the second thread completes what the first has posted. */
static void test_threads(void **state)
{
    (void)state;
    const uint32_t ranks[] = {0, 0, 1, 2, 3}, threads[] = {0, 1, 0, 0, 0};
    for (uint32_t i = 0; i < 5; i++) {
        fake.streams[i].rank = ranks[i];
        fake.streams[i].thread = threads[i];
    }
    fake.run.streams = 5;
    irecv(0, 0, 1, 5);
    EVENT(1, WAIT, 0, 100, 700, rfn_foreign_request(0, 0), LIST(0, AS, AS, SIZE, 0, 0));
    send(2, 600, 650, 0, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_WAIT, 500, 0, 0, 0);
    assert_int_equal(cost(1, RFN_ACTIVITY_START, 0), 500);
}

/* All compute for 300 between barriers; r1 leaves the first one 300 later than the others. That is
 * the barrier's, and not what r1 computes. */
static void test_leaves_barrier_late(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < 4; rank++) {
        barrier(rank, 100, rank == 1 ? 410 : 110, WORLD);
        barrier(rank, rank == 1 ? 710 : 410, 720, WORLD);
    }
    run();
    assert_int_equal(waited(RFN_WAIT_AT_BARRIER, FAKE_BARRIER, 0), 300);
    assert_int_equal(waits->pattern_ns[RFN_WAIT_AT_BARRIER], 900);
    assert_int_equal(cost(1, RFN_ACTIVITY_MPI, FAKE_BARRIER), 900);
    assert_int_equal(cost(1, RFN_ACTIVITY_COMPUTE, FAKE_BARRIER), 0);
}

/* ---- polls ---- */

/* Of polls between which the program works for some ms: so it counts as working, and not as
 * waiting.
 */
enum { MS = 1000 * 1000 };

/* Five polls without success, of which 200 in MPI. */
static void poll_in_vain(uint32_t path, int64_t enter, int64_t exit, int64_t unit)
{
    struct rfn_record *polls = EVENT(1, IPROBE, path, enter * unit, exit * unit, 0, 5, WORLD, AS,
                                     AS, AS);
    polls->failed_poll = true;
    polls->polls = 5;
    polls->inside_ns = 200 * unit;
}

static void probe(uint32_t path, int64_t enter, int64_t exit, int64_t unit)
{
    EVENT(1, IPROBE, path, enter * unit, exit * unit, 0, 5, WORLD, AS, AS, AS);
    send(0, 550 * unit, 560 * unit, 1, 5);
    run();
}

/* Five polls 100-500 in vain, then one with success, 510-610. Of 100-610 300 are in MPI, and 210
 * are not: r0 sends at 550, so that 450 of 510 were waiting, less 210 * 450 / 510 = 185. The path
 * comes from r0 at 550. */
static void test_polls_between_work(void **state)
{
    (void)state;
    poll_in_vain(0, 100, 500, MS);
    probe(0, 510, 610, MS);
    const int64_t work = (int64_t)(450e6 * (210.0 / 510));
    expect_only(RFN_LATE_SENDER, FAKE_IPROBE, 0, 450 * MS - work, 0, 0);
    assert_int_equal(cost(0, RFN_ACTIVITY_START, 0), 450 * MS - work);
    assert_int_equal(waits->critical_ns, 510 * MS);
    assert_int_equal(on_path(RFN_ACTIVITY_START, 0), 450 * MS);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_IPROBE), 210 * MS - work);
}

/* The same where it only spins. */
static void test_polls(void **state)
{
    (void)state;
    poll_in_vain(0, 100, 500, 1);
    probe(0, 510, 610, 1);
    expect_only(RFN_LATE_SENDER, FAKE_IPROBE, 0, 450, 0, 0);
    assert_int_equal(on_path(RFN_ACTIVITY_START, 0), 450);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_IPROBE), 60);
}

/* It polls by turns at two places, and at a third one it succeeds: one phase. What gets nothing
 * does not end it, as a test of no request. */
static void test_phase_of_polls(void **state)
{
    (void)state;
    poll_in_vain(1, 100, 300, 1);
    poll_in_vain(2, 300, 500, 1);
    EVENT(1, TEST, 9, 500, 505, rfn_request_word(RFN_REQUEST_NULL, 0), 0);
    poll_in_vain(1, 505, 705, 1);
    EVENT(1, IPROBE, 3, 710, 800, 0, 5, WORLD, AS, AS, AS);
    send(0, 750, 760, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_IPROBE, 0, 650, 0, 0);
    assert_int_equal(cost(0, RFN_ACTIVITY_START, 0), 650);
}

/* In between it works for longer: what it works is none of the wait of 650, of 700 in all. */
static void test_work_in_phase_of_polls(void **state)
{
    (void)state;
    poll_in_vain(1, 100, 300, MS);
    poll_in_vain(2, 600, 800, MS);
    EVENT(1, IPROBE, 3, 800 * MS, 850 * MS, 0, 5, WORLD, AS, AS, AS);
    send(0, 750 * MS, 760 * MS, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_IPROBE, 0, 650 * MS - (int64_t)(650e6 * (300.0 / 750)), 0, 0);
}

/* r0 polls for what it collects, 100-1010, of which 210 are not in MPI. The first of the others
 * comes at 200, the last at 800: 100 and 600 of 910, each less its share of 210. */
static void test_polls_of_root(void **state)
{
    static const int64_t enters[] = {0, 300, 800, 200};
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, IREDUCE, 0, enters[i] * MS, enters[i] * MS + 5, PLAIN, PLAIN, 10, BYTE, SUM, 0,
              WORLD);
    struct rfn_record *polls = EVENT(0, TEST, 0, 100 * MS, 500 * MS, RECENT(1), 0);
    polls->failed_poll = true;
    polls->polls = 5;
    polls->inside_ns = 200 * MS;
    EVENT(0, TEST, 0, 510 * MS, 1010 * MS, RECENT(1), 0);
    for (uint32_t i = 1; i < 4; i++)
        wait_for(i, (enters[i] + 10) * MS, (enters[i] + 20) * MS, 1);
    run();
    const int64_t first = 100 * MS - (int64_t)(100e6 * (210.0 / 910)),
                  last = 600 * MS - (int64_t)(600e6 * (210.0 / 910));
    assert_int_equal(waited(RFN_EARLY_REDUCE, FAKE_TEST, 0), first);
    assert_int_equal(waited(RFN_WAIT_AT_NX1, FAKE_TEST, 0), last);
    assert_int_equal(waits->total_ns, first + last);
}

/* Nothing ends them: half of their time was in MPI. */
static void polls_given_up(bool goes_on)
{
    poll_in_vain(0, 100, 500, 1);
    if (goes_on)
        pass_time(1, 520, 600);
    run();
    assert_int_equal(waits->total_ns, 0);
    assert_int_equal(waits->critical_ns, goes_on ? 500 : 400);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_IPROBE), 200);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_IPROBE), 200);
}

static void test_polls_given_up(void **state)
{
    (void)state;
    polls_given_up(true);
}

static void test_polls_at_the_end(void **state)
{
    (void)state;
    polls_given_up(false);
}

/* Tests of a request: 100-300 in vain, all of it in MPI, then one that succeeds, 300-600; the
 * message is sent at 500. */
static void test_tests(void **state)
{
    (void)state;
    irecv(1, 0, 0, 5);
    EVENT(1, TEST, 0, 100, 300, RECENT(1), 0)->failed_poll = true;
    EVENT(1, TEST, 0, 300, 600, RECENT(1), 0);
    send(0, 500, 510, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_TEST, 0, 400, 0, 0);
    assert_int_equal(waits->rows[0].count, 1);
    assert_int_equal(waits->matching.matched, 1);
}

/* ---- causes and the critical path ---- */

/* r0 computes 10-1000 and sends; r1 waits for that, 20-1000, and sends to r2 at 1030, which waits
 * from 20. What r1 did more than r2: 980 of waiting, caused by r0, 20 in Recv; 10 of computing are
 * less than 1/64 of 980 and left out. So 1010 are 1010 * 980 / 1000 = 989, 1010 * 20 / 1000 = 20,
 * and the 1 that is left goes to the first.
 *
 * The path: r0 Pcontrol 10, computing 990; r1 Recv 1000-1020, computing 10; r2 Recv 1030-1050. */
static void test_chain(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        pass_time(i, 0, 10);
    send(0, 1000, 1010, 1, 5);
    recv(1, 20, 1020, 0, 5);
    send(1, 1030, 1040, 2, 5);
    recv(2, 20, 1050, 1, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 980, 1010, 0);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 980 + 990);
    assert_int_equal(direct(RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 980);
    assert_int_equal(cost(1, RFN_ACTIVITY_MPI, FAKE_RECV_), 20);
    assert_int_equal(waits->critical_ns, 1050);
    assert_int_equal(waits->critical_rank, 2);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_PCONTROL), 10);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 1000);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_RECV_), 40);
}

/* r0 waits 100 for r1's message, is in Recv until 1000, computes 10 and answers; r1 waits 900 for
 * that. They were in step at 100, when r0's wait was over: what r0 did since was Recv, not the
 * computing.
 */
static void test_slow_receive(void **state)
{
    (void)state;
    send(1, 100, 110, 0, 5);
    recv(0, 0, 1000, 1, 5);
    send(0, 1010, 1020, 1, 6);
    recv(1, 110, 1030, 0, 6);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 100, 900, 0, 0);
    assert_int_equal(cost(0, RFN_ACTIVITY_MPI, FAKE_RECV_), 900);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 0);
}

/* The same of a send: r0 waits 30 for the receive, is in Send until 1000, and posts its own late.
 */
static void test_slow_send(void **state)
{
    (void)state;
    EVENT(0, SSEND, 0, 0, 1000, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    recv(1, 30, 50, 0, 5);
    EVENT(1, SSEND, 0, 60, 1100, PLAIN, SIZE, BYTE, 0, 6, WORLD);
    recv(0, 1010, 1100, 1, 6);
    run();
    expect_only(RFN_LATE_RECEIVER, FAKE_SSEND, 30, 950, 0, 0);
    assert_int_equal(cost(0, RFN_ACTIVITY_MPI, FAKE_SSEND), 950);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_RECV_), 0);
}

/* r0 was later than r1 by 300 in Pcontrol and 600 of computing. */
static void test_two_excesses(void **state)
{
    (void)state;
    pass_time(0, 0, 300);
    send(0, 900, 910, 1, 5);
    recv(1, 0, 950, 0, 5);
    run();
    assert_int_equal(waits->total_ns, 900);
    assert_int_equal(cost(0, RFN_ACTIVITY_MPI, FAKE_PCONTROL), 300);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 600);
}

/* After a barrier both do 1500 calls: r0 every 10 ns, 5 of them in the call, r1 every 6 and 3. The
 * log is shorter than that, the sums of the barrier's mark are not. r1 waits 9020-15020. Excesses
 * of r0: calls 1500 * 2, computing between them 1499 * 2. So 6000 * 3000 / 5998 = 3001 and 6000 *
 * 2998 / 5998 = 2998; 1 is left for the first. */
static void test_long_interval(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        barrier(i, 0, 10, WORLD);
    for (int64_t i = 0; i < 1500; i++) {
        pass_time(0, 20 + 10 * i, 25 + 10 * i);
        pass_time(1, 20 + 6 * i, 23 + 6 * i);
    }
    send(0, 15020, 15030, 1, 5);
    recv(1, 9020, 15040, 0, 5);
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 6000, 0, 0);
    assert_int_equal(cost(0, RFN_ACTIVITY_MPI, FAKE_PCONTROL), 3002);
    assert_int_equal(cost(0, RFN_ACTIVITY_COMPUTE, FAKE_PCONTROL), 2998);
    assert_int_equal(waits->critical_ns, 15040);
}

/* r0 has left Send, and done more, when r1 leaves Recv: the path takes it as it was at 600. */
static void test_interior_point(void **state)
{
    (void)state;
    pass_time(0, 0, 100);
    send(0, 600, 700, 1, 5);
    pass_time(0, 750, 850);
    recv(1, 100, 900, 0, 5);
    run();
    assert_int_equal(waits->total_ns, 500);
    assert_int_equal(waits->critical_ns, 900);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_PCONTROL), 100);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 500);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_RECV_), 300);
}

/* r2 waits for what r1 sends with Sendrecv at 100; in that call r1 itself waited, until 200, for
 * r0. r2's path goes through r1 before that, not through r0. */
static void test_point_of_a_waiting_call(void **state)
{
    (void)state;
    pass_time(0, 0, 10);
    send(0, 200, 210, 1, 5);
    pass_time(1, 0, 20);
    EVENT(1, SENDRECV, 0, 100, 250, PLAIN, SIZE, BYTE, 2, 5, PLAIN, SIZE, BYTE, 0, 5, WORLD, AS, AS,
          AS);
    recv(2, 50, 300, 1, 5);
    run();
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_SENDRECV, 1), 100);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 2), 50);
    assert_int_equal(waits->critical_ns, 300);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_SENDRECV), 80);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 0);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_RECV_), 200);
}

/* The path begins on r0, goes to r1 at 500 and to r2 at 1000; r1 jumped again, at 900 to r3, before
 * r2 asks for its point. r1: 500-520 Recv, computing to 600, Send 600-610, Recv 620-950 until
 * r3's send at 900. r2 Recv 0-1000 is over long after r1's send at 600. */
static void test_two_jumps(void **state)
{
    (void)state;
    send(0, 500, 510, 1, 5);
    recv(1, 0, 520, 0, 5);
    send(1, 600, 610, 2, 5);
    recv(1, 620, 950, 3, 5);
    send(3, 900, 910, 1, 5);
    recv(2, 0, 1000, 1, 5);
    run();
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 500 + 280);
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 2), 600);
    assert_int_equal(waits->critical_ns, 1000);
    assert_int_equal(on_path(RFN_ACTIVITY_START, 0), 500);             /* r0 */
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 80);   /* r1 520-600 */
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_RECV_), 20 + 400); /* r1, r2 600-1000 */
}

/* r0 sends at 100 what takes until 1000 to arrive at r1, and waits for r2 four times meanwhile:
 * which chain led to r0's Send is not known any more. So the path stays on r1, whose Recv waited
 * 100. */
static void test_forgotten_chain(void **state)
{
    (void)state;
    send(0, 100, 110, 1, 5);
    recv(1, 0, 1000, 0, 5);
    for (int64_t i = 0; i < 4; i++) {
        recv(0, 200 + 100 * i, 270 + 100 * i, 2, 5);
        send(2, 250 + 100 * i, 260 + 100 * i, 0, 5);
    }
    run();
    assert_int_equal(waited(RFN_LATE_SENDER, FAKE_RECV_, 1), 100);
    assert_int_equal(cost(0, RFN_ACTIVITY_START, 0), 100);
    assert_int_equal(waits->critical_rank, 1);
    assert_int_equal(waits->critical_ns, 1000);
    assert_int_equal(on_path(RFN_ACTIVITY_WAIT, FAKE_RECV_), 100);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_RECV_), 900);
}

/* ---- clocks, errors ---- */

static void backward(void)
{
    pass_time(0, 100, 110);
    send(0, 600, 610, 1, 5);
    recv(1, 100, 500, 0, 5);
    pass_time(1, 1500, 2500);
}

/* Ends 100 before it begins. All of the call was waiting; the path is as long as the run. */
static void test_backward(void **state)
{
    (void)state;
    backward();
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 400, 0, 0);
    assert_int_equal(waits->matching.backward, 1);
    assert_int_equal(waits->matching.backward_max_ns, 100);
    assert_false(waits->matching.fixed);
    assert_int_equal(waits->critical_ns, 2400);
}

/* Ends 110 before it begins, of which r0 computed 10: at 200 r0 was in its Pcontrol, and so is the
 * path then. */
static void test_backward_beyond_an_activity(void **state)
{
    (void)state;
    pass_time(0, 100, 300);
    send(0, 310, 320, 1, 5);
    recv(1, 100, 200, 0, 5);
    pass_time(1, 400, 500);
    run();
    assert_int_equal(waits->critical_ns, 400);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_SEND_), 0);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_PCONTROL), 100 + 100);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_PCONTROL), 200);
    for (size_t i = 0; i < waits->n_critical; i++)
        assert_true(waits->critical[i].ns >= 0);
}

/* Recv ends at 600. 1000 later the shift is 100 - 10, after 1000 more 90 - 10: Pcontrol is
 * 1590-2580, and the run is 2480 long, of which r0's first 500 are the path's. */
static void test_fixed(void **state)
{
    (void)state;
    backward();
    run_as(true);
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 500, 0, 0);
    assert_int_equal(waits->matching.backward, 1);
    assert_true(waits->matching.fixed);
    assert_int_equal(waits->critical_ns, 2480);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_PCONTROL), 990);
    assert_int_equal(on_path(RFN_ACTIVITY_MPI, FAKE_PCONTROL), 10 + 990);
}

/* r2 is damaged after its first event, r3 cannot be opened: the rest is analysed. */
static void test_damaged(void **state)
{
    (void)state;
    send(0, 600, 700, 1, 5);
    recv(1, 100, 1100, 0, 5);
    recv(1, 1110, 1120, 2, 5);
    send(2, 605, 608, 1, 5);
    fake.streams[2].fails_with = RFN_E_CORRUPT;
    fake.streams[3].opens_with = RFN_E_INCOMPLETE;
    run();
    expect_only(RFN_LATE_SENDER, FAKE_RECV_, 0, 500, 0, 0);
    assert_int_equal(waits->unreadable, 2);
    assert_int_equal(waits->error, RFN_E_CORRUPT); /* the lowest, though the other is found first */
    assert_int_equal(waits->diag.rank, 2);
    assert_int_equal(waits->matching.matched, 2);
}

/* Nobody waits for a rank that is not there for longer than the record goes on. */
static void test_rank_ends_early(void **state)
{
    (void)state;
    fake.streams[3].fails_with = RFN_E_CORRUPT;
    for (uint32_t i = 0; i < 3; i++) {
        barrier(i, 100 * i, 500, WORLD);
        barrier(i, 600, 700, WORLD);
    }
    run();
    assert_int_equal(waits->unreadable, 1);
    assert_int_equal(waited(RFN_WAIT_AT_BARRIER, FAKE_BARRIER, 0), 200);
    assert_int_equal(waits->matching.unmatched_collectives, 2);
}

/* Means over ranks are those of the ranks that are there; nobody waits for the others. */
static void test_absent(void **state)
{
    (void)state;
    fake.streams[2].absent = fake.streams[3].absent = true;
    barrier(0, 300, 400, WORLD);
    barrier(1, 100, 400, WORLD);
    barrier(0, 1000, 1100, WORLD);
    barrier(1, 500, 1100, WORLD);
    run();
    assert_int_equal(waited(RFN_WAIT_AT_BARRIER, FAKE_BARRIER, 1), 200 + 500);
    assert_int_equal(waits->matching.unmatched_collectives, 2);
    assert_int_equal(on_path(RFN_ACTIVITY_COMPUTE, FAKE_BARRIER), 600);
    for (size_t i = 0; i < waits->n_critical; i++) {
        if (waits->activities[waits->critical[i].activity].kind == RFN_ACTIVITY_COMPUTE) {
            assert_true(waits->critical[i].mean_ns == (600 + 100) / 2);
            assert_true(waits->critical[i].imbalance_ns == 250);
        }
    }
}

static void test_without_times(void **state)
{
    (void)state;
    fake.run.times = false;
    for (int i = 0; i < 3; i++) {
        send(0, 0, 0, 1, 5);
        recv(1, 0, 0, 0, 5);
    }
    for (uint32_t i = 0; i < 4; i++)
        barrier(i, 0, 0, WORLD);
    send(0, 0, 0, 1, 6);
    run();
    assert_false(waits->times);
    assert_int_equal(waits->n_rows, 0);
    assert_int_equal(waits->n_critical, 0);
    assert_int_equal(waits->matching.messages, 4);
    assert_int_equal(waits->matching.matched, 3);
    assert_int_equal(waits->matching.collectives, 1);
    assert_int_equal(waits->matching.backward, 0);
}

/* Stamps that no clock has shown: whatever comes out adds up. */
static void test_impossible_times(void **state)
{
    (void)state;
    send(0, INT64_MIN, INT64_MAX, 1, 5);
    send(0, INT64_MIN, 7, 1, 6);
    recv(1, INT64_MAX, INT64_MIN, 0, 5);
    recv(1, 3, INT64_MAX, 0, 6);
    for (uint32_t i = 0; i < 4; i++)
        barrier(i, i % 2 ? INT64_MAX : INT64_MIN, INT64_MAX, WORLD);
    fake.streams[0].events[0].record.inside_ns = INT64_MIN;
    fake.streams[1].events[0].record.polls = UINT64_MAX;
    run();
    assert_int_equal(waits->matching.matched, 2);
    run_as(true);
    assert_int_equal(waits->matching.collectives, 1);
}

static void test_empty(void **state)
{
    (void)state;
    run();
    assert_int_equal(waits->total_ns, 0);
    assert_int_equal(waits->critical_ns, 0);
    assert_int_equal(waits->n_rows, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_late_sender),
        TEST(test_recording),
        TEST(test_early_sender),
        TEST(test_nonblocking),
        TEST(test_waitall),
        TEST(test_probe),
        TEST(test_matched_probe),
        TEST(test_wrong_order),
        TEST(test_order_of_two_that_are_needed),
        TEST(test_order_of_much_work),
        TEST(test_order_of_several),
        TEST(test_order_of_requests),
        TEST(test_order_of_any),
        TEST(test_order_of_other_tag),
        TEST(test_order_of_any_tag),
        TEST(test_order_of_any_probed),
        TEST(test_order_of_any_asked),
        TEST(test_late_receiver),
        TEST(test_late_receiver_standard),
        TEST(test_local_sends),
        TEST(test_late_receiver_nonblocking),
        TEST(test_eager),
        TEST(test_small_is_eager),
        TEST(test_rendezvous),
        TEST(test_undecided_is_not_eager),
        TEST(test_early_reduce),
        TEST(test_early_reduce_without_data),
        TEST(test_late_broadcast),
        TEST(test_empty_broadcast),
        TEST(test_nxn),
        TEST(test_barrier),
        TEST(test_nonblocking_nxn),
        TEST(test_nonblocking_nxn_waits),
        TEST(test_early_scan),
        TEST(test_init),
        TEST(test_init_without_synchronization),
        TEST(test_finalize),
        TEST(test_maybe),
        TEST(test_left_late),
        TEST(test_maybe_not),
        TEST(test_neighbours),
        TEST(test_inter_broadcast),
        TEST(test_inter_broadcast_back),
        TEST(test_members_elsewhere),
        TEST(test_undecided),
        TEST(test_undecided_together),
        TEST(test_undecided_order),
        TEST(test_never_decided),
        TEST(test_foreign_wildcard),
        TEST(test_cancelled_receive),
        TEST(test_cancelled_send),
        TEST(test_not_cancelled),
        TEST(test_freed),
        TEST(test_freed_wildcard),
        TEST(test_nobody),
        TEST(test_unmatched),
        TEST(test_persistent),
        TEST(test_persistent_barrier),
        TEST(test_partitioned),
        TEST(test_threads),
        TEST(test_leaves_barrier_late),
        TEST(test_polls),
        TEST(test_polls_of_root),
        TEST(test_polls_between_work),
        TEST(test_phase_of_polls),
        TEST(test_work_in_phase_of_polls),
        TEST(test_polls_given_up),
        TEST(test_polls_at_the_end),
        TEST(test_tests),
        TEST(test_chain),
        TEST(test_slow_receive),
        TEST(test_slow_send),
        TEST(test_two_excesses),
        TEST(test_long_interval),
        TEST(test_interior_point),
        TEST(test_point_of_a_waiting_call),
        TEST(test_two_jumps),
        TEST(test_forgotten_chain),
        TEST(test_backward),
        TEST(test_backward_beyond_an_activity),
        TEST(test_fixed),
        TEST(test_damaged),
        TEST(test_rank_ends_early),
        TEST(test_absent),
        TEST(test_without_times),
        TEST(test_impossible_times),
        TEST(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
