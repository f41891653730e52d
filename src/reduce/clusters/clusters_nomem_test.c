/* Clusters out of memory: of all allocations of merging, dividing, writing and reading, and of
 * computing signatures, each fails once; they say so, and leave nothing behind. */
#include "reduce/clusters/clusters.h"

#include "support/fold_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/fail_each.h"
#include "support/random_clusters.h"

enum { RANKS = 12 };

static int read_back(const struct rfn_clusters *clusters)
{
    struct rfn_clusters back = {0};
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_clusters_write(clusters, &buf);
    int error = rfn_buf_status(&buf);
    if (!error) {
        struct rfn_reader reader = rfn_reader_over(buf.data, buf.size);
        error = rfn_clusters_read(&back, &reader, RANKS);
    }
    rfn_buf_release(&buf);
    rfn_clusters_release(&back);
    return error;
}

static int divide(const struct rfn_clusters *clusters)
{
    uint32_t groups[RANKS], *slots;
    size_t n;
    for (size_t i = 0; i < clusters->n; i++) {
        int64_t found = rfn_shape_divide(&clusters->shapes[i], 0.05, NULL, groups);
        RFN_TRY(found < 0 ? (int)found : 0);
        RFN_TRY(rfn_shape_differing(&clusters->shapes[i], &slots, &n));
        free(slots);
    }
    return 0;
}

static int merge_all(struct rfn_clusters *all)
{
    srand(1);
    for (uint32_t i = 0; i < RANKS; i++) {
        struct random_member made;
        struct rfn_clusters one = {0};
        make_member(&made, i);
        int error = rfn_clusters_begin(&one, &made.member);
        if (!error)
            error = rfn_clusters_merge(all, &one);
        rfn_clusters_release(&one);
        RFN_TRY(error);
    }
    return 0;
}

static int cluster(const void *nothing)
{
    (void)nothing;
    struct rfn_clusters all = {0};
    int error = merge_all(&all);
    if (!error)
        error = divide(&all);
    if (!error)
        error = read_back(&all);
    rfn_clusters_release(&all);
    return error;
}

static void test_clusters(void **state)
{
    (void)state;
    fail_each(100, cluster, NULL); /* giving memory back may fail */
}

/* The stream is folded with memory; only the signature does without. */
static int sign(const void *fold)
{
    static const uint64_t call_hashes[] = {11, 22, 33, 44};
    struct rfn_path_nodes *loops;
    struct rfn_path_source source;
    static uint64_t known[3];
    uint64_t signature;
    RFN_TRY(fold_source((struct rfn_fold *)(uintptr_t)fold, call_hashes, 4, &loops, &source));
    int error = 0;
    for (int form = RFN_PATHS_ELASTIC; form <= RFN_PATHS_XOR && !error; form++) {
        error = rfn_path_signature(&source, (enum rfn_path_form)form, &signature);
        if (!error && !known[form])
            known[form] = signature;
        assert_true(error || signature == known[form]);
    }
    free(loops);
    return error;
}

static void test_signature(void **state)
{
    (void)state;
    struct rfn_fold *fold = rfn_fold_new(0);
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(rfn_fold_append(fold, 0), 0);
        for (uint32_t k = 0; k < i * i % 3; k++)
            assert_int_equal(rfn_fold_append(fold, 1), 0);
        for (uint32_t k = 0; k < 2 + i % 2; k++)
            assert_int_equal(rfn_fold_append(fold, 2), 0);
        assert_int_equal(rfn_fold_append(fold, 3), 0);
    }
    fail_each(20, sign, fold); /* columns do without some */
    rfn_fold_free(fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
