/* What the walk of refrain/match.h tells of programs that are written down by hand. */
#define FAKE_EVENTS 64
#include "refrain/match.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)

static char told[8192];
static struct rfn_matching matching;

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...)
{
    size_t n = strlen(told);
    va_list list;
    va_start(list, format);
    vsnprintf(told + n, sizeof told - n, format, list);
    va_end(list);
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    told[0] = '\0';
    return 0;
}

static void run(const struct rfn_match_hooks *hooks)
{
    struct rfn_diag diag;
    assert_int_equal(rfn_match_run(&fake, hooks, &matching, &diag), 0);
}

/* ---- messages ---- */

static void tell_end(const struct rfn_match_end *end)
{
    tell("%u.%d@%d ", end->posted.rank, (int)end->posted.event, (int)end->posted.ns);
    if (end->ended)
        tell("by %d %d-%d ", (int)end->event, (int)end->enter_ns, (int)end->exit_ns);
    else
        tell("freed ");
}

static int tell_message(void *context, const struct rfn_match_message *message)
{
    (void)context;
    tell_end(&message->sent);
    tell("-> ");
    tell_end(&message->received);
    tell("%d bytes tag %d mode %d\n", (int)message->bytes, (int)message->tag, (int)message->mode);
    return 0;
}

static void expect_messages(const char *expected)
{
    const struct rfn_match_hooks hooks = {.message = tell_message};
    run(&hooks);
    assert_string_equal(told, expected);
}

static void send(uint32_t rank, int64_t enter, int64_t exit, int64_t dest, int64_t bytes)
{
    EVENT(rank, SEND_, 0, enter, exit, PLAIN, bytes, BYTE, dest, 5, WORLD);
}

static void recv(uint32_t rank, int64_t enter, int64_t exit, int64_t source)
{
    EVENT(rank, RECV_, 0, enter, exit, PLAIN, 99, BYTE, source, 5, WORLD, AS, AS, AS);
}

static void test_blocking(void **state)
{
    (void)state;
    send(0, 10, 40, 1, 7);
    send(0, 50, 60, 1, 8);
    recv(1, 5, 42, 0);
    recv(1, 45, 70, 0);
    expect_messages("0.0@10 by 0 10-40 -> 1.0@5 by 0 5-42 7 bytes tag 5 mode 0\n"
                    "0.1@50 by 1 50-60 -> 1.1@45 by 1 45-70 8 bytes tag 5 mode 0\n");
    assert_int_equal(matching.messages, 2);
    assert_int_equal(matching.matched, 2);
}

/* Requests are completed by another call than the one that posts; of a wildcard it is known only
 * then where the message is from. */
static void test_requests(void **state)
{
    (void)state;
    EVENT(0, ISEND, 0, 10, 11, PLAIN, 7, BYTE, 1, 5, WORLD);
    EVENT(0, WAIT, 0, 90, 95, RECENT(1), 0);
    EVENT(1, IRECV, 0, 20, 21, PLAIN, 99, BYTE, RFN_ANY, 5, WORLD);
    EVENT(1, IRECV, 0, 22, 23, PLAIN, 99, BYTE, 2, 5, WORLD);
    EVENT(1, WAITALL, 0, 30, 80, 2, LIST(RECENT(2), RECENT(1)), LIST(0, 0, 5, 7, 0, 0));
    send(2, 40, 50, 1, 9);
    expect_messages("2.0@40 by 0 40-50 -> 1.1@22 by 2 30-80 9 bytes tag 5 mode 0\n"
                    "0.0@10 by 1 90-95 -> 1.0@20 by 2 30-80 7 bytes tag 5 mode 0\n");
}

static int tell_sites(void *context, const struct rfn_match_message *message)
{
    (void)context;
    for (int i = 0; i < 2; i++) {
        const struct rfn_match_end *end = i ? &message->received : &message->sent;
        tell("%s/%u by %s/%u ", fake_functions[end->site.function].name, end->site.path,
             fake_functions[end->end_site.function].name, end->end_site.path);
    }
    return 0;
}

