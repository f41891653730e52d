/* Who is to blame where several messages are awaited at once, or a lock again and again; and waits
 * where times are reduced, so that a send may seem to be over before its receive is posted. Times
 * are in ns, r0 to r3 are ranks.
 */
#define FAKE_EVENTS 128
#include "support/fake_waits.h"

static void send(uint32_t rank, int64_t enter, int64_t exit, int64_t dest, int64_t bytes)
{
    EVENT(rank, SEND_, 0, enter, exit, PLAIN, bytes, BYTE, dest, 5, WORLD);
}

static void recv(uint32_t rank, int64_t enter, int64_t exit, int64_t source)
{
    EVENT(rank, RECV_, 0, enter, exit, PLAIN, SIZE, BYTE, source, 5, WORLD, AS, AS, AS);
}

static void isend(uint32_t rank, int64_t enter, int64_t dest)
{
    EVENT(rank, ISEND, 0, enter, enter + 5, PLAIN, SIZE, BYTE, dest, 5, WORLD);
}

static void irecv(uint32_t rank, int64_t enter, int64_t source)
{
    EVENT(rank, IRECV, 0, enter, enter + 5, PLAIN, SIZE, BYTE, source, 5, WORLD);
}

static void wait_for_two(uint32_t rank, int64_t enter, int64_t exit)
{
    EVENT(rank, WAITALL, 0, enter, exit, 2, LIST(RECENT(2), RECENT(1)), 0);
}

/* Times may be off by so much. */
static void reduce_times(int64_t off_ns)
{
    fake.run.reduced = true;
    fake.off_ns = off_ns;
}

/* ---- several at once ---- */

/* r0's Waitall 100-1000 gets r1's message, and waits for r2's until 900. Then r1 waits for r0, from
 * right after its send on. */
static void message_of(int64_t sent, int64_t sent_back)
{
    irecv(0, 0, 1);
    irecv(0, 10, 2);
    wait_for_two(0, 100, 1000);
    send(0, sent_back, sent_back + 10, 1, SIZE);
    send(1, sent, sent + 5, 0, SIZE);
    recv(1, sent + 10, sent_back + 20, 0);
    send(2, 900, 910, 0, SIZE);
    run();
    assert_int_equal(waited_in(RFN_LATE_SENDER, 0), 800);
    assert_int_equal(waited_in(RFN_LATE_SENDER, 1), sent_back - (sent + 10));
}

/* r1 was there long before, and the causes are what r0 has waited for, 800, and the rest of its
 * call, 100. */
static void test_early_message(void **state)
{
    (void)state;
    message_of(110, 1010);
    assert_in_range(cost(2, RFN_ACTIVITY_START, 0), 800 + 890 * 8 / 9, 800 + 890 * 8 / 9 + 1);
}

/* When r1's message came r0 had waited, and the cause of r1's wait is what r0 did after. */
static void test_late_message(void **state)
{
    (void)state;
    message_of(890, 1110);
    assert_int_equal(cost(2, RFN_ACTIVITY_START, 0), 800);
}

/* Both messages are r1's, at 110 and 900, in either order of the requests: the two are in step
 * where the later one came, and what r0 did since is the cause. */
static void two_of_one(int64_t early_tag, int64_t late_tag)
{
    EVENT(0, IRECV, 0, 0, 5, PLAIN, SIZE, BYTE, 1, 1, WORLD);
    EVENT(0, IRECV, 0, 10, 15, PLAIN, SIZE, BYTE, 1, 2, WORLD);
    wait_for_two(0, 100, 1000);
    send(0, 1300, 1310, 1, SIZE);
    EVENT(1, SEND_, 0, 110, 115, PLAIN, SIZE, BYTE, 0, early_tag, WORLD);
    EVENT(1, SEND_, 0, 900, 905, PLAIN, SIZE, BYTE, 0, late_tag, WORLD);
    recv(1, 1020, 1330, 0);
    run();
    assert_int_equal(waited_in(RFN_LATE_SENDER, 0), 800);
    assert_int_equal(waited_in(RFN_LATE_SENDER, 1), 280);
    for (size_t i = 0; i < waits->n_causes; i++) {
        const struct rfn_cause *cause = &waits->causes[i];
        if (cause->waited.function == FAKE_RECV_)
            assert_int_equal(cause->ranks[0].rank, 0);
    }
}

static void test_early_then_late(void **state)
{
    (void)state;
    two_of_one(1, 2);
}

static void test_late_then_early(void **state)
{
    (void)state;
    two_of_one(2, 1);
}

