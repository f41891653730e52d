/* Lists of a payload against the lists it was made of, in any order, at the borders of blocks, from
 * memory and from a store, with room for everything and for nothing; payloads that contradict
 * themselves, are damaged, or cannot be read any more. */
#include "archive/read/value_lists.h"

#include "support/spill_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- a payload ---- */

struct model {
    uint64_t n, n_words;
    uint32_t *lengths;
    uint64_t *begins;
    int64_t *words;
    struct rfn_buf bytes;
    size_t columns[RFN_LIST_COLUMNS + 1];
    struct spill_model spill;
    struct rfn_payload payload;
};

static uint64_t noise(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void write_column(struct rfn_buf *out, const struct model *model, bool words)
{
    struct rfn_column column;
    rfn_column_init(&column);
    for (uint64_t i = 0; i < (words ? model->n_words : model->n); i++)
        assert_int_equal(rfn_column_append(&column, words ? model->words[i] : model->lengths[i]),
                         0);
    rfn_column_write(&column, out);
    rfn_column_release(&column);
}

/* The same values in blocks of one to three. */
static void write_small_blocks(struct rfn_buf *out, const struct model *model, bool words)
{
    struct rfn_buf blocks = RFN_BUF_INIT;
    uint64_t n = words ? model->n_words : model->n;
    for (uint64_t i = 0, k; i < n; i += k) {
        int64_t values[3];
        k = 1 + i % 3 < n - i ? 1 + i % 3 : n - i;
        for (uint64_t j = 0; j < k; j++)
            values[j] = words ? model->words[i + j] : model->lengths[i + j];
        rfn_block_put(&blocks, values, (uint32_t)k, (uint64_t)k);
    }
    rfn_buf_varint(out, n);
    rfn_buf_blob(out, blocks.data, blocks.size);
    rfn_buf_release(&blocks);
}

/* In front lies something else. */
static void place_payload(struct model *model, bool stored)
{
    model->payload = (struct rfn_payload){.data = model->bytes.data, .size = model->bytes.size};
    if (!stored)
        return;
    uint64_t offset;
    spill_model_init(&model->spill);
    assert_int_equal(model->spill.spill.write(&model->spill, "ahead", 5, &offset), 0);
    assert_int_equal(
        model->spill.spill.write(&model->spill, model->bytes.data, model->bytes.size, &offset), 0);
    model->payload.data = NULL;
    model->payload.store = &model->spill.spill;
    model->payload.at = offset;
}

typedef uint32_t length_of(uint64_t list, uint64_t random);

static void make_model(struct model *model, uint64_t n, length_of *length, bool small_blocks)
{
    uint64_t random = n;
    *model = (struct model){.n = n, .bytes = RFN_BUF_INIT};
    model->lengths = malloc((n + 1) * sizeof *model->lengths);
    model->begins = malloc((n + 1) * sizeof *model->begins);
    for (uint64_t i = 0; i < n; i++) {
        model->lengths[i] = length(i, noise(&random));
        model->begins[i] = model->n_words;
        model->n_words += model->lengths[i];
    }
    model->words = malloc((model->n_words + 1) * sizeof *model->words);
    for (uint64_t i = 0; i < model->n_words; i++)
        model->words[i] = (int64_t)(noise(&random) >> i / 5000 % 31) - 100;
    rfn_buf_bytes(&model->bytes, "abc", 3);
    for (int i = 0; i < RFN_LIST_COLUMNS; i++) {
        model->columns[i] = model->bytes.size;
        (small_blocks ? write_small_blocks : write_column)(&model->bytes, model, i);
    }
    model->columns[RFN_LIST_COLUMNS] = model->bytes.size;
    rfn_buf_bytes(&model->bytes, "xyz", 3);
}

static void free_model(struct model *model)
{
    free(model->lengths);
    free(model->begins);
    free(model->words);
    rfn_buf_release(&model->bytes);
    rfn_buf_release(&model->spill.bytes);
}

static const char *find_blocks(const struct model *model, struct rfn_value_lists *lists)
{
    return rfn_value_lists_read(lists, &model->payload, model->columns, model->n);
}

/* ---- reading ---- */

static void expect_list(const struct model *model, struct rfn_list_reader *reader, uint64_t number,
                        uint64_t used)
{
    struct rfn_list_copy *copy;
    bool made;
    uint64_t key = number * RFN_LIST_FORMS;
    assert_int_equal(rfn_list_reader_find(reader, key, used, &copy, &made), 0);
    assert_int_equal(copy->n, model->lengths[number - 1]);
    assert_non_null(copy->words);
    assert_memory_equal(copy->words, model->words + model->begins[number - 1],
                        copy->n * sizeof *copy->words);
    const struct rfn_list_copy *known = rfn_list_reader_known(reader, key, used);
    assert_true(known == copy || !known); /* it may have had to make way */
}

/* In order, with some that come again and again; at random; backwards. */
static void expect_all(const struct model *model, size_t room)
{
    struct rfn_value_lists lists;
    assert_null(find_blocks(model, &lists));
    assert_int_equal(lists.n_words, model->n_words);
    for (int i = 0; i < RFN_LIST_COLUMNS; i++)
        assert_true(lists.places[i].n <= (i ? model->n_words : model->n) / RFN_COLUMN_BLOCK + 1);
    assert_int_equal(rfn_value_lists_check(&lists, &model->payload), 0);
    struct rfn_list_reader *reader = rfn_list_reader_new(&lists, &model->payload, room);
    uint64_t used = 0, random = 3;
    for (uint64_t i = 1; i <= model->n; i++) {
        expect_list(model, reader, i, ++used);
        if (room || i % 64 == 0) /* without room each is decoded again */
            expect_list(model, reader, 1 + i % 3 % model->n, used);
    }
    for (int i = 0; i < 30; i++)
        expect_list(model, reader, 1 + noise(&random) % model->n, ++used);
    for (uint64_t i = model->n; i > 0; i -= i > 997 ? 997 : i)
        expect_list(model, reader, i, ++used);
    rfn_list_reader_free(reader);
    rfn_value_lists_release(&lists);
}

static void expect_lists(uint64_t n, length_of *length, bool small_blocks)
{
    static const size_t rooms[] = {0, 1 << 15, SIZE_MAX};
    struct model model;
    make_model(&model, n, length, small_blocks);
    for (int variant = 0; variant < 6; variant++) {
        place_payload(&model, variant & 1);
        expect_all(&model, rooms[variant / 2]);
        rfn_buf_release(&model.spill.bytes);
    }
    free_model(&model);
}

static uint32_t any_length(uint64_t list, uint64_t random)
{
    return list % 4096 == 7 ? 9000 : random % 8;
}

static uint32_t equal_length(uint64_t list, uint64_t random)
{
    (void)list, (void)random;
    return 3;
}

static uint32_t no_length(uint64_t list, uint64_t random)
{
    (void)list, (void)random;
    return 0;
}

static uint32_t block_length(uint64_t list, uint64_t random)
{
    (void)random;
    return list % 3 ? RFN_COLUMN_BLOCK / 2 : RFN_COLUMN_BLOCK;
}

static uint32_t huge_length(uint64_t list, uint64_t random)
{
    (void)random;
    return list % 2 ? 100000 : 1;
}

/* Long stretches of equal lengths, then others: blocks of many values and of few. */
static uint32_t patchy_length(uint64_t list, uint64_t random)
{
    return list % 10000 < 200 || list % 10000 > 3000 ? 2 : random % 4;
}

static void test_any_order(void **state)
{
    (void)state;
    expect_lists(9000, any_length, false);
    expect_lists(30000, patchy_length, false);
    expect_lists(20000, equal_length, false);
    expect_lists(20000, no_length, false);
}

static void test_borders(void **state)
{
    (void)state;
    expect_lists(40, block_length, false);
    expect_lists(3, huge_length, false);
    for (uint64_t n = RFN_COLUMN_BLOCK - 1; n <= RFN_COLUMN_BLOCK + 1; n++) {
        expect_lists(n, any_length, false);
        expect_lists(n, equal_length, false);
    }
    expect_lists(1, equal_length, false);
}

static void test_small_blocks(void **state)
{
    (void)state;
    expect_lists(6000, any_length, true);
    expect_lists(5000, equal_length, true);
}

/* All lists asked for with the same `used` stay as they are, however many. */
static void test_in_use(void **state)
{
    (void)state;
    enum { MANY = 500 };
    struct model model;
    struct rfn_value_lists lists;
    make_model(&model, 10000, any_length, false);
    place_payload(&model, false);
    assert_null(find_blocks(&model, &lists));
    struct rfn_list_reader *reader = rfn_list_reader_new(&lists, &model.payload, 0);
    for (uint64_t used = 1; used < 6; used++) {
        const int64_t *words[MANY], *again[MANY];
        for (int round = 0; round < 2; round++) {
            for (uint64_t i = 0; i < MANY; i++) {
                struct rfn_list_copy *copy;
                bool made;
                uint64_t key = (1 + i * 17 * used % model.n) * RFN_LIST_FORMS;
                assert_int_equal(rfn_list_reader_find(reader, key, used, &copy, &made), 0);
                assert_true(!made || round == 0);
                (round ? again : words)[i] = copy->words;
            }
        }
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t list = i * 17 * used % model.n;
            assert_ptr_equal(words[i], again[i]);
            assert_memory_equal(words[i], model.words + model.begins[list],
                                model.lengths[list] * sizeof **words);
        }
    }
    rfn_list_reader_free(reader);
    rfn_value_lists_release(&lists);
    free_model(&model);
}

