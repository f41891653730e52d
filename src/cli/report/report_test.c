/* The page and the JSON of waits that are made up: eight ranks, ten seconds, 80 s of all ranks.
 *
 * Rank 3 computes longest and makes others wait in two places; ranks 0 and 1 come late in the wrong
 * order; all ranks vary a little before an Allreduce; rank 6 waits for a file. */
#include "cli/report/report.h"

#include "cli/text/wrap.h"
#include "refrain/explain.h"
#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECONDS(s) ((int64_t)((s)*1e9))

enum { RANKS = 8 };

static struct rfn_profile_rank ranks[RANKS];
static struct rfn_profile profile;
static int64_t by_rank[4][RANKS];
static struct rfn_wait_row rows[4];
static struct rfn_activity activities[5];
static struct rfn_rank_ns late[5][RANKS];
static struct rfn_cause causes[5];
static struct rfn_critical_row critical[2];
static struct rfn_waits waits;
static struct rfn_report report;
static struct rfn_text out;

static void make_ranks(void)
{
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i] = (struct rfn_profile_rank){.mpi_ns = SECONDS(i == 3 ? 1 : 5),
                                             .setup_ns = SECONDS(0.5),
                                             .span_ns = SECONDS(10),
                                             .threads = 1};
    profile = (struct rfn_profile){
        .n_ranks = RANKS, .times = true, .end_ns = SECONDS(10), .ranks = ranks, .calls = 1234};
    rfn_profile_take_whole(&profile);
}

static void make_row(unsigned i, enum rfn_pattern pattern, uint32_t function, uint32_t path,
                     unsigned first, unsigned last, double each)
{
    int64_t total = 0;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        by_rank[i][rank] = rank >= first && rank <= last ? SECONDS(each) : 0;
        total += by_rank[i][rank];
    }
    rows[i] = (struct rfn_wait_row){pattern, function,       path,       100 + i,
                                    total,   SECONDS(0.125), by_rank[i], 0};
    waits.pattern_ns[pattern] += total;
    waits.total_ns += total;
}

static void make_cause(unsigned i, uint32_t activity, enum rfn_pattern pattern, uint32_t function,
                       uint32_t path, uint32_t first, uint32_t last, double each)
{
    uint32_t n = last - first + 1;
    for (uint32_t rank = first; rank <= last; rank++)
        late[i][rank - first] = (struct rfn_rank_ns){rank, SECONDS(each)};
    causes[i] = (struct rfn_cause){
        activity, pattern, {function, path}, SECONDS(each) * n, SECONDS(each / 2), late[i], n};
}

static int setup(void **state)
{
    (void)state;
    waits = (struct rfn_waits){.n_ranks = RANKS,
                               .times = true,
                               .rows = rows,
                               .n_rows = 4,
                               .activities = activities,
                               .n_activities = 5,
                               .causes = causes,
                               .n_causes = 5,
                               .unexplained_ns = SECONDS(1),
                               .critical = critical,
                               .n_critical = 2,
                               .critical_ns = SECONDS(10),
                               .critical_rank = 3};
    make_ranks();
    make_row(0, RFN_LATE_SENDER, RECV, EXCHANGE_88, 4, 7, 2);
    make_row(1, RFN_WRONG_ORDER, RECV, EXCHANGE_80, 0, 1, 2);
    make_row(2, RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 0, 7, 0.25);
    make_row(3, RFN_WAIT_AT_FINALIZE, FINALIZE, MAIN_24, 7, 7, 1);
    activities[0] = (struct rfn_activity){
        RFN_ACTIVITY_COMPUTE, {RECV, EXCHANGE_88}, {ALLREDUCE, RESIDUAL_12}, RFN_NO_REGION};
    activities[1] = (struct rfn_activity){
        RFN_ACTIVITY_COMPUTE, {INIT, MAIN_10}, {BARRIER, MAIN_24}, RFN_NO_REGION};
    activities[2] = (struct rfn_activity){
        RFN_ACTIVITY_COMPUTE, {SEND, MAIN_24}, {BARRIER, MAIN_24}, 0};
    activities[3] = (struct rfn_activity){
        RFN_ACTIVITY_MPI, {0, 0}, {FILE_WRITE, EVIL}, RFN_NO_REGION};
    activities[4] = (struct rfn_activity){.kind = RFN_ACTIVITY_START, .region = RFN_NO_REGION};
    make_cause(0, 0, RFN_LATE_SENDER, RECV, EXCHANGE_88, 3, 3, 8);
    make_cause(1, 1, RFN_WRONG_ORDER, RECV, EXCHANGE_80, 0, 1, 2);
    make_cause(2, 0, RFN_WAIT_AT_FINALIZE, FINALIZE, MAIN_24, 3, 3, 1);
    make_cause(3, 2, RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 0, 7, 0.1);
    make_cause(4, 3, RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 6, 6, 0.2);
    causes[3].direct_ns = causes[3].total_ns; /* by turns, and nothing is passed on */
    critical[0] = (struct rfn_critical_row){0, SECONDS(9), 5e9, 4e9};
    critical[1] = (struct rfn_critical_row){3, SECONDS(1), 0.125e9, 0.875e9};
    waits.matching = (struct rfn_matching){
        .messages = 1234567, .matched = 1234567, .collectives = 800};
    report = (struct rfn_report){.file = "fake.rfn",
                                 .archive = &fake,
                                 .run = &fake.run,
                                 .profile = &profile,
                                 .waits = &waits,
                                 .efficiency = rfn_profile_efficiency(&profile),
                                 .top = 15,
                                 .width = 100};
    fake.run.times = true;
    fake.run.ranks = RANKS;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    rfn_text_release(&out);
    return 0;
}

