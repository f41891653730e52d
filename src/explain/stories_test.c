/* Stories of runs that are made up: each kind once, and what just misses it. */
#include "refrain/explain.h"

#include "support/fake_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct rfn_call_site exchange = {RECV, EXCHANGE_88}, other = {RECV, EXCHANGE_80},
                                  residual = {ALLREDUCE, RESIDUAL_12}, barrier = {BARRIER, MAIN_24},
                                  sends = {SEND, EXCHANGE_88}, all_wait = {WAITALL, EXCHANGE_80};
static struct rfn_measured run;
static struct rfn_stories told;

static int setup(void **state)
{
    (void)state;
    reset_run();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_stories_release(&told);
    return 0;
}

/* The costliest story; the sums of all are right. */
static const struct rfn_story *tell(void)
{
    size_t findings = 0;
    rfn_stories_release(&told);
    run = measured();
    assert_int_equal(rfn_stories_init(&told, &run, NULL), 0);
    assert_true(told.n > 0);
    for (size_t i = 0; i < told.n; i++) {
        const struct rfn_story *story = &told.stories[i];
        int64_t ns = 0;
        for (size_t k = 0; k < story->findings; k++)
            ns += told.findings.findings[told.order[story->first + k]].ns;
        if (story->kind == RFN_STORY_SMALL_MESSAGES)
            assert_true(story->ns > ns); /* they also cost without waiting */
        else if (story->findings)
            assert_int_equal(story->ns, ns);
        assert_true(i == 0 || told.stories[i - 1].ns >= story->ns);
        findings += story->findings;
    }
    assert_int_equal(findings, told.findings.n);
    return &told.stories[0];
}

static void expect_kind(enum rfn_story_kind kind)
{
    assert_string_equal(rfn_story_kind_name(tell()->kind), rfn_story_kind_name(kind));
}

/* How the story and its advice begin. */
static void expect_words(const char *words, const char *advice)
{
    struct rfn_text text = {0}, what_to_do = {0};
    rfn_story_append(&text, &run, &told, &told.stories[0]);
    rfn_story_advice(&what_to_do, &run, &told, &told.stories[0]);
    assert_memory_equal(rfn_text_terminated(&text), words, strlen(words));
    assert_memory_equal(rfn_text_terminated(&what_to_do), advice, strlen(advice));
    rfn_text_release(&text);
    rfn_text_release(&what_to_do);
}

static int in_thousandths(double value)
{
    return (int)(value * 1000 + 0.5);
}

/* ---- one finding ---- */

static void test_cause(void **state)
{
    (void)state;
    add_cause(residual, RFN_WAIT_AT_NXN, residual, 3, 1, 8, 1, 1);
    expect_kind(RFN_STORY_CAUSE);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.stories[0].ns, SECONDS(8));
    expect_words("10.0 % of all ranks' time is lost by waiting (8.00 s): rank 3 is late while it "
                 "computes between MPI_Init and MPI_Allreduce in main() [",
                 "In total all ranks compute about equally long");
    ranks[3].mpi_ns = SECONDS(1);
    tell();
    expect_words("10.0 % of all ranks' time is lost by waiting (8.00 s): rank 3 computes longer "
                 "than the others ",
                 "Give that rank less of this work");
}

/* What a rank computes after the main part of the run does not make it longer in that. */
static void test_main_part(void **state)
{
    (void)state;
    add_cause(residual, RFN_WAIT_AT_NXN, residual, 3, 2, 4, 1, 1);
    late[0][0].ns = SECONDS(7.9);
    late[0][1].ns = SECONDS(0.1);
    run = measured();
    ranks[3].span_ns += SECONDS(5);
    assert_int_equal(rfn_stories_init(&told, &run, NULL), 0);
    assert_int_equal(told.findings.findings[0].late, RFN_LATE_EVEN);
    expect_words("10.0 % of all ranks' time is lost by waiting (8.00 s): mainly rank 3 is late "
                 "while it computes ",
                 "In total all ranks compute about equally long");
}

static void test_nothing(void **state)
{
    (void)state;
    run = measured();
    assert_int_equal(rfn_stories_init(&told, &run, NULL), 0);
    assert_int_equal(told.n, 0);
}

