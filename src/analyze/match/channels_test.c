/* Messages and receives of channels, many of them pending. */
#include "analyze/match/channels.h"

#include "refrain/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RANKS = 512, MANY = 100000, BYTES = 8 };

static struct rfn_channels channels;
static uint32_t numbers[MANY];
static uint32_t n_bound, last_bound, n_woken;

static int note_bound(void *context, uint32_t receive)
{
    (void)context;
    n_bound++;
    last_bound = receive;
    return 0;
}

static void note_woken(void *context, uint32_t stream)
{
    (void)context;
    (void)stream;
    n_woken++;
}

static int setup(void **state)
{
    (void)state;
    n_bound = n_woken = 0;
    assert_int_equal(rfn_channels_init(&channels, RANKS), 0);
    channels.hooks.bound = note_bound;
    channels.hooks.wake = note_woken;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_channels_release(&channels);
    return 0;
}

static uint32_t channel(uint32_t source, int64_t tag)
{
    const struct rfn_channel_key key = {.source = source, .dest = 0, .tag = tag};
    int64_t number = rfn_channel_of(&channels, &key);
    assert_true(number >= 0);
    return (uint32_t)number;
}

static struct rfn_point point(uint32_t stream, int64_t ns)
{
    return (struct rfn_point){stream, (uint64_t)ns, ns};
}

static uint32_t send(uint32_t source, int64_t tag, int64_t ns)
{
    int64_t message = rfn_channels_send(&channels, channel(source, tag), point(source, ns), BYTES,
                                        RFN_SEND_STANDARD, true);
    assert_true(message >= 0);
    return (uint32_t)message;
}

static uint32_t post(uint32_t source, int64_t tag, int64_t ns)
{
    int64_t receive = rfn_channels_post_in(&channels, channel(source, tag), 0, point(0, ns));
    assert_true(receive >= 0);
    return (uint32_t)receive;
}

static uint32_t post_any(int64_t tag, int64_t ns)
{
    int64_t receive = rfn_channels_post(&channels, 0, point(0, ns), 0, RFN_ANY, tag);
    assert_true(receive >= 0);
    return (uint32_t)receive;
}

static int64_t sent_ns(uint32_t receive)
{
    const struct rfn_message *message = rfn_channels_message(&channels, receive);
    return message ? message->sent.ns : -1;
}

static void end_send(uint32_t message)
{
    assert_int_equal(rfn_channels_sent(&channels, message, false), 0);
}

static void end_receive(uint32_t receive)
{
    assert_int_equal(rfn_channels_received(&channels, receive, false), 0);
}

/* ---- what is pending ---- */

/* Twice: the second time the memory of the first is used. */
static void test_many_messages(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int64_t i = 0; i < MANY; i++)
            end_send(send(1, 5, i));
        for (int64_t i = 0; i < MANY; i++) {
            uint32_t receive = post(1, 5, MANY + i);
            assert_int_equal(sent_ns(receive), i);
            end_receive(receive);
        }
        assert_int_equal(channels.n_messages, MANY);
        assert_int_equal(channels.n_receives, 1);
    }
    assert_int_equal(channels.counts.joined, 2 * MANY);
}

static void test_many_receives(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (int64_t i = 0; i < MANY; i++)
            numbers[i] = post(1, 5, i);
        for (int64_t i = 0; i < MANY; i++) {
            uint32_t message = send(1, 5, MANY + i);
            assert_int_equal(sent_ns(numbers[i]), MANY + i);
            end_send(message);
            end_receive(numbers[i]);
        }
        assert_int_equal(channels.n_receives, MANY);
        assert_int_equal(channels.n_messages, 1);
    }
}

/* Streams run ahead of each other: one rank's messages of some time come before the next one's of
 * the same time. All are sent before the first is received. */
static void test_many_senders(void **state)
{
    (void)state;
    const int64_t each = MANY / (RANKS - 1);
    for (uint32_t source = 1; source < RANKS; source++) {
        for (int64_t i = 0; i < each; i++)
            end_send(send(source, 5, i * 1000 + source));
    }
    for (int64_t i = 0; i < each; i++) {
        for (uint32_t source = 1; source < RANKS; source++) {
            int64_t ns = i * 1000 + source;
            uint32_t receive = post(source, 5, MANY * 1000);
            assert_int_equal(sent_ns(receive), ns);
            end_receive(receive);
        }
    }
    assert_int_equal(channels.ranks[0].n_lying, 0);
}

/* Tags that are used once: channels that are empty make room. */
static void test_many_tags(void **state)
{
    (void)state;
    for (int64_t i = 0; i < 10 * MANY; i++) {
        end_send(send(1, i, i));
        end_receive(post(1, i, i));
    }
    assert_true(channels.n < 2 * MANY);
    assert_int_equal(channels.n_messages, 1);
}

