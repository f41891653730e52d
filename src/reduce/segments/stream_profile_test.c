/* The executions of a stream: known answers; and random streams against what the page says, worked
 * out with all segments at hand (doc/trace-profiling.md). */
#include "reduce/segments/stream_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/expect_column.h"

#include "support/spill_model.h"

enum { MAX_SEGMENTS = 4000, MAX_EVENTS = 4, TOP = -1 };

static const uint32_t symbols[MAX_EVENTS] = {5, 6, 5, 7};

/* A segment as it was executed: of a context or the top, its start, and what is in it. */
struct real {
    int context;
    int64_t start;
    size_t n;
    int64_t vector[2 * MAX_EVENTS + 2];
    int64_t extra[2];
    size_t n_extra;
    uint8_t roles;
};

static struct real reals[MAX_SEGMENTS];
static size_t n_reals;

static struct rfn_stream_profile *make(const char *criterion, bool exact, uint32_t max_per_kind,
                                       uint64_t max_events)
{
    struct rfn_stream_profile_options options = {
        .max_per_kind = max_per_kind, .max_events = max_events, .exact_starts = exact};
    assert_int_equal(rfn_criterion_parse(criterion, false, &options.criterion, NULL), 0);
    struct rfn_stream_profile *profile = rfn_stream_profile_new(&options);
    assert_non_null(profile);
    return profile;
}

static int put(struct rfn_stream_profile *profile, const struct real *real)
{
    struct rfn_segment segment = {.context = real->context == TOP ? 77 : (uint32_t)real->context,
                                  .events = symbols,
                                  .n = real->n,
                                  .messages = 1,
                                  .roles = real->roles,
                                  .vector = real->vector,
                                  .extra = real->extra,
                                  .n_extra = real->n_extra};
    return rfn_stream_profile_put(profile, &segment, real->start, real->context == TOP);
}

/* The next segment of the stream; its events end at these times since its start. */
static void add(int context, int64_t start, size_t n, const int64_t *ends)
{
    struct real *real = &reals[n_reals++];
    *real = (struct real){.context = context, .start = start, .n = n};
    for (size_t i = 0; i < n; i++) {
        real->vector[2 * i + 1] = i ? ends[i - 1] : 0;
        real->vector[2 * i + 2] = ends[i];
    }
    real->vector[2 * n + 1] = ends[n - 1];
}
#define ADD(context, start, ...) \
    add(context, start, sizeof((const int64_t[]){__VA_ARGS__}) / 8, (const int64_t[]){__VA_ARGS__})

static struct rfn_stream_profile *put_all(const char *criterion, bool exact)
{
    struct rfn_stream_profile *profile = make(criterion, exact, 0, 0);
    for (size_t i = 0; i < n_reals; i++)
        assert_int_equal(put(profile, &reals[i]), 0);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    return profile;
}

#define EXPECT(column, ...)                                           \
    expect_column(column, sizeof((const int64_t[]){__VA_ARGS__}) / 8, \
                  (const int64_t[]){__VA_ARGS__})

/* ---- known answers ---- */

/* Of context 2 the lengths 100, 200, 110, 90: the first stands for the third and the fourth, whose
 * mean length is 100. The tolerance is 20, of the top's first 2. */
static void test_known(void **state)
{
    (void)state;
    n_reals = 0;
    ADD(TOP, 1000, 10);
    ADD(2, 1010, 100);
    ADD(2, 1110, 200);
    ADD(2, 1310, 110);
    ADD(2, 1420, 90);
    ADD(TOP, 1510, 5);
    ADD(0, 1515, 40);
    struct rfn_stream_profile *profile = put_all("chebyshev:0.2", false);
    const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, 2);
    EXPECT(&columns->representative.rest, 0, 1, 0, 0);
    EXPECT(&columns->correction.rest, 0, 0, 0, 0);
    EXPECT(&columns->pace, 0, 0);
    EXPECT(&columns->kept, 1, 0);
    EXPECT(rfn_stream_profile_top(profile), 0, 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->kept, 0);
    assert_int_equal(rfn_stream_profile_columns(profile, 1)->representative.rest.n, 0);
    assert_null(rfn_stream_profile_columns(profile, 3));
    assert_int_equal(rfn_stream_profile_first(profile), 1000);
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(profile);
    assert_int_equal(stats.executions, 7);
    assert_int_equal(stats.kinds, 4);
    assert_int_equal(stats.representatives, 5);
    assert_int_equal(stats.kept_events, 5);
    assert_int_equal(stats.kept_messages, 5);
    assert_int_equal(stats.corrections, 0);
    rfn_stream_profile_free(profile);
}

/* Starts that nothing predicts. The tolerance is 0.2 times 100, rounded down to 19. The second
 * segment is 130 late, which is nearest to 7 times that; so the third is predicted at 1333, 63
 * late, nearest to 3 times. Exactly: 130 and 60. */
