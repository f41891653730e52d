/* Kinds of ranks that are made up: a grid with open ends, one rank that calls more, ranks without
 * order. */
#include "cli/report/report.h"

#include "refrain/explain.h"
#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { RANKS = 64, SIDE = 8, PAIRS_MAX = RANKS * RANKS };

static struct rfn_profile_rank ranks[RANKS];
static struct rfn_pair pairs[PAIRS_MAX];
static struct rfn_profile profile;
static struct rfn_clustering clustering;
static struct rfn_report report;

static const uint32_t all_call[] = {INIT, MAIN_10, SEND, EXCHANGE_88, RECV, EXCHANGE_80};
static const uint32_t other_order[] = {RECV, EXCHANGE_80, INIT, MAIN_10, SEND, EXCHANGE_88};
/* Of two threads, which make a call each. */
static const uint32_t calls_more[] = {SEND,        EXCHANGE_88, INIT,        MAIN_10, REDUCE,
                                      RESIDUAL_12, SEND,        EXCHANGE_88, BCAST,   EXCHANGE_88};

/* The same without lines, and one of another address. */
static const uint32_t unnamed[] = {SEND, UNNAMED, RECV, UNNAMED};
static const uint32_t unnamed_called[] = {SEND, UNNAMED_CALLED, RECV, UNNAMED_2};

static void start(uint32_t n)
{
    profile = (struct rfn_profile){.n_ranks = n, .times = true, .ranks = ranks, .pairs = pairs};
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = (struct rfn_profile_rank){
            .mpi_ns = 2000000000, .span_ns = 5000000000, .threads = 1, .collective_bytes = 24};
    fake.run.ranks = n;
    report = (struct rfn_report){.archive = &fake,
                                 .run = &fake.run,
                                 .profile = &profile,
                                 .clustering = &clustering,
                                 .width = 100};
}

static void add_pair(uint32_t source, uint32_t dest, uint64_t messages)
{
    pairs[profile.n_pairs++] = (struct rfn_pair){source, dest, messages, 1000 * messages};
    ranks[source].messages += messages;
    ranks[source].sent_bytes += 1000 * messages;
}

/* Each sends to its neighbours. */
static void make_grid(void)
{
    start(RANKS);
    for (uint32_t i = 0; i < RANKS; i++) {
        if (i >= SIDE)
            add_pair(i, i - SIDE, 10);
        if (i % SIDE > 0)
            add_pair(i, i - 1, 10);
        if (i % SIDE < SIDE - 1)
            add_pair(i, i + 1, 10);
        if (i + SIDE < RANKS)
            add_pair(i, i + SIDE, 10);
    }
}

#define CALLS(array) .paths = (array), .n_paths = sizeof(array) / sizeof *(array) / 2

static const struct rfn_rank_block none = {0};
static const struct rfn_rank_block whole[] = {{0, 2, {{8, 8}, {8, 1}}}};
static const struct rfn_rank_block but_first[] = {{1, 1, {{7, 1}}}, {8, 2, {{7, 8}, {8, 1}}}};
static const struct rfn_rank_block four[] = {{0, 1, {{4, 1}}}};

static const struct rfn_main_cluster of_all = {.blocks = whole, .n_blocks = 1, CALLS(all_call)};
static const struct rfn_main_cluster of_four = {.blocks = four, .n_blocks = 1, CALLS(all_call)};
static const struct rfn_main_cluster two_orders[] = {
    {.blocks = &none, .n_blocks = 1, CALLS(other_order)},
    {.blocks = but_first, .n_blocks = 2, CALLS(all_call)}};
static const struct rfn_main_cluster with_root[] = {
    {.blocks = &none, .n_blocks = 1, CALLS(calls_more)},
    {.blocks = but_first, .n_blocks = 2, CALLS(all_call)}};

static const struct rfn_main_cluster without_lines[] = {
    {.blocks = &none, .n_blocks = 1, CALLS(unnamed_called)},
    {.blocks = but_first, .n_blocks = 2, CALLS(unnamed)}};

static void expect_page(const char *expected)
{
    struct rfn_text out = {0};
    rfn_report_alike(&out, &report);
    assert_false(out.failed);
    assert_string_equal(rfn_text_terminated(&out), expected);
    rfn_text_release(&out);
}

/* Corners and edges of a grid; that a corner's calls come in another order does not matter. */
static void test_grid(void **state)
{
    (void)state;
    static const char page[] =
        "\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
        "  36 of 64 ranks (9-14,17-22,25-30,33-38,41-46,49-54): 2.00 s in "
        "MPI and 39.1 KiB moved each, "
        "40\n    messages each to 4 ranks\n"
        "  ranks 1-6,8,15-16,23-24,31-32,39-40,47-48,55,57-62: 2.00 s in "
        "MPI and 29.3 KiB moved each, "
        "30\n    messages each to 3 ranks instead of 4\n"
        "  ranks 0,7,56,63: 2.00 s in MPI and 19.6 KiB moved each, 20 "
        "messages each to 2 ranks instead "
        "of 4\n";
    make_grid();
    clustering = (struct rfn_clustering){&of_all, 1, 9, 9};
    expect_page(page);
    clustering = (struct rfn_clustering){two_orders, 2, 9, 9};
    expect_page(page);
    struct rfn_rank_kinds alike;
    assert_int_equal(rfn_rank_kinds_init(&alike, &clustering, &profile), 0);
    assert_int_equal(alike.n, 3);
    assert_int_equal(alike.n_ranks, RANKS);
    assert_int_equal(alike.kinds[0].orders, 1);
    assert_int_equal(alike.kinds[2].orders, 2);
    assert_int_equal(alike.kinds[2].ranks[3], 63);
    rfn_rank_kinds_release(&alike);
}

