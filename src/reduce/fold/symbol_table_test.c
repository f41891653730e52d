/* The symbols of a stream: found by what makes them, with the columns that the schema says. */
#include "reduce/fold/symbol_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct rfn_function_info functions[] = {{.name = "two", .n_in = 2, .n_out = 1},
                                                     {.name = "none"}};

static struct rfn_symbol_signature signature_of(const struct rfn_symbol *symbol, const int64_t *in)
{
    return (struct rfn_symbol_signature){.site = symbol->site,
                                         .error = symbol->error,
                                         .moved = symbol->moved,
                                         .failed_poll = symbol->failed_poll,
                                         .n_in = functions[symbol->function].n_in,
                                         .in = in};
}

/* Many symbols of one site: each is found as itself, and nothing else is. */
static void test_find(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct rfn_symbol_table table = {.functions = functions};
    const struct rfn_symbol like = {.site = 3};
    for (int64_t i = 0; i < N; i++) {
        const int64_t in[] = {i % 10, i / 10};
        const struct rfn_symbol_signature signature = signature_of(&like, in);
        assert_int_equal(rfn_symbol_table_find(&table, &signature), -1);
        assert_int_equal(rfn_symbol_table_add(&table, &like, in), i);
    }
    for (int64_t i = 0; i < N; i++) {
        const int64_t in[] = {i % 10, i / 10};
        const struct rfn_symbol others[] = {{.site = 4},
                                            {.site = 3, .error = 1},
                                            {.site = 3, .moved = 1},
                                            {.site = 3, .failed_poll = true}};
        struct rfn_symbol_signature signature = signature_of(&like, in);
        assert_int_equal(rfn_symbol_table_find(&table, &signature), i);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            signature = signature_of(&others[k], in);
            assert_int_equal(rfn_symbol_table_find(&table, &signature), -1);
        }
    }
    rfn_symbol_table_release(&table);
    assert_int_equal(rfn_symbol_table_bytes(&table), 0);
}

static int count(void *n, struct rfn_column *column)
{
    (void)column;
    return ++*(int *)n == 9 ? -1 : 0;
}

/* Two inputs, one of them moved, an outcome, volumes: 4 + 1 + 1 + 2 columns; without anything 4
 * + 2. What is measured is all but the moved input and the outcome. */
static void test_columns(void **state)
{
    (void)state;
    struct rfn_symbol_table table = {.functions = functions, .volume = true};
    const int64_t in[] = {5, 0};
    assert_int_equal(rfn_symbol_table_add(&table, &(struct rfn_symbol){.moved = 2}, in), 0);
    struct rfn_symbol *symbol = &table.symbols[0];
    assert_int_equal(rfn_symbol_values(&table, symbol), 2);
    assert_int_equal(rfn_symbol_columns(&table, symbol), 8);
    assert_ptr_equal(rfn_symbol_column(symbol, 1), &symbol->duration);
    assert_ptr_equal(rfn_symbol_column(symbol, 6), &symbol->columns[2]);
    for (unsigned k = 0; k < 8; k++)
        assert_int_equal(rfn_column_append(rfn_symbol_column(symbol, k), k), 0);
    rfn_symbol_table_empty_measured(&table);
    for (unsigned k = 0; k < 8; k++)
        assert_int_equal(rfn_symbol_column(symbol, k)->n, k == 4 || k == 5);
    assert_int_equal(rfn_symbol_table_add(&table, &(struct rfn_symbol){.function = 1}, in), 1);
    assert_int_equal(rfn_symbol_columns(&table, &table.symbols[1]), 6);
    int n = 0;
    assert_int_equal(rfn_symbol_table_each(&table, count, &n), -1); /* the 9th of 14 says so */
    assert_int_equal(n, 9);
    n = 10;
    assert_int_equal(rfn_symbol_table_each(&table, count, &n), 0);
    assert_int_equal(n, 10 + 14);
    rfn_symbol_table_release(&table);
}

/* A symbol goes over with its values; in the table that it came from it has none. */
static void test_take(void **state)
{
    (void)state;
    struct rfn_symbol_table from = {.functions = functions}, to = {.functions = functions};
    const int64_t in[] = {7, 8};
    assert_int_equal(rfn_symbol_table_add(&from, &(struct rfn_symbol){.site = 1}, in), 0);
    assert_int_equal(rfn_column_append(&from.symbols[0].columns[0], 42), 0);
    from.symbols[0].occurrences = 1;
    assert_int_equal(rfn_symbol_table_take(&to, &from.symbols[0]), 0);
    rfn_symbol_table_release(&from);
    const struct rfn_symbol_signature signature = signature_of(&to.symbols[0], in);
    assert_int_equal(rfn_symbol_table_find(&to, &signature), 0);
    assert_int_equal(to.symbols[0].occurrences, 1);
    assert_int_equal(to.symbols[0].columns[0].last, 42);
    assert_memory_equal(to.symbols[0].in, in, sizeof in);
    rfn_symbol_table_release(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_take),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
