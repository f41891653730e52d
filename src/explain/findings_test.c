/* Findings of causes that are made up: four ranks, ten seconds, 40 s of all ranks. */
#include "refrain/explain.h"

#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECONDS(s) ((int64_t)((s)*1e9))

enum { RANKS = 4 };

/* Rank 3 computes longest before an Allreduce, after one call or another; rank 1 writes a file. */
static struct rfn_activity activities[] = {
    {RFN_ACTIVITY_COMPUTE, {RECV, EXCHANGE_88}, {ALLREDUCE, RESIDUAL_12}, RFN_NO_REGION},
    {RFN_ACTIVITY_COMPUTE, {RECV, EXCHANGE_80}, {ALLREDUCE, RESIDUAL_12}, RFN_NO_REGION},
    {RFN_ACTIVITY_MPI, {0, 0}, {FILE_WRITE, MAIN_24}, RFN_NO_REGION}};
static struct rfn_rank_ns late[] = {{3, SECONDS(2)}, {2, SECONDS(0.1)}, {1, SECONDS(1)}};
static struct rfn_cause causes[] = {
    {0, RFN_WAIT_AT_NXN, {ALLREDUCE, RESIDUAL_12}, SECONDS(2.1), SECONDS(2), &late[0], 2},
    {2, RFN_LATE_SENDER, {RECV, EXCHANGE_88}, SECONDS(1), SECONDS(1), &late[2], 1},
    {1, RFN_LATE_SENDER, {RECV, EXCHANGE_88_TWIN}, SECONDS(0.5), SECONDS(0.5), &late[0], 1},
    {2, RFN_LATE_SENDER, {RECV, EXCHANGE_80}, SECONDS(0.1), SECONDS(0.1), &late[2], 1},
    {7, RFN_LATE_SENDER, {RECV, EXCHANGE_80}, SECONDS(9), SECONDS(9), &late[2], 1}};
static int64_t by_rank[RANKS] = {[0] = SECONDS(2.6)}, nobody[RANKS];
static struct rfn_wait_row rows[] = {
    {RFN_WAIT_AT_NXN, ALLREDUCE, RESIDUAL_12, 2000, SECONDS(2.1), SECONDS(1), by_rank, 0},
    {RFN_LATE_SENDER, RECV, EXCHANGE_88_TWIN, 10, SECONDS(0.5), SECONDS(1), by_rank, 0},
    {RFN_LATE_SENDER, RECV, EXCHANGE_88, 10, SECONDS(1), SECONDS(1), nobody, 0}};
static struct rfn_profile_rank ranks[RANKS];
static struct rfn_profile profile = {.n_ranks = RANKS, .times = true, .ranks = ranks};
static struct rfn_waits waits = {.n_ranks = RANKS,
                                 .times = true,
                                 .rows = rows,
                                 .n_rows = 3,
                                 .activities = activities,
                                 .n_activities = 3,
                                 .causes = causes,
                                 .n_causes = 5};
static struct rfn_measured run;

static int setup(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i] = (struct rfn_profile_rank){
            .mpi_ns = SECONDS(i == 3 ? 1 : 5), .span_ns = SECONDS(10), .threads = 1};
    profile.end_ns = SECONDS(10);
    rfn_profile_take_whole(&profile);
    run = (struct rfn_measured){&fake, &profile, &waits, rfn_profile_efficiency(&profile), NULL};
    return 0;
}

/* An activity that does not exist is left out; what is one piece of work is one. */
static void test_findings(void **state)
{
    struct rfn_findings found;
    (void)state;
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 2);
    const struct rfn_finding *first = &found.findings[0], *second = &found.findings[1];
    assert_int_equal(first->activity, 0);
    assert_int_equal(first->ns, SECONDS(2.6));
    assert_int_equal(first->sites, 2);
    assert_int_equal(first->pattern, RFN_WAIT_AT_NXN);
    assert_int_equal(first->waited.path, RESIDUAL_12);
    assert_int_equal(first->waits, 2000);
    assert_int_equal(first->mean_wait_ns, SECONDS(2.1) / 2000);
    assert_int_equal(first->waiting, 0);
    assert_int_equal(first->n_ranks, 2);
    assert_int_equal(first->ranks[0].rank, 3);
    assert_int_equal(first->ranks[0].ns, SECONDS(4));
    assert_int_equal(first->late, RFN_LATE_ONE);
    assert_int_equal(second->activity, 2);
    assert_int_equal(second->ns, SECONDS(1.1));
    assert_int_equal(second->waiting, RFN_SEVERAL_RANKS);
    assert_int_equal(second->late, RFN_LATE_ONE); /* rank 3 computes longer than the others */
    rfn_findings_release(&found);
    ranks[3].mpi_ns = SECONDS(4.8); /* 5.2 of 5.05 on average */
    rfn_profile_take_whole(&profile);
    run.efficiency = rfn_profile_efficiency(&profile);
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.findings[1].late, RFN_LATE_EVEN);
    rfn_findings_release(&found);
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, 1), 0);
    assert_int_equal(found.n, 1);
    rfn_findings_release(&found);
}

