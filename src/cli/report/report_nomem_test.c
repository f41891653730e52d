/* Pages and JSON out of memory: of all allocations each fails once, and either it is told or
 * nothing is lacking. */
#include "cli/report/report.h"

#include "cli/text/json.h"
#include "cli/text/spread_text.h"
#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a heap that fails: the linker leads allocations here (mk/test.mk) ---- */

static uint64_t allocations, failing = UINT64_MAX; /* so far; the number of the one that fails */
static int64_t alive;                              /* that are not freed */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);

static void *counted(void *memory)
{
    alive += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t size)
{
    return allocations++ == failing ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return allocations++ == failing ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    if (allocations++ == failing)
        return NULL;
    void *more = __real_realloc(memory, size);
    alive += !memory && more;
    return more;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return allocations++ == failing ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory)
{
    alive -= memory != NULL;
    __real_free(memory);
}

/* ---- what is told ---- */

enum { RANKS = 8, NS = 1000000000 };

static struct rfn_profile_rank ranks[RANKS];
static struct rfn_profile_row rows[] = {
    {.function = RECV, .path = EXCHANGE_88, .calls = 9, .time = {.total_ns = NS, .ranks = RANKS}},
    {.function = INIT, .path = MAIN_10, .calls = 8, .time = {.total_ns = NS, .ranks = RANKS}},
    {.function = SEND, .path = EXCHANGE_80, .calls = 9, .bytes = 90}};
static struct rfn_region_row region = {
    .name = "smoothing", .visits = 3, .time = {.total_ns = NS, .ranks = RANKS}};
static struct rfn_pair pairs[] = {{0, 1, 5, 50}, {2, 7, 6, 60}};
static struct rfn_profile profile = {.n_ranks = RANKS,
                                     .times = true,
                                     .end_ns = NS,
                                     .calls = 26,
                                     .ranks = ranks,
                                     .rows = rows,
                                     .n_rows = 3,
                                     .pairs = pairs,
                                     .n_pairs = 2,
                                     .regions = &region,
                                     .n_regions = 1};
static int64_t by_rank[RANKS] = {[4] = NS};
static struct rfn_wait_row row = {RFN_LATE_SENDER, RECV, EXCHANGE_88, 100, NS, NS / 8, by_rank, 0};
static const struct rfn_activity activities[] = {
    {RFN_ACTIVITY_COMPUTE, {RECV, EXCHANGE_88}, {ALLREDUCE, RESIDUAL_12}, RFN_NO_REGION},
    {RFN_ACTIVITY_MPI, {0, 0}, {FILE_WRITE, EVIL}, RFN_NO_REGION}};
static struct rfn_rank_ns late[] = {{3, NS}, {5, NS / 9}};
static struct rfn_cause causes[] = {
    {0, RFN_LATE_SENDER, {RECV, EXCHANGE_88}, NS, NS, late, 2},
    {1, RFN_LATE_SENDER, {RECV, EXCHANGE_88}, NS / 2, NS / 2, late, 1}};
static struct rfn_critical_row critical = {0, NS, 5e8, 5e8};
static struct rfn_waits waits = {.n_ranks = RANKS,
                                 .times = true,
                                 .rows = &row,
                                 .n_rows = 1,
                                 .total_ns = NS,
                                 .activities = (struct rfn_activity *)(uintptr_t)activities,
                                 .n_activities = 2,
                                 .causes = causes,
                                 .n_causes = 2,
                                 .critical = &critical,
                                 .n_critical = 1,
                                 .critical_ns = NS,
                                 .critical_rank = 3};
static uint32_t many_paths[] = {RECV, EXCHANGE_88, SEND, EXCHANGE_80},
                few_paths[] = {RECV, EXCHANGE_88};
static struct rfn_rank_block blocks[] = {
    {.start = 0, .n_dimensions = 1, .dimensions = {{.stride = 1, .count = 5}}},
    {.start = 5, .n_dimensions = 1, .dimensions = {{.stride = 1, .count = 3}}}};
static const struct rfn_main_cluster mains[] = {
    {.paths = many_paths, .n_paths = 2, .blocks = &blocks[0], .n_blocks = 1},
    {.paths = few_paths, .n_paths = 1, .blocks = &blocks[1], .n_blocks = 1}};
static const struct rfn_clustering clustering = {mains, 2, 2, 2};
static struct rfn_report report;
static const uint64_t bins[] = {3, 6};
static const uint32_t streams[] = {0, 1, 2, 5};
#define SPREAD                                    \
    {                                             \
        9, NS / 8, NS, NS / 4, NS / 9, bins, 1, 2 \
    }
static const struct rfn_position_spread positions[] = {
    {0, RECV, EXCHANGE_88, RFN_AFTER_SITE, SEND, EXCHANGE_80, false, SPREAD, SPREAD},
    {0, TEST, EXCHANGE_80, RFN_AFTER_REST, 0, 0, true, SPREAD, SPREAD},
    {.function = INIT, .path = MAIN_10, .duration = SPREAD}};
static char *whole; /* what comes when nothing fails */

/* ---- the spreads of an archive ---- */

bool rfn_time_spreads_kept(const struct rfn_time_spreads *spreads)
{
    (void)spreads;
    return true;
}

