/* Signing the streams of a process: what the small ones leave is there for the large one. */
#include "archive/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct rfn_function functions[] = {{"MPI_Barrier", RFN_CLASS_BARRIER, 0, 0, 0, NULL}};

/* A stream that calls from n places one after the other, and the hashes of its sites. */
struct sample {
    struct rfn_stream *stream;
    uint64_t *functions, *paths;
    struct rfn_pack_refs refs;
};

static struct sample make_sample(uint32_t n)
{
    const struct rfn_stream_options options = {.functions = functions};
    struct sample sample = {.stream = rfn_stream_new(&options),
                            .functions = calloc(n + (size_t)1, sizeof *sample.functions),
                            .paths = calloc(n + (size_t)1, sizeof *sample.paths)};
    assert_true(sample.stream && sample.functions && sample.paths);
    for (uint32_t i = 0; i < n; i++) {
        sample.paths[i] = rfn_hash_bytes(&i, sizeof i);
        assert_int_equal(rfn_stream_event(sample.stream, &(struct rfn_event){.site = i}), 0);
    }
    assert_int_equal(rfn_stream_flush(sample.stream), 0);
    sample.refs = (struct rfn_pack_refs){
        .site_functions = sample.functions, .site_paths = sample.paths, .n_sites = n};
    return sample;
}

static void release_sample(struct sample *sample)
{
    rfn_stream_free(sample->stream);
    free(sample->functions);
    free(sample->paths);
}

/* 60 threads that do little and one that takes more than a 61st of what may be done in the end; of
 * two that take most of it the second is not signed, but a small one still is. */
static void test_several(void **state)
{
    (void)state;
    struct rfn_path_limits left = rfn_signature_limits;
    struct sample small = make_sample(10), large = make_sample(900);
    uint64_t signature = rfn_pack_signature(small.stream, &small.refs, &left);
    assert_true(signature != RFN_UNSIGNED);
    for (int i = 1; i < 60; i++)
        assert_true(rfn_pack_signature(small.stream, &small.refs, &left) == signature);
    uint64_t other = rfn_pack_signature(large.stream, &large.refs, &left);
    assert_true(other != RFN_UNSIGNED && other != signature);
    assert_true(left.work == rfn_signature_limits.work - 60 * 100 - 900 * 900);
    assert_true(rfn_pack_signature(large.stream, &large.refs, &left) == RFN_UNSIGNED);
    assert_true(rfn_pack_signature(small.stream, &small.refs, &left) == signature);
    release_sample(&small);
    release_sample(&large);
}

/* A stream of more symbols than may be looked at is left before anything is done with them. */
static void test_many_symbols(void **state)
{
    (void)state;
    struct sample sample = make_sample(100);
    struct rfn_path_limits left = rfn_signature_limits;
    left.steps = 199;
    assert_true(rfn_pack_signature(sample.stream, &sample.refs, &left) == RFN_UNSIGNED);
    assert_int_equal(left.steps, 199);
    left.steps = 200; /* a symbol and a node for each */
    assert_true(rfn_pack_signature(sample.stream, &sample.refs, &left) != RFN_UNSIGNED);
    assert_int_equal(left.steps, 0);
    release_sample(&sample);
}

/* Without any call it is signed, too. */
static void test_no_calls(void **state)
{
    (void)state;
    struct rfn_path_limits left = rfn_signature_limits;
    struct sample sample = make_sample(0);
    assert_int_equal(rfn_pack_signature(sample.stream, &sample.refs, &left), 1);
    release_sample(&sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_many_symbols),
                                       cmocka_unit_test(test_no_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
