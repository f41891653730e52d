/* Names as gcc and gfortran make them, and what was written in the source. */
#include "refrain/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *mangled, const char *plain)
{
    char *found = rfn_demangle(mangled, true);
    if (plain)
        assert_non_null(found);
    else
        assert_null(found);
    if (plain)
        assert_string_equal(found, plain);
    free(found);
}

static void test_cpp(void **state)
{
    (void)state;
    expect("_ZN6solver5FieldIdE3sumEi", "solver::Field<double>::sum");
    expect("_ZN5GuardC4ERiRPPc", "Guard::Guard");
    expect("_ZNKSt8functionIFdvEEclEv", "std::function<double ()>::operator()");
    expect("_Z3runv", "run");
    expect("_Z3runPFivE", "run"); /* an argument with parentheses of its own */
}

static void test_fortran(void **state)
{
    (void)state;
    expect("__solver_MOD_step", "solver::step");
    expect("__a_MOD_b_MOD_c", "a::b_MOD_c");
}

static void test_not_mangled(void **state)
{
    (void)state;
    static const char *const names[] = {"main", "",  "_Z", "_Zzz",    "__libc_start_main",
                                        "__",   "_", "Z",  "__MOD_x", "exchange_MOD_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect(names[i], NULL);
}

static void expect_short(const char *name, const char *shorter)
{
    char *found = rfn_short_name(name, true);
    assert_string_equal(found, shorter);
    free(found);
}

/* Names as gcc 12 makes them of what stands behind each. */
static void test_short_cpp(void **state)
{
    (void)state;
    /* int Foam::PCG::scalarSolve(Foam::Field<double>&, int) const, and a lambda in it */
    expect_short("_ZNK4Foam3PCG11scalarSolveERNS_5FieldIdEEi", "PCG::scalarSolve");
    expect_short("_ZZNK4Foam3PCG11scalarSolveERNS_5FieldIdEEiENKUldE_clEd",
                 "lambda in PCG::scalarSolve");
    /* std::vector<T> Foam::make<double>(double): what is returned, with a template */
    expect_short("_ZN4Foam4makeIdEESt6vectorIT_SaIS2_EES2_", "Foam::make");
    /* Foam::(anonymous namespace)::hidden(int), ...::Local::go(), and an inline namespace */
    expect_short("_ZN4Foam12_GLOBAL__N_16hiddenEi", "Foam::hidden");
    expect_short("_ZN4Foam12_GLOBAL__N_15Local2goEv", "Local::go");
    expect_short("_ZN4Foam3_V27inlinedEv", "Foam::inlined");
    expect_short("_Z6taggedB5cxx11v", "tagged");
    expect_short("_ZN4Foam3PCG5Inner3runESt6vectorIS2_IiSaIiEESaIS4_EE", "Inner::run");
}

static void test_short_operators(void **state)
{
    (void)state;
    expect_short("_ZN4Foam5FieldIdED2Ev", "Field::~Field");
    expect_short("_ZN4Foam5FieldIdEC1Ev", "Field::Field");
    expect_short("_ZN4Foam5FieldIdEixEi", "Field::operator[]");
    expect_short("_ZN4Foam5FieldIdEpLERKS1_", "Field::operator+=");
    expect_short("_ZNK4Foam5FieldIdEcvdEv", "Field::operator double");
    expect_short("_ZNK4Foam3PCGclEi", "PCG::operator()");
    expect_short("_ZNK4Foam3PCGltERKS0_", "PCG::operator<");
    expect_short("_ZN4Foam3PCGptEv", "PCG::operator->");
    expect_short("_ZN4FoamlsIdEERSoS1_RKNS_5FieldIT_EE", "Foam::operator<<");
    expect_short("_ZNKSt8functionIFdvEEclEv", "function::operator()");
    expect_short("_ZnwmPv", "operator new");
}

static void test_short_others(void **state)
{
    (void)state;
    expect_short("__solver_MOD_step", "solver::step");
    expect_short("step.part.0.constprop.1", "step");
    expect_short("_ZN4Foam3PCG5solveEv.isra.0", "PCG::solve");
    expect_short("_Z5solvei.constprop.0", "solve");
    expect_short("Solver.step", "Solver.step");
    expect_short("<module>", "<module>");
    expect_short("f.<locals>.<lambda>", "f.<locals>.<lambda>");
    expect_short("solve<double, f(int)::<lambda(int)> >", "solve");
    expect_short("operator<< <int>", "operator<<");
    expect_short("operator->", "operator->");
    expect_short("main", "main");
    expect_short("_Z", "_Z");
    expect_short("", "");
    expect_short("step.", "step.");
}

/* Functions that have no name. */
static void test_nearby(void **state)
{
    (void)state;
    expect_short("solve+0x1f40", "code after solve()+0x1f40");
    expect_short("_ZN4Foam3PCG5solveEv+0x20", "code after PCG::solve()+0x20");
    expect_short("+0x1f40", "code at +0x1f40");
    assert_null(rfn_name_distance("operator+"));
    assert_string_equal(rfn_name_distance("solve+0x1f40"), "+0x1f40");
}

static void expect_label(const char *file, const char *module, const char *label)
{
    char *found = rfn_function_label("_ZN4Foam3PCG5solveEv", file, module, "/bin/app");
    assert_string_equal(found, label);
    free(found);
}

static void test_labels(void **state)
{
    (void)state;
    expect_label("pcg.C", "/opt/app", "PCG::solve");
    expect_label(NULL, "/opt/app", "app: PCG::solve");
    expect_label("pcg.C", "/opt/libfoam.so", "libfoam.so: PCG::solve");
    expect_label("run/heat.py", "/home/heat.py", "PCG::solve"); /* a script is the module */
    expect_label(NULL, NULL, "PCG::solve"); /* as in archives of other formats */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpp),
        cmocka_unit_test(test_fortran),
        cmocka_unit_test(test_not_mangled),
        cmocka_unit_test(test_short_cpp),
        cmocka_unit_test(test_short_operators),
        cmocka_unit_test(test_short_others),
        cmocka_unit_test(test_nearby),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