/* The text with each run of spaces and ends of lines as one space. */
static char *flat(void)
{
    const char *text = rfn_text_terminated(&out);
    char *copy = malloc(out.n + 1), *to = copy;
    assert_non_null(copy);
    for (; *text; text++) {
        bool space = *text == ' ' || *text == '\n';
        if (!space)
            *to++ = *text;
        else if (to > copy && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = '\0';
    return copy;
}

static void look_for(const char *part, bool wanted)
{
    char *text = flat();
    bool there = strstr(text, part) != NULL;
    if (there != wanted)
        fail_msg("'%s' is %s in:\n%s", part, there ? "" : "not", rfn_text_terminated(&out));
    free(text);
}

static void expect(const char *part)
{
    look_for(part, true);
}

static void expect_not(const char *part)
{
    look_for(part, false);
}

static void head(void)
{
    out.n = 0;
    rfn_report_head(&out, &report);
}

static void page(void)
{
    out.n = 0;
    rfn_report_text(&out, &report);
}

static size_t widest_line(void)
{
    const char *line = rfn_text_terminated(&out);
    size_t widest = 0;
    for (; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t width = rfn_text_columns(line, strcspn(line, "\n"));
        widest = width > widest ? width : widest;
    }
    return widest;
}

/* ---- the first lines ---- */

static void test_head(void **state)
{
    (void)state;
    head();
    expect("fake on 8 ranks ran for 10.0 s. Parallel efficiency 55.0 %: more than a third of the "
           "ranks' time is lost, most of it by transfer (time in MPI calls without waiting).");
    expect("1. 10.0 % of all ranks' time is lost by waiting (8.00 s): rank 3 computes longer than "
           "the others in step() [solver.c:51-55] between exchange() [halo.c:88] and residual() "
           "[halo.c:12]. Others wait for messages (late sender) in exchange() [halo.c:88]. Give "
           "that rank less");
    expect(
        "2. 5.00 % of all ranks' time is lost by waiting (4.00 s): ranks 0-1 compute longer than "
        "the others between MPI_Init and MPI_Barrier in main() [solver.c:10-24]. Others wait for "
        "messages in wrong order in exchange() [halo.c:80]. Receive in the order of sending");
    expect("3. 1.00 % of all ranks' time is lost by waiting (800 ms): another rank is late each "
           "time, computing in region smoothing (main() [solver.c:24]). They wait for the last "
           "rank (wait at N x N) in residual() [halo.c:12]. The work varies from step to step");
    expect_not("4. ");
    expect_not("No other");
    expect_not(" more problem");
}

/* What there is no room for is summed up. */
static void test_more_stories(void **state)
{
    (void)state;
    make_cause(4, 3, RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 6, 6, 0.72);
    head();
    expect(
        "3. 1.00 % of all ranks' time is lost by waiting (800 ms): another rank is late each time");
    expect("synchronize less often. 1 more problem costs 0.90 % of all ranks' time: --csv=stories "
           "lists all.");
    expect_not("4. ");
}

/* Completions that take long without waiting: what was to move while ranks compute moves there. */
static void test_moving_data(void **state)
{
    static const char hint[] = "only during MPI calls";
    struct rfn_profile_row row = {.function = WAITALL,
                                  .path = EXCHANGE_88,
                                  .calls = 200000,
                                  .time = {.total_ns = SECONDS(20), .ranks = 8}};
    (void)state;
    ranks[3].mpi_ns = SECONDS(5); /* as all others: nothing is uneven */
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    waits.n_causes = waits.n_rows = 0;
    waits.total_ns = waits.unexplained_ns = 0;
    profile.rows = &row;
    profile.n_rows = 1;
    head();
    expect("moving data in MPI_Waitall, exchange() [halo.c:88] alone takes 25.0 %.");
    expect(hint);
    row.calls = 200001; /* less than 0.1 ms each */
    head();
    expect_not(hint);
    row.calls = 200000;
    row.function = ALLREDUCE;
    head();
    expect_not(hint);
    row.function = TEST; /* which polls */
    head();
    expect_not(hint);
}

/* A rank that computes no longer than others, in all, has not too much work. */
static void test_even_work(void **state)
{
    (void)state;
    ranks[3].mpi_ns = SECONDS(5);
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    head();
    expect("ranks' time is lost, most of it");
    expect("Others wait for messages (late sender) in exchange() [halo.c:88]. In total all ranks "
           "compute about equally long");
    expect_not("Give that rank less");
    ranks[3].threads = 2; /* whose times together say nothing */
    head();
    expect("Give that rank less");
}

/* Each advice is there once; another one between does not matter. */
static void test_same_advice(void **state)
{
    (void)state;
    make_cause(1, 1, RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 0, 1, 3);
    make_cause(3, 2, RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 5, 5, 4);
    head();
    expect("in exchange() [halo.c:88]. Give that rank less of this work, or");
    expect("in residual() [halo.c:12]. Balance this work over the ranks. 3. ");
    expect("in residual() [halo.c:12]. The advice of 1 applies here, too.");
}

/* What a loop does before a call is one finding, after whichever call it began. */
static void test_one_piece_of_work(void **state)
{
    (void)state;
    activities[1] = activities[0];
    activities[1].before = (struct rfn_call_site){RECV, EXCHANGE_80};
    head();
    expect("1. 15.0 % of all ranks' time is lost by waiting (12.0 s): ");
    expect("Others wait for messages (late sender) in exchange() [halo.c:88] and 1 more place.");
    expect(
        "2. 1.00 % of all ranks' time is lost by waiting (800 ms): another rank is late each time");
    activities[1].at.path = EXCHANGE_88; /* where the compiler made two calls of one */
    activities[0].at.path = EXCHANGE_88_TWIN;
    activities[1].before.path = EXCHANGE_88;
    head();
    expect("mainly rank 3 computes longer than the others in exchange()"); /* 8 s of 12 */
    activities[0].at.path = activities[1].at.path = RESIDUAL_12;
    activities[1].before.path = EXCHANGE_80;
    causes[2].pattern = RFN_LATE_SENDER; /* the same call again */
    causes[2].waited = (struct rfn_call_site){RECV, EXCHANGE_88_TWIN};
    head();
    expect("(late sender) in exchange() [halo.c:88] and 1 more place.");
    activities[1].region = 0;
    head();
    expect("rank 3 computes longer than the others in step()");
    expect("5.00 % of all ranks' time is lost by waiting (4.00 s): ranks 0-1 compute longer than "
           "the others in region smoothing (step() [solver.c:51-55] between exchange() [halo.c:80] "
           "and residual() [halo.c:12]).");
}

/* Many waits that are no longer than a message takes: not each is to blame. */
static void test_short_waits(void **state)
{
    (void)state;
    rows[0].count = 1000000;
    head();
    expect("(late sender) in exchange() [halo.c:88]. These waits are short, 8.00 us "
           "on average, but many: communicate less often");
    expect("ranks 0-1 compute longer than the others");
    expect("Receive in the order of sending");
    rows[0].count = 700000;
    head();
    expect("Give that rank less");
    rows[0].count = UINT64_MAX;
    head();
    expect("These waits are short, 0 s on average");
}

/* Where one rank alone waits, it is named. */
static void test_one_waits(void **state)
{
    (void)state;
    make_row(1, RFN_WRONG_ORDER, RECV, EXCHANGE_80, 5, 5, 2);
    head();
    expect("Rank 5 waits for messages in wrong order in exchange() [halo.c:80]. Receive");
    causes[1].pattern = RFN_LATE_RECEIVER;
    make_row(1, RFN_LATE_RECEIVER, RECV, EXCHANGE_80, 5, 5, 2);
    head();
    expect("Rank 5 waits until its messages are received (late receiver) in exchange()");
    late[1][0].rank = 5; /* it is late itself */
    head();
    expect("Others wait until their messages are received");
    late[1][0].rank = 0;
    make_row(1, RFN_LATE_RECEIVER, RECV, EXCHANGE_80, 5, 6, 2);
    head();
    expect("Others wait until their messages are received");
    waits.n_rows = 1; /* it is not known who waits */
    head();
    expect("Others wait until their messages are received");
}

static void test_trifles(void **state)
{
    (void)state;
    waits.n_causes = 2;
    head();
    expect("2. 5.00 %");
    expect("No other cause of waiting costs more than 0.5 % of all ranks' time. Waiting without a "
           "known "
           "cause takes 1.25 %.");
    waits.n_causes = 5;
    causes[2].pattern = RFN_WAIT_AT_BARRIER;
    for (unsigned i = 0; i < 5; i++)
        causes[i].total_ns = SECONDS(0.3);
    head();
    expect("1. 0.75 % of all ranks' time is lost by waiting (600 ms): rank 3"); /* two causes
                                                                                   together */
    expect_not("2. ");
}

static void test_no_waits(void **state)
{
    struct rfn_profile_row row = {
        .function = ALLREDUCE, .path = RESIDUAL_12, .time = {.total_ns = SECONDS(20), .ranks = 8}};
    (void)state;
    waits.n_causes = waits.n_rows = 0;
    waits.total_ns = waits.pattern_ns[RFN_WAIT_AT_FINALIZE] = SECONDS(9); /* at the end only */
    waits.unexplained_ns = 0;
    head();
    expect("Ranks wait for each other only 0.00 % of their time.");
    waits.total_ns = waits.pattern_ns[RFN_WAIT_AT_FINALIZE] = 0;
    head();
    expect("Ranks wait for each other only 0.00 % of their time. Most of the time is the program's "
           "own computing.");
    profile.rows = &row;
    profile.n_rows = 1;
    head();
    expect("most of it by transfer (time in MPI calls without waiting): moving data in "
           "MPI_Allreduce, residual() [halo.c:12] alone takes 25.0 %. But outside of MPI rank 3 is "
           "busy 1.64 times as long as the mean, and few waits for it are measured");
    expect("root comes late. Waits are found in only 0.00 % of all ranks' time.");
    waits.n_causes = 1;
    causes[0].total_ns = SECONDS(0.8);
    head();
    expect("1. 1.00 %");
    expect("No other wait that is measured costs more than 0.5 % of all ranks' time.");
    causes[0].activity = 4; /* starting later: no program can mend that */
    head();
    expect_not("1. ");
    waits.n_causes = 0;
    waits.total_ns = SECONDS(20); /* of 28 s that must be idle */
    head();
    expect_not("But outside of MPI");
    waits.total_ns = 0;
    ranks[0].threads = 2;
    head();
    expect_not("But outside of MPI");
    ranks[0].threads = 1;
    ranks[3].mpi_ns = SECONDS(4); /* outside of MPI 6 s, others 5: 7 s idle, less than a tenth */
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    head();
    expect("[halo.c:12] alone takes 25.0 %. Ranks wait for each other only");
    expect_not("The largest time in MPI calls");
    waits.total_ns = SECONDS(10);
    head();
    expect("Ranks wait for each other during 12.5 % of their time, but no single cause costs more "
           "than 0.5 %.");
    expect_not("without a known cause");
    waits.unexplained_ns = SECONDS(8);
    head();
    expect("costs more than 0.5 %. Waiting without a known cause takes 10.0 %.");
    fake.run.ranks = 1;
    head();
    expect("fake on 1 rank ran for");
    expect("A single rank has no other rank to wait for.");
}

static void test_no_times(void **state)
{
    (void)state;
    profile.times = waits.times = fake.run.times = false;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    waits.n_rows = waits.n_causes = waits.n_critical = 0;
    page();
    expect("Efficiency and waits need times");
    expect_not("Wait states");
    expect_not("Critical path");
    expect("Matching: 1,234,567 messages, all matched; 800 collective calls, all matched.");
}

static void test_zero_ranks(void **state)
{
    (void)state;
    fake.run.ranks = 0;
    profile.n_ranks = waits.n_ranks = 0;
    waits.n_rows = waits.n_causes = waits.n_critical = waits.n_activities = 0;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    page();
    expect("fake on 0 ranks");
    expect("Efficiency and waits");
}

/* Between polls ranks may wait, which is told where it is much. */
static void test_between_polls(void **state)
{
    struct rfn_profile_row calls[] = {
        {.function = IPROBE, .path = MAIN_10, .between_polls_ns = SECONDS(1)},
        {.function = TEST, .path = MAIN_24, .between_polls_ns = SECONDS(3)}};
    (void)state;
    profile.rows = calls;
    profile.n_rows = 2;
    head();
    expect(
        "Ranks spend 5.00 % of their time between unsuccessful polls (MPI_Test, main() "
        "[solver.c:24]). This counts as computing, but the ranks may only wait there. 1. 10.0 %");
    calls[1].between_polls_ns = SECONDS(2);
    head();
    expect_not("polls");
}

/* What the compiler leaves out is told, where most calls lack it. */
static void test_symbols(void **state)
{
    struct rfn_profile_row calls[] = {{.function = SEND, .path = EXCHANGE_88},
                                      {.function = SEND, .path = UNNAMED},
                                      {.function = RECV, .path = UNNAMED_2},
                                      {.function = RECV, .path = NOWHERE}};
    (void)state;
    profile.rows = calls;
    profile.n_rows = 4;
    page();
    expect("Symbols the program has hardly any: compile it with -g and do not strip it");
    report.head_only = true; /* tells places, too */
    page();
    expect("Symbols the program has hardly any: compile it with -g and do not strip it");
    expect_not("Command");
    report.head_only = false;
    profile.n_rows = 2;
    page();
    expect_not("Symbols");
    calls[1].path = calls[2].path = PLAIN_3;
    profile.n_rows = 4;
    page();
    expect("Symbols the program has hardly any line numbers: compile it with -g");
    calls[0].path = NOWHERE;
    profile.n_rows = 1;
    page();
    expect_not("Symbols");
}

/* Clocks that disagree are told before the causes, unless that is a trifle or repaired. */
static void test_clocks(void **state)
{
    struct rfn_matching *m = &waits.matching;
    (void)state;
    m->backward = 40;
    m->backward_max_ns = SECONDS(0.011);
    head();
    expect("waiting). The clocks of ranks disagree: receives ended before the send began, by up to "
           "11.0 ms. The causes below may be wrong; --fix-clocks repairs that. 1. 10.0 %");
    m->fixed = true;
    head();
    expect_not("disagree");
    *m = (struct rfn_matching){.backward = 40, .backward_max_ns = SECONDS(0.009)};
    head();
    expect_not("disagree");
    *m = (struct rfn_matching){.backward = 1, .backward_max_ns = SECONDS(0.5)};
    head();
    expect("disagree: a receive ended before");
}

/* Ranks without a core of their own: the machine may be what they wait for. */
static void test_crowding(void **state)
{
    (void)state;
    fake_cores = 2;
    head();
    expect("waiting). 8 ranks share the 2 cores of north: some of the time below may be waiting "
           "for a core. 1. 10.0 %");
    fake_cores = 1;
    head();
    expect("8 ranks share the 1 core of north");
    fake_cores = 8;
    head();
    expect_not("share the");
    fake_cores = 0;
    head();
    expect_not("share the");
}

/* Threads could run, and lacked cores: the second line. Each rank was on a core for 1 s. */
static void test_cores(void **state)
{
    (void)state;
    enum { N = 8 };
    static const uint8_t two[] = {0x03}, own[] = {1, 2, 4, 8, 16, 32, 64, 128};
    static struct rfn_core_window windows[N];
    static struct rfn_process_cores cores[N];
    static const struct rfn_usage of = {.cores = cores, .n_cores = N};
    fake_cores = 2;
    for (uint32_t i = 0; i < N; i++) {
        windows[i] = (struct rfn_core_window){SECONDS(2), SECONDS(1), SECONDS(0.2)};
        cores[i] = (struct rfn_process_cores){.stream = i,
                                              .rank = i,
                                              .mask = two,
                                              .mask_bytes = 1,
                                              .windows = &windows[i],
                                              .n_windows = 1};
    }
    report.usage = &of;
    head();
    expect_not("cores"); /* they had them for 5/6 of the time */
    for (uint32_t i = 0; i < N; i++)
        windows[i].runnable_ns = i == 5 ? SECONDS(1) : 0;
    head();
    expect("ran for 10.0 s. Rank 5 had cores for 50.0 % of the time in which it could run, all "
           "ranks together for 88.9 %: 8 ranks share the 2 cores of north. Some of what follows "
           "may be waiting for a core. Parallel efficiency");
    expect_not("cannot tell");
    for (uint32_t i = 0; i < N; i++)
        windows[i].runnable_ns = SECONDS(3);
    head();
    expect("Ranks had cores for 25.0 % of the time in which they could run: 8 ranks share the 2 "
           "cores of north. This page cannot tell more: ");
    fake_cores = 16;
    for (uint32_t i = 0; i < N; i++)
        cores[i].omp_threads = 4;
    head();
    expect(": 8 ranks of 4 threads each (OMP_NUM_THREADS) are bound to the same 2 cores of north.");
    for (uint32_t i = 0; i < N; i++)
        cores[i].mask = &own[i];
    head();
    expect(": rank 0 of 4 threads (OMP_NUM_THREADS) is bound to 1 core of north.");
    for (uint32_t i = 0; i < N; i++)
        cores[i].omp_threads = 0;
    head();
    expect(": other programs, or threads that are not known here, take them.");
    fake.run.predicted = ""; /* maybe for another machine */
    head();
    expect_not("they could run");
    fake.run.predicted = NULL;
    report.usage = NULL;
}

/* Ranks are missing: what the others waited for them is not known, and may be in any call. */
static void test_missing_ranks(void **state)
{
    struct rfn_profile_row row = {
        .function = ABORT, .path = MAIN_24, .time = {.ranks = 1, .min_rank = 2, .max_rank = 2}};
    (void)state;
    ranks[4].threads = ranks[7].threads = 0;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    page();
    expect("fake on 8 ranks (6 of them in this archive) ran for 10.0 s. Parallel efficiency of the "
           "ranks in this archive 56.7 %: more than a third of the ranks' time is lost, ");
    expect("in MPI, waiting for ranks that are missing or not at all");
    expect("Run time 10.0 s, from the first to the last event in this archive");
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i].threads = i == 2;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    waits.n_causes = 0;
    profile.rows = &row;
    profile.n_rows = 1;
    page();
    expect("fake on 8 ranks (1 of them in this archive) ran for 10.0 s until rank 2 called "
           "MPI_Abort in main() [solver.c:24].");
    expect("How long this rank waited for others is not known without the other ranks.");
    expect_not("all ranks are busy");
    expect_not("This archive has nothing of rank");
    struct rfn_rank_filter asked;
    assert_int_equal(rfn_rank_filter_init(&asked, "0-1,3"), 0);
    report.ranks = &asked;
    page();
    expect("This archive has nothing of ranks 0-1,3.");
    rfn_rank_filter_release(&asked);
    assert_int_equal(rfn_rank_filter_init(&asked, "1-2"), 0);
    page();
    expect_not("This archive has nothing of rank");
    rfn_rank_filter_release(&asked);
    report.ranks = NULL;
    ranks[2].threads = 0;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    page();
    expect("fake on 8 ranks (none of them in this archive): how long it ran is not known. "
           "Efficiency and waits need times, and nothing in this archive has times.");
}

static int64_t microseconds(double ns)
{
    return (int64_t)(ns / 1000 + 0.5);
}

/* What is lost adds up to what is not spent outside of MPI. */
static void test_losses(void **state)
{
    (void)state;
    const struct rfn_measured run = rfn_report_measured(&report);
    struct rfn_losses losses = rfn_losses_of(&run);
    double sum = losses.uneven + losses.late + losses.others + losses.transfer + losses.outside;
    assert_int_equal(microseconds(sum), 36000000);
    assert_int_equal(microseconds(losses.uneven), 12800000);
    assert_int_equal(microseconds(losses.others), 1200000);
    assert_int_equal(microseconds(losses.transfer), 22000000);
}

/* ---- the tables ---- */

static void test_tables(void **state)
{
    (void)state;
    page();
    expect("parallel efficiency 55.0 % mean outside MPI / from Init to Finalize");
    expect("serialization efficiency - not known transfer efficiency - not known");
    expect("Wait states time share waits longest most pattern 8.00 s 10.0 % 100 125 ms rank 4 late "
           "sender in MPI_Recv < exchange (halo.c:88) < step (solver.c:51) < main (solver.c:20)");
    expect("8.00 s 10.0 % 4.00 s 4.00 s late sender rank 3 computing in step() [solver.c:51-55] "
           "between exchange() [halo.c:88] and residual() [halo.c:12] in MPI_Recv < exchange "
           "(halo.c:88)");
    expect("1.00 s of waiting, 1.25 % of all ranks' time, has no known cause");
    expect("Critical path: 10.0 s, ends on rank 3 time share mean of ranks imbalance 9.00 s 90.0 % "
           "5.00 s 4.00 s computing in step() [solver.c:51-55]");
    expect("waiting (all MPI)");
    expect("reading or writing in MPI_File_write, ev\\x1bil\\n() [b\\tad.c:3]");
}

/* Who comes late into steps is named unless other ranks alone are blamed for waits there, as rank 3
 * is for those in MPI_Recv. */
static void show_late(uint32_t rank, uint32_t path, bool has_cause)
{
    static uint32_t ranks_there[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct rfn_behaviour_pattern pattern = {.steps = 10,
                                            .ns = SECONDS(5),
                                            .lost_ns = SECONDS(8),
                                            .waiting = true,
                                            .waited = {RECV, path},
                                            .wait_ns = SECONDS(0.1),
                                            .late = &ranks_there[rank],
                                            .n_late = 1,
                                            .has_cause = has_cause,
                                            .cause = activities[0],
                                            .excess_ns = SECONDS(0.1)};
    struct rfn_behaviour_loop loop = {.steps = 20,
                                      .looked_at = 20,
                                      .looked_at_ns = SECONDS(10),
                                      .n_streams = RANKS,
                                      .ranks = ranks_there,
                                      .n_ranks = RANKS,
                                      .share = 1,
                                      .patterns = &pattern,
                                      .n_patterns = 1};
    const struct rfn_behaviour behaviour = {.loops = &loop, .n_loops = 1};
    report.behaviour = &behaviour;
    page();
    report.behaviour = NULL;
}

static void test_late_into_steps(void **state)
{
    (void)state;
    show_late(3, EXCHANGE_88, false);
    expect("rank 3 is late to MPI_Recv");
    show_late(2, EXCHANGE_88, false);
    expect_not("is late to MPI_Recv");
    show_late(2, EXCHANGE_88, true); /* it takes longer in the step itself */
    expect("rank 2 is late to MPI_Recv");
    show_late(2, MAIN_24, false); /* nobody is known to wait there */
    expect("rank 2 is late to MPI_Recv");
}

/* Times of a rank's threads may add up to more than the run. */
static void test_threads(void **state)
{
    (void)state;
    page();
    expect("rank 3 is busy longest, for 9.00 s, 1.64 times the mean");
    ranks[3].threads = 2;
    page();
    expect("rank 3 is busy longest, for 9.00 s summed over its threads, 1.64 times the mean");
    expect("a slower node. Rank 3 has several threads, and may wait for one of them there.");
}

static void test_matching(void **state)
{
    (void)state;
    waits.matching = (struct rfn_matching){.messages = 10,
                                           .matched = 7,
                                           .unmatched_sends = 3,
                                           .unmatched_receives = 1,
                                           .cancelled = 2,
                                           .foreign = 5,
                                           .collectives = 4,
                                           .unmatched_collectives = 1,
                                           .backward = 3,
                                           .backward_max_ns = 1500};
    page();
    expect("Matching: 10 messages, 7 of them matched, 3 sends without a receive, 1 receive without "
           "a send, 2 cancelled, 5 to or from other jobs; 5 collective calls, 1 of them with ranks "
           "missing. 3 receives ended before the send began, by up to 1.50 us: clocks of ranks "
           "disagree; --fix-clocks repairs");
    waits.matching.fixed = true;
    page();
    expect("disagree, repaired by a logical clock.");
    waits.matching = (struct rfn_matching){.unmatched_collectives = 2};
    page();
    expect("Matching: no messages; 2 collective calls, with ranks missing.");
    waits.matching = (struct rfn_matching){0};
    page();
    expect("Matching: no messages; no collective calls.");
}

/* No line is wider than the page, whatever the page; sentences not even on very narrow ones. */
static void test_widths(void **state)
{
    (void)state;
    waits.matching.backward = 2;
    for (report.width = 40; report.width <= 200; report.width += 10) {
        head();
        assert_in_range(widest_line(), 1, report.width);
        page();
        if (report.width >= 60)
            assert_in_range(widest_line(), 1, report.width);
    }
}

static void test_huge_numbers(void **state)
{
    (void)state;
    profile.end_ns = INT64_MAX;
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i].span_ns = INT64_MAX / 16;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    rows[0].total_ns = rows[0].max_ns = INT64_MAX;
    rows[0].count = UINT64_MAX;
    causes[0].total_ns = causes[0].direct_ns = INT64_MAX / 4;
    waits.matching.messages = waits.matching.unmatched_sends = UINT64_MAX;
    report.width = 80;
    page();
    expect("18,446,744,073,709,551,615 messages, 1,234,567 of them matched");
    json_t *value = rfn_report_json(&report);
    assert_non_null(value);
    json_decref(value);
}

/* Numbers of activities that do not exist are left out. */
static void test_wrong_numbers(void **state)
{
    (void)state;
    causes[0].activity = 5;
    causes[1].activity = UINT32_MAX;
    critical[0].activity = 99;
    rows[0].function = rows[0].path = 4711;
    page();
    expect("in ?");
    expect_not("wrong order rank");
    json_t *value = rfn_report_json(&report);
    assert_int_equal(json_array_size(json_object_get(value, "causes")), 3);
    json_decref(value);
}

static void test_top(void **state)
{
    (void)state;
    report.top = 1;
    page();
    expect("Wait states (1 of 4; --all shows all)");
    expect("others waited (1 of 5; --all shows all)");
    expect("ends on rank 3 (1 of 2; --all shows all)");
    expect("2. 5.00 %"); /* the head stays */
    expect_not("file");
}

/* Digits of a matrix: up to 16 ranks, a screen; up to 32 where so many rows are asked for. */
static void test_matrix(void **state)
{
    struct rfn_pair pairs[] = {{0, 1, 1, 100}, {1, 0, 1, 50}};
    const struct {
        uint32_t ranks;
        size_t top;
        bool digits;
    } cases[] = {{16, 15, true},  {17, 15, false},      {17, 17, true},
                 {32, 31, false}, {32, SIZE_MAX, true}, {33, SIZE_MAX, false}};
    (void)state;
    profile.pairs = pairs;
    profile.n_pairs = 2;
    report.width = 80;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        profile.n_ranks = cases[i].ranks;
        report.top = cases[i].top;
        rfn_text_release(&out);
        rfn_report_messages(&out, &report);
        look_for("tenths of 100 B", cases[i].digits);
        look_for(" 0 . 9 ", cases[i].digits);
        look_for(" 1 4 . ", cases[i].digits);
        look_for("receiver - sender", !cases[i].digits);
    }
}