/* r0's sends are both taken late, r1's at 150 and r2's at 900. r1 waits for r0 from 160 on: as
 * above. */
static void test_early_receiver(void **state)
{
    (void)state;
    isend(0, 0, 1);
    isend(0, 10, 2);
    wait_for_two(0, 100, 1000);
    send(0, 1010, 1020, 1, SIZE);
    recv(1, 150, 155, 0);
    recv(1, 160, 1030, 0);
    recv(2, 900, 1000, 0);
    run();
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 800);
    assert_int_equal(waited_in(RFN_LATE_SENDER, 1), 850);
    assert_in_range(cost(2, RFN_ACTIVITY_START, 0), 800 + 850 * 8 / 9, 800 + 850 * 8 / 9 + 1);
}

/* ---- locks ---- */

/* r0 holds the lock 11-100, r1, which computed for 59 before, 102-150, and r0 waits for it from 110
 * on. The two were in step when r1 got the lock: what r1 did before is not the cause, but the 48
 * while it holds it. */
static void test_lock_again(void **state)
{
    enum { EXCLUSIVE = 1 };
    (void)state;
    fake.run.flavour = "openmpi";
    for (uint32_t rank = 0; rank < 4; rank++)
        EVENT(rank, WIN_CREATE, 0, 0, 1, 0, 8, 1, -1, WORLD, 0);
    EVENT(0, LOCK, 0, 10, 11, EXCLUSIVE, 3, 0, 0);
    EVENT(0, UNLOCK, 0, 100, 101, 3, 0);
    EVENT(0, LOCK, 0, 110, 152, EXCLUSIVE, 3, 0, 0);
    EVENT(0, UNLOCK, 0, 160, 161, 3, 0);
    EVENT(1, LOCK, 0, 60, 102, EXCLUSIVE, 3, 0, 0);
    EVENT(1, UNLOCK, 0, 150, 151, 3, 0);
    run();
    assert_int_equal(waited_in(RFN_LOCK_CONTENTION, 0), 41);
    assert_int_equal(waited_in(RFN_LOCK_CONTENTION, 1), 41);
    assert_int_equal(cost(1, RFN_ACTIVITY_COMPUTE, FAKE_LOCK), 0);
    assert_int_equal(cost(1, RFN_ACTIVITY_COMPUTE, FAKE_UNLOCK), 41);
}

/* ---- reduced times ---- */

/* Each rank's times may be off by 50. r0's send 100-600 seems to be over before its receive is
 * posted: less than 100 later it has waited for it, all the time. */
static void late_by(int64_t posted)
{
    reduce_times(50);
    send(0, 100, 600, 1, SIZE);
    recv(1, posted, 800, 0);
    run();
}

static void test_seems_to_be_over(void **state)
{
    (void)state;
    late_by(699);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 500);
    assert_int_equal(waits->total_ns, 500);
    assert_int_equal(cost(1, RFN_ACTIVITY_START, 0), 500);
}

static void test_is_over(void **state)
{
    (void)state;
    late_by(700);
    assert_int_equal(waits->total_ns, 0);
}

/* Nor where each segment has kept its own times. */
static void test_nothing_replaced(void **state)
{
    (void)state;
    fake.run.reduction.executions = fake.run.reduction.representatives = 7;
    late_by(699);
    assert_int_equal(waits->total_ns, 0);
}

/* Without reduced times it is as it is. */
static void test_exact(void **state)
{
    (void)state;
    send(0, 100, 600, 1, SIZE);
    recv(1, 601, 800, 0);
    run();
    assert_int_equal(waits->total_ns, 0);
}

/* A first message whose receive is posted a little later (20) does not show that such ones are sent
 * at once (and its send, of 10, is too short to tell whether it waited), one that is posted much
 * later (300) does. Of two sends that are awaited together, 400 to 900, the first has waited for
 * its receive at 600, if at all. */
static void first_one(int64_t posted)
{
    reduce_times(50);
    send(0, 0, 10, 1, SIZE);
    recv(1, posted, posted + 10, 0);
    isend(0, 340, 1);
    isend(0, 350, 2);
    wait_for_two(0, 400, 900);
    recv(1, 600, 950, 0);
    recv(2, 0, 380, 0);
    run();
}

static void test_shows_nothing(void **state)
{
    (void)state;
    first_one(20);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 200);
}

static void test_shows_eager(void **state)
{
    (void)state;
    first_one(300);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 0);
}