/* A number that is remembered is good as long as the generation is the same. */
static void test_generations(void **state)
{
    (void)state;
    uint32_t used_once = channel(2, 5), pending = channel(3, 5);
    uint32_t generation = channels.items[used_once].generation;
    uint32_t kept = channels.items[pending].generation;
    send(3, 5, 0);
    for (int64_t i = 0; i < 10 * MANY; i++)
        channel(1, i);
    assert_int_not_equal(channels.items[used_once].generation, generation);
    assert_int_equal(channels.items[pending].generation, kept);
    assert_int_equal(channel(3, 5), pending);
}

/* ---- order ---- */

/* Channels with messages that no receive has taken are counted. */
static void test_lying(void **state)
{
    (void)state;
    uint32_t first = send(1, 5, 100), second = send(2, 6, 200), third = send(2, 6, 300);
    assert_int_equal(channels.ranks[0].n_lying, 2);
    post(2, 6, 300);
    assert_int_equal(channels.ranks[0].n_lying, 2);
    post(1, 5, 300);
    assert_int_equal(channels.ranks[0].n_lying, 1);
    post(2, 6, 300);
    assert_int_equal(channels.ranks[0].n_lying, 0);
    end_send(first);
    end_send(second);
    end_send(third);
}

/* Of one channel the first was sent at 100. It is received, and given back because the receive is
 * cancelled. */
static void test_given_back(void **state)
{
    (void)state;
    send(1, 5, 100);
    send(1, 5, 300);
    send(2, 5, 200);
    uint32_t receive = post(1, 5, 400);
    assert_int_equal(channels.ranks[0].n_lying, 2);
    assert_int_equal(rfn_channels_received(&channels, receive, true), 0);
    assert_int_equal(sent_ns(post(1, 5, 500)), 100);
    assert_int_equal(sent_ns(post(1, 5, 500)), 300);
    assert_int_equal(sent_ns(post(2, 5, 500)), 200);
    assert_int_equal(channels.ranks[0].n_lying, 0);
}

/* ---- cancelled ---- */

static void cancel_send(uint32_t message)
{
    assert_int_equal(rfn_channels_sent(&channels, message, true), 0);
}

/* In the middle of those that lie there, at their end, and one that a receive has taken: that gets
 * the next. */
static void test_cancelled_messages(void **state)
{
    (void)state;
    uint32_t messages[5];
    for (int64_t i = 0; i < 5; i++)
        messages[i] = send(1, 5, 10 * i);
    cancel_send(messages[1]);
    cancel_send(messages[4]);
    uint32_t receive = post(1, 5, 100);
    assert_int_equal(sent_ns(receive), 0);
    cancel_send(messages[0]);
    assert_int_equal(sent_ns(receive), 20);
    assert_int_equal(sent_ns(post(1, 5, 100)), 30);
    assert_int_equal(channels.counts.cancelled, 3);
    assert_int_equal(channels.counts.sends, 2);
    assert_int_equal(channels.counts.joined, 2);
    assert_int_equal(channels.ranks[0].n_lying, 0);
}

/* It is got before it is cancelled: then it was not. */
static void test_cancelled_too_late(void **state)
{
    (void)state;
    uint32_t message = send(1, 5, 0), receive = post(1, 5, 10);
    end_receive(receive);
    assert_int_equal(rfn_channels_sent(&channels, message, true), 0);
    assert_int_equal(channels.counts.cancelled, 0);
    assert_int_equal(channels.counts.joined, 1);
    assert_int_equal(send(1, 5, 20), message); /* its place is free */
}

/* While it is not known whether a message is cancelled, receives do not get it, nor those behind.
 */
static void test_doubtful_message(void **state)
{
    (void)state;
    uint32_t first = send(1, 5, 0);
    channels.messages[first].cancelled = true;
    send(1, 5, 10);
    uint32_t a = post(1, 5, 20), b = post(1, 5, 30);
    send(1, 5, 40);
    assert_int_equal(sent_ns(a), -1);
    end_send(first); /* it was not */
    assert_int_equal(sent_ns(a), 0);
    assert_int_equal(sent_ns(b), 10);
}

/* A receive in the middle, and the last. */
static void test_cancelled_receives(void **state)
{
    (void)state;
    uint32_t receives[4];
    for (int64_t i = 0; i < 4; i++)
        receives[i] = post(1, 5, i);
    assert_int_equal(rfn_channels_received(&channels, receives[1], true), 0);
    assert_int_equal(rfn_channels_received(&channels, receives[3], true), 0);
    receives[3] = post(1, 5, 10);
    for (int64_t i = 0; i < 3; i++)
        send(1, 5, 20 + i);
    assert_int_equal(sent_ns(receives[0]), 20);
    assert_int_equal(sent_ns(receives[2]), 21);
    assert_int_equal(sent_ns(receives[3]), 22);
    assert_int_equal(channels.counts.cancelled, 2);
    assert_int_equal(channels.counts.posts, 3);
}

/* What comes behind a receive with a wildcard that is cancelled, or is of another job, goes on. */
static void test_withdrawn_wildcards(void **state)
{
    (void)state;
    uint32_t a = post_any(5, 0), b = post_any(5, 1), c = post(1, 5, 2);
    send(1, 5, 10);
    assert_int_equal(rfn_channels_received(&channels, a, true), 0);
    assert_int_equal(sent_ns(c), -1);
    assert_int_equal(rfn_channels_dismiss(&channels, b), 0);
    assert_int_equal(sent_ns(c), 10);
    assert_int_equal(channels.counts.posts, 1);
}

