#include "reduce/merge/stream_classes.h"

#include "reduce/clusters/path_signature.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct rfn_hash128 digest_of(int thing)
{
    return rfn_hash128_bytes(&thing, sizeof thing);
}

static void add(struct rfn_stream_classes *kinds, int shape, int structure, int content,
                uint64_t bytes)
{
    assert_int_equal(rfn_stream_classes_add(
                         kinds, &(struct rfn_stream_digests){.shape = digest_of(shape).low,
                                                             .structure = digest_of(structure),
                                                             .content = digest_of(content),
                                                             .shape_bytes = bytes,
                                                             .content_bytes = bytes}),
                     0);
}

static uint64_t number(const struct rfn_stream_classes *kinds, size_t stream,
                       enum rfn_stream_class kind)
{
    return rfn_stream_class_of(kinds, stream, kind).number;
}

/* Groups 10 and 12 are of one shape, 11 is not; all have the same content. */
static void test_together(void **state)
{
    (void)state;
    struct rfn_stream_classes kinds = {0};
    add(&kinds, 0, 10, 5, 100);
    add(&kinds, 1, 11, 5, 100);
    add(&kinds, 0, 12, 5, 100);
    add(&kinds, 0, 10, 5, 100);
    assert_int_equal(rfn_stream_classes_number(&kinds, 1 << 10), 0);
    const uint64_t groups[] = {0, 2, 1, 0};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_GROUP), groups[i]);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_VALUES), groups[i]);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_SHAPE), i == 1);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_CONTENT), 0);
        assert_int_equal(rfn_stream_class_of(&kinds, i, RFN_KIND_OF_GROUP).first, i < 3);
        assert_int_equal(rfn_stream_class_of(&kinds, i, RFN_KIND_OF_SHAPE).first, i < 2);
        for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++)
            assert_true(rfn_stream_class_of(&kinds, i, k).together);
    }
    rfn_stream_classes_release(&kinds);
}

static const struct signed_stream {
    uint64_t signature;
    int shape, structure;
    uint64_t group, values;
} signed_streams[] = {
    {7, 0, 10, 0, 0}, {8, 1, 11, 3, 4}, {7, 2, 12, 2, 3}, {8, 0, 10, 0, 1}, {7, 0, 13, 1, 2}};
enum { SIGNED = sizeof signed_streams / sizeof *signed_streams };

static void add_signed(struct rfn_stream_classes *kinds, size_t i)
{
    const struct signed_stream *stream = &signed_streams[i];
    const struct rfn_stream_digests digests = {.signature = stream->signature,
                                               .shape = digest_of(stream->shape).low,
                                               .structure = digest_of(stream->structure),
                                               .content = digest_of((int)i)};
    assert_int_equal(rfn_stream_classes_add(kinds, &digests), 0);
}

static void expect_signed(struct rfn_stream_classes *kinds)
{
    assert_int_equal(rfn_stream_classes_number(kinds, 1 << 10), 0);
    uint64_t *signatures = rfn_stream_classes_signatures(kinds);
    assert_non_null(signatures);
    assert_int_equal(kinds->of[RFN_KIND_OF_VALUES].n, SIGNED);
    for (size_t i = 0; i < SIGNED; i++)
        assert_int_equal(signatures[signed_streams[i].values], signed_streams[i].signature);
    free(signatures);
}

/* Shapes 0 and 2 begin with streams of one main cluster. What streams of a group call may differ,
 * by their values. */
static void test_main_clusters(void **state)
{
    (void)state;
    struct rfn_stream_classes kinds = {0};
    for (size_t i = 0; i < SIGNED; i++)
        add_signed(&kinds, i);
    expect_signed(&kinds);
    for (size_t i = 0; i < SIGNED; i++) {
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_GROUP), signed_streams[i].group);
        assert_int_equal(number(&kinds, i, RFN_KIND_OF_VALUES), signed_streams[i].values);
    }
    rfn_stream_classes_release(&kinds);
}

/* A node that has the first streams, and a child that has the others, of which some are of the
 * node's shapes with another signature. */
static void test_signatures_go_up(void **state)
{
    (void)state;
    for (size_t own = 0; own < SIGNED; own++) {
        struct rfn_stream_classes node = {0}, child = {0};
        struct rfn_mapping mappings[RFN_STREAM_KINDS] = {{0}};
        struct rfn_buf message = RFN_BUF_INIT;
        for (size_t i = 0; i < SIGNED; i++)
            add_signed(i < own ? &node : &child, i);
        rfn_stream_classes_write(&child, &message);
        for (size_t size = 0; size <= message.size; size++) {
            struct rfn_reader reader = rfn_reader_over(message.data, size);
            struct rfn_stream_classes cut = {0};
            int error = rfn_stream_classes_join(size < message.size ? &cut : &node, mappings,
                                                &reader);
            assert_int_equal(error, size < message.size ? RFN_E_EXCHANGE : 0);
            for (int k = 0; k < RFN_STREAM_KINDS; k++)
                rfn_mapping_release(&mappings[k]);
            rfn_stream_classes_release(&cut);
        }
        expect_signed(&node);
        rfn_stream_classes_release(&node);
        rfn_stream_classes_release(&child);
        rfn_buf_release(&message);
    }
}

