/* Predictions of runs that are written by hand: every time below is exact, in ns. */
#define FAKE_EVENTS 64
#include "refrain/predict.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)

/* Messages of up to 8 bytes are sent whoever receives them, and are there 10 + 5 ns later. */
static const struct rfn_network network = {
    .latency_ns = 10, .overhead_ns = 5, .gap_ns = 5, .gap_per_byte_ns = 0, .eager_bytes = 8};

static struct rfn_prediction prediction;

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static int release(void **state)
{
    (void)state;
    rfn_prediction_release(&prediction);
    return 0;
}

static void send(uint32_t rank, int64_t enter, int64_t exit, int64_t dest, int64_t bytes)
{
    EVENT(rank, SEND_, 0, enter, exit, PLAIN, bytes, BYTE, dest, 5, WORLD);
}

static void recv(uint32_t rank, int64_t enter, int64_t exit, int64_t source)
{
    EVENT(rank, RECV_, 0, enter, exit, PLAIN, 99, BYTE, source, 5, WORLD, AS, AS, AS);
}

/* Calls of nobody: where a rank begins, and where it ends. */
static void begin(uint32_t rank)
{
    EVENT(rank, PCONTROL, 0, 0, 0, 1);
}

static void end(uint32_t rank, int64_t ns)
{
    EVENT(rank, PCONTROL, 0, ns, ns, 1);
}

/* What the run takes if something takes factor times as long on a rank (-1: on all). */
static int64_t predict(enum rfn_assumed what, double factor, int rank)
{
    bool ranks[4] = {rank < 0, rank < 0, rank < 0, rank < 0};
    if (rank >= 0)
        ranks[rank] = true;
    const struct rfn_assumption assumption = {
        .what = what, .factor = factor, .ranks = ranks, .most_bytes = INT64_MAX};
    const struct rfn_lane lanes[] = {{NULL, 0}, {&assumption, 1}};
    struct rfn_diag diag;
    rfn_prediction_release(&prediction);
    const struct rfn_predict_options options = {.network = &network, .lanes = lanes, .n = 2};
    assert_int_equal(rfn_predict(&fake, &options, &prediction, &diag), 0);
    assert_int_equal(prediction.predicted_ns[0], prediction.recorded_ns);
    return prediction.predicted_ns[1];
}

/* The sender computes until 100, the receiver waits from 20 on. */
static void eager_waiting(void)
{
    begin(0);
    begin(1);
    send(0, 100, 102, 1, 8);
    recv(1, 20, 118, 0);
    end(1, 200);
}

/* Ino, Fig. 3: the receiver of an eager message waits: it gains what the sender does, at most until
 * it need not wait any more. */
static void test_eager_waiting(void **state)
{
    (void)state;
    eager_waiting();
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.5, 0), 150);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 0), 200 - 93);   /* waits 93, until 113 */
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.5, 1), 200 - 41); /* what it computes then */
    assert_int_equal(predict(RFN_ASSUME_WAIT, 0, 1), 200 - 93);
    assert_int_equal(predict(RFN_ASSUME_LATE, 0, 1), 200 - 80); /* 13 ns on its way */
    assert_int_equal(predict(RFN_ASSUME_LATE, 0.5, 1), 200 - 40);
    assert_int_equal(predict(RFN_ASSUME_CALL, 0, 1), 195);
    assert_int_equal(predict(RFN_ASSUME_TRANSFER, 0, 1), 187); /* 113 - 100 */
    assert_int_equal(predict(RFN_ASSUME_L, 2, -1), 210);
}

/* ... a message that lay there: the receiver gains until the message is not there yet. */
static void test_eager_lying(void **state)
{
    (void)state;
    begin(0);
    begin(1);
    send(0, 20, 22, 1, 8);
    recv(1, 100, 103, 0);
    end(0, 30);
    end(1, 110);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.5, 1), 110 - 50 - 3);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 1), 35 + 3); /* there at 20 + 15 */
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 0), 110);
}

