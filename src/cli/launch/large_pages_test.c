/* The heap in large pages, which the kernel is told to use for it. */
#include "cli/launch/large_pages.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined __GLIBC__ && !defined __SANITIZE_ADDRESS__
enum { GLIBCS_HEAP = 1 };
#else
enum { GLIBCS_HEAP = 0 };
#endif

enum { FEW = 100, MEGABYTE = 1 << 20 };

/* Whether the mapping that has this address is advised to be in large pages; -1: nobody knows. */
static int is_advised(const void *address)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    int advised = -1;
    bool here = false;
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            here = (uintptr_t)address >= from && (uintptr_t)address < to;
        if (here && strncmp(line, "VmFlags:", 8) == 0)
            advised = strstr(line, " hg") != NULL;
    }
    if (maps)
        fclose(maps);
    return advised;
}

static bool has_large_pages(void)
{
    FILE *enabled = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (enabled)
        fclose(enabled);
    return enabled != NULL;
}

static void test_heap(void **state)
{
    (void)state;
    unsigned char *blocks[FEW];
    for (int i = 0; i < FEW; i++) {
        blocks[i] = malloc(MEGABYTE);
        assert_non_null(blocks[i]);
        memset(blocks[i], i, MEGABYTE);
    }
    if (GLIBCS_HEAP && has_large_pages())
        assert_true(is_advised(blocks[0] + MEGABYTE / 2));
    for (int i = 0; i < FEW; i++) {
        assert_int_equal(blocks[i][0], i);
        assert_int_equal(blocks[i][MEGABYTE - 1], i);
        free(blocks[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_heap)};
    rfn_large_pages_prefer();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
