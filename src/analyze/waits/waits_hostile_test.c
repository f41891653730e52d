/* Archives that no recorder would write: words, times and orders of events at random, and sizes
 * that are claimed. The analysis ends, and what it says adds up; sanitizers see the rest. */
#include "refrain/match.h"
#include "refrain/waits.h"

#define FAKE_EVENTS 256
#define FAKE_LISTS  64
#include "support/fake_archive.h"
#include "support/rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PROGRAMS = RFN_ROUNDS(3000), WORLD = 0 };

static struct rfn_waits *waits;

/* ---- what must hold whatever the events say ---- */

static int64_t sum_of_causes(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_causes; i++) {
        int64_t ranks = 0;
        for (uint32_t k = 0; k < waits->causes[i].n_ranks; k++)
            ranks += waits->causes[i].ranks[k].ns;
        assert_int_equal(ranks, waits->causes[i].total_ns);
        assert_true(waits->causes[i].direct_ns <= waits->causes[i].total_ns);
        sum += ranks;
    }
    return sum;
}

static void check_rows(void)
{
    int64_t total = 0, by_pattern = 0;
    for (size_t i = 0; i < waits->n_rows; i++) {
        int64_t sum = 0;
        for (uint32_t rank = 0; rank < waits->n_ranks; rank++) {
            assert_true(waits->rows[i].ns_by_rank[rank] >= 0);
            sum += waits->rows[i].ns_by_rank[rank];
        }
        assert_int_equal(sum, waits->rows[i].total_ns);
        assert_true(waits->rows[i].max_ns > 0);
        total += sum;
    }
    for (int i = 0; i < RFN_PATTERN_COUNT; i++)
        by_pattern += waits->pattern_ns[i];
    assert_int_equal(total, waits->total_ns);
    assert_int_equal(by_pattern, waits->total_ns);
}

/* What is believed of a stamp that comes after another one. */
static int64_t believed(int64_t ns, int64_t before_ns)
{
    const int64_t latest = INT64_C(1) << 53;
    ns = ns > before_ns ? ns : before_ns;
    return ns < latest ? ns : latest;
}

/* The time from the first enter to the last exit of a rank's streams. */
static int64_t span_of(uint32_t rank)
{
    int64_t span = 0;
    for (uint32_t i = 0; i < fake.run.streams; i++) {
        const struct fake_stream *stream = &fake.streams[i];
        int64_t first = 0, now = -(INT64_C(1) << 53) / 7;
        for (size_t k = 0; k < stream->n && stream->rank == rank; k++) {
            now = believed(stream->events[k].record.enter_ns, now);
            first = k ? first : now;
            now = believed(stream->events[k].record.exit_ns, now);
        }
        span += stream->n && stream->rank == rank ? now - first : 0;
    }
    return span;
}

/* No call waits longer than it takes, so no rank does longer than it is there. */
static void check_ranks(void)
{
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        int64_t ns = 0;
        for (size_t i = 0; i < waits->n_rows; i++)
            ns += waits->rows[i].ns_by_rank[rank];
        assert_true(ns <= span_of(rank));
    }
}

static void check(void)
{
    const struct rfn_matching *matching = &waits->matching;
    check_rows();
    assert_int_equal(sum_of_causes(), waits->total_ns - waits->unexplained_ns);
    assert_int_equal(matching->matched + matching->unmatched_sends, matching->messages);
    assert_true(matching->matched <= matching->messages);
}

/* ---- the same matching, as anybody gets it ---- */

struct walked {
    uint64_t messages, enters, leaves;
};

static int count_enter(void *context, const struct rfn_match_event *event)
{
    struct walked *walked = context;
    walked->enters++;
    assert_true(event->stream <= FAKE_RANKS && event->rank < FAKE_RANKS);
    for (size_t i = 0; i < event->n_ops; i++) {
        if (event->ops[i].what == RFN_MATCH_SEND)
            *event->ops[i].user = (uint64_t)event->stream << 32 | event->record->index;
    }
    return 0;
}

static int count_leave(void *context, const struct rfn_match_event *event)
{
    struct walked *walked = context;
    walked->leaves++;
    for (size_t i = 0; i < event->n_ops; i++)
        assert_true(!event->ops[i].other || event->ops[i].other->stream <= FAKE_RANKS);
    return 0;
}

/* The slot is that of the send, unless Pready has moved where that is. */
static int count_message(void *context, const struct rfn_match_message *message)
{
    struct walked *walked = context;
    walked->messages++;
    assert_int_equal(*message->user >> 32, message->sent.posted.stream);
    assert_true((uint32_t)*message->user <= message->sent.posted.event);
    return 0;
}

static int take_collective(void *context, const struct rfn_match_collective *collective)
{
    (void)context;
    uint32_t entered = 0;
    for (uint32_t i = 0; i < collective->n_members; i++)
        entered += collective->members[i].entered;
    assert_true(entered > 0);
    return 0;
}