/* The sender waits from 20 on, the receiver comes at 100. */
static void rendezvous(void)
{
    begin(0);
    begin(1);
    send(0, 20, 130, 1, 9);
    recv(1, 100, 130, 0);
    end(0, 150);
    end(1, 140);
}

/* A rendezvous ends on both sides when both were there. */
static void test_rendezvous(void **state)
{
    (void)state;
    rendezvous();
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.5, 1), 100); /* the receiver 50 earlier */
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 1), 150 - 80);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 0),
                     140 - 10 + 10); /* 20 computed less at the end */
    assert_int_equal(predict(RFN_ASSUME_WAIT, 0, 0), 140);
}

/* Where S is larger the sender waits for nobody. */
static void test_larger_eager(void **state)
{
    (void)state;
    rendezvous();
    assert_int_equal(predict(RFN_ASSUME_S, 2, -1), 115); /* it lies there from 20 + 25 - 15 on */
    assert_int_equal(predict(RFN_ASSUME_S, 1, -1), 150);
}

/* Nothing takes time but computing and waiting; where ranks are at some points meanwhile. */
static void test_ideal(void **state)
{
    static const int64_t points[] = {50, 118, 200};
    const struct rfn_assumption ideal = {.what = RFN_ASSUME_IDEAL};
    const struct rfn_lane lane = {&ideal, 1};
    const struct rfn_predict_options options = {
        .network = &network, .lanes = &lane, .n = 1, .points_ns = points, .n_points = 3};
    static const int64_t reached[] = {50, 50, 100, 100, 100, 182},
                         outside[] = {50, 20, 100, 20, 100, 102};
    struct rfn_diag diag;
    (void)state;
    eager_waiting();
    assert_int_equal(rfn_predict(&fake, &options, &prediction, &diag), 0);
    assert_int_equal(prediction.predicted_ns[0], 182);
    const uint32_t ranks = rfn_archive_run(&fake)->ranks;
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(prediction.reached_ns[i / 2 * ranks + i % 2], reached[i]);
        assert_int_equal(prediction.outside_ns[i / 2 * ranks + i % 2], outside[i]);
    }
}

/* Of two messages that are received as they come the second would come first. */
static void test_overtaken(void **state)
{
    const bool of_1[4] = {false, true};
    const struct rfn_assumption slower = {.what = RFN_ASSUME_COMPUTE, .factor = 2, .ranks = of_1};
    const struct rfn_lane lane = {&slower, 1};
    const struct rfn_predict_options options = {.network = &network, .lanes = &lane, .n = 1};
    struct rfn_diag diag;
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        begin(i);
    EVENT(0, RECV_, 0, 10, 70, PLAIN, 99, BYTE, RFN_ANY, 5, WORLD, 1, 5, 8);
    EVENT(0, RECV_, 0, 71, 100, PLAIN, 99, BYTE, RFN_ANY, 5, WORLD, 2, 5, 8);
    send(1, 50, 52, 0, 8);
    send(2, 80, 82, 0, 8);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 1, -1), 100);
    assert_int_equal(prediction.overtaken, 0);
    rfn_prediction_release(&prediction);
    assert_int_equal(rfn_predict(&fake, &options, &prediction, &diag), 0);
    assert_int_equal(prediction.overtaken, 1);
}

/* A large message whose send ended before its receive was posted needed nobody. */
static void test_sent_before(void **state)
{
    (void)state;
    begin(0);
    begin(1);
    send(0, 20, 22, 1, 9);
    recv(1, 100, 130, 0);
    end(0, 150);
    end(1, 140);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 1), 150);
    assert_int_equal(prediction.clamped_ns, 0);
}

static void barrier(uint32_t rank, int64_t enter, int64_t exit)
{
    EVENT(rank, BARRIER, 0, enter, exit, WORLD);
}