static void add_with_signature(struct rfn_stream_classes *kinds, int content, uint64_t signature)
{
    const struct rfn_stream_digests digests = {
        .signature = signature, .structure = digest_of(10), .content = digest_of(content)};
    assert_int_equal(rfn_stream_classes_add(kinds, &digests), 0);
}

static void send_up(const struct rfn_stream_classes *child, struct rfn_stream_classes *node)
{
    struct rfn_mapping mappings[RFN_STREAM_KINDS] = {{0}};
    struct rfn_buf message = RFN_BUF_INIT;
    rfn_stream_classes_write(child, &message);
    struct rfn_reader reader = rfn_reader_over(message.data, message.size);
    assert_int_equal(rfn_stream_classes_join(node, mappings, &reader), 0);
    for (int k = 0; k < RFN_STREAM_KINDS; k++)
        rfn_mapping_release(&mappings[k]);
    rfn_buf_release(&message);
}

/* One set whatever its streams' signatures are; the first that is one is that of the set, whether
 * streams are of one process or come from a child. */
static void test_one_signature(void **state)
{
    (void)state;
    static const uint64_t cases[][4] = {/* three streams', the set's */
                                        {RFN_UNSIGNED, RFN_UNSIGNED, RFN_UNSIGNED, RFN_UNSIGNED},
                                        {RFN_UNSIGNED, RFN_UNSIGNED, 7, 7},
                                        {RFN_UNSIGNED, 7, RFN_UNSIGNED, 7},
                                        {7, RFN_UNSIGNED, RFN_UNSIGNED, 7},
                                        {7, 8, RFN_UNSIGNED, 7},
                                        {RFN_UNSIGNED, 8, 7, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int own = 0; own <= 3; own++) {
            struct rfn_stream_classes node = {0}, child = {0};
            for (int k = 0; k < 3; k++)
                add_with_signature(k < own ? &node : &child, 5, cases[i][k]);
            send_up(&child, &node);
            assert_int_equal(node.of[RFN_KIND_OF_VALUES].n, 1);
            assert_int_equal(node.of[RFN_KIND_OF_SHAPE].items[0].signature, cases[i][3]);
            assert_int_equal(rfn_stream_classes_number(&node, 0), 0);
            uint64_t *signatures = rfn_stream_classes_signatures(&node);
            assert_non_null(signatures);
            assert_int_equal(signatures[0], cases[i][3]);
            free(signatures);
            rfn_stream_classes_release(&node);
            rfn_stream_classes_release(&child);
        }
    }
}

/* A set that is not signed stays so where another set of its shape is. */
static void test_unsigned_set(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        struct rfn_stream_classes node = {0}, child = {0};
        add_with_signature(&child, 5, first ? RFN_UNSIGNED : 7);
        add_with_signature(&child, 6, first ? 7 : RFN_UNSIGNED);
        send_up(&child, &node);
        assert_int_equal(node.of[RFN_KIND_OF_SHAPE].items[0].signature, 7);
        for (int i = 0; i < 2; i++)
            assert_int_equal(node.of[RFN_KIND_OF_VALUES].items[i].signature,
                             i == first ? 7 : RFN_UNSIGNED);
        rfn_stream_classes_release(&node);
        rfn_stream_classes_release(&child);
    }
}

/* As they came, and nothing comes to rank 0. */
static void test_apart(void **state)
{
    (void)state;
    struct rfn_stream_classes kinds = {0};
    for (int i = 0; i < 3; i++)
        add(&kinds, i % 2, 10 + i, 5 + i, 100);
    assert_int_equal(rfn_stream_classes_number(&kinds, 0), 0);
    for (size_t i = 0; i < 3; i++) {
        for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++) {
            assert_int_equal(number(&kinds, i, k), k == RFN_KIND_OF_SHAPE ? i % 2 : i);
            assert_false(rfn_stream_class_of(&kinds, i, k).together);
        }
    }
    rfn_stream_classes_release(&kinds);
}

/* Every copy counts: two groups of 400 bytes fit into 1000, then there is no room for three of 100,
 * but for one of 10. What is too large for anybody does not come either. */
static void test_room(void **state)
{
    (void)state;
    struct rfn_stream_classes kinds = {0};
    add(&kinds, 0, 10, 50, 400);
    add(&kinds, 0, 11, 50, 400);
    for (int i = 0; i < 3; i++)
        add(&kinds, 1, 20 + i, 51, 100);
    add(&kinds, 2, 30, 52, 10);
    add(&kinds, 3, 40, 53, 1 << 20);
    assert_int_equal(rfn_stream_classes_number(&kinds, 1000), 0);
    static const bool together[] = {true, true, false, false, false, true, false};
    for (size_t i = 0; i < 7; i++) {
        for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++)
            assert_int_equal(rfn_stream_class_of(&kinds, i, k).together, together[i]);
    }
    rfn_stream_classes_release(&kinds);
    add(&kinds, 0, 10, 50, 1 << 20);
    assert_int_equal(rfn_stream_classes_number(&kinds, UINT64_MAX), 0);
    assert_false(rfn_stream_class_of(&kinds, 0, RFN_KIND_OF_GROUP).together);
    assert_false(rfn_stream_class_of(&kinds, 0, RFN_KIND_OF_VALUES).together);
    rfn_stream_classes_release(&kinds);
}

