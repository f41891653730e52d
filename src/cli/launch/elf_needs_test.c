#define _POSIX_C_SOURCE 200809L /* mkstemp */
#include "cli/launch/elf_needs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void test_names(void **state)
{
    (void)state;
    assert_int_equal(rfn_mpi_of_name("libmpich.so.12"), RFN_MPI_MPICH);
    assert_int_equal(rfn_mpi_of_name("libmpichfort.so.12"), RFN_MPI_MPICH);
    assert_int_equal(rfn_mpi_of_name("libmpi.so.40"), RFN_MPI_OPENMPI);
    assert_int_equal(rfn_mpi_of_name("libmpi_mpifh.so.40"), RFN_MPI_OPENMPI);
    assert_int_equal(rfn_mpi_of_name("libmpi.so.12"), RFN_MPI_OTHER);
    assert_int_equal(rfn_mpi_of_name("libmpi_abi.so.0"), RFN_MPI_OTHER);
    assert_int_equal(rfn_mpi_of_name("libmpi_abi.so.1"), RFN_MPI_ABI);
    assert_int_equal(rfn_mpi_of_name("libsimgrid.so.3.32"), RFN_MPI_SMPI);
    assert_int_equal(rfn_mpi_of_name("libm.so.6"), RFN_MPI_NONE);
    assert_int_equal(rfn_mpi_of_name("libmpfr.so.6"), RFN_MPI_NONE);
    assert_int_equal(rfn_mpi_of_name("libc.so.6"), RFN_MPI_NONE);
}

static void test_self(void **state)
{
    (void)state;
    struct rfn_needs needs;
    assert_int_equal(rfn_elf_needs("/proc/self/exe", &needs), 0);
    assert_true(needs.elf);
    assert_true(needs.native);
    assert_true(needs.dynamic);
    assert_false(needs.inside);
    assert_int_equal(needs.mpi, RFN_MPI_NONE);
    assert_string_equal(needs.library, "");
}

static void test_no_file(void **state)
{
    (void)state;
    struct rfn_needs needs;
    assert_int_equal(rfn_elf_needs("/no/such/file", &needs), RFN_E_NOTFOUND);
}

/* Writes bytes to a file and looks at it. */
static int look_at(const void *bytes, size_t size, struct rfn_needs *needs)
{
    char path[] = "/tmp/elf_needs_test.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    int result = rfn_elf_needs(path, needs);
    unlink(path);
    return result;
}

static void test_script(void **state)
{
    (void)state;
    static const char script[] = "#!/bin/sh\nexec ./app\n";
    struct rfn_needs needs;
    assert_int_equal(look_at(script, sizeof script - 1, &needs), 0);
    assert_false(needs.elf);
    assert_true(needs.dynamic);
    assert_int_equal(look_at("", 0, &needs), 0);
    assert_false(needs.elf);
}

/* This program cut short at many places, and with its first bytes changed one by one: any answer
 * will do, a crash will not. */
static void test_damage(void **state)
{
    (void)state;
    FILE *file = fopen("/proc/self/exe", "rb");
    assert_non_null(file);
    enum { LIMIT = 1 << 22 };
    uint8_t *bytes = malloc(LIMIT);
    assert_non_null(bytes);
    size_t size = fread(bytes, 1, LIMIT, file);
    fclose(file);
    struct rfn_needs needs;
    for (size_t cut = 1; cut < size; cut += cut / 8 + 1)
        look_at(bytes, cut, &needs);
    for (size_t i = 4; i < 1024; i += 3) {
        uint8_t saved = bytes[i];
        bytes[i] = (uint8_t)(saved ^ (0x01 << i % 8) ^ 0x80);
        look_at(bytes, size < 65536 ? size : 65536, &needs);
        bytes[i] = saved;
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),   cmocka_unit_test(test_self),
        cmocka_unit_test(test_no_file), cmocka_unit_test(test_script),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