static void test_corrections(void **state)
{
    (void)state;
    n_reals = 0;
    ADD(0, 1000, 100);
    ADD(0, 1230, 100);
    ADD(0, 1270, 100);
    struct rfn_stream_profile *profile = put_all("chebyshev:0.2", false);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->correction.rest, 0, 7, -3);
    assert_int_equal(rfn_stream_profile_stats(profile).corrections, 2);
    rfn_stream_profile_free(profile);
    profile = put_all("chebyshev:0.2", true);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->correction.rest, 0, 130, -60);
    rfn_stream_profile_free(profile);
}

/* iterAvg: lengths 100, 110, 300 of one representative, whose length is the average 170, as is its
 * pace: 0 more. iterK:1:average: the first is kept, what follows is executed as the average, which
 * is the first again; its pace is 205. */
static void test_averages(void **state)
{
    (void)state;
    struct rfn_profile_walk *walk;
    struct rfn_executed executed;
    n_reals = 0;
    ADD(0, 0, 100);
    ADD(0, 100, 110);
    ADD(0, 210, 300);
    struct rfn_stream_profile *profile = put_all("iterAvg", true);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->representative.rest, 0, 0, 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->pace, 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->correction.rest, 0, -70, -60);
    walk = rfn_profile_walk_new(profile);
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
    assert_true(executed.first);
    assert_int_equal(executed.vector[2], 170);
    rfn_profile_walk_free(walk);
    rfn_stream_profile_free(profile);
    profile = put_all("iterK:1:average", true);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->representative.rest, 0, 1, 1);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->pace, 0, 105);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->kept, 0, 1);
    rfn_stream_profile_free(profile);
}

/* A full store: what is like nothing in it is loose, and has numbers all the same. */
static void test_full(void **state)
{
    (void)state;
    const int64_t lengths[] = {100, 1000, 5000, 100, 5000, 1001, 20000};
    struct rfn_stream_profile *profile = make("chebyshev:0.2", false, 0, 2);
    struct rfn_executed executed;
    int64_t at = 0;
    n_reals = 0;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ADD(0, at, lengths[i]);
        at += lengths[i];
        assert_int_equal(put(profile, &reals[i]), 0);
    }
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->representative.rest, 0, 1, 2, 0, 3, 1, 4);
    EXPECT(&rfn_stream_profile_columns(profile, 0)->kept, 1, 1, 0, 0, 0);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
        assert_int_equal(executed.loose, i == 2 || i == 4 || i == 6);
        assert_int_equal(executed.vector[2], lengths[i] == 1001 ? 1000 : lengths[i]);
    }
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 0);
    rfn_profile_walk_free(walk);
    rfn_stream_profile_free(profile);
}

/* The second start is 200 us late. The tolerance is some 26.8 us: 0.02 of 1.09 and 0.25 ms;
 * segments that only send may be off by ten times that. Theirs are two representatives, which are
 * all taken to be as long as the mean of all, 1033750 ns. Where starts are exact they are like
 * others. */
static void test_one_way(void **state)
{
    (void)state;
    const uint8_t roles[] = {RFN_ROLE_SENDS, RFN_ROLE_MEETS, RFN_ROLE_SENDS};
    for (size_t i = 0; i < 3; i++) {
        n_reals = 0;
        ADD(0, 0, 500000, 1000000);
        ADD(0, 1200000, 590000, 1090000);
        ADD(0, 2290000, 700000, 1045000);
        ADD(0, 3335000, 500000, 1000000);
        for (size_t k = 0; k < n_reals; k++)
            reals[k].roles = roles[i];
        struct rfn_stream_profile *profile = put_all("jitter:0.02", i == 2);
        const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, 0);
        if (i == 0) {
            EXPECT(&columns->representative.rest, 0, 0, 1, 0);
            EXPECT(&columns->correction.rest, 0, 0, 0, 0);
            EXPECT(&columns->pace, 1033750 - 1030000, 1033750 - 1045000);
        } else {
            EXPECT(&columns->representative.rest, 0, 1, 2, 0);
            EXPECT(&columns->correction.rest, 0, i == 2 ? 200000 : 7, 0, 0);
            EXPECT(&columns->pace, 0, 0, 0);
        }
        rfn_stream_profile_free(profile);
    }
}

static void test_impossible(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("chebyshev:0.2", false, 0, 0);
    n_reals = 0;
    ADD(0, 0, -1);
    ADD(0, 0, INT64_MAX);
    ADD(0, INT64_MIN, INT64_C(1) << 62);
    ADD(TOP, INT64_MAX, 1);
    assert_int_equal(put(profile, &reals[0]), RFN_E_CORRUPT);
    assert_int_equal(put(profile, &reals[1]), RFN_E_CORRUPT);
    assert_int_equal(put(profile, &reals[2]), 0);
    assert_int_equal(put(profile, &reals[3]), RFN_E_CORRUPT);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    assert_int_equal(rfn_stream_profile_stats(profile).executions, 1);
    rfn_stream_profile_free(profile);
    profile = make("avgWave", false, 0, 0); /* nothing at all */
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    assert_int_equal(rfn_stream_profile_contexts(profile), 0);
    rfn_stream_profile_free(profile);
}

