#include "reduce/segments/representative_store.h"

#include "reduce/segments/vector_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 2, N = 6, MAX_ELEMENTS = 128 };

/* Mohror, Fig. 9. */
static const int64_t s0[N] = {0, 1, 20, 21, 49, 50}, s1[N] = {0, 1, 40, 41, 50, 51},
                     s2[N] = {0, 1, 17, 18, 48, 49};
static const uint32_t events[MAX_ELEMENTS] = {3, 4};

static struct rfn_representative_store *new_store(const char *criterion, uint32_t max_per_kind,
                                                  bool in_order)
{
    struct rfn_representative_store_options options = {.max_per_kind = max_per_kind,
                                                       .in_order = in_order};
    assert_int_equal(rfn_criterion_parse(criterion, false, &options.criterion, NULL), 0);
    struct rfn_representative_store *store = rfn_representative_store_new(&options);
    assert_non_null(store);
    return store;
}

/* Puts a segment of context 7 in: its number, and what must become of it. */
static void put_expecting(struct rfn_representative_store *store, const int64_t *vector,
                          uint32_t expected, int result)
{
    struct rfn_segment segment = {.context = 7, .events = events, .n = EVENTS, .vector = vector};
    uint32_t number = 99;
    assert_int_equal(rfn_representative_store_put(store, &segment, &number), result);
    assert_int_equal(number, expected);
}

static void put(struct rfn_representative_store *store, const int64_t *vector, uint32_t expected,
                bool is_kept)
{
    put_expecting(store, vector, expected, is_kept ? RFN_STORE_KEPT : RFN_STORE_MATCHED);
}

static void put_made(struct rfn_representative_store *store, const int64_t *vector,
                     uint32_t expected)
{
    put_expecting(store, vector, expected, RFN_STORE_MADE);
}

static void expect_vector(const struct rfn_representative_store *store, uint32_t number,
                          const int64_t *vector)
{
    struct rfn_representative representative = rfn_representative_store_representative(store, 7,
                                                                                       number);
    assert_int_equal(representative.n_events, EVENTS);
    assert_memory_equal(representative.vector, vector, N * sizeof *vector);
}

/* ---- known answers ---- */

/* s2 is executed as s0 by every method that measures, s1 is not. (At 0.5 and 20 ns it would be: it
 * differs by just that much.) */
static void test_example(void **state)
{
    (void)state;
    const char *criteria[] = {"relDiff:0.499", "absDiff:0.0199", "manhattan:0.2", "euclidean:0.2",
                              "chebyshev:0.2", "avgWave:0.2",    "haarWave:0.2",  "jitter:0.00001"};
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++) {
        struct rfn_representative_store *store = new_store(criteria[i], 0, false);
        put(store, s0, 0, true);
        put(store, s1, 1, true);
        put(store, s2, 0, false);
        assert_int_equal(rfn_representative_store_numbers(store, 7), 2);
        assert_int_equal(rfn_representative_store_numbers(store, 6), 0);
        assert_int_equal(rfn_representative_store_numbers(store, 800), 0);
        expect_vector(store, 0, s0);
        expect_vector(store, 1, s1);
        struct rfn_representative first = rfn_representative_store_representative(store, 7, 0);
        assert_int_equal(first.executions, 2);
        assert_int_equal(first.pace, 50); /* (50 + 49) / 2, rounded */
        struct rfn_representative_store_stats stats = rfn_representative_store_stats(store);
        assert_int_equal(stats.executions, 3);
        assert_int_equal(stats.kinds, 1);
        assert_int_equal(stats.representatives, 2);
        rfn_representative_store_free(store);
    }
}

/* Mohror 4.3.2.1: with k = 3 all are kept, with k = 2 s2 is discarded. */
static void test_iter_k(void **state)
{
    (void)state;
    struct rfn_representative_store *store = new_store("iterK:3", 0, false);
    put(store, s0, 0, true);
    put(store, s1, 1, true);
    put(store, s2, 2, true);
    put(store, s0, 2, false);
    rfn_representative_store_free(store);
    store = new_store("iterK:2", 0, false);
    put(store, s0, 0, true);
    put(store, s1, 1, true);
    put(store, s2, 1, false);
    assert_int_equal(rfn_representative_store_stats(store).representatives, 2);
    assert_int_equal(rfn_representative_store_representative(store, 7, 1).executions, 2);
    rfn_representative_store_free(store);
}

