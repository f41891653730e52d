/* Reading the parameters of a network out of memory: of all allocations each fails once; it is told
 * and nothing is left behind. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "cli/args/network_file.h"
#include "cli/text/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/fail_each.h"

static char file[] = "/tmp/network_file_nomem_testXXXXXX";

/* The C library opens files with memory of its own, which is not counted. */
static int read_file(const void *unused)
{
    (void)unused;
    struct rfn_network network;
    struct rfn_diag diag = {0};
    rfn_json_init();
    int error = rfn_network_file_read(file, &network, &diag);
    assert_true(error ? diag.text[0] != 0 : network.eager_bytes == 8);
    return error;
}

static void test_read(void **state)
{
    (void)state;
    fail_each(10, read_file, NULL);
}

static int make(void **state)
{
    static const char text[] = "{\"schema\":1,\"L\":1,\"o\":1,\"g\":1,\"G\":0,\"S\":8,"
                               "\"pieces\":[{\"from\":1,\"to\":2}]}";
    (void)state;
    const int fd = mkstemp(file);
    const ssize_t n = fd < 0 ? -1 : write(fd, text, sizeof text - 1);
    return fd < 0 || close(fd) || n != sizeof text - 1;
}

static int discard(void **state)
{
    (void)state;
    return unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read)};
    return cmocka_run_group_tests(tests, make, discard);
}