static bool takes_files(const void *context, const struct rfn_cause *cause)
{
    return cause->activity == *(const uint32_t *)context;
}

/* Causes can be chosen; a trifle is none. */
static void test_choice(void **state)
{
    const uint32_t file = 2, other = 1;
    struct rfn_findings found;
    (void)state;
    struct rfn_cause_choice choice = {takes_files, &file};
    assert_int_equal(rfn_findings_init(&found, &run, &choice, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.findings[0].activity, 2);
    rfn_findings_release(&found);
    choice.context = &other;
    causes[2].total_ns = (int64_t)(RFN_TRIFLE * 40e9) - 1;
    assert_int_equal(rfn_findings_init(&found, &run, &choice, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 0);
    rfn_findings_release(&found);
    causes[2].total_ns++;
    assert_int_equal(rfn_findings_init(&found, &run, &choice, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 1);
    rfn_findings_release(&found);
    causes[2].total_ns = SECONDS(0.5);
}

/* What ranks wait for at the start and at the end of MPI, or because of them, is nobody's fault. */
static void test_ends(void **state)
{
    struct rfn_findings found;
    (void)state;
    causes[0].pattern = RFN_WAIT_AT_INIT;
    causes[2].pattern = RFN_WAIT_AT_FINALIZE;
    activities[2].at = (struct rfn_call_site){INIT, MAIN_24}; /* and receives wait for that */
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 0);
    rfn_findings_release(&found);
    activities[2] = (struct rfn_activity){.kind = RFN_ACTIVITY_START, .region = RFN_NO_REGION};
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, SIZE_MAX), 0);
    assert_int_equal(found.n, 0);
    rfn_findings_release(&found);
    activities[2] = (struct rfn_activity){
        RFN_ACTIVITY_MPI, {0, 0}, {FILE_WRITE, MAIN_24}, RFN_NO_REGION};
    causes[0].pattern = RFN_WAIT_AT_NXN;
    causes[2].pattern = RFN_LATE_SENDER;
}

static void expect(struct rfn_text *text, const char *expected)
{
    assert_string_equal(rfn_text_terminated(text), expected);
    rfn_text_release(text);
}

static void test_words(void **state)
{
    struct rfn_findings found;
    struct rfn_text text = {0};
    (void)state;
    assert_int_equal(rfn_findings_init(&found, &run, NULL, RFN_TRIFLE, SIZE_MAX), 0);
    rfn_finding_append(&text, &run, &found.findings[0]);
    expect(&text, "mainly rank 3 computing in step() [solver.c:51-55] between exchange() "
                  "[halo.c:88] and residual() [halo.c:12] costs 6.50 % of all ranks' time (2.60 s "
                  "of 40.0 s): rank 0 waits for the last rank (wait at N x N) in residual() "
                  "[halo.c:12] and 1 more place.");
    rfn_finding_advice(&text, &run, &found.findings[0]);
    expect(&text, "Give that rank less of this work, or find out why it is slow: input and output, "
                  "a slower node.");
    rfn_finding_append(&text, &run, &found.findings[1]);
    expect(&text, "rank 1 reading or writing in MPI_File_write, main() [solver.c:24] costs 2.75 % "
                  "of all ranks' time (1.10 s of 40.0 s): others wait for messages (late sender) "
                  "in exchange() [halo.c:88] and 1 more place.");
    rfn_findings_release(&found);
}

static void expect_late(const struct rfn_rank_ns *these, uint32_t n, uint32_t n_all,
                        const char *expected)
{
    struct rfn_text text = {0};
    rfn_late_ranks_append(&text, these, n, n_all);
    assert_string_equal(rfn_text_terminated(&text), expected);
    rfn_text_release(&text);
}

static void test_late_ranks(void **state)
{
    const struct rfn_rank_ns mainly[] = {{5, 97}, {0, 1}, {1, 1}, {2, 1}};
    const struct rfn_rank_ns three[] = {{5, 9}, {0, 9}, {1, 9}};
    const struct rfn_rank_ns uneven[] = {{5, 18}, {0, 9}, {1, 9}};
    struct rfn_rank_ns many[16];
    (void)state;
    for (uint32_t i = 0; i < 16; i++)
        many[i] = (struct rfn_rank_ns){i + 4, 100 - i};
    expect_late(mainly, 1, 8, "rank 5");
    expect_late(mainly, 4, 8, "mainly rank 5");
    expect_late(three, 3, 8, "ranks 0-1,5");
    expect_late(three, 3, 3, "all 3 ranks");
    expect_late(uneven, 3, 3, "all 3 ranks (rank 5 most)");
    expect_late(three, 2, 2, "both ranks");
    expect_late(many, 16, 32, "mainly ranks 4-18");
    many[0].rank = 31;
    expect_late(many, 16, 32, "16 of 32 ranks");
    many[0].ns = 200;
    expect_late(many, 16, 32, "16 of 32 ranks (rank 31 most)");
    expect_late(mainly, 1, 1, "rank 5");
    expect_late(NULL, 0, 8, "some rank");
}

#define TEST(name) cmocka_unit_test_setup(test_##name, setup)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(findings), TEST(choice), TEST(ends), TEST(words),
                                       TEST(late_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