/* A list may be had in several forms at once; what was done to a copy stays. */
static void test_forms(void **state)
{
    (void)state;
    struct model model;
    struct rfn_value_lists lists;
    struct rfn_list_copy *copy;
    bool made;
    make_model(&model, 10, equal_length, false);
    place_payload(&model, false);
    assert_null(find_blocks(&model, &lists));
    struct rfn_list_reader *reader = rfn_list_reader_new(&lists, &model.payload, 1 << 20);
    uint64_t key = 5 * RFN_LIST_FORMS + 1;
    assert_int_equal(rfn_list_reader_find(reader, key, 1, &copy, &made), 0);
    assert_true(made);
    copy->words[0] = 77;
    expect_list(&model, reader, 5, 2);
    assert_int_equal(rfn_list_reader_find(reader, key, 3, &copy, &made), 0);
    assert_false(made);
    assert_int_equal(copy->words[0], 77);
    rfn_list_reader_free(reader);
    rfn_value_lists_release(&lists);
    free_model(&model);
}

/* ---- what is wrong ---- */

static void put_constant(struct rfn_buf *out, int64_t value, uint64_t n)
{
    struct rfn_buf block = RFN_BUF_INIT;
    rfn_buf_bytes(&block, "\0\0", 2); /* constant; all that are left */
    struct rfn_buf number = RFN_BUF_INIT;
    rfn_buf_svarint(&number, value);
    rfn_buf_blob(&block, number.data, number.size);
    rfn_buf_varint(out, n);
    rfn_buf_blob(out, block.data, n ? block.size : 0);
    rfn_buf_release(&number);
    rfn_buf_release(&block);
}

