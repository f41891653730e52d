/* Strategies as text; how many messages are chosen, and that nothing but chance decides which. */
#include "reduce/samples/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct rfn_sample_strategy parsed(const char *text)
{
    struct rfn_sample_strategy strategy = {.seed = 7};
    struct rfn_diag diag;
    if (rfn_sample_strategy_parse(text, &strategy, &diag) != 0)
        fail_msg("%s", diag.text);
    assert_int_equal(strategy.seed, 7);
    return strategy;
}

/* Differs from what is expected by less than 4 standard deviations. */
static void assert_likely(double found, double expected, double variance)
{
    if ((found - expected) * (found - expected) > 16 * variance)
        fail_msg("%g, but %g is expected, with a variance of %g", found, expected, variance);
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shortest; /* NULL: the same */
        enum rfn_sample_kind kind;
        double rate;
        uint64_t period, variance;
    } known[] = {
        {"off", NULL, RFN_SAMPLE_OFF, 0, 0, 0},
        {"random:0.01", NULL, RFN_SAMPLE_RANDOM, 0.01, 0, 0},
        {"random:1", NULL, RFN_SAMPLE_RANDOM, 1, 0, 0},
        {"random:1e-3", "random:0.001", RFN_SAMPLE_RANDOM, 0.001, 0, 0},
        {"random:0.3333333333333333", NULL, RFN_SAMPLE_RANDOM, 0.3333333333333333, 0, 0},
        {"adaptive", NULL, RFN_SAMPLE_ADAPTIVE, 0, 256, 0},
        {"adaptive:256", "adaptive", RFN_SAMPLE_ADAPTIVE, 0, 256, 0},
        {"adaptive:1000", NULL, RFN_SAMPLE_ADAPTIVE, 0, 1000, 0},
        {"counter:100", NULL, RFN_SAMPLE_COUNTER, 0, 100, 0},
        {"counter:100+-10", NULL, RFN_SAMPLE_COUNTER, 0, 100, 10},
        {"counter:100\xc2\xb1"
         "99",
         "counter:100+-99", RFN_SAMPLE_COUNTER, 0, 100, 99},
        {"counter:1+-0", "counter:1", RFN_SAMPLE_COUNTER, 0, 1, 0},
        {"counter:1e6", "counter:1000000", RFN_SAMPLE_COUNTER, 0, 1000000, 0},
        {"timer:1ms", NULL, RFN_SAMPLE_TIMER, 0, 1000000, 0},
        {"timer:1ms+-100us", NULL, RFN_SAMPLE_TIMER, 0, 1000000, 100000},
        {"timer:1.5ms+-250ns", "timer:1500us+-250ns", RFN_SAMPLE_TIMER, 0, 1500000, 250},
        {"timer:60s", NULL, RFN_SAMPLE_TIMER, 0, 60000000000, 0},
        {"timer:9007199254740991ns+-9007199254740990ns", NULL, RFN_SAMPLE_TIMER, 0,
         9007199254740991, 9007199254740990},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct rfn_sample_strategy strategy = parsed(known[i].text);
        char text[RFN_SAMPLE_TEXT];
        assert_int_equal(strategy.kind, known[i].kind);
        assert_true(strategy.rate == known[i].rate);
        assert_int_equal(strategy.period, known[i].period);
        assert_int_equal(strategy.variance, known[i].variance);
        rfn_sample_strategy_text(&strategy, text);
        assert_string_equal(text, known[i].shortest ? known[i].shortest : known[i].text);
        const struct rfn_sample_strategy again = parsed(text);
        assert_true(again.kind == strategy.kind && again.rate == strategy.rate &&
                    again.period == strategy.period && again.variance == strategy.variance);
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const none[] = {
        "",
        "never",
        "Off",
        "off:",
        "off:1",
        "random",
        "random:",
        "random:0",
        "random:-0.1",
        "random:1.01",
        "random: 0.1",
        "random:nan",
        "random:0x1p-2",
        "random:0.1.2",
        "random:0.1+-0.01",
        "random:50%",
        "adaptive:",
        "adaptive:0",
        "adaptive:0.5",
        "adaptive:256+-1",
        "counter",
        "counter:0",
        "counter:1.5",
        "counter:-1",
        "counter:10+-10",
        "counter:10+-",
        "counter:10+-2+-1",
        "counter:10-2",
        "counter:10+2",
        "counter:10\xc2",
        "counter:1e16",
        "counter:1e999",
        "counter:10ms",
        "timer:1",
        "timer:1m",
        "timer:1 ms",
        "timer:1sm",
        "timer:0.1ns",
        "timer:0s",
        "timer:1ms+-1",
        "timer:1ms+-1ms",
        "timer:1e10s",
        "timer:1ms ",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct rfn_sample_strategy strategy = {.kind = RFN_SAMPLE_COUNTER, .period = 3, .seed = 7};
        struct rfn_diag diag = {0};
        if (rfn_sample_strategy_parse(none[i], &strategy, &diag) != RFN_E_USAGE)
            fail_msg("'%s' was read", none[i]);
        assert_non_null(strstr(diag.text, none[i]));
        assert_true(strategy.kind == RFN_SAMPLE_COUNTER && strategy.period == 3);
    }
    struct rfn_sample_strategy strategy = {0};
    struct rfn_diag diag;
    rfn_sample_strategy_parse("random:2", &strategy, &diag);
    assert_string_equal(diag.text, "'random:2' is not a sampling strategy: random takes a "
                                   "probability above 0 and up to 1, as in random:0.01");
}