/* What one rank computes that reads the same is one story, and what another rank does another. */
static void test_cause_in_two(void **state)
{
    const struct rfn_call_site from_51 = {SEND, EXCHANGE_80}, from_40 = {SEND, EXCHANGE_80_EARLY};
    (void)state;
    add_cause(from_51, RFN_LATE_SENDER, exchange, 3, 1, 8, 1, 1);
    unsigned again = add_cause(from_40, RFN_WAIT_AT_BARRIER, barrier, 3, 1, 3, 1, 1);
    add_cause(sends, RFN_WAIT_AT_BARRIER, barrier, 3, 1, 2, 1, 1);
    expect_kind(RFN_STORY_CAUSE);
    assert_int_equal(told.n, 2);
    assert_int_equal(told.stories[0].ns, SECONDS(11));
    late[again][0].rank = 4;
    tell();
    assert_int_equal(told.n, 3);
    assert_int_equal(told.stories[0].ns, SECONDS(8));
}

/* ---- slow ranks ---- */

/* The ranks from 5 on, or from `first`, take `a` times and `b` times as long in two pieces of work
 * and `altogether` outside of MPI. */
static void slow_from(unsigned first, unsigned n, double a, double b, double altogether)
{
    reset_run();
    unsigned one = add_cause(residual, RFN_WAIT_AT_NXN, residual, first, n, 8.0 / n, 1, 1),
             two = add_cause(barrier, RFN_WAIT_AT_BARRIER, barrier, first, n, 4.0 / n, 1, 2);
    for (unsigned i = first; i < first + n; i++) {
        spent[one][i] = SECONDS(a);
        spent[two][i] = SECONDS(2 * b);
        ranks[i].mpi_ns = SECONDS(10 - 5 * altogether);
    }
}

/* Several are late, one stands for it. */
static void test_mainly_one(void **state)
{
    (void)state;
    unsigned moves = add_cause(sends, RFN_LATE_RECEIVER, exchange, 0, 2, 4, 1, 1);
    activities[moves] = (struct rfn_activity){.kind = RFN_ACTIVITY_MPI, .at = sends};
    late[moves][0].ns = SECONDS(7);
    late[moves][1].ns = SECONDS(1);
    tell();
    expect_words("10.0 % of all ranks' time is lost by waiting (8.00 s): mainly rank 0 is moving "
                 "data in MPI_Send",
                 "Send less");
    late[moves][0].ns = late[moves][1].ns = SECONDS(4);
    tell();
    expect_words("10.0 % of all ranks' time is lost by waiting (8.00 s): ranks 0-1 are moving data "
                 "in MPI_Send",
                 "Send less");
}

static void test_slow_rank(void **state)
{
    (void)state;
    slow_from(5, 1, 1.6, 1.4, 1.5);
    const struct rfn_story *story = tell();
    assert_int_equal(story->kind, RFN_STORY_SLOW_RANKS);
    assert_int_equal(story->findings, 2);
    assert_int_equal(story->ns, SECONDS(12));
    assert_int_equal(in_thousandths(story->factor), 1500);
    assert_null(story->host);
    assert_ptr_equal(rfn_story_finding(&told, story), &told.findings.findings[0]);
    expect_words("15.0 % of all ranks' time is lost by waiting (12.0 s): rank 5 takes 1.5 times as "
                 "long as the others for everything that it computes, most of it between MPI_Init",
                 "Look at that rank's core and host: ");
}

static void test_slow_in_one_piece(void **state)
{
    (void)state;
    slow_from(5, 1, 1.6, 1, 1.6);
    expect_kind(RFN_STORY_CAUSE);
    slow_from(5, 1, 1.6, 1.09, 1.6);
    expect_kind(RFN_STORY_CAUSE);
}

static void test_factors_apart(void **state)
{
    (void)state;
    slow_from(5, 1, 1.6, 1.24, 1.6); /* 1.29 times */
    expect_kind(RFN_STORY_SLOW_RANKS);
    slow_from(5, 1, 1.6, 1.22, 1.6); /* 1.31 times */
    expect_kind(RFN_STORY_CAUSE);
}

/* What another story has told counts, too. */
static void test_factors_apart_in_all(void **state)
{
    (void)state;
    slow_from(5, 1, 1.7, 1.2, 1.6);
    unsigned third = add_cause(other, RFN_LATE_SENDER, other, 5, 1, 2, 1, 1);
    spent[third][5] = SECONDS(1.2);
    expect_kind(RFN_STORY_CAUSE);
    assert_int_equal(told.n, 3);
    spent[0][5] = SECONDS(1.5);
    expect_kind(RFN_STORY_SLOW_RANKS);
    assert_int_equal(told.n, 1);
}

