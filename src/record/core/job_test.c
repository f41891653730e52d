/* Tests of what is made of launchers' variables. */
#include "record/core/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const variables[] = {
    "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE",
    "MPI_LOCALNRANKS",      "SLURM_STEP_NUM_TASKS",       "SLURM_STEP_NUM_NODES"};

struct expectation {
    const char *set[6]; /* NULL: not set */
    bool one;           /* of a job of four ranks */
};

static const struct expectation expectations[] = {
    {{NULL}, false},
    {{"4", "4"}, true},
    {{"4", "3"}, false},
    {{"4", "1"}, false},
    {{"4", NULL}, false},
    {{NULL, "4"}, false},
    {{"4", "4x"}, false},
    {{"4", ""}, false},
    {{"4", "-4"}, false},
    {{"8", "4"}, false}, /* of another job */
    {{"8", "8"}, false},
    {{NULL, NULL, "4", "4"}, true},
    {{NULL, NULL, "4", "2"}, false},
    {{"1", "1", "4", "4"}, true}, /* in a process of another job */
    {{NULL, NULL, NULL, NULL, "4", "1"}, true},
    {{NULL, NULL, NULL, NULL, "4", "2"}, false},
    {{NULL, NULL, NULL, NULL, "4", "4"}, false},
    {{NULL, NULL, NULL, NULL, "2", "1"}, false},
    {{"4", "2", NULL, NULL, "4", "1"}, false}, /* Slurm counts mpirun's daemons */
    {{NULL, NULL, "4", "2", "4", "1"}, false},
};

static void test_launchers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof expectations / sizeof *expectations; i++) {
        for (size_t k = 0; k < 6; k++) {
            unsetenv(variables[k]);
            if (expectations[i].set[k])
                setenv(variables[k], expectations[i].set[k], 1);
        }
        if (rec_job_on_one_node(4) != expectations[i].one)
            print_error("expectation %zu\n", i);
        assert_int_equal(rec_job_on_one_node(4), expectations[i].one);
    }
}

static void test_programs(void **state)
{
    (void)state;
    const struct {
        const char *set;
        bool several;
    } sets[] = {{NULL, false}, {"", false}, {"1", false}, {"2", true}, {"x", false}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        unsetenv("OMPI_NUM_APP_CTX");
        if (sets[i].set)
            setenv("OMPI_NUM_APP_CTX", sets[i].set, 1);
        assert_int_equal(rec_job_of_several_programs(), sets[i].several);
    }
}

static void test_places(void **state)
{
    (void)state;
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK",
                                        "PMI_SIZE"};
    const struct {
        const char *set[4];
        int rank, size;
    } sets[] = {{{NULL}, 0, 0},
                {{"3", "4"}, 3, 4},
                {{"4", "4"}, 0, 0},
                {{"3", "4x"}, 0, 0},
                {{NULL, NULL, "0", "2"}, 0, 2},
                {{"1", "4", "0", "2"}, 1, 4},
                {{"0", "99999999999"}, 0, 0}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        for (size_t k = 0; k < 4; k++) {
            unsetenv(names[k]);
            if (sets[i].set[k])
                setenv(names[k], sets[i].set[k], 1);
        }
        assert_int_equal(rec_job_launched().rank, sets[i].rank);
        assert_int_equal(rec_job_launched().size, sets[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launchers),
                                       cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
