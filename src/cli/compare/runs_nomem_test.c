/* Comparing runs out of memory: of all allocations each fails once; it is told and nothing is left
 * behind. */
#include "cli/compare/compare.h"
#include "cli/text/json.h"

#include "support/fake_runs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

static char first[] = "first.rfn", second[] = "second.rfn", third[] = "third.rfn";
static char *files[] = {first, second, third};
static const struct rfn_compare_options given = {
    .files = files, .n_files = 3, .all = true, .top = SIZE_MAX, .findings = 2, .width = 80};
static struct rfn_measured three[3];

static int told(struct rfn_text *out)
{
    int error = out->failed ? RFN_E_NOMEM : 0;
    if (!error)
        assert_non_null(strstr(rfn_text_terminated(out), "first.rfn"));
    rfn_text_release(out);
    return error;
}

static int told_json(json_t *value)
{
    char *text = value ? json_dumps(value, 0) : NULL;
    int error = text && !rfn_json_failed() ? 0 : RFN_E_NOMEM;
    if (!error)
        assert_non_null(strstr(text, "first.rfn"));
    json_decref(value);
    free(text);
    return error;
}

static int compare_two(const void *json)
{
    struct rfn_compared_runs compared;
    struct rfn_text out = {0};
    rfn_json_init();
    int error = rfn_compared_runs_init(&compared, fake_runs);
    if (!error && json) {
        error = told_json(rfn_compare_two_json(&given, &compared));
    } else if (!error) {
        rfn_compare_two_text(&out, &given, &compared);
        error = told(&out);
    }
    rfn_compared_runs_release(&compared);
    return error;
}

static int compare_many(const void *json)
{
    struct rfn_scaling scaling;
    struct rfn_text out = {0};
    rfn_json_init();
    int error = rfn_scaling_init(&scaling, three, 3, given.findings);
    if (!error && json) {
        error = told_json(rfn_compare_many_json(&given, &scaling));
    } else if (!error) {
        rfn_compare_many_text(&out, &given, &scaling);
        error = told(&out);
    }
    rfn_scaling_release(&scaling);
    return error;
}

static int compare_sides(const void *json)
{
    static const size_t n[] = {1, 2};
    struct rfn_compare_options sides = given;
    struct rfn_gate gate;
    struct rfn_compared_sides compared;
    struct rfn_text out = {0};
    sides.before = 1;
    sides.gates = &gate;
    sides.n_gates = 1;
    rfn_json_init();
    assert_true(rfn_gate_parse(&gate, "run time > 5 %"));
    int error = rfn_compared_sides_init(&compared, three, n);
    const struct rfn_row_change *rows[1] = {error ? NULL : &compared.rows[0]};
    if (!error && json) {
        error = told_json(rfn_compare_sides_json(&sides, &compared, rows));
    } else if (!error) {
        rfn_compare_sides_text(&out, &sides, &compared, rows);
        error = told(&out);
    }
    rfn_compared_sides_release(&compared);
    return error;
}

static int setup(void **state)
{
    (void)state;
    fake_runs_reset();
    three[0] = fake_runs[0], three[1] = three[2] = fake_runs[1];
    return 0;
}

static void test_two(void **state)
{
    (void)state;
    fail_each(50, compare_two, NULL);
    fail_each(50, compare_two, files);
}

static void test_many(void **state)
{
    (void)state;
    fail_each(50, compare_many, NULL);
    fail_each(50, compare_many, files);
}

static void test_sides(void **state)
{
    (void)state;
    fail_each(50, compare_sides, NULL);
    fail_each(50, compare_sides, files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_two, setup),
                                       cmocka_unit_test_setup(test_many, setup),
                                       cmocka_unit_test_setup(test_sides, setup)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
