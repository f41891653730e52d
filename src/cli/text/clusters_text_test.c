/* Blocks of ranks and expressions in words. */
#include "cli/text/clusters_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_text(struct rfn_text *text, const char *expected)
{
    rfn_text_char(text, '\0');
    assert_false(text->failed);
    assert_string_equal(text->data, expected);
    rfn_text_release(text);
}

static void test_blocks(void **state)
{
    (void)state;
    const struct rfn_rank_block blocks[] = {
        {.start = 4},
        {.start = 8, .n_dimensions = 1, .dimensions = {{3, 1}}},
        {.start = 16, .n_dimensions = 1, .dimensions = {{4, 4}}},
        {.start = 73, .n_dimensions = 3, .dimensions = {{2, 100}, {6, 8}, {6, 1}}},
    };
    struct rfn_text text = {0};
    rfn_rank_blocks_append(&text, blocks, 4);
    assert_text(&text, "4; 8-10; 16-28 by 4; 73-78, 6 times 8 apart, 2 times 100 apart");
}

static void assert_expression(struct rfn_rank_expression expression, const char *expected)
{
    struct rfn_text text = {0};
    rfn_expression_append(&text, &expression);
    assert_text(&text, expected);
}

static void test_expressions(void **state)
{
    (void)state;
    struct rfn_rank_expression e = {.form = RFN_EXPRESSION_CONSTANT, .offset = 7};
    assert_expression(e, "7");
    e = (struct rfn_rank_expression){.form = RFN_EXPRESSION_OFFSET, .offset = 1};
    assert_expression(e, "rank + 1");
    e.offset = -12;
    assert_expression(e, "rank - 12");
    e.offset = INT64_MIN;
    assert_expression(e, "rank - 9223372036854775808");
    e = (struct rfn_rank_expression){.form = RFN_EXPRESSION_XOR, .offset = 4};
    assert_expression(e, "rank xor 4");
    e = (struct rfn_rank_expression){
        .form = RFN_EXPRESSION_SHIFTED, .n_dimensions = 1, .dimensions = {16}, .factors = {-1}};
    assert_expression(e, "(rank - 1) mod 16");
    e.open = 1;
    assert_expression(e, "rank - 1, MPI_PROC_NULL beyond the ends");
    e = (struct rfn_rank_expression){.form = RFN_EXPRESSION_SHIFTED,
                                     .n_dimensions = 2,
                                     .dimensions = {8, 4},
                                     .factors = {-1, 0}};
    assert_expression(e, "rank of (i - 1, j) round the 8 x 4 grid");
    e.open = 1;
    assert_expression(e, "rank of (i - 1, j) on the 8 x 4 grid, MPI_PROC_NULL beyond the ends");
    e.factors[1] = 2;
    assert_expression(e,
                      "rank of (i - 1, j + 2) round the 8 x 4 grid, MPI_PROC_NULL beyond the ends "
                      "of i");
    e = (struct rfn_rank_expression){.form = RFN_EXPRESSION_SHIFTED,
                                     .n_dimensions = 3,
                                     .dimensions = {4, 4, 2},
                                     .factors = {1, 1, 1},
                                     .open = 5};
    assert_expression(e, "rank of (i + 1, j + 1, k + 1) round the 4 x 4 x 2 grid, MPI_PROC_NULL "
                         "beyond the ends of i and k");
    e = (struct rfn_rank_expression){.form = RFN_EXPRESSION_PERMUTED,
                                     .n_dimensions = 3,
                                     .dimensions = {4, 4, 2},
                                     .order = {1, 0, 2}};
    assert_expression(e, "rank of (j, i, k) on the transposed grid, rank being (i, j, k) on the "
                         "4 x 4 x 2 grid");
    e = (struct rfn_rank_expression){
        .form = RFN_EXPRESSION_AFFINE, .n_dimensions = 2, .dimensions = {4, 4}, .factors = {0, 1}};
    assert_expression(e, "j, rank being (i, j) on the 4 x 4 grid");
    e.factors[0] = -3;
    e.offset = 5;
    assert_expression(e, "-3 * i + j + 5, rank being (i, j) on the 4 x 4 grid");
    e = (struct rfn_rank_expression){.form = RFN_EXPRESSION_AFFINE,
                                     .n_dimensions = 1,
                                     .dimensions = {16},
                                     .factors = {3},
                                     .offset = 100};
    assert_expression(e, "3 * rank + 100");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