/* By 0.6 in what others wait for: at least by 0.42 altogether. */
static void test_slow_altogether(void **state)
{
    (void)state;
    slow_from(5, 1, 1.6, 1.6, 1.43);
    expect_kind(RFN_STORY_SLOW_RANKS);
    slow_from(5, 1, 1.6, 1.6, 1.41);
    expect_kind(RFN_STORY_CAUSE);
}

static void test_slow_host(void **state)
{
    (void)state;
    slow_from(4, 4, 1.6, 1.6, 1.6);
    fake_south = 4;
    const struct rfn_story *story = tell();
    assert_int_equal(story->kind, RFN_STORY_SLOW_RANKS);
    assert_string_equal(story->host, "south");
    assert_int_equal(in_thousandths(story->factor), 1600);
    expect_words(
        "15.0 % of all ranks' time is lost by waiting (12.0 s): the ranks of south take 1.6 times "
        "as long as the others for everything that they compute, most of it between MPI_Init",
        "Look at that host: ");
}

/* Rank 7 is always the last one of its host, whose other ranks take so many times as long. */
static void last_of_host(double others)
{
    slow_from(7, 1, 1.6, 1.6, 1.6);
    fake_south = 4;
    for (unsigned i = 4; i < 7; i++) {
        spent[0][i] = SECONDS(others);
        spent[1][i] = SECONDS(2 * others);
        ranks[i].mpi_ns = SECONDS(10 - 5 * others);
    }
}

static void test_last_of_slow_host(void **state)
{
    (void)state;
    last_of_host(1.5);
    const struct rfn_story *story = tell();
    assert_int_equal(story->kind, RFN_STORY_SLOW_RANKS);
    assert_string_equal(story->host, "south");
    assert_int_equal(in_thousandths(story->factor), 1525);
    last_of_host(1.15); /* a mean of 1.26, 1.1 times as much */
    assert_string_equal(tell()->host, "south");
    last_of_host(1.09);
    assert_null(tell()->host);
    assert_int_equal(in_thousandths(told.stories[0].factor), 1600);
    last_of_host(1.15);
    spent[0][7] = spent[1][7] = SECONDS(5); /* means of 2.11 and 1.49 */
    spent[1][7] = SECONDS(10);
    assert_null(tell()->host);
}

/* Ranks that are not in the archive do nothing of the kind, which is no measure. */
static void test_slow_among_missing(void **state)
{
    (void)state;
    slow_from(5, 1, 1.6, 1.4, 1.5);
    for (unsigned i = 0; i < 4; i++) {
        ranks[i] = (struct rfn_profile_rank){0};
        spent[0][i] = spent[1][i] = 0;
    }
    expect_kind(RFN_STORY_SLOW_RANKS);
    assert_int_equal(in_thousandths(told.stories[0].factor), 1500);
}

/* Of a host not all ranks, or more than it has, or all there are. */
static void test_not_a_host(void **state)
{
    (void)state;
    slow_from(5, 3, 1.6, 1.6, 1.6);
    fake_south = 4;
    expect_kind(RFN_STORY_CAUSE);
    slow_from(4, 4, 1.6, 1.6, 1.6);
    fake_south = 5;
    expect_kind(RFN_STORY_CAUSE);
    slow_from(4, 4, 1.6, 1.6, 1.6);
    expect_kind(RFN_STORY_CAUSE);
}

/* Two ranks, each slower in one piece of work. */
static void test_slow_in_turns(void **state)
{
    (void)state;
    slow_from(5, 1, 1.6, 1.6, 1.6);
    late[1][0].rank = 6;
    expect_kind(RFN_STORY_CAUSE);
    assert_int_equal(told.n, 2);
}

/* ---- one after the other ---- */

/* Eight ranks work for one second each and wait for so many seconds of all. */
static void queue(enum rfn_pattern pattern, double waiting, double direct_share)
{
    reset_run();
    add_cause(sends, pattern, exchange, 0, 7, waiting / 7, direct_share, 1);
}