/* A rank that calls other paths; no messages. */
static void test_other_calls(void **state)
{
    (void)state;
    start(RANKS);
    clustering = (struct rfn_clustering){with_root, 2, 2, 2};
    expect_page(
        "\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
        "  63 of 64 ranks (1-63): 2.00 s in MPI and 24 B moved each\n"
        "  rank 0: 2.00 s in MPI and 24 B moved; also calls MPI_Bcast in exchange() [halo.c:88], "
        "MPI_Reduce\n    in residual() [halo.c:12]; does not call MPI_Recv in exchange() "
        "[halo.c:80]\n");
    struct rfn_rank_filter filter = {0};
    assert_int_equal(rfn_rank_filter_init(&filter, "5"), 0);
    report.ranks = &filter;
    profile.times = false;
    expect_page("\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
                "  63 of 64 ranks (1-63): 24 B moved each\n");
    rfn_rank_filter_release(&filter);
}

/* What one-sided calls move is not known of each rank: then nothing is said of bytes. */
static void test_one_sided(void **state)
{
    struct rfn_profile_row row = {.function = PUT, .path = MAIN_24, .calls = 9, .bytes = 90};
    struct rfn_rank_filter filter = {0};
    (void)state;
    start(RANKS);
    profile.rows = &row;
    profile.n_rows = 1;
    clustering = (struct rfn_clustering){with_root, 2, 2, 2};
    assert_int_equal(rfn_rank_filter_init(&filter, "5"), 0);
    report.ranks = &filter;
    expect_page("\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
                "  63 of 64 ranks (1-63): 2.00 s in MPI each\n");
    profile.times = false;
    expect_page("\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
                "  63 of 64 ranks (1-63)\n");
    row.bytes = 0;
    expect_page("\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
                "  63 of 64 ranks (1-63): 24 B moved each\n");
    rfn_rank_filter_release(&filter);
}

/* Calls from one address look the same, wherever that is called. */
static void test_without_lines(void **state)
{
    (void)state;
    start(RANKS);
    clustering = (struct rfn_clustering){without_lines, 2, 2, 2};
    expect_page("\nWhich ranks behave alike? Kinds with the same calls and as many partners\n"
                "  63 of 64 ranks (1-63): 2.00 s in MPI and 24 B moved each\n"
                "  rank 0: 2.00 s in MPI and 24 B moved; also calls MPI_Recv in [app+0x2000]; does "
                "not call MPI_Recv\n    in [app+0x1234]\n");
}

static void test_all_alike(void **state)
{
    (void)state;
    start(4);
    clustering = (struct rfn_clustering){&of_four, 1, 1, 1};
    expect_page("\nAll 4 ranks behave alike: same calls\n");
    for (uint32_t i = 0; i < 4; i++)
        add_pair(i, (i + 1) % 4, 7);
    expect_page("\nAll 4 ranks behave alike: same calls, same partners by offset\n");
    clustering.subs = 3;
    expect_page("\nAll 4 ranks behave alike: same calls, and each one's partners follow from its "
                "rank\n");
    clustering.after = 2;
    ranks[2].messages = 70;
    expect_page(
        "\nAll 4 ranks behave alike: same calls, with other parameters, 7-70 messages each\n");
    report.clustering = NULL;
    expect_page("");
}

/* Each rank has another number of partners: they are one kind. */
static void test_any_partners(void **state)
{
    (void)state;
    start(RANKS);
    for (uint32_t i = 0; i < RANKS; i++) {
        for (uint32_t k = 0; k < i; k++)
            add_pair(i, k, 1);
    }
    clustering = (struct rfn_clustering){&of_all, 1, RANKS, RANKS};
    expect_page(
        "\nAll 64 ranks behave alike: same calls, with other parameters, to 0-63 ranks, 0-63 "
        "messages each\n");
}

static json_t *kind_of(const json_t *value, size_t i)
{
    return json_array_get(json_object_get(value, "kinds"), i);
}

static void test_json(void **state)
{
    (void)state;
    start(RANKS);
    clustering = (struct rfn_clustering){with_root, 2, 5, 3};
    json_t *value = rfn_report_alike_json(&report);
    assert_int_equal(json_integer_value(json_object_get(value, "ranks")), RANKS);
    assert_int_equal(json_integer_value(json_object_get(value, "main_clusters")), 2);
    assert_int_equal(json_integer_value(json_object_get(value, "sub_clusters")), 5);
    const json_t *most = kind_of(value, 0), *root = kind_of(value, 1);
    assert_int_equal(json_integer_value(json_object_get(most, "n_ranks")), 63);
    assert_int_equal(json_integer_value(json_object_get(most, "collective_bytes")), 63 * 24);
    assert_true(json_real_value(json_object_get(most, "mpi_seconds")) == 126);
    assert_true(json_real_value(json_object_get(most, "outside_seconds")) == 189);
    assert_int_equal(json_array_size(json_object_get(most, "also_calls")), 0);
    assert_int_equal(json_array_size(json_object_get(root, "also_calls")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "does_not_call")), 1);
    assert_int_equal(json_integer_value(json_object_get(root, "call_paths")), 4);
    json_decref(value);
    report.clustering = NULL;
    value = rfn_report_alike_json(&report);
    assert_true(json_is_null(value));
    json_decref(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid),          cmocka_unit_test(test_other_calls),
        cmocka_unit_test(test_without_lines), cmocka_unit_test(test_all_alike),
        cmocka_unit_test(test_any_partners),  cmocka_unit_test(test_json),
        cmocka_unit_test(test_one_sided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