/* ---- random streams ---- */

static uint64_t random_state = 1;

static int64_t noise(int64_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)below);
}

/* Gaps and durations around typical ones of the context, some much longer; between segments mostly
 * nothing; now and then a segment of the top. */
static void make_random(size_t n)
{
    int64_t at = noise(1000);
    n_reals = 0;
    while (n_reals < n) {
        int context = noise(40) ? (int)noise(3) : TOP;
        int64_t ends[MAX_EVENTS], end = 0;
        size_t events = 1 + (size_t)noise(noise(9) ? context + 2 : MAX_EVENTS);
        for (size_t i = 0; i < events; i++)
            ends[i] = end += 200 * (context + 2) + noise(noise(20) ? 30 : 3000);
        add(context, at, events, ends);
        struct real *real = &reals[n_reals - 1];
        real->n_extra = (events + (size_t)(context + 1)) % 3;
        real->roles = context == 1 ? RFN_ROLE_SENDS : RFN_ROLE_MEETS;
        for (size_t i = 0; i < real->n_extra; i++)
            real->extra[i] = (int64_t)n_reals + (int64_t)i;
        at += end + (noise(10) ? 0 : noise(100));
    }
}

/* What each segment was executed as, with a store alone: the first pass. */
struct reference {
    uint32_t number[MAX_SEGMENTS];
    struct rfn_representative_store *store;
};

static void put_in_store(struct reference *reference, const char *criterion, bool exact,
                         uint32_t max_per_kind)
{
    struct rfn_representative_store_options options = {.max_per_kind = max_per_kind,
                                                       .both_ways = exact};
    assert_int_equal(rfn_criterion_parse(criterion, false, &options.criterion, NULL), 0);
    reference->store = rfn_representative_store_new(&options);
    for (size_t i = 0; i < n_reals; i++) {
        struct rfn_segment segment = {.context = (uint32_t)reals[i].context,
                                      .events = symbols,
                                      .n = reals[i].n,
                                      .roles = reals[i].roles,
                                      .vector = reals[i].vector,
                                      .extra = reals[i].extra,
                                      .n_extra = reals[i].n_extra};
        if (reals[i].context != TOP)
            assert_true(rfn_representative_store_put(reference->store, &segment,
                                                     &reference->number[i]) >= 0);
    }
    rfn_representative_store_finish(reference->store);
}

/* The vector, what else is kept, and the pace of what segment i is executed as. */
static const int64_t *vector_of(const struct reference *reference, size_t i, const int64_t **extra,
                                int64_t *pace)
{
    *pace = reals[i].vector[2 * reals[i].n + 1];
    *extra = reals[i].extra;
    if (reals[i].context == TOP)
        return reals[i].vector;
    uint32_t context = (uint32_t)reals[i].context;
    uint32_t now = rfn_representative_store_forward(reference->store, context,
                                                    reference->number[i]);
    struct rfn_representative is = rfn_representative_store_representative(reference->store,
                                                                           context, now);
    *pace = is.pace;
    *extra = is.extra;
    assert_int_equal(is.n_extra, reals[i].n_extra);
    return is.vector;
}

/* Tolerances by which the start of a segment may be off. */
static uint64_t starts_of(const struct rfn_criterion *criterion, const struct real *real,
                          bool exact)
{
    bool one_way = !exact && real->context != TOP && rfn_roles_one_way(real->roles) &&
                   criterion->method->one_way > 0;
    return one_way ? criterion->method->one_way_starts : 1;
}

/* Times in a segment are off by what jitter allows, and as much again where an average is kept. */
static void expect_near(const struct rfn_criterion *criterion, const struct real *real,
                        const int64_t *vector, bool exact)
{
    size_t n = 2 * real->n + 2;
    int64_t longer = vector[n - 1] > real->vector[n - 1] ? vector[n - 1] : real->vector[n - 1];
    double allowed = rfn_criterion_allowed(criterion, 1.01 * (double)longer);
    if ((double)real->vector[n - 1] < 1.1 * criterion->more)
        allowed *= 2;
    if (starts_of(criterion, real, exact) > 1)
        allowed *= criterion->method->one_way;
    for (size_t k = 0; k < n; k++)
        assert_true((double)llabs(vector[k] - real->vector[k]) <= allowed + 1);
}

/* A walk gives the vectors that the store alone gives, starts that deviate from the real ones by at
 * most the tolerance, and where they do not, the predicted ones. */
