/* Writing the file out of memory: of all allocations each fails once; it is told, nothing is
 * missing where it is not, and nothing is left behind. */
#include "calibrate/measured.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fail_each.h"

static const struct cal_measured measured = {
    .mpi = "An MPI 1.0",
    .flavour = "anmpi",
    .hosts = {"one", "b\xff"},
    .network = {1, 2, 3, 4, 5},
    .pieces = {{1, 10, 5, 1}, {11, 20, 5, 2}},
    .n_pieces = 2,
};
static long size; /* of the whole file */

static int write_it(const void *out)
{
    FILE *file = (FILE *)out;
    rewind(file);
    int error = cal_measured_write(&measured, file);
    const long written = ftell(file);
    if (!size)
        size = written;
    assert_true(error || written == size);
    return error;
}

static void test_write(void **state)
{
    (void)state;
    FILE *out = tmpfile();
    assert_non_null(out);
    json_set_alloc_funcs(malloc, free);
    write_it(out); /* the stream has its buffer now */
    assert_true(size > 100);
    assert_int_equal(fail_each(20, write_it, out), 0);
    fclose(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_write)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
