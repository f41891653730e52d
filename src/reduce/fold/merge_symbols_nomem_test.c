/* Symbols out of memory: of all allocations of adding, noting and joining them each fails once;
 * they say so, and leave nothing behind. */
#include "reduce/fold/merge_symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fail_each.h"

static const struct rfn_function_info functions[] = {{.name = "two", .n_in = 2, .n_out = 1}};

static int no_look(void *context)
{
    (void)context;
    return 0;
}

/* An event of a site, whose second input takes more values than it may. */
static int execute(struct rfn_symbol_table *table, struct rfn_varying_params *inputs,
                   struct rfn_fold *fold, uint32_t site, int64_t b)
{
    const int64_t in[] = {1, b};
    const struct rfn_symbol_signature signature = {.site = site, .n_in = 2, .in = in};
    int64_t number = rfn_symbol_table_find(table, &signature);
    if (number < 0) {
        int used = rfn_varying_params_use(inputs, site, 2);
        RFN_TRY(used);
        number = rfn_symbol_table_add(table, &(struct rfn_symbol){.site = site}, in);
        RFN_TRY((int)number);
        int moves = rfn_varying_params_note(inputs, &table->symbols[number]);
        if (moves < -1)
            return moves;
    }
    table->symbols[number].occurrences++;
    RFN_TRY(rfn_column_append(&table->symbols[number].columns[0], b));
    return rfn_fold_append(fold, (uint32_t)number);
}

static int join(struct rfn_symbol_table *table, struct rfn_varying_params *inputs,
                const struct rfn_fold *from, struct rfn_fold *to)
{
    uint32_t last = 0;
    const struct rfn_symbol_join join = {
        .table = table, .inputs = inputs, .from = from, .to = to, .look = no_look};
    rfn_varying_params_move(inputs, 0, 1, true);
    RFN_TRY(rfn_symbols_join(&join, &last));
    assert_int_equal(table->n, 2); /* one of site 0, one of site 1 */
    assert_int_equal(table->symbols[0].columns[0].n, 2 * RFN_INPUT_VALUES_MAX);
    return 0;
}

static int work(const void *nothing)
{
    (void)nothing;
    struct rfn_symbol_table table = {.functions = functions};
    struct rfn_varying_params inputs = {0};
    struct rfn_fold *from = rfn_fold_new(0), *to = rfn_fold_new(0);
    int error = from && to ? 0 : RFN_E_NOMEM;
    for (int64_t i = 0; i < 2 * RFN_INPUT_VALUES_MAX && !error; i++) {
        error = execute(&table, &inputs, from, 0, i % (RFN_INPUT_VALUES_MAX + 1));
        if (!error)
            error = execute(&table, &inputs, from, 1, 0);
    }
    if (!error)
        error = join(&table, &inputs, from, to);
    rfn_fold_free(from);
    rfn_fold_free(to);
    rfn_varying_params_release(&inputs);
    rfn_symbol_table_release(&table);
    return error;
}

static void test_join(void **state)
{
    (void)state;
    fail_each(200, work, NULL); /* columns do without some */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_join)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