/* r0's receiver is itself in a send that seems to be over, at 605, until it is known at 705 that
 * r2's receive is far away. Of r0's message it is not known at 700, so it shows nothing. */
static void test_not_known(void **state)
{
    (void)state;
    reduce_times(50);
    send(0, 100, 600, 1, SIZE);
    send(1, 200, 605, 2, SIZE * 3 / 4);
    recv(1, 606, 700, 0);
    recv(2, 0, 4000, 3);
    recv(2, 5000, 5010, 1);
    isend(0, 1340, 1);
    isend(0, 1350, 3);
    wait_for_two(0, 1400, 1900);
    recv(1, 1600, 1950, 0);
    recv(3, 0, 1380, 0);
    send(3, 3990, 3995, 2, 1);
    run();
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 200);
}

/* What seems to be over counts only where the call was for nothing else: here it was for r2's
 * message, at 580. */
static void test_other_reason(void **state)
{
    (void)state;
    reduce_times(50);
    irecv(0, 0, 2);
    isend(0, 10, 1);
    wait_for_two(0, 100, 600);
    recv(1, 650, 800, 0);
    send(2, 580, 590, 0, SIZE);
    run();
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 0);
    assert_int_equal(waited_in(RFN_LATE_SENDER, 0), 480);
}

/* Where a message and a receiver come at about the same time, 580 and 590, it is the message that
 * was waited for, unless the send is synchronous. */
static void same_time(bool synchronous)
{
    reduce_times(50);
    irecv(0, 0, 2);
    if (synchronous)
        EVENT(0, ISSEND, 0, 10, 15, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    else
        isend(0, 10, 1);
    wait_for_two(0, 100, 600);
    recv(1, 590, 800, 0);
    send(2, 580, 590, 0, SIZE);
    run();
}

static void test_same_time(void **state)
{
    (void)state;
    same_time(false);
    assert_int_equal(waited_in(RFN_LATE_SENDER, 0), 480);
    assert_int_equal(waits->total_ns, 480);
}

static void test_synchronous(void **state)
{
    (void)state;
    same_time(true);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 490);
    assert_int_equal(waits->total_ns, 490);
}

/* A buffered send never waits. */
static void test_buffered(void **state)
{
    (void)state;
    reduce_times(50);
    EVENT(0, BSEND, 0, 100, 600, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    recv(1, 650, 800, 0);
    run();
    assert_int_equal(waits->total_ns, 0);
}

/* r0's receive is posted when r1's send is over, r1's when r2's is, and all sends seem to be over a
 * little before: each is told as soon as it is known. */
static void test_chain(void **state)
{
    (void)state;
    reduce_times(40);
    send(0, 100, 1000, 1, SIZE);
    send(1, 100, 1002, 2, SIZE);
    recv(1, 1003, 1100, 0);
    send(2, 100, 1004, 3, SIZE);
    recv(2, 1005, 1100, 1);
    recv(3, 1006, 1100, 2);
    run();
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 900);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 1), 902);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 2), 904);
}

/* r0's Waitall takes a message that moves until 600 and was sent long ago, and ends a send whose
 * receive is posted at 300: if both are small, that is no wait where the message may have taken so
 * long. */
static void moving(int64_t bytes, int64_t received_bytes)
{
    reduce_times(50);
    irecv(0, 0, 2);
    EVENT(0, ISEND, 0, 10, 15, PLAIN, bytes, BYTE, 1, 5, WORLD);
    wait_for_two(0, 100, 600);
    recv(1, 300, 800, 0);
    send(2, 0, 590, 0, received_bytes);
    run();
}

/* The same where the network has been measured. */
static void moving_by(int64_t eager_bytes, double gap_per_byte_ns, int64_t expected_ns)
{
    const struct rfn_network network = {.gap_per_byte_ns = gap_per_byte_ns,
                                        .eager_bytes = eager_bytes};
    run_with(&(const struct rfn_waits_options){.network = &network});
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), expected_ns);
}

static void test_moving_data(void **state)
{
    (void)state;
    moving(SIZE, 200); /* at 1 GB/s as long as the wait would be */
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 0);
}

static void test_moving_little(void **state)
{
    (void)state;
    moving(SIZE, 199);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 200);
}

/* The measured network moves the message in 200 ns or less. */
static void test_measured_network(void **state)
{
    (void)state;
    moving(SIZE, 400);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 0);
    moving_by(512, 0.5, 0);
    moving_by(512, 0.4975, 200);
    moving_by(SIZE - 1, 0, 200);
    moving_by(SIZE, 0, 0);
    moving_by(512, 1e300, 0);
}

