/* Samples of programs that are written down by hand, against arithmetic. */
#define FAKE_EVENTS 128
#include "reduce/samples/strategy.h"
#include "refrain/sampling.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED, TAG = 5 };
enum { IDENTITY = 10 }; /* of WORLD in fake_archive.h */
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)

static const struct rfn_sample_strategy every = {.kind = RFN_SAMPLE_RANDOM, .rate = 1};
static struct rfn_samples samples;
static struct rfn_diag diag;

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(samples.rows);
    free(samples.counts);
    free(samples.samples);
    free(samples.where);
    samples = (struct rfn_samples){0};
    return 0;
}

static void take(const struct rfn_sample_strategy *strategy)
{
    assert_int_equal(rfn_samples_take(&fake, strategy, RFN_SAMPLE_WRITE, &samples, &diag), 0);
    assert_true(samples.known);
}

static void send(uint32_t rank, int64_t enter, int64_t exit, int64_t dest, int64_t bytes)
{
    EVENT(rank, SEND_, 3, enter, exit, PLAIN, bytes, BYTE, dest, TAG, WORLD);
}

static void recv(uint32_t rank, int64_t enter, int64_t exit, int64_t source)
{
    EVENT(rank, RECV_, 4, enter, exit, PLAIN, 99, BYTE, source, TAG, WORLD, AS, AS, AS);
}

/* The row with these sites; NULL: there is none. */
static const struct rfn_sample_row *row(int32_t source, int32_t dest, uint64_t sent,
                                        uint64_t received, uint8_t size_class)
{
    const struct rfn_sample_key key = {source, dest, sent, received, size_class};
    for (size_t i = 0; i < samples.n_rows; i++) {
        const struct rfn_sample_key *at = &samples.rows[i].key;
        if (at->source == key.source && at->dest == key.dest && at->send == key.send &&
            at->receive == key.receive && at->size_class == key.size_class)
            return &samples.rows[i];
    }
    return NULL;
}

static void expect_times(const struct rfn_sample *sample, int64_t sent, int64_t posted,
                         int64_t entered, int64_t received)
{
    assert_int_equal(sample->sent_ns, sent);
    assert_int_equal(sample->posted_ns, posted);
    assert_int_equal(sample->entered_ns, entered);
    assert_int_equal(sample->received_ns, received);
}

/* ---- what is measured ---- */

static void test_blocking(void **state)
{
    (void)state;
    send(0, 10, 40, 1, 7);
    send(0, 50, 60, 1, 6);
    recv(1, 5, 42, 0);  /* waited 5: clean */
    recv(1, 58, 70, 0); /* the message lay 8 */
    take(&every);
    const uint64_t sent = rfn_sample_site(FAKE_SEND_, 3), got = rfn_sample_site(FAKE_RECV_, 4);
    const struct rfn_sample_row *counted = row(0, 1, sent, RFN_SAMPLE_NO_SITE, 3);
    const struct rfn_sample_row *measured = row(0, 1, sent, got, 3);
    assert_non_null(counted);
    assert_non_null(measured);
    assert_int_equal(samples.n_rows, 2);
    assert_int_equal(counted->messages, 2);
    assert_int_equal(counted->bytes, 13);
    assert_int_equal(counted->n, 0);
    assert_int_equal(measured->messages, 0);
    assert_int_equal(measured->n, 2);
    assert_float_equal(measured->mean_ns, (32 + 20) / 2.0, 0);
    assert_float_equal(measured->min_ns, 20, 0);
    assert_float_equal(measured->max_ns, 32, 0);
    assert_float_equal(measured->waited_ns, 5, 0);
    assert_float_equal(measured->lay_ns, 8, 0);
    assert_float_equal(measured->sampled_bytes, 13, 0);
    assert_int_equal(measured->clean, 1);
    assert_float_equal(measured->clean_min_ns, 32, 0);
    assert_int_equal(samples.messages, 2);
    assert_int_equal(samples.bytes, 13);
    assert_int_equal(samples.sampled, 2);
    assert_int_equal(samples.n_samples, 2);
    expect_times(&samples.samples[0], 10, 5, 5, 42);
    expect_times(&samples.samples[1], 50, 58, 58, 70);
    assert_int_equal(samples.samples[1].position, 1);
    assert_true(samples.samples[0].channel == rfn_sample_channel(IDENTITY, 0, 1, TAG));
    assert_string_equal(samples.strategy, "random:1");
}

