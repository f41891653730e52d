/* Which inputs move, and when. */
#include "reduce/fold/varying_params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static int note(struct rfn_varying_params *inputs, int64_t a, int64_t b)
{
    const int64_t in[] = {a, b};
    return rfn_varying_params_note(inputs, &(struct rfn_symbol){.site = 2, .in = in});
}

/* The 65th value of an input is one too many. It moves once. */
static void test_values(void **state)
{
    (void)state;
    struct rfn_varying_params inputs = {0};
    assert_int_equal(rfn_varying_params_use(&inputs, 2, 2), 1);
    assert_int_equal(rfn_varying_params_use(&inputs, 2, 2), 0);
    for (int64_t i = 0; i < RFN_INPUT_VALUES_MAX; i++)
        assert_int_equal(note(&inputs, 0, i), -1);
    assert_int_equal(note(&inputs, 0, 3), -1);
    assert_int_equal(note(&inputs, 0, RFN_INPUT_VALUES_MAX), 1);
    assert_int_equal(rfn_varying_params_of(&inputs, 2), 0);
    rfn_varying_params_move(&inputs, 2, 1, true);
    assert_int_equal(rfn_varying_params_of(&inputs, 2), 2);
    assert_true(inputs.unsettled && inputs.sites[2].unsettled);
    assert_int_equal(note(&inputs, 0, RFN_INPUT_VALUES_MAX + 1), -1);
    rfn_varying_params_settled(&inputs);
    assert_false(inputs.unsettled || inputs.sites[2].unsettled);
    rfn_varying_params_move(&inputs, 2, 1, true); /* it has */
    assert_false(inputs.unsettled);
    assert_int_equal(rfn_varying_params_of(&inputs, 2), 2);
    rfn_varying_params_release(&inputs);
}

/* 1,025 symbols are too many: of 33 and 32 values the 33 move, though the other input came first
 * to its own. What has moved once does not count any longer. */
static void test_symbols(void **state)
{
    (void)state;
    struct rfn_varying_params inputs = {0};
    int moved = -1;
    assert_int_equal(rfn_varying_params_use(&inputs, 2, 2), 1);
    for (int64_t i = 0; i < RFN_INPUT_SYMBOLS_MAX; i++)
        assert_int_equal(note(&inputs, i % 32, i / 32), -1);
    assert_int_equal(note(&inputs, 0, 32), 1);
    rfn_varying_params_move(&inputs, 2, 1, false);
    assert_false(inputs.unsettled);
    for (int64_t i = 0; i < RFN_INPUT_SYMBOLS_MAX && moved < 0; i++)
        moved = note(&inputs, i % 32, 0);
    assert_int_equal(moved, -1);
    assert_int_equal(note(&inputs, 0, 0), 0);
    rfn_varying_params_release(&inputs);
}

/* Sites that are not there, or are but were never used. */
static void test_unknown(void **state)
{
    (void)state;
    struct rfn_varying_params inputs = {0};
    rfn_varying_params_move(&inputs, 7, 0, true);
    assert_int_equal(rfn_varying_params_use(&inputs, 4, 0), 1);
    rfn_varying_params_move(&inputs, 3, 0, true);
    assert_int_equal(rfn_varying_params_of(&inputs, 3) + rfn_varying_params_of(&inputs, 7), 0);
    assert_false(inputs.unsettled || rfn_varying_params_of(&inputs, 4));
    const struct rfn_symbol symbol = {.site = 4};
    assert_int_equal(rfn_varying_params_note(&inputs, &symbol), -1);
    rfn_varying_params_release(&inputs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
