/* Expressions from tables that were made by one, each form with its ends; tables with a wrong
 * value, and random ones, fit nothing. */
#include "reduce/clusters/rank_expression.h"

#include "refrain/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS_MAX = 1024 };

static struct rfn_rank_value values[RANKS_MAX];
static size_t n_values;

static void begin(uint32_t size)
{
    n_values = size;
    for (uint32_t i = 0; i < size; i++)
        values[i] = (struct rfn_rank_value){.rank = i, .size = size};
}

static struct rfn_rank_expression fit(void)
{
    struct rfn_rank_expression found = rfn_rank_expression_fit(values, n_values, true);
    for (size_t i = 0; found.form && i < n_values; i++)
        assert_int_equal(rfn_rank_expression_value(&found, values[i].rank, values[i].size),
                         values[i].value);
    return found;
}

/* One value is changed: nothing fits any more. */
static void assert_no_noise(void)
{
    size_t at = (size_t)rand() % n_values;
    int64_t kept = values[at].value;
    values[at].value = (kept + 1 + rand() % (int)(values[at].size - 1)) % values[at].size;
    if (values[at].value != kept && n_values >= 8)
        assert_int_equal(fit().form, RFN_EXPRESSION_NONE);
    values[at].value = kept;
}

static void assert_form(enum rfn_expression_form form)
{
    assert_int_equal(fit().form, form);
    assert_no_noise();
}

static const uint32_t sizes[] = {8, 12, 16, 32, 64, 128, 256, 512, 1024};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* 1 - 3 is the number of MPI_PROC_NULL, which all ranks below 3 would have. */
static void test_end_by_chance(void **state)
{
    static const uint32_t ranks[] = {1, 3, 4, 5, 6, 7, 8, 10};
    (void)state;
    assert_int_equal(RFN_PROC_NULL, -2);
    begin(12);
    n_values = sizeof ranks / sizeof *ranks;
    for (size_t i = 0; i < n_values; i++)
        values[i] = (struct rfn_rank_value){.rank = ranks[i],
                                            .size = 12,
                                            .value = ranks[i] < 3 ? RFN_PROC_NULL
                                                                  : (int64_t)ranks[i] - 3};
    assert_int_equal(fit().form, RFN_EXPRESSION_SHIFTED);
    assert_int_equal(fit().factors[0], -3);
    assert_int_equal(fit().open, 1);
    begin(8);
    for (uint32_t i = 0; i < n_values; i++)
        values[i].value = 2 * (int64_t)i - 2;
    assert_int_equal(fit().form, RFN_EXPRESSION_NONE);
    assert_int_equal(rfn_rank_expression_fit(values, n_values, false).form, RFN_EXPRESSION_AFFINE);
}

static void test_one_number(void **state)
{
    (void)state;
    srand(1);
    for (size_t k = 0; k < SIZES; k++) {
        uint32_t size = sizes[k];
        begin(size);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = 5;
        assert_form(RFN_EXPRESSION_CONSTANT);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = (i + 3) % size;
        assert_form(RFN_EXPRESSION_SHIFTED);
        assert_int_equal(fit().factors[0], 3);
        assert_int_equal(fit().open, 0);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = i >= 2 ? (int64_t)i - 2 : RFN_PROC_NULL;
        assert_form(RFN_EXPRESSION_SHIFTED);
        assert_int_equal(fit().factors[0], -2);
        assert_int_equal(fit().open, 1);
        n_values = size - 2;
        for (uint32_t i = 0; i < n_values; i++)
            values[i].value = i + 2;
        assert_form(RFN_EXPRESSION_OFFSET);
        begin(size);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = i ^ 5;
        if (size != 12)
            assert_form(RFN_EXPRESSION_XOR);
    }
}

/* A coordinate that is moved, round its side or, if that is open, beyond it. */
static int move(int at, int by, int side, bool open, bool *out)
{
    *out |= open && (at + by < 0 || at + by >= side);
    return (at + by + side) % side;
}

/* Neighbours on grids of all shapes; open: bits of x, y and z, from the lowest. */
static void shift_on(const uint32_t *sides, const int *by, unsigned open)
{
    int a = (int)sides[0], b = (int)sides[1], c = (int)sides[2];
    begin(sides[0] * sides[1] * sides[2]);
    for (int i = 0; i < a * b * c; i++) {
        bool out = false;
        int x = move(i / (b * c), by[0], a, open & 1, &out);
        int y = move(i / c % b, by[1], b, open >> 1 & 1, &out);
        int z = move(i % c, by[2], c, open >> 2 & 1, &out);
        values[i].value = out ? RFN_PROC_NULL : (x * b + y) * c + z;
    }
}

