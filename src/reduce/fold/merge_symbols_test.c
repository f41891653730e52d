/* Symbols that were made before an input moved become one, with the input in a column. */
#include "reduce/fold/merge_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/expect_column.h"

static const struct rfn_function_info functions[] = {{.name = "two", .n_in = 2, .n_out = 1}};

static uint32_t add(struct rfn_symbol_table *table, uint32_t site, int64_t a, int64_t b)
{
    const int64_t in[] = {a, b};
    return (uint32_t)rfn_symbol_table_add(table, &(struct rfn_symbol){.site = site}, in);
}

static void execute(struct rfn_symbol_table *table, struct rfn_fold *fold, uint32_t number,
                    int64_t outcome)
{
    struct rfn_symbol *symbol = &table->symbols[number];
    symbol->occurrences++;
    assert_int_equal(rfn_column_append(&symbol->columns[0], outcome), 0);
    assert_int_equal(rfn_fold_append(fold, number), 0);
}

static int sequence[16], n_sequence;

static int note(void *context, uint32_t symbol)
{
    (void)context;
    sequence[n_sequence++] = (int)symbol;
    return 0;
}

static int no_look(void *context)
{
    (void)context;
    return 0;
}

/* Site 0 with inputs (1, 10), (2, 10), (1, 20), of which the first moves; a symbol of site 1 is
 * among them. The sequence a x b a c, with outcomes 100 to 104, becomes A x A A C: of A the inputs
 * 1 2 1 and the outcomes of a, b, a; x as it was. */
static void test_known(void **state)
{
    (void)state;
    struct rfn_symbol_table table = {.functions = functions};
    struct rfn_varying_params inputs = {0};
    struct rfn_fold *from = rfn_fold_new(0), *to = rfn_fold_new(0);
    for (uint32_t site = 0; site < 2; site++)
        assert_int_equal(rfn_varying_params_use(&inputs, site, 2), 1);
    uint32_t a = add(&table, 0, 1, 10), x = add(&table, 1, 1, 10), b = add(&table, 0, 2, 10),
             c = add(&table, 0, 1, 20), order[] = {a, x, b, a, c}, last = c;
    for (int i = 0; i < 5; i++)
        execute(&table, from, order[i], 100 + i);
    rfn_varying_params_move(&inputs, 0, 0, true);
    const struct rfn_symbol_join join = {
        .table = &table, .inputs = &inputs, .from = from, .to = to, .look = no_look};
    assert_int_equal(rfn_symbols_join(&join, &last), 0);

    assert_int_equal(table.n, 3);
    assert_int_equal(last, 2);
    const struct rfn_symbol *joined = &table.symbols[0];
    assert_true(joined->site == 0 && joined->moved == 1 && joined->occurrences == 3);
    assert_true(joined->in[0] == 0 && joined->in[1] == 10);
    expect_column(&joined->columns[0], 3, (const int64_t[]){1, 2, 1});
    expect_column(&joined->columns[1], 3, (const int64_t[]){100, 102, 103});
    const struct rfn_symbol *kept = &table.symbols[1];
    assert_true(kept->site == 1 && kept->moved == 0 && kept->in[0] == 1);
    expect_column(&kept->columns[0], 1, (const int64_t[]){101});
    expect_column(&table.symbols[2].columns[0], 1, (const int64_t[]){1});
    expect_column(&table.symbols[2].columns[1], 1, (const int64_t[]){104});
    assert_int_equal(inputs.sites[0].n_symbols, 2);

    n_sequence = 0;
    assert_int_equal(rfn_fold_unfold(to, note, NULL), 0);
    const int expected[] = {0, 1, 0, 0, 2};
    assert_int_equal(n_sequence, 5);
    assert_memory_equal(sequence, expected, sizeof expected);
    rfn_fold_free(from);
    rfn_fold_free(to);
    rfn_varying_params_release(&inputs);
    rfn_symbol_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