/* ---- some ranks, some call paths ---- */

static void test_ranks(void **state)
{
    struct rfn_pair pairs[] = {{0, 1, 5, 50}, {2, 7, 6, 60}, {7, 4, 7, 70}};
    struct rfn_rank_filter filter;
    (void)state;
    assert_int_equal(rfn_rank_filter_init(&filter, "7"), 0);
    profile.pairs = pairs;
    profile.n_pairs = 3;
    report.ranks = &filter;
    page();
    expect("Wait states of rank 7 time share most pattern 2.00 s 2.50 % rank 7 late sender");
    expect("1.00 s - rank 7 wait at finalize");
    expect_not("messages in wrong order in"); /* it neither waits nor is late there */
    expect("Time of rank 7 rank outside MPI in MPI Init, Finalize waiting 7 5.00 s 4.50 s 500 ms "
           "3.25 s");
    expect("Messages of rank 7 from to messages bytes 7 4 7 70 B 2 7 6 60 B");
    expect_not("50 B");
    json_t *value = rfn_report_json(&report);
    assert_int_equal(json_array_size(json_object_get(value, "time_per_rank")), 1);
    assert_int_equal(json_array_size(json_object_get(value, "communication_matrix")), 2);
    json_t *first = json_array_get(json_object_get(value, "wait_states"), 0);
    assert_int_equal((int)json_real_value(json_object_get(first, "seconds")), 2);
    assert_int_equal(json_array_size(json_object_get(first, "seconds_by_rank")), RANKS);
    json_decref(value);
    rfn_rank_filter_release(&filter);
    assert_int_equal(rfn_rank_filter_init(&filter, "0-1"), 0);
    page();
    expect("1. 5.00 % of all ranks' time is lost by waiting (4.00 s): ranks 0-1"); /* late */
    expect("Wait states of ranks 0-1 time share most pattern 4.00 s 5.00 % rank 0 messages in");
    expect_not("late sender rank 3");
    rfn_rank_filter_release(&filter);
}

