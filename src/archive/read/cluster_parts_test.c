/* Structures, rank parameters and values of random groups, packed together and taken out again one
 * by one, with what they have in common or without; and the same with bytes that are damaged. */
#include "archive/read/cluster_parts.h"
#include "archive/read/rank_sequence.h"
#include "archive/write/pack_clusters.h"
#include "reduce/clusters/rank_formula.h"
#include "support/common_model.h"
#include "support/rounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS_MOST = 24, MEMBERS_MOST = 120, SETS_MOST = 60, NUMBERS = 30, SLOTS = 12, COMMS = 2 };

/* A shape of groups, and the archive that it is in. */
struct model {
    uint32_t n_groups, n_members, n_sets;
    uint32_t first_member[GROUPS_MOST + 1], first_set[GROUPS_MOST + 1], members[MEMBERS_MOST];
    uint32_t ranks[GROUPS_MOST], set_of[MEMBERS_MOST]; /* ranks: of the groups' lowest members */
    struct rfn_buf structures[GROUPS_MOST], values[SETS_MOST];
    struct rfn_pack_bytes structure_bytes[GROUPS_MOST], value_bytes[SETS_MOST];
    struct rfn_rank_value rank_params[SLOTS * MEMBERS_MOST];
    bool of_ranks[SLOTS];
    struct rfn_buf streams; /* the payload's runs of ranks */
    struct rfn_archive archive;
    struct rfn_structure structure;
    struct rfn_common *common; /* borrowed, or NULL */
};

static uint32_t below(uint32_t n)
{
    return (uint32_t)rand() % n;
}

/* ---- making one ---- */

/* Members of groups lie between each other as they do in runs: stream i is rank i. */
static void make_members(struct model *model, uint32_t n_groups)
{
    model->n_groups = n_groups;
    model->n_members = n_groups + below(MEMBERS_MOST - n_groups);
    uint32_t group_of[MEMBERS_MOST], at = 0;
    for (uint32_t i = 0; i < model->n_members; i++)
        group_of[i] = i < n_groups ? i : below(n_groups);
    for (uint32_t group = 0; group < n_groups; group++) {
        model->first_member[group] = at;
        model->first_set[group] = model->n_sets;
        for (uint32_t i = 0; i < model->n_members; i++) {
            if (group_of[i] != group)
                continue;
            bool more = at == model->first_member[group] ||
                        (below(3) == 0 && model->n_sets + n_groups - group < SETS_MOST);
            model->n_sets += more;
            model->set_of[at] = model->n_sets - 1;
            model->members[at++] = i;
        }
        model->ranks[group] = model->members[model->first_member[group]];
    }
    model->first_member[n_groups] = at;
    model->first_set[n_groups] = model->n_sets;
}

/* Equal in all, from the rank, or anything. */
static uint64_t number_at(uint32_t place, uint32_t rank)
{
    if (place == 6)
        return rfn_zigzag((int64_t)rank * rank - 50);
    if (place % 5 == 1)
        return 3 * (uint64_t)rank + place;
    if (place % 5 == 2)
        return rank % 8;
    return place % 5 == 3 ? (uint64_t)rand() << below(33) : place;
}

static void make_structures(struct model *model)
{
    uint32_t n = 1 + below(NUMBERS);
    for (uint32_t i = 0; i < model->n_groups; i++) {
        struct rfn_buf *out = &model->structures[i];
        for (uint32_t k = 0; k < n; k++)
            rfn_buf_varint(out, number_at(k, model->ranks[i]));
        model->structure_bytes[i] = (struct rfn_pack_bytes){out->data, out->size};
    }
}

static void make_column(uint32_t place, struct rfn_buf *out)
{
    uint32_t n = place % 4 == 3 ? 1 + below(40) : place;
    struct rfn_column column;
    rfn_column_init(&column);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(rfn_column_append(&column, place % 4 ? (int64_t)below(1000) : 7), 0);
    rfn_column_write(&column, out);
    rfn_column_release(&column);
}

static void make_values(struct model *model)
{
    uint32_t n = 2 + below(6);
    for (uint32_t i = 0; i < model->n_sets; i++) {
        struct rfn_buf *out = &model->values[i];
        rfn_buf_varint(out, below(3));
        for (uint32_t k = 0; k < n; k++)
            make_column(k, out);
        model->value_bytes[i] = (struct rfn_pack_bytes){out->data, out->size};
    }
}

