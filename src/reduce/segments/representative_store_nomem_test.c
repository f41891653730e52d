/* The store out of memory: of all its allocations each fails once; it says so, and leaves nothing
 * behind. */
#include "reduce/segments/representative_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fail_each.h"

/* Puts in what makes trees, kinds and contexts, and reaches the limit. */
static int fill(struct rfn_representative_store *store)
{
    const uint32_t events[2] = {1, 2};
    for (int64_t i = 0; i < 120; i++) {
        uint32_t number;
        int64_t vector[6] = {0, 1, 2 + i * 100, 3 + i * 100, 4 + i * 100, 5 + i * 100};
        struct rfn_segment segment = {.context = (uint32_t)(i % 3 / 2),
                                      .events = events,
                                      .n = 1 + (size_t)(i % 2),
                                      .roles = RFN_ROLE_SENDS,
                                      .vector = vector};
        RFN_TRY(rfn_representative_store_put(store, &segment, &number));
    }
    RFN_TRY(rfn_representative_store_widen(store));
    rfn_representative_store_finish(store);
    return 0;
}

static int run(const void *text)
{
    struct rfn_representative_store_options options = {.max_per_kind = 36};
    assert_int_equal(rfn_criterion_parse(text, false, &options.criterion, NULL), 0);
    struct rfn_representative_store *store = rfn_representative_store_new(&options);
    if (!store)
        return RFN_E_NOMEM;
    int error = fill(store);
    rfn_representative_store_free(store);
    return error;
}

static void test_store(void **state)
{
    (void)state;
    const char *criteria[] = {"avgWave:0", "absDiff:0.1", "iterK:3:centroid", "iterAvg",
                              "jitter:1e-9"};
    for (size_t i = 0; i < sizeof criteria / sizeof *criteria; i++)
        assert_int_equal(fail_each(10, run, criteria[i]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_store)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