static bool shows(const char *wanted, uint32_t path)
{
    report.call_path = wanted;
    return rfn_report_shows_call(&report, RECV, path);
}

static void test_call_paths(void **state)
{
    (void)state;
    assert_true(shows("exchange", EXCHANGE_88));
    assert_true(shows("halo.c:88", EXCHANGE_88));
    assert_true(shows("/src/halo.c", EXCHANGE_88));
    assert_true(shows("main", EXCHANGE_88));
    assert_false(shows("halo.c:8", EXCHANGE_88)); /* line 8, not 88 */
    assert_false(shows("residual", EXCHANGE_88));
    assert_true(shows("MPI_Recv", NOWHERE));
    assert_false(shows("main", NOWHERE));
    assert_false(shows("main", N_PATHS));
    assert_true(shows("Field<double>::sum", SUM_7));
    assert_true(shows("5FieldIdE3sum", SUM_7));
    assert_false(shows("app", UNNAMED));
    report.call_path = "residual";
    page();
    expect("Wait states time share waits longest most pattern 2.00 s 2.50 % 102 125 ms rank 0 wait "
           "at N x N in MPI_Allreduce < residual");
    expect_not("messages in wrong order");
    report.call_path = "nowhere to be found";
    page();
    expect("None of the selected causes costs more than 0.5 %");
    expect("Wait states: none");
}

