/* Comparing out of memory: of all allocations each fails once; it says so and leaves nothing
 * behind. */
#include "refrain/compare.h"

#include "analyze/fake_paths.h"
#include "base/failing_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct rfn_archive reduced;

/* Ranks wait for the last one, in both archives for another one. */
static void write_run(uint32_t late)
{
    fake_reset();
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, BARRIER, 0, i == late ? 900 : 100, 1000, 0);
}

static int run(void)
{
    struct rfn_comparison *comparison;
    struct rfn_diag diag;
    int error = rfn_comparison_new(&fake, &reduced, NULL, NULL, &comparison, NULL, &diag);
    if (!error)
        assert_int_equal(comparison->n_changes, 2);
    rfn_comparison_free(comparison);
    return error;
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    write_run(1);
    reduced = fake; /* words are those of `fake`: a barrier's, equal in both */
    write_run(3);
    failing = UINT64_MAX;
    assert_int_equal(run(), 0);
    allocations = 0;
    assert_int_equal(run(), 0);
    uint64_t n = allocations;
    int64_t before = alive;
    assert_true(n > 100);
    for (uint64_t at = 0; at < n; at++) {
        allocations = 0;
        failing = at;
        assert_int_equal(run(), RFN_E_NOMEM);
        assert_int_equal(alive, before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
