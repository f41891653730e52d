#define _POSIX_C_SOURCE 200809L /* open_memstream */
/* The parameters of a known network, and the file. */
#include "calibrate/measured.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cal_measured measured;

/* Messages of L + 2 o = 1000 ns and G = 0.25 ns; trains of 8 and 108 messages. */
static void fit(double send_ns, double receive_ns, double gap_ns)
{
    struct cal_point points[25];
    const struct cal_shortest shortest = {.send = send_ns,
                                          .receive = receive_ns,
                                          .short_train = 3000,
                                          .long_train = 3000 + 100 * gap_ns,
                                          .short_messages = 8,
                                          .long_messages = 108};
    for (int i = 0; i < 25; i++) {
        const int64_t bytes = INT64_C(1) << i;
        points[i] = (struct cal_point){bytes, 1000 + 0.25 * (double)(bytes - 1)};
    }
    measured = (struct cal_measured){
        .mpi = "An MPI 1.0", .flavour = "anmpi", .hosts = {"one", "b\xff"}, .ranks = {0, 3}};
    cal_measured_fit(&measured, points, 25, &shortest, 4040);
}

static void expect(double latency_ns, double overhead_ns, double gap_ns)
{
    assert_float_equal(measured.network.latency_ns, latency_ns, 1e-6);
    assert_float_equal(measured.network.overhead_ns, overhead_ns, 1e-6);
    assert_float_equal(measured.network.gap_ns, gap_ns, 1e-6);
    assert_float_equal(measured.network.gap_per_byte_ns, 0.25, 1e-9);
    assert_int_equal(measured.network.eager_bytes, 4040);
}

static void test_fit(void **state)
{
    (void)state;
    fit(100, 300, 350);
    expect(600, 200, 350);
}

/* A message takes longer than the calls alone, and the next one cannot follow faster than they end.
 */
static void test_bounds(void **state)
{
    (void)state;
    fit(900, 700, 50);
    expect(1000.0 / 3, 1000.0 / 3, 1000.0 / 3);
}

static json_t *written(void)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    assert_int_equal(cal_measured_write(&measured, out), 0);
    fclose(out);
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(value);
    free(text);
    return value;
}

static double number(const json_t *value, const char *name)
{
    return json_number_value(json_object_get(value, name));
}

static void test_file(void **state)
{
    (void)state;
    fit(100, 300, 350);
    json_t *value = written();
    const json_t *hosts = json_object_get(value, "hosts");
    assert_int_equal(number(value, "schema"), 1);
    assert_string_equal(json_string_value(json_object_get(value, "mpi")), "An MPI 1.0");
    assert_string_equal(json_string_value(json_object_get(value, "flavour")), "anmpi");
    assert_string_equal(json_string_value(json_array_get(hosts, 0)), "one");
    assert_string_equal(json_string_value(json_array_get(hosts, 1)), "b\\xff");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(value, "ranks"), 1)), 3);
    assert_float_equal(number(value, "L"), 600e-9, 1e-15);
    assert_float_equal(number(value, "o"), 200e-9, 1e-15);
    assert_float_equal(number(value, "g"), 350e-9, 1e-15);
    assert_float_equal(number(value, "G"), 0.25e-9, 1e-18);
    assert_int_equal(number(value, "S"), 4040);
    const json_t *pieces = json_object_get(value, "pieces"), *piece = json_array_get(pieces, 0);
    assert_int_equal(json_array_size(pieces), 1);
    assert_int_equal(number(piece, "from_bytes"), 1);
    assert_int_equal(number(piece, "to_bytes"), 1 << 24);
    assert_float_equal(number(piece, "latency_seconds"), 999.75e-9, 1e-15);
    assert_float_equal(number(piece, "seconds_per_byte"), 0.25e-9, 1e-18);
    json_decref(value);
}

static void test_full_disk(void **state)
{
    (void)state;
    fit(100, 300, 350);
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    assert_int_equal(cal_measured_write(&measured, full), RFN_E_IO);
    assert_int_equal(errno, ENOSPC);
    fclose(full);
}

static void test_text(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n = 0;
    fit(100, 300, 1350);
    FILE *out = open_memstream(&text, &n);
    cal_measured_print(&measured, out);
    fclose(out);
    assert_string_equal(
        text,
        "An MPI 1.0, ranks 0 and 3 on one and b\\xff, two nodes; the ranks between were idle\n"
        "L 600 ns, o 200 ns, g 1.35 us, G 0.25 ns per byte, S 4040 bytes\n"
        "  up to 16.0 MiB  1.00 us + 0.25 ns per byte\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fit),  cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_file), cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