/* A word of a slot: of a communicator in the last ones. */
static int64_t word_at(uint32_t slot, uint32_t rank, uint32_t size)
{
    switch (slot) {
    case 0:
        return (rank + 1) % size;
    case 1:
        return rank ^ 4;
    case 2:
        return rank < size / 2 ? -2 : 5;
    case 3:
        return rank % 8 * 16 + rank / 8;
    case 4:
        return (int64_t)below(size);
    case 5:
        return (int64_t)((uint64_t)rand() << below(64));
    case 6:
        return rank * (int64_t)rank % 1000003 + size;
    default:
        return slot < SLOTS - COMMS ? 3 : (int64_t)rank / 8 - 1;
    }
}

static void make_rank_params(struct model *model)
{
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        model->of_ranks[slot] = slot < 5;
        for (uint32_t i = 0; i < model->n_members; i++)
            model->rank_params[slot * model->n_members + i] = (struct rfn_rank_value){
                .rank = model->members[i],
                .size = MEMBERS_MOST + 8,
                .value = word_at(slot, model->members[i], MEMBERS_MOST + 8)};
    }
}

static void make_archive(struct model *model)
{
    struct rfn_archive *archive = &model->archive;
    archive->chunks.minor = RFN_FORMAT_MINOR;
    rfn_buf_varint(&model->streams, model->n_members * 4 + 1);
    rfn_buf_svarint(&model->streams, 0);
    struct rfn_reader reader = rfn_reader_over(model->streams.data, model->streams.size);
    assert_null(
        rfn_member_table_read(&archive->streams, &reader, 1, model->n_members, RFN_RUN_EXPRESSION));
    archive->n_streams = model->n_members;
    archive->n_groups = model->n_groups;
    archive->n_value_sets = model->n_sets;
    archive->members = model->members;
    archive->first_member = model->first_member;
    archive->first_set = model->first_set;
    model->structure = (struct rfn_structure){.n_rank_params = SLOTS - COMMS, .n_comms = COMMS};
}

static struct model *new_model(uint32_t n_groups)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    make_members(model, n_groups);
    make_structures(model);
    make_values(model);
    make_rank_params(model);
    make_archive(model);
    return model;
}

static void delete_model(struct model *model)
{
    for (uint32_t i = 0; i < model->n_groups; i++)
        rfn_buf_release(&model->structures[i]);
    for (uint32_t i = 0; i < model->n_sets; i++)
        rfn_buf_release(&model->values[i]);
    rfn_buf_release(&model->streams);
    rfn_member_table_release(&model->archive.streams);
    free(model);
}

/* ---- users' expressions ---- */

static const char *const formulas[] = {"r*r-50", "r*r%1000003+n"};
enum { FORMULAS = 2 };

static int find_formula(void *context, const struct rfn_sought_parameter *parameter,
                        const struct rfn_rank_value *values, size_t n,
                        struct rfn_rank_expression *expression)
{
    (void)context;
    assert_string_equal(parameter->name, "known");
    for (int k = 0; k < FORMULAS; k++) {
        size_t i = 0, size = strlen(formulas[k]);
        int64_t value;
        while (i < n &&
               rfn_formula_value(formulas[k], size, values[i].rank, values[i].size, &value) &&
               value == values[i].value)
            i++;
        if (i < n)
            continue;
        *expression = (struct rfn_rank_expression){
            .form = RFN_EXPRESSION_FORMULA, .formula = formulas[k], .formula_size = (uint32_t)size};
        return 1;
    }
    return 0;
}

static struct rfn_expression_finder finder = {.find = find_formula};
static struct rfn_sought_parameter slots_sought[SLOTS], numbers_sought[NUMBERS];

static void name_parameters(void)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        slots_sought[i] = (struct rfn_sought_parameter){.name = "known"};
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers_sought[i] = (struct rfn_sought_parameter){
            .name = i == 6 ? "known" : NULL, .size = MEMBERS_MOST + 8, .coded = true};
}

/* Counts each formula. */
static const char *count_formula(void *context, const char *text, size_t size)
{
    uint64_t *n = context;
    int k = 0;
    while (k < FORMULAS && (strlen(formulas[k]) != size || memcmp(text, formulas[k], size) != 0))
        k++;
    assert_in_range(k, 0, FORMULAS - 1);
    n[k]++;
    return NULL;
}

/* ---- packing and taking ---- */

