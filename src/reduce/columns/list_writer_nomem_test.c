/* A list that is written without memory: of all allocations each fails once; that is said, and
 * nothing is left behind. */
#include "reduce/columns/list_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

enum { N = 9000 };

static int64_t value_of(uint64_t i)
{
    return (int64_t)(i * i * 2654435761u >> 7 & 7);
}

static int write_all(struct rfn_list_writer *coded, struct rfn_column *column,
                     struct rfn_coder_memory *memory, struct rfn_buf *out)
{
    for (uint64_t i = 0; i < N / 2 + 1000; i++)
        RFN_TRY(rfn_list_put(coded, value_of(i), memory));
    for (uint64_t i = coded->n; i < N; i++)
        RFN_TRY(rfn_column_append(column, value_of(i)));
    RFN_TRY(rfn_list_pack(coded, column, NULL, memory, out));
    return rfn_list_pack(NULL, column, column, memory, out);
}

static int run(const void *of)
{
    (void)of;
    struct rfn_list_writer coded = {0};
    struct rfn_column column;
    struct rfn_coder_memory memory = {0};
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_column_init(&column);
    int error = write_all(&coded, &column, &memory, &out);
    rfn_list_release(&coded);
    rfn_column_release(&column);
    rfn_coder_memory_release(&memory);
    rfn_buf_release(&out);
    return error;
}

static void test_list(void **state)
{
    (void)state;
    fail_each(20, run, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