static void test_one_by_one(void **state)
{
    (void)state;
    queue(RFN_LATE_SENDER, 56, 1.0 / 8);
    expect_kind(RFN_STORY_ONE_BY_ONE);
    assert_int_equal(in_thousandths(told.stories[0].at_once), 1000);
    expect_words("70.0 % of all ranks' time is lost by waiting (56.0 s): ranks work one after the "
                 "other, on average 1.0 of 8 at the same time, between MPI_Init",
                 "Make this work shorter, or let all ranks do it at the same time");
    queue(RFN_LATE_SENDER, 56, 0.49);
    expect_kind(RFN_STORY_ONE_BY_ONE);
    queue(RFN_LATE_SENDER, 56, 0.51);
    expect_kind(RFN_STORY_CAUSE);
    queue(RFN_LATE_SENDER, 35, 0.2); /* 64 / 43 = 1.49 */
    expect_kind(RFN_STORY_ONE_BY_ONE);
    queue(RFN_LATE_SENDER, 34, 0.2); /* 64 / 42 = 1.52 */
    expect_kind(RFN_STORY_PIPELINE);
}

/* Of a part of the work it is not known how long ranks took: then its cost says nothing of how many
 * are at it at a time. */
static void test_unknown_work(void **state)
{
    (void)state;
    queue(RFN_LATE_SENDER, 2, 0.2); /* 64 / 10 = 6.4 of 8 */
    spent_by_activity[add_cause(sends, RFN_LATE_SENDER, exchange, 0, 7, 54.0 / 7, 0.2, 1)] = NULL;
    expect_kind(RFN_STORY_CAUSE);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.stories[0].ns, SECONDS(56));
    spent_by_activity[1] = spent[1]; /* 128 / 72 = 1.78 */
    expect_kind(RFN_STORY_PIPELINE);
}

/* Half of the ranks are not in the archive: of the others one is at it at a time. */
static void test_queue_among_missing(void **state)
{
    (void)state;
    reset_run();
    add_cause(sends, RFN_LATE_SENDER, exchange, 0, 3, 4, 0.2, 1);
    for (unsigned i = 4; i < RANKS; i++) {
        ranks[i] = (struct rfn_profile_rank){0};
        spent[0][i] = 0;
    }
    expect_kind(RFN_STORY_ONE_BY_ONE); /* 4 s * 4 / (4 s + 12 s) */
    assert_int_equal(in_thousandths(told.stories[0].at_once), 1000);
}

static void test_two_in_a_queue(void **state)
{
    (void)state;
    add_cause(sends, RFN_LATE_SENDER, exchange, 0, 2, 28, 0.2, 1);
    expect_kind(RFN_STORY_CAUSE);
    reset_run();
    add_cause(sends, RFN_LATE_SENDER, exchange, 0, 3, 20, 0.2, 1);
    expect_kind(RFN_STORY_ONE_BY_ONE);
}

/* What comes right after the call that waited belongs to it, what comes after another one not. */
static void test_what_follows(void **state)
{
    (void)state;
    queue(RFN_LATE_SENDER, 56, 0.2);
    unsigned follows = add_cause(barrier, RFN_WAIT_AT_BARRIER, barrier, 7, 1, 3, 1, 1),
             does_not = add_cause(residual, RFN_WAIT_AT_NXN, residual, 7, 1, 2, 1, 1);
    activities[follows].before = exchange;
    activities[does_not].before = other;
    expect_kind(RFN_STORY_ONE_BY_ONE);
    assert_int_equal(told.n, 2);
    assert_int_equal(told.stories[0].ns, SECONDS(59));
    assert_int_equal(told.stories[1].ns, SECONDS(2));
}

/* What all ranks do before they wait for their turn belongs to it; where one rank computes longer
 * than others it does not. */
static void test_what_leads_there(void **state)
{
    (void)state;
    queue(RFN_LATE_SENDER, 56, 0.2);
    activities[add_cause(barrier, RFN_WAIT_AT_BARRIER, barrier, 7, 1, 3, 1, 1)].at = exchange;
    expect_kind(RFN_STORY_ONE_BY_ONE);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.stories[0].ns, SECONDS(59));
    ranks[7].mpi_ns = SECONDS(1);
    expect_kind(RFN_STORY_ONE_BY_ONE);
    assert_int_equal(told.n, 2);
}

/* For a lock each waits for the one that has it, and nothing is passed on. */
static void test_lock(void **state)
{
    (void)state;
    queue(RFN_LOCK_CONTENTION, 56, 1);
    expect_kind(RFN_STORY_ONE_BY_ONE);
    queue(RFN_LOCK_CONTENTION, 34, 1);
    expect_kind(RFN_STORY_CAUSE);
    queue(RFN_WAIT_AT_NXN, 56, 1);
    expect_kind(RFN_STORY_CAUSE);
}