static int take_one_sided(void *context, const struct rfn_match_one_sided *call)
{
    (void)context;
    assert_true(call->waited_ns >= 0 && call->until.stream <= FAKE_RANKS);
    return 0;
}

static void check_walk(void)
{
    struct rfn_diag diag;
    struct walked walked = {0};
    struct rfn_matching found;
    const struct rfn_match_hooks hooks = {.context = &walked,
                                          .enter = count_enter,
                                          .leave = count_leave,
                                          .message = count_message,
                                          .collective = take_collective,
                                          .one_sided = take_one_sided};
    assert_int_equal(rfn_match_run(&fake, &hooks, &found, &diag), 0);
    assert_int_equal(found.messages, waits->matching.messages);
    assert_int_equal(found.matched, waits->matching.matched);
    assert_int_equal(found.foreign, waits->matching.foreign);
    assert_int_equal(found.cancelled, waits->matching.cancelled);
    assert_int_equal(found.collectives, waits->matching.collectives);
    assert_int_equal(walked.enters, walked.leaves);
    assert_true(walked.messages <= found.matched);
}

static void run(bool fix_clocks)
{
    struct rfn_diag diag;
    const struct rfn_waits_options options = {.fix_clocks = fix_clocks};
    rfn_waits_free(waits);
    waits = NULL;
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &waits, &diag), 0);
    check();
    if (fix_clocks)
        return;
    check_ranks();
    check_walk();
}

/* ---- random events ---- */

static uint64_t state_of_random;

static uint64_t next_random(void)
{
    uint64_t x = state_of_random += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint32_t below(uint32_t n)
{
    return (uint32_t)(next_random() % n);
}

/* Mostly numbers that mean something somewhere: ranks, lists, slots, requests, special values. */
static int64_t some_word(void)
{
    static const int64_t strange[] = {INT64_MIN,  INT64_MAX,       UINT32_MAX, INT64_C(1) << 32,
                                      1 << 16,    INT32_MAX,       INT32_MIN,  -7,
                                      1000000007, INT64_C(1) << 62};
    switch (below(16)) {
    case 0:
        return strange[below(sizeof strange / sizeof *strange)];
    case 1:
        return -(int64_t)below(6);
    case 2:
    case 3:
        return below(64);
    default:
        return below(6);
    }
}

static void make_lists(void)
{
    for (int i = 0; i < 24; i++) {
        int64_t words[FAKE_LIST_WORDS];
        size_t n = below(13);
        for (size_t k = 0; k < n; k++)
            words[k] = some_word();
        fake_list(words, n);
    }
}

static int64_t some_time(int64_t now)
{
    static const int64_t strange[] = {INT64_MIN, INT64_MAX, INT64_C(1) << 53, -(INT64_C(1) << 53)};
    return below(200) ? now + below(300) : strange[below(4)];
}

/* A few functions that mostly belong together, so that what one makes another one finds. */
static enum fake_function functions[12];

static void choose_functions(void)
{
    static const enum fake_function themes[][3] = {
        {FAKE_IRECV, FAKE_SEND_, FAKE_PARRIVED},
        {FAKE_IRECV, FAKE_WAIT, FAKE_REQUEST_FREE},
        {FAKE_CART_CREATE, FAKE_REDUCE_, FAKE_COMM_IDUP},
        {FAKE_WIN_CREATE, FAKE_COMM_GROUP, FAKE_WIN_SYNC},
        {FAKE_WIN_CREATE, FAKE_FENCE, FAKE_FLUSH_ALL},
        {FAKE_ISEND, FAKE_SSEND, FAKE_FILE_READ_ALL},
    };
    const enum fake_function *theme = themes[below(6)];
    for (int i = 0; i < 12; i++) {
        functions[i] = (enum fake_function)below(N_FAKE_FUNCTIONS);
        if (below(4))
            functions[i] = theme[1] + below(theme[2] - theme[1] + 1);
    }
    functions[0] = theme[0];
}

static void make_event(uint32_t stream)
{
    int64_t words[RFN_PARAMS_MAX + 1];
    static int64_t now[FAKE_RANKS + 1];
    for (int i = 0; i <= RFN_PARAMS_MAX; i++)
        words[i] = some_word();
    now[stream] = fake.streams[stream].n ? now[stream] : 0;
    int64_t enter = some_time(now[stream]), exit = some_time(now[stream] + 100);
    struct rfn_record *record = fake_event(stream, functions[below(12)], below(2), enter, exit,
                                           words);
    now[stream] += 200;
    record->error = below(20) ? 0 : 15 + below(2);
    record->varying = below(4) ? 0 : UINT32_MAX;
    record->failed_poll = below(20) == 0;
    if (below(20) == 0)
        record->polls = (uint64_t)some_word();
    if (below(10) == 0)
        record->inside_ns = some_word();
}

/* Equal words are equal symbols, and a symbol varies everywhere or nowhere. */
static void settle_symbols(struct fake_stream *stream)
{
    for (size_t i = 0; i < stream->n; i++)
        stream->events[i].record.varying =
            stream->events[stream->events[i].record.symbol].record.varying;
}

static void make_archive(uint64_t seed)
{
    fake_reset();
    state_of_random = seed;
    fake.run.times = below(8) > 0;
    fake.run.streams = FAKE_RANKS + below(2);
    fake.run.flavour = below(2) ? "mpich" : "openmpi";
    fake.streams[FAKE_RANKS].rank = below(FAKE_RANKS);
    for (int i = 2; i < FAKE_COMMS; i++)
        fake.comms[i].size = below(6) ? fake.comms[i].size : (uint32_t)some_word();
    make_lists();
    choose_functions();
    uint32_t n = below(100);
    for (uint32_t i = 0; i < n; i++)
        make_event(below(fake.run.streams));
    for (uint32_t i = 0; i < fake.run.streams; i++)
        settle_symbols(&fake.streams[i]);
}

/* ---- tests ---- */

static int teardown(void **state)
{
    (void)state;
    rfn_waits_free(waits);
    waits = NULL;
    return 0;
}

static void test_random_events(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        make_archive(seed);
        run(false);
        run(true);
    }
}

