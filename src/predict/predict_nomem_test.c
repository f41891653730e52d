/* Predictions out of memory: of all allocations each fails once, and nothing is left behind. */
#define FAKE_EVENTS 64
#include "refrain/predict.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED, MS = 1000000 };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)

static const struct rfn_network network = {
    .latency_ns = 10, .overhead_ns = 5, .gap_ns = 5, .gap_per_byte_ns = 0, .eager_bytes = 8};
static const bool of_1[4] = {false, true};
static const struct rfn_assumption half = {
    .what = RFN_ASSUME_COMPUTE, .factor = 0.5, .ranks = of_1};
static const struct rfn_lane lane = {&half, 1};
static const int64_t points[] = {50 * MS, 100 * MS};
static const struct rfn_predict_options options = {
    .network = &network, .lanes = &lane, .n = 1, .points_ns = points, .n_points = 2};

/* Messages of both kinds, requests, a barrier, a scan. */
static void make_run(void)
{
    fake_reset();
    for (uint32_t i = 0; i < 3; i++)
        EVENT(i, PCONTROL, 0, 0, 0, 1);
    EVENT(0, IRECV, 0, 10 * MS, 10 * MS, PLAIN, 99, BYTE, 1, 5, WORLD);
    EVENT(0, IRECV, 0, 11 * MS, 11 * MS, PLAIN, 99, BYTE, 2, 5, WORLD);
    EVENT(0, WAITALL, 0, 20 * MS, 100 * MS, 2, LIST(RECENT(2), RECENT(1)),
          LIST(AS, AS, AS, AS, AS, AS));
    EVENT(1, SEND_, 0, 50 * MS, 50 * MS + 2, PLAIN, 8, BYTE, 0, 5, WORLD);
    EVENT(2, SEND_, 0, 80 * MS, 100 * MS, PLAIN, 9, BYTE, 0, 5, WORLD);
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, BARRIER, 0, (100 + 10 * i) * MS, 140 * MS, WORLD);
}

static int run(const void *of)
{
    struct rfn_prediction prediction;
    struct rfn_diag diag;
    int error = rfn_predict(of, &options, &prediction, &diag);
    rfn_prediction_release(&prediction); /* also after an error */
    return error;
}

static int events(const void *of)
{
    struct rfn_prediction prediction;
    struct rfn_event_gains gains;
    struct rfn_diag diag;
    int error = rfn_predict_events(of, &options, 5, &gains, &prediction, &diag);
    rfn_event_gains_release(&gains);
    rfn_prediction_release(&prediction);
    return error;
}

static int curve(const void *of)
{
    struct rfn_curve found;
    struct rfn_diag diag;
    int error = rfn_predict_curve(of, &options, &half, 1, 0, 2, &found, &diag);
    rfn_curve_release(&found);
    return error;
}

static int remedies(const void *of)
{
    struct rfn_remedy some[] = {{.assumption = half, .bound_ns = 10}};
    struct rfn_prediction prediction;
    struct rfn_diag diag;
    int error = rfn_remedies_rank(of, &network, &lane, some, 1, 1, NULL, NULL, &prediction, &diag);
    rfn_prediction_release(&prediction);
    return error;
}

static int estimate(const void *of)
{
    struct rfn_network found;
    struct rfn_diag diag;
    uint64_t messages;
    return rfn_network_estimate(of, &found, &messages, &diag);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    make_run();
    assert_int_equal(fail_each(20, run, &fake), 0);
    assert_int_equal(fail_each(20, events, &fake), 0);
    assert_int_equal(fail_each(20, curve, &fake), 0);
    assert_int_equal(fail_each(20, remedies, &fake), 0);
    assert_int_equal(fail_each(20, estimate, &fake), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
