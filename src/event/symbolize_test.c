/* The test looks up places in its own code, whose functions and lines it knows, and in the C
 * library, whose symbols the loader knows too. */
#define _GNU_SOURCE /* dladdr1 */
#include "event/symbolize.h"

#include "event/source_calls.h"
#include "support/own_module.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char own_path[PATH_MAX];

static int setup(void **state)
{
    assert_non_null(realpath("/proc/self/exe", own_path));
    *state = rfn_symbolizer_new();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    rfn_symbolizer_free(*state);
    return 0;
}

static int own_module(struct rfn_symbolizer *symbolizer)
{
    uint8_t id[20];
    size_t size = build_id_of(own_path, id);
    return rfn_symbolizer_module(symbolizer, own_path, size ? id : NULL, size);
}

static struct rfn_source innermost(struct rfn_symbolizer *symbolizer, int module, uint64_t address)
{
    struct rfn_source sources[RFN_SOURCES_MAX];
    rfn_symbolizer_find(symbolizer, module, address, sources);
    return sources[0];
}

/* ---- own code ---- */

__attribute__((noinline)) static const void *return_address(void)
{
    return __builtin_return_address(0);
}

static inline __attribute__((always_inline)) const void *inlined_caller(unsigned *line)
{
    *line = __LINE__ + 1;
    return return_address();
}

enum { OUTER_CALL_LINE = __LINE__ + 4 };

__attribute__((noinline)) static const void *outer_caller(unsigned *inner_line)
{
    const void *address = inlined_caller(inner_line);
    __asm__ volatile("" ::: "memory");
    return address;
}

static void test_function_and_line(void **state)
{
    unsigned line = __LINE__ + 1;
    const void *address = return_address();
    int module = own_module(*state);
    struct rfn_source source = innermost(*state, module, own_address(address) - 1);
    assert_string_equal(source.function, "test_function_and_line");
    assert_string_equal(source.file, "event/symbolize_test.c");
    assert_int_equal(source.line, line);
}

static void test_innermost_inlined_function(void **state)
{
    unsigned line;
    const void *address = outer_caller(&line);
    int module = own_module(*state);
    struct rfn_source source = innermost(*state, module, own_address(address) - 1);
    assert_string_equal(source.function, "inlined_caller");
    assert_int_equal(source.line, line);
}

/* The function that the call was inlined into, and where in it, is told too. */
static void test_functions_around_inlined_one(void **state)
{
    unsigned line;
    const void *address = outer_caller(&line);
    struct rfn_source sources[RFN_SOURCES_MAX];
    int module = own_module(*state);
    size_t n = rfn_symbolizer_find(*state, module, own_address(address) - 1, sources);
    assert_int_equal(n, 2);
    assert_string_equal(sources[0].function, "inlined_caller");
    assert_int_equal(sources[0].line, line);
    assert_string_equal(sources[1].function, "outer_caller");
    assert_string_equal(sources[1].file, "event/symbolize_test.c");
    assert_int_equal(sources[1].line, OUTER_CALL_LINE);
    assert_null(sources[2].function);
}

/* Every address of a function resolves to it; what is no code resolves to nothing. */
static void test_ends_of_function(void **state)
{
    int module = own_module(*state);
    uint64_t start = own_address((const void *)(uintptr_t)return_address);
    assert_string_equal(innermost(*state, module, start).function, "return_address");
    assert_null(innermost(*state, module, UINT64_MAX).function);
    assert_null(innermost(*state, module, (uint64_t)1 << 40).function);
    assert_null(innermost(*state, module, 0).file);
    assert_null(innermost(*state, -1, start).function);
    assert_null(innermost(*state, 99, start).function);
}

/* ---- the C library: no debug information in the file itself ---- */

static void test_library_symbols(void **state)
{
    Dl_info info;
    static const char *const names[] = {"qsort", "fopen", "getenv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *address = dlsym(RTLD_DEFAULT, names[i]);
        assert_non_null(address);
        assert_int_not_equal(dladdr(address, &info), 0);
        if (!strstr(info.dli_fname, "libc.so"))
            continue; /* a sanitizer's own */
        uint8_t id[20];
        size_t size = build_id_of(info.dli_fname, id);
        int module = rfn_symbolizer_module(*state, info.dli_fname, size ? id : NULL, size);
        struct rfn_source source = innermost(*state, module, own_address(address) + 1);
        assert_non_null(source.function);
        assert_non_null(strstr(source.function, names[i])); /* or an alias, _IO_fopen */
    }
}

