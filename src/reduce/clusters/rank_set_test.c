/* Sets of ranks: blocks of known sets, any set comes back, unions in any order are equal, and bytes
 * that are none of ours are refused. */
#include "reduce/clusters/rank_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 64 };

static size_t ranks_of(uint64_t bits, uint32_t *ranks)
{
    size_t n = 0;
    for (uint32_t i = 0; i < RANKS; i++) {
        if (bits >> i & 1)
            ranks[n++] = i;
    }
    return n;
}

static struct rfn_rank_set set_of(uint64_t bits)
{
    uint32_t ranks[RANKS];
    struct rfn_rank_set set = {0};
    size_t n = ranks_of(bits, ranks);
    assert_int_equal(rfn_rank_set_assign(&set, ranks, n), 0);
    return set;
}

static void assert_bits(const struct rfn_rank_set *set, uint64_t bits)
{
    uint32_t expected[RANKS], found[RANKS];
    size_t n = ranks_of(bits, expected);
    assert_int_equal(set->n, n);
    rfn_rank_set_list(set, found);
    assert_memory_equal(found, expected, n * sizeof *found);
}

static bool equal(const struct rfn_rank_set *a, const struct rfn_rank_set *b)
{
    struct rfn_buf x = RFN_BUF_INIT, y = RFN_BUF_INIT;
    rfn_rank_set_write(a, &x);
    rfn_rank_set_write(b, &y);
    bool same = x.size == y.size && !memcmp(x.data, y.data, x.size);
    rfn_buf_release(&x);
    rfn_buf_release(&y);
    return same;
}

/* "9:6x8,6x1 ..." */
static void assert_blocks(uint64_t bits, const char *expected)
{
    char text[512] = "";
    struct rfn_rank_set set = set_of(bits);
    for (size_t i = 0; i < set.n_blocks; i++) {
        const struct rfn_rank_block *block = &set.blocks[i];
        size_t n = strlen(text);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", i ? " " : "", block->start);
        for (uint32_t k = 0; k < block->n_dimensions; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%c%ux%u", k ? ',' : ':',
                                  block->dimensions[k].count, block->dimensions[k].stride);
    }
    assert_string_equal(text, expected);
    rfn_rank_set_release(&set);
}

static void test_known(void **state)
{
    (void)state;
    uint64_t interior = 0, row = 0x7e;
    for (unsigned i = 1; i < 7; i++)
        interior |= row << 8 * i;
    assert_blocks(interior, "9:6x8,6x1");
    assert_blocks(1, "0");
    assert_blocks(0xffff, "0:16x1");
    assert_blocks(0x5555, "0:8x2");
    assert_blocks(0x3333, "0:4x4,2x1");
    assert_blocks(0x8001, "0:2x15");
    assert_blocks(0xe1, "0 5:3x1");
    assert_blocks(UINT64_MAX, "0:64x1");
    assert_blocks(0x0303000003030000, "16:2x32,2x8,2x1");
}

static uint64_t random_bits(void)
{
    uint64_t bits = 0;
    for (int i = 0; i < 5; i++)
        bits = bits << 15 ^ (uint64_t)rand();
    return bits;
}

static void test_random(void **state)
{
    (void)state;
    srand(3);
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = random_bits() & (i & 1 ? random_bits() : UINT64_MAX), third = random_bits();
        uint64_t part = bits & third, rest = bits & ~third, half = rest & random_bits();
        struct rfn_rank_set a = set_of(part), b = set_of(half), c = set_of(rest & ~half);
        struct rfn_rank_set whole = set_of(bits), other = set_of(half);
        assert_int_equal(rfn_rank_set_unite(&a, &b), 0);
        assert_int_equal(rfn_rank_set_unite(&a, &c), 0);
        assert_bits(&a, bits);
        assert_true(equal(&a, &whole));
        assert_int_equal(rfn_rank_set_unite(&c, &other), 0);
        struct rfn_rank_set left = set_of(part);
        assert_int_equal(rfn_rank_set_unite(&c, &left), 0);
        assert_true(equal(&c, &whole));
        struct rfn_rank_set *all[] = {&a, &b, &c, &whole, &other, &left};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            rfn_rank_set_release(all[k]);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    srand(4);
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = random_bits() | 1;
        struct rfn_rank_set set = set_of(bits), back = {0}, damaged = {0};
        struct rfn_buf buf = RFN_BUF_INIT;
        rfn_rank_set_write(&set, &buf);
        struct rfn_reader reader = rfn_reader_over(buf.data, buf.size);
        assert_int_equal(rfn_rank_set_read(&back, &reader, RANKS), 0);
        assert_bits(&back, bits);
        buf.data[(size_t)rand() % buf.size] ^= (uint8_t)(1 << rand() % 8);
        reader = rfn_reader_over(buf.data, buf.size - (size_t)(i & 1));
        if (rfn_rank_set_read(&damaged, &reader, RANKS) == 0) {
            assert_in_range(damaged.n, 1, RANKS);
            assert_true(damaged.blocks[0].start < RANKS);
        }
        rfn_rank_set_release(&set);
        rfn_rank_set_release(&back);
        rfn_rank_set_release(&damaged);
        rfn_buf_release(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
