/* The model from measurements of a known one: calls, network, and ways of sending. */
#include "calibrate/network_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

enum { N = 96, EAGER = 65535, LATE = 20000 /* larger ones come when they are received */ };

static struct cal_samples halves[N], sends[N], isends[N], receives[N], late_receives[N];

static double call_ns(double start, double per_byte, double bytes)
{
    return start + per_byte * bytes;
}

/* Two ways of sending, the first with two pieces. */
static double network_ns(double bytes)
{
    if (bytes > EAGER)
        return 116000 + 0.85 * bytes;
    return bytes > 15424 ? 34900 + 1.15 * bytes : 20100 + 1.58 * bytes;
}

static void measure(void)
{
    double bytes = 1;
    for (int i = 0; i < N; i++, bytes = bytes * 1.18 + 1) {
        struct cal_samples *all[] = {&halves[i], &sends[i], &isends[i], &receives[i],
                                     &late_receives[i]};
        const int64_t whole = (int64_t)bytes;
        const bool eager = whole <= EAGER;
        const double send = call_ns(500, 0.1, (double)whole),
                     receive = call_ns(300, 0.2, (double)whole);
        for (int k = 0; k < 5; k++)
            *all[k] = (struct cal_samples){.bytes = whole};
        for (int k = 0; k < 3; k++) {
            cal_samples_add(&halves[i], network_ns((double)whole) + (eager ? send + receive : 0));
            cal_samples_add(&isends[i], send / 2);
            if (!eager)
                continue;
            cal_samples_add(&sends[i], send);
            cal_samples_add(&receives[i], receive);
            cal_samples_add(&late_receives[i],
                            receive + (whole > LATE ? network_ns((double)whole) : 100));
        }
    }
}

static void expect_near(double found, double expected)
{
    if (!(found > 0.98 * expected && found < 1.02 * expected))
        fail_msg("%g, not %g", found, expected);
}

static struct cal_messages messages_of(void)
{
    return (struct cal_messages){.halves = halves,
                                 .sends = sends,
                                 .isends = isends,
                                 .receives = receives,
                                 .n_sizes = N,
                                 .late_receives = late_receives,
                                 .detached_bytes = EAGER,
                                 .exchange_bytes = {1000000, 4000000},
                                 .exchange_ns = {1e6, 1e6 + 3e6 / 1.6 + 0.05 * 3e6}};
}

static void test_known(void **state)
{
    const struct cal_messages messages = messages_of();
    struct cal_network_model model;
    (void)state;
    measure();
    cal_network_model_fit(&model, &messages);
    assert_in_range(model.eager_bytes, 15000, LATE);
    for (int64_t bytes = 1; bytes < 1 << 22; bytes = bytes * 3 / 2 + 1) {
        expect_near(cal_network_model_ns(&model.network, bytes), network_ns((double)bytes));
        expect_near(cal_network_model_ns(&model.isend, bytes), call_ns(250, 0.05, (double)bytes));
        if (bytes > EAGER)
            continue;
        expect_near(cal_network_model_ns(&model.send, bytes), call_ns(500, 0.1, (double)bytes));
        expect_near(cal_network_model_ns(&model.receive, bytes), call_ns(300, 0.2, (double)bytes));
    }
}

/* Of 3 MB more 1.6 bytes per ns in each direction, beside 0.05 ns per byte of MPI_Isend. */
static void test_both_ways(void **state)
{
    (void)state;
    measure();
    const struct cal_messages messages = messages_of();
    struct cal_network_model model;
    cal_network_model_fit(&model, &messages);
    expect_near(model.both_ways, 3.2);
}

static void test_nothing_measured(void **state)
{
    struct cal_network_model model;
    const struct cal_messages messages = {.detached_bytes = -1};
    (void)state;
    cal_network_model_fit(&model, &messages);
    assert_int_equal(model.network.n, 0);
    assert_true(cal_network_model_ns(&model.send, 100) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known),
                                       cmocka_unit_test(test_both_ways),
                                       cmocka_unit_test(test_nothing_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
