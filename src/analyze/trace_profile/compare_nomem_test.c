/* Comparing out of memory: of all allocations each fails once; it says so and leaves nothing
 * behind. */
#include "refrain/compare.h"

#include "support/fake_paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

static struct rfn_archive reduced;

/* Ranks wait for the last one, in both archives for another one. */
static void write_run(uint32_t late)
{
    fake_reset();
    for (uint32_t i = 0; i < 4; i++)
        EVENT(i, BARRIER, 0, i == late ? 900 : 100, 1000, 0);
}

static int run(const void *of)
{
    (void)of;
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
    assert_int_equal(run(NULL), 0); /* what is made once */
    assert_int_equal(fail_each(100, run, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