/* Where each end was begun and completed, also where the message is known after that. */
static void test_sites(void **state)
{
    (void)state;
    const struct rfn_match_hooks hooks = {.message = tell_sites};
    EVENT(0, ISEND, 1, 10, 11, PLAIN, 7, BYTE, 1, 5, WORLD);
    EVENT(0, WAIT, 2, 90, 95, RECENT(1), 0);
    EVENT(1, IRECV, 3, 20, 21, PLAIN, 99, BYTE, RFN_ANY, 5, WORLD);
    EVENT(1, WAIT, 4, 30, 80, RECENT(1), LIST(0, 0, 5, 7, 0, 0));
    EVENT(2, SEND_, 5, 40, 41, PLAIN, 7, BYTE, 3, 5, WORLD);
    EVENT(3, RECV_, 6, 10, 20, PLAIN, 99, BYTE, 2, 5, WORLD, AS, AS, AS); /* clocks disagree */
    run(&hooks);
    assert_string_equal(told, "MPI_Send/5 by MPI_Send/5 MPI_Recv/6 by MPI_Recv/6 "
                              "MPI_Isend/1 by MPI_Wait/2 MPI_Irecv/3 by MPI_Wait/4 ");
}

/* Each start is a message of its own. */
static void test_persistent(void **state)
{
    (void)state;
    EVENT(0, SEND_INIT, 0, 1, 2, PLAIN, 7, BYTE, 1, 5, WORLD, SLOT(0));
    for (int i = 0; i < 2; i++) {
        EVENT(0, START, 0, 10 + i * 20, 11 + i * 20, SLOT(0));
        EVENT(0, WAIT, 0, 12 + i * 20, 19 + i * 20, SLOT(0), 0);
        recv(1, 15 + i * 20, 18 + i * 20, 0);
    }
    expect_messages("0.1@10 by 2 12-19 -> 1.0@15 by 0 15-18 7 bytes tag 5 mode 0\n"
                    "0.3@30 by 4 32-39 -> 1.1@35 by 1 35-38 7 bytes tag 5 mode 0\n");
}

static void test_freed(void **state)
{
    (void)state;
    EVENT(0, ISEND, 0, 10, 11, PLAIN, 7, BYTE, 1, 5, WORLD);
    EVENT(0, REQUEST_FREE, 0, 12, 13, RECENT(1));
    recv(1, 20, 25, 0);
    expect_messages("0.0@10 freed -> 1.0@20 by 0 20-25 7 bytes tag 5 mode 0\n");
}

/* Without the other end, or cancelled, there is no message to tell. */
static void test_one_end(void **state)
{
    (void)state;
    send(0, 10, 40, 1, 7);
    recv(2, 10, 40, 3);
    EVENT(3, IRECV, 0, 20, 21, PLAIN, 99, BYTE, 1, 5, WORLD);
    EVENT(3, CANCEL, 0, 22, 23, RECENT(1));
    EVENT(3, WAIT, 0, 24, 25, RECENT(1), LIST(0, AS, AS, AS, 0, RFN_COMPLETION_CANCELLED));
    expect_messages("");
    assert_int_equal(matching.unmatched_sends, 1);
    assert_int_equal(matching.unmatched_receives, 1);
    assert_int_equal(matching.cancelled, 1);
}

/* ---- events ---- */

static int tell_gap(void *context, uint32_t stream, int64_t from_ns, int64_t to_ns)
{
    (void)context;
    tell("%u gap %d-%d\n", stream, (int)from_ns, (int)to_ns);
    return 0;
}

