/* Where CLUSTERS says that its shapes and columns are. */
#include "archive/read/cluster_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FIRST = 10, END = 40, N_GROUPS = 50 };

/* Shapes of 1, 2, 3 ... groups from FIRST on, whose three parts have 1, 2 and 3 times as many
 * bytes, and two columns. `left`: what is not written of the last column. */
static struct rfn_buf make(uint32_t n_shapes, size_t left)
{
    static const uint8_t zeros[3 * (END - FIRST)] = {0}, columns[] = {1, 2, 8, 9, 3, 1, 7};
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, 0);
    rfn_buf_varint(&out, n_shapes);
    for (uint32_t n = 1; n <= n_shapes; n++) {
        for (unsigned i = 0; i < 4; i++)
            rfn_buf_varint(&out, i == 0 ? n : i * n);
    }
    for (uint32_t n = 1; n <= n_shapes; n++) {
        for (unsigned i = 1; i < 4; i++)
            rfn_buf_bytes(&out, zeros, (size_t)i * n);
    }
    rfn_buf_bytes(&out, columns, sizeof columns - left);
    assert_false(out.failed);
    return out;
}

static const char *read_bytes(const struct rfn_buf *bytes, uint32_t first, uint32_t end,
                              struct rfn_cluster_index *shapes)
{
    struct rfn_payload payload = {
        .data = malloc(bytes->size + 1), .size = bytes->size, .id = (uint64_t)first << 32 | end};
    assert_non_null(payload.data);
    memcpy(payload.data, bytes->data, bytes->size);
    const char *fault = rfn_cluster_index_read(shapes, N_GROUPS, &payload);
    assert_null(payload.data);
    return fault;
}

static void test_places(void **state)
{
    (void)state;
    enum { N = 7 }; /* 28 groups */
    struct rfn_buf bytes = make(N, 0);
    struct rfn_cluster_index shapes;
    assert_null(read_bytes(&bytes, FIRST, FIRST + 28, &shapes));
    assert_int_equal(shapes.n, N);
    uint32_t group = FIRST, at = shapes.places[0].numbers;
    assert_int_equal(at, 2 + 4 * N);
    for (uint32_t n = 1; n <= N; n++, group += n - 1) {
        const struct rfn_shape_place *place = &shapes.places[n - 1];
        for (uint32_t i = 0; i < n; i++)
            assert_ptr_equal(rfn_cluster_index_find(&shapes, group + i), place);
        assert_int_equal(place->first, group);
        assert_int_equal(place->numbers, at);
        assert_int_equal(place->rank_params, at + n);
        assert_int_equal(place->values, at + 3 * n);
        at += 6 * n;
    }
    assert_int_equal(shapes.places[N].first, FIRST + 28);
    assert_int_equal(shapes.places[N].numbers, at);
    assert_int_equal(shapes.n_columns, 2);
    assert_false(shapes.columns_failed);
    const uint32_t columns[] = {at, at + 4, at + 7};
    assert_memory_equal(shapes.columns, columns, sizeof columns);
    rfn_cluster_index_release(&shapes);
    rfn_buf_release(&bytes);
}

/* Who wants no values does not need columns. */
static void test_columns_cut(void **state)
{
    (void)state;
    for (size_t left = 0; left <= 7; left++) {
        struct rfn_buf bytes = make(2, left);
        struct rfn_cluster_index shapes;
        assert_null(read_bytes(&bytes, FIRST, FIRST + 3, &shapes));
        assert_int_equal(shapes.columns_failed, left != 0 && left != 3 && left != 7);
        assert_ptr_equal(rfn_cluster_index_find(&shapes, FIRST + 2), &shapes.places[1]);
        rfn_cluster_index_release(&shapes);
        rfn_buf_release(&bytes);
    }
}

static void refuse(const struct rfn_buf *bytes, uint32_t first, uint32_t end)
{
    struct rfn_cluster_index shapes;
    assert_string_equal(read_bytes(bytes, first, end, &shapes), "its list of shapes is malformed");
    rfn_cluster_index_release(&shapes);
}

static void test_malformed(void **state)
{
    (void)state;
    struct rfn_buf bytes = make(2, 0);
    refuse(&bytes, FIRST, FIRST + 2); /* fewer groups than the shapes have, and more */
    refuse(&bytes, FIRST, FIRST + 4);
    refuse(&bytes, FIRST, FIRST);
    refuse(&bytes, FIRST + 3, FIRST);
    refuse(&bytes, N_GROUPS - 2, N_GROUPS + 1);
    bytes.size = 2 + 8 + 5; /* the first shape's parts have six bytes */
    refuse(&bytes, FIRST, FIRST + 3);
    while (bytes.size > 0) {
        bytes.size--;
        refuse(&bytes, FIRST, FIRST + 3);
    }
    rfn_buf_varint(&bytes, 0);
    rfn_buf_varint(&bytes, 30); /* more than there are bytes for */
    refuse(&bytes, FIRST, END);
    rfn_buf_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_columns_cut),
        cmocka_unit_test(test_malformed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
