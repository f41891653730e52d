#define _POSIX_C_SOURCE 200809L /* gethostname, setenv */
#include "cli/launch/output_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const settings[] = {"OMPI_COMM_WORLD_SIZE",
                                       "PMI_SIZE",
                                       "SLURM_NTASKS",
                                       "SLURM_JOB_ID",
                                       "PBS_JOBID",
                                       "LSB_JOBID",
                                       "JOB_ID",
                                       "FLUX_JOB_ID",
                                       "OAR_JOB_ID"};

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        unsetenv(settings[i]);
    return 0;
}

static void expect(const char *pattern, const char *wanted)
{
    char *name;
    struct rfn_diag diag;
    assert_int_equal(rfn_output_name(pattern, "/opt/bin/solve 100%", &name, &diag), 0);
    assert_string_equal(name, wanted);
    free(name);
    assert_int_equal(rfn_output_name(pattern, NULL, NULL, &diag), 0);
}

static void expect_wrong(const char *pattern, const char *why, bool is_wrong_form)
{
    char *name;
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    assert_int_equal(rfn_output_name(pattern, "a", &name, &diag), RFN_E_USAGE);
    assert_null(name);
    assert_non_null(strstr(diag.text, why));
    assert_int_equal(rfn_output_name(pattern, NULL, NULL, &diag), is_wrong_form ? RFN_E_USAGE : 0);
}

static void test_values(void **state)
{
    (void)state;
    char host[256] = "", wanted[600];
    expect("x.rfn", "x.rfn");
    expect("", "");
    expect("%e.%r.rfn", "solve 100%.1.rfn");
    expect("100%%/%%r", "100%/%r");
    gethostname(host, sizeof host - 1);
    snprintf(wanted, sizeof wanted, "%s-%ld", host, (long)getppid());
    expect("%h-%j", wanted);
}

static void test_of_the_environment(void **state)
{
    (void)state;
    setenv("PMI_SIZE", "12", 1);
    setenv("PBS_JOBID", "77.head", 1);
    setenv("REFRAIN_TEST_NAME", "a/%r", 1);
    setenv("REFRAIN_TEST_EMPTY", "", 1);
    expect("%{REFRAIN_TEST_NAME}.%r.%j", "a/%r.12.77.head"); /* values are not looked into */
    expect("x%{REFRAIN_TEST_EMPTY}y", "xy");
    setenv("SLURM_JOB_ID", "5", 1);
    expect("%j", "5");
    set_up(state);
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    expect_wrong("a%", "at '%'", true);
    expect_wrong("a%x.rfn", "at '%x.rfn'", true);
    expect_wrong("a%R.rfn", "at '%R.rfn'", true);
    expect_wrong("a%{", "at '%{'", true);
    expect_wrong("a%{}", "at '%{}'", true);
    expect_wrong("a%{HOME", "at '%{HOME'", true);
    expect_wrong("a%{REFRAIN_TEST_NONE}b", "needs %{REFRAIN_TEST_NONE}, which is not set", false);
}

static void test_quoted(void **state)
{
    (void)state;
    char *quoted = rfn_output_quoted("/tmp/50%/%%");
    assert_string_equal(quoted, "/tmp/50%%/%%%%");
    expect(quoted, "/tmp/50%/%%");
    free(quoted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_of_the_environment),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_quoted),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
