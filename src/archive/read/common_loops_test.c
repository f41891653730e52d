/* What structures have in common: known bytes, random structures there and back, and bytes that are
 * damaged or claim too much. */
#include "archive/read/common_loops.h"
#include "support/common_model.h"
#include "support/rounds.h"

/* ---- there ---- */

static struct rfn_buf pack(const struct rfn_common_table *table)
{
    struct rfn_buf out = RFN_BUF_INIT;
    assert_int_equal(rfn_common_pack(table, &out), 0);
    return out;
}

/* ---- and back ---- */

static const char *read_bytes(struct rfn_common *common, const void *bytes, size_t size)
{
    const struct rfn_payload payload = {.data = (uint8_t *)(uintptr_t)bytes, .size = size};
    return rfn_common_read(common, model_dictionary(), &payload, true);
}

static void expect_expanded(const struct rfn_common *common, const struct rfn_buf *references,
                            const struct rfn_numbers *expected)
{
    struct rfn_numbers numbers = {0};
    struct rfn_reader reader = rfn_reader_over(references->data, references->size), skipped;
    skipped = reader;
    assert_null(rfn_common_expand(common, &reader, expected->n, &numbers));
    assert_int_equal(rfn_reader_left(&reader), 0);
    assert_int_equal(numbers.n, expected->n);
    assert_memory_equal(numbers.at, expected->at, expected->n * sizeof *expected->at);
    rfn_common_skip(&skipped);
    assert_false(skipped.failed);
    assert_int_equal(rfn_reader_left(&skipped), 0);
    free(numbers.at);
}

/* ---- known bytes ---- */

/* Two structures. The first: sites (f1, path 2), (f3, path 0); datatype 7; a communicator; symbols
 * at the first site with input 5, twice, and at the second one with inputs 1, 2, an error, as a
 * failed poll; a loop of the second symbol and the third, and one of that loop and the first
 * symbol; at the top the first symbol, both loops and the third symbol. */
static const uint64_t first_numbers[] = {2, 1,  2, 3, 0, 1, 7, 1, 3, 0, 0, 0, 5, 0, 0, 0, 5,
                                         3, 15, 0, 1, 2, 2, 2, 2, 4, 2, 1, 0, 4, 0, 1, 3, 4};
static const uint8_t first_references[] = {
    2, 0, 0,    /* sites */
    1, 7, 1,    /* a datatype, how many communicators */
    3, 0, 0, 0, /* symbols */
    2, 0, 0,    /* loops */
    4, 0, 1, 1, /* symbol 0, loops 0 and 1, which ends with symbol 0 */
    4,          /* symbol 2, one more than is expected */
};
/* The second has the third symbol only, at its only site, and another one, with input 0 moved. */
static const uint64_t second_numbers[] = {1, 3, 0, 0, 0, 2, 1, 15, 0, 1, 2,
                                          0, 0, 1, 2, 1, 1, 0, 2,  1, 2};
static const uint8_t second_references[] = {
    1, 2,    /* the second site: one more than is expected */
    0, 0,    /* no datatypes, no communicators */
    2, 4, 0, /* the third symbol, and the one after it */
    1, 4,    /* the third loop */
    2, 1, 0, /* the loop, and the symbol after the one that it ends with */
};
static const uint8_t common_bytes[] = {
    2, 1, 2,  3, 0,            /* sites */
    4, 0, 0,  5, 0,            /* symbols: sites 0, 0, 1 (a failed poll), 1 */
    0, 0, 15, 0,               /* errors */
    0, 0, 0,  1,               /* moved */
    5, 5, 1,  2, 2,            /* inputs */
    3, 2, 2,  4, 2, 1, 0, 1, 4 /* loops */
};