static void tell_event(const struct rfn_match_event *event, const char *verb)
{
    tell("%u %s %d", event->stream, verb, (int)event->record->index);
    for (size_t i = 0; i < event->n_ops; i++) {
        const struct rfn_match_op *op = &event->ops[i];
        tell(" %c", "srpc"[op->what]);
        if (op->peer != RFN_NO_PEER)
            tell("%u:%d", op->peer, (int)op->bytes);
        if (op->peer != RFN_NO_PEER && (op->comm != WORLD || op->tag != 5))
            tell("~%u,%d", op->comm, (int)op->tag);
        if (op->other)
            tell("@%d", (int)op->other->ns);
        if (op->user && *op->user)
            tell("=%d", (int)*op->user);
        if (op->cancelled)
            tell("!");
    }
    tell("\n");
}

static int tell_enter(void *context, const struct rfn_match_event *event)
{
    (void)context;
    tell_event(event, "enters");
    for (size_t i = 0; i < event->n_ops; i++) {
        if (event->ops[i].what == RFN_MATCH_SEND)
            *event->ops[i].user = 100 + (uint64_t)event->enter_ns;
    }
    return 0;
}

static int tell_leave(void *context, const struct rfn_match_event *event)
{
    (void)context;
    tell_event(event, "leaves");
    return 0;
}

static int tell_stream_end(void *context, uint32_t stream, int64_t ns)
{
    (void)context;
    tell("%u ends %d\n", stream, (int)ns);
    return 0;
}

static const struct rfn_match_hooks all_events = {
    .gap = tell_gap, .enter = tell_enter, .leave = tell_leave, .end = tell_stream_end};

/* What is written into a message's slot at one end is there at the other. */
static void test_slot(void **state)
{
    (void)state;
    EVENT(0, ISEND, 0, 10, 11, PLAIN, 7, BYTE, 1, 6, 4);
    EVENT(0, WAIT, 0, 30, 35, RECENT(1), 0);
    EVENT(1, RECV_, 0, 5, 20, PLAIN, 99, BYTE, 0, 6, 4, AS, AS, AS);
    run(&all_events);
    assert_string_equal(told, "2 ends 0\n3 ends 0\n" /* without events */
                              "0 enters 0 s1:7~4,6\n"
                              "1 enters 0 r0:7~4,6@10=110\n"
                              "0 leaves 0\n"
                              "0 gap 11-30\n"
                              "0 enters 1\n"
                              "1 leaves 0 r0:7~4,6@10=110\n"
                              "1 ends 20\n"
                              "0 leaves 1 s1:7~4,6@5=110\n"
                              "0 ends 35\n");
}

/* Between the calls that switch recording off and on again nothing is known. */
static void test_pause(void **state)
{
    const struct rfn_match_hooks hooks = {.gap = tell_gap};
    (void)state;
    EVENT(0, BARRIER, 0, 0, 1, WORLD)->error = 1;
    EVENT(0, PCONTROL, 0, 10, 11, 0);
    EVENT(0, PCONTROL, 0, 50, 51, 1);
    EVENT(0, BARRIER, 0, 60, 61, WORLD)->error = 1;
    run(&hooks);
    assert_string_equal(told, "0 gap 1-10\n0 gap 51-60\n");
}

/* Nobody leaves a barrier before all have entered. */
static void test_order(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, BARRIER, 0, 10 * rank, 40 + rank, WORLD);
    run(&all_events);
    assert_string_equal(told, "0 enters 0 c\n1 enters 0 c\n2 enters 0 c\n3 enters 0 c\n"
                              "0 leaves 0 c\n0 ends 40\n1 leaves 0 c\n1 ends 41\n"
                              "2 leaves 0 c\n2 ends 42\n3 leaves 0 c\n3 ends 43\n");
}

static int refuse(void *context, const struct rfn_match_event *event)
{
    (void)context;
    return event->enter_ns < 50 ? 0 : RFN_E_USAGE;
}

static void test_hook_that_fails(void **state)
{
    (void)state;
    struct rfn_diag diag;
    const struct rfn_match_hooks hooks = {.enter = refuse};
    send(0, 10, 40, 1, 7);
    recv(1, 60, 70, 0);
    assert_int_equal(rfn_match_run(&fake, &hooks, NULL, &diag), RFN_E_USAGE);
}