static void test_barrier(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        begin(i);
        barrier(i, 10 * (i + 1), 44);
    }
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 3), 34);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.5, -1), 24);
    assert_int_equal(predict(RFN_ASSUME_CALL, 0, -1), 40);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 2, 2), 64);
}

/* Who waits for several messages waits for the last one. */
static void test_several(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        begin(i);
    EVENT(0, IRECV, 0, 10, 10, PLAIN, 99, BYTE, 1, 5, WORLD);
    EVENT(0, IRECV, 0, 11, 11, PLAIN, 99, BYTE, 2, 5, WORLD);
    EVENT(0, WAITALL, 0, 20, 100, 2, LIST(RECENT(2), RECENT(1)), LIST(AS, AS, AS, AS, AS, AS));
    send(1, 50, 52, 0, 8);
    send(2, 80, 82, 0, 8);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.75, 2), 80);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 2), 70); /* 50 + 15 + 5 */
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 1), 100);
}

/* A probe takes the message of a rendezvous: without what its rank computes, from 0 on. */
static void test_matched_probe(void **state)
{
    (void)state;
    begin(0);
    begin(1);
    send(0, 50, 131, 1, 9);
    EVENT(1, MPROBE, 0, 100, 101, 0, 5, WORLD, 3, AS, AS, AS);
    EVENT(1, MRECV, 0, 101, 131, PLAIN, 9, BYTE, 3, AS, AS, AS);
    end(0, 200);
    end(1, 131);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.9, 1), 190);
}

/* A message, and one in 8 parts, which have numbers behind it. The last part is ready at 80, and so
 * 35 later there for the receiver. */
static void test_parts(void **state)
{
    enum { PARTS = 8 };
    (void)state;
    begin(0);
    begin(1);
    EVENT(0, PSEND_INIT, 0, 0, 0, PLAIN, PARTS, 1, BYTE, 1, 6, WORLD, SLOT(0));
    EVENT(0, START, 0, 0, 0, SLOT(0));
    send(0, 50, 52, 1, 8);
    EVENT(0, PREADY_RANGE, 0, 80, 80, 0, PARTS - 1, SLOT(0));
    EVENT(0, WAIT, 0, 80, 80, SLOT(0), 0);
    EVENT(1, PRECV_INIT, 0, 0, 0, PLAIN, PARTS, 1, BYTE, 0, 6, WORLD, SLOT(0));
    EVENT(1, START, 0, 0, 0, SLOT(0));
    EVENT(1, IRECV, 0, 1, 1, PLAIN, 99, BYTE, 0, 5, WORLD);
    EVENT(1, WAITALL, 0, 20, 120, 2, LIST(RECENT(1), SLOT(0)), 0);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0, 0), 2 + 35 + 5);
}

/* Times that do not fit together: counted, and as recorded without an assumption. */
static void test_clamped(void **state)
{
    (void)state;
    begin(0);
    begin(1);
    send(0, 100, 102, 1, 8);
    recv(1, 20, 90, 0);
    end(1, 120);
    assert_int_equal(predict(RFN_ASSUME_COMPUTE, 0.5, 0), 120 - 50);
    assert_true(prediction.clamped_ns >= 10);
}

/* Of candidates the better one first; bounds leave out what cannot be among the best. */
static void test_remedies(void **state)
{
    const bool of_0[4] = {true}, of_1[4] = {false, true};
    struct rfn_remedy remedies[] = {
        {.assumption = {.what = RFN_ASSUME_COMPUTE, .ranks = of_1}, .bound_ns = 82},
        {.assumption = {.what = RFN_ASSUME_COMPUTE, .ranks = of_0}, .bound_ns = 100}};
    const struct rfn_lane none = {NULL, 0};
    struct rfn_diag diag;
    (void)state;
    eager_waiting();
    assert_int_equal(
        rfn_remedies_rank(&fake, &network, &none, remedies, 2, 2, NULL, NULL, &prediction, &diag),
        0);
    assert_ptr_equal(remedies[0].assumption.ranks, of_0);
    assert_int_equal(remedies[0].saved_ns, 93);
    assert_int_equal(remedies[0].saved_half_ns, 50);
    assert_int_equal(remedies[1].saved_ns, 82);
    assert_int_equal(remedies[1].saved_half_ns, 41);
    assert_int_equal(prediction.predicted_ns[0], 200);
}