uint32_t rfn_time_spreads_clusters(const struct rfn_time_spreads *spreads)
{
    (void)spreads;
    return 1;
}

struct rfn_spread_cluster rfn_time_spreads_cluster(const struct rfn_time_spreads *spreads,
                                                   uint32_t cluster)
{
    (void)spreads, (void)cluster;
    return (struct rfn_spread_cluster){streams, 4, 4};
}

const struct rfn_position_spread *rfn_time_spreads_positions(const struct rfn_time_spreads *spreads,
                                                             size_t *n)
{
    (void)spreads;
    *n = sizeof positions / sizeof *positions;
    return positions;
}

/* ---- each allocation fails once ---- */

/* Text that is not failed; it is released. */
static void compare(struct rfn_text *text)
{
    const char *found = rfn_text_terminated(text);
    if (!whole)
        whole = __real_malloc(text->n + 1), strcpy(whole, found);
    assert_string_equal(found, whole);
}

/* False: it was told that memory ran out. */
static bool print_page(void (*append)(struct rfn_text *out))
{
    struct rfn_text text = {0};
    append(&text);
    rfn_text_char(&text, '\n');
    bool failed = text.failed;
    if (!failed)
        compare(&text);
    rfn_text_release(&text);
    return !failed;
}

static bool print_json(json_t *(*make)(void))
{
    rfn_json_init();
    json_t *value = make();
    char *text = value ? json_dumps(value, JSON_INDENT(1)) : NULL;
    bool failed = !text || rfn_json_failed();
    json_decref(value);
    if (!failed) {
        struct rfn_text line = {.data = text, .n = strlen(text), .capacity = strlen(text) + 1};
        compare(&line);
    }
    free(text);
    return !failed;
}

static void report_page(struct rfn_text *out)
{
    rfn_report_text(out, &report);
}

static json_t *report_json(void)
{
    return rfn_report_json(&report);
}

static void spread_page(struct rfn_text *out)
{
    rfn_spread_append(out, &fake, NULL, 2);
}

/* As a member, which is not set without a value. */
static json_t *spread_json(void)
{
    json_t *value = json_object();
    json_object_set_new(value, "spread", rfn_json_spread(&fake, NULL, 3));
    return value;
}

static bool make_page(void)
{
    return print_page(report_page);
}

static bool make_json(void)
{
    return print_json(report_json);
}

static bool make_spread_page(void)
{
    return print_page(spread_page);
}

static bool make_spread_json(void)
{
    return print_json(spread_json);
}

static void fail_each(bool (*make)(void))
{
    int64_t before = alive;
    whole = NULL;
    allocations = 0;
    assert_true(make());
    uint64_t n = allocations, did_without = 0;
    for (uint64_t at = 0; at < n; at++) {
        allocations = 0;
        failing = at;
        did_without += make();
        failing = UINT64_MAX;
        assert_int_equal(alive, before);
    }
    assert_true(n > 10 && did_without < n / 2);
    __real_free(whole);
}

static void test_page(void **state)
{
    (void)state;
    fail_each(make_page);
    report.width = 20; /* no room for a matrix */
    fail_each(make_page);
}

static void test_json(void **state)
{
    (void)state;
    fail_each(make_json);
}

static void test_spread(void **state)
{
    (void)state;
    fail_each(make_spread_page);
    fail_each(make_spread_json);
}

static struct rfn_sample_row sample_rows[] = {
    {.key = {0, 1, 1, RFN_SAMPLE_NO_SITE, 4}, .messages = 10, .bytes = 80},
    {.key = {0, 1, 1, 2, 4}, .n = 2, .weight = 2, .weight2 = 2, .mean_ns = 9, .buckets = {2}},
    {.key = {0, RFN_SAMPLE_COLLECTIVE, 3, RFN_SAMPLE_NO_SITE, 0}, .messages = 5}};
static struct rfn_sample sample = {.source = 0, .dest = 1, .send = 1, .receive = 2, .weight = 1};
static struct rfn_samples samples = {.known = true,
                                     .analysis = RFN_SAMPLE_WRITE,
                                     .strategy = "random:0.2",
                                     .messages = 10,
                                     .sampled = 2,
                                     .dropped = {1},
                                     .rows = sample_rows,
                                     .n_rows = 3,
                                     .samples = &sample,
                                     .n_samples = 1};

static int setup(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RANKS; i++)
        ranks[i] = (struct rfn_profile_rank){.mpi_ns = NS / (i + 2), .span_ns = NS, .threads = 1};
    rfn_profile_take_whole(&profile);
    fake_cores = 2;
    report = (struct rfn_report){.file = "fake.rfn",
                                 .archive = &fake,
                                 .run = &fake.run,
                                 .profile = &profile,
                                 .waits = &waits,
                                 .clustering = &clustering,
                                 .samples = &samples,
                                 .all_samples = &samples,
                                 .efficiency = rfn_profile_efficiency(&profile),
                                 .top = 15,
                                 .width = 100};
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_page, setup),
                                       cmocka_unit_test_setup(test_json, setup),
                                       cmocka_unit_test_setup(test_spread, setup)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