/* Lists of equal lengths in a few bytes, of words that are all 4. */
static const char *read_constant(uint64_t n, int64_t length, uint64_t n_words)
{
    struct model model = {.n = n, .bytes = RFN_BUF_INIT};
    struct rfn_value_lists lists;
    put_constant(&model.bytes, length, n);
    model.columns[1] = model.bytes.size;
    put_constant(&model.bytes, 4, n_words);
    model.columns[2] = model.bytes.size;
    place_payload(&model, false);
    const char *fault = find_blocks(&model, &lists);
    if (!fault) {
        struct rfn_list_reader *reader = rfn_list_reader_new(&lists, &model.payload, 0);
        struct rfn_list_copy *copy;
        bool made;
        assert_int_equal(rfn_list_reader_find(reader, n * RFN_LIST_FORMS, 1, &copy, &made), 0);
        assert_int_equal(copy->n, length);
        assert_true(!length || copy->words[length - 1] == 4);
        rfn_list_reader_free(reader);
    }
    rfn_value_lists_release(&lists);
    free_model(&model);
    return fault;
}

/* A few bytes that claim much, and too much. */
static void test_claims(void **state)
{
    (void)state;
    const uint64_t huge = UINT64_C(1) << 60;
    assert_null(read_constant(RFN_LIST_WORDS_MAX, 1, RFN_LIST_WORDS_MAX));
    assert_null(read_constant(RFN_LIST_WORDS_MAX, 0, 0));
    assert_null(read_constant(1, 1 << 20, 1 << 20));
    assert_string_equal(read_constant(1000, 1, huge), "the lists have more words than can be read");
    assert_string_equal(read_constant(1 << 20, (int64_t)huge, 1 << 20),
                        "the lengths of lists are malformed");
    assert_string_equal(read_constant(1 << 20, INT64_MIN, 0), "the lengths of lists are malformed");
    assert_string_equal(read_constant(huge, 1, 100), "the lengths of lists are malformed");
    assert_string_equal(read_constant(10, 3, 29), "the lengths of lists are malformed");
    assert_string_equal(read_constant(10, 3, 31), "the lengths of lists are malformed");
}