static void test_grids(void **state)
{
    (void)state;
    static const uint32_t grids[][3] = {{1, 4, 4}, {1, 8, 4},  {1, 3, 4}, {1, 32, 32},
                                        {4, 4, 4}, {8, 16, 8}, {3, 4, 5}, {2, 2, 2}};
    srand(2);
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        const uint32_t *g = grids[k];
        for (int i = 0; i < 27; i++) {
            const int by[3] = {g[0] > 1 ? i / 9 - 1 : 0, i / 3 % 3 - 1, i % 3 - 1};
            for (unsigned open = 0; open < 8; open++) {
                shift_on(g, by, open);
                assert_int_not_equal(fit().form, RFN_EXPRESSION_NONE);
                if (n_values > 16)
                    assert_no_noise();
            }
        }
    }
}

static void assert_shifted(const uint32_t *sides, const int *by, unsigned open)
{
    struct rfn_rank_expression found = fit();
    unsigned first = sides[0] == 1; /* dimension */
    assert_int_equal(found.form, RFN_EXPRESSION_SHIFTED);
    assert_int_equal(found.n_dimensions, 3 - first);
    assert_int_equal(found.open, open >> first);
    for (unsigned i = first; i < 3; i++) {
        assert_int_equal(found.dimensions[i - first], sides[i]);
        assert_int_equal(found.factors[i - first], by[i]);
    }
}

/* A size with more divisors than any other of 32 bits. */
static void test_many_grids(void **state)
{
    (void)state;
    n_values = 8;
    for (uint32_t i = 0; i < n_values; i++)
        values[i] = (struct rfn_rank_value){
            .rank = i * i * 1000003, .size = 3491888400, .value = i * 77 % 5};
    assert_int_equal(fit().form, RFN_EXPRESSION_NONE);
}

/* Where all coordinates are moved there is one answer: sides, shifts, and which sides are open. */
static void test_cylinders(void **state)
{
    (void)state;
    static const uint32_t grids[][3] = {{1, 4, 3}, {1, 5, 7}, {5, 7, 3}, {3, 4, 5}};
    for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
        const uint32_t *g = grids[k];
        bool flat = g[0] == 1;
        for (int signs = 0; signs < (flat ? 4 : 8); signs++) {
            const int by[3] = {flat ? 0 : (signs & 4) / 2 - 1, (signs & 2) - 1,
                               2 * (signs & 1) - 1};
            for (unsigned open = 0; open < 8; open += flat ? 2 : 1) {
                shift_on(g, by, open);
                assert_shifted(g, by, open);
            }
        }
    }
}

/* An end that is never reached is none: only what is moved is open. */
static void test_unmoved_ends(void **state)
{
    (void)state;
    static const uint32_t sides[] = {5, 7, 3}, flat[] = {1, 4, 3};
    shift_on(flat, (const int[]){0, 0, 1}, 6);
    assert_shifted(flat, (const int[]){0, 0, 1}, 4);
    shift_on(sides, (const int[]){0, 1, -1}, 3);
    assert_shifted(sides, (const int[]){0, 1, -1}, 2);
}

/* What any shift gives some ranks is found again. */
static void test_some_ranks(void **state)
{
    (void)state;
    srand(8);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t sides[3];
        int by[3];
        for (int k = 0; k < 3; k++) {
            sides[k] = 1 + (uint32_t)rand() % 6;
            by[k] = rand() % (int)(2 * sides[k] - 1) - (int)(sides[k] - 1);
        }
        shift_on(sides, by, (unsigned)rand() % 8);
        uint32_t every = 1 + (uint32_t)rand() % 3;
        size_t n = 0;
        for (size_t k = 0; k < n_values; k++) {
            if (rand() % (int)every == 0)
                values[n++] = values[k];
        }
        n_values = n;
        if (n >= 6)
            assert_int_not_equal(fit().form, RFN_EXPRESSION_NONE);
    }
}

