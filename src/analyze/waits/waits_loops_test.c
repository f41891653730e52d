/* Loops whose iterations come in batches give the same waits, causes, critical path and profile as
 * the same events one by one. Four ranks in a ring, of which one computes longer now and then. */
#include "refrain/waits.h"

#define FAKE_EVENTS 256
#include "refrain/profile.h"
#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, AS = RFN_AS_POSTED, SIZE = 100, ROUNDS = 9 };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)

/* ---- programs ---- */

/* Where a rank's time is; calls of a round follow each other. */
static int64_t now[FAKE_RANKS];

static int64_t compute(uint32_t rank, int round)
{
    return now[rank] += (rank == (uint32_t)round % FAKE_RANKS ? 700 : 100) + 3 * round;
}

static int64_t take(uint32_t rank, int64_t ns)
{
    return now[rank] += ns;
}

static void irecv(uint32_t rank, int64_t source)
{
    int64_t enter = take(rank, 7);
    EVENT(rank, IRECV, 0, enter, take(rank, 5), PLAIN, SIZE, BYTE, source, 1, WORLD);
}

static void isend(uint32_t rank)
{
    int64_t enter = take(rank, 7);
    EVENT(rank, ISEND, 0, enter, take(rank, 5), PLAIN, SIZE, BYTE, (rank + 1) % FAKE_RANKS, 1,
          WORLD);
}

static uint32_t left_of(uint32_t rank)
{
    return (rank + FAKE_RANKS - 1) % FAKE_RANKS;
}

/* Everybody leaves a call together. */
static int64_t latest(void)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        ns = now[i] > ns ? now[i] : ns;
    return ns + 20;
}

static void waitall(uint32_t rank, int64_t exit, int64_t requests, int64_t completions)
{
    int64_t enter = take(rank, 2);
    now[rank] = exit;
    EVENT(rank, WAITALL, 0, enter, exit, 2, requests, completions);
}

/* A blocking receive, which may have got its message long before. */
static void receive(uint32_t rank, int64_t exit)
{
    int64_t enter = take(rank, 2);
    now[rank] = exit;
    EVENT(rank, RECV_, 0, enter, exit, PLAIN, SIZE, BYTE, left_of(rank), 1, WORLD, AS, AS, AS);
}

/* One round of a program: what each rank posts, and the list of requests that it completes; 0: it
 * receives. */
struct program {
    void (*post)(uint32_t rank, int round);
    int64_t requests, completions;
    int64_t behind_ns; /* the clock of rank 2, when it has waited */
    bool regions;      /* all rounds twice, in two regions */
};

static void write_rounds(const struct program *program)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < FAKE_RANKS; i++) {
            compute(i, round);
            program->post(i, round);
        }
        int64_t exit = latest();
        for (uint32_t i = 0; i < FAKE_RANKS; i++) {
            int64_t over = exit + i - (i == 2 ? program->behind_ns : 0);
            over = over < now[i] + 3 ? now[i] + 3 : over;
            if (program->requests)
                waitall(i, over, program->requests, program->completions);
            else
                receive(i, over);
        }
    }
}

static void write_in_region(const struct program *program, int64_t region)
{
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        EVENT(i, BEGIN, 0, now[i], now[i], region);
    write_rounds(program);
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        EVENT(i, END, 0, now[i], now[i], region);
}

static void write_beginning(void)
{
    memset(now, 0, sizeof now);
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        EVENT(i, INIT, 0, 0, take(i, 10 + i), 0);
}

static void write_end(void)
{
    int64_t exit = latest();
    for (uint32_t i = 0; i < FAKE_RANKS; i++)
        EVENT(i, FINALIZE, 0, now[i] + 1, exit + 50, 0);
}

static void write_events(const struct program *program)
{
    write_beginning();
    if (program->regions) {
        write_in_region(program, 0);
        write_in_region(program, 1);
    } else {
        write_rounds(program);
    }
    write_end();
}

/* ---- comparing ---- */

struct result {
    struct rfn_waits *waits;
    struct rfn_profile *profile;
};

static struct result analyze(bool batches, bool fix_clocks)
{
    struct rfn_diag diag;
    struct result result;
    fake.batches = batches;
    fake.in_batches = 0;
    const struct rfn_waits_options options = {.fix_clocks = fix_clocks, .profile = &result.profile};
    assert_int_equal(rfn_waits_new(&fake, &options, NULL, NULL, &result.waits, &diag), 0);
    return result;
}

static void release(const struct result *result)
{
    rfn_waits_free(result->waits);
    rfn_profile_free(result->profile);
}