static void test_iter_k_options(void **state)
{
    (void)state;
    const int64_t average[N] = {0, 1, 26, 27, 49, 50}; /* of the three */
    struct rfn_representative_store *store = new_store("iterK:3:average", 0, false);
    put(store, s0, 0, true);
    put(store, s1, 1, true);
    put(store, s2, 2, true);
    put_made(store, s1, 3);
    put(store, s1, 3, false);
    expect_vector(store, 3, average);
    assert_int_equal(rfn_representative_store_stats(store).representatives,
                     3); /* it is not a segment */
    rfn_representative_store_free(store);
    store = new_store("iterK:3:centroid", 0, false);
    put(store, s1, 0, true);
    put(store, s2, 1, true);
    put(store, s0, 2, true);
    put_made(store, s1, 3);
    put(store, s2, 3, false);
    expect_vector(store, 3, s0); /* nearest to the average */
    rfn_representative_store_free(store);
}

static void test_iter_avg(void **state)
{
    (void)state;
    const int64_t average[N] = {0, 1, 26, 27, 49, 50};
    struct rfn_representative_store *store = new_store("iterAvg", 0, false);
    put(store, s0, 0, true);
    put(store, s1, 0, false);
    put(store, s2, 0, false);
    rfn_representative_store_finish(store);
    expect_vector(store, 0, average);
    assert_int_equal(rfn_representative_store_representative(store, 7, 0).pace, 50);
    rfn_representative_store_free(store);
}

/* The lowest number wins, even where a later one is nearer. */
static void test_lowest(void **state)
{
    (void)state;
    const int64_t a[N] = {0, 0, 0, 0, 0, 1000}, b[N] = {0, 0, 0, 0, 0, 1500},
                  between[N] = {0, 0, 0, 0, 0, 1300};
    struct rfn_representative_store *store = new_store("absDiff:0.3", 0, false);
    put(store, a, 0, true);
    put(store, b, 1, true);
    put(store, between, 0, false);
    rfn_representative_store_free(store);
}

/* Numbers count per context; segments with other events are never compared. */
static void test_kinds(void **state)
{
    (void)state;
    const uint32_t others[] = {3, 5};
    const int64_t nothing[] = {0, 0};
    struct rfn_representative_store *store = new_store("chebyshev:0.2", 0, false);
    const struct {
        uint32_t context, expected;
        const uint32_t *events;
        size_t n;
        const int64_t *vector;
        int result;
    } puts[] = {{7, 0, events, 2, s0, 1}, {7, 1, others, 2, s0, 1},   {9, 0, events, 2, s0, 1},
                {7, 1, others, 2, s2, 0}, {7, 2, events, 2, s1, 1},   {7, 3, events, 0, nothing, 1},
                {9, 0, events, 2, s2, 0}, {7, 3, NULL, 0, nothing, 0}};
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++) {
        struct rfn_segment segment = {.context = puts[i].context,
                                      .events = puts[i].events,
                                      .n = puts[i].n,
                                      .messages = 3,
                                      .vector = puts[i].vector};
        uint32_t number;
        assert_int_equal(rfn_representative_store_put(store, &segment, &number), puts[i].result);
        assert_int_equal(number, puts[i].expected);
    }
    struct rfn_representative_store_stats stats = rfn_representative_store_stats(store);
    assert_int_equal(stats.kinds, 4);
    assert_int_equal(stats.representatives, 5);
    assert_int_equal(stats.kept_events, 4 * 2);
    assert_int_equal(stats.kept_messages, 5 * 3);
    assert_int_equal(stats.executions, 8);
    assert_int_equal(rfn_representative_store_numbers(store, 8), 0);
    rfn_representative_store_free(store);
}