/* As one shape, or as two. common: may be NULL. */
static struct rfn_buf pack_as(const struct model *model, uint32_t first_shape,
                              enum rfn_clusters_form form, struct rfn_common_table *common)
{
    struct rfn_clusters_packer packer = {.common = common};
    struct rfn_buf out = RFN_BUF_INIT;
    for (uint32_t from = 0, end; from < model->n_groups; from = end) {
        end = from == 0 ? first_shape : model->n_groups;
        uint32_t member = model->first_member[from], set = model->first_set[from];
        uint32_t n = model->first_member[end] - member;
        struct rfn_rank_value *rank_params = calloc((size_t)n * SLOTS, sizeof *rank_params);
        assert_non_null(rank_params);
        for (uint32_t slot = 0; slot < SLOTS; slot++)
            memcpy(rank_params + (size_t)slot * n,
                   model->rank_params + slot * model->n_members + member, n * sizeof *rank_params);
        assert_int_equal(
            rfn_clusters_add(&packer,
                             &(struct rfn_pack_shape){.n_groups = end - from,
                                                      .n_sets = model->first_set[end] - set,
                                                      .n_members = n,
                                                      .n_slots = SLOTS,
                                                      .structures = model->structure_bytes + from,
                                                      .ranks = model->ranks + from,
                                                      .values = model->value_bytes + set,
                                                      .rank_params = rank_params,
                                                      .of_ranks = model->of_ranks,
                                                      .finder = &finder,
                                                      .slot_parameters = slots_sought,
                                                      .number_parameters = numbers_sought,
                                                      .n_number_parameters = NUMBERS}),
            0);
        free(rank_params);
    }
    assert_int_equal(rfn_clusters_pack(&packer, form, 12345, &out), 0);
    rfn_clusters_packer_release(&packer);
    return out;
}

static struct rfn_buf pack(const struct model *model, uint32_t first_shape)
{
    return pack_as(model, first_shape, RFN_CLUSTERS_PLAIN, NULL);
}

/* A copy of the bytes, read; what is wrong with them, or NULL. */
static const char *read_copy(const struct model *model, const struct rfn_buf *bytes,
                             struct rfn_cluster_index *shapes)
{
    struct rfn_payload payload = {.data = malloc(bytes->size + 1),
                                  .size = bytes->size,
                                  .id = rfn_clusters_id(0, model->n_groups)};
    assert_non_null(payload.data);
    memcpy(payload.data, bytes->data, bytes->size);
    return rfn_cluster_index_read(shapes, model->n_groups, &payload);
}

/* What is taken of them. */
static const char *take(const struct model *model, const struct rfn_buf *bytes, uint32_t type,
                        uint32_t id, struct rfn_payload *payload)
{
    struct rfn_cluster_index shapes;
    *payload = (struct rfn_payload){0};
    const char *fault = read_copy(model, bytes, &shapes);
    if (!fault)
        fault = rfn_cluster_take(&model->archive, &shapes, type, id, &model->structure,
                                 model->common, payload);
    rfn_cluster_index_release(&shapes);
    return fault;
}

static void expect_bytes(const struct model *model, const struct rfn_buf *packed, uint32_t type,
                         uint32_t id, const struct rfn_buf *expected)
{
    struct rfn_payload payload;
    assert_null(take(model, packed, type, id, &payload));
    assert_int_equal(payload.size, expected->size);
    assert_memory_equal(payload.data, expected->data, expected->size);
    rfn_payload_release(&payload);
}

static void expect_rank_params(const struct model *model, const struct rfn_buf *packed,
                               uint32_t group)
{
    struct rfn_payload payload;
    struct rfn_member_table table;
    uint32_t first = model->first_member[group], n = model->first_member[group + 1] - first;
    assert_null(take(model, packed, RFN_CHUNK_RANK_PARAMS, group, &payload));
    struct rfn_reader reader = rfn_reader_over(payload.data, payload.size);
    assert_int_equal(rfn_reader_varint(&reader), SLOTS);
    assert_null(rfn_member_table_read(&table, &reader, SLOTS, n, RFN_RUN_FORMS));
    assert_int_equal(rfn_reader_left(&reader), 0);
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        for (uint32_t i = 0; i < n; i++) {
            const struct rfn_rank_value *own =
                &model->rank_params[slot * model->n_members + first + i];
            int64_t reference = slot < SLOTS - COMMS ? own->rank : 0;
            assert_int_equal(rfn_rank_param(&table, slot, i, reference), own->value);
        }
    }
    rfn_member_table_release(&table);
    rfn_payload_release(&payload);
}

static void expect_all(const struct model *model, const struct rfn_buf *packed)
{
    for (uint32_t group = 0; group < model->n_groups; group++) {
        expect_bytes(model, packed, RFN_CHUNK_STRUCTURE, group, &model->structures[group]);
        expect_rank_params(model, packed, group);
    }
    for (uint32_t set = 0; set < model->n_sets; set++)
        expect_bytes(model, packed, RFN_CHUNK_VALUES, set, &model->values[set]);
}

