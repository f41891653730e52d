#include "archive/write/pack_clusters.h"

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
    size_t n = 0, passed = 0; /* passed: since the change before */
    int error = members ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < numbers->n; i++)
        n += differs(numbers, i);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < numbers->n && !error; i++, passed++) {
        if (!differs(numbers, i))
            continue;
        rfn_buf_varint(out, passed);
        passed = (size_t)-1;
        error = write_change(numbers, i, members, out);
    }
    free(members);
    return error ? error : rfn_buf_status(out);
}

/* ---- STRUCTURE: all of it is numbers ---- */

/* In the common form, or, if they cannot be written so, as they are. 0 says which. What groups
 * differ in is the same in both forms. */
static int write_structures(struct rfn_common_table *common, const struct numbers *numbers,
                            struct rfn_buf *forms)
{
    struct rfn_buf references = RFN_BUF_INIT, changes = RFN_BUF_INIT;
    struct rfn_buf *in_common = &forms[RFN_CLUSTERS_COMMON];
    write_first(numbers, &forms[RFN_CLUSTERS_PLAIN]);
    int error = common ? rfn_common_add(common, numbers->at, numbers->n, &references) : 0;
    if (common && !error) {
        rfn_buf_varint(in_common, 0);
        rfn_buf_bytes(in_common, references.data, references.size);
    } else if (error == RFN_E_UNSUPPORTED) {
        write_first(numbers, in_common);
        error = 0;
    }
    if (!error)
        error = write_changes(numbers, &changes);
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS; form++) {
        rfn_buf_bytes(&forms[form], changes.data, changes.size);
        error = error ? error : rfn_buf_status(&forms[form]);
    }
    rfn_buf_release(&references);
    rfn_buf_release(&changes);
    return error;
}

static int add_structures(struct rfn_common_table *common, const struct rfn_pack_shape *shape,
                          struct rfn_buf *forms)
{
    struct numbers numbers = {.n_lists = shape->n_groups,
                              .references = shape->ranks,
                              .parameters = shape->number_parameters,
                              .n_parameters = shape->n_number_parameters,
                              .finder = shape->finder};
    struct rfn_reader first = rfn_reader_over(shape->structures->data, shape->structures->size);
    for (; rfn_reader_left(&first); numbers.n++)
        rfn_reader_varint(&first);
    int error = allocate_numbers(&numbers);
    for (size_t i = 0; i < numbers.n_lists && !error; i++) {
        const struct rfn_pack_bytes *bytes = &shape->structures[i];
        struct rfn_reader reader = rfn_reader_over(bytes->data, bytes->size);
        for (size_t k = 0; k < numbers.n; k++)
            numbers.at[i * numbers.n + k] = rfn_reader_varint(&reader);
        error = reader.failed || rfn_reader_left(&reader) ? RFN_E_UNSUPPORTED : 0;
    }
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
    struct numbers numbers = {.n_lists = shape->n_sets, .n = 1};
    struct rfn_reader *readers = malloc(numbers.n_lists * sizeof *readers);
    struct rfn_reader first = rfn_reader_over(shape->values->data, shape->values->size);
    size_t size;
    for (rfn_reader_varint(&first); rfn_reader_left(&first); numbers.n++)
        next_column(&first, &size);
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

/* ---- a shape ---- */

int rfn_clusters_add(struct rfn_clusters_packer *packer, const struct rfn_pack_shape *shape)
{
    struct rfn_buf structures[RFN_CLUSTERS_FORMS] = {RFN_BUF_INIT};
    struct rfn_buf rank_params = RFN_BUF_INIT, values = RFN_BUF_INIT;
    int error = add_structures(packer->common, shape, structures);
    for (uint32_t i = 0; i < shape->n_slots && !error; i++)
        error = rfn_sequence_write_parameter(
            shape->rank_params + (size_t)i * shape->n_members, shape->n_members, shape->of_ranks[i],
            shape->finder ? &shape->slot_parameters[i] : NULL, shape->finder, &rank_params);
    if (!error && shape->n_sets)
        error = add_values(packer, shape, &values);
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS; form++) {
        const struct rfn_buf *parts[] = {&structures[form], &rank_params, &values};
        struct rfn_buf *directory = &packer->directory[form], *shapes = &packer->shapes[form];
        rfn_buf_varint(directory, shape->n_groups);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            rfn_buf_varint(directory, parts[i]->size);
            rfn_buf_bytes(shapes, parts[i]->data, parts[i]->size);
            shapes->failed |= parts[i]->failed;
        }
    }
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS; form++)
        rfn_buf_release(&structures[form]);
    rfn_buf_release(&rank_params);
    rfn_buf_release(&values);
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