static void compare_rows(const struct rfn_waits *a, const struct rfn_waits *b)
{
    assert_int_equal(a->n_rows, b->n_rows);
    for (size_t i = 0; i < a->n_rows; i++) {
        assert_int_equal(a->rows[i].pattern, b->rows[i].pattern);
        assert_int_equal(a->rows[i].function, b->rows[i].function);
        assert_int_equal(a->rows[i].count, b->rows[i].count);
        assert_int_equal(a->rows[i].max_ns, b->rows[i].max_ns);
        assert_memory_equal(a->rows[i].ns_by_rank, b->rows[i].ns_by_rank,
                            FAKE_RANKS * sizeof *a->rows[i].ns_by_rank);
    }
}

static void compare_causes(const struct rfn_waits *a, const struct rfn_waits *b)
{
    assert_int_equal(a->n_causes, b->n_causes);
    for (size_t i = 0; i < a->n_causes; i++) {
        assert_int_equal(a->causes[i].activity, b->causes[i].activity);
        assert_int_equal(a->causes[i].total_ns, b->causes[i].total_ns);
        assert_int_equal(a->causes[i].direct_ns, b->causes[i].direct_ns);
        assert_int_equal(a->causes[i].n_ranks, b->causes[i].n_ranks);
    }
    assert_int_equal(a->n_activities, b->n_activities);
    assert_memory_equal(a->activities, b->activities, a->n_activities * sizeof *a->activities);
    assert_int_equal(a->n_critical, b->n_critical);
    for (size_t i = 0; i < a->n_critical; i++) {
        assert_int_equal(a->critical[i].activity, b->critical[i].activity);
        assert_int_equal(a->critical[i].ns, b->critical[i].ns);
    }
}

static void compare_profiles(const struct rfn_profile *a, const struct rfn_profile *b)
{
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->calls, b->calls);
    assert_int_equal(a->start_ns, b->start_ns);
    assert_int_equal(a->end_ns, b->end_ns);
    assert_int_equal(a->n_rows, b->n_rows);
    assert_memory_equal(a->rows, b->rows, a->n_rows * sizeof *a->rows);
    assert_memory_equal(a->ranks, b->ranks, a->n_ranks * sizeof *a->ranks);
    assert_int_equal(a->n_pairs, b->n_pairs);
    for (size_t i = 0; i < a->n_pairs; i++) {
        assert_int_equal(a->pairs[i].source, b->pairs[i].source);
        assert_int_equal(a->pairs[i].dest, b->pairs[i].dest);
        assert_int_equal(a->pairs[i].messages, b->pairs[i].messages);
        assert_int_equal(a->pairs[i].bytes, b->pairs[i].bytes);
    }
}

static void compare_once(uint64_t in_batches, bool fix_clocks)
{
    struct result one_by_one = analyze(false, fix_clocks), batched = analyze(true, fix_clocks);
    assert_int_equal(fake.in_batches, in_batches * FAKE_RANKS);
    const struct rfn_waits *a = one_by_one.waits, *b = batched.waits;
    assert_true(a->total_ns > 0);
    assert_int_equal(a->total_ns, b->total_ns);
    assert_int_equal(a->unexplained_ns, b->unexplained_ns);
    assert_int_equal(a->critical_ns, b->critical_ns);
    assert_memory_equal(&a->matching, &b->matching, sizeof a->matching);
    compare_rows(a, b);
    compare_causes(a, b);
    compare_profiles(one_by_one.profile, batched.profile);
    release(&one_by_one);
    release(&batched);
}

/* in_batches: of events of a rank. */
static void compare(const struct program *program, uint64_t in_batches)
{
    write_events(program);
    compare_once(in_batches, false);
    compare_once(in_batches, true);
}

