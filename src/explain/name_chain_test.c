/* What stays of a call path from version to version. */
#include "explain/name_chain.h"

#include "support/fake_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect(struct rfn_text *text, const char *expected)
{
    assert_string_equal(rfn_text_terminated(text), expected);
    rfn_text_release(text);
}

static void expect_name(const char *function, const char *expected)
{
    struct rfn_text text = {0};
    rfn_name_append(&text, function);
    expect(&text, expected);
}

static void test_clones(void **state)
{
    (void)state;
    expect_name("step", "step");
    expect_name("step.isra.0", "step");
    expect_name("step.part.0.constprop.1.cold", "step");
    expect_name("step.lto_priv.3", "step");
    expect_name("Solver.step", "Solver.step");
    expect_name(".cold", ".cold");
    expect_name("", "");
}

static void expect_chain(uint32_t path, const char *expected)
{
    struct rfn_text text = {0};
    rfn_name_chain_append(&text, &fake, (struct rfn_call_site){RECV, path});
    expect(&text, expected);
}

/* Neither lines nor addresses nor frames of MPI are in it. */
static void test_chains(void **state)
{
    const char *chain = "MPI_Recv\nexchange\nstep\nmain\n";
    (void)state;
    expect_chain(EXCHANGE_88, chain);
    expect_chain(EXCHANGE_88_TWIN, chain);
    expect_chain(EXCHANGE_80, chain);
    expect_chain(EXCHANGE_80_EARLY, chain);
    expect_chain(RESIDUAL_12, "MPI_Recv\nresidual\nstep\nmain\n");
    expect_chain(UNNAMED, "MPI_Recv\n[app\n");
    expect_chain(UNNAMED_2, "MPI_Recv\n[app\n");
    expect_chain(UNNAMED_CALLED, "MPI_Recv\n[app\nmain\n");
    expect_chain(NOWHERE, "MPI_Recv\n");
    expect_chain(N_PATHS, "MPI_Recv\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_clones),
                                       cmocka_unit_test(test_chains)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