/* None is among the best 0, so more than one pass predicts at once are enough. */
static void test_no_best(void **state)
{
    enum { N = 50 };
    const bool of_0[4] = {true};
    const struct rfn_lane none = {NULL, 0};
    struct rfn_remedy remedies[N];
    struct rfn_diag diag;
    size_t evaluated = 0;
    (void)state;
    eager_waiting();
    for (size_t i = 0; i < N; i++)
        remedies[i] = (struct rfn_remedy){.assumption = {.what = RFN_ASSUME_COMPUTE, .ranks = of_0},
                                          .bound_ns = INT64_MAX};
    assert_int_equal(
        rfn_remedies_rank(&fake, &network, &none, remedies, N, 0, NULL, NULL, &prediction, &diag),
        0);
    for (size_t i = 0; i < N; i++)
        evaluated += remedies[i].evaluated;
    assert_in_range(evaluated, 1, N - 1);
}

/* The receiver has waited from 20 ms on, and the message is there 100 ms times the factor after the
 * begin: below a fifth nothing is gained any more. */
static void test_curve(void **state)
{
    enum { MS = 1000000 };
    static const double factors[] = {0, 0.2, 2};
    static const int64_t run_ms[] = {120, 120, 300};
    const bool of_0[4] = {true};
    const struct rfn_assumption assumption = {.what = RFN_ASSUME_COMPUTE, .ranks = of_0};
    const struct rfn_lane none = {NULL, 0};
    const struct rfn_predict_options given = {.network = &network, .lanes = &none, .n = 1};
    struct rfn_curve curve;
    struct rfn_diag diag;
    (void)state;
    begin(0);
    begin(1);
    send(0, 100 * MS, 100 * MS + 2, 1, 8);
    recv(1, 20 * MS, 100 * MS + 18, 0);
    end(1, 200 * MS);
    assert_int_equal(rfn_predict_curve(&fake, &given, &assumption, 1, 0, 2, &curve, &diag), 0);
    assert_int_equal(curve.n, 3);
    for (size_t i = 0; i < curve.n; i++) {
        assert_float_equal(curve.points[i].factor, factors[i], 1e-6);
        assert_in_range(curve.points[i].run_ns, run_ms[i] * MS - 20, run_ms[i] * MS + 20);
    }
    assert_float_equal(curve.tolerated, 1.02, 1e-3);
    rfn_curve_release(&curve);
    const struct rfn_assumption idle = {.what = RFN_ASSUME_L, .factor = 1};
    assert_int_equal(rfn_predict_curve(&fake, &given, &idle, 1, 0, 10, &curve, &diag), 0);
    assert_float_equal(curve.tolerated, 2e5, 200); /* 2 ms instead of 10 ns */
    rfn_curve_release(&curve);
}

static void test_estimate(void **state)
{
    struct rfn_network found;
    struct rfn_diag diag;
    uint64_t messages;
    (void)state;
    eager_waiting();
    assert_int_equal(rfn_network_estimate(&fake, &found, &messages, &diag), 0);
    assert_int_equal(messages, 1);
    assert_int_equal((int)found.overhead_ns, 2); /* the send */
    assert_int_equal((int)found.latency_ns, 18 - 2 * 2);
    assert_int_equal(found.eager_bytes, 512);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(eager_waiting), TEST(eager_lying), TEST(rendezvous),    TEST(sent_before),
        TEST(larger_eager),  TEST(ideal),       TEST(overtaken),     TEST(barrier),
        TEST(several),       TEST(clamped),     TEST(remedies),      TEST(curve),
        TEST(estimate),      TEST(parts),       TEST(matched_probe), TEST(no_best)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