static void test_known_bytes(void **state)
{
    (void)state;
    const struct rfn_numbers structures[] = {
        {(uint64_t *)(uintptr_t)first_numbers, sizeof first_numbers / 8, 0},
        {(uint64_t *)(uintptr_t)second_numbers, sizeof second_numbers / 8, 0}};
    const struct {
        const uint8_t *bytes;
        size_t size;
    } known[] = {{first_references, sizeof first_references},
                 {second_references, sizeof second_references}};
    struct rfn_common_table table;
    struct rfn_common common;
    struct rfn_buf references[2] = {RFN_BUF_INIT};
    rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rfn_common_add(&table, structures[i].at, structures[i].n, &references[i]),
                         0);
        assert_int_equal(references[i].size, known[i].size);
        assert_memory_equal(references[i].data, known[i].bytes, known[i].size);
    }
    struct rfn_buf packed = pack(&table);
    assert_int_equal(packed.size, sizeof common_bytes);
    assert_memory_equal(packed.data, common_bytes, sizeof common_bytes);
    assert_null(read_bytes(&common, packed.data, packed.size));
    for (int i = 0; i < 2; i++) {
        expect_expanded(&common, &references[i], &structures[i]);
        rfn_buf_release(&references[i]);
    }
    rfn_common_release(&common);
    rfn_buf_release(&packed);
    rfn_common_table_release(&table);
}

/* ---- random structures ---- */

enum { STRUCTURES = 40 };

struct sample {
    struct model_structure structures[STRUCTURES];
    struct rfn_buf references[STRUCTURES]; /* empty where there are none */
    struct rfn_buf common;
    size_t n_symbols, n_loops; /* that are different */
};

static void make_sample(struct sample *sample, uint32_t n)
{
    struct rfn_common_table table;
    *sample = (struct sample){0};
    rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
    for (uint32_t i = 0; i < n; i++) {
        struct model_structure *structure = &sample->structures[i];
        *structure = make_structure();
        int error = rfn_common_add(&table, structure->numbers.at, structure->numbers.n,
                                   &sample->references[i]);
        assert_int_equal(error, structure->twice ? RFN_E_UNSUPPORTED : 0);
        if (error)
            rfn_buf_release(&sample->references[i]);
    }
    sample->common = pack(&table);
    sample->n_symbols = table.symbols.n;
    sample->n_loops = table.loops.n;
    rfn_common_table_release(&table);
}

static void release_sample(struct sample *sample)
{
    for (int i = 0; i < STRUCTURES; i++) {
        free(sample->structures[i].numbers.at);
        rfn_buf_release(&sample->references[i]);
    }
    rfn_buf_release(&sample->common);
}

static void test_round_trip(void **state)
{
    (void)state;
    srand(1);
    size_t n_fit = 0, n_not = 0;
    for (unsigned round = 0; round < RFN_ROUNDS(200); round++) {
        struct sample sample;
        struct rfn_common common;
        make_sample(&sample, STRUCTURES);
        assert_null(read_bytes(&common, sample.common.data, sample.common.size));
        assert_int_equal(common.n_symbols, sample.n_symbols);
        assert_int_equal(common.n_loops, sample.n_loops);
        for (int i = 0; i < STRUCTURES; i++) {
            n_not += sample.structures[i].twice;
            n_fit += !sample.structures[i].twice;
            if (!sample.structures[i].twice)
                expect_expanded(&common, &sample.references[i], &sample.structures[i].numbers);
        }
        rfn_common_release(&common);
        release_sample(&sample);
    }
    assert_true(n_fit > RFN_ROUNDS(4000) && n_not > RFN_ROUNDS(100));
}

/* What structures have in common is there once: a second time they add nothing. */
static void test_once(void **state)
{
    (void)state;
    srand(2);
    struct rfn_common_table table;
    struct model_structure structures[8];
    rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
    size_t symbols = 0, loops = 0, sites = 0;
    for (int i = 0; i < 24; i++) {
        struct model_structure *structure = &structures[i % 8];
        struct rfn_buf out = RFN_BUF_INIT;
        if (i < 8)
            *structure = make_structure();
        rfn_common_add(&table, structure->numbers.at, structure->numbers.n, &out);
        rfn_buf_release(&out);
        assert_true(i < 8 || (table.symbols.n == symbols && table.loops.n == loops &&
                              table.sites.n == sites));
        symbols = table.symbols.n;
        loops = table.loops.n;
        sites = table.sites.n;
    }
    assert_true(sites <= MODEL_FUNCTIONS * MODEL_PATHS && symbols > 20 && loops > 8);
    for (int i = 0; i < 8; i++)
        free(structures[i].numbers.at);
    rfn_common_table_release(&table);
}

