#include "archive/pack_clusters.h"

#include <stdlib.h>

void rfn_clusters_packer_release(struct rfn_clusters_packer *packer)
{
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS; form++) {
        rfn_buf_release(&packer->directory[form]);
        rfn_buf_release(&packer->shapes[form]);
    }
    rfn_buf_release(&packer->columns);
    rfn_map_release(&packer->column_numbers);
}

/* ---- numbers ---- */

/* Lists of equally many numbers, one after the other. */
struct numbers {
    uint64_t *at;
    size_t n_lists, n; /* n: of a list */
    const uint32_t *references;
    const struct rfn_sought_parameter *parameters; /* of the first ones */
    size_t n_parameters;
    struct rfn_expression_finder *finder;
};

static int allocate_numbers(struct numbers *numbers)
{
    if (numbers->n == 0)
        return RFN_E_UNSUPPORTED;
    numbers->at = calloc(numbers->n_lists * numbers->n, sizeof *numbers->at);
    return numbers->at ? 0 : RFN_E_NOMEM;
}

static int write_change(const struct numbers *numbers, size_t place, struct rfn_rank_value *members,
                        struct rfn_buf *out)
{
    uint32_t size = 0;
    for (size_t i = 0; i < numbers->n_lists; i++) {
        uint32_t reference = numbers->references ? numbers->references[i] : (uint32_t)i;
        size = reference >= size ? reference + 1 : size;
        members[i] = (struct rfn_rank_value){.rank = reference,
                                             .value = (int64_t)numbers->at[i * numbers->n + place]};
    }
    for (size_t i = 0; i < numbers->n_lists; i++)
        members[i].size = size;
    const struct rfn_sought_parameter *parameter = place < numbers->n_parameters
                                                       ? &numbers->parameters[place]
                                                       : NULL;
    bool known = parameter && parameter->name;
    return rfn_sequence_write_parameter(members, numbers->n_lists, false, parameter,
                                        known ? numbers->finder : NULL, out);
}

static bool differs(const struct numbers *numbers, size_t place)
{
    for (size_t i = 1; i < numbers->n_lists; i++) {
        if (numbers->at[i * numbers->n + place] != numbers->at[place])
            return true;
    }
    return false;
}

static int write_changes_of(const struct numbers *numbers, struct rfn_rank_value *members,
                            struct rfn_buf *out)
{
    size_t n = 0, before = 0;
    for (size_t i = 0; i < numbers->n; i++)
        n += differs(numbers, i);
    rfn_buf_varint(out, n);
    bool first = true;
    for (size_t i = 0; i < numbers->n; i++) {
        if (!differs(numbers, i))
            continue;
        rfn_buf_varint(out, first ? i : i - before - 1);
        first = false;
        before = i;
        RFN_TRY(write_change(numbers, i, members, out));
    }
    return 0;
}

/* The numbers of the first list. */
static void write_first(const struct numbers *numbers, struct rfn_buf *out)
{
    rfn_buf_varint(out, numbers->n);
    for (size_t i = 0; i < numbers->n; i++)
        rfn_buf_varint(out, numbers->at[i]);
}

/* Where others have other ones. */
static int write_changes(const struct numbers *numbers, struct rfn_buf *out)
{
    struct rfn_rank_value *members = malloc(numbers->n_lists * sizeof *members);
    if (!members)
        return RFN_E_NOMEM;
    int error = write_changes_of(numbers, members, out);
    free(members);
    return error ? error : rfn_buf_status(out);
}

/* ---- STRUCTURE: all of it is numbers ---- */

static size_t count_numbers(const struct rfn_pack_bytes *bytes)
{
    struct rfn_reader reader = rfn_reader_over(bytes->data, bytes->size);
    size_t n = 0;
    for (; rfn_reader_left(&reader); n++)
        rfn_reader_varint(&reader);
    return n;
}

static int read_numbers(const struct rfn_pack_bytes *bytes, uint64_t *at, size_t n)
{
    struct rfn_reader reader = rfn_reader_over(bytes->data, bytes->size);
    for (size_t i = 0; i < n; i++)
        at[i] = rfn_reader_varint(&reader);
    return reader.failed || rfn_reader_left(&reader) ? RFN_E_UNSUPPORTED : 0;
}

