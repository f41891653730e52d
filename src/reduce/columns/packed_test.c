#include "reduce/columns/packed.h"

#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static int64_t value(const struct rfn_packed *packed, uint32_t i)
{
    uint64_t number = rfn_load_64(packed->bytes + (size_t)i * packed->width);
    if (packed->width < sizeof number)
        number &= (UINT64_C(1) << 8 * packed->width) - 1;
    return (int64_t)((uint64_t)packed->base + number);
}

static void expect(struct rfn_packed *packed, const int64_t *values, uint32_t n, uint32_t width)
{
    assert_int_equal(rfn_packed_values(packed, values, n), 0);
    assert_int_equal(packed->width, width);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(value(packed, i), values[i]);
}

#define EXPECT(packed, width, ...)                   \
    expect((packed), (const int64_t[]){__VA_ARGS__}, \
           (uint32_t)(sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (width))

/* Each width, at its limits, into what the one before has left. */
static void test_widths(void **state)
{
    (void)state;
    struct rfn_packed packed = {0};
    EXPECT(&packed, 8, INT64_MIN, INT64_MAX, 0, -1);
    EXPECT(&packed, 0, -7, -7, -7);
    EXPECT(&packed, 0, INT64_MAX);
    EXPECT(&packed, 1, -100, 155, 0);
    EXPECT(&packed, 2, 156, -100, 0, 77);
    EXPECT(&packed, 2, 65535, 0);
    EXPECT(&packed, 4, 65536, 0, 1, 2, 3);
    EXPECT(&packed, 4, INT64_MAX, INT64_MAX - UINT32_MAX);
    EXPECT(&packed, 8, INT64_MAX, INT64_MAX - UINT32_MAX - 1, INT64_MAX);
    rfn_packed_release(&packed);
    assert_null(packed.bytes);
}

/* Constants are as many as you like, and take no room. */
static void test_constant(void **state)
{
    (void)state;
    struct rfn_packed packed = {0};
    assert_int_equal(rfn_packed_begin(&packed, UINT64_MAX, 5, 0), 0);
    assert_int_equal(value(&packed, 0), 5);
    assert_int_equal(packed.width, 0);
    assert_int_equal(packed.capacity, sizeof(uint64_t));
    rfn_packed_release(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_widths),
        cmocka_unit_test(test_constant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