static void expect_walk(const struct rfn_stream_profile *profile, const struct reference *reference,
                        const char *criterion, bool exact, bool limited)
{
    struct rfn_criterion parsed;
    struct rfn_executed executed;
    uint64_t corrections = 0;
    int64_t predicted = reals[0].start;
    bool widened = limited && !exact;
    assert_int_equal(rfn_criterion_parse(criterion, false, &parsed, NULL), 0);
    struct rfn_start_tolerance tolerance = rfn_start_tolerance_of(&parsed, exact);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    for (size_t i = 0; i < n_reals; i++) {
        int64_t pace;
        const struct real *real = &reals[i];
        const int64_t *extra, *vector = vector_of(reference, i, &extra, &pace);
        assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
        assert_int_equal(executed.top, real->context == TOP);
        assert_int_equal(executed.n, real->n);
        assert_memory_equal(executed.events, symbols, real->n * sizeof *symbols);
        assert_memory_equal(executed.vector, vector, (2 * real->n + 2) * sizeof *vector);
        assert_int_equal(executed.n_extra, real->n_extra);
        if (executed.n_extra)
            assert_memory_equal(executed.extra, extra, real->n_extra * sizeof *extra);
        if (parsed.method == &rfn_jitter && !limited)
            expect_near(&parsed, real, vector, exact);
        uint64_t allowed = rfn_start_tolerance(&tolerance, vector[2 * real->n + 1]) *
                           starts_of(&parsed, real, exact);
        assert_true(llabs(executed.start - real->start) <= (long long)(allowed * (1 + widened)));
        corrections += executed.start != predicted;
        if (executed.start != predicted && !widened) /* was it that far off? */
            assert_true(llabs(predicted - real->start) > (long long)(allowed - allowed / 4));
        predicted = executed.start + pace;
    }
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 0);
    assert_int_equal(rfn_stream_profile_stats(profile).corrections, corrections);
    rfn_profile_walk_free(walk);
}

static struct rfn_coder_memory memory;

/* A context's lists, as they are written. */
struct written {
    struct rfn_buf bytes[2];
    struct rfn_list_cursor representative, correction;
    struct rfn_column_cursor pace;
    uint64_t n; /* representatives so far */
};

static void open_list(const struct rfn_execution_list *list, struct rfn_buf *bytes,
                      struct rfn_list_cursor *cursor)
{
    *bytes = (struct rfn_buf)RFN_BUF_INIT;
    assert_int_equal(rfn_list_pack(&list->coded, &list->rest, NULL, &memory, bytes), 0);
    struct rfn_reader reader = rfn_reader_over(bytes->data, bytes->size);
    *cursor = (struct rfn_list_cursor){0};
    assert_int_equal(rfn_column_open(&cursor->column, &reader), 0);
}

static void open_written(const struct rfn_execution_columns *columns, struct written *written)
{
    open_list(&columns->representative, &written->bytes[0], &written->representative);
    open_list(&columns->correction, &written->bytes[1], &written->correction);
    rfn_column_open_growing(&written->pace, &columns->pace);
    written->n = 0;
}

/* Nothing follows. */
static void close_written(const struct rfn_execution_columns *columns, struct written *written)
{
    int64_t value;
    assert_int_equal(rfn_list_next(&written->representative, &value), RFN_E_RANGE);
    assert_int_equal(rfn_list_next(&written->correction, &value), RFN_E_RANGE);
    assert_int_equal(columns->pace.n, written->n);
    assert_int_equal(columns->kept.n, written->n);
    rfn_column_close(&written->representative.column);
    rfn_column_close(&written->correction.column);
    rfn_column_close(&written->pace);
    rfn_buf_release(&written->bytes[0]);
    rfn_buf_release(&written->bytes[1]);
}

/* The next first execution is that one. */
static void expect_first(struct rfn_profile_walk *firsts, const struct rfn_executed *executed)
{
    struct rfn_executed first;
    assert_int_equal(rfn_profile_walk_next(firsts, &first), 1);
    assert_true(first.first && first.top == executed->top && first.loose == executed->loose);
    assert_true(first.top ||
                (first.context == executed->context && first.number == executed->number));
    assert_int_equal(first.n, executed->n);
    assert_int_equal(first.n_extra, executed->n_extra);
    assert_memory_equal(first.events, executed->events, first.n * sizeof *first.events);
    assert_memory_equal(first.vector, executed->vector, (2 * first.n + 2) * sizeof *first.vector);
    if (first.n_extra)
        assert_memory_equal(first.extra, executed->extra, first.n_extra * sizeof *first.extra);
}

/* What the lists say of the segment is what a walk gives; *correction: that of its start. */
static void expect_next(struct written *written, const struct rfn_executed *executed,
                        int64_t *correction)
{
    int64_t number, pace;
    assert_int_equal(rfn_list_next(&written->representative, &number), 0);
    assert_int_equal(rfn_list_next(&written->correction, correction), 0);
    assert_int_equal(number, executed->number);
    assert_int_equal(executed->first, executed->number == written->n);
    if (!executed->first)
        return;
    assert_int_equal(rfn_column_next(&written->pace, &pace), 0);
    assert_int_equal(pace, executed->pace - executed->vector[2 * executed->n + 1]);
    written->n++;
}

/* A reader of the lists finds the segments of a walk, and first executions are those of the other
 * walk. */
