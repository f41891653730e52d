/* Sets of clusters: however ranks are merged, the bytes are the same; every rank's words come back;
 * what is divided follows the lowest ranks; bytes that are none of ours are refused. */
#include "reduce/clusters/clusters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reduce/merge/exchange.h"
#include "support/random_clusters.h"

enum { RANKS = 48 };

static struct random_member members[RANKS];

static void begin_with(struct rfn_clusters *clusters, uint32_t rank)
{
    *clusters = (struct rfn_clusters){0};
    assert_int_equal(rfn_clusters_begin(clusters, &members[rank].member), 0);
}

/* Merges all ranks, two random sets at a time. */
static struct rfn_clusters merge_randomly(uint32_t n)
{
    struct rfn_clusters sets[RANKS];
    for (uint32_t i = 0; i < n; i++)
        begin_with(&sets[i], i);
    while (n > 1) {
        uint32_t a = (uint32_t)rand() % n, b = (uint32_t)rand() % (n - 1);
        b += b >= a;
        assert_int_equal(rfn_clusters_merge(&sets[a], &sets[b]), 0);
        assert_int_equal(sets[b].n, 0);
        sets[b] = sets[n - 1];
        if (a == n - 1)
            a = b;
        n--;
    }
    return sets[0];
}

static struct rfn_buf bytes_of(const struct rfn_clusters *clusters)
{
    struct rfn_buf buf = RFN_BUF_INIT;
    rfn_clusters_write(clusters, &buf);
    assert_int_equal(rfn_buf_status(&buf), 0);
    return buf;
}