/* ---- one-way segments ---- */

static void put_way(struct rfn_representative_store *store, uint8_t roles, int64_t enter,
                    int64_t exit, uint32_t expected, int result)
{
    const int64_t vector[] = {0, enter, exit, exit};
    struct rfn_segment segment = {
        .context = roles, .events = events, .n = 1, .roles = roles, .vector = vector};
    uint32_t number = 99;
    assert_int_equal(rfn_representative_store_put(store, &segment, &number), result);
    assert_int_equal(number, expected);
}

static void expect_way(const struct rfn_representative_store *store, uint8_t roles, uint32_t number,
                       int64_t enter, int64_t exit, int64_t pace)
{
    struct rfn_representative is = rfn_representative_store_representative(store, roles, number);
    const int64_t vector[] = {0, enter, exit, exit};
    assert_memory_equal(is.vector, vector, sizeof vector);
    assert_int_equal(is.pace, pace);
    assert_int_equal(is.one_way, rfn_roles_one_way(roles));
}

/* 80 us of 1 ms are more than 0.02 of 2 ms, and less than 2.5 times that. Four lengths are of one
 * class, the fifth is not: it is near the second, but not near the leader, the first. */
static void test_one_way(void **state)
{
    (void)state;
    static const uint8_t roles[] = {RFN_ROLE_SENDS, RFN_ROLE_COMPLETES | RFN_ROLE_ALL_TO_ONE};
    struct rfn_representative_store *store = new_store("jitter:0.02", 0, false);
    for (size_t i = 0; i < sizeof roles; i++) {
        put_way(store, roles[i], 1000000, 1010000, 0, RFN_STORE_KEPT);
        put_way(store, roles[i], 1080000, 1090000, 0, RFN_STORE_MATCHED);
        put_way(store, roles[i], 1000000, 1090000, 0, RFN_STORE_MATCHED);
        put_way(store, roles[i], 500000, 1060000, 1, RFN_STORE_KEPT);
        put_way(store, roles[i], 1080000, 1130000, 2, RFN_STORE_KEPT);
    }
    rfn_representative_store_finish(store);
    for (size_t i = 0; i < sizeof roles; i++) {
        expect_way(store, roles[i], 0, 1026667, 1063333, 1062500);
        expect_way(store, roles[i], 1, 500000, 1060000, 1062500);
        expect_way(store, roles[i], 2, 1080000, 1130000, 1130000);
    }
    rfn_representative_store_free(store);
}

/* Of all others that are as long as this, and with threshold 0, nothing is averaged, and 80 us are
 * 80 us. */
static void test_both_ways(void **state)
{
    (void)state;
    static const uint8_t roles[] = {0, RFN_ROLE_MEETS, RFN_ROLE_SENDS | RFN_ROLE_RECEIVES,
                                    RFN_ROLE_MEETS | RFN_ROLE_COMPLETES,
                                    RFN_ROLE_ONE_TO_ALL | RFN_ROLE_ALL_TO_ONE};
    struct rfn_representative_store *store = new_store("jitter:0.02", 0, false);
    for (size_t i = 0; i < sizeof roles; i++) {
        put_way(store, roles[i], 1000000, 1010000, 0, RFN_STORE_KEPT);
        put_way(store, roles[i], 1080000, 1090000, 1, RFN_STORE_KEPT);
        put_way(store, roles[i], 1020000, 1030000, 0, RFN_STORE_MATCHED);
    }
    rfn_representative_store_finish(store);
    for (size_t i = 0; i < sizeof roles; i++)
        expect_way(store, roles[i], 0, 1000000, 1010000, 1020000);
    rfn_representative_store_free(store);
    store = new_store("jitter:0", 0, false);
    put_way(store, RFN_ROLE_SENDS, 10, 20, 0, RFN_STORE_KEPT);
    put_way(store, RFN_ROLE_SENDS, 10, 21, 1, RFN_STORE_KEPT);
    assert_false(rfn_representative_store_representative(store, RFN_ROLE_SENDS, 0).one_way);
    rfn_representative_store_free(store);
    store = new_store("chebyshev:0.02", 0, false);
    put_way(store, RFN_ROLE_SENDS, 10, 20, 0, RFN_STORE_KEPT);
    assert_false(rfn_representative_store_representative(store, RFN_ROLE_SENDS, 0).one_way);
    rfn_representative_store_free(store);
}

