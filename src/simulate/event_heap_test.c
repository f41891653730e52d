/* Tests of event_heap.h: against a list that is searched. */
#include "simulate/event_heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { IDS = 50, STEPS = 20000 };

struct model {
    double dates[IDS]; /* below 0: none */
    int orders[IDS];
};

static int first(const struct model *model)
{
    int found = -1;
    for (int i = 0; i < IDS; i++) {
        if (model->dates[i] >= 0 &&
            (found < 0 || model->dates[i] < model->dates[found] ||
             (model->dates[i] == model->dates[found] && model->orders[i] < model->orders[found])))
            found = i;
    }
    return found;
}

/* Few different dates, so that many are equal. */
static void test_order(void **state)
{
    struct rfn_event_heap heap = {0};
    struct model model;
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < IDS; i++)
        model.dates[i] = -1;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint32_t id = (uint32_t)(seed >> 33) % IDS, what = (uint32_t)(seed >> 53) % 4;
        if (what < 2) {
            model.dates[id] = (double)((seed >> 40) % 20);
            model.orders[id] = step;
            assert_int_equal(rfn_event_set(&heap, id, model.dates[id]), 0);
        } else if (what == 2) {
            model.dates[id] = -1;
            rfn_event_drop(&heap, id);
        } else if (first(&model) >= 0) {
            const int expected = first(&model);
            assert_true(rfn_event_first(&heap) == model.dates[expected]);
            assert_int_equal(rfn_event_take(&heap), expected);
            model.dates[expected] = -1;
        }
        size_t n = 0;
        for (int i = 0; i < IDS; i++)
            n += model.dates[i] >= 0;
        assert_int_equal(heap.n, n);
    }
    rfn_event_heap_release(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