static int setup(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

/* ---- tests ---- */

static void post_exchange(uint32_t rank, int round)
{
    (void)round;
    irecv(rank, left_of(rank));
    isend(rank);
}

/* Each iteration completes what it has made. */
static void test_closed(void **state)
{
    (void)state;
    compare(&(struct program){post_exchange, LIST(RECENT(2), RECENT(1)), 0, 0, false},
            3 * (ROUNDS - 1));
}

static void test_closed_backward(void **state)
{
    (void)state;
    compare(&(struct program){post_exchange, LIST(RECENT(1), RECENT(2)), 0, 0, false},
            3 * (ROUNDS - 1));
}

/* Fewer bytes come than were asked for. */
static void test_amended(void **state)
{
    (void)state;
    compare(&(struct program){post_exchange, LIST(RECENT(2), RECENT(1)),
                              LIST(0, AS, AS, SIZE / 2, 0, 0), 0, false},
            3 * (ROUNDS - 1));
}

/* The receive of the next round is posted before the message of this one is waited for. */
static void post_ahead(uint32_t rank, int round)
{
    if (!round)
        irecv(rank, left_of(rank));
    irecv(rank, left_of(rank));
    isend(rank);
}

static void test_open(void **state)
{
    (void)state;
    compare(&(struct program){post_ahead, LIST(RECENT(3), RECENT(1)), 0, 0, false},
            3 * (ROUNDS - 1) + 1);
}

/* The message is of whoever the completion says. */
static void post_wildcard(uint32_t rank, int round)
{
    (void)round;
    irecv(rank, RFN_ANY);
    isend(rank);
}

static void test_wildcard(void **state)
{
    (void)state;
    compare(&(struct program){post_wildcard, LIST(RECENT(2), RECENT(1)), LIST(0, 0, 1, SIZE, 0, 0),
                              0, false},
            3 * (ROUNDS - 1));
}

/* Blocking calls: most receives find their message there, and leave when it is their turn. */
static void post_send(uint32_t rank, int round)
{
    (void)round;
    int64_t enter = take(rank, 7);
    EVENT(rank, SEND_, 0, enter, take(rank, 5), PLAIN, SIZE, BYTE, (rank + 1) % FAKE_RANKS, 1,
          WORLD);
}

static void test_blocking(void **state)
{
    (void)state;
    compare(&(struct program){post_send, 0, 0, 0, false}, 2 * (ROUNDS - 1));
}

/* Calls that take no time, and follow at once. */
static void post_in_no_time(uint32_t rank, int round)
{
    (void)round;
    EVENT(rank, IRECV, 0, now[rank], now[rank], PLAIN, SIZE, BYTE, left_of(rank), 1, WORLD);
    EVENT(rank, ISEND, 0, now[rank], now[rank], PLAIN, SIZE, BYTE, (rank + 1) % FAKE_RANKS, 1,
          WORLD);
}

static void test_no_time(void **state)
{
    (void)state;
    compare(&(struct program){post_in_no_time, LIST(RECENT(2), RECENT(1)), 0, 0, false},
            3 * (ROUNDS - 1));
}

/* The same loop computes in one region and then in another. */
static void test_regions(void **state)
{
    (void)state;
    compare(&(struct program){post_exchange, LIST(RECENT(2), RECENT(1)), 0, 0, true},
            3 * 2 * (ROUNDS - 1));
}

/* Receives end before their send begins. */
static void test_clocks(void **state)
{
    (void)state;
    compare(&(struct program){post_exchange, LIST(RECENT(2), RECENT(1)), 0, 600, false},
            3 * (ROUNDS - 1));
}

static void test_clocks_blocking(void **state)
{
    (void)state;
    compare(&(struct program){post_send, 0, 0, 600, false}, 2 * (ROUNDS - 1));
}

/* A stream that ends with an error in the middle of its loop. */
static void test_lost(void **state)
{
    (void)state;
    fake.streams[2].fails_with = RFN_E_CORRUPT;
    compare(&(struct program){post_exchange, LIST(RECENT(2), RECENT(1)), 0, 0, false},
            3 * (ROUNDS - 1));
}

/* Each rank receives from the one before it and sends to the next one, and begins so much later. */
static void write_pipeline(int64_t later_ns, bool synchronous)
{
    int64_t sent[ROUNDS] = {0};
    write_beginning();
    for (uint32_t rank = 0; rank < FAKE_RANKS; rank++) {
        take(rank, later_ns * rank);
        for (int round = 0; round < ROUNDS; round++) {
            compute(rank, round);
            if (rank)
                receive(rank, sent[round] < now[rank] ? now[rank] + 9 : sent[round] + 50);
            if (rank == FAKE_RANKS - 1)
                continue;
            sent[round] = take(rank, 7);
            int64_t exit = take(rank, 40);
            if (synchronous)
                EVENT(rank, SSEND, 0, sent[round], exit, PLAIN, SIZE, BYTE, rank + 1, 1, WORLD);
            else
                EVENT(rank, SEND_, 0, sent[round], exit, PLAIN, SIZE, BYTE, rank + 1, 1, WORLD);
        }
    }
    write_end();
}

/* All messages are there, some are, or ranks are as far as each other and receivers late. */
static void test_pipeline(void **state)
{
    const uint64_t in_batches = (1 + 2 + 2 + 1) * (ROUNDS - 1) / FAKE_RANKS;
    (void)state;
    for (int64_t later_ns = 0; later_ns < 1500; later_ns += 10) {
        fake_reset();
        write_pipeline(later_ns, later_ns % 20);
        compare_once(in_batches, false);
        compare_once(in_batches, true);
    }
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_closed),   TEST(test_closed_backward), TEST(test_amended), TEST(test_open),
        TEST(test_wildcard), TEST(test_blocking),        TEST(test_no_time), TEST(test_regions),
        TEST(test_clocks),   TEST(test_clocks_blocking), TEST(test_lost),    TEST(test_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
