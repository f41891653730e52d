/* Signing the streams of a process in the end: what is left to do, and how much that may be. */
#include "archive/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct rfn_function functions[] = {{"MPI_Barrier", RFN_CLASS_BARRIER, 0, 0, 0, NULL}};

static uint64_t letter(const void *context, uint32_t site)
{
    (void)context;
    return rfn_hash_bytes(&site, sizeof site);
}

/* So many calls in no order, each from one of n places; *signature is the right one. */
static struct rfn_stream *make_sample(uint32_t n, uint32_t calls, uint64_t *signature)
{
    const struct rfn_stream_options options = {.functions = functions, .letter = letter};
    struct rfn_stream *stream = rfn_stream_new(&options);
    struct rfn_elastic elastic = {0};
    assert_non_null(stream);
    srand(n);
    for (uint32_t i = 0; i < calls; i++) {
        uint32_t site = (uint32_t)rand() % n;
        assert_int_equal(rfn_stream_event(stream, &(struct rfn_event){.site = site}), 0);
        assert_int_equal(rfn_elastic_append(&elastic, letter(NULL, site) | 1), 0);
    }
    assert_int_equal(rfn_stream_flush(stream), 0);
    *signature = rfn_elastic_signature(&elastic);
    rfn_elastic_release(&elastic);
    return stream;
}

/* What is kept takes nothing in the end. What is not is made of the structure, and takes of what is
 * left: of several such streams the last ones are not signed. */
static void test_several(void **state)
{
    (void)state;
    struct rfn_path_limits left = rfn_signature_limits, before;
    uint64_t small_one, large_one, found;
    struct rfn_stream *small = make_sample(10, 1000, &small_one);
    struct rfn_stream *large = make_sample(250, 20000, &large_one);
    int n = 0;
    assert_true(rfn_stream_signature(small) == small_one);
    assert_true(rfn_stream_signature(large) == RFN_UNSIGNED);
    for (;; n++) {
        before = left;
        found = rfn_pack_signature(large, &left);
        if (found == RFN_UNSIGNED)
            break;
        assert_true(found == large_one && left.work < before.work);
    }
    assert_in_range(n, 1, 100);
    before = left;
    assert_true(rfn_pack_signature(small, &left) == small_one);
    assert_memory_equal(&before, &left, sizeof left);
    rfn_stream_free(small);
    rfn_stream_free(large);
}

/* A stream of more nodes than may be looked at is left before anything is done with them. */
static void test_many_nodes(void **state)
{
    (void)state;
    uint64_t signature;
    struct rfn_stream *stream = make_sample(250, 20000, &signature);
    struct rfn_path_limits left = rfn_signature_limits;
    struct rfn_fold_view view;
    rfn_fold_view(rfn_stream_fold(stream), &view);
    left.steps = rfn_stream_symbols(stream) + view.n_top - 1;
    const struct rfn_path_limits before = left;
    assert_true(rfn_pack_signature(stream, &left) == RFN_UNSIGNED);
    assert_memory_equal(&before, &left, sizeof left);
    rfn_stream_free(stream);
}

/* Without any call it is signed, too. */
static void test_no_calls(void **state)
{
    (void)state;
    struct rfn_path_limits left = rfn_signature_limits;
    uint64_t none;
    struct rfn_stream *stream = make_sample(1, 0, &none);
    assert_int_equal(rfn_pack_signature(stream, &left), 1);
    rfn_stream_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_several),
                                       cmocka_unit_test(test_many_nodes),
                                       cmocka_unit_test(test_no_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
