#include "reduce/stream_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rfn_hash128 digest_of(int thing)
{
    return rfn_hash128_bytes(&thing, sizeof thing);
}

static void add(struct rfn_stream_kinds *kinds, int shape, int structure, int content,
                uint64_t bytes)
{
    assert_int_equal(
        rfn_stream_kinds_add(kinds, &(struct rfn_stream_digests){.shape = digest_of(shape).low,
                                                                 .structure = digest_of(structure),
                                                                 .content = digest_of(content),
                                                                 .shape_bytes = bytes,
                                                                 .content_bytes = bytes}),
        0);
}

static uint64_t number(const struct rfn_stream_kinds *kinds, size_t stream,
                       enum rfn_stream_kind kind)
{
    return rfn_stream_fate(kinds, stream, kind).number;
}

/* Groups 10 and 12 are of one shape, 11 is not; all have the same content. */
static void test_together(void **state)
{
    (void)state;
    struct rfn_stream_kinds kinds = {0};
    add(&kinds, 0, 10, 5, 100);
    add(&kinds, 1, 11, 5, 100);
    add(&kinds, 0, 12, 5, 100);
    add(&kinds, 0, 10, 5, 100);
    assert_int_equal(rfn_stream_kinds_number(&kinds, 1 << 10), 0);
    const uint64_t groups[] = {0, 2, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_GROUP), groups[i]);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_VALUES), groups[i]);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_SHAPE), i == 1);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_CONTENT), 0);
        assert_int_equal(rfn_stream_fate(&kinds, i, RFN_KIND_OF_GROUP).first, i < 3);
        assert_int_equal(rfn_stream_fate(&kinds, i, RFN_KIND_OF_SHAPE).first, i < 2);
        for (enum rfn_stream_kind k = 0; k < RFN_STREAM_KINDS; k++)
            assert_true(rfn_stream_fate(&kinds, i, k).together);
    }
    rfn_stream_kinds_release(&kinds);
}

/* Shapes 0 and 2 are of one main cluster; shape 0 is there in another one, too: that is another
 * shape, and another group, though the structure is the same. */
static void test_main_clusters(void **state)
{
    (void)state;
    static const struct {
        uint64_t signature;
        int shape, structure;
        uint64_t group;
    } streams[] = {{7, 0, 10, 0}, {8, 1, 11, 3}, {7, 2, 12, 2}, {8, 0, 10, 4}, {7, 0, 13, 1}};
    struct rfn_stream_kinds kinds = {0};
    for (size_t i = 0; i < 5; i++) {
        const struct rfn_stream_digests digests = {.signature = streams[i].signature,
                                                   .shape = digest_of(streams[i].shape).low,
                                                   .structure = digest_of(streams[i].structure),
                                                   .content = digest_of(0)};
        assert_int_equal(rfn_stream_kinds_add(&kinds, &digests), 0);
    }
    assert_int_equal(rfn_stream_kinds_number(&kinds, 1 << 10), 0);
    uint64_t *signatures = rfn_stream_kinds_signatures(&kinds);
    assert_non_null(signatures);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_GROUP), streams[i].group);
        assert_int_equal(signatures[streams[i].group], streams[i].signature);
    }
    free(signatures);
    rfn_stream_kinds_release(&kinds);
}

/* As they came, and nothing comes to rank 0. */
static void test_apart(void **state)
{
    (void)state;
    struct rfn_stream_kinds kinds = {0};
    for (int i = 0; i < 3; i++)
        add(&kinds, i % 2, 10 + i, 5 + i, 100);
    assert_int_equal(rfn_stream_kinds_number(&kinds, 0), 0);
    for (size_t i = 0; i < 3; i++) {
        for (enum rfn_stream_kind k = 0; k < RFN_STREAM_KINDS; k++) {
            assert_int_equal(number(&kinds, i, k), k == RFN_KIND_OF_SHAPE ? i % 2 : i);
            assert_false(rfn_stream_fate(&kinds, i, k).together);
        }
    }
    rfn_stream_kinds_release(&kinds);
}

/* Every copy counts: two groups of 400 bytes fit into 1000, then there is no room for three of 100,
 * but for one of 10. What is too large for anybody does not come either. */
static void test_room(void **state)
{
    (void)state;
    struct rfn_stream_kinds kinds = {0};
    add(&kinds, 0, 10, 50, 400);
    add(&kinds, 0, 11, 50, 400);
    for (int i = 0; i < 3; i++)
        add(&kinds, 1, 20 + i, 51, 100);
    add(&kinds, 2, 30, 52, 10);
    add(&kinds, 3, 40, 53, 1 << 20);
    assert_int_equal(rfn_stream_kinds_number(&kinds, 1000), 0);
    static const bool together[] = {true, true, false, false, false, true, false};
    for (size_t i = 0; i < 7; i++) {
        for (enum rfn_stream_kind k = 0; k < RFN_STREAM_KINDS; k++)
            assert_int_equal(rfn_stream_fate(&kinds, i, k).together, together[i]);
    }
    rfn_stream_kinds_release(&kinds);
    add(&kinds, 0, 10, 50, 1 << 20);
    assert_int_equal(rfn_stream_kinds_number(&kinds, UINT64_MAX), 0);
    assert_false(rfn_stream_fate(&kinds, 0, RFN_KIND_OF_GROUP).together);
    assert_false(rfn_stream_fate(&kinds, 0, RFN_KIND_OF_VALUES).together);
    rfn_stream_kinds_release(&kinds);
}

/* A message that ends early, or refers to what it does not have, is no message. */
static void test_malformed(void **state)
{
    (void)state;
    struct rfn_stream_kinds kinds = {0};
    struct rfn_buf bytes = RFN_BUF_INIT;
    add(&kinds, 0, 10, 5, 100);
    add(&kinds, 1, 11, 6, 100);
    rfn_stream_kinds_write(&kinds, &bytes);
    rfn_stream_kinds_release(&kinds);
    for (size_t size = 0; size <= bytes.size; size++) {
        struct rfn_mapping mappings[RFN_STREAM_KINDS] = {{0}};
        struct rfn_reader reader = rfn_reader_over(bytes.data, size);
        assert_int_equal(rfn_stream_kinds_join(&kinds, mappings, &reader),
                         size < bytes.size ? RFN_E_EXCHANGE : 0);
        rfn_stream_kinds_release(&kinds);
        for (enum rfn_stream_kind k = 0; k < RFN_STREAM_KINDS; k++)
            rfn_mapping_release(&mappings[k]);
    }
    struct rfn_mapping mappings[RFN_STREAM_KINDS] = {{0}};
    bytes.data[bytes.size - 1] = 2; /* the content of the last value set */
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_stream_kinds_join(&kinds, mappings, &reader), RFN_E_EXCHANGE);
    rfn_stream_kinds_release(&kinds);
    for (enum rfn_stream_kind k = 0; k < RFN_STREAM_KINDS; k++)
        rfn_mapping_release(&mappings[k]);
    rfn_buf_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together),  cmocka_unit_test(test_main_clusters),
        cmocka_unit_test(test_apart),     cmocka_unit_test(test_room),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