/* A large message is never sent eagerly. */
static void test_large(void **state)
{
    (void)state;
    moving(1 << 20, SIZE);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 200);
}

/* First r2's message, at 200, then the receiver, at 590: each has its part. */
static void test_one_after_the_other(void **state)
{
    (void)state;
    reduce_times(50);
    irecv(0, 0, 2);
    EVENT(0, ISEND, 0, 10, 15, PLAIN, 1 << 20, BYTE, 1, 5, WORLD);
    wait_for_two(0, 100, 600);
    recv(1, 590, 800, 0);
    send(2, 200, 210, 0, SIZE);
    run();
    assert_int_equal(waited_in(RFN_LATE_SENDER, 0), 100);
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 390);
    assert_int_equal(waits->total_ns, 490);
}

/* Many sends are awaited together, whose receives are posted one after the other behind the end:
 * it is the last of them. */
static void test_many(void **state)
{
    enum { MANY = 20 };
    (void)state;
    reduce_times(500);
    int64_t requests[MANY];
    for (int i = 0; i < MANY; i++) {
        isend(0, 10 * i, 1);
        requests[i] = RECENT(MANY - i);
    }
    EVENT(0, WAITALL, 0, 1000, 3000, MANY, fake_list(requests, MANY), 0);
    recv(1, 0, 2990, 2);
    for (int i = 0; i < MANY; i++)
        recv(1, 3001 + 2 * i, 3002 + 2 * i, 0);
    send(2, 2900, 2910, 1, SIZE);
    run();
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 0), 2000);
    assert_int_equal(waits->matching.matched, MANY + 1);
}

/* What a damaged file says of it may be anything that rfn_cursor_off_ns returns. */
static void test_far_off(void **state)
{
    (void)state;
    for (int64_t off_ns = 1; off_ns <= INT64_C(864000000000000); off_ns *= 10) {
        teardown(state);
        setup(state);
        reduce_times(off_ns);
        send(0, 100, 600, 1, SIZE);
        recv(1, 0, 4000, 2);
        recv(1, 5000, 5010, 0);
        send(2, 3990, 3995, 1, SIZE);
        run();
        assert_int_equal(waits->matching.matched, 2);
    }
}

/* Several threads, of which another one receives than the first. */
static void test_threads(void **state)
{
    (void)state;
    reduce_times(50);
    fake.run.streams = FAKE_RANKS + 1; /* the last one is of rank 0, too */
    fake.streams[FAKE_RANKS] = fake.streams[1];
    fake.streams[1] = (struct fake_stream){.rank = 0, .thread = 1};
    for (uint32_t i = 2; i <= FAKE_RANKS; i++)
        fake.streams[i].rank = i - 1;
    fake.streams[FAKE_RANKS].thread = 0;
    EVENT(0, PCONTROL, 0, 0, 10, 1);
    EVENT(2, SEND_, 0, 100, 600, PLAIN, SIZE, BYTE, 0, 5, WORLD); /* rank 1 */
    EVENT(1, RECV_, 0, 650, 800, PLAIN, SIZE, BYTE, 1, 5, WORLD, AS, AS, AS);
    run();
    assert_int_equal(waited_in(RFN_LATE_RECEIVER, 1), 500);
}

/* The receiver has ended without having posted anything: the send is over. */
static void test_no_receive(void **state)
{
    (void)state;
    reduce_times(50);
    send(0, 100, 600, 1, SIZE);
    EVENT(1, PCONTROL, 0, 0, 610, 1);
    run();
    assert_int_equal(waits->total_ns, 0);
    assert_int_equal(waits->matching.unmatched_sends, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_early_message),
        TEST(test_late_message),
        TEST(test_early_receiver),
        TEST(test_early_then_late),
        TEST(test_late_then_early),
        TEST(test_seems_to_be_over),
        TEST(test_is_over),
        TEST(test_exact),
        TEST(test_nothing_replaced),
        TEST(test_shows_nothing),
        TEST(test_shows_eager),
        TEST(test_not_known),
        TEST(test_other_reason),
        TEST(test_buffered),
        TEST(test_same_time),
        TEST(test_synchronous),
        TEST(test_chain),
        TEST(test_no_receive),
        TEST(test_moving_data),
        TEST(test_moving_little),
        TEST(test_measured_network),
        TEST(test_large),
        TEST(test_one_after_the_other),
        TEST(test_many),
        TEST(test_far_off),
        TEST(test_threads),
        TEST(test_lock_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