/* ---- JSON ---- */

static void real_is(const json_t *value, const char *key, double expected)
{
    const json_t *found = json_object_get(value, key);
    assert_true(json_is_real(found));
    assert_true(json_real_value(found) > expected - 1e-9 &&
                json_real_value(found) < expected + 1e-9);
}

static void string_is(const json_t *value, const char *key, const char *expected)
{
    const char *found = json_string_value(json_object_get(value, key));
    assert_non_null(found);
    assert_string_equal(found, expected);
}

static void check_wait_states(const json_t *list)
{
    const json_t *first = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 4);
    string_is(first, "pattern", "late_sender");
    string_is(first, "function", "MPI_Recv");
    string_is(first, "call_path",
              "MPI_Recv < exchange (halo.c:88) < step (solver.c:51) < main (solver.c:20)");
    real_is(first, "seconds", 8);
    real_is(first, "share", 0.1);
    real_is(first, "longest_seconds", 0.125);
    assert_int_equal(json_integer_value(json_object_get(first, "count")), 100);
    assert_int_equal(json_array_size(json_object_get(first, "frames")), 3);
    const json_t *ranks_of = json_object_get(first, "seconds_by_rank");
    assert_int_equal(json_array_size(ranks_of), RANKS);
    assert_true(json_real_value(json_array_get(ranks_of, 4)) == 2);
    assert_true(json_real_value(json_array_get(ranks_of, 3)) == 0);
}

