/* Where the time is lost, in words. */
#include "refrain/explain.h"
#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* What follows "Parallel efficiency 50.0 %: ". */
static void expect_verdict(double efficiency, struct rfn_losses losses, const char *expected)
{
    const struct rfn_measured run = {.archive = &fake, .efficiency = {.parallel = efficiency}};
    const struct rfn_verdict verdict = {.losses = losses};
    struct rfn_text text = {0};
    char sentence[256];
    rfn_verdict_append(&text, &run, &verdict);
    snprintf(sentence, sizeof sentence, "Parallel efficiency%s %s: %s.",
             losses.missing ? " of the ranks in this archive" : "", rfn_share_text(efficiency).text,
             expected);
    assert_string_equal(rfn_text_terminated(&text), sentence);
    rfn_text_release(&text);
}

static void test_verdicts(void **state)
{
    (void)state;
    expect_verdict(0.99, (struct rfn_losses){.uneven = 1},
                   "almost none of the ranks' time is lost");
    expect_verdict(0.62, (struct rfn_losses){.uneven = 30, .transfer = 8},
                   "more than a third of the ranks' time is lost, most of it by waiting for ranks "
                   "that have more work");
    expect_verdict(0.62, (struct rfn_losses){.uneven = 30, .transfer = 8, .even = true},
                   "more than a third of the ranks' time is lost, most of it by waiting for ranks "
                   "that still compute");
    expect_verdict(0.5, (struct rfn_losses){.uneven = 10, .transfer = 15, .others = 10},
                   "about half of the ranks' time is lost, the largest part of it by transfer "
                   "(time in MPI calls without waiting)");
    expect_verdict(0.5, (struct rfn_losses){.uneven = 10, .transfer = 15, .missing = true},
                   "about half of the ranks' time is lost, most of it in MPI calls, which may have "
                   "waited for ranks that are missing");
    expect_verdict(0.1, (struct rfn_losses){.transfer = 5, .outside = 15, .threads = true},
                   "most of the ranks' time is lost, most of it before the first or after the last "
                   "MPI call of a thread");
    expect_verdict(0, (struct rfn_losses){0}, "nearly all of the ranks' time is lost");
    expect_verdict(1.5, (struct rfn_losses){0}, "almost none of the ranks' time is lost");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
