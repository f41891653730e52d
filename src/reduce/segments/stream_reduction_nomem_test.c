/* Reducing a stream while it is recorded, out of memory: one allocation after the other fails, of
 * the later ones not each; that is said, and nothing is left behind. */
#include "reduce/segments/stream_reduction.h"

#include "reduce/fold/elastic_signature.h"
#include "support/spill_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fail_each.h"

static const struct rfn_param_info params[] = {{"request", RFN_KIND_REQUEST, 0},
                                               {"tag", RFN_KIND_TAG, 0}};
static const struct rfn_function_info functions[] = {
    {"MPI_Test", RFN_CLASS_COMPLETION, RFN_FUNCTION_POLL, 2, 0, params}};

static int add(struct rfn_stream *stream, uint64_t i)
{
    const int64_t in[] = {3, i > 4500 ? (int64_t)(i % 70) : 0};
    const uint64_t enter = 1000 * i + i * i % 700, exit = enter + i * i % 300;
    struct rfn_event event = {.site = (uint32_t)(i % 3 + i / 50 % 2),
                              .poll = i % 3 == 0 ? RFN_POLL_FAILED : RFN_POLL_NONE,
                              .in = in,
                              .enter = enter,
                              .exit = exit,
                              .volume_enter = enter,
                              .volume_exit = exit};
    return rfn_stream_event(stream, &event);
}

static uint64_t call_hash(const void *context, uint32_t site)
{
    (void)context;
    return site + UINT64_C(1);
}

/* Without memory there is none, or it is right: that of the first run, for which there is enough.
 */
static void check_signature(struct rfn_stream *stream)
{
    static uint64_t right;
    uint64_t signature = rfn_stream_signature(stream);
    right = right ? right : signature;
    assert_true(right != RFN_UNSIGNED);
    assert_true(signature == right || signature == RFN_UNSIGNED);
}

static int fill(struct rfn_stream *stream)
{
    for (uint64_t i = 0; i < 6000; i++)
        RFN_TRY(add(stream, i));
    RFN_TRY(rfn_stream_flush(stream));
    check_signature(stream);
    assert_int_equal(rfn_stream_epochs(stream) > 0, rfn_stream_is_long(stream));
    uint32_t moved = 0;
    for (uint32_t site = 0; site < 100; site++)
        moved |= rfn_stream_moved(stream, site);
    assert_true(moved);
    return rfn_stream_reduce(stream);
}

/* of: what times are kept as long as they take no more; NULL: they are kept, and inputs move by a
 * pass over all. */
static int run(const void *of)
{
    const size_t keep = of ? *(const size_t *)of : 0;
    const struct rfn_reducing reducing = {.criterion = {&rfn_avg_wave, 0.01, RFN_LATER_LAST, 0},
                                          .max_per_kind = 20,
                                          .min_calls = 1,
                                          .quantum_ns = 1};
    struct rfn_memory memory = {.limit = keep ? 1 << 15 : 1 << 14};
    struct spill_model spill;
    spill_model_init(&spill);
    const struct rfn_stream_options options = {.functions = functions,
                                               .times = true,
                                               .volume = true,
                                               .memory = &memory,
                                               .spill = &spill.spill,
                                               .sink = of ? &rfn_stream_reduction_sink : NULL,
                                               .reducing = &reducing,
                                               .keep_bytes = of,
                                               .call_hash = call_hash};
    struct rfn_stream *stream = rfn_stream_new(&options);
    int error = stream ? fill(stream) : RFN_E_NOMEM;
    rfn_stream_free(stream);
    rfn_buf_release(&spill.bytes);
    return error;
}

static void fail_each_of(const void *of)
{
    assert_int_equal(fail_at(UINT64_MAX, run, of), 0);
    uint64_t n = allocations, runs = 0, did_without = 0; /* coding a column can, a spill, too */
    assert_true(n > 100);
    for (uint64_t at = 0; at < n; at += 1 + at / 64, runs++)
        did_without += fail_at(at, run, of) == 0;
    assert_true(did_without < runs / 2);
}

static void test_stream(void **state)
{
    (void)state;
    fail_each_of(&(size_t){0});
    fail_each_of(&(size_t){1000});
    fail_each_of(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stream)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
