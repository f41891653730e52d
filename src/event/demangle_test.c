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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpp),
        cmocka_unit_test(test_fortran),
        cmocka_unit_test(test_not_mangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
