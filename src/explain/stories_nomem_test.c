/* Stories out of memory: of all allocations each fails once, and nothing is left behind. */
#include "refrain/explain.h"

#include "support/fake_stories.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

/* A slow host, a queue and what follows it, sends in a chain, small messages, and no overlap. */
static void make_run(void)
{
    const struct rfn_call_site exchange = {RECV, EXCHANGE_88}, residual = {ALLREDUCE, RESIDUAL_12},
                               barrier = {BARRIER, MAIN_24}, sends = {SEND, EXCHANGE_88};
    reset_run();
    fake_south = 4;
    for (unsigned i = 0; i < 2; i++) {
        unsigned slow = add_cause(i ? residual : barrier, i ? RFN_WAIT_AT_NXN : RFN_WAIT_AT_BARRIER,
                                  i ? residual : barrier, 4, 4, 1 + i, 1, 1);
        for (unsigned rank = 4; rank < RANKS; rank++)
            spent[slow][rank] = SECONDS(1.6);
    }
    for (unsigned rank = 4; rank < RANKS; rank++)
        ranks[rank].mpi_ns = SECONDS(2);
    add_cause(sends, RFN_LATE_SENDER, exchange, 0, 7, 8, 0.2, 1);
    add_cause(exchange, RFN_LATE_RECEIVER, sends, 7, 1, 10, 0.2, 1);
    add_waiting(RFN_LATE_RECEIVER, sends, 7);
    add_calls(sends, 8000, 8);
    add_calls((struct rfn_call_site){WAITALL, EXCHANGE_80}, 8000, 20);
    for (uint32_t i = 0; i < RANKS; i++)
        add_messages(i, (i + 1) % RANKS, 1000, 4096000);
}

static int tell(const void *of)
{
    struct rfn_stories told;
    const struct rfn_measured *run = of;
    int error = rfn_stories_init(&told, run, NULL);
    rfn_stories_release(&told); /* also after an error */
    return error;
}

static int words(const void *of)
{
    struct rfn_stories told;
    struct rfn_text text = {0};
    const struct rfn_measured *run = of;
    RFN_TRY(rfn_stories_init(&told, run, NULL));
    for (size_t i = 0; i < told.n; i++) {
        rfn_story_append(&text, run, &told, &told.stories[i]);
        rfn_story_advice(&text, run, &told, &told.stories[i]);
    }
    bool failed = text.failed;
    rfn_text_release(&text);
    rfn_stories_release(&told);
    return failed ? RFN_E_NOMEM : 0;
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    make_run();
    const struct rfn_measured run = measured();
    assert_int_equal(fail_each(20, tell, &run), 0);
    assert_int_equal(fail_each(20, words, &run), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