/* As what is common, or, if they cannot be written so, as they are. 0 says which. */
static int write_common(struct rfn_common_table *common, const struct numbers *numbers,
                        struct rfn_buf *out)
{
    struct rfn_buf references = RFN_BUF_INIT;
    int error = rfn_common_add(common, numbers->at, numbers->n, &references);
    if (error == RFN_E_UNSUPPORTED) {
        write_first(numbers, out);
    } else {
        rfn_buf_varint(out, 0);
        rfn_buf_bytes(out, references.data, references.size);
    }
    rfn_buf_release(&references);
    return error == RFN_E_UNSUPPORTED ? 0 : error;
}

/* What groups differ in is the same in both forms. */
static int write_structures(struct rfn_common_table *common, const struct numbers *numbers,
                            struct rfn_buf *forms)
{
    struct rfn_buf changes = RFN_BUF_INIT;
    write_first(numbers, &forms[RFN_CLUSTERS_PLAIN]);
    int error = common ? write_common(common, numbers, &forms[RFN_CLUSTERS_COMMON]) : 0;
    if (!error)
        error = write_changes(numbers, &changes);
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS; form++) {
        rfn_buf_bytes(&forms[form], changes.data, changes.size);
        error = error ? error : rfn_buf_status(&forms[form]);
    }
    rfn_buf_release(&changes);
    return error;
}

static int add_structures(struct rfn_common_table *common, const struct rfn_pack_shape *shape,
                          struct rfn_buf *forms)
{
    struct numbers numbers = {.n_lists = shape->n_groups,
                              .n = count_numbers(&shape->structures[0]),
                              .references = shape->ranks,
                              .parameters = shape->number_parameters,
                              .n_parameters = shape->n_number_parameters,
                              .finder = shape->finder};
    int error = allocate_numbers(&numbers);
    for (size_t i = 0; i < numbers.n_lists && !error; i++)
        error = read_numbers(&shape->structures[i], numbers.at + i * numbers.n, numbers.n);
    if (!error)
        error = write_structures(common, &numbers, forms);
    free(numbers.at);
    return error;
}

/* ---- VALUES: a number of lists, and columns ---- */

/* The number of a column, which is stored once. */
static int intern(struct rfn_clusters_packer *packer, const uint8_t *column, size_t size,
                  uint64_t *number)
{
    uint64_t hash = rfn_hash_bytes(column, size);
    const uint64_t *place = rfn_map_get(&packer->column_numbers, hash);
    if (place) { /* where it lies, and its number */
        *number = *place >> 32;
        size_t at = (uint32_t)*place;
        bool same = packer->columns.size - at >= size &&
                    memcmp(packer->columns.data + at, column, size) == 0;
        if (same)
            return 0;
    }
    if (packer->columns.size + size > UINT32_MAX || packer->n_columns == UINT32_MAX)
        return RFN_E_UNSUPPORTED;
    *number = packer->n_columns++;
    uint64_t at = packer->columns.size;
    rfn_buf_bytes(&packer->columns, column, size);
    RFN_TRY(rfn_buf_status(&packer->columns));
    return place ? 0 : rfn_map_put(&packer->column_numbers, hash, *number << 32 | at);
}

/* A column's bytes; where there is none, the reader fails. */
static const uint8_t *next_column(struct rfn_reader *reader, size_t *size)
{
    size_t begin = reader->at, blocks;
    rfn_reader_varint(reader);
    rfn_reader_blob(reader, &blocks);
    *size = reader->at - begin;
    return reader->data + begin;
}

static size_t count_columns(const struct rfn_pack_bytes *bytes)
{
    struct rfn_reader reader = rfn_reader_over(bytes->data, bytes->size);
    size_t n = 0, size;
    for (rfn_reader_varint(&reader); rfn_reader_left(&reader); n++)
        next_column(&reader, &size);
    return n;
}

