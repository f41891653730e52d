/* own_module.h - where a test's own code lies in its file, for tests of debug information. To be
 * included with _GNU_SOURCE (dladdr1), before cmocka.h. */
#ifndef RFN_TESTS_SUPPORT_OWN_MODULE_H
#define RFN_TESTS_SUPPORT_OWN_MODULE_H

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static uint64_t own_address(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    assert_int_not_equal(dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
    return (uint64_t)(uintptr_t)address - map->l_addr;
}

/* The build-id of the file, by a search for the note's header that is good enough for a test. */
static size_t build_id_of(const char *path, uint8_t id[20])
{
    static const char header[] = "\4\0\0\0\24\0\0\0\3\0\0\0GNU";
    static char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(bytes, 1, sizeof bytes, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; i + sizeof header + 20 <= n; i++) {
        if (memcmp(bytes + i, header, sizeof header) == 0) {
            memcpy(id, bytes + i + sizeof header, 20);
            return 20;
        }
    }
    return 0;
}

#endif
