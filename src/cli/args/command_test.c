/* What the library's errors become as exit statuses. Messages go to a file in place of standard
 * error, to be looked at. */
#define _POSIX_C_SOURCE 200809L /* dup, dup2, fileno, mkdtemp */
#include "cli/args/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Calls rfn_command_fail; its text goes to `text`. */
static int fail_to(const char *file, int error, const struct rfn_diag *diag, char *text,
                   size_t size)
{
    FILE *catcher = tmpfile();
    assert_non_null(catcher);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    dup2(fileno(catcher), STDERR_FILENO);
    int status = rfn_command_fail(file, error, diag);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(catcher);
    size_t n = fread(text, 1, size - 1, catcher);
    text[n] = 0;
    fclose(catcher);
    return status;
}

static void test_status(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(fail_to("x", RFN_E_USAGE, NULL, text, sizeof text), 2);
    assert_int_equal(fail_to("x", RFN_E_CORRUPT, NULL, text, sizeof text), 3);
    assert_int_equal(fail_to("x", RFN_E_INCOMPLETE, NULL, text, sizeof text), 3);
    assert_int_equal(fail_to("x", RFN_E_VERSION, NULL, text, sizeof text), 3);
    assert_int_equal(fail_to("x", RFN_E_IO, NULL, text, sizeof text), 1);
    assert_int_equal(fail_to("x", RFN_E_NOMEM, NULL, text, sizeof text), 1);
}

static void test_text(void **state)
{
    (void)state;
    char text[256];
    struct rfn_diag diag = {.text = ""};
    fail_to("a.rfn", RFN_E_CORRUPT, &diag, text, sizeof text);
    assert_string_equal(text, "refrain: a.rfn: the data are damaged\n");
    strcpy(diag.text, "chunk 3 at 4096 is damaged");
    fail_to("a.rfn", RFN_E_CORRUPT, &diag, text, sizeof text);
    assert_string_equal(text, "refrain: a.rfn: chunk 3 at 4096 is damaged\n");
    strcpy(diag.text, "a.rfn: chunk 3 is damaged");
    fail_to("a.rfn", RFN_E_CORRUPT, &diag, text, sizeof text);
    assert_string_equal(text, "refrain: a.rfn: chunk 3 is damaged\n");
    fail_to(NULL, RFN_E_NOMEM, NULL, text, sizeof text);
    assert_string_equal(text, "refrain: out of memory\n");
}

/* "a[1].rfn" is not there, "a[1].rank3.rfn" is; the name's own brackets are no pattern. */
static void test_rank_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/refrain-command-XXXXXX", file[64], left[64], text[512], wanted[256];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/a[1].rfn", folder);
    snprintf(left, sizeof left, "%s/a[1].rank3.rfn", folder);
    fail_to(file, RFN_E_IO, NULL, text, sizeof text);
    assert_null(strstr(text, "aborted"));
    fclose(fopen(left, "w"));
    snprintf(wanted, sizeof wanted,
             "refrain: but the run was aborted and left %s, the archive of one rank\n", left);
    assert_int_equal(fail_to(file, RFN_E_IO, NULL, text, sizeof text), 1);
    assert_non_null(strstr(text, wanted));
    fail_to(left, RFN_E_IO, NULL, text, sizeof text);
    assert_null(strstr(text, "aborted"));
    fail_to(file, RFN_E_CORRUPT, NULL, text, sizeof text);
    assert_null(strstr(text, "aborted"));
    unlink(left);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_rank_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
