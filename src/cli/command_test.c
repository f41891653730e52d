/* What the library's errors become as exit statuses. Messages go to a file in place of standard
 * error, to be looked at. */
#define _POSIX_C_SOURCE 200809L /* dup, dup2, fileno */
#include "cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