/* Barriers say whose turn it is. */
static void test_turns(void **state)
{
    (void)state;
    queue(RFN_WAIT_AT_BARRIER, 56, 1);
    expect_kind(RFN_STORY_ONE_BY_ONE);
    queue(RFN_WAIT_AT_BARRIER, 34, 1);
    expect_kind(RFN_STORY_CAUSE);
}

/* What the last rank does behind the place counts, of that rank: (8 + 1) * 8 / (9 + 39) = 1.5. */
static void test_at_once_with_what_follows(void **state)
{
    (void)state;
    queue(RFN_LATE_SENDER, 29, 0.2);
    expect_kind(RFN_STORY_PIPELINE);
    unsigned follows = add_cause(barrier, RFN_WAIT_AT_BARRIER, barrier, 7, 1, 10, 1, 1);
    activities[follows].before = exchange;
    expect_kind(RFN_STORY_ONE_BY_ONE);
    assert_int_equal(in_thousandths(told.stories[0].at_once), 1500);
}

/* Computing that reads the same belongs to it, whatever waited for it. */
static void test_same_code(void **state)
{
    const struct rfn_call_site from_51 = {SEND, EXCHANGE_80}, from_40 = {SEND, EXCHANGE_80_EARLY};
    (void)state;
    reset_run();
    add_cause(from_51, RFN_LATE_SENDER, exchange, 0, 7, 8, 0.2, 1);
    add_cause(from_40, RFN_WAIT_AT_BARRIER, barrier, 0, 1, 3, 1, 1);
    add_cause(sends, RFN_WAIT_AT_BARRIER, barrier, 0, 1, 2, 1, 1);
    expect_kind(RFN_STORY_ONE_BY_ONE);
    assert_int_equal(told.n, 2);
    assert_int_equal(told.stories[0].ns, SECONDS(59));
    assert_int_equal(told.stories[1].ns, SECONDS(2));
}

static void test_pipeline(void **state)
{
    (void)state;
    queue(RFN_LATE_SENDER, 24, 0.2);
    expect_kind(RFN_STORY_PIPELINE);
    assert_int_equal(in_thousandths(told.stories[0].at_once), 2000);
    expect_words(
        "30.0 % of all ranks' time is lost by waiting (24.0 s): ranks form a pipeline and wait "
        "while it fills and drains: on average 2.0 of 8 work at the same time, between MPI_Init",
        "Pass the work on in smaller parts");
    queue(RFN_LATE_SENDER, 2.7, 0.2); /* 64 / 10.7 = 5.98 of 8 */
    expect_kind(RFN_STORY_PIPELINE);
    queue(RFN_LATE_SENDER, 2.6, 0.2); /* 64 / 10.6 = 6.04 */
    expect_kind(RFN_STORY_CAUSE);
    queue(RFN_LATE_SENDER, 24, 0.51);
    expect_kind(RFN_STORY_CAUSE);
    queue(RFN_WRONG_ORDER, 24, 0.2);
    expect_kind(RFN_STORY_CAUSE);
}

/* ---- a master ---- */

/* Rank 0 is late with messages in two functions, and at a barrier; it exchanges so many messages
 * with each of so many workers. */
static void make_master(uint32_t workers, uint64_t messages)
{
    reset_run();
    add_cause(sends, RFN_LATE_SENDER, exchange, 0, 1, 20, 1, 1);
    add_cause(other, RFN_WRONG_ORDER, other, 0, 1, 10, 1, 1);
    add_cause(barrier, RFN_WAIT_AT_BARRIER, barrier, 0, 1, 5, 1, 1);
    takes_any[0] = true;
    for (uint32_t i = 1; i <= workers; i++) {
        add_messages(0, i, messages, messages);
        add_messages(i, 0, messages, messages);
    }
}

static void test_master(void **state)
{
    (void)state;
    make_master(7, 10);
    const struct rfn_story *story = tell();
    assert_int_equal(story->kind, RFN_STORY_MASTER);
    assert_int_equal(story->ns, SECONDS(30));
    assert_int_equal(told.n, 2);
    assert_int_equal(told.stories[1].kind, RFN_STORY_CAUSE);
    expect_words("37.5 % of all ranks' time is lost by waiting (30.0 s): other ranks wait for rank "
                 "0, which answers them one by one, computing between",
                 "Make that rank answer faster");
    make_master(3, 2);
    expect_kind(RFN_STORY_MASTER);
}