/* Ends at the wrong places, and ends where nothing else is a shift. */
static void test_wrong_ends(void **state)
{
    (void)state;
    static const uint32_t sides[] = {1, 5, 7};
    srand(9);
    for (unsigned open = 2; open < 8; open += 2) {
        for (unsigned i = 0; i < 35; i++) {
            shift_on(sides, (const int[]){0, 1, 1}, open);
            int64_t other = ((int64_t)(i / 7 + 1) % 5) * 7 + (i + 1) % 7;
            values[i].value = values[i].value == RFN_PROC_NULL ? other : RFN_PROC_NULL;
            assert_int_equal(fit().form, RFN_EXPRESSION_NONE);
        }
    }
    for (unsigned i = 0; i < 3000; i++) {
        begin(12 + (uint32_t)rand() % 100);
        for (size_t k = 0; k < n_values; k++)
            values[k].value = rand() % 2 ? RFN_PROC_NULL : rand() % (int)n_values;
        assert_int_equal(fit().form, RFN_EXPRESSION_NONE);
    }
}

/* The partners of a conjugate gradient, and transposition in three dimensions. */
static void test_permuted(void **state)
{
    (void)state;
    srand(3);
    for (uint32_t r = 2; r <= 32; r *= 2) {
        begin(r * r);
        for (uint32_t i = 0; i < n_values; i++)
            values[i].value = i % r * r + i / r;
        assert_int_equal(fit().form, RFN_EXPRESSION_PERMUTED);
        assert_no_noise();
        if (2 * r * r > RANKS_MAX)
            continue;
        begin(2 * r * r);
        for (uint32_t i = 0; i < n_values; i++)
            values[i].value = 2 * (i / 2 % r * r + i / 2 / r) + i % 2;
        assert_int_equal(fit().form, RFN_EXPRESSION_PERMUTED);
        assert_no_noise();
    }
    begin(2 * 3 * 5);
    for (uint32_t i = 0; i < n_values; i++)
        values[i].value = i % 5 * 6 + i / 15 * 3 + i / 5 % 3;
    assert_form(RFN_EXPRESSION_PERMUTED);
}

/* Colour and key of splits, and counts that grow with a coordinate. */
static void test_affine(void **state)
{
    (void)state;
    srand(4);
    for (size_t k = 0; k < SIZES; k++) {
        uint32_t size = sizes[k], side = size == 12 ? 4 : 2;
        while (side * side < size && size != 12)
            side *= 2;
        begin(size);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = i / side;
        assert_form(RFN_EXPRESSION_AFFINE);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = 100 + 7 * (int64_t)(i % side) - 3 * (int64_t)(i / side);
        assert_form(RFN_EXPRESSION_AFFINE);
        for (uint32_t i = 0; i < size; i++)
            values[i].value = INT64_MIN + 1 + 3 * (int64_t)i;
        assert_int_equal(fit().form, RFN_EXPRESSION_AFFINE);
    }
}

/* The smallest splits: 2 x 2 ranks. */
static void test_four_ranks(void **state)
{
    (void)state;
    begin(4);
    for (uint32_t i = 0; i < 4; i++)
        values[i].value = i / 2;
    assert_int_equal(fit().form, RFN_EXPRESSION_AFFINE);
    for (uint32_t i = 0; i < 4; i++)
        values[i].value = i % 2;
    assert_int_equal(fit().form, RFN_EXPRESSION_AFFINE);
    const int64_t none[][4] = {{7, 1, 9, 4}, {0, 0, 0, 1}, {5, 2, 2, 6}};
    for (size_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < 4; i++)
            values[i].value = none[k][i];
        assert_int_equal(fit().form, RFN_EXPRESSION_NONE);
    }
}

static void test_random(void **state)
{
    (void)state;
    srand(5);
    for (unsigned i = 0; i < 3000; i++) {
        begin(8 + (uint32_t)rand() % 120);
        for (size_t k = 0; k < n_values; k++)
            values[k].value = rand() % (i & 1 ? (int)n_values : 3);
        struct rfn_rank_expression found = fit();
        if (found.form && i & 1)
            fail_msg("%zu random ranks fit form %d", n_values, (int)found.form);
    }
    /* Two ranks with any two values. */
    unsigned fitted = 0;
    for (unsigned i = 0; i < 2000; i++) {
        begin(64);
        values[0] = (struct rfn_rank_value){(uint32_t)rand() % 32, 64, rand() % 64};
        values[1] = (struct rfn_rank_value){32 + (uint32_t)rand() % 32, 64, rand() % 64};
        n_values = 2;
        fitted += fit().form != RFN_EXPRESSION_NONE;
    }
    assert_true(fitted < 200);
}

