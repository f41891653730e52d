/* A list that is written without memory: of all allocations each fails once; that is said, and
 * nothing is left behind. */
#include "reduce/list_writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/fail_each.h"

enum { N = 9000 };

static int64_t value_of(uint64_t i)
{
    return (int64_t)(i * i * 2654435761u >> 7 & 7);
}

static int pack(const struct rfn_column *column, const struct rfn_list_ahead *ahead,
                struct rfn_coder_memory *memory, struct rfn_buf *out)
{
    RFN_TRY(rfn_list_pack(column, NULL, ahead, memory, out));
    return rfn_list_pack(column, column, NULL, memory, out);
}

static int write_all(struct rfn_column *column, struct rfn_list_ahead *ahead,
                     struct rfn_coder_memory *memory, struct rfn_buf *out)
{
    for (uint64_t i = 0; i < N; i++)
        RFN_TRY(rfn_column_append(column, value_of(i)));
    for (uint64_t i = 0; i < N / 2 + 1000; i++)
        RFN_TRY(rfn_list_ahead_put(ahead, value_of(i), memory));
    return pack(column, ahead, memory, out);
}

static int run(const void *of)
{
    (void)of;
    struct rfn_column column;
    struct rfn_list_ahead ahead = {0};
    struct rfn_coder_memory memory = {0};
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_column_init(&column);
    int error = write_all(&column, &ahead, &memory, &out);
    rfn_column_release(&column);
    rfn_list_ahead_release(&ahead);
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