static void count_formulas(const struct model *model, const struct rfn_buf *packed, uint64_t *n)
{
    struct rfn_cluster_index shapes;
    assert_null(read_copy(model, packed, &shapes));
    assert_null(rfn_cluster_formulas(&model->archive, &shapes, count_formula, n));
    rfn_cluster_index_release(&shapes);
}

static void test_round_trip(void **state)
{
    (void)state;
    srand(1);
    name_parameters();
    finder.stored = 0;
    uint64_t n[FORMULAS] = {0};
    for (unsigned i = 0; i < RFN_ROUNDS(300); i++) {
        struct model *model = new_model(1 + below(GROUPS_MOST));
        struct rfn_buf packed = pack(model, 1 + below(model->n_groups));
        expect_all(model, &packed);
        count_formulas(model, &packed, n);
        rfn_buf_release(&packed);
        delete_model(model);
    }
    assert_int_equal(n[0] + n[1], finder.stored);
    assert_true(n[0] > RFN_ROUNDS(100) && n[1] > RFN_ROUNDS(100) && finder.found >= finder.stored);
}

/* ---- what shapes have in common ---- */

/* Structures of two shapes; in the first one groups differ in inputs of their first symbol. */
static void make_alike(struct model *model, uint32_t first_shape)
{
    struct model_structure structure = {{0}, false, 0, 0};
    for (uint32_t i = 0; i < model->n_groups; i++) {
        while (i == 0 || i == first_shape) {
            free(structure.numbers.at);
            structure = make_structure();
            if (structure.n_inputs > 0 && !structure.twice)
                break;
        }
        for (uint32_t k = 0; k < structure.n_inputs; k++)
            structure.numbers.at[structure.first_input + k] = rfn_zigzag((int64_t)model->ranks[i] *
                                                                         (k + 1) % 7);
        struct rfn_buf *out = &model->structures[i];
        rfn_buf_release(out);
        for (size_t k = 0; k < structure.numbers.n; k++)
            rfn_buf_varint(out, structure.numbers.at[k]);
        model->structure_bytes[i] = (struct rfn_pack_bytes){out->data, out->size};
    }
    free(structure.numbers.at);
}

static void read_common(const struct rfn_common_table *table, struct rfn_common *common)
{
    struct rfn_buf bytes = RFN_BUF_INIT;
    assert_int_equal(rfn_common_pack(table, &bytes), 0);
    const struct rfn_payload payload = {.data = bytes.data, .size = bytes.size};
    assert_null(rfn_common_read(common, table->dictionary, &payload, true));
    rfn_buf_release(&bytes);
}

/* Who has no COMMON is told so; a file of a version that had none is damaged. */
static void expect_needed(struct model *model, const struct rfn_buf *packed)
{
    struct rfn_payload payload;
    struct rfn_common *common = model->common;
    model->common = NULL;
    assert_ptr_equal(take(model, packed, RFN_CHUNK_STRUCTURE, 0, &payload), rfn_common_needed);
    assert_null(payload.data);
    rfn_payload_release(&payload);
    model->common = common;
    model->archive.chunks.minor = RFN_COMMON_SINCE_MINOR - 1;
    assert_string_equal(take(model, packed, RFN_CHUNK_STRUCTURE, 0, &payload),
                        "the numbers of a shape are malformed");
    rfn_payload_release(&payload);
    model->archive.chunks.minor = RFN_FORMAT_MINOR;
}

/* Both forms give the same; the numbers that have none stay as they are. */
static void test_common(void **state)
{
    (void)state;
    srand(3);
    name_parameters();
    for (unsigned i = 0; i < RFN_ROUNDS(200); i++) {
        struct model *model = new_model(2 + below(GROUPS_MOST - 2));
        uint32_t first_shape = 1 + below(model->n_groups - 1);
        struct rfn_common_table table;
        struct rfn_common common;
        bool alike = i % 4 > 0;
        if (alike)
            make_alike(model, first_shape);
        rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
        struct rfn_buf packed = pack_as(model, first_shape, RFN_CLUSTERS_COMMON, &table);
        struct rfn_buf plain = pack_as(model, first_shape, RFN_CLUSTERS_PLAIN, &table);
        expect_all(model, &plain);
        read_common(&table, &common);
        model->common = &common;
        expect_all(model, &packed);
        expect_all(model, &plain);
        if (alike)
            expect_needed(model, &packed);
        else
            assert_int_equal(packed.size, plain.size);
        uint64_t n[2][FORMULAS] = {{0}};
        count_formulas(model, &packed, n[0]);
        count_formulas(model, &plain, n[1]);
        assert_memory_equal(n[0], n[1], sizeof n[0]);
        rfn_common_release(&common);
        rfn_common_table_release(&table);
        rfn_buf_release(&plain);
        rfn_buf_release(&packed);
        delete_model(model);
    }
}