/* Communicators of different sizes: each rank wraps round its own. */
static void test_own_sizes(void **state)
{
    (void)state;
    begin(64);
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t size = i < 32 ? 8 : 4;
        values[i] = (struct rfn_rank_value){i % size, size, (i + 1) % size};
    }
    struct rfn_rank_expression found = fit();
    assert_int_equal(found.form, RFN_EXPRESSION_SHIFTED);
    assert_int_equal(found.n_dimensions, 1);
}

/* Words as a damaged archive may have them. */
static void test_any_words(void **state)
{
    (void)state;
    static const int64_t words[] = {INT64_MIN, INT64_MAX, -1, 0, 1, -2, INT64_MIN + 1};
    srand(6);
    for (unsigned i = 0; i < 3000; i++) {
        begin(1 + (uint32_t)rand() % 20);
        for (size_t k = 0; k < n_values; k++)
            values[k].value = words[(size_t)rand() % (i % 2 ? 7 : 2)];
        fit();
        rfn_rank_expression_fit(values, n_values, false);
    }
}

/* Written and read it gives the same words. */
static void test_bytes(void **state)
{
    (void)state;
    static const struct rfn_rank_expression all[] = {
        {.form = RFN_EXPRESSION_OFFSET, .offset = INT64_MIN},
        {.form = RFN_EXPRESSION_XOR, .offset = 5},
        {.form = RFN_EXPRESSION_SHIFTED, .n_dimensions = 1, .dimensions = {60}, .factors = {-3}},
        {.form = RFN_EXPRESSION_SHIFTED,
         .n_dimensions = 3,
         .dimensions = {3, 4, 5},
         .factors = {1, -7, 0},
         .open = 3},
        {.form = RFN_EXPRESSION_SHIFTED,
         .n_dimensions = 2,
         .dimensions = {4, 15},
         .factors = {-1, 2},
         .open = 2},
        {.form = RFN_EXPRESSION_SHIFTED,
         .n_dimensions = 3,
         .dimensions = {3, 4, 5},
         .factors = {1, -1, 2},
         .open = 5},
        {.form = RFN_EXPRESSION_PERMUTED,
         .n_dimensions = 3,
         .dimensions = {3, 4, 5},
         .order = {2, 0, 1}},
        {.form = RFN_EXPRESSION_AFFINE,
         .offset = 7,
         .n_dimensions = 2,
         .dimensions = {6, 10},
         .factors = {INT64_MAX, -1}},
        {.form = RFN_EXPRESSION_FORMULA,
         .n_dimensions = 1,
         .dimensions = {60},
         .formula = "r/(r-5)-n...",
         .formula_size = 9},
        {.form = RFN_EXPRESSION_FORMULA,
         .n_dimensions = 1,
         .dimensions = {60},
         .formula = "-r",
         .formula_size = 2,
         .coded = true}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rfn_buf bytes = RFN_BUF_INIT;
        struct rfn_rank_expression found;
        rfn_rank_expression_write(&all[i], &bytes);
        struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
        assert_true(rfn_rank_expression_read(&found, &reader));
        assert_int_equal(rfn_reader_left(&reader), 0);
        assert_int_equal(found.open, all[i].open);
        for (uint32_t rank = 0; rank < 100; rank++)
            assert_int_equal(rfn_rank_expression_at(&found, rank),
                             rfn_rank_expression_value(&all[i], rank, 60));
        rfn_buf_release(&bytes);
    }
}

/* Which dimensions are open: none and all that are shifted are 0 and 1, others one more than their
 * mask. */