/* Columns that stand for the same in several sets lie side by side, being much alike. */
static int intern_columns(struct rfn_clusters_packer *packer, struct rfn_reader *readers,
                          const struct numbers *numbers)
{
    for (size_t i = 0; i < numbers->n_lists; i++)
        numbers->at[i * numbers->n] = rfn_reader_varint(&readers[i]);
    for (size_t k = 1; k < numbers->n; k++) {
        for (size_t i = 0; i < numbers->n_lists; i++) {
            size_t size;
            const uint8_t *column = next_column(&readers[i], &size);
            if (readers[i].failed)
                return RFN_E_UNSUPPORTED;
            RFN_TRY(intern(packer, column, size, &numbers->at[i * numbers->n + k]));
        }
    }
    for (size_t i = 0; i < numbers->n_lists; i++) {
        if (rfn_reader_left(&readers[i]))
            return RFN_E_UNSUPPORTED;
    }
    return 0;
}

static int add_values(struct rfn_clusters_packer *packer, const struct rfn_pack_shape *shape,
                      struct rfn_buf *out)
{
    struct numbers numbers = {.n_lists = shape->n_sets, .n = 1 + count_columns(&shape->values[0])};
    struct rfn_reader *readers = malloc(numbers.n_lists * sizeof *readers);
    int error = readers ? allocate_numbers(&numbers) : RFN_E_NOMEM;
    for (size_t i = 0; i < numbers.n_lists && readers; i++)
        readers[i] = rfn_reader_over(shape->values[i].data, shape->values[i].size);
    if (!error)
        error = intern_columns(packer, readers, &numbers);
    if (!error) {
        write_first(&numbers, out);
        error = write_changes(&numbers, out);
    }
    free(readers);
    free(numbers.at);
    return error;
}

/* ---- PLACES ---- */

static int add_places(const struct rfn_pack_shape *shape, struct rfn_buf *out)
{
    for (uint32_t i = 0; i < shape->n_slots; i++)
        RFN_TRY(rfn_sequence_write_parameter(
            shape->places + (size_t)i * shape->n_members, shape->n_members, shape->of_ranks[i],
            shape->finder ? &shape->place_parameters[i] : NULL, shape->finder, out));
    return 0;
}

/* ---- a shape ---- */

enum { PLACES, VALUES, OTHERS };

static int add_parts(struct rfn_clusters_packer *packer, const struct rfn_pack_shape *shape,
                     struct rfn_buf *structures, struct rfn_buf *others)
{
    RFN_TRY(add_structures(packer->common, shape, structures));
    RFN_TRY(add_places(shape, &others[PLACES]));
    return shape->n_sets ? add_values(packer, shape, &others[VALUES]) : 0;
}

/* In one form. */
static void put_shape(struct rfn_clusters_packer *packer, enum rfn_clusters_form form,
                      uint32_t n_groups, const struct rfn_buf *structures,
                      const struct rfn_buf *others)
{
    const struct rfn_buf *parts[] = {structures, &others[PLACES], &others[VALUES]};
    rfn_buf_varint(&packer->directory[form], n_groups);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        rfn_buf_varint(&packer->directory[form], parts[i]->size);
        rfn_buf_bytes(&packer->shapes[form], parts[i]->data, parts[i]->size);
        packer->shapes[form].failed |= parts[i]->failed;
    }
}

int rfn_clusters_add(struct rfn_clusters_packer *packer, const struct rfn_pack_shape *shape)
{
    struct rfn_buf structures[RFN_CLUSTERS_FORMS] = {RFN_BUF_INIT}, others[OTHERS] = {RFN_BUF_INIT};
    int error = add_parts(packer, shape, structures, others);
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS; form++) {
        if (form == RFN_CLUSTERS_PLAIN || packer->common)
            put_shape(packer, form, shape->n_groups, &structures[form], others);
        rfn_buf_release(&structures[form]);
    }
    for (int i = 0; i < OTHERS; i++)
        rfn_buf_release(&others[i]);
    packer->n_shapes++;
    return error;
}

int rfn_clusters_pack(const struct rfn_clusters_packer *packer, enum rfn_clusters_form form,
                      uint64_t before, struct rfn_buf *out)
{
    const struct rfn_buf *all[] = {&packer->directory[form], &packer->shapes[form],
                                   &packer->columns};
    rfn_buf_varint(out, before);
    rfn_buf_varint(out, packer->n_shapes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        rfn_buf_bytes(out, all[i]->data, all[i]->size);
        out->failed |= all[i]->failed;
    }
    return rfn_buf_status(out);
}