/* Where there is no more memory for it structures stay as they are; what was there before goes on.
 */
static void test_limited(void **state)
{
    (void)state;
    srand(5);
    struct rfn_common_table table;
    struct rfn_buf out = RFN_BUF_INIT;
    enum { MOST = 10000 };
    size_t taken = 0, refused = 0;
    rfn_common_table_init(&table, model_dictionary(), MOST);
    for (int i = 0; i < 100; i++) {
        struct model_structure structure = make_structure();
        size_t before = rfn_common_table_bytes(&table);
        int error = rfn_common_add(&table, structure.numbers.at, structure.numbers.n, &out);
        assert_int_equal(error, before > MOST || structure.twice ? RFN_E_UNSUPPORTED : 0);
        assert_true(before <= MOST || rfn_common_table_bytes(&table) == before);
        taken += error == 0;
        refused += before > MOST;
        free(structure.numbers.at);
    }
    assert_true(taken > 0 && refused > 0);
    struct rfn_common common;
    struct rfn_buf packed = pack(&table);
    assert_null(read_bytes(&common, packed.data, packed.size));
    assert_int_equal(common.n_symbols, table.symbols.n);
    rfn_common_release(&common);
    rfn_buf_release(&packed);
    rfn_buf_release(&out);
    rfn_common_table_release(&table);
}

/* ---- what has no common form ---- */

static void test_no_form(void **state)
{
    (void)state;
    srand(3);
    struct rfn_common_table table;
    size_t refused = 0, tried = 0;
    rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
    for (unsigned round = 0; round < RFN_ROUNDS(300); round++) {
        struct model_structure structure = make_structure();
        struct rfn_numbers *numbers = &structure.numbers;
        struct rfn_buf out = RFN_BUF_INIT;
        model_put(&structure, 0); /* behind the end */
        assert_int_equal(rfn_common_add(&table, numbers->at, numbers->n, &out), RFN_E_UNSUPPORTED);
        assert_int_equal(rfn_common_add(&table, numbers->at, numbers->n - 2, &out),
                         RFN_E_UNSUPPORTED);
        for (size_t i = 0; i + 1 < numbers->n; i++, tried++) {
            uint64_t before = numbers->at[i];
            numbers->at[i] = model_below(2) ? before ^ (UINT64_C(1) << model_below(40))
                                            : UINT64_MAX;
            int error = rfn_common_add(&table, numbers->at, numbers->n - 1, &out);
            assert_true(error == 0 || error == RFN_E_UNSUPPORTED);
            refused += error != 0;
            numbers->at[i] = before;
        }
        rfn_buf_release(&out);
        free(numbers->at);
    }
    assert_true(refused > tried / 4 && refused < tried);
    struct rfn_common common;
    struct rfn_buf packed = pack(&table); /* what they left there is sound */
    assert_null(read_bytes(&common, packed.data, packed.size));
    rfn_common_release(&common);
    rfn_buf_release(&packed);
    rfn_common_table_release(&table);
}

/* ---- damage ---- */

struct wrong {
    const char *fault;
    size_t size;
    uint8_t bytes[40];
};