/* ---- what both ends choose ---- */

enum { MANY = 1000000, CHANNELS = 1000 };

/* Channels of a program: neighbours and equal ones in all but one of their four parts. */
static uint64_t channel_of(unsigned i)
{
    return rfn_sample_channel(i / 500, i / 50 % 10, i / 10 % 5, i % 10);
}

static void test_rate_of_channel(void **state)
{
    (void)state;
    static const char *const texts[] = {"random:0.01", "random:0.5", "random:0.0001"};
    for (size_t s = 0; s < 3; s++) {
        const struct rfn_sample_strategy strategy = parsed(texts[s]);
        const double p = strategy.rate;
        uint64_t chosen = 0;
        for (uint64_t position = 0; position < MANY; position++)
            chosen += rfn_sample_chosen(&strategy, channel_of(0), position);
        assert_likely((double)chosen, MANY * p, MANY * p * (1 - p));
    }
}

/* Their first messages, which all programs have: of each channel as of all. */
static void test_rate_over_channels(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = parsed("random:0.01");
    const double p = strategy.rate, variance = p * (1 - p);
    double all = 0, squares = 0;
    for (unsigned i = 0; i < CHANNELS; i++) {
        double chosen = 0;
        for (uint64_t position = 0; position < MANY / CHANNELS; position++)
            chosen += rfn_sample_chosen(&strategy, channel_of(i), position);
        all += chosen;
        squares += (chosen - 10) * (chosen - 10);
    }
    assert_likely(all, MANY * p, MANY * variance);
    /* Chi square of 1000 degrees of freedom: of which the variance is 2000. */
    assert_likely(squares / (1000 * variance), CHANNELS, 2 * CHANNELS);
}

/* How often two messages are both chosen that are so far from each other in channel and position.
 */
static void expect_independent(double p, unsigned channels, unsigned positions)
{
    const struct rfn_sample_strategy strategy = {.kind = RFN_SAMPLE_RANDOM, .rate = p, .seed = 7};
    double both = 0;
    for (unsigned i = 0; i < CHANNELS; i++) {
        const uint64_t a = channel_of(i), b = channel_of(i + channels);
        for (uint64_t at = 0; at < MANY / CHANNELS; at++)
            both += rfn_sample_chosen(&strategy, a, at) &&
                    rfn_sample_chosen(&strategy, b, at + positions);
    }
    /* A message is in two pairs. */
    assert_likely(both, MANY * p * p, MANY * p * p * (1 + 2 * p));
}