static void test_stream_that_is_cut_off(void **state)
{
    (void)state;
    struct rfn_diag diag;
    const struct rfn_match_hooks hooks = {.message = tell_message};
    send(0, 10, 40, 1, 7);
    recv(1, 20, 30, 0);
    fake.streams[2].fails_with = RFN_E_CORRUPT;
    assert_int_equal(rfn_match_run(&fake, &hooks, NULL, &diag), RFN_E_CORRUPT);
    assert_string_equal(told, "0.0@10 by 0 10-40 -> 1.0@20 by 0 20-30 7 bytes tag 5 mode 0\n");
}

/* ---- collective calls, windows ---- */

static int tell_collective(void *context, const struct rfn_match_collective *collective)
{
    (void)context;
    tell("%s comm %d root %d:", fake_functions[collective->function].name, (int)collective->comm,
         (int)collective->root);
    for (uint32_t i = 0; i < collective->n_members; i++) {
        const struct rfn_match_member *member = &collective->members[i];
        if (member->entered)
            tell(" %u@%d-%d %d/%d", member->end.posted.rank, (int)member->end.posted.ns,
                 (int)member->end.exit_ns, (int)member->sent_bytes, (int)member->received_bytes);
        else
            tell(" -");
    }
    tell("\n");
    return 0;
}

static void test_collectives(void **state)
{
    (void)state;
    const struct rfn_match_hooks hooks = {.collective = tell_collective};
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++)
        EVENT(rank, BCAST, 0, 10 + rank, 20 + rank, PLAIN, 6, BYTE, 1, WORLD);
    EVENT(1, IBARRIER, 0, 30, 31, 2);
    EVENT(1, WAIT, 0, 32, 50, RECENT(1), 0);
    EVENT(3, BARRIER, 0, 40, 45, 2);
    EVENT(0, BARRIER, 0, 60, 61, WORLD); /* the others never come */
    run(&hooks);
    assert_string_equal(told, "MPI_Bcast comm 0 root 1: 0@10-20 -1/6 1@11-21 6/-1 2@12-22 -1/6 "
                              "3@13-23 -1/6\n"
                              "MPI_Ibarrier comm 2 root -1: 1@30-50 -1/-1 3@40-45 -1/-1\n");
    assert_int_equal(matching.unmatched_collectives, 1);
}

static int tell_one_sided(void *context, const struct rfn_match_one_sided *call)
{
    (void)context;
    tell("%u %s comm %u window %d target %d", call->event->rank,
         fake_functions[call->event->record->function].name, call->comm, (int)call->window,
         (int)call->target);
    if (call->waited_ns)
        tell(" waited %d for %u@%d", (int)call->waited_ns, call->until.rank, (int)call->until.ns);
    tell("\n");
    return 0;
}

static void test_windows(void **state)
{
    (void)state;
    const struct rfn_match_hooks hooks = {.one_sided = tell_one_sided};
    for (uint32_t rank = 1; rank < FAKE_RANKS; rank += 2) { /* communicator 2 */
        EVENT(rank, WIN_CREATE, 0, 10, 11, PLAIN, 8, 1, 0, 2, 4);
        EVENT(rank, FENCE, 0, 20 + 10 * rank, 60, 0, 4);
    }
    run(&hooks);
    assert_string_equal(told, "1 MPI_Win_fence comm 2 window 0 target -1 waited 20 for 3@50\n"
                              "3 MPI_Win_fence comm 2 window 0 target -1\n");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blocking),
        TEST(test_requests),
        TEST(test_persistent),
        TEST(test_sites),
        TEST(test_freed),
        TEST(test_one_end),
        TEST(test_slot),
        TEST(test_pause),
        TEST(test_order),
        TEST(test_hook_that_fails),
        TEST(test_stream_that_is_cut_off),
        TEST(test_collectives),
        TEST(test_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