/* The receive's site is where it was posted; it ends where its request does. */
static void test_requests(void **state)
{
    (void)state;
    EVENT(0, ISEND, 1, 30, 31, PLAIN, 0, BYTE, 1, TAG, WORLD);
    EVENT(0, WAIT, 0, 90, 95, RECENT(1), 0);
    EVENT(1, IRECV, 2, 20, 21, PLAIN, 99, BYTE, RFN_ANY, RFN_ANY, WORLD);
    EVENT(1, WAIT, 0, 25, 80, RECENT(1), LIST(0, 0, TAG, 0, 0, 0));
    take(&every);
    const struct rfn_sample_row *measured = row(0, 1, rfn_sample_site(FAKE_ISEND, 1),
                                                rfn_sample_site(FAKE_IRECV, 2), 0);
    assert_non_null(measured);
    assert_int_equal(measured->clean, 1);
    assert_float_equal(measured->waited_ns, 5, 0);
    expect_times(&samples.samples[0], 30, 20, 25, 80);
}

/* A call that only looks does not wait, whenever it looks. */
static void test_polls_are_not_clean(void **state)
{
    (void)state;
    EVENT(1, IRECV, 2, 20, 21, PLAIN, 99, BYTE, 0, TAG, WORLD);
    EVENT(1, TEST, 0, 25, 80, RECENT(1), 0);
    send(0, 30, 31, 1, 1);
    take(&every);
    assert_int_equal(samples.n_samples, 1);
    assert_int_equal(
        row(0, 1, rfn_sample_site(FAKE_SEND_, 3), rfn_sample_site(FAKE_IRECV, 2), 1)->clean, 0);
}

/* Each start is a message, which begins and has its place there. */
static void test_persistent(void **state)
{
    (void)state;
    EVENT(0, SEND_INIT, 1, 1, 2, PLAIN, 7, BYTE, 1, TAG, WORLD, SLOT(0));
    for (int i = 0; i < 2; i++) {
        EVENT(0, START, 2, 10 + i * 20, 11 + i * 20, SLOT(0));
        EVENT(0, WAIT, 0, 12 + i * 20, 19 + i * 20, SLOT(0), 0);
        recv(1, 15 + i * 20, 18 + i * 20, 0);
    }
    take(&every);
    assert_int_equal(samples.messages, 2);
    assert_non_null(row(0, 1, rfn_sample_site(FAKE_START, 2), rfn_sample_site(FAKE_RECV_, 4), 3));
    expect_times(&samples.samples[1], 30, 35, 35, 38);
    assert_int_equal(samples.samples[1].position, 1);
}

/* A partitioned message begins with its last partition. */
static void test_partitioned(void **state)
{
    (void)state;
    EVENT(0, PSEND_INIT, 1, 1, 2, PLAIN, 2, 8, BYTE, 1, TAG, WORLD, SLOT(0));
    EVENT(0, START, 2, 10, 11, SLOT(0));
    EVENT(0, PREADY, 0, 20, 21, 1, SLOT(0));
    EVENT(0, PREADY, 0, 40, 41, 0, SLOT(0));
    EVENT(0, WAIT, 0, 42, 50, SLOT(0), 0);
    EVENT(1, PRECV_INIT, 1, 1, 2, PLAIN, 2, 8, BYTE, 0, TAG, WORLD, SLOT(0));
    EVENT(1, START, 5, 12, 13, SLOT(0));
    EVENT(1, WAIT, 0, 14, 60, SLOT(0), 0);
    take(&every);
    assert_int_equal(samples.n_samples, 1);
    assert_int_equal(samples.bytes, 16);
    expect_times(&samples.samples[0], 40, 12, 14, 60);
    assert_true(samples.samples[0].receive == rfn_sample_site(FAKE_START, 5));
}

static void test_matched(void **state)
{
    (void)state;
    send(0, 10, 40, 1, 7);
    EVENT(1, MPROBE, 1, 20, 22, 0, TAG, WORLD, 3, AS, AS, 7);
    EVENT(1, MRECV, 2, 30, 45, PLAIN, 99, BYTE, 3, AS, AS, AS);
    take(&every);
    assert_int_equal(samples.n_samples, 1);
    expect_times(&samples.samples[0], 10, 20, 30, 45);
    assert_true(samples.samples[0].receive == rfn_sample_site(FAKE_MRECV, 2));
}