/* Widening unites classes of lengths, too: their means are of all that were in them. */
static void test_one_way_widened(void **state)
{
    (void)state;
    struct rfn_representative_store *store = new_store("jitter:0.02", 0, false);
    put_way(store, RFN_ROLE_SENDS, 1000000, 1000000, 0, RFN_STORE_KEPT);
    put_way(store, RFN_ROLE_SENDS, 1110000, 1120000, 1, RFN_STORE_KEPT);
    put_way(store, RFN_ROLE_SENDS, 1110000, 1120000, 1, RFN_STORE_MATCHED);
    assert_int_equal(rfn_representative_store_widen(store), 1);
    assert_int_equal(rfn_representative_store_forward(store, RFN_ROLE_SENDS, 1), 0);
    put_way(store, RFN_ROLE_SENDS, 1000000, 1000000, 0, RFN_STORE_MATCHED);
    rfn_representative_store_finish(store);
    expect_way(store, RFN_ROLE_SENDS, 0, 1055000, 1060000, 1060000);
    rfn_representative_store_free(store);
}

/* ---- short segments ---- */

/* Of what is shorter than 1 ms when it is kept averages are kept. 0.999 ms and 1 ms are of
 * different sorts. */
static void test_short(void **state)
{
    (void)state;
    const uint8_t roles = RFN_ROLE_MEETS;
    struct rfn_representative_store *store = new_store("jitter:0.02", 0, false);
    put_way(store, roles, 1000, 3000, 0, RFN_STORE_KEPT);
    put_way(store, roles, 2000, 5000, 0, RFN_STORE_MATCHED);
    put_way(store, roles, 18000, 19000, 0, RFN_STORE_MATCHED);
    put_way(store, roles, 900000, 999999, 1, RFN_STORE_KEPT);
    put_way(store, roles, 900000, 1000001, 1, RFN_STORE_MATCHED);
    put_way(store, roles, 800000, 1000000, 2, RFN_STORE_KEPT);
    put_way(store, roles, 810000, 1000010, 2, RFN_STORE_MATCHED);
    rfn_representative_store_finish(store);
    expect_way(store, roles, 0, 7000, 9000, 9000);
    expect_way(store, roles, 1, 900000, 1000000, 1000000);
    expect_way(store, roles, 2, 800000, 1000000, 1000005);
    rfn_representative_store_free(store);
    store = new_store("chebyshev:0.9", 0, false);
    put_way(store, roles, 1000, 3000, 0, RFN_STORE_KEPT);
    put_way(store, roles, 2000, 5000, 0, RFN_STORE_MATCHED);
    rfn_representative_store_finish(store);
    expect_way(store, roles, 0, 1000, 3000, 4000);
    rfn_representative_store_free(store);
}

/* So are what else is kept with them, and with those that are united. */
static void test_short_extra(void **state)
{
    (void)state;
    static const int64_t vectors[][4] = {
        {0, 10, 20, 20}, {0, 30, 60, 60}, {0, 21010, 21060, 21060}};
    static const int64_t extras[][2] = {{1, 100}, {2, 301}, {6, -1000}};
    static const uint32_t expected[] = {0, 0, 1};
    struct rfn_representative_store *store = new_store("jitter:0.02", 0, false);
    for (size_t i = 0; i < 3; i++) {
        struct rfn_segment segment = {
            .events = events, .n = 1, .vector = vectors[i], .extra = extras[i], .n_extra = 2};
        uint32_t number;
        assert_true(rfn_representative_store_put(store, &segment, &number) >= 0);
        assert_int_equal(number, expected[i]);
    }
    assert_int_equal(rfn_representative_store_widen(store), 1);
    assert_int_equal(rfn_representative_store_forward(store, 0, 1), 0);
    rfn_representative_store_finish(store);
    struct rfn_representative is = rfn_representative_store_representative(store, 0, 0);
    assert_int_equal(is.vector[1], (10 + 30 + 21010 + 1) / 3);
    assert_int_equal(is.extra[0], 3);
    assert_int_equal(is.extra[1], -200); /* -199.67 */
    rfn_representative_store_free(store);
}