static void test_no_master(void **state)
{
    (void)state;
    make_master(7, 10);
    takes_any[0] = false;
    takes_any[1] = true; /* another one does */
    expect_kind(RFN_STORY_CAUSE);
    make_master(2, 10);
    expect_kind(RFN_STORY_CAUSE);
    make_master(7, 1);
    expect_kind(RFN_STORY_CAUSE);
    make_master(7, 10);
    add_messages(1, 2, 1, 1); /* workers of which one asks another */
    expect_kind(RFN_STORY_CAUSE);
    make_master(7, 10);
    causes[0].pattern = RFN_WAIT_AT_NXN;
    causes[0].waited = residual;
    expect_kind(RFN_STORY_CAUSE);
}

/* ---- sends in a chain ---- */

static void send_chain(unsigned waiting, double direct_share)
{
    reset_run();
    add_cause(exchange, RFN_LATE_RECEIVER, sends, 7, 1, 10, direct_share, 1);
    add_waiting(RFN_LATE_RECEIVER, sends, waiting);
}

static void test_send_chain(void **state)
{
    (void)state;
    send_chain(7, 1.0 / 7);
    expect_kind(RFN_STORY_SEND_CHAIN);
    expect_words("12.5 % of all ranks' time is lost by waiting (10.0 s): sends end one after the "
                 "other, because each ends only when the next rank receives, after computing "
                 "between MPI_Init and MPI_Recv in main() [solver.c",
                 "Use MPI_Sendrecv");
    send_chain(3, 0.5);
    expect_kind(RFN_STORY_SEND_CHAIN);
    send_chain(3, 0.51);
    expect_kind(RFN_STORY_CAUSE);
    send_chain(2, 0.5);
    expect_kind(RFN_STORY_CAUSE);
}

/* ---- noise ---- */

static void noise(unsigned n, double waiting, double direct_share, double work)
{
    reset_run();
    add_cause(residual, RFN_WAIT_AT_NXN, residual, 0, n, waiting / n, direct_share, work);
}

static void test_noise(void **state)
{
    (void)state;
    noise(8, 10, 1, 8); /* 64 * 8 / 74 = 6.9 of 8 compute at a time */
    expect_kind(RFN_STORY_NOISE);
    expect_words("12.5 % of all ranks' time is lost by waiting (10.0 s): another rank is late each "
                 "time, computing between",
                 "The work varies from step to step");
    noise(4, 10, 0.5, 8);
    expect_kind(RFN_STORY_NOISE);
    noise(3, 10, 1, 8);
    expect_kind(RFN_STORY_CAUSE);
    noise(8, 10, 0.49, 8);
    expect_kind(RFN_STORY_CAUSE);
    noise(8, 22, 1, 8); /* 512 / 86 = 5.95 */
    expect_kind(RFN_STORY_CAUSE);
    noise(8, 21, 1, 8); /* 512 / 85 = 6.02 */
    expect_kind(RFN_STORY_NOISE);
    noise(8, 10, 1, 8);
    causes[0].pattern = RFN_LATE_SENDER;
    expect_kind(RFN_STORY_CAUSE);
    noise(8, 10, 1, 8);
    activities[0].kind = RFN_ACTIVITY_MPI;
    expect_kind(RFN_STORY_CAUSE);
}

/* Nor is one rank of two. */
static void test_noise_of_one(void **state)
{
    (void)state;
    noise(1, 4, 1, 8);
    waits.n_ranks = profile.n_ranks = 2;
    expect_kind(RFN_STORY_CAUSE);
    noise(2, 4, 1, 8);
    waits.n_ranks = profile.n_ranks = 2;
    expect_kind(RFN_STORY_NOISE);
}

/* A rank that stands out is not noise. */
static void test_one_stands_out(void **state)
{
    (void)state;
    noise(8, 10, 1, 8);
    late[0][2].ns = SECONDS(40);
    causes[0].total_ns = causes[0].direct_ns = SECONDS(10 - 10.0 / 8 + 40);
    expect_kind(RFN_STORY_CAUSE);
}

/* ---- without waiting ---- */

/* Eight ranks send so many messages each, of so many bytes, and receive them for `seconds`, of
 * which they wait for two, beside three in sends. */
