/* Signing the streams of a process in the end: what is left to do, and how much that may be. */
#include "archive/write/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct rfn_function_info functions[] = {
    {"MPI_Barrier", RFN_CLASS_BARRIER, 0, 0, 0, NULL}};

static uint64_t call_hash(const void *context, uint32_t site)
{
    (void)context;
    return rfn_hash_bytes(&site, sizeof site);
}

/* A stream, and its right signature, call by call. */
struct sample {
    struct rfn_stream *stream;
    struct rfn_elastic elastic;
    uint64_t signature;
};

static void call(struct sample *sample, uint32_t site)
{
    assert_true(rfn_stream_event(sample->stream, &(struct rfn_event){.site = site}) >= 0);
    assert_int_equal(rfn_elastic_append(&sample->elastic, call_hash(NULL, site) | 1), 0);
}

/* So many calls in no order, each from one of n places, and between them as many in loops that
 * leave some out. memory: NULL, or so little that nodes of the fold are frozen. */
static struct sample make_sample(uint32_t n, uint32_t calls, struct rfn_memory *memory)
{
    const struct rfn_stream_options options = {
        .functions = functions, .call_hash = call_hash, .memory = memory};
    struct sample sample = {.stream = rfn_stream_new(&options)};
    assert_non_null(sample.stream);
    srand(n);
    for (uint32_t i = 0; i < calls; i++)
        call(&sample, (uint32_t)rand() % n);
    for (uint32_t i = 0; i < calls / 4; i++) {
        call(&sample, n);
        for (int k = rand() % 3; k > 0; k--)
            call(&sample, n + 1);
        call(&sample, n + 2);
    }
    assert_int_equal(rfn_stream_flush(sample.stream), 0);
    sample.signature = rfn_elastic_signature(&sample.elastic);
    rfn_elastic_release(&sample.elastic);
    return sample;
}

/* What is kept takes nothing in the end. What is not is made of the structure, and takes of what is
 * left: of several such streams the last ones are not signed. */
static void test_several(void **state)
{
    (void)state;
    struct rfn_path_limits left = rfn_signature_limits, before;
    struct sample small = make_sample(10, 1000, NULL), large = make_sample(250, 20000, NULL);
    int n = 0;
    assert_true(rfn_stream_signature(small.stream) == small.signature);
    assert_true(rfn_stream_signature(large.stream) == RFN_UNSIGNED);
    for (;; n++) {
        before = left;
        uint64_t found = rfn_pack_signature(large.stream, &left);
        if (found == RFN_UNSIGNED)
            break;
        assert_true(found == large.signature && left.work < before.work);
    }
    assert_in_range(n, 1, 100);
    before = left;
    assert_true(rfn_pack_signature(small.stream, &left) == small.signature);
    assert_memory_equal(&before, &left, sizeof left);
    rfn_stream_free(small.stream);
    rfn_stream_free(large.stream);
}

/* Of nodes that are frozen, too. */
static void test_frozen(void **state)
{
    (void)state;
    struct rfn_memory memory = {.limit = 1 << 20};
    struct sample sample = make_sample(250, 20000, &memory);
    struct rfn_path_limits left = rfn_signature_limits;
    struct rfn_fold_view view;
    rfn_fold_view(rfn_stream_fold(sample.stream), &view);
    assert_true(view.frozen->n > 1000);
    assert_true(rfn_stream_signature(sample.stream) == RFN_UNSIGNED);
    assert_true(rfn_pack_signature(sample.stream, &left) == sample.signature);
    rfn_stream_free(sample.stream);
}

/* A stream of more nodes than may be looked at is left before anything is done with them. */
static void test_many_nodes(void **state)
{
    (void)state;
    struct sample sample = make_sample(250, 20000, NULL);
    struct rfn_path_limits left = rfn_signature_limits;
    struct rfn_fold_view view;
    rfn_fold_view(rfn_stream_fold(sample.stream), &view);
    left.steps = rfn_stream_symbols(sample.stream) + view.n_top - 1;
    const struct rfn_path_limits before = left;
    assert_true(rfn_pack_signature(sample.stream, &left) == RFN_UNSIGNED);
    assert_memory_equal(&before, &left, sizeof left);
    rfn_stream_free(sample.stream);
}

/* Without any call it is signed, too. */
static void test_no_calls(void **state)
{
    (void)state;
    struct rfn_path_limits left = rfn_signature_limits;
    struct sample sample = make_sample(1, 0, NULL);
    assert_int_equal(rfn_pack_signature(sample.stream, &left), 1);
    rfn_stream_free(sample.stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_several), cmocka_unit_test(test_frozen),
        cmocka_unit_test(test_many_nodes), cmocka_unit_test(test_no_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