/* Widening unites what is averaged and what is not: the first of them says what becomes of both. */
static void test_short_widened(void **state)
{
    (void)state;
    const uint8_t roles = RFN_ROLE_MEETS;
    for (int longer_first = 0; longer_first < 2; longer_first++) {
        struct rfn_representative_store *store = new_store("jitter:0.02", 0, false);
        const int64_t ends[] = {longer_first ? 1020000 : 980000, longer_first ? 980000 : 1020000};
        put_way(store, roles, 500000, ends[0], 0, RFN_STORE_KEPT);
        put_way(store, roles, 545000, ends[1], 1, RFN_STORE_KEPT);
        put_way(store, roles, 545000, ends[1], 1, RFN_STORE_MATCHED);
        assert_int_equal(rfn_representative_store_widen(store), 1);
        rfn_representative_store_finish(store);
        if (longer_first)
            expect_way(store, roles, 0, 500000, 1020000, 993333);
        else
            expect_way(store, roles, 0, 530000, 1006667, 1006667);
        rfn_representative_store_free(store);
    }
}

/* ---- made-up vectors ---- */

static uint64_t random_state = 1;

static uint64_t noise(uint64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

/* Each maker fills a vector of n times, ascending, the i-th of its family. */
typedef void maker(int64_t *vector, size_t n, uint64_t i);

/* Iterations of one length, or one of three, with a few per cent of noise; some are disturbed. */
static void make_regular(int64_t *vector, size_t n, uint64_t i)
{
    vector[0] = 0;
    for (size_t j = 1; j < n; j++) {
        int64_t step = (int64_t)(1000 * (1 + i % 3) + noise(100));
        step += noise(500) ? 0 : (int64_t)noise(20000);
        vector[j] = vector[j - 1] + step;
    }
}

/* Nothing alike: lengths over six decades. */
static void make_random(int64_t *vector, size_t n, uint64_t i)
{
    (void)i;
    uint64_t range = (uint64_t)1 << (3 + noise(20));
    vector[0] = 0;
    for (size_t j = 1; j < n; j++)
        vector[j] = vector[j - 1] + (int64_t)noise(range);
}

/* Each a little longer than the one before: in order, the worst for a tree that is not rebuilt. */
static void make_drift(int64_t *vector, size_t n, uint64_t i)
{
    vector[0] = 0;
    for (size_t j = 1; j < n; j++)
        vector[j] = (int64_t)(j * (1000 + i * 5));
}

/* Equal lengths and sums of steps: one event is late by half of the length, another one early. */
static void make_spike(int64_t *vector, size_t n, uint64_t i)
{
    for (size_t j = 0; j < n; j++)
        vector[j] = (int64_t)(j * 1000);
    size_t at = 1 + (size_t)(i % (n - 2));
    for (size_t j = at; j + 1 < n; j++)
        vector[j] = (int64_t)((j + n) * 500 + noise(3));
}

/* Corners of a cube: each time is at one of two places, independently. */
static void make_corner(int64_t *vector, size_t n, uint64_t i)
{
    (void)i;
    for (size_t j = 0; j < n; j++)
        vector[j] = (int64_t)(j * 1000 + (j && j + 1 < n ? noise(2) * 900 : 0));
}

/* Little variety, with zeros: many equal elements, borders of thresholds are met exactly. */
static void make_small(int64_t *vector, size_t n, uint64_t i)
{
    (void)i;
    vector[0] = 0;
    for (size_t j = 1; j < n; j++)
        vector[j] = vector[j - 1] + (int64_t)noise(3) * 10;
}

/* Not even ascending. */
static void make_wild(int64_t *vector, size_t n, uint64_t i)
{
    for (size_t j = 0; j < n; j++)
        vector[j] = (int64_t)noise(2000) - (i % 2 ? 1000 : 0);
}

static maker *const makers[] = {make_regular, make_random, make_drift, make_spike,
                                make_corner,  make_small,  make_wild};
enum { N_MAKERS = sizeof makers / sizeof *makers };

/* ---- the index ---- */

static void put_both(struct rfn_representative_store *fast, struct rfn_representative_store *slow,
                     const struct rfn_segment *segment)
{
    uint32_t found, expected;
    int result = rfn_representative_store_put(fast, segment, &found);
    assert_int_equal(rfn_representative_store_put(slow, segment, &expected), result);
    assert_int_equal(found, expected);
}

static void compare(const char *method, double threshold, maker *make, size_t n_events)
{
    char criterion[64];
    int64_t vector[MAX_ELEMENTS];
    snprintf(criterion, sizeof criterion, "%s:%.9f", method, threshold);
    struct rfn_representative_store *fast = new_store(criterion, 0, false);
    struct rfn_representative_store *slow = new_store(criterion, 0, true);
    for (uint64_t i = 0; i < 300; i++) {
        make(vector, 2 * n_events + 2, i);
        uint32_t context = (uint32_t)noise(2);
        put_both(fast, slow,
                 &(struct rfn_segment){.context = context,
                                       .events = events,
                                       .n = n_events,
                                       .roles = context ? RFN_ROLE_SENDS : RFN_ROLE_MEETS,
                                       .vector = vector});
    }
    struct rfn_representative_store_stats stats = rfn_representative_store_stats(fast),
                                          all = rfn_representative_store_stats(slow);
    assert_int_equal(stats.representatives, all.representatives);
    assert_int_equal(all.visits, 0);
    rfn_representative_store_free(fast);
    rfn_representative_store_free(slow);
}

/* The index gives the match that trying all in order gives: every method, from thresholds where
 * nothing matches to such where everything does. */
static void test_index(void **state)
{
    (void)state;
    static const double shares[] = {0, 0.001, 0.02, 0.1, 0.3, 0.8, 1, 3};
    static const size_t sizes[] = {1, 2, 5, 30};
    for (size_t m = 0; rfn_similarity_method(m); m++) {
        const struct rfn_similarity *method = rfn_similarity_method(m);
        for (size_t i = 0; method->difference && i < 8 * 4 * N_MAKERS; i++) {
            double unit = method == &rfn_abs_diff ? 3 : 1; /* us */
            compare(method->name, shares[i % 8] * unit, makers[i / 32], sizes[i / 8 % 4]);
        }
    }
}

/* What a put costs on average, in the second half of so many, and how many representatives there
 * were. */
struct cost {
    double comparisons, visits, in_order;
    uint64_t representatives;
};

static struct cost measure(const char *criterion, maker *make, size_t n_events, uint64_t puts)
{
    int64_t vector[MAX_ELEMENTS];
    struct rfn_representative_store *store = new_store(criterion, 0, false);
    struct rfn_representative_store_stats half = {0};
    struct cost cost = {0};
    for (uint64_t i = 0; i < puts; i++) {
        uint32_t number;
        if (i == puts / 2)
            half = rfn_representative_store_stats(store);
        make(vector, 2 * n_events + 2, i);
        struct rfn_segment segment = {
            .context = 0, .events = events, .n = n_events, .vector = vector};
        assert_true(rfn_representative_store_put(store, &segment, &number) >= 0);
        cost.in_order += i < puts / 2 ? 0 : number + 1;
    }
    struct rfn_representative_store_stats stats = rfn_representative_store_stats(store);
    double count = (double)(puts - puts / 2);
    cost.comparisons = (double)(stats.comparisons - half.comparisons) / count;
    cost.visits = (double)(stats.visits - half.visits) / count;
    cost.in_order /= count;
    cost.representatives = stats.representatives;
    rfn_representative_store_free(store);
    return cost;
}

/* Irregular programs: tens of thousands of representatives, of which a search compares a few and
 * reaches a few nodes of the trees, hardly more when there are four times as many. In order it
 * would compare thousands. */
static void test_cost(void **state)
{
    (void)state;
    static const struct {
        const char *criterion;
        maker *make;
        size_t n_events;
        uint64_t representatives; /* at least */
        double at_most, in_order; /* comparisons and visits; comparisons in order, at least */
    } cases[] = {
        {"avgWave:0.01", make_random, 4, 19000, 120, 10000},
        {"haarWave:0.01", make_random, 20, 19000, 160, 10000},
        {"relDiff:0.1", make_random, 4, 18000, 160, 10000},
        {"absDiff:1", make_random, 20, 12000, 90, 5000},
        {"manhattan:0.01", make_random, 4, 19000, 120, 10000},
        {"euclidean:0.01", make_random, 20, 19000, 150, 10000},
        {"chebyshev:0.01", make_random, 4, 19000, 120, 10000},
        {"relDiff:0.01", make_wild, 20, 19000, 100, 10000},
        {"manhattan:0.01", make_drift, 20, 5000, 130, 4000},
        {"euclidean:0.01", make_regular, 20, 1000, 60, 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n_events = cases[i].n_events;
        struct cost few = measure(cases[i].criterion, cases[i].make, n_events, 5000);
        struct cost cost = measure(cases[i].criterion, cases[i].make, n_events, 20000);
        assert_true(cost.representatives >= cases[i].representatives);
        assert_true(cost.comparisons + cost.visits <= cases[i].at_most);
        assert_true(cost.in_order >= cases[i].in_order);
        assert_true(cost.comparisons + cost.visits <= 2 * (few.comparisons + few.visits));
    }
}

/* Corners of a cube with 40 dimensions. At the larger threshold those that differ in a few
 * dimensions are similar, and no tree can leave out much: that is what the limit per kind is for.
 * At the smaller one elements are equal or not, and trees cut between them. */
static void test_hard(void **state)
{
    (void)state;
    struct cost cost = measure("manhattan:0.1", make_corner, 20, 4000);
    assert_true(cost.representatives > 3000);
    assert_true(cost.comparisons < 3000);
    struct cost fewer = measure("manhattan:0.01", make_corner, 20, 4000);
    assert_true(fewer.comparisons + fewer.visits < 80);
}

/* ---- widening ---- */

/* Checks that every number leads to a representative that is there, and that all executions are
 * counted. */
static void check_forward(const struct rfn_representative_store *store, uint32_t context)
{
    uint64_t executions = 0, representatives = 0;
    uint32_t n = rfn_representative_store_numbers(store, context);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t forward = rfn_representative_store_forward(store, context, i);
        assert_true(forward <= i);
        assert_non_null(rfn_representative_store_representative(store, context, forward).vector);
        assert_int_equal(rfn_representative_store_representative(store, context, i).vector == NULL,
                         forward != i);
        executions += forward == i
                          ? rfn_representative_store_representative(store, context, i).executions
                          : 0;
        representatives += forward == i;
    }
    assert_int_equal(executions, rfn_representative_store_stats(store).executions);
    assert_int_equal(representatives, rfn_representative_store_stats(store).representatives);
}

/* Puts 500 segments in. A put that does not widen compares at most as many vectors as the limit,
 * and the one that was found last once more; widening takes at most 64 steps ever, each of at most
 * all pairs. */
static void put_limited(struct rfn_representative_store *store, maker *make, uint64_t limit)
{
    uint64_t widening = 0;
    for (uint64_t i = 0; i < 500; i++) {
        uint32_t number;
        int64_t vector[N];
        struct rfn_segment segment = {
            .context = 0, .events = events, .n = EVENTS, .roles = RFN_ROLE_SENDS, .vector = vector};
        struct rfn_representative_store_stats before = rfn_representative_store_stats(store);
        make(vector, N, i);
        assert_true(rfn_representative_store_put(store, &segment, &number) >= 0);
        struct rfn_representative_store_stats after = rfn_representative_store_stats(store);
        assert_true(after.representatives <= limit);
        uint64_t comparisons = after.comparisons - before.comparisons;
        if (after.representatives >= before.representatives)
            assert_true(comparisons <= limit + 1);
        else
            widening += comparisons;
    }
    assert_true(widening <= 64 * (limit + 1) * (limit + 1));
}

static void test_limit(void **state)
{
    (void)state;
    static const char *const criteria[] = {"relDiff:0.001",   "absDiff:0",       "manhattan:0.001",
                                           "euclidean:0.001", "chebyshev:0.001", "avgWave:0.001",
                                           "haarWave:0",      "jitter:0.0000001"};
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria * N_MAKERS; i++) {
        struct rfn_representative_store *store = new_store(criteria[i / N_MAKERS], 50, false);
        put_limited(store, makers[i % N_MAKERS], 50);
        check_forward(store, 0);
        rfn_representative_store_free(store);
    }
}