static void expect_written(const struct rfn_stream_profile *profile)
{
    struct written written[MAX_EVENTS] = {0};
    struct rfn_start_tolerance tolerance = rfn_stream_profile_tolerance(profile);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    struct rfn_profile_walk *firsts = rfn_profile_walk_firsts(profile);
    struct rfn_column_cursor top;
    struct rfn_executed executed;
    uint32_t n_contexts = rfn_stream_profile_contexts(profile);
    int64_t correction = 0, predicted = rfn_stream_profile_first(profile);
    for (uint32_t i = 0; i < n_contexts; i++)
        open_written(rfn_stream_profile_columns(profile, i), &written[i]);
    rfn_column_open_growing(&top, rfn_stream_profile_top(profile));
    while (rfn_profile_walk_next(walk, &executed)) {
        if (executed.top)
            assert_int_equal(rfn_column_next(&top, &correction), 0);
        else
            expect_next(&written[executed.context], &executed, &correction);
        uint64_t unit = rfn_start_tolerance(&tolerance, executed.vector[2 * executed.n + 1]);
        assert_int_equal(executed.start,
                         rfn_start_units_after(predicted, correction, unit ? unit : 1));
        predicted = executed.start + executed.pace;
        if (executed.first)
            expect_first(firsts, &executed);
    }
    assert_int_equal(rfn_profile_walk_next(firsts, &executed), 0);
    assert_int_equal(rfn_column_at(&top), top.n);
    for (uint32_t i = 0; i < n_contexts; i++)
        close_written(rfn_stream_profile_columns(profile, i), &written[i]);
    rfn_column_close(&top);
    rfn_profile_walk_free(walk);
    rfn_profile_walk_free(firsts);
}

static void test_random(void **state)
{
    (void)state;
    static const char *const criteria[] = {
        "relDiff:0.5",      "absDiff:0.1", "manhattan:0.1", "euclidean:0.1", "chebyshev:0.1",
        "jitter:0.0001",    "avgWave:0.1", "haarWave:0.1",  "iterK:4",       "iterK:4:average",
        "iterK:3:centroid", "iterAvg",     "avgWave:0",     "relDiff:3"};
    static struct reference reference;
    for (size_t i = 0; i < 4 * sizeof criteria / sizeof *criteria; i++) {
        const char *criterion = criteria[i / 4];
        bool exact = i % 2, limited = i / 2 % 2;
        uint32_t max_per_kind = limited ? 5 : 0;
        make_random(1 + (size_t)noise(MAX_SEGMENTS));
        put_in_store(&reference, criterion, exact, max_per_kind);
        struct rfn_stream_profile *profile = make(criterion, exact, max_per_kind, 0);
        for (size_t k = 0; k < n_reals; k++)
            assert_int_equal(put(profile, &reals[k]), 0);
        assert_int_equal(rfn_stream_profile_finish(profile), 0);
        expect_walk(profile, &reference, criterion, exact, limited);
        expect_written(profile);
        rfn_stream_profile_free(profile);
        rfn_representative_store_free(reference.store);
    }
}

/* ---- coded ahead ---- */

/* All segments; coded ahead after the first, and then whenever as many as `every` says at random
 * have come, if it says so. *coded: how many were there the last time. */
static struct rfn_stream_profile *put_ahead(const char *criterion, bool exact,
                                            uint32_t max_per_kind, uint64_t max_events,
                                            int64_t every, size_t *coded)
{
    struct rfn_stream_profile *profile = make(criterion, exact, max_per_kind, max_events);
    *coded = 0;
    for (size_t i = 0; i < n_reals; i++) {
        assert_int_equal(put(profile, &reals[i]), 0);
        if (every && (i == 0 || !noise(every))) {
            rfn_stream_profile_code_ahead(profile);
            *coded = i + 1;
        }
    }
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    return profile;
}

/* What of the lists is coded: of what came by then all, or nothing, after widening or where half of
 * the segments came later. */
static void expect_coded(const struct rfn_stream_profile *profile, size_t coded, bool limited)
{
    size_t n_of[MAX_EVENTS] = {0};
    for (size_t i = 0; i < coded; i++)
        n_of[reals[i].context + 1]++;
    for (uint32_t i = 0; i < rfn_stream_profile_contexts(profile); i++) {
        const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, i);
        uint64_t n = columns->representative.coded.n;
        assert_true(n == (2 * coded > n_reals ? n_of[i + 1] : 0) || (n == 0 && limited));
        assert_int_equal(columns->correction.coded.n, n);
    }
}

/* The same segments are executed as the same, from starts within the tolerance. Vectors are the
 * same but for where averages end. */
