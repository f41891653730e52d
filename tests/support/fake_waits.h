/* fake_waits.h - the waits of a made-up archive (fake_archive.h), and what tests look at of them.
 * For one test program each; FAKE_EVENTS is defined before.
 */
#ifndef RFN_TESTS_SUPPORT_FAKE_WAITS_H
#define RFN_TESTS_SUPPORT_FAKE_WAITS_H

#include "refrain/waits.h"

#include "support/fake_archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { PLAIN = RFN_BUFFER_PLAIN, BYTE = 0, WORLD = 0, SUM = 0, AS = RFN_AS_POSTED, SIZE = 1000 };
#define RECENT(distance) ((distance)*4 + RFN_REQUEST_RECENT)
#define SLOT(slot)       ((slot)*4 + RFN_REQUEST_SLOT)

static struct rfn_waits *waits;

__attribute__((unused)) static int setup(void **state)
{
    (void)state;
    fake_reset();
    waits = NULL;
    return 0;
}

__attribute__((unused)) static int teardown(void **state)
{
    (void)state;
    rfn_waits_free(waits);
    return 0;
}

/* ---- what is looked at ---- */

__attribute__((unused)) static int64_t sum_of_causes(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_causes; i++) {
        int64_t ranks = 0;
        for (uint32_t k = 0; k < waits->causes[i].n_ranks; k++)
            ranks += waits->causes[i].ranks[k].ns;
        assert_int_equal(ranks, waits->causes[i].total_ns);
        assert_in_range(waits->causes[i].direct_ns, 0, waits->causes[i].total_ns);
        sum += ranks;
    }
    return sum;
}

__attribute__((unused)) static int64_t sum_of_path(void)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_critical; i++)
        sum += waits->critical[i].ns;
    return sum;
}

__attribute__((unused)) static void run_with(const struct rfn_waits_options *options)
{
    struct rfn_diag diag;
    rfn_waits_free(waits);
    assert_int_equal(rfn_waits_new(&fake, options, NULL, NULL, &waits, &diag), 0);
    assert_int_equal(sum_of_causes(), waits->total_ns - waits->unexplained_ns);
    assert_int_equal(sum_of_path(), waits->critical_ns);
}

__attribute__((unused)) static void run_as(bool fix_clocks)
{
    run_with(&(const struct rfn_waits_options){.fix_clocks = fix_clocks});
}

__attribute__((unused)) static void run(void)
{
    run_as(false);
}

/* What a rank waited in a pattern, in calls of a function. */
__attribute__((unused)) static int64_t waited(enum rfn_pattern pattern, enum fake_function function,
                                              uint32_t rank)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_rows; i++) {
        if (waits->rows[i].pattern == pattern && waits->rows[i].function == (uint32_t)function)
            sum += waits->rows[i].ns_by_rank[rank];
    }
    return sum;
}

/* The same in all calls. */
__attribute__((unused)) static int64_t waited_in(enum rfn_pattern pattern, uint32_t rank)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_rows; i++)
        sum += waits->rows[i].pattern == pattern ? waits->rows[i].ns_by_rank[rank] : 0;
    return sum;
}

/* The waits of all ranks in one pattern, and that there are no others. */
__attribute__((unused)) static void expect_only(enum rfn_pattern pattern,
                                                enum fake_function function, int64_t r0, int64_t r1,
                                                int64_t r2, int64_t r3)
{
    assert_int_equal(waited(pattern, function, 0), r0);
    assert_int_equal(waited(pattern, function, 1), r1);
    assert_int_equal(waited(pattern, function, 2), r2);
    assert_int_equal(waited(pattern, function, 3), r3);
    assert_int_equal(waits->total_ns, r0 + r1 + r2 + r3);
}

__attribute__((unused)) static bool is_activity(uint32_t activity, enum rfn_activity_kind kind,
                                                enum fake_function at)
{
    const struct rfn_activity *of = &waits->activities[activity];
    return of->kind == kind && (kind == RFN_ACTIVITY_START || of->at.function == (uint32_t)at);
}

/* What a rank's activity cost others; `at` is the call, or that after the computing. */
__attribute__((unused)) static int64_t cost(uint32_t rank, enum rfn_activity_kind kind,
                                            enum fake_function at)
{
    int64_t sum = 0;
    for (size_t i = 0; i < waits->n_causes; i++) {
        const struct rfn_cause *cause = &waits->causes[i];
        for (uint32_t k = 0; k < cause->n_ranks; k++) {
            if (cause->ranks[k].rank == rank && is_activity(cause->activity, kind, at))
                sum += cause->ranks[k].ns;
        }
    }
    return sum;
}

#endif