/* Two kinds: the one that holds more is halved, several times; the other one stays as long as it
 * holds less. */
static void test_widen(void **state)
{
    (void)state;
    struct rfn_representative_store *store = new_store("chebyshev:0.01", 0, false);
    int64_t vector[MAX_ELEMENTS];
    for (uint64_t i = 0; i < 1000; i++) {
        uint32_t number;
        make_random(vector, 42, i);
        struct rfn_segment segment = {.context = 0, .events = events, .n = 20, .vector = vector};
        assert_true(rfn_representative_store_put(store, &segment, &number) >= 0);
    }
    put(store, s0, 0, true);
    put(store, s1, 1, true);
    struct rfn_representative_store_stats before = rfn_representative_store_stats(store), after;
    assert_int_equal(rfn_representative_store_widen(store), 1);
    after = rfn_representative_store_stats(store);
    assert_int_equal(after.widened, 1);
    assert_true(after.representatives - 2 <= (before.representatives - 2) / 2);
    assert_true(after.bytes < before.bytes);
    assert_int_equal(rfn_representative_store_forward(store, 7, 1), 1);
    assert_int_equal(rfn_representative_store_representative(store, 7, 1).executions, 1);
    while (rfn_representative_store_widen(store) == 1)
        ;
    assert_int_equal(rfn_representative_store_stats(store).representatives, 2);
    assert_int_equal(rfn_representative_store_forward(store, 7, 1), 0);
    struct rfn_representative both = rfn_representative_store_representative(store, 7, 0);
    assert_int_equal(both.executions, 2);
    assert_int_equal(both.pace, 51); /* 50.5 */
    put(store, s2, 0, false);
    rfn_representative_store_free(store);
    store = new_store("iterK:3", 0, false);
    put(store, s0, 0, true);
    put(store, s1, 1, true);
    assert_int_equal(rfn_representative_store_widen(store), 0);
    rfn_representative_store_free(store);
}

/* Times at the ends of what a number can be, as a damaged file may have. */
static void test_extreme(void **state)
{
    (void)state;
    static const int64_t extremes[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};
    for (size_t m = 0; rfn_similarity_method(m); m++) {
        struct rfn_representative_store *store = new_store(rfn_similarity_method(m)->name, 20,
                                                           false);
        for (int i = 0; i < 200; i++) {
            int64_t vector[N];
            uint32_t number;
            for (size_t j = 0; j < N; j++)
                vector[j] = extremes[noise(6)];
            struct rfn_segment segment = {.context = 0,
                                          .events = events,
                                          .n = EVENTS,
                                          .roles = RFN_ROLE_SENDS,
                                          .vector = vector};
            assert_true(rfn_representative_store_put(store, &segment, &number) >= 0);
        }
        rfn_representative_store_finish(store);
        check_forward(store, 0);
        rfn_representative_store_free(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_iter_k),
        cmocka_unit_test(test_iter_k_options),
        cmocka_unit_test(test_iter_avg),
        cmocka_unit_test(test_lowest),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_cost),
        cmocka_unit_test(test_hard),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_widen),
        cmocka_unit_test(test_extreme),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_one_way_widened),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_short_extra),
        cmocka_unit_test(test_short_widened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