/* Unsuccessful polls that claim any time inside MPI, before a successful one that does. */
static void test_time_in_polls(void **state)
{
    (void)state;
    static const int64_t inside[] = {INT64_MIN, INT64_MIN + 1, -1, INT64_MAX};
    for (int i = 0; i < 16; i++) {
        fake_reset();
        struct rfn_record *polls = EVENT(0, IPROBE, 0, 0, 10, 1, 5, WORLD, -4, -4, -4);
        polls->failed_poll = true;
        polls->inside_ns = inside[i % 4];
        EVENT(0, IPROBE, 0, 20, 30, 1, 5, WORLD, -4, -4, -4)->inside_ns = inside[i / 4];
        polls = EVENT(0, IPROBE, 0, 40, 50, 1, 5, WORLD, -4, -4, -4);
        polls->failed_poll = true;
        polls->inside_ns = inside[i / 4];
        EVENT(1, SEND_, 0, 25, 30, 0, 1, 0, 0, 5, WORLD);
        run(false);
    }
}

/* ---- claims ---- */

/* A run of four ranks that says it has more than any machine. */
static void test_many_ranks(void **state)
{
    (void)state;
    fake_reset();
    fake.run.ranks = RFN_ROUNDS(1 << 23);
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        EVENT(rank, INIT, 0, rank * 10, 100, 0);
        EVENT(rank, BARRIER, 0, 100 + rank * 10, 200, 4);
    }
    run(false);
    assert_int_equal(waits->rows[0].ns_by_rank[0], 30);
    assert_true(fake.lookups < 1000000);
}

/* Requests, partitions and files of numbers that no program reaches. */
static void test_large_numbers(void **state)
{
    (void)state;
    const int64_t big = INT64_C(1) << 40, slot = big * 4 + RFN_REQUEST_SLOT;
    fake_reset();
    EVENT(0, PSEND_INIT, 0, 0, 1, 0, INT32_MAX, 8, 0, 1, 5, WORLD, slot);
    EVENT(0, START, 0, 1, 2, slot);
    EVENT(0, PREADY_RANGE, 0, 2, 3, 0, INT64_MAX, slot);
    EVENT(0, WAIT, 0, 3, 4, slot, 0);
    EVENT(0, ISEND, 0, 5, 6, 0, INT64_MAX, 1, 1, INT64_MAX, WORLD);
    EVENT(0, WAIT, 0, 7, 8, 5, 0);
    EVENT(0, WAIT, 0, 8, 9, big * 4 + RFN_REQUEST_RECENT, 0);
    EVENT(0, WAIT, 0, 9, 10, rfn_foreign_request(65535, 1u << 30), 0);
    EVENT(0, FILE_OPEN, 0, 10, 11, WORLD, big);
    EVENT(0, FILE_READ_ALL, 0, 11, 12, big, 0, 8, 0, 8);
    EVENT(0, WIN_CREATE, 0, 12, 13, 0, 8, 1, -1, WORLD, big);
    EVENT(0, FENCE, 0, 13, 14, 0, big);
    EVENT(0, COMM_GROUP, 0, 14, 15, WORLD, big);
    run(false);
    assert_int_equal(waits->matching.messages, 2);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_events),
        TEST(test_time_in_polls),
        TEST(test_many_ranks),
        TEST(test_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
