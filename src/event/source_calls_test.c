/* Calls of the test's own functions, at lines that it knows. The build optimizes tests, so that
 * there are call sites; where it does not, or makes little debug information as with sanitizers,
 * nothing is told. */
#define _GNU_SOURCE /* dladdr1 */
#include "event/source_calls.h"

#include "support/own_module.h"

#include <limits.h>
#include <stdlib.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED
#endif
#if defined __OPTIMIZE__ && !defined SANITIZED
#define CALL_SITES
#endif

static volatile int sink;

__attribute__((noinline)) static const void *here(void)
{
    return __builtin_return_address(0);
}

__attribute__((noinline)) static void smooth(int n)
{
    sink += n;
}

__attribute__((noinline)) static void move(int n)
{
    sink -= n;
}

__attribute__((noinline, noreturn)) static void give_up(void)
{
    exit(1);
}

static inline __attribute__((always_inline)) int half(int n)
{
    return n / 2;
}

enum { FIRST_LINE = __LINE__ + 4 };

__attribute__((noinline)) static const void *caller(int n, void (*pointed)(int))
{
    smooth(n);
    const void *address = NULL;
    for (int i = 0; i < n; i++) {
        move(half(i));
        address = here();
        pointed(i);
    }
    if (sink == 4711)
        give_up();
    free(malloc((size_t)n));
    sink += getenv("HOME") != NULL;
    return address;
}

static unsigned budget = 1 << 16;

static void find(const void *address, struct rfn_source_calls *calls, size_t level,
                 struct rfn_symbolizer *symbolizer)
{
    char path[PATH_MAX];
    uint8_t id[20];
    struct rfn_source sources[RFN_SOURCES_MAX];
    const uint64_t at = own_address(address);
    assert_non_null(realpath("/proc/self/exe", path));
    const size_t size = build_id_of(path, id);
    int module = rfn_symbolizer_module(symbolizer, path, size ? id : NULL, size);
    rfn_symbolizer_find(symbolizer, module, at - 1, sources);
    assert_int_equal(rfn_symbolizer_calls(symbolizer, module, at - 1, level,
                                          sources[0].file ? sources[0].file : "", &budget, calls),
                     0);
}

static const struct rfn_source_call *named(const struct rfn_source_calls *calls, const char *name)
{
    for (size_t i = 0; i < calls->n; i++) {
        const char *function = calls->calls[i].function;
        if (function && name ? strcmp(function, name) == 0 : function == name)
            return &calls->calls[i];
    }
    return NULL;
}

static void expect_line(const struct rfn_source_calls *calls, const char *name, uint32_t line)
{
    const struct rfn_source_call *call = named(calls, name);
    assert_non_null(call);
    assert_int_equal(call->line, line);
    assert_false(call->inlined);
    assert_int_equal(call->library, name && strcmp(name, "getenv") == 0);
}

static void test_calls(void **state)
{
    static struct rfn_source_calls calls;
    struct rfn_symbolizer *symbolizer = rfn_symbolizer_new();
    (void)state;
    const void *address = caller(3, sink ? smooth : move);
    find(address, &calls, 0, symbolizer);
#ifdef CALL_SITES
    assert_true(calls.n > 0);
#endif
    if (calls.n > 0) {
        expect_line(&calls, "smooth", FIRST_LINE);
        expect_line(&calls, "move", FIRST_LINE + 3);
        expect_line(&calls, "here", FIRST_LINE + 4);
        expect_line(&calls, NULL, FIRST_LINE + 5);
        expect_line(&calls, "getenv", FIRST_LINE + 10);
        assert_null(named(&calls, "give_up")); /* does not return */
        assert_null(named(&calls, "malloc"));
        assert_null(named(&calls, "half")); /* a few instructions */
        for (size_t i = 1; i < calls.n; i++)
            assert_true(calls.calls[i - 1].line <= calls.calls[i].line);
        assert_true(calls.n_loops > 0);
        bool found = false; /* one with the head, or from the first call on */
        for (size_t i = 0; i < calls.n_loops; i++)
            found |= calls.loops[i].first >= FIRST_LINE + 2 &&
                     calls.loops[i].first <= FIRST_LINE + 3 &&
                     calls.loops[i].last == FIRST_LINE + 5;
        assert_true(found);
    }
    find(address, &calls, 1, symbolizer); /* it is not inlined into another one */
    assert_int_equal(calls.n, 0);
    budget = 3; /* too few for the function; then none is left */
    find(address, &calls, 0, symbolizer);
    find(address, &calls, 0, symbolizer);
    assert_int_equal(calls.n, 0);
#ifdef CALL_SITES
    assert_int_equal(budget, 0);
#endif
    rfn_symbolizer_free(symbolizer);
}

static void test_nothing(void **state)
{
    static struct rfn_source_calls calls;
    struct rfn_symbolizer *symbolizer = rfn_symbolizer_new();
    (void)state;
    calls.n = calls.n_loops = 7;
    assert_int_equal(rfn_symbolizer_calls(symbolizer, -1, 1, 0, "a.c", &budget, &calls), 0);
    assert_int_equal(calls.n + calls.n_loops, 0);
    int module = rfn_symbolizer_module(symbolizer, "/no/such/file", NULL, 0);
    assert_int_equal(rfn_symbolizer_calls(symbolizer, module, 1, 0, "a.c", &budget, &calls), 0);
    assert_int_equal(calls.n + calls.n_loops, 0);
    rfn_symbolizer_free(symbolizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