static void small_messages(uint64_t each, uint64_t bytes, double seconds)
{
    reset_run();
    for (uint32_t i = 0; i < RANKS; i++)
        add_messages(i, (i + 1) % RANKS, each, each * bytes);
    add_calls(sends, RANKS * each, 3);
    add_calls(residual, RANKS, 30);
    add_calls(exchange, RANKS * each, seconds);
    add_waiting(RFN_LATE_SENDER, exchange, 2);
    waits.total_ns = SECONDS(2);
}

static void test_small_messages(void **state)
{
    (void)state;
    small_messages(1000, 4096, 7);
    const struct rfn_story *story = tell();
    assert_int_equal(told.n, 1);
    assert_int_equal(story->kind, RFN_STORY_SMALL_MESSAGES);
    assert_int_equal(story->ns, SECONDS(8)); /* 3 + 7 - 2 */
    assert_int_equal(story->messages, 8000);
    assert_int_equal(story->bytes, 8000 * 4096);
    assert_ptr_equal(story->row, &rows[2]);
    assert_null(rfn_story_finding(&told, story));
    expect_words("10.0 % of all ranks' time is lost by transfer (8.00 s): 8,000 messages of 4.00 "
                 "KiB on average, most of the time in MPI_Recv, exchange() [halo.c:88].",
                 "Small messages cost latency, not bandwidth");
    small_messages(1000, 4096, 3); /* 4 s of 80 */
    expect_kind(RFN_STORY_SMALL_MESSAGES);
}

/* Ranks that move them make others wait: four seconds more. What they compute is another story. */
static void test_small_messages_make_wait(void **state)
{
    (void)state;
    small_messages(1000, 4096, 7);
    unsigned moving = add_cause(exchange, RFN_LATE_SENDER, exchange, 2, 3, 4.0 / 3, 1, 1);
    add_cause(residual, RFN_WAIT_AT_NXN, residual, 3, 1, 3, 1, 1);
    activities[moving].kind = RFN_ACTIVITY_MPI;
    activities[moving].at = exchange;
    const struct rfn_story *story = tell();
    assert_int_equal(told.n, 2);
    assert_int_equal(story->kind, RFN_STORY_SMALL_MESSAGES);
    assert_int_equal(story->ns, SECONDS(8) + SECONDS(4));
    assert_int_equal(story->findings, 1);
    expect_words("15.0 % of all ranks' time is lost by transfer (12.0 s): 8,000 messages of 4.00 "
                 "KiB on average",
                 "Small messages cost latency, not bandwidth");
    activities[moving].at = residual;
    tell();
    assert_int_equal(told.n, 3);
}

static void expect_nothing(void)
{
    rfn_stories_release(&told);
    run = measured();
    assert_int_equal(rfn_stories_init(&told, &run, NULL), 0);
    assert_int_equal(told.n, 0);
}

static void test_no_small_messages(void **state)
{
    (void)state;
    small_messages(1000, 5120, 7);
    expect_nothing();
    small_messages(1000, 4097, 7);
    expect_nothing();
    small_messages(999, 4096, 7);
    expect_nothing();
    small_messages(1000, 4096, 2.9);
    expect_nothing();
}

static void moving(struct rfn_call_site site, uint64_t calls, double seconds)
{
    reset_run();
    add_calls(sends, 8000, 1);
    add_calls(site, calls, seconds);
}

static void test_no_overlap(void **state)
{
    (void)state;
    moving(all_wait, 8000, 20);
    const struct rfn_story *story = tell();
    assert_int_equal(told.n, 1);
    assert_int_equal(story->kind, RFN_STORY_NO_OVERLAP);
    assert_int_equal(story->ns, SECONDS(20));
    assert_ptr_equal(story->row, &rows[1]);
    expect_words("25.0 % of all ranks' time is lost by transfer (20.0 s): messages are transferred "
                 "while ranks wait in MPI_Waitall, exchange() [halo.c:80], not while they compute.",
                 "Many MPI libraries transfer large messages only");
    moving(all_wait, 40000, 4); /* 0.1 ms each, and a twentieth */
    expect_kind(RFN_STORY_NO_OVERLAP);
    moving(all_wait, 8000, 20);
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i].mpi_ns = ranks[i].span_ns - SECONDS(0.4); /* 3.2 s of all ranks are computed */
    tell();
    expect_words("25.0 % of all ranks' time is lost by transfer (20.0 s): messages are transferred "
                 "while ranks wait in MPI_Waitall, exchange() [halo.c:80], and the ranks have "
                 "little to compute at the same time.",
                 "Send less data, or use fewer ranks");
}

