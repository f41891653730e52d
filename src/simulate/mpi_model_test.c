/* Tests of mpi_model.h. */
#include "simulate/mpi_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rfn_setting *find(const struct rfn_setting *settings, const char *name)
{
    for (size_t i = 0; i < rfn_mpi_settings(); i++) {
        if (strcmp(settings[i].name, name) == 0)
            return &settings[i];
    }
    fail_msg("no setting %s", name);
    return NULL;
}

/* SimGrid 3.32's. */
static void test_defaults(void **state)
{
    struct rfn_setting *used = calloc(rfn_mpi_settings(), sizeof *used);
    struct rfn_mpi_model model;
    (void)state;
    assert_int_equal(rfn_mpi_model_init(&model, NULL, NULL, 0, used, NULL), 0);
    assert_true(model.eager == 0 && model.detached == 65536);
    assert_true(model.gamma == 4194304 && model.weight == 8775 && model.cross_traffic == 0.05);
    assert_true(rfn_factor_at(&model.bandwidth, 65473) == 0.940694);
    assert_true(rfn_factor_at(&model.bandwidth, 65472) == 0.697866);
    assert_true(rfn_factor_at(&model.latency, 16) == 2.01467);
    assert_true(rfn_cost_at(&model.send, 1000) == 0);
    assert_int_equal(find(used, "smpi/os")->from, RFN_FROM_DEFAULT);
    free(used);
}

/* A piece holds above its threshold; factors are 1 below all, costs those of the first piece. */
static void test_pieces(void **state)
{
    const struct rfn_setting settings[] = {{"smpi/os", "1000:3e-6:1e-10;10:1e-6:2e-10", 0},
                                           {"network/bandwidth-factor", "100:0.5;1000:0.25", 0},
                                           {"smpi/lat-factor", "3", 0}};
    struct rfn_setting *used = calloc(rfn_mpi_settings(), sizeof *used);
    struct rfn_mpi_model model;
    (void)state;
    assert_int_equal(rfn_mpi_model_init(&model, NULL, settings, 3, used, NULL), 0);
    assert_true(rfn_cost_at(&model.send, 0) == 1e-6);
    assert_true(rfn_cost_at(&model.send, 1000) == 1e-6 + 2e-10 * 1000);
    assert_true(rfn_cost_at(&model.send, 1001) == 3e-6 + 1e-10 * 1001);
    assert_true(rfn_factor_at(&model.bandwidth, 100) == 1);
    assert_true(rfn_factor_at(&model.bandwidth, 101) == 0.5);
    assert_true(rfn_factor_at(&model.bandwidth, 1001) == 0.25);
    assert_true(rfn_factor_at(&model.latency, 0) == 3);
    assert_int_equal(find(used, "smpi/bw-factor")->from, RFN_FROM_CALLER);
    free(used);
}

static void test_wrong(void **state)
{
    static const struct rfn_setting wrong[] = {{"smpi/os", "", 0},
                                               {"smpi/os", "5", 0},
                                               {"smpi/os", "0:-1", 0},
                                               {"smpi/os", "0:1;x", 0},
                                               {"smpi/os", "0:nan", 0},
                                               {"smpi/bw-factor", "0:0", 0},
                                               {"smpi/bw-factor", "1;2", 0},
                                               {"smpi/bw-factor", "0:1:", 0},
                                               {"network/TCP-gamma", "-1", 0},
                                               {"smpi/async-small-thresh", "1e3", 0},
                                               {"network/crosstraffic", "maybe", 0}};
    const struct rfn_setting unknown = {"smpi/bandwidth", "1", 0};
    struct rfn_mpi_model model;
    struct rfn_diag diag = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (rfn_mpi_model_init(&model, NULL, &wrong[i], 1, NULL, &diag) != RFN_E_CORRUPT)
            fail_msg("%s:%s was taken", wrong[i].name, wrong[i].value);
        assert_non_null(strstr(diag.text, wrong[i].name));
    }
    assert_int_equal(rfn_mpi_model_init(&model, NULL, &unknown, 1, NULL, &diag), RFN_E_NOTFOUND);
    assert_non_null(strstr(diag.text, "smpi/bandwidth"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
