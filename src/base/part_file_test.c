/* part_file_test.c - an old file stays until the new one is whole. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "base/part_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/refrain-part-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* Writes where a new file goes. */
static void write_new(bool force, const char *text)
{
    char *part = rfn_part_path(path, force);
    FILE *file = fopen(part, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(part);
}

static void expect(const char *text)
{
    char found[32] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fgets(found, sizeof found, file) != NULL);
    fclose(file);
    assert_string_equal(found, text);
}

static void test_replaced(void **state)
{
    (void)state;
    write_new(false, "old");
    assert_int_equal(rfn_part_place(path, false), 0);
    expect("old");
    write_new(true, "new");
    expect("old");
    assert_int_equal(rfn_part_place(path, true), 0);
    expect("new");
}

static void test_removed(void **state)
{
    (void)state;
    write_new(false, "old");
    write_new(true, "half of the new");
    rfn_part_remove(path, true);
    expect("old");
    assert_int_equal(rfn_part_place(path, true), -1);
    rfn_part_remove(path, false);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A device is written to as it is, and stays. */
static void test_device(void **state)
{
    char *part = rfn_part_path("/dev/null", true);
    (void)state;
    assert_string_equal(part, "/dev/null");
    assert_int_equal(rfn_part_place("/dev/null", true), 0);
    rfn_part_remove("/dev/null", true);
    assert_int_equal(access("/dev/null", F_OK), 0);
    free(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_removed, setup, teardown),
        cmocka_unit_test(test_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
