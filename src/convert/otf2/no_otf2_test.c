/* A build without libotf2 says what is missing. The functions are those of no_otf2.c, whatever the
 * library has. */
#include "convert/otf2/no_otf2.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_package_is_named(void **state)
{
    struct rfn_otf2_summary summary;
    struct rfn_diag diag = {0};
    (void)state;
    assert_false(rfn_otf2_available());
    assert_int_equal(rfn_otf2_read("traces.otf2", "a.rfn", false, NULL, NULL, &summary, &diag),
                     RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "libopen-trace-format2-dev"));
    memset(&diag, 0, sizeof diag);
    assert_int_equal(rfn_otf2_write(NULL, "folder", false, NULL, &summary, &diag),
                     RFN_E_UNSUPPORTED);
    assert_non_null(strstr(diag.text, "libopen-trace-format2-dev"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_package_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
