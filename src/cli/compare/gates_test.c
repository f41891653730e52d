/* Rules of --fail-if, and rows that they let pass and do not. */
#include "cli/compare/gates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char run_time[] = "run time", balance[] = "load balance", messages[] = "messages",
            recv_a[] = "MPI_Recv < exchange < main", recv_b[] = "MPI_Recv < init < main",
            cause[] = "compute in work, region a, at MPI_Recv < exchange < main";
static struct rfn_row_change rows[] = {
    {run_time, RFN_ROW_SUM, RFN_ROW_NS, {{90e6, 100e6, 110e6}, {115e6, 120e6, 125e6}}, false},
    {balance, RFN_ROW_SUM, RFN_ROW_SHARE, {{0.9, 0.95, 0.96}, {0.8, 0.85, 0.89}}, false},
    {messages, RFN_ROW_SUM, RFN_ROW_COUNT, {{100, 100, 100}, {130, 130, 130}}, false},
    {recv_a, RFN_ROW_CALL, RFN_ROW_NS, {{1e6, 2e6, 3e6}, {2e6, 4e6, 6e6}}, true},
    {recv_b, RFN_ROW_CALL, RFN_ROW_NS, {{0, 0, 0}, {1e3, 1e3, 1e3}}, false},
    {cause, RFN_ROW_CAUSE, RFN_ROW_NS, {{5e6, 5e6, 5e6}, {1e6, 1e6, 1e6}}, false}};
static const struct rfn_compared_sides sides = {.rows = rows, .n_rows = sizeof rows / sizeof *rows};

static enum rfn_gate_error find(const char *rule, struct rfn_gate *gate,
                                const struct rfn_row_change **row)
{
    if (!rfn_gate_parse(gate, rule))
        fail_msg("%s is no rule", rule);
    return rfn_gate_find(gate, &sides, row);
}

static void expect(const char *rule, bool fails)
{
    struct rfn_gate gate;
    const struct rfn_row_change *row;
    assert_int_equal(find(rule, &gate, &row), RFN_GATE_OK);
    if (rfn_gate_fails(&gate, row) != fails)
        fail_msg("%s", rule);
}

static void test_limits(void **state)
{
    (void)state;
    expect("run time > 5 %", true);
    expect("run time>19.9%", true);
    expect("run time > 20 %", false); /* not more than that */
    expect("run time > 19 ms", true);
    expect("run time > 0.021 s ", false);
    expect("run time < 5 %", false); /* it grew */
    expect("load balance < 9 points", true);
    expect("load balance < 11 points", false);
    expect("load balance < 10 %", true); /* of 95 % */
    expect("load balance > 1 points", false);
    expect("messages > 29", true);
    expect("messages > 30", false);
}

/* What overlaps fails no gate; what was 0 before grew by more than any percentage. */
static void test_noise_and_nothing(void **state)
{
    (void)state;
    expect("MPI_Recv < exchange > 5 %", false);
    expect("MPI_Recv < exchange < main > 1 us", false);
    expect("MPI_Recv < init < main > 1000 %", true);
    expect("compute in work, region a < 3 ms", true);
}

static void test_rows(void **state)
{
    struct rfn_gate gate;
    const struct rfn_row_change *row;
    (void)state;
    assert_int_equal(find("run tim > 5 %", &gate, &row), RFN_GATE_NO_ROW);
    assert_int_equal(find("Run time > 5 %", &gate, &row), RFN_GATE_NO_ROW);
    assert_int_equal(find("MPI_Recv > 5 %", &gate, &row), RFN_GATE_MANY_ROWS);
    assert_int_equal(find("MPI_Recv < init > 5", &gate, &row), RFN_GATE_UNIT);
    assert_int_equal(find("run time > 5 points", &gate, &row), RFN_GATE_UNIT);
    assert_int_equal(find("messages > 5 ms", &gate, &row), RFN_GATE_UNIT);
    assert_int_equal(find("MPI_Recv < init < 5 %", &gate, &row), RFN_GATE_OK);
    assert_string_equal(row->name, recv_b);
    assert_true(gate.falls);
}

static void test_wrong_rules(void **state)
{
    static const char *const wrong[] = {"",
                                        "run time",
                                        "run time 5 %",
                                        "> 5 %",
                                        "run time >",
                                        "run time > x",
                                        "run time > -5 %",
                                        "run time > 5 hours",
                                        "run time > 5 % of it",
                                        "run time > 1e999",
                                        "run time >= 5 %"};
    struct rfn_gate gate;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (rfn_gate_parse(&gate, wrong[i]))
            fail_msg("%s", wrong[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits), cmocka_unit_test(test_noise_and_nothing),
        cmocka_unit_test(test_rows), cmocka_unit_test(test_wrong_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