/* ---- which are measured ---- */

/* 30 messages on each of two channels, received as they come. */
static void make_streams(void)
{
    for (int i = 0; i < 30; i++) {
        send(0, 100 * i, 100 * i + 10, 1, 8);
        EVENT(0, SEND_, 3, 100 * i + 20, 100 * i + 30, PLAIN, 8, BYTE, 2, TAG + i % 2, WORLD);
        recv(1, 100 * i + 1, 100 * i + 15, 0);
        EVENT(2, RECV_, 4, 100 * i + 1, 100 * i + 40, PLAIN, 99, BYTE, 0, TAG + i % 2, WORLD, AS,
              AS, AS);
    }
}

/* Both ends of a channel choose what the hash does, and weigh it by the rate. */
static void test_chosen_by_hash(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategies[] = {
        {.kind = RFN_SAMPLE_RANDOM, .rate = 0.4, .seed = 7},
        {.kind = RFN_SAMPLE_ADAPTIVE, .period = 4, .seed = 9}};
    for (size_t k = 0; k < 2; k++) {
        const struct rfn_sample_strategy *strategy = &strategies[k];
        size_t expected = 0;
        setup(NULL);
        make_streams();
        take(strategy);
        for (uint64_t position = 0; position < 30; position++)
            expected += rfn_sample_chosen(strategy, rfn_sample_channel(IDENTITY, 0, 1, TAG),
                                          position);
        for (int64_t tag = TAG; tag < TAG + 2; tag++) {
            for (uint64_t position = 0; position < 15; position++)
                expected += rfn_sample_chosen(strategy, rfn_sample_channel(IDENTITY, 0, 2, tag),
                                              position);
        }
        assert_true(expected > 0 && expected < 60);
        assert_int_equal(samples.n_samples, expected);
        assert_int_equal(samples.messages, 60);
        for (size_t i = 0; i < samples.n_samples; i++) {
            const struct rfn_sample *at = &samples.samples[i];
            assert_true(rfn_sample_chosen(strategy, at->channel, at->position));
            assert_true(at->weight * rfn_sample_rate(strategy, at->position) == 1);
            assert_int_equal(rfn_sample_latency_ns(at), at->dest == 1 ? 15 : 20);
        }
        teardown(NULL);
    }
}

/* COUNTER goes by the sends of a rank, whatever their channels. */
static void test_counter(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = {.kind = RFN_SAMPLE_COUNTER, .period = 4};
    struct rfn_sampler sampler;
    size_t n = 0;
    make_streams();
    take(&strategy);
    rfn_sampler_init(&sampler, &strategy, 0);
    for (int i = 0; i < 60; i++) {
        const int64_t sent = 100 * (i / 2) + 20 * (i % 2);
        if (!rfn_sampler_chooses(&sampler, &strategy, sent))
            continue;
        n++;
        bool found = false;
        for (size_t k = 0; k < samples.n_samples; k++)
            found |= samples.samples[k].sent_ns == sent && samples.samples[k].weight == 1;
        assert_true(found);
    }
    assert_true(n >= 60 / 4 - 1);
    assert_int_equal(samples.n_samples, n);
}

/* TIMER goes by when they begin. */
static void test_timer(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = {.kind = RFN_SAMPLE_TIMER, .period = 500};
    make_streams();
    take(&strategy);
    assert_in_range(samples.n_samples, 3, 6); /* of 2,920 ns */
}

/* ---- what is dropped ---- */

static void test_dropped(void **state)
{
    (void)state;
    send(0, 10, 40, 1, 7); /* nobody receives it */
    EVENT(2, ISEND, 0, 20, 21, PLAIN, 7, BYTE, 1, TAG, WORLD);
    EVENT(2, CANCEL, 0, 22, 23, RECENT(1));
    EVENT(2, WAIT, 0, 24, 25, RECENT(1), LIST(0, AS, AS, AS, 0, RFN_COMPLETION_CANCELLED));
    send(2, 30, 31, 3, 7);
    EVENT(3, IRECV, 0, 20, 21, PLAIN, 99, BYTE, 2, TAG, WORLD);
    EVENT(3, REQUEST_FREE, 0, 40, 41, RECENT(1)); /* nobody knows when that was over */
    take(&every);
    assert_int_equal(samples.messages, 3);
    assert_int_equal(samples.n_samples, 0);
    assert_int_equal(samples.dropped[RFN_SAMPLE_ONE_SIDED], 2);
    assert_int_equal(samples.dropped[RFN_SAMPLE_UNCERTAIN], 1);
}