static void test_overlap(void **state)
{
    (void)state;
    moving(all_wait, 40001, 4);
    expect_nothing();
    moving(all_wait, 8000, 3.9);
    expect_nothing();
    moving(exchange, 8000, 20);
    expect_nothing();
}

/* Whatever else costs more: waiting, and other calls. */
static void test_no_overlap_beside_others(void **state)
{
    (void)state;
    moving(all_wait, 8000, 6);
    add_calls(residual, 10, 12);
    add_cause(residual, RFN_WAIT_AT_NXN, residual, 3, 1, 9, 1, 1);
    waits.total_ns = SECONDS(9);
    tell();
    assert_int_equal(told.n, 2);
    assert_int_equal(told.stories[1].kind, RFN_STORY_NO_OVERLAP);
    assert_int_equal(told.stories[1].ns, SECONDS(6));
}

/* Small messages that are long under way are no large ones. */
static void test_small_messages_complete(void **state)
{
    (void)state;
    small_messages(1000, 4096, 7);
    add_calls(all_wait, 8000, 8);
    tell();
    assert_int_equal(told.n, 1);
    assert_int_equal(told.stories[0].kind, RFN_STORY_SMALL_MESSAGES);
    assert_int_equal(told.stories[0].ns, SECONDS(16));
    assert_ptr_equal(told.stories[0].row, &rows[3]);
}

/* ---- several ---- */

static bool takes_barriers(const void *context, const struct rfn_cause *cause)
{
    (void)context;
    return cause->pattern == RFN_WAIT_AT_BARRIER;
}

/* Costliest first, whatever kind; of chosen causes no story of what does not wait is told. */
static void test_order_and_choice(void **state)
{
    const struct rfn_cause_choice choice = {takes_barriers, NULL};
    (void)state;
    moving(all_wait, 8000, 6);
    add_cause(residual, RFN_WAIT_AT_NXN, residual, 3, 1, 8, 1, 1);
    add_cause(barrier, RFN_WAIT_AT_BARRIER, barrier, 4, 1, 4, 1, 1);
    tell();
    assert_int_equal(told.n, 3);
    assert_int_equal(told.stories[0].ns, SECONDS(8));
    assert_int_equal(told.stories[1].kind, RFN_STORY_NO_OVERLAP);
    assert_int_equal(told.stories[2].ns, SECONDS(4));
    rfn_stories_release(&told);
    assert_int_equal(rfn_stories_init(&told, &run, &choice), 0);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.stories[0].ns, SECONDS(4));
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(rfn_story_kind_name(RFN_STORY_CAUSE), "cause");
    assert_string_equal(rfn_story_kind_name(RFN_STORY_SLOW_RANKS), "slow_ranks");
    assert_string_equal(rfn_story_kind_name(RFN_STORY_SEND_CHAIN), "send_chain");
    assert_string_equal(rfn_story_kind_name(RFN_STORY_NO_OVERLAP), "no_overlap");
    assert_string_equal(rfn_story_kind_name((enum rfn_story_kind)99), "?");
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(cause),
                                       TEST(main_part),
                                       TEST(nothing),
                                       TEST(cause_in_two),
                                       TEST(mainly_one),
                                       TEST(slow_rank),
                                       TEST(slow_in_one_piece),
                                       TEST(factors_apart),
                                       TEST(factors_apart_in_all),
                                       TEST(slow_altogether),
                                       TEST(slow_host),
                                       TEST(last_of_slow_host),
                                       TEST(slow_among_missing),
                                       TEST(not_a_host),
                                       TEST(slow_in_turns),
                                       TEST(one_by_one),
                                       TEST(unknown_work),
                                       TEST(queue_among_missing),
                                       TEST(two_in_a_queue),
                                       TEST(what_follows),
                                       TEST(what_leads_there),
                                       TEST(lock),
                                       TEST(turns),
                                       TEST(at_once_with_what_follows),
                                       TEST(same_code),
                                       TEST(pipeline),
                                       TEST(master),
                                       TEST(no_master),
                                       TEST(send_chain),
                                       TEST(noise),
                                       TEST(noise_of_one),
                                       TEST(one_stands_out),
                                       TEST(small_messages),
                                       TEST(small_messages_make_wait),
                                       TEST(small_messages_complete),
                                       TEST(no_small_messages),
                                       TEST(no_overlap),
                                       TEST(overlap),
                                       TEST(no_overlap_beside_others),
                                       TEST(order_and_choice),
                                       TEST(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
