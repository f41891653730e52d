/* Files of refrain calibrate are read, and others refused with the reason. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "cli/args/network_file.h"
#include "cli/text/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char file[] = "/tmp/network_file_testXXXXXX";
static struct rfn_network network;
static struct rfn_diag diag;

static int read_text(const char *text)
{
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    memset(&diag, 0, sizeof diag);
    rfn_json_init();
    return rfn_network_file_read(file, &network, &diag);
}

static void test_all(void **state)
{
    (void)state;
    assert_int_equal(read_text("{\"schema\": 1, \"mpi\": \"MPICH\", \"L\": 2e-6, \"o\": 0.0000005, "
                               "\"g\": 1, \"G\": 2.5e-10, \"S\": 4040, \"pieces\": []}"),
                     0);
    assert_float_equal(network.latency_ns, 2000, 1e-9);
    assert_float_equal(network.overhead_ns, 500, 1e-9);
    assert_float_equal(network.gap_ns, 1e9, 1e-6);
    assert_float_equal(network.gap_per_byte_ns, 0.25, 1e-12);
    assert_int_equal(network.eager_bytes, 4040);
}

static void test_bounds(void **state)
{
    (void)state;
    assert_int_equal(
        read_text(
            "{\"schema\":1,\"L\":0,\"o\":0,\"g\":1000,\"G\":0.001,\"S\":9223372036854775807}"),
        0);
    assert_int_equal(network.eager_bytes, INT64_MAX);
}

static void expect(const char *text, int error, const char *part)
{
    assert_int_equal(read_text(text), error);
    if (!strstr(diag.text, file) || !strstr(diag.text, part))
        fail_msg("%s: %s", text, diag.text);
}

static void test_no_file_of_calibrate(void **state)
{
    (void)state;
    expect("", RFN_E_CORRUPT, "not JSON, line 1");
    expect("{\"schema\":1,\n\"L\":}", RFN_E_CORRUPT, "not JSON, line 2");
    expect("{\"L\":1,\"L\":1}", RFN_E_CORRUPT, "duplicate");
    expect("\177ELF", RFN_E_CORRUPT, "not JSON");
    expect("[]", RFN_E_CORRUPT, "no \"schema\"");
    expect("{\"schema\":\"1\"}", RFN_E_CORRUPT, "no \"schema\"");
    expect("{\"schema\":2}", RFN_E_VERSION, "is 2");
}

static void test_wrong_values(void **state)
{
    (void)state;
    expect("{\"schema\":1}", RFN_E_CORRUPT, "\"L\" is missing");
    expect("{\"schema\":1,\"L\":null}", RFN_E_CORRUPT, "\"L\" is something else");
    expect("{\"schema\":1,\"L\":-1e-6}", RFN_E_CORRUPT, "\"L\" is something else");
    expect("{\"schema\":1,\"L\":1,\"o\":\"1\"}", RFN_E_CORRUPT, "\"o\" is");
    expect("{\"schema\":1,\"L\":1,\"o\":1,\"g\":1000.1}", RFN_E_CORRUPT, "from 0 to 1000");
    expect("{\"schema\":1,\"L\":1,\"o\":1,\"g\":1,\"G\":2}", RFN_E_CORRUPT, "\"G\" is");
    expect("{\"schema\":1,\"L\":1,\"o\":1,\"g\":1,\"G\":0}", RFN_E_CORRUPT, "\"S\" is missing");
    expect("{\"schema\":1,\"L\":1,\"o\":1,\"g\":1,\"G\":0,\"S\":1.0}", RFN_E_CORRUPT, "\"S\" is");
    expect("{\"schema\":1,\"L\":1,\"o\":1,\"g\":1,\"G\":0,\"S\":-1}", RFN_E_CORRUPT, "\"S\" is");
}

static void test_unreadable(void **state)
{
    (void)state;
    assert_int_equal(rfn_network_file_read("/nowhere/network.json", &network, &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "/nowhere/network.json: No such file"));
}

static int make(void **state)
{
    (void)state;
    const int fd = mkstemp(file);
    return fd < 0 ? -1 : close(fd);
}

static int discard(void **state)
{
    (void)state;
    return unlink(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_no_file_of_calibrate),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_unreadable),
    };
    return cmocka_run_group_tests(tests, make, discard);
}