static void test_independence(void **state)
{
    (void)state;
    static const double rates[] = {0.5, 0.1};
    static const unsigned distances[][2] = {{0, 1},  {0, 2},  {0, 64}, {1, 0},
                                            {10, 0}, {50, 0}, {1, 1}};
    for (size_t r = 0; r < 2; r++)
        for (size_t i = 0; i < sizeof distances / sizeof *distances; i++)
            expect_independent(rates[r], distances[i][0], distances[i][1]);
}

static void test_nesting(void **state)
{
    (void)state;
    static const double rates[] = {0.001, 0.01, 0.3, 0.999, 1};
    struct rfn_sample_strategy strategy = {.kind = RFN_SAMPLE_RANDOM, .seed = 3};
    unsigned chosen_at[5] = {0};
    for (uint64_t position = 0; position < 100000; position++) {
        bool before = false;
        for (size_t i = 0; i < 5; i++) {
            strategy.rate = rates[i];
            const bool chosen = rfn_sample_chosen(&strategy, 0x1234, position);
            assert_true(chosen || !before);
            chosen_at[i] += before = chosen;
        }
    }
    assert_true(chosen_at[0] > 50 && chosen_at[0] < chosen_at[1]);
    assert_int_equal(chosen_at[4], 100000);
}

/* Another seed chooses other messages. */
static void test_seeds(void **state)
{
    (void)state;
    struct rfn_sample_strategy a = parsed("random:0.1"), b = a;
    b.seed = 8;
    double both = 0;
    for (uint64_t position = 0; position < MANY; position++)
        both += rfn_sample_chosen(&a, 5, position) && rfn_sample_chosen(&b, 5, position);
    assert_likely(both, MANY * 0.01, MANY * 0.01);
}