static void expect_alike(const struct rfn_stream_profile *profile,
                         const struct rfn_stream_profile *plain, const char *criterion, bool exact,
                         bool limited)
{
    struct rfn_criterion parsed;
    struct rfn_executed with, without;
    assert_int_equal(rfn_criterion_parse(criterion, false, &parsed, NULL), 0);
    struct rfn_start_tolerance tolerance = rfn_start_tolerance_of(&parsed, exact);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    struct rfn_profile_walk *other = rfn_profile_walk_new(plain);
    for (size_t i = 0; i < n_reals; i++) {
        const size_t end = 2 * reals[i].n + 1;
        assert_int_equal(rfn_profile_walk_next(walk, &with), 1);
        assert_int_equal(rfn_profile_walk_next(other, &without), 1);
        assert_true(with.first == without.first && with.number == without.number);
        bool averaged = parsed.method->averages || (double)reals[i].vector[end] < parsed.more ||
                        (parsed.method->one_way > 0 && !exact && rfn_roles_one_way(reals[i].roles));
        if (!averaged || with.top)
            assert_memory_equal(with.vector, without.vector, (end + 1) * sizeof *with.vector);
        for (size_t k = 0; k < end; k++)
            assert_true(with.vector[k] <= with.vector[k + 1]);
        assert_int_equal(with.vector[end - 1], with.vector[end]);
        uint64_t allowed = rfn_start_tolerance(&tolerance, with.vector[end]) *
                           starts_of(&parsed, &reals[i], exact);
        bool widened = limited && !exact;
        assert_true(llabs(with.start - reals[i].start) <= (long long)(allowed * (1 + widened)));
    }
    rfn_profile_walk_free(walk);
    rfn_profile_walk_free(other);
}

/* In proportion, rounded down; before and behind it at its ends. */
static void test_stretched(void **state)
{
    (void)state;
    static const int64_t long_ago = INT64_C(1) << 61;
    static const struct {
        int64_t offset;
        uint64_t length, room, expected;
    } known[] = {{0, 100, 120, 0},     {50, 100, 120, 60}, {55, 100, 3, 1},      {99, 100, 100, 99},
                 {100, 100, 120, 120}, {70, 100, 0, 0},    {150, 100, 120, 120}, {-5, 100, 120, 0},
                 {0, 0, 7, 7},         {1, 0, 7, 7},       {INT64_MIN, 5, 9, 0}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(rfn_start_stretched(known[i].offset, known[i].length, known[i].room),
                         known[i].expected);
    assert_int_equal(rfn_start_stretched(long_ago, (uint64_t)long_ago * 2, (uint64_t)long_ago * 3),
                     (uint64_t)long_ago / 2 * 3);
}

static void test_ahead(void **state)
{
    (void)state;
    static const char *const criteria[] = {"absDiff:0.1", "jitter:0.0001", "jitter:0.01",
                                           "avgWave:0.1", "iterK:4",       "iterK:4:average",
                                           "iterAvg",     "relDiff:3"};
    for (size_t i = 0; i < 8 * sizeof criteria / sizeof *criteria; i++) {
        const char *criterion = criteria[i / 8];
        bool exact = i % 2, limited = i / 2 % 2, full = i / 4 % 2;
        uint32_t max_per_kind = limited ? 5 : 0;
        uint64_t max_events = full ? 40 : 0;
        size_t coded, none;
        make_random(1 + (size_t)noise(MAX_SEGMENTS));
        struct rfn_stream_profile *profile = put_ahead(criterion, exact, max_per_kind, max_events,
                                                       1 + noise(400), &coded);
        struct rfn_stream_profile *plain = put_ahead(criterion, exact, max_per_kind, max_events, 0,
                                                     &none);
        expect_coded(profile, coded, limited);
        expect_written(profile);
        expect_alike(profile, plain, criterion, exact, limited);
        rfn_stream_profile_free(profile);
        rfn_stream_profile_free(plain);
    }
}

/* Whole blocks are coded; and with paces that were frozen on the way there are hardly more
 * corrections than with those of the end. */
static void test_blocks_ahead(void **state)
{
    (void)state;
    enum { N = 50000 };
    uint64_t corrections[2];
    for (int ahead = 0; ahead < 2; ahead++) {
        struct rfn_stream_profile *profile = make("jitter:0.02", false, 0, 0);
        struct real real = {.context = 0, .n = 2, .roles = RFN_ROLE_MEETS};
        random_state = 7;
        for (int i = 0; i < N; i++) {
            for (size_t k = 1; k < 5; k++)
                real.vector[k] = real.vector[k - 1] + 20000 + noise(15000) * (noise(9) ? 1 : 9);
            real.vector[5] = real.vector[4];
            assert_int_equal(put(profile, &real), 0);
            if (ahead && i % 300 == 0)
                rfn_stream_profile_code_ahead(profile);
            real.start += real.vector[4] + noise(200);
        }
        assert_int_equal(rfn_stream_profile_finish(profile), 0);
        const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, 0);
        corrections[ahead] = rfn_stream_profile_stats(profile).corrections;
        if (ahead) {
            const uint64_t most = N - N % 300, blocks = most - most % RFN_COLUMN_BLOCK;
            const struct rfn_list_writer *one = &columns->representative.coded;
            const struct rfn_list_writer *other = &columns->correction.coded;
            assert_true(one->n >= most && one->n - one->n_staged >= blocks);
            assert_true(other->n >= most && other->n - other->n_staged >= blocks);
            expect_written(profile);
        }
        rfn_stream_profile_free(profile);
    }
    assert_in_range(corrections[1], 1, corrections[0] + corrections[0] / 10);
}

