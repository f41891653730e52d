/* Progress is a share, whatever is told. */
#define _XOPEN_SOURCE 700
#include "cli/text/terminal.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static int shown(double share)
{
    struct rfn_progress progress = {.what = "checking", .start = 1, .percent = -1};
    rfn_progress_show(&progress, share);
    rfn_progress_done(&progress);
    return progress.percent;
}

static void test_shares(void **state)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY), before = dup(STDERR_FILENO);
    (void)state;
    if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
        skip();
    int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(other >= 0);
    dup2(other, STDERR_FILENO);
    int half = shown(0.5), all = shown(1), huge = shown(1e300), infinite = shown(INFINITY),
        none = shown(NAN);
    dup2(before, STDERR_FILENO);
    close(other), close(terminal), close(before);
    assert_int_equal(half, 50);
    assert_int_equal(all, 100);
    assert_int_equal(huge, 100);
    assert_int_equal(infinite, 100);
    assert_int_equal(none, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
