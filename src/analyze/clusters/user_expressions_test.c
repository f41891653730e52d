/* Which of users' formulas is taken, what is refused, and what is told of plug-ins that are none.
 */
#include "analyze/clusters/user_expressions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 12 };

static const struct rfn_sought_parameter parameter = {
    .function = "MPI_Send", .name = "dest", .role = "peer"};

static struct rfn_expressions *new_expressions(const char *const *texts, size_t n)
{
    struct rfn_expressions *expressions;
    assert_int_equal(rfn_expressions_new(&expressions), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rfn_expressions_add(expressions, texts[i], NULL), 0);
    return expressions;
}

/* The formula for values that are so many more than the rank squared; NULL: there is none. */
static const char *find(struct rfn_expressions *expressions, int64_t more, uint32_t size)
{
    struct rfn_expression_finder *finder = rfn_expressions_finder(expressions);
    struct rfn_rank_value values[RANKS];
    struct rfn_rank_expression found;
    for (uint32_t i = 0; i < RANKS; i++)
        values[i] = (struct rfn_rank_value){i, size, (int64_t)i * i + more};
    int there = finder->find(finder->context, &parameter, values, RANKS, &found);
    if (there <= 0)
        return NULL;
    assert_int_equal(found.form, RFN_EXPRESSION_FORMULA);
    assert_int_equal(found.formula_size, strlen(found.formula));
    for (uint32_t i = 0; i < RANKS; i++)
        assert_int_equal(rfn_rank_expression_value(&found, i, size), values[i].value);
    return found.formula;
}

/* The first that gives all values, without spaces. */
static void test_order(void **state)
{
    (void)state;
    static const char *const texts[] = {"r", "r*r + 1/r", " r * r\n+ 20 - n ", "r*r+8",
                                        "n*0+r*r+8"};
    struct rfn_expressions *expressions = new_expressions(texts, 5);
    assert_string_equal(find(expressions, 8, 12), "r*r+20-n");
    assert_string_equal(find(expressions, 8, 13), "r*r+8");
    assert_null(find(expressions, 9, 12));
    struct rfn_expression_counts counts = rfn_expressions_counts(expressions);
    assert_int_equal(counts.misfits + counts.malformed, 0);
    assert_null(counts.first_malformed);
    rfn_expressions_free(expressions);
    rfn_expressions_free(NULL);
}

static void test_refused(void **state)
{
    (void)state;
    struct rfn_expressions *expressions = new_expressions(NULL, 0);
    struct rfn_diag diag = {0};
    assert_null(find(expressions, 0, 12));
    assert_int_equal(rfn_expressions_add(expressions, "r ** 2", &diag), RFN_E_USAGE);
    assert_non_null(strstr(diag.text, "'r ** 2' is no expression"));
    assert_non_null(strstr(diag.text, "at character 4"));
    char *text = malloc(5001);
    assert_non_null(text);
    memset(text, '1', 5000);
    text[5000] = '\0';
    assert_int_equal(rfn_expressions_add(expressions, text, &diag), RFN_E_USAGE);
    assert_int_equal(rfn_expressions_add_plugin(expressions, text, &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "too long"));
    free(text);
    assert_int_equal(rfn_expressions_add_plugin(expressions, "/nowhere/at.so", &diag), RFN_E_IO);
    assert_non_null(strstr(diag.text, "cannot be loaded"));
    assert_int_equal(rfn_expressions_add_plugin(expressions, "libc.so.6", &diag), RFN_E_IO);
    assert_null(find(expressions, 0, 12));
    rfn_expressions_free(expressions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
