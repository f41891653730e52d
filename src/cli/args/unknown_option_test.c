#include "cli/args/unknown_option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct argp_option options[] = {
    {"exclude", 'x', "PATTERN", 0, "", 0},
    {"exact", 1000, NULL, 0, "", 0},
    {"level", 1001, "N", OPTION_ARG_OPTIONAL, "", 0},
    {"secret", 1002, NULL, OPTION_HIDDEN, "", 0},
    {0},
};
static const struct rfn_command reads = {.name = "reads", .usage = "FILE", .options = options};
static const struct rfn_command runs = {.name = "runs", .usage = "PROGRAM", .options = options};
static const struct rfn_command bare = {.name = "bare", .usage = "FILE"};

enum { WORDS = 5 };

static const char *unknown(const struct rfn_command *command, const char *const words[WORDS])
{
    static char name[32];
    char *argv[WORDS + 1];
    int argc = 0;
    for (; argc < WORDS && words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    argv[argc] = NULL;
    return rfn_unknown_option(command, argc, argv, name, sizeof name) ? name : NULL;
}

static void test_unknown(void **state)
{
    (void)state;
    const struct {
        const struct rfn_command *command;
        const char *words[WORDS], *unknown;
    } lines[] = {
        {&reads, {"v", "--exclude=a", "--exact", "file"}, NULL},
        {&reads, {"v", "--excl", "-a", "--ex", "--level"}, NULL}, /* beginnings; -a is a value */
        {&reads, {"v", "-x", "-a", "-xa", "-?"}, NULL},
        {&reads, {"v", "--help", "--usage", "--secret"}, NULL},
        {&reads, {"v", "--exlude=a"}, "--exlude"},
        {&reads, {"v", "file", "-z"}, "-z"},
        {&reads, {"v", "-xz", "-yz"}, "-y"}, /* of letters, the first */
        {&reads, {"v", "--exact=a"}, NULL},  /* argp says what is wrong */
        {&reads,
         {"v", "--zxclude-and-much-more-than-there-is-room"},
         "--zxclude-and-much-more-than-th"},
        {&reads, {"v", "--level", "-z"}, "-z"}, /* an optional value is never the next word */
        {&reads, {"v", "--", "-z"}, NULL},
        {&reads, {"v", "-", "--exclude"}, NULL}, /* that its value is missing argp says */
        {&runs, {"v", "--exclude", "a", "program", "-z"}, NULL},
        {&runs, {"v", "-z", "program"}, "-z"},
        {&bare, {"v", "--exact"}, "--exact"},
        {&bare, {"v", "--he"}, NULL},
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *found = unknown(lines[i].command, lines[i].words);
        if (!lines[i].unknown)
            assert_null(found);
        else
            assert_string_equal(found, lines[i].unknown);
    }
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(rfn_nearest_option(&reads, "--exlude"), "exclude");
    assert_string_equal(rfn_nearest_option(&reads, "--lvel"), "level");
    assert_null(rfn_nearest_option(&reads, "--secre"));
    assert_null(rfn_nearest_option(&reads, "--nothing"));
    assert_null(rfn_nearest_option(&reads, "-z"));
    assert_null(rfn_nearest_option(&bare, "--exact"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