/* Every byte of the two columns. What is read is within its bounds (a sanitizer sees it), and a
 * reader that has failed goes on failing. */
static void test_damage(void **state)
{
    (void)state;
    struct model model;
    int refused = 0, late = 0;
    make_model(&model, 300, patchy_length, true);
    place_payload(&model, false);
    for (size_t at = model.columns[0]; at < model.columns[2]; at++) {
        struct rfn_value_lists lists;
        struct rfn_list_copy *copy;
        bool made;
        int error = 0;
        model.bytes.data[at] ^= 0x95;
        const char *fault = find_blocks(&model, &lists);
        refused += fault != NULL;
        struct rfn_list_reader *reader = rfn_list_reader_new(&lists, &model.payload, 1 << 14);
        for (uint64_t i = 1; !fault && i <= model.n; i++) {
            int now = rfn_list_reader_find(reader, i * RFN_LIST_FORMS, i, &copy, &made);
            assert_true(!error || now == error);
            error = now;
        }
        assert_true(error == 0 || error == RFN_E_CORRUPT || error == RFN_E_RANGE);
        if (!fault)
            assert_int_equal(rfn_value_lists_check(&lists, &model.payload) < 0, error < 0);
        late += error < 0;
        rfn_list_reader_free(reader);
        rfn_value_lists_release(&lists);
        model.bytes.data[at] ^= 0x95;
    }
    assert_true(refused > 100 && late > 20);
    free_model(&model);
}

/* A store that changes under its reader: it ends, or other bytes are there. */
static void test_store_changes(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct model model;
        struct rfn_value_lists lists;
        struct rfn_list_copy *copy;
        bool made;
        make_model(&model, 50000, any_length, false);
        place_payload(&model, true);
        assert_null(find_blocks(&model, &lists));
        struct rfn_list_reader *reader = rfn_list_reader_new(&lists, &model.payload, 0);
        expect_list(&model, reader, 1, 1);
        struct rfn_buf *bytes = &model.spill.bytes;
        if (way == 0)
            bytes->size = 100;
        else
            memset(bytes->data, way == 1 ? 0 : way == 2 ? 0xff : 1, bytes->size);
        int error = rfn_list_reader_find(reader, model.n * RFN_LIST_FORMS, 2, &copy, &made);
        assert_true(way ? error == RFN_E_CORRUPT || error == RFN_E_RANGE : error == RFN_E_IO);
        assert_int_equal(rfn_list_reader_find(reader, RFN_LIST_FORMS, 3, &copy, &made), error);
        rfn_list_reader_free(reader);
        rfn_value_lists_release(&lists);
        free_model(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),    cmocka_unit_test(test_borders),
        cmocka_unit_test(test_small_blocks), cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_forms),        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_damage),       cmocka_unit_test(test_store_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