/* A message that ends early, or refers to what it does not have, is no message. */
static void test_malformed(void **state)
{
    (void)state;
    struct rfn_stream_classes kinds = {0};
    struct rfn_buf bytes = RFN_BUF_INIT;
    add(&kinds, 0, 10, 5, 100);
    add(&kinds, 1, 11, 6, 100);
    rfn_stream_classes_write(&kinds, &bytes);
    rfn_stream_classes_release(&kinds);
    for (size_t size = 0; size <= bytes.size; size++) {
        struct rfn_mapping mappings[RFN_STREAM_KINDS] = {{0}};
        struct rfn_reader reader = rfn_reader_over(bytes.data, size);
        assert_int_equal(rfn_stream_classes_join(&kinds, mappings, &reader),
                         size < bytes.size ? RFN_E_EXCHANGE : 0);
        rfn_stream_classes_release(&kinds);
        for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++)
            rfn_mapping_release(&mappings[k]);
    }
    struct rfn_mapping mappings[RFN_STREAM_KINDS] = {{0}};
    bytes.data[bytes.size - 1] = 2 << 1; /* the content of the last value set */
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_stream_classes_join(&kinds, mappings, &reader), RFN_E_EXCHANGE);
    rfn_stream_classes_release(&kinds);
    for (enum rfn_stream_class k = 0; k < RFN_STREAM_KINDS; k++)
        rfn_mapping_release(&mappings[k]);
    rfn_buf_release(&bytes);
}

enum { N_FATES = 7 };

static const struct rfn_fate fates[N_FATES] = {{3, 1}, {4, 1}, {5, 1}, {6, 0},
                                               {0, 2}, {1, 2}, {9, 3}};

static struct rfn_buf written(void)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    rfn_fates_write(fates, N_FATES, &bytes);
    return bytes;
}

/* Consecutive numbers take no more bytes for being many. */
static void test_number_runs(void **state)
{
    (void)state;
    static struct rfn_fate many[1000], read[1000];
    struct rfn_buf bytes = RFN_BUF_INIT;
    for (size_t i = 0; i < 1000; i++)
        many[i] = (struct rfn_fate){i + 5, 1};
    rfn_fates_write(many, 1000, &bytes);
    assert_int_equal(bytes.size, 3);
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, 1000, 1005, &reader), 0);
    for (size_t i = 0; i < 1000; i++)
        assert_true(read[i].number == i + 5 && read[i].bits == 1);
    rfn_buf_release(&bytes);
}

static void test_fates(void **state)
{
    (void)state;
    struct rfn_fate read[N_FATES];
    struct rfn_buf bytes = written();
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, N_FATES, 10, &reader), 0);
    assert_int_equal(rfn_reader_left(&reader), 0);
    for (size_t i = 0; i < N_FATES; i++)
        assert_true(read[i].number == fates[i].number && read[i].bits == fates[i].bits);
    rfn_buf_release(&bytes);
}

/* Too few bytes, too many things, numbers that there are not. */
static void test_malformed_fates(void **state)
{
    (void)state;
    struct rfn_fate read[N_FATES];
    struct rfn_buf bytes = written();
    for (size_t size = 0; size < bytes.size; size++) {
        struct rfn_reader reader = rfn_reader_over(bytes.data, size);
        assert_int_equal(rfn_fates_read(read, N_FATES, 10, &reader), RFN_E_EXCHANGE);
    }
    struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, N_FATES, 9, &reader), RFN_E_EXCHANGE);
    reader = rfn_reader_over(bytes.data, bytes.size);
    assert_int_equal(rfn_fates_read(read, 2, 10, &reader), RFN_E_EXCHANGE);
    rfn_buf_release(&bytes);
}

static void test_runs_of_places(void **state)
{
    (void)state;
    struct rfn_mapping mapping = {0};
    assert_int_equal(rfn_mapping_add(&mapping, 17, true), 0);
    assert_true(mapping.things[0].to == 17 && mapping.things[0].created);
    assert_int_equal(rfn_mapping_add_run(&mapping, 5, 3), 0);
    assert_int_equal(mapping.n, 4);
    for (uint32_t i = 1; i < 4; i++)
        assert_true(mapping.things[i].to == 4 + i && !mapping.things[i].created);
    rfn_mapping_release(&mapping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_main_clusters),
        cmocka_unit_test(test_signatures_go_up),
        cmocka_unit_test(test_one_signature),
        cmocka_unit_test(test_unsigned_set),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_number_runs),
        cmocka_unit_test(test_fates),
        cmocka_unit_test(test_malformed_fates),
        cmocka_unit_test(test_runs_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
