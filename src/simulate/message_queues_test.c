/* Tests of message_queues.h: which receive gets which message. */
#include "simulate/message_queues.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint32_t post(struct rfn_message_queues *messages, bool send, struct rfn_channel channel,
                     double when)
{
    const int64_t number = rfn_message_new(messages);
    assert_true(number >= 0);
    struct rfn_message *message = &messages->messages[number];
    message->channel = channel;
    message->has_send = send;
    message->has_receive = !send;
    *(send ? &message->sent : &message->posted) = when;
    assert_int_equal(rfn_message_wait(messages, (uint32_t)number), 0);
    return (uint32_t)number;
}

static void leave(struct rfn_message_queues *messages, uint32_t number)
{
    rfn_message_leave(messages, number);
    rfn_message_free(messages, number);
}

/* Messages of a channel come in order; those of others are not among them. */
static void test_channel(void **state)
{
    const struct rfn_channel channel = {1, 0, 0, 7},
                             others[] = {{0, 0, 0, 7}, {1, 1, 0, 7}, {1, 0, 2, 7}, {1, 0, 0, 8}};
    struct rfn_message_queues messages;
    (void)state;
    assert_int_equal(rfn_message_queues_init(&messages, 3), 0);
    const uint32_t a = post(&messages, true, channel, 1), b = post(&messages, true, channel, 2);
    for (int i = 0; i < 4; i++)
        assert_true(rfn_message_first(&messages, &others[i], true) == RFN_NO_MESSAGE);
    assert_true(rfn_message_first(&messages, &channel, false) == RFN_NO_MESSAGE);
    assert_int_equal(rfn_message_first(&messages, &channel, true), a);
    leave(&messages, a);
    assert_int_equal(rfn_message_first(&messages, &channel, true), b);
    leave(&messages, b);
    assert_true(rfn_message_first(&messages, &channel, true) == RFN_NO_MESSAGE);
    assert_int_equal(messages.used, 0);
    assert_int_equal(messages.used_queues, 0);
    rfn_message_queues_release(&messages);
}

static void test_wildcards(void **state)
{
    const struct rfn_channel from_0 = {2, 0, 0, 7}, from_1 = {2, 0, 1, 8};
    const struct rfn_channel any_source = {2, 0, RFN_ANY_SOURCE, 8},
                             any = {2, 0, RFN_ANY_SOURCE, RFN_ANY_TAG};
    struct rfn_message_queues messages;
    (void)state;
    assert_int_equal(rfn_message_queues_init(&messages, 3), 0);
    const uint32_t late = post(&messages, true, from_0, 5), soon = post(&messages, true, from_1, 3);
    assert_true(rfn_message_earliest(&messages, &any, 2) == RFN_NO_MESSAGE);
    assert_int_equal(rfn_message_earliest(&messages, &any, 9), soon);
    assert_int_equal(rfn_message_earliest(&messages, &any_source, 9), soon);
    leave(&messages, soon);
    assert_true(rfn_message_earliest(&messages, &any_source, 9) == RFN_NO_MESSAGE);
    assert_int_equal(rfn_message_earliest(&messages, &any, 9), late);
    const uint32_t first = post(&messages, false, any_source, 1);
    const uint32_t second = post(&messages, false, any, 1);
    assert_int_equal(rfn_message_wildcard(&messages, &from_1), first);
    assert_int_equal(rfn_message_wildcard(&messages, &from_0), second);
    assert_int_equal(messages.mailboxes[2].n_wildcards, 2);
    leave(&messages, first);
    assert_int_equal(rfn_message_wildcard(&messages, &from_1), second);
    rfn_message_queues_release(&messages);
}

/* Any tag is none of a collective call. */
static void test_negative_tags(void **state)
{
    const struct rfn_channel collective = {0, 0, 1, -112}, any = {0, 0, 1, RFN_ANY_TAG};
    struct rfn_message_queues messages;
    (void)state;
    assert_int_equal(rfn_message_queues_init(&messages, 2), 0);
    post(&messages, true, collective, 1);
    assert_true(rfn_message_earliest(&messages, &any, 9) == RFN_NO_MESSAGE);
    rfn_message_queues_release(&messages);
}

/* The table of channels grows, and is empty again. */
static void test_many(void **state)
{
    enum { MANY = 5000 };
    static uint32_t numbers[MANY];
    struct rfn_message_queues messages;
    (void)state;
    assert_int_equal(rfn_message_queues_init(&messages, 4), 0);
    for (uint32_t i = 0; i < MANY; i++)
        numbers[i] = post(&messages, i % 2, (struct rfn_channel){i % 4, 0, i % 3, i}, i);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct rfn_channel channel = {i % 4, 0, i % 3, i};
        assert_int_equal(rfn_message_first(&messages, &channel, i % 2), numbers[i]);
        leave(&messages, numbers[i]);
    }
    assert_int_equal(messages.used_queues, 0);
    rfn_message_queues_release(&messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_channel),
        cmocka_unit_test(test_wildcards),
        cmocka_unit_test(test_negative_tags),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