/* ---- files that are not what they should be ---- */

static void expect_nothing(struct rfn_symbolizer *symbolizer, const char *path, const uint8_t *id,
                           size_t size)
{
    int module = rfn_symbolizer_module(symbolizer, path, id, size);
    assert_true(module >= 0);
    uint64_t address = own_address((const void *)(uintptr_t)return_address);
    struct rfn_source source = innermost(symbolizer, module, address);
    assert_null(source.function);
    assert_null(source.file);
    assert_int_equal(source.line, 0);
}

/* What was looked for among the functions of a symbol table. */
struct sought {
    const char *name;
    uint64_t address;
    unsigned found;
    bool visible;
};

static void look(void *context, uint64_t address, const char *name, bool visible)
{
    struct sought *sought = context;
    if (strcmp(name, sought->name) != 0)
        return;
    sought->found++;
    sought->address = address;
    sought->visible = visible;
}

/* Static functions are in the table of the executable, and exported ones. */
static void test_all_functions(void **state)
{
    int module = own_module(*state);
    struct sought own = {.name = "look"}, exported = {.name = "main"}, none = {.name = "no such"};
    rfn_symbolizer_functions(*state, module, look, &own);
    rfn_symbolizer_functions(*state, module, look, &exported);
    rfn_symbolizer_functions(*state, module, look, &none);
    assert_int_equal(own.found, 1);
    assert_false(own.visible);
    assert_int_equal(own.address, own_address((const void *)(uintptr_t)look));
    assert_int_equal(exported.found, 1);
    assert_true(exported.visible);
    assert_int_equal(none.found, 0);
    rfn_symbolizer_functions(*state, module + 1, look, &own); /* no such module */
    rfn_symbolizer_functions(*state, rfn_symbolizer_module(*state, "/no/such/file", NULL, 0), look,
                             &own);
    assert_int_equal(own.found, 1);
}

static void test_files_that_do_not_fit(void **state)
{
    uint8_t id[80] = {1, 2, 3};
    expect_nothing(*state, own_path, id, 20);
    expect_nothing(*state, own_path, id, 80);
    expect_nothing(*state, "/does/not/exist", NULL, 0);
    expect_nothing(*state, "", NULL, 0);
    expect_nothing(*state, "/", NULL, 0);
    expect_nothing(*state, "/dev/zero", NULL, 0);
    expect_nothing(*state, "/etc/passwd", NULL, 0);
    if (build_id_of(own_path, id))
        expect_nothing(*state, own_path, NULL, 0);
}

/* Copies of the executable that are cut short or have random bytes changed: whatever comes out,
 * nothing crashes, and what comes out can be read. */