/* Variants of common_bytes. */
static const struct wrong wrong_common[] = {
    {"its sites are malformed", 0, {0}},
    {"its sites are malformed", 4, {2, 1, 2, 3}},
    {"its sites are malformed", 7, {2, 4, 2, 3, 0, 0, 0}},
    {"its sites are malformed", 7, {2, 1, 5, 3, 0, 0, 0}},
    {"a symbol has a site that does not exist", 9, {1, 1, 2, 1, 4, 0, 0, 5, 0}},
    {"a symbol has a site that does not exist", 9, {1, 1, 2, 1, 2, 0, 0, 5, 0}},
    {"a symbol has a site that does not exist", 5, {0, 1, 0, 0, 0}},
    {"its symbols are malformed", 3, {0, 1, 0}},
    {"a symbol has moved inputs that do not exist", 9, {1, 1, 2, 1, 0, 0, 2, 5, 0}},
    {"its symbols are malformed", 7, {1, 1, 2, 1, 0, 0, 0}},
    {"its symbols are malformed", 9, {1, 1, 2, 1, 0, 0, 0, 0x80, 0x80}},
    {"a loop has an empty body", 10, {1, 1, 2, 1, 0, 0, 0, 5, 1, 0}},
    {"a loop has a symbol or loop that does not exist here", 11, {1, 1, 2, 1, 0, 0, 0, 5, 1, 1, 2}},
    {"a loop has a symbol or loop that does not exist here", 11, {1, 1, 2, 1, 0, 0, 0, 5, 1, 1, 1}},
    {"its loops are malformed", 8, {1, 1, 2, 1, 0, 0, 0, 5}},
    {"there are bytes behind its end", 10, {1, 1, 2, 1, 0, 0, 0, 5, 0, 0}},
};

/* Structures that refer to common_bytes. */
static const struct wrong wrong_references[] = {
    {"the numbers of a shape are malformed", 0, {0}},
    {"COMMON does not have what a structure refers to", 2, {1, 4}},
    {"COMMON does not have what a structure refers to", 2, {1, 1}},
    {"COMMON does not have what a structure refers to", 6, {1, 0, 0, 0, 1, 8}},
    {"COMMON does not have what a structure refers to", 7, {1, 0, 0, 0, 0, 1, 6}},
    {"a structure has a site, symbol or loop twice", 3, {2, 0, 1}},
    {"a structure has a site, symbol or loop twice", 7, {1, 0, 0, 0, 2, 0, 1}},
    {"a structure has not all that its symbols and loops consist of", 6, {1, 2, 0, 0, 1, 0}},
    {"a structure has not all that its symbols and loops consist of", 8, {1, 0, 0, 0, 1, 0, 1, 0}},
    {"a structure has not all that its symbols and loops consist of",
     11,
     {2, 0, 0, 0, 0, 3, 0, 0, 0, 1, 2}}, /* a loop before the one that is in it */
    {"a node is a symbol or loop that does not exist here", 9, {1, 0, 0, 0, 1, 0, 0, 1, 4}},
    {"a node is a symbol or loop that does not exist here", 9, {1, 0, 0, 0, 1, 0, 0, 1, 1}},
    {"a node is a symbol or loop that does not exist here", 9, {1, 0, 0, 0, 1, 0, 0, 1, 2}},
    {"the numbers of a shape are malformed", 7, {1, 0, 0, 0, 1, 0, 0}},
};

static void test_faults(void **state)
{
    (void)state;
    struct rfn_common common;
    for (size_t i = 0; i < sizeof wrong_common / sizeof *wrong_common; i++) {
        const struct wrong *wrong = &wrong_common[i];
        const char *fault = read_bytes(&common, wrong->bytes, wrong->size);
        assert_string_equal(fault ? fault : "", wrong->fault);
        rfn_common_release(&common);
    }
    assert_null(read_bytes(&common, common_bytes, sizeof common_bytes));
    for (size_t i = 0; i < sizeof wrong_references / sizeof *wrong_references; i++) {
        const struct wrong *wrong = &wrong_references[i];
        struct rfn_reader reader = rfn_reader_over(wrong->bytes, wrong->size);
        struct rfn_numbers numbers = {0};
        const char *fault = rfn_common_expand(&common, &reader, 1000, &numbers);
        assert_string_equal(fault ? fault : "", wrong->fault);
        free(numbers.at);
    }
    rfn_common_release(&common);
}