static void check_causes(const json_t *list)
{
    const json_t *first = json_array_get(list, 0), *second = json_array_get(list, 1);
    const json_t *fourth = json_array_get(list, 3);
    const json_t *who = json_array_get(json_object_get(first, "ranks"), 0);
    assert_int_equal(json_array_size(list), 5);
    string_is(first, "activity",
              "computing in step() [solver.c:51-55] between exchange() [halo.c:88] and residual() "
              "[halo.c:12]");
    string_is(first, "kind", "compute");
    string_is(first, "function", "step");
    assert_true(json_is_null(json_object_get(first, "region")));
    string_is(first, "pattern", "late_sender");
    string_is(first, "waited_function", "MPI_Recv");
    real_is(first, "seconds", 8);
    real_is(first, "direct_seconds", 4);
    real_is(first, "share", 0.1);
    assert_int_equal(json_integer_value(json_object_get(who, "rank")), 3);
    real_is(who, "seconds", 8);
    string_is(second, "before", "MPI_Init < main (solver.c:10)");
    string_is(second, "at", "MPI_Barrier < main (solver.c:24)");
    string_is(fourth, "region", "smoothing");
}

static void check_findings(const json_t *value)
{
    const json_t *verdict = json_object_get(value, "verdict");
    const json_t *stories = json_object_get(value, "stories");
    const json_t *findings = json_object_get(json_array_get(stories, 0), "findings"),
                 *first = json_array_get(findings, 0);
    assert_memory_equal(json_string_value(json_object_get(verdict, "text")),
                        "Parallel efficiency 55.0 %: more than a third", 45);
    real_is(json_object_get(verdict, "lost_seconds"), "uneven_work", 12.8);
    real_is(json_object_get(verdict, "lost_seconds"), "mpi_without_waiting", 22);
    assert_true(json_is_null(json_object_get(verdict, "busiest_call")));
    assert_int_equal(json_array_size(findings), 1);
    string_is(first, "text",
              "rank 3 computing in step() [solver.c:51-55] between exchange() [halo.c:88] and "
              "residual() [halo.c:12] costs 10.0 % of all ranks' time (8.00 s of 80.0 s): others "
              "wait for messages (late sender) in exchange() [halo.c:88].");
    string_is(first, "advice",
              "Give that rank less of this work, or find out why it is slow: input and output, a "
              "slower node.");
    string_is(first, "function", "step");
    string_is(first, "pattern", "late_sender");
    string_is(first, "waited_function", "MPI_Recv");
    real_is(first, "seconds", 8);
    assert_int_equal(json_integer_value(json_object_get(first, "places")), 1);
    assert_true(json_is_null(json_object_get(first, "waiting_rank")));
}

