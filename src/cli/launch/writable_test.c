/* Whether an archive can be written at a place: what the system refuses is known before. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, symlink */
#include "cli/launch/writable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/refrain-writable-XXXXXX";

/* A path in the folder, until the next call. */
static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || symlink("old.rfn", in_folder("link.rfn")) < 0)
        return -1;
    FILE *file = fopen(in_folder("old.rfn"), "w");
    return file && fclose(file) == 0 && mkdir(in_folder("closed"), 0555) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(in_folder("link.rfn"));
    unlink(in_folder("old.rfn"));
    rmdir(in_folder("closed"));
    return rmdir(folder);
}

static void expect_refused(const char *path, bool replace, int error, const char *why)
{
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    assert_int_equal(rfn_writable(path, replace, &diag), error);
    assert_non_null(strstr(diag.text, path));
    assert_non_null(strstr(diag.text, why));
}

static void test_new_and_old(void **state)
{
    (void)state;
    assert_int_equal(rfn_writable(in_folder("new.rfn"), false, NULL), 0);
    assert_int_equal(rfn_writable(in_folder("new.rfn"), true, NULL), 0);
    assert_int_equal(rfn_writable(in_folder("old.rfn"), false, NULL), 0);
    assert_int_equal(rfn_writable(in_folder("old.rfn"), true, NULL), 0);
    assert_int_equal(access(in_folder("new.rfn"), F_OK), -1); /* nothing is made */
    assert_int_equal(access(in_folder("old.rfn"), F_OK), 0);  /* nor removed */
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    expect_refused(folder, false, RFN_E_USAGE, "a directory");
    expect_refused("/dev/null", true, RFN_E_USAGE, "a device");
    expect_refused(in_folder("link.rfn"), true, RFN_E_USAGE, "a symbolic link");
    assert_int_equal(rfn_writable(in_folder("link.rfn"), false, NULL), 0); /* has another name */
}

static void test_long_name(void **state)
{
    char name[300];
    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    expect_refused(name, false, RFN_E_USAGE, "too long");
    name[255] = 0; /* that many may a name have */
    assert_int_equal(rfn_writable(name, false, NULL), 0);
}

static void test_directories(void **state)
{
    struct rfn_diag diag;
    (void)state;
    expect_refused(in_folder("none/x.rfn"), false, RFN_E_IO, "No such file or directory");
    expect_refused(in_folder("old.rfn/x.rfn"), false, RFN_E_IO, "Not a directory");
    expect_refused("/proc/x.rfn", false, RFN_E_IO, "cannot be written: /proc: ");
    assert_int_equal(rfn_writable_in("/proc", "archive", &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "no archive can be written in /proc: "));
    assert_int_equal(rfn_writable_in(folder, "archive", &diag), 0);
    if (geteuid() != 0)
        expect_refused(in_folder("closed/x.rfn"), false, RFN_E_IO, "Permission denied");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_and_old),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_directories),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