/* A segment of one context that takes so long. */
static void put_long(struct rfn_stream_profile *profile, int64_t *start, int64_t length)
{
    struct real real = {.context = 0, .start = *start, .n = 1, .roles = RFN_ROLE_MEETS};
    real.vector[2] = real.vector[3] = length;
    assert_int_equal(put(profile, &real), 0);
    *start += length;
}

/* When nobody meets any more after a slow beginning, starts are not corrected by what was frozen
 * then. */
static void test_stale(void **state)
{
    (void)state;
    static const char *const criteria[] = {"jitter:0.1", "iterAvg"};
    for (size_t i = 0; i < 2; i++) {
        uint64_t corrections[2];
        for (int ahead = 0; ahead < 2; ahead++) {
            struct rfn_stream_profile *profile = make(criteria[i], false, 0, 0);
            int64_t start = 0;
            random_state = 3;
            for (int k = 0; k < 20000; k++) {
                put_long(profile, &start, (k < 300 ? 1050000 : 1000000) + noise(2000));
                if (ahead && k == 300)
                    rfn_stream_profile_code_ahead(profile);
            }
            assert_int_equal(rfn_stream_profile_finish(profile), 0);
            const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, 0);
            corrections[ahead] = rfn_stream_profile_stats(profile).corrections;
            if (ahead) {
                assert_int_equal(columns->representative.coded.n, 0);
                assert_int_equal(columns->correction.coded.n, 0);
            }
            rfn_stream_profile_free(profile);
        }
        assert_int_equal(corrections[1], corrections[0]);
    }
}

/* What is coded is used if less than half of the stream has come since, whenever averages were
 * frozen. */
static void test_end(void **state)
{
    (void)state;
    enum { MERGES = 3 };
    static const struct {
        int merges[MERGES], end, coded;
    } runs[] = {{{100}, 199, 100},
                {{100}, 200, 0},
                {{100, 199}, 201, 199},
                {{100, 199}, 397, 199},
                {{100, 199}, 398, 0},
                {{1, 2, 4}, 7, 4},
                {{100, 150, 10000}, 299, 150},
                {{1}, 1, 1}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct rfn_stream_profile *profile = make("jitter:0.1", false, 0, 0);
        int64_t start = 0;
        for (int k = 1, merged = 0; k <= runs[i].end; k++) {
            put_long(profile, &start, 1000000 + noise(2000));
            if (merged == MERGES || k != runs[i].merges[merged])
                continue;
            rfn_stream_profile_code_ahead(profile);
            merged++;
        }
        assert_int_equal(rfn_stream_profile_finish(profile), 0);
        const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, 0);
        assert_int_equal(columns->representative.coded.n, runs[i].coded);
        assert_int_equal(columns->correction.coded.n, runs[i].coded);
        expect_written(profile);
        rfn_stream_profile_free(profile);
    }
}

/* What was dropped does not come again, and the paces are those of the end. */
static void test_dropped_ahead(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("jitter:0.02", false, 0, 0);
    n_reals = 0;
    ADD(0, 0, 500000, 1000000);
    ADD(0, 1000000, 500000, 1000200);
    ADD(0, 2000200, 500000, 1000400);
    for (size_t i = 0; i < n_reals; i++) {
        reals[i].roles = RFN_ROLE_SENDS;
        assert_int_equal(put(profile, &reals[i]), 0);
        rfn_stream_profile_code_ahead(profile);
        if (i == 1)
            rfn_stream_profile_drop_ahead(profile);
    }
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    const struct rfn_execution_columns *columns = rfn_stream_profile_columns(profile, 0);
    assert_int_equal(columns->representative.coded.n, 0);
    EXPECT(&columns->pace, 0);
    struct rfn_profile_walk *walk = rfn_profile_walk_new(profile);
    struct rfn_executed executed;
    assert_int_equal(rfn_profile_walk_next(walk, &executed), 1);
    assert_int_equal(executed.vector[4], 1000200);
    rfn_profile_walk_free(walk);
    rfn_stream_profile_free(profile);
}

/* Nor does it when a threshold was widened before. */
static void test_widened_and_dropped(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("avgWave:0", false, 0, 0);
    make_random(400);
    for (size_t i = 0; i < n_reals; i++) {
        assert_int_equal(put(profile, &reals[i]), 0);
        if (i == 200) {
            assert_int_equal(rfn_stream_profile_widen(profile), 1);
            rfn_stream_profile_drop_ahead(profile);
        }
        rfn_stream_profile_code_ahead(profile);
    }
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    for (uint32_t i = 0; i < rfn_stream_profile_contexts(profile); i++)
        assert_int_equal(rfn_stream_profile_columns(profile, i)->representative.coded.n, 0);
    expect_written(profile);
    rfn_stream_profile_free(profile);
}

/* Columns leave memory before and after the last segment, or stay there if the spill fails; what is
 * read is the same. */