static void check_stories(const json_t *value)
{
    const json_t *stories = json_object_get(value, "stories"), *first = json_array_get(stories, 0);
    assert_int_equal(json_array_size(stories), 3);
    string_is(first, "kind", "cause");
    assert_memory_equal(
        json_string_value(json_object_get(first, "text")),
        "10.0 % of all ranks' time is lost by waiting (8.00 s): rank 3 computes longer", 59);
    string_is(first, "advice",
              "Give that rank less of this work, or find out why it is slow: input and output, a "
              "slower node.");
    real_is(first, "seconds", 8);
    real_is(first, "share", 0.1);
    string_is(json_array_get(stories, 2), "kind", "noise");
}

/* Predictions: without the stories, on an ideal network, and in two windows. */
static void test_ahead(void **state)
{
    struct rfn_report_window windows[] = {
        {0, SECONDS(4), 2e9, SECONDS(2.5), SECONDS(3)},
        {SECONDS(4), SECONDS(10), 3.5e9, SECONDS(3.5), SECONDS(3.5)}};
    const struct rfn_report_ahead ahead = {
        .run_ns = SECONDS(10),
        .without_ns = {SECONDS(7), SECONDS(9.99)},
        .n_stories = 2,
        .main = {0, SECONDS(10), 5.5e9, SECONDS(9), SECONDS(9.5)},
        .windows = windows,
        .n_windows = 2};
    (void)state;
    report.ahead = &ahead;
    page();
    expect(" Without it the run would take 7.00 s instead of 10.0 s. 2. ");
    expect(" Without it the run would take almost as long. 3. ");
    expect("serialization efficiency 94.7 % longest outside MPI / run on ideal network");
    expect("transfer efficiency 95.0 % run on ideal network / from Init to Finalize");
    expect("When is efficiency lost? Factors by time window from to parallel load balance "
           "serialization transfer 0 s 4.00 s 50.0 % 80.0 % 83.3 % 75.0 % 4.00 s 10.0 s 58.3 % "
           "100.0 % 100.0 % 58.3 %");
    json_t *value = rfn_report_json(&report);
    const json_t *efficiency = json_object_get(value, "efficiency");
    const json_t *first = json_array_get(json_object_get(value, "windows"), 0);
    const json_t *stories = json_object_get(value, "stories");
    real_is(efficiency, "serialization_efficiency", 9 / 9.5);
    real_is(efficiency, "transfer_efficiency", 0.95);
    real_is(efficiency, "ideal_seconds", 9.5);
    real_is(first, "load_balance", 0.8);
    real_is(first, "to_seconds", 4);
    real_is(json_array_get(stories, 0), "without_seconds", 7);
    real_is(json_array_get(stories, 1), "without_seconds", 9.99);
    assert_true(json_is_null(json_object_get(json_array_get(stories, 2), "without_seconds")));
    json_decref(value);
}