static void look_up_in(const char *path)
{
    struct rfn_symbolizer *symbolizer = rfn_symbolizer_new();
    uint8_t id[20];
    size_t size = build_id_of(path, id);
    int module = rfn_symbolizer_module(symbolizer, path, size ? id : NULL, size);
    uint64_t address = own_address((const void *)(uintptr_t)return_address);
    for (uint64_t i = 0; i < 20; i++) {
        struct rfn_source source = innermost(symbolizer, module, address + 16 * i);
        assert_true(!source.function || strlen(source.function) < 1 << 20);
        assert_true(!source.file || strlen(source.file) < 1 << 20);
        static struct rfn_source_calls calls;
        unsigned budget = 1 << 16;
        rfn_symbolizer_calls(symbolizer, module, address + 16 * i, 0, "event/symbolize_test.c",
                             &budget, &calls);
        assert_true(calls.n <= RFN_SOURCE_CALLS_MAX && calls.n_loops <= RFN_SOURCE_LOOPS_MAX);
    }
    rfn_symbolizer_free(symbolizer);
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_damaged_files(void **state)
{
    (void)state;
    enum { SIZE_MAX_BYTES = 16 << 20, ROUNDS = 60 };
    char *bytes = malloc(SIZE_MAX_BYTES), *damaged = malloc(SIZE_MAX_BYTES);
    FILE *file = fopen(own_path, "rb");
    size_t size = fread(bytes, 1, SIZE_MAX_BYTES, file);
    fclose(file);
    char path[] = "/tmp/symbolize_test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    uint64_t random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(damaged, bytes, size);
        for (int i = 0; i < 200 && round % 2; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            damaged[(random >> 16) % size] = (char)(random >> 56);
        }
        write_file(path, damaged, round % 2 ? size : size * (size_t)round / ROUNDS);
        look_up_in(path);
    }
    unlink(path);
    free(bytes);
    free(damaged);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* ---- functions without a symbol ---- */

/* A library of one exported function between two that have no name, as its text says. */
static int stripped_library(struct rfn_symbolizer *symbolizer, const char *path)
{
    static const char source[] =
        "static __attribute__((noinline, used)) int before(int a) { return a * 3 + 1; }\n"
        "__attribute__((noinline)) int exported(int a) { return a * 5 + 7; }\n"
        "static __attribute__((noinline, used)) int behind(int a) { return a * 9 + 2; }\n";
    char command[5 * PATH_MAX];
    snprintf(command, sizeof command,
             "cc -x c -O1 -fPIC -shared -fno-toplevel-reorder -Wl,--build-id=none -o %s - && nm %s "
             "> %s.names && "
             "strip %s",
             path, path, path, path);
    FILE *compiler = popen(command, "w");
    assert_non_null(compiler);
    fputs(source, compiler);
    assert_int_equal(pclose(compiler), 0);
    return rfn_symbolizer_module(symbolizer, path, NULL, 0);
}

/* What nm has said of a function, before the library was stripped. */
static uint64_t address_of(const char *path, const char *function)
{
    char list[PATH_MAX], line[256], name[128];
    unsigned long long address, found = 0;
    snprintf(list, sizeof list, "%s.names", path);
    FILE *file = fopen(list, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx %*c %127s", &address, name) == 2 && strcmp(name, function) == 0)
            found = address;
    }
    fclose(file);
    assert_int_not_equal(found, 0);
    return found;
}

static void expect_nearby(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                          const char *name, uint64_t distance)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%s+0x%llx", name, (unsigned long long)distance);
    assert_null(innermost(symbolizer, module, address).function);
    assert_string_equal(rfn_symbolizer_nearby(symbolizer, module, address), expected);
}

static void test_stripped(void **state)
{
    char folder[] = "/tmp/refrain-symbolize-XXXXXX", path[PATH_MAX], names[PATH_MAX + 8];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lib.so", folder);
    snprintf(names, sizeof names, "%s.names", path);
    const int module = stripped_library(*state, path);
    const uint64_t before = address_of(path, "before"), exported = address_of(path, "exported"),
                   behind = address_of(path, "behind");
    assert_string_equal(innermost(*state, module, exported + 1).function, "exported");
    /* All addresses of a function have one name, which tells where it begins. */
    for (uint64_t i = 0; i < 3; i++) {
        expect_nearby(*state, module, behind + i, "exported", behind - exported);
        expect_nearby(*state, module, before + i, "", before);
    }
    assert_ptr_equal(rfn_symbolizer_nearby(*state, module, behind),
                     rfn_symbolizer_nearby(*state, module, behind + 1));
    unlink(path), unlink(names), rmdir(folder);
}

static void test_nearby_no_file(void **state)
{
    const int module = rfn_symbolizer_module(*state, "/nowhere/libnone.so", NULL, 0);
    assert_null(rfn_symbolizer_nearby(*state, module, 0x1234));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_function_and_line),
        TEST(test_innermost_inlined_function),
        TEST(test_functions_around_inlined_one),
        TEST(test_ends_of_function),
        TEST(test_library_symbols),
        TEST(test_all_functions),
        TEST(test_files_that_do_not_fit),
        TEST(test_damaged_files),
        TEST(test_stripped),
        TEST(test_nearby_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
