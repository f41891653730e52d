/* Predictions out of memory: of all their allocations each fails once, and they give up with
 * RFN_E_NOMEM and leave nothing behind. In this archive every part of the engine has
 * something to keep. */
#define FAKE_EVENTS 256
#include "predict/equal_delays.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, SUM = 0, AS = RFN_AS_POSTED, SIZE = 1000 };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)

static const struct rfn_network network = {
    .latency_ns = 10, .overhead_ns = 5, .gap_ns = 5, .gap_per_byte_ns = 1, .eager_bytes = 8};

static int64_t now; /* calls come one after another, and ranks overlap */

#define CALL(rank, function, ...) (now += 10, EVENT(rank, function, 0, now, now + 25, __VA_ARGS__))

static void messages(void)
{
    CALL(1, RECV_, PLAIN, SIZE, BYTE, 0, 5, WORLD, AS, AS, AS);
    CALL(0, SEND_, PLAIN, SIZE, BYTE, 1, 5, WORLD);
    now += 40;
    CALL(1, IRECV, PLAIN, SIZE, BYTE, RFN_ANY, 7, WORLD);
    now += 40;
    CALL(1, WAIT, RECENT(1), LIST(0, 2, AS, AS, 0, 0));
    CALL(2, SEND_, PLAIN, SIZE, BYTE, 1, 7, WORLD);
    now += 40;
    struct rfn_record *polls = CALL(3, IPROBE, 2, 8, WORLD, AS, AS, AS);
    polls->failed_poll = true;
    polls->polls = 5;
    now += 40;
    CALL(3, IPROBE, 2, 8, WORLD, AS, AS, AS);
    CALL(2, SEND_, PLAIN, SIZE, BYTE, 3, 8, WORLD);
    now += 40;
}

static void make_archive(void)
{
    fake_reset();
    now = 0;
    for (int i = 0; i < 2; i++) {
        messages();
        for (uint32_t rank = 0; rank < 4; rank++) {
            CALL(rank, ALLREDUCE, PLAIN, PLAIN, 8, BYTE, SUM, WORLD);
            CALL(rank, SCAN, PLAIN, PLAIN, 8, BYTE, SUM, WORLD);
        }
        now += 40;
    }
}

/* ---- what runs out of memory ---- */

static const struct rfn_assumption assumptions[] = {{.what = RFN_ASSUME_COMPUTE, .factor = 0.5},
                                                    {.what = RFN_ASSUME_L, .factor = 2}};
static const struct rfn_lane lanes[] = {{NULL, 0}, {assumptions, 2}};
static const int64_t points_ns[] = {0, 50};
static const struct rfn_predict_options options = {
    .network = &network, .lanes = lanes, .n = 2, .points_ns = points_ns, .n_points = 2};
static const struct rfn_predict_options one_lane = {.network = &network, .lanes = lanes, .n = 1};

static int predict(const void *of)
{
    struct rfn_prediction prediction;
    struct rfn_diag diag = {.text = ""};
    (void)of;
    const int error = rfn_predict(&fake, &options, &prediction, &diag);
    rfn_prediction_release(&prediction); /* also after an error */
    return error;
}

static int rank_events(const void *of)
{
    struct rfn_prediction prediction;
    struct rfn_event_gains gains;
    struct rfn_diag diag = {.text = ""};
    (void)of;
    const int error = rfn_predict_events(&fake, &one_lane, 5, &gains, &prediction, &diag);
    rfn_event_gains_release(&gains);
    rfn_prediction_release(&prediction);
    return error;
}

static int rank_remedies(const void *of)
{
    struct rfn_remedy remedies[] = {{.assumption = assumptions[0], .bound_ns = INT64_MAX}};
    struct rfn_prediction prediction;
    struct rfn_diag diag = {.text = ""};
    (void)of;
    const int error = rfn_remedies_rank(&fake, &network, &lanes[0], remedies, 1, 1, NULL, NULL,
                                        &prediction, &diag);
    rfn_prediction_release(&prediction); /* also after an error */
    return error;
}

static int draw_curve(const void *of)
{
    struct rfn_curve curve;
    struct rfn_diag diag = {.text = ""};
    (void)of;
    const int error = rfn_predict_curve(&fake, &one_lane, assumptions, 1, 0, 2, &curve, &diag);
    rfn_curve_release(&curve);
    return error;
}

static int estimate(const void *of)
{
    struct rfn_network found;
    struct rfn_diag diag = {.text = ""};
    uint64_t n;
    (void)of;
    return rfn_network_estimate(&fake, &found, &n, &diag);
}

static int find_equal_delays(const void *of)
{
    struct rfn_aggregation aggregation = {
        .any = true, .terms = 1, .least_ns = 50, .least_bytes = SIZE, .network = network};
    struct rfn_call_groups groups;
    struct rfn_diag diag = {.text = ""};
    (void)of;
    int error = rfn_call_groups_init(&groups, &fake);
    if (!error)
        error = rfn_call_groups_read(&groups, &fake, &diag);
    if (!error)
        error = rfn_equal_delays_find(&fake, &groups, &aggregation, NULL, NULL, &diag);
    rfn_call_groups_release(&groups);
    rfn_aggregation_release(&aggregation);
    return error;
}

/* ---- the tests ---- */

static void test_each_allocation_fails(void **state)
{
    static const struct {
        uint64_t least; /* allocations */
        int (*run)(const void *of);
    } works[] = {{50, predict},    {50, rank_events}, {50, rank_remedies},
                 {50, draw_curve}, {20, estimate},    {50, find_equal_delays}};
    (void)state;
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        make_archive();
        assert_int_equal(fail_each(works[i].least, works[i].run, NULL), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
