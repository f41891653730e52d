/* Processes that are compared out of memory: of all allocations of a rank each fails once; that is
 * said, by those who need what is missing, and nothing is left behind. */
#include "reduce/merge/process_groups.h"

#include "support/fake_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

static const struct fake_stream plain = {
    .begin = 1000, .unit = 1, .work = 5000, .wait = 300, .slow = 90, .steps = 30};

static struct rfn_stream_profile *profiles[3];
static struct rfn_criterion criterion;

/* What another rank would say. */
static uint8_t above[1 << 16], below[1 << 16];
static size_t n_above, n_below;

static int take(void *context, int to, const void *bytes, size_t size)
{
    (void)to;
    size_t *n = context;
    assert_true(size <= sizeof above);
    memcpy(n == &n_above ? above : below, bytes, *n = size);
    return 0;
}

static int give(void *context, int from, struct rfn_buf *bytes)
{
    (void)from;
    const size_t *n = context;
    rfn_buf_bytes(bytes, n == &n_above ? below : above, n == &n_above ? n_below : n_above);
    return rfn_buf_status(bytes);
}

/* The streams of one of two ranks: two that are alike and one that is not. */
static int run_rank(const void *of)
{
    int rank = *(const int *)of;
    struct rfn_exchange exchange = {.rank = rank,
                                    .size = 2,
                                    .context = rank ? (void *)&n_above : &n_below,
                                    .send = take,
                                    .receive = give};
    struct rfn_process_groups groups = {.criterion = &criterion, .max_bytes = 1 << 20};
    const struct rfn_hash128 class_ = {1, 2};
    int error = 0;
    for (uint64_t i = 0; i < 3 && error >= 0; i++)
        error = rfn_time_sets_add(&groups.sets, 3 * (uint64_t)rank + i, class_, profiles[i],
                                  &RFN_TIME_LINE_NS, 0);
    error = rfn_process_groups_run(&groups, &exchange, error < 0 ? error : 0);
    if (!error) {
        assert_int_equal(groups.streams[2], 2);
        assert_int_equal(groups.streams[1], 0);
        assert_int_equal(groups.streams[0], 0);
        assert_true(rank || groups.n_sets == 2);
    }
    rfn_process_groups_release(&groups);
    return error;
}

static void test_ranks(void **state)
{
    (void)state;
    struct fake_stream slower = plain;
    slower.work += 2000;
    failing = UINT64_MAX;
    assert_int_equal(rfn_criterion_parse("absDiff:1", true, &criterion, NULL), 0);
    for (int i = 0; i < 3; i++) {
        profiles[i] = fake_profile(i == 2 ? &slower : &plain, "absDiff:0");
        assert_non_null(profiles[i]);
    }
    /* Rank 1 first, with an answer that says nothing, so that rank 0 has what it sends. */
    n_below = 1;
    below[0] = 1;
    assert_int_equal(run_rank(&(int){1}), RFN_E_EXCHANGE);
    fail_each(30, run_rank, &(int){0});
    assert_int_equal(run_rank(&(int){0}), 0); /* after the last failure its answer is one again */
    fail_each(30, run_rank, &(int){1});
    for (int i = 0; i < 3; i++)
        rfn_stream_profile_free(profiles[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