static void test_json(void **state)
{
    (void)state;
    report.top = SIZE_MAX;
    json_t *value = rfn_report_json(&report);
    const json_t *efficiency = json_object_get(value, "efficiency");
    const json_t *path = json_object_get(value, "critical_path");
    const json_t *sums = json_object_get(value, "waits");
    check_wait_states(json_object_get(value, "wait_states"));
    check_causes(json_object_get(value, "causes"));
    assert_int_equal(json_integer_value(json_object_get(value, "schema")), 3);
    check_findings(value);
    check_stories(value);
    real_is(efficiency, "parallel_efficiency", 0.55);
    real_is(efficiency, "load_balance", 5.5 / 9);
    real_is(efficiency, "communication_efficiency", 0.9);
    assert_true(json_is_null(json_object_get(efficiency, "serialization_efficiency")));
    assert_true(json_is_null(json_object_get(efficiency, "transfer_efficiency")));
    real_is(path, "seconds", 10);
    real_is(json_array_get(json_object_get(path, "parts"), 0), "imbalance_seconds", 4);
    real_is(json_array_get(json_object_get(path, "parts"), 1), "share", 0.1);
    real_is(sums, "total_seconds", 15);
    real_is(json_object_get(sums, "by_pattern"), "wait_at_nxn", 2);
    assert_int_equal(json_object_size(json_object_get(sums, "by_pattern")), RFN_PATTERN_COUNT);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(value, "matching"), "matched")),
        1234567);
    json_decref(value);
}

static void test_json_without_times(void **state)
{
    (void)state;
    profile.times = waits.times = fake.run.times = false;
    rfn_profile_take_whole(&profile);
    report.efficiency = rfn_profile_efficiency(&profile);
    json_t *value = rfn_report_json(&report);
    assert_int_equal(json_array_size(json_object_get(value, "wait_states")), 0);
    assert_true(json_is_array(json_object_get(value, "wait_states")));
    assert_true(json_is_null(json_object_get(value, "critical_path")));
    assert_true(json_is_null(json_object_get(value, "waits")));
    assert_true(json_is_null(json_object_get(value, "verdict")));
    assert_int_equal(json_array_size(json_object_get(value, "stories")), 0);
    assert_true(
        json_is_null(json_object_get(json_object_get(value, "efficiency"), "parallel_efficiency")));
    assert_true(json_is_object(json_object_get(value, "matching")));
    json_decref(value);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(head),
        TEST(more_stories),
        TEST(same_advice),
        TEST(one_piece_of_work),
        TEST(one_waits),
        TEST(trifles),
        TEST(no_waits),
        TEST(even_work),
        TEST(moving_data),
        TEST(no_times),
        TEST(zero_ranks),
        TEST(missing_ranks),
        TEST(clocks),
        TEST(crowding),
        TEST(cores),
        TEST(symbols),
        TEST(between_polls),
        TEST(short_waits),
        TEST(losses),
        TEST(tables),
        TEST(late_into_steps),
        TEST(threads),
        TEST(matching),
        TEST(widths),
        TEST(huge_numbers),
        TEST(wrong_numbers),
        TEST(top),
        TEST(matrix),
        TEST(ranks),
        TEST(call_paths),
        TEST(json),
        TEST(ahead),
        TEST(json_without_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