/* What follows from the rank costs no more for many than for few. */
static void test_expressions(void **state)
{
    (void)state;
    static const struct {
        uint32_t slot;
        size_t most;
    } known[] = {{0, 8}, {1, 6}, {3, 14}, {7, 5}, {SLOTS - 1, 14}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct rfn_rank_value members[128];
        struct rfn_buf out = RFN_BUF_INIT;
        for (uint32_t k = 0; k < 128; k++)
            members[k] = (struct rfn_rank_value){k, 128, word_at(known[i].slot, k, 128)};
        assert_int_equal(rfn_sequence_write(members, 128, known[i].slot < 5, &out), 0);
        assert_in_range(out.size, 2, known[i].most);
        rfn_buf_release(&out);
    }
}

/* ---- damage ---- */

/* Whatever it is, it is a formula. */
static const char *see_formula(void *context, const char *text, size_t size)
{
    size_t at;
    assert_null(rfn_formula_fault(text, size, &at));
    *(size_t *)context += size;
    return NULL;
}

/* Bytes of other groups do not matter; what comes out is no larger than is allowed. */
static size_t take_all(const struct model *model, const struct rfn_buf *bytes)
{
    size_t faults = 0;
    for (uint32_t type = RFN_CHUNK_STRUCTURE; type <= RFN_CHUNK_RANK_PARAMS; type++) {
        uint32_t n = type == RFN_CHUNK_VALUES ? model->n_sets : model->n_groups;
        for (uint32_t id = 0; id < n; id++) {
            struct rfn_payload payload;
            faults += take(model, bytes, type, id, &payload) != NULL;
            rfn_payload_release(&payload);
        }
    }
    struct rfn_cluster_index all;
    size_t seen = 0;
    const char *fault = read_copy(model, bytes, &all);
    if (!fault)
        fault = rfn_cluster_formulas(&model->archive, &all, see_formula, &seen);
    rfn_cluster_index_release(&all);
    return faults + (fault != NULL);
}

static void test_damage(void **state)
{
    (void)state;
    srand(2);
    size_t faults = 0;
    for (unsigned i = 0; i < RFN_ROUNDS(12); i++) {
        struct model *model = new_model(2 + below(4));
        uint32_t first_shape = 1 + below(model->n_groups - 1);
        struct rfn_common_table table;
        struct rfn_common common;
        if (i % 2)
            make_alike(model, first_shape);
        rfn_common_table_init(&table, model_dictionary(), SIZE_MAX);
        struct rfn_buf packed = pack_as(model, first_shape, RFN_CLUSTERS_COMMON, &table);
        read_common(&table, &common);
        model->common = &common;
        for (size_t at = 0; at < packed.size; at++) {
            uint8_t before = packed.data[at];
            packed.data[at] = (uint8_t)(below(3) ? before ^ 1u << below(8) : 0xff);
            faults += take_all(model, &packed);
            packed.data[at] = before;
        }
        for (size_t size = packed.size; packed.size > 0; packed.size--)
            faults += take_all(model, &packed) > 0 || packed.size == size;
        rfn_common_release(&common);
        rfn_common_table_release(&table);
        rfn_buf_release(&packed);
        delete_model(model);
    }
    assert_true(faults > RFN_ROUNDS(10000));
}

/* Payloads that are not as the shape says cannot be packed. */
static void test_not_alike(void **state)
{
    (void)state;
    static const uint8_t two[] = {1, 2}, three[] = {1, 2, 3};
    const struct rfn_pack_bytes structures[] = {{two, 2}, {three, 3}};
    const uint32_t ranks[] = {0, 1};
    struct rfn_clusters_packer packer = {0};
    struct rfn_pack_shape shape = {.n_groups = 2, .structures = structures, .ranks = ranks};
    assert_int_equal(rfn_clusters_add(&packer, &shape), RFN_E_UNSUPPORTED);
    shape.n_groups = 1;
    shape.n_sets = 2;
    static const uint8_t one_column[] = {0, 1, 0}, cut_column[] = {0, 1, 5};
    const struct rfn_pack_bytes values[] = {{one_column, 3}, {cut_column, 3}};
    shape.values = values;
    assert_int_equal(rfn_clusters_add(&packer, &shape), RFN_E_UNSUPPORTED);
    rfn_clusters_packer_release(&packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_common),
        cmocka_unit_test(test_expressions), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_not_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