static void test_adaptive(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = parsed("adaptive");
    static const struct {
        uint64_t position;
        double rate;
    } known[] = {{0, 1},
                 {255, 1},
                 {256, 0.5},
                 {511, 0.5},
                 {512, 0.25},
                 {1023, 0.25},
                 {1024, 0.125},
                 {32767, 1.0 / 128},
                 {32768, 1.0 / 256},
                 {UINT64_C(256) << 40, 0x1p-41}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(rfn_sample_rate(&strategy, known[i].position) == known[i].rate);

    /* 256, then 128 in each of 7 octaves, then (60000 - 32768) / 256. */
    const double expected = 256 + 7 * 128 + 27232.0 / 256;
    double all = 0, weights = 0;
    for (unsigned i = 0; i < 100; i++) {
        unsigned chosen = 0;
        for (uint64_t position = 0; position < 60000; position++) {
            const bool is = rfn_sample_chosen(&strategy, channel_of(i), position);
            assert_true(is || position >= 256);
            chosen += is;
            weights += is ? 1 / rfn_sample_rate(&strategy, position) : 0;
        }
        assert_likely(chosen, expected, expected - 256);
        all += chosen;
    }
    assert_likely(all / 100, expected, (expected - 256) / 100);
    assert_likely(weights / 100, 60000, 1e7 / 100); /* 10^7: about sum of 1 / rate */
    assert_true(rfn_sample_agrees(&strategy));
}

/* ---- what the sender chooses ---- */

static void test_counter(void **state)
{
    (void)state;
    struct rfn_sample_strategy strategy = parsed("counter:5");
    struct rfn_sampler sampler;
    rfn_sampler_init(&sampler, &strategy, 0);
    for (int send = 1; send <= 1000; send++)
        assert_int_equal(rfn_sampler_chooses(&sampler, &strategy, 0), send % 5 == 0);
    strategy = parsed("counter:1");
    rfn_sampler_init(&sampler, &strategy, 0);
    for (int send = 1; send <= 10; send++)
        assert_true(rfn_sampler_chooses(&sampler, &strategy, 0));
    assert_false(rfn_sample_agrees(&strategy));
    assert_false(rfn_sample_chosen(&strategy, 1, 0));
}

/* Distances of 90 to 110, each of them equally likely. */
static void test_counter_varies(void **state)
{
    (void)state;
    enum { SAMPLES = 21000 };
    const struct rfn_sample_strategy strategy = parsed("counter:100+-10");
    unsigned seen[111] = {0}, distance = 0;
    struct rfn_sampler sampler;
    rfn_sampler_init(&sampler, &strategy, 3);
    for (unsigned samples = 0; samples < SAMPLES;) {
        distance++;
        assert_true(distance <= 110);
        if (!rfn_sampler_chooses(&sampler, &strategy, 0))
            continue;
        seen[distance]++;
        samples++;
        distance = 0;
    }
    double squares = 0;
    for (unsigned i = 0; i < 90; i++)
        assert_int_equal(seen[i], 0);
    for (unsigned i = 90; i <= 110; i++)
        squares += ((double)seen[i] - 1000) * ((double)seen[i] - 1000) / 1000;
    assert_likely(squares, 20, 40);
}

/* Ranks do not sample in step; the same rank does again what it did. */
static void test_samplers_of_ranks(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = parsed("counter:10+-9");
    struct rfn_sampler a, again, other;
    rfn_sampler_init(&a, &strategy, 1);
    rfn_sampler_init(&again, &strategy, 1);
    rfn_sampler_init(&other, &strategy, 2);
    unsigned both = 0;
    for (unsigned send = 0; send < 100000; send++) {
        const bool chosen = rfn_sampler_chooses(&a, &strategy, 0);
        assert_int_equal(rfn_sampler_chooses(&again, &strategy, 0), chosen);
        both += rfn_sampler_chooses(&other, &strategy, 0) && chosen;
    }
    assert_true(both > 700 && both < 1300);
}

static void test_timer(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = parsed("timer:1us+-100ns");
    struct rfn_sampler sampler;
    rfn_sampler_init(&sampler, &strategy, 0);
    int64_t last = -50000;
    unsigned n = 0, early = 0;
    for (int64_t now = last; now < 1000000; now += 7) {
        if (rfn_sampler_chooses(&sampler, &strategy, now)) {
            n++;
            early += now - last < 1000;
            assert_true(now - last >= 900);
            last = now;
        }
        assert_true(now - last < 1100);
    }
    /* A send comes 3.5 ns late on average. */
    assert_true(n > 1040 && n < 1052);
    assert_true(early > n / 3 && early < 2 * n / 3);
}

/* Sends that are farther from each other are all sampled, but for the one that starts the clock. */
static void test_timer_of_rare_sends(void **state)
{
    (void)state;
    const struct rfn_sample_strategy strategy = parsed("timer:1us+-100ns");
    struct rfn_sampler sampler;
    rfn_sampler_init(&sampler, &strategy, 0);
    for (int64_t i = 0; i < 1000; i++)
        assert_int_equal(rfn_sampler_chooses(&sampler, &strategy, i * 1100), i > 0);
}

static void test_off(void **state)
{
    (void)state;
    static const char *const texts[] = {"off", "random:1", "adaptive"};
    for (size_t i = 0; i < 3; i++) {
        const struct rfn_sample_strategy strategy = parsed(texts[i]);
        struct rfn_sampler sampler;
        rfn_sampler_init(&sampler, &strategy, 0);
        assert_false(rfn_sampler_chooses(&sampler, &strategy, 1000000));
        assert_int_equal(rfn_sample_chosen(&strategy, 9, 0), i > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_rate_of_channel),
        cmocka_unit_test(test_rate_over_channels),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_adaptive),
        cmocka_unit_test(test_counter),
        cmocka_unit_test(test_counter_varies),
        cmocka_unit_test(test_samplers_of_ranks),
        cmocka_unit_test(test_timer),
        cmocka_unit_test(test_timer_of_rare_sends),
        cmocka_unit_test(test_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
