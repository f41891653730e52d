/* Caches are built here byte by byte from the description in library_search.c, whole, behind an
 * older cache, and damaged. */
#include "cli/launch/library_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEADER = 48, ENTRY = 24, SIZE = 1024 };

static const char *const pairs[][2] = {
    {"libone.so.1", "/lib/libone.so.1"},
    {"libtwo.so.2", "/lib/a/libtwo.so.2"},
    {"libtwo.so.2", "/lib/b/libtwo.so.2"},
};

enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static void put(uint8_t *where, uint32_t value)
{
    memcpy(where, &value, sizeof value);
}

/* Writes a cache behind `before` bytes of something else; returns its whole size. */
static size_t build(uint8_t *bytes, size_t before)
{
    memset(bytes, 0x55, before);
    uint8_t *cache = bytes + before;
    memset(cache, 0, HEADER + PAIRS * ENTRY);
    memcpy(cache, "glibc-ld.so.cache1.1", 20);
    put(cache + 20, PAIRS);
    size_t at = HEADER + PAIRS * ENTRY;
    for (size_t i = 0; i < PAIRS; i++) {
        for (size_t k = 0; k < 2; k++) {
            put(cache + HEADER + i * ENTRY + 4 + 4 * k, (uint32_t)at);
            strcpy((char *)cache + at, pairs[i][k]);
            at += strlen(pairs[i][k]) + 1;
        }
    }
    put(cache + 24, (uint32_t)(at - HEADER - PAIRS * ENTRY));
    return before + at;
}

static void test_cache(void **state)
{
    (void)state;
    uint8_t bytes[SIZE];
    for (size_t before = 0; before <= 16; before += 16) {
        struct rfn_library_search search = {.cache = bytes, .cache_size = build(bytes, before)};
        assert_string_equal(rfn_library_cached(&search, "libone.so.1", 0), "/lib/libone.so.1");
        assert_string_equal(rfn_library_cached(&search, "libtwo.so.2", 0), "/lib/a/libtwo.so.2");
        assert_string_equal(rfn_library_cached(&search, "libtwo.so.2", 1), "/lib/b/libtwo.so.2");
        assert_null(rfn_library_cached(&search, "libtwo.so.2", 2));
        assert_null(rfn_library_cached(&search, "libtwo.so", 0));
    }
    struct rfn_library_search none = {0};
    assert_null(rfn_library_cached(&none, "libone.so.1", 0));
}

/* Every cut and every changed byte: an answer or none, but never a look beyond the end, which the
 * sanitized run of this test would see in memory of exactly that size. */
static void test_damaged_cache(void **state)
{
    (void)state;
    uint8_t bytes[SIZE];
    size_t size = build(bytes, 0);
    for (size_t cut = 1; cut <= size; cut++) {
        uint8_t *copy = malloc(cut);
        assert_non_null(copy);
        memcpy(copy, bytes, cut);
        struct rfn_library_search search = {.cache = copy, .cache_size = cut};
        for (size_t n = 0; rfn_library_cached(&search, "libtwo.so.2", n); n++)
            assert_true(n < PAIRS);
        free(copy);
    }
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    for (size_t i = 0; i < size; i++) {
        memcpy(copy, bytes, size);
        copy[i] ^= 0xff;
        struct rfn_library_search search = {.cache = copy, .cache_size = size};
        for (size_t n = 0; rfn_library_cached(&search, "libtwo.so.2", n); n++)
            assert_true(n < size);
    }
    free(copy);
}

static void expect(const char *directory, const char *file, const char *path)
{
    char *expanded = rfn_library_expand(directory, strlen(directory), file, "lib.so");
    if (path)
        assert_string_equal(expanded, path);
    else
        assert_null(expanded);
    free(expanded);
}

static void test_expand(void **state)
{
    (void)state;
    expect("/usr/lib", "/bin/app", "/usr/lib/lib.so");
    expect("$ORIGIN", "/opt/bin/app", "/opt/bin/lib.so");
    expect("$ORIGIN/../lib", "/opt/bin/app", "/opt/bin/../lib/lib.so");
    expect("${ORIGIN}/lib", "/opt/bin/app", "/opt/bin/lib/lib.so");
    expect("$ORIGIN/lib", "app", "./lib/lib.so");
    expect("", "/opt/bin/app", "./lib.so");
    expect("/usr/$LIB", "/opt/bin/app", NULL);
    expect("$PLATFORM", "/opt/bin/app", NULL);
}

/* The C library is found for this very program. */
static void test_find(void **state)
{
    (void)state;
    struct rfn_library_search search;
    struct rfn_elf_file self;
    rfn_library_search_init(&search, "/etc/ld.so.cache");
    assert_int_equal(rfn_elf_file_read(&self, "/proc/self/exe"), 0);
    assert_true(self.native);
    assert_true(self.dynamic);
    struct rfn_loaded by = {.file = &self};
    char *path = rfn_library_find(&search, &by, "libc.so.6");
    assert_non_null(path);
    struct rfn_elf_file libc;
    assert_int_equal(rfn_elf_file_read(&libc, path), 0);
    assert_string_equal(libc.soname, "libc.so.6");
    static const char *const names[] = {"no_such_function", "printf", NULL};
    assert_int_equal(rfn_elf_file_defines(path, names), 1);
    assert_null(rfn_library_find(&search, &by, "libno-such-library.so.7"));
    rfn_elf_file_release(&libc);
    rfn_elf_file_release(&self);
    rfn_library_search_release(&search);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_damaged_cache),
        cmocka_unit_test(test_expand),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
