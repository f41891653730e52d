/* fail_each.h - has each allocation of a piece of work fail once.
 *
 * To be included after cmocka.h by a test program whose name ends in _nomem_test.c.
 */
#ifndef RFN_TESTS_SUPPORT_FAIL_EACH_H
#define RFN_TESTS_SUPPORT_FAIL_EACH_H

#include "refrain/error.h"

#include "support/failing_heap.h"

/* Returns 0 or RFN_E_NOMEM. */
typedef int fail_each_work(const void *of);

/* Works with allocation `at` failing (UINT64_MAX: none), which leaves nothing behind. Returns what
 * the work does. */
static inline int fail_at(uint64_t at, fail_each_work *work, const void *of)
{
    int64_t alive_before = alive;
    size_t heap_before = heap;
    allocations = 0;
    failing = at;
    int error = work(of);
    failing = UINT64_MAX;
    assert_true(error == 0 || (error == RFN_E_NOMEM && at < UINT64_MAX));
    assert_int_equal(alive, alive_before);
    assert_int_equal(heap, heap_before);
    return error;
}

/* Has each of more than `least` allocations fail once. Returns how many the work did without. */
static inline uint64_t fail_each(uint64_t least, fail_each_work *work, const void *of)
{
    fail_at(UINT64_MAX, work, of);
    uint64_t n = allocations, did_without = 0;
    assert_true(n > least);
    for (uint64_t at = 0; at < n; at++)
        did_without += fail_at(at, work, of) == 0;
    assert_true(did_without < n / 2);
    return did_without;
}

#endif