/* Messages that are not received have a place in their channel nevertheless. */
static void test_places(void **state)
{
    (void)state;
    EVENT(0, ISEND, 0, 10, 11, PLAIN, 7, BYTE, 1, TAG, WORLD);
    EVENT(0, CANCEL, 0, 12, 13, RECENT(1));
    EVENT(0, WAIT, 0, 14, 15, RECENT(1), LIST(0, AS, AS, AS, 0, RFN_COMPLETION_CANCELLED));
    send(0, 20, 21, 1, 7);
    recv(1, 30, 31, 0);
    take(&every);
    assert_int_equal(samples.n_samples, 1);
    assert_int_equal(samples.samples[0].position, 1);
}

/* ---- collective calls ---- */

static void test_collectives(void **state)
{
    (void)state;
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        EVENT(rank, BCAST, 6, 10 + rank, 20, PLAIN, 100, BYTE, 1, WORLD);
        EVENT(rank, IBARRIER, 7, 30, 33, WORLD);
        EVENT(rank, WAIT, 0, 40, 50, RECENT(1), 0);
        EVENT(rank, BARRIER_INIT, 0, 60, 61, WORLD, SLOT(0)); /* no call that moves anything */
    }
    take(&every);
    assert_int_equal(samples.messages, 0);
    assert_int_equal(samples.n_samples, 2 * FAKE_RANKS);
    for (int32_t rank = 0; rank < FAKE_RANKS; rank++) {
        const struct rfn_sample_row *bcast = row(
            rank, RFN_SAMPLE_COLLECTIVE, rfn_sample_site(FAKE_BCAST, 6), RFN_SAMPLE_NO_SITE, 7);
        const struct rfn_sample_row *barrier = row(
            rank, RFN_SAMPLE_COLLECTIVE, rfn_sample_site(FAKE_IBARRIER, 7), RFN_SAMPLE_NO_SITE, 0);
        assert_non_null(bcast);
        assert_non_null(barrier);
        assert_int_equal(bcast->messages, 1);
        assert_int_equal(bcast->bytes, 100);
        assert_true(bcast->mean_ns == 10 - rank);
        assert_float_equal(barrier->mean_ns, 3, 0);
        assert_int_equal(barrier->clean, 0);
    }
}

/* ---- what cannot be sampled ---- */

static void test_without_times(void **state)
{
    (void)state;
    fake.run.times = false;
    assert_int_equal(rfn_samples_take(&fake, &every, RFN_SAMPLE_FREQ, &samples, &diag),
                     RFN_E_UNSUPPORTED);
    fake.run.times = fake.run.reduced = true;
    assert_int_equal(rfn_samples_take(&fake, &every, RFN_SAMPLE_FREQ, &samples, &diag),
                     RFN_E_UNSUPPORTED);
}

/* What could be read is sampled. */
static void test_cut_off(void **state)
{
    (void)state;
    send(0, 10, 40, 1, 7);
    recv(1, 20, 30, 0);
    fake.streams[2].fails_with = RFN_E_CORRUPT;
    assert_int_equal(rfn_samples_take(&fake, &every, RFN_SAMPLE_STAT, &samples, &diag),
                     RFN_E_CORRUPT);
    assert_int_equal(samples.sampled, 1);
    assert_int_equal(samples.n_samples, 0); /* they were not asked for */
    assert_int_equal(samples.n_rows, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blocking),      TEST(test_requests),       TEST(test_polls_are_not_clean),
        TEST(test_persistent),    TEST(test_partitioned),    TEST(test_matched),
        TEST(test_counter),       TEST(test_chosen_by_hash), TEST(test_timer),
        TEST(test_dropped),       TEST(test_places),         TEST(test_collectives),
        TEST(test_without_times), TEST(test_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