/* A structure with one number more than is allowed. */
static void test_too_large(void **state)
{
    (void)state;
    struct rfn_common common;
    struct rfn_numbers numbers = {0};
    struct rfn_reader reader = rfn_reader_over(first_references, sizeof first_references);
    assert_null(read_bytes(&common, common_bytes, sizeof common_bytes));
    size_t n = sizeof first_numbers / sizeof *first_numbers;
    assert_string_equal(rfn_common_expand(&common, &reader, n - 1, &numbers), "it is too large");
    assert_int_equal(numbers.n, n - 1);
    free(numbers.at);
    rfn_common_release(&common);
}

/* What became of damaged bytes that still differ from the sound ones. */
enum outcome { DETECTED, CHANGED, UNCHANGED, OUTCOMES };

/* What is read of damaged references is no more than is allowed. */
static enum outcome try_references(const struct rfn_common *common,
                                   const struct rfn_buf *references,
                                   const struct rfn_numbers *sound)
{
    enum { MOST = 4096 };
    struct rfn_numbers numbers = {0};
    struct rfn_reader reader = rfn_reader_over(references->data, references->size);
    struct rfn_reader skipped = reader;
    const char *fault = rfn_common_expand(common, &reader, MOST, &numbers);
    bool equal = numbers.n == sound->n &&
                 memcmp(numbers.at, sound->at, sound->n * sizeof *sound->at) == 0;
    assert_true(numbers.n <= MOST);
    rfn_common_skip(&skipped);
    assert_true(fault || skipped.at == reader.at);
    free(numbers.at);
    return fault ? DETECTED : equal ? UNCHANGED : CHANGED;
}

enum { FEW = 3 };

/* Where one structure says that something is wrong, that is detected. */
static enum outcome try_all(const struct sample *sample)
{
    struct rfn_common common;
    bool detected = read_bytes(&common, sample->common.data, sample->common.size) != NULL;
    enum outcome all = detected ? DETECTED : UNCHANGED;
    for (int i = 0; i < FEW && !detected; i++) {
        enum outcome of = try_references(&common, &sample->references[i],
                                         &sample->structures[i].numbers);
        all = of < all ? of : all;
    }
    rfn_common_release(&common);
    return all;
}

/* One byte after the other, and cut short before each: what is cut is never read. Counts what
 * becomes of changed bytes. */
static void damage(struct rfn_buf *bytes, const struct sample *sample, size_t outcomes[OUTCOMES])
{
    size_t size = bytes->size;
    for (size_t at = 0; at < size; at++) {
        uint8_t before = bytes->data[at];
        bytes->data[at] = (uint8_t)(model_below(3) ? before ^ 1u << model_below(8) : 0xff);
        if (bytes->data[at] != before)
            outcomes[try_all(sample)]++;
        bytes->data[at] = before;
        bytes->size = at;
        assert_int_equal(try_all(sample), DETECTED);
        bytes->size = size;
    }
}

static bool has_twice(const struct sample *sample)
{
    bool twice = false;
    for (int i = 0; i < FEW; i++)
        twice |= sample->structures[i].twice;
    return twice;
}

/* No byte is without meaning, if all structures are there. */
static void test_damage(void **state)
{
    (void)state;
    srand(4);
    size_t outcomes[OUTCOMES] = {0};
    for (unsigned round = 0; round < RFN_ROUNDS(40); round++) {
        struct sample sample;
        make_sample(&sample, FEW);
        if (!has_twice(&sample)) {
            damage(&sample.common, &sample, outcomes);
            for (int i = 0; i < FEW; i++)
                damage(&sample.references[i], &sample, outcomes);
        }
        release_sample(&sample);
    }
    assert_int_equal(outcomes[UNCHANGED], 0);
    assert_true(outcomes[DETECTED] > outcomes[CHANGED] && outcomes[CHANGED] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_bytes), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_once),        cmocka_unit_test(test_limited),
        cmocka_unit_test(test_no_form),     cmocka_unit_test(test_faults),
        cmocka_unit_test(test_too_large),   cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