static void expect_equal(const struct rfn_buf *a, const struct rfn_buf *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void check_word(const struct rfn_cluster_shape *shape,
                       const struct rfn_cluster_variant *variant, uint32_t rank)
{
    const struct random_member *member = &members[rank];
    assert_int_equal(shape->signature, member->member.signature);
    assert_int_equal(shape->n_fields, MEMBER_FIELDS);
    assert_in_range(member->member.calls, shape->calls_least, shape->calls_most);
    for (uint32_t i = 0; i < shape->n_words; i++)
        assert_int_equal(rfn_variant_word(shape, variant, i), member->words[i]);
}

static void check_all(const struct rfn_clusters *clusters, uint32_t n)
{
    uint32_t ranks[RANKS];
    uint64_t found = 0;
    for (size_t i = 0; i < clusters->n; i++) {
        for (size_t k = 0; k < clusters->shapes[i].n_variants; k++) {
            const struct rfn_cluster_variant *variant = &clusters->shapes[i].variants[k];
            rfn_rank_set_list(&variant->ranks, ranks);
            for (uint64_t m = 0; m < variant->ranks.n; m++)
                check_word(&clusters->shapes[i], variant, ranks[m]);
            found += variant->ranks.n;
        }
    }
    assert_int_equal(found, n);
}

static void test_any_order(void **state)
{
    (void)state;
    srand(11);
    for (unsigned i = 0; i < 400; i++) {
        uint32_t n = 1 + (uint32_t)rand() % RANKS;
        for (uint32_t k = 0; k < n; k++)
            make_member(&members[k], k);
        struct rfn_clusters first = merge_randomly(n), second = merge_randomly(n), back = {0};
        struct rfn_buf a = bytes_of(&first), b = bytes_of(&second);
        check_all(&first, n);
        expect_equal(&a, &b);
        struct rfn_reader reader = rfn_reader_over(a.data, a.size);
        assert_int_equal(rfn_clusters_read(&back, &reader, RANKS), 0);
        check_all(&back, n);
        rfn_buf_release(&b);
        b = bytes_of(&back);
        expect_equal(&a, &b);
        rfn_buf_release(&a);
        rfn_buf_release(&b);
        rfn_clusters_release(&first);
        rfn_clusters_release(&second);
        rfn_clusters_release(&back);
    }
}

/* ---- up the tree of ranks, as at the end of a run ---- */

static struct rfn_buf mail[RANKS]; /* to the parent; ranks have one each */

static int send_mail(void *context, int to, const void *bytes, size_t size)
{
    (void)to;
    rfn_buf_bytes(&mail[*(int *)context], bytes, size);
    return 0;
}

static int receive_mail(void *context, int from, struct rfn_buf *bytes)
{
    (void)context;
    rfn_buf_bytes(bytes, mail[from].data, mail[from].size);
    rfn_buf_release(&mail[from]);
    return 0;
}

static int merge_message(void *state, const uint8_t *bytes, size_t size)
{
    struct rfn_clusters other = {0};
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    int error = rfn_clusters_read(&other, &reader, RANKS);
    if (!error)
        error = rfn_clusters_merge(state, &other);
    rfn_clusters_release(&other);
    return error;
}

static int write_message(void *state, struct rfn_buf *out)
{
    rfn_clusters_write(state, out);
    return rfn_buf_status(out);
}

/* Children have higher numbers: they are through before their parent begins. */
static struct rfn_clusters merge_up(uint32_t n)
{
    struct rfn_clusters own;
    for (int rank = (int)n - 1;; rank--) {
        struct rfn_exchange exchange = {.rank = rank,
                                        .size = (int)n,
                                        .context = &rank,
                                        .send = send_mail,
                                        .receive = receive_mail};
        begin_with(&own, (uint32_t)rank);
        assert_int_equal(rfn_exchange_up(&exchange, merge_message, write_message, &own), 0);
        if (rank == 0)
            return own;
        rfn_clusters_release(&own);
    }
}

static void test_tree(void **state)
{
    (void)state;
    srand(13);
    for (uint32_t n = 1; n <= RANKS; n++) {
        for (uint32_t k = 0; k < n; k++)
            make_member(&members[k], k);
        struct rfn_clusters up = merge_up(n), other = merge_randomly(n);
        struct rfn_buf a = bytes_of(&up), b = bytes_of(&other);
        check_all(&up, n);
        expect_equal(&a, &b);
        rfn_buf_release(&a);
        rfn_buf_release(&b);
        rfn_clusters_release(&up);
        rfn_clusters_release(&other);
    }
}

/* Sets that come as bytes from other ranks are merged like those that are made here. */
static void test_damaged_bytes(void **state)
{
    (void)state;
    srand(12);
    unsigned read = 0;
    for (uint32_t k = 0; k < RANKS; k++)
        make_member(&members[k], k);
    struct rfn_clusters whole = merge_randomly(RANKS);
    struct rfn_buf buf = bytes_of(&whole);
    for (unsigned i = 0; i < 20000; i++) {
        size_t at = (size_t)rand() % buf.size, size = i % 4 ? buf.size : (size_t)rand() % buf.size;
        uint8_t kept = buf.data[at];
        struct rfn_clusters back = {0};
        buf.data[at] = (uint8_t)rand();
        struct rfn_reader reader = rfn_reader_over(buf.data, size);
        read += rfn_clusters_read(&back, &reader, RANKS) == 0;
        rfn_clusters_release(&back);
        buf.data[at] = kept;
    }
    assert_in_range(read, 1, 19999);
    rfn_buf_release(&buf);
    rfn_clusters_release(&whole);
}

/* Ranks with one count each. */
static struct rfn_clusters with_counts(const int64_t *counts, uint32_t n)
{
    struct rfn_clusters all = {0};
    const struct rfn_cluster_field fields[] = {{1, 0, RFN_ROLE_COUNT, 2},
                                               {1, 1, RFN_ROLE_EXACT, 1}};
    for (uint32_t i = 0; i < n; i++) {
        const int64_t words[] = {counts[i], counts[i], i & 1};
        const struct rfn_cluster_member member = {
            .rank = i, .fields = fields, .n_fields = 2, .words = words};
        struct rfn_clusters one = {0};
        assert_int_equal(rfn_clusters_begin(&one, &member), 0);
        assert_int_equal(rfn_clusters_merge(&all, &one), 0);
    }
    return all;
}

static void test_division(void **state)
{
    (void)state;
    /* Even ranks and odd ranks differ in what must be equal. */
    const int64_t counts[] = {1000, 1000, 1050, 1051, 950, 1052, 949, 1000, 990, 0, 1000, 1};
    const uint32_t expected[] = {0, 1, 0, 2, 0, 2, 3, 1, 0, 4, 0, 5};
    struct rfn_clusters all = with_counts(counts, 12);
    uint32_t groups[12], ranks[12];
    assert_int_equal(all.n, 1);
    const struct rfn_cluster_shape *shape = &all.shapes[0];
    assert_int_equal(rfn_shape_divide(shape, 0.05, NULL, groups), 6);
    for (size_t i = 0; i < shape->n_variants; i++) {
        rfn_rank_set_list(&shape->variants[i].ranks, ranks);
        for (uint64_t k = 0; k < shape->variants[i].ranks.n; k++)
            assert_int_equal(groups[i], expected[ranks[k]]);
    }
    const bool counts_ignored[] = {true, true, false}, all_ignored[] = {true, true, true};
    assert_int_equal(rfn_shape_divide(shape, 0.05, counts_ignored, groups), 2);
    assert_int_equal(rfn_shape_divide(shape, 0.05, all_ignored, groups), 1);
    assert_int_equal(rfn_shape_divide(shape, 0, NULL, groups), shape->n_variants);
    rfn_clusters_release(&all);
}

static void test_fields(void **state)
{
    (void)state;
    const int64_t counts[] = {1, 2};
    struct rfn_clusters all = with_counts(counts, 2);
    uint32_t *slots, first;
    size_t n;
    assert_int_equal(rfn_shape_differing(&all.shapes[0], &slots, &n), 0);
    assert_int_equal(n, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(slots[i], i);
        assert_int_equal(rfn_shape_field(&all.shapes[0], i, &first)->input, i / 2);
        assert_int_equal(first, i / 2 * 2);
    }
    free(slots);
    rfn_clusters_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),     cmocka_unit_test(test_tree),
        cmocka_unit_test(test_damaged_bytes), cmocka_unit_test(test_division),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