static void test_bytes_of_ends(void **state)
{
    (void)state;
    static const struct {
        uint32_t open;
        int64_t factors[3];
        uint8_t bytes[9];
    } all[] = {
        {0, {1, 0, -2}, {3, 0, 3, 3, 2, 4, 0, 5, 3}}, {5, {1, 0, -2}, {3, 1, 3, 3, 2, 4, 0, 5, 3}},
        {1, {1, 0, -2}, {3, 2, 3, 3, 2, 4, 0, 5, 3}}, {4, {1, 0, -2}, {3, 5, 3, 3, 2, 4, 0, 5, 3}},
        {6, {1, 1, -2}, {3, 7, 3, 3, 2, 4, 2, 5, 3}}, {7, {1, 1, -2}, {3, 1, 3, 3, 2, 4, 2, 5, 3}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct rfn_rank_expression expression = {.form = RFN_EXPRESSION_SHIFTED,
                                                 .n_dimensions = 3,
                                                 .dimensions = {3, 4, 5},
                                                 .open = all[i].open};
        struct rfn_rank_expression found;
        struct rfn_buf bytes = RFN_BUF_INIT;
        memcpy(expression.factors, all[i].factors, sizeof all[i].factors);
        rfn_rank_expression_write(&expression, &bytes);
        assert_int_equal(bytes.size, sizeof all[i].bytes);
        assert_memory_equal(bytes.data, all[i].bytes, bytes.size);
        struct rfn_reader reader = rfn_reader_over(bytes.data, bytes.size);
        assert_true(rfn_rank_expression_read(&found, &reader));
        assert_int_equal(found.open, all[i].open);
        rfn_buf_release(&bytes);
    }
}

/* What a formula gives, coded or not; 0 where it has no value. */
static void test_formula(void **state)
{
    (void)state;
    struct rfn_rank_expression formula = {.form = RFN_EXPRESSION_FORMULA,
                                          .n_dimensions = 1,
                                          .dimensions = {8},
                                          .formula = "n/r-3 and more",
                                          .formula_size = 5};
    assert_int_equal(rfn_rank_expression_at(&formula, 0), 0);
    assert_int_equal(rfn_rank_expression_at(&formula, 2), 1);
    assert_int_equal(rfn_rank_expression_value(&formula, 2, 12), 3);
    formula.coded = true;
    assert_int_equal(rfn_rank_expression_at(&formula, 0), 0);
    assert_int_equal(rfn_rank_expression_at(&formula, 2), 2);
    assert_int_equal(rfn_rank_expression_at(&formula, 8), 3);
}

/* Any bytes are an expression that has a value for every rank, or none. */
static void test_any_bytes(void **state)
{
    (void)state;
    static const uint8_t wrong[][8] = {{0, 0},
                                       {1, 0},
                                       {8, 0},
                                       {3, 2, 1, 4, 0},
                                       {3, 2, 1, 4, 2},       /* the one dimension that there is */
                                       {3, 3, 1, 4, 2},       /* one that there is not */
                                       {3, 4, 2, 4, 2, 4, 2}, /* both */
                                       {3, 2, 2, 4, 0, 4, 2}, /* one that is not shifted */
                                       {3, 3, 2, 4, 0, 4, 2}, /* the only one that is */
                                       {3, 5, 2, 4, 2, 4, 2}, /* a third one of two */
                                       {3, 8, 3, 4, 2, 4, 2, 2}, /* all and more */
                                       {3, 0, 0},
                                       {3, 0, 4, 1, 0},
                                       {3, 0, 1, 0, 0},
                                       {5, 2, 4, 1, 4, 1},
                                       {5, 1, 4, 1},
                                       {7, 2, 4, 1, 'r'},
                                       {7, 0, 0, 1, 'r'},
                                       {7, 0, 4, 0},
                                       {7, 0, 4, 2, 'r', '+'},
                                       {7, 0, 4, 7, 'r'}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rfn_rank_expression found;
        struct rfn_reader reader = rfn_reader_over(wrong[i], sizeof wrong[i]);
        assert_false(rfn_rank_expression_read(&found, &reader));
        assert_true(reader.failed);
    }
    srand(7);
    uint64_t sum = 0, read = 0;
    for (unsigned i = 0; i < 200000; i++) {
        uint8_t bytes[24];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(k < 3 ? rand() % 8 : rand() % (i % 2 ? 256 : 8));
        struct rfn_rank_expression found;
        struct rfn_reader reader = rfn_reader_over(bytes, sizeof bytes);
        if (!rfn_rank_expression_read(&found, &reader))
            continue;
        read++;
        for (uint32_t rank = 0; rank < 4; rank++)
            sum += (uint64_t)rfn_rank_expression_at(&found, rank * 0x55555555u);
    }
    assert_true(read > 1000 && sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_by_chance), cmocka_unit_test(test_one_number),
        cmocka_unit_test(test_grids),         cmocka_unit_test(test_cylinders),
        cmocka_unit_test(test_many_grids),    cmocka_unit_test(test_unmoved_ends),
        cmocka_unit_test(test_some_ranks),    cmocka_unit_test(test_wrong_ends),
        cmocka_unit_test(test_bytes_of_ends), cmocka_unit_test(test_permuted),
        cmocka_unit_test(test_affine),        cmocka_unit_test(test_four_ranks),
        cmocka_unit_test(test_random),        cmocka_unit_test(test_own_sizes),
        cmocka_unit_test(test_any_words),     cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_any_bytes),     cmocka_unit_test(test_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