/* A message that is given back goes to the receive that has waited meanwhile; who probes for it is
 * woken. */
static void test_given_back_to_others(void **state)
{
    (void)state;
    send(1, 5, 0);
    uint32_t a = post(1, 5, 10), b = post(1, 5, 20);
    assert_int_equal(rfn_channels_received(&channels, a, true), 0);
    assert_int_equal(sent_ns(b), 0);
    assert_true(rfn_channels_probe(&channels, channel(1, 5), 3));
    assert_int_equal(rfn_channels_received(&channels, b, true), 0);
    assert_int_equal(n_woken, 1);
}

/* ---- wildcards ---- */

/* A, B from anyone, C from rank 1: C may not get a message before A and B have theirs. */
static void test_wildcards_in_front(void **state)
{
    (void)state;
    uint32_t a = post_any(5, 0), b = post_any(5, 1), c = post(1, 5, 2);
    for (int64_t i = 0; i < 2; i++)
        send(1, 5, 10 + i);
    assert_int_equal(sent_ns(c), -1);
    assert_int_equal(rfn_channels_tell(&channels, b, channel(1, 5)), 0);
    assert_int_equal(sent_ns(b), -1);
    assert_int_equal(rfn_channels_tell(&channels, a, channel(2, 5)), 0);
    assert_int_equal(sent_ns(b), 10);
    assert_int_equal(sent_ns(c), 11);
    send(2, 5, 20);
    assert_int_equal(sent_ns(a), 20);
}

/* Told in the order in which they were posted. */
static void test_many_wildcards(void **state)
{
    (void)state;
    for (int64_t i = 0; i < MANY; i++)
        numbers[i] = post_any(5, i);
    for (int64_t i = 0; i < MANY; i++) {
        end_send(send(1, 5, MANY + i));
        assert_int_equal(rfn_channels_tell(&channels, numbers[i], channel(1, 5)), 0);
        assert_int_equal(sent_ns(numbers[i]), MANY + i);
        end_receive(numbers[i]);
    }
    assert_int_equal(channels.n_messages, 1);
}

/* Never told: at the end those that are known take places as they were posted. */
static void test_finish(void **state)
{
    (void)state;
    post_any(5, 0);
    uint32_t b = post(1, 5, 1), c = post(1, 5, 2);
    send(1, 5, 10);
    send(1, 5, 20);
    assert_int_equal(sent_ns(b), -1);
    assert_int_equal(rfn_channels_finish(&channels), 0);
    assert_int_equal(sent_ns(b), 10);
    assert_int_equal(sent_ns(c), 20);
}

/* ---- who waits is told ---- */

static void test_bound(void **state)
{
    (void)state;
    uint32_t receive = post(1, 5, 0);
    channels.receives[receive].stream = 1;
    send(1, 5, 10);
    assert_int_equal(n_bound, 1);
    assert_int_equal(last_bound, receive);
}

/* The message of a partitioned send is there when it begins. */
static void test_begins_later(void **state)
{
    (void)state;
    uint32_t receive = post(1, 5, 0);
    channels.receives[receive].stream = 1;
    int64_t message = rfn_channels_send(&channels, channel(1, 5), point(1, 10), BYTES,
                                        RFN_SEND_STANDARD, false);
    assert_int_equal(n_bound, 0);
    assert_int_equal(sent_ns(receive), -1);
    assert_int_equal(rfn_channels_begin(&channels, (uint32_t)message, point(1, 50)), 0);
    assert_int_equal(n_bound, 1);
    assert_int_equal(sent_ns(receive), 50);
}

static void test_probe(void **state)
{
    (void)state;
    assert_null(rfn_channels_peek(&channels, channel(1, 5)));
    assert_true(rfn_channels_probe(&channels, channel(1, 5), 3));
    assert_true(rfn_channels_probe(&channels, channel(1, 5), 3));
    assert_false(rfn_channels_probe(&channels, channel(1, 5), 4));
    send(1, 5, 10);
    send(1, 5, 20);
    assert_int_equal(n_woken, 1);
    assert_int_equal(rfn_channels_peek(&channels, channel(1, 5))->sent.ns, 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_many_messages),
        TEST(test_many_receives),
        TEST(test_many_senders),
        TEST(test_many_tags),
        TEST(test_generations),
        TEST(test_lying),
        TEST(test_given_back),
        TEST(test_wildcards_in_front),
        TEST(test_many_wildcards),
        TEST(test_finish),
        TEST(test_bound),
        TEST(test_begins_later),
        TEST(test_probe),
        TEST(test_cancelled_messages),
        TEST(test_cancelled_too_late),
        TEST(test_doubtful_message),
        TEST(test_cancelled_receives),
        TEST(test_withdrawn_wildcards),
        TEST(test_given_back_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
