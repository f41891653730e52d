#include "refrain/shell_word.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *name, *word;
    } of[] = {
        {"runs/app.4.rfn", "runs/app.4.rfn"},
        {"my app.rfn", "'my app.rfn'"},
        {"$x;y", "'$x;y'"},
        {"it's", "'it'\\''s'"},
        {"", "''"},
        {"~x", "'~x'"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        assert_string_equal(rfn_shell_word(of[i].name, text, sizeof text), of[i].word);
}

/* One byte too small: as it is, and nothing behind the text is touched. */
static void test_room(void **state)
{
    (void)state;
    char text[9] = "........";
    const char *name = "a'b";
    assert_string_equal(rfn_shell_word(name, text, 9), "'a'\\''b'");
    assert_ptr_equal(rfn_shell_word(name, text, 8), name);
    assert_ptr_equal(rfn_shell_word(name, text, 0), name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