static int leave(void *spill, struct rfn_column *column)
{
    return noise(2) ? rfn_column_spill(column, spill, noise(2)) : 0;
}

static void test_spilled(void **state)
{
    (void)state;
    enum { ROOM = 16000 };
    for (int i = 0; i < 24; i++) {
        bool ahead = i % 2, early = i / 2 % 2, fails = i % 8 > 5;
        struct rfn_stream_profile *profile = make(i % 3 ? "jitter:0.0001" : "avgWave:0.1", false, 0,
                                                  i / 4 % 2 ? 40 : 0);
        struct spill_model model;
        size_t bytes = 0;
        spill_model_init(&model);
        model.writes_left = fails ? (size_t)noise(3) : SIZE_MAX;
        make_random(MAX_SEGMENTS);
        for (size_t k = 0; k < n_reals; k++) {
            assert_int_equal(put(profile, &reals[k]), 0);
            if (ahead && !noise(300))
                rfn_stream_profile_code_ahead(profile);
            if (early && !fails && !noise(500))
                assert_int_equal(rfn_stream_profile_each_column(profile, leave, &model.spill), 0);
        }
        rfn_stream_profile_keep_to(profile, &(struct rfn_room){&model.spill, ROOM});
        assert_int_equal(rfn_stream_profile_finish(profile), 0);
        assert_int_equal(rfn_stream_profile_each_column(profile, rfn_column_add_bytes, &bytes), 0);
        assert_true(model.writes > 0 || fails);
        assert_true(bytes <= ROOM || fails);
        expect_written(profile);
        rfn_stream_profile_free(profile);
        rfn_buf_release(&model.bytes);
    }
}

/* What is coded counts, and goes when it is dropped. */
static void test_bytes_ahead(void **state)
{
    (void)state;
    enum { N = 3 * RFN_COLUMN_BLOCK };
    struct rfn_stream_profile *profile = make("absDiff:1", false, 0, 0);
    int64_t start = 0;
    for (int i = 0; i < N; i++) {
        put_long(profile, &start, 10000 * (1 + noise(1000)));
        start += noise(50000);
    }
    size_t before = rfn_stream_profile_bytes(profile), columns = 0;
    rfn_stream_profile_each_column(profile, rfn_column_add_bytes, &columns);
    rfn_stream_profile_code_ahead(profile);
    size_t with = rfn_stream_profile_bytes(profile), columns_with = 0;
    rfn_stream_profile_each_column(profile, rfn_column_add_bytes, &columns_with);
    /* Of both lists two blocks of ten bits and more. */
    assert_true(with - before >= columns_with - columns + 2 * 2 * RFN_COLUMN_BLOCK);
    rfn_stream_profile_drop_ahead(profile);
    assert_int_equal(rfn_stream_profile_bytes(profile), before);
    rfn_stream_profile_free(profile);
}

/* Held is little: for segments that repeat, a few bytes each, whatever is in them. */
static void test_bytes(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("avgWave:0.2", false, 0, 0);
    struct real real = {.context = 0, .n = MAX_EVENTS};
    for (int i = 0; i < 200000; i++) {
        for (size_t k = 1; k <= 2 * MAX_EVENTS; k++)
            real.vector[k] = real.vector[k - 1] + 1000 + noise(50);
        real.vector[2 * MAX_EVENTS + 1] = real.vector[2 * MAX_EVENTS];
        assert_int_equal(put(profile, &real), 0);
        real.start += real.vector[2 * MAX_EVENTS] + noise(20);
    }
    assert_int_equal(rfn_stream_profile_stats(profile).representatives, 1);
    assert_true(rfn_stream_profile_bytes(profile) < 200000);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    rfn_stream_profile_free(profile);
}

static void test_widen(void **state)
{
    (void)state;
    struct rfn_stream_profile *profile = make("avgWave:0", false, 0, 0);
    make_random(MAX_SEGMENTS);
    for (size_t i = 0; i < n_reals; i++)
        assert_int_equal(put(profile, &reals[i]), 0);
    size_t before = rfn_stream_profile_bytes(profile);
    while (rfn_stream_profile_widen(profile) > 0)
        continue;
    assert_true(rfn_stream_profile_bytes(profile) < before / 2);
    assert_int_equal(rfn_stream_profile_finish(profile), 0);
    struct rfn_stream_profile_stats stats = rfn_stream_profile_stats(profile);
    assert_int_equal(stats.representatives, stats.kinds);
    assert_int_equal(stats.executions, n_reals);
    expect_written(profile);
    rfn_stream_profile_free(profile);
}

static int release_memory(void **state)
{
    (void)state;
    rfn_coder_memory_release(&memory);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_corrections),
        cmocka_unit_test(test_averages),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_widen),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_stretched),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_blocks_ahead),
        cmocka_unit_test(test_dropped_ahead),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_spilled),
        cmocka_unit_test(test_widened_and_dropped),
        cmocka_unit_test(test_bytes_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, release_memory);
}
