#include "archive/read/cluster_parts.h"

#include "archive/read/rank_sequence.h"
#include "base/search.h"

#include <stdlib.h>

static const char bad_numbers[] = "the numbers of a shape are malformed";
static const char too_large[] = "it is too large";
const char rfn_common_needed[] = "a shape refers to COMMON";

uint32_t rfn_group_of_set(const struct rfn_archive *archive, uint32_t set)
{
    return (uint32_t)rfn_last_at_most(archive->first_set, sizeof *archive->first_set,
                                      archive->n_groups, set);
}

/* ---- finding the shape ---- */

/* What is wanted, and the shape that has it. */
struct taking {
    const struct rfn_archive *archive;
    const struct rfn_cluster_index *shapes;
    const struct rfn_structure *structure; /* of RANK_PARAMS */
    const struct rfn_common *common;       /* or NULL */
    uint32_t id, group;
    uint32_t first, end; /* groups of the shape */
    struct rfn_reader numbers, rank_params,
        values; /* what it has; values is empty if they are in VALUES */
    struct rfn_buf out;
};

static struct rfn_reader part_of(const struct rfn_cluster_index *shapes, uint32_t from,
                                 uint32_t end)
{
    return rfn_reader_over(shapes->payload.data + from, end - from);
}

static void take_shape(struct taking *taking, const struct rfn_shape_place *place)
{
    taking->first = place->first;
    taking->end = place[1].first;
    taking->numbers = part_of(taking->shapes, place->numbers, place->rank_params);
    taking->rank_params = part_of(taking->shapes, place->rank_params, place->values);
    taking->values = part_of(taking->shapes, place->values, place[1].numbers);
}

/* ---- numbers: those of the first, and where others have other ones ---- */

/* A member's own word. */
struct own_word {
    int64_t reference, word;
};

static const char *take_word(void *context, const struct rfn_stretch *stretch)
{
    struct own_word *own = context;
    own->word = rfn_stretch_word(stretch, own->reference);
    return NULL;
}

/* Those of one of n; reference: what its words are relative to. */
static const char *change_numbers(struct rfn_reader *reader, const struct rfn_numbers *numbers,
                                  uint32_t n, uint32_t i, uint32_t reference)
{
    struct own_word own = {.reference = reference};
    const char *fault = NULL;
    uint64_t changes = rfn_reader_limited(reader, numbers->n), at = 0;
    for (uint64_t k = 0; k < changes && !fault; k++) {
        at += rfn_reader_limited(reader, numbers->n) + (k > 0);
        if (reader->failed || at >= numbers->n)
            return "numbers that differ are malformed";
        fault = rfn_sequence_take(reader, n, i, i + 1, take_word, &own);
        numbers->at[at] = (uint64_t)own.word;
    }
    if (!fault && (reader->failed || rfn_reader_left(reader)))
        fault = "numbers that differ are malformed";
    return fault;
}

static const char *take_first(struct rfn_reader *reader, uint64_t n, struct rfn_numbers *numbers)
{
    if (reader->failed || n == 0 || n > rfn_reader_left(reader))
        return bad_numbers;
    numbers->at = malloc((size_t)n * sizeof *numbers->at);
    if (!numbers->at)
        return rfn_out_of_memory;
    numbers->n = (size_t)n;
    for (size_t k = 0; k < numbers->n; k++)
        numbers->at[k] = rfn_reader_varint(reader);
    return NULL;
}

/* ---- STRUCTURE ---- */

/* The numbers of the first group are in either form. Those of others are relative to the rank of
 * their lowest stream. */
static const char *make_structure(struct taking *taking)
{
    const struct rfn_archive *archive = taking->archive;
    uint32_t lowest = archive->members[archive->first_member[taking->group]];
    struct rfn_numbers numbers = {0};
    const char *fault;
    uint64_t n = rfn_reader_varint(&taking->numbers);
    if (n > 0 || taking->numbers.failed || !rfn_chunks_know(&archive->chunks, RFN_CHUNK_COMMON))
        fault = take_first(&taking->numbers, n, &numbers);
    else if (!taking->common)
        fault = rfn_common_needed;
    else
        fault = rfn_common_expand(taking->common, &taking->numbers, RFN_CLUSTERS_BYTES_MAX,
                                  &numbers);
    if (!fault)
        fault = change_numbers(&taking->numbers, &numbers, taking->end - taking->first,
                               taking->group - taking->first,
                               (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, lowest));
    for (size_t i = 0; i < numbers.n && !fault; i++) {
        rfn_buf_varint(&taking->out, numbers.at[i]);
        fault = taking->out.size > RFN_CLUSTERS_BYTES_MAX ? too_large : NULL;
    }
    free(numbers.at);
    return fault;
}

/* ---- VALUES ---- */

static const char *make_values(struct taking *taking)
{
    const struct rfn_cluster_index *shapes = taking->shapes;
    const uint32_t *first_set = taking->archive->first_set;
    uint32_t from = first_set[taking->first], end = first_set[taking->end];
    uint32_t set = taking->id - from;
    struct rfn_numbers numbers = {0};
    if (rfn_reader_left(&taking->values) == 0)
        return "the values of a group are missing";
    const char *fault = take_first(&taking->values, rfn_reader_varint(&taking->values), &numbers);
    if (!fault)
        fault = change_numbers(&taking->values, &numbers, end - from, set, set);
    if (!fault && shapes->columns_failed)
        fault = "its columns are malformed";
    if (!fault)
        rfn_buf_varint(&taking->out, numbers.at[0]);
    for (size_t i = 1; i < numbers.n && !fault; i++) {
        uint64_t number = numbers.at[i];
        if (number >= shapes->n_columns)
            fault = "a column does not exist";
        else if (taking->out.size > RFN_CLUSTERS_BYTES_MAX)
            fault = too_large;
        else
            rfn_buf_bytes(&taking->out, shapes->payload.data + shapes->columns[number],
                          shapes->columns[number + 1] - shapes->columns[number]);
    }
    free(numbers.at);
    return fault;
}

/* ---- RANK_PARAMS ---- */

/* Runs that grow. */
struct runs {
    struct rfn_buf *out;
    uint64_t count; /* of the last one, which is not written yet */
    struct rfn_stretch last;
    const struct rfn_archive *archive;
    uint32_t member; /* the next one's place among archive.members */
};

static void end_run(struct runs *runs)
{
    if (runs->count == 0)
        return;
    rfn_buf_varint(runs->out, runs->count << 2 | runs->last.form);
    if (runs->last.form == RFN_RUN_EXPRESSION)
        rfn_rank_expression_write(&runs->last.expression, runs->out);
    else
        rfn_buf_svarint(runs->out, runs->last.value);
    runs->count = 0;
}

static const char *take_rank_params(void *context, const struct rfn_stretch *stretch)
{
    struct runs *runs = context;
    bool goes_on = runs->count && stretch->form != RFN_RUN_EXPRESSION &&
                   stretch->form == runs->last.form && stretch->value == runs->last.value;
    if (!goes_on)
        end_run(runs);
    runs->last = *stretch;
    runs->count += stretch->count;
    return runs->out->size > RFN_CLUSTERS_BYTES_MAX ? too_large : NULL;
}

/* Communicators are not relative to anything in RANK_PARAMS. */
static const char *take_comms(void *context, const struct rfn_stretch *stretch)
{
    struct runs *runs = context;
    const char *fault = NULL;
    if (stretch->form == RFN_RUN_ABSOLUTE) { /* may be more members than can be gone through */
        runs->member += (uint32_t)stretch->count;
        return take_rank_params(runs, stretch);
    }
    for (uint64_t i = 0; i < stretch->count && !fault; i++) {
        uint32_t stream = runs->archive->members[runs->member++];
        int64_t rank = rfn_stream_word(runs->archive, RFN_WORD_RANK, stream);
        struct rfn_stretch own = {.count = 1, .value = rfn_stretch_word(stretch, rank)};
        fault = take_rank_params(runs, &own);
    }
    return fault;
}

static const char *make_rank_params(struct taking *taking)
{
    const uint32_t *member = taking->archive->first_member;
    uint32_t base = member[taking->first], n = member[taking->end] - base;
    uint32_t from = member[taking->group] - base, end = member[taking->group + 1] - base;
    uint64_t n_slots = taking->structure->n_rank_params + (uint64_t)taking->structure->n_comms;
    const char *fault = NULL;
    rfn_buf_varint(&taking->out, n_slots);
    for (uint64_t i = 0; i < n_slots && !fault; i++) {
        struct runs runs = {.out = &taking->out, .archive = taking->archive, .member = base + from};
        bool comm = i >= taking->structure->n_rank_params;
        fault = rfn_sequence_take(&taking->rank_params, n, from, end,
                                  comm ? take_comms : take_rank_params, &runs);
        end_run(&runs);
    }
    if (!fault && (taking->rank_params.failed || rfn_reader_left(&taking->rank_params)))
        fault = "it has not as many sequences as the structure asks for";
    return fault;
}

/* ---- any of them ---- */

const char *rfn_cluster_take(const struct rfn_archive *archive,
                             const struct rfn_cluster_index *shapes, uint32_t type, uint32_t id,
                             const struct rfn_structure *structure, const struct rfn_common *common,
                             struct rfn_payload *payload)
{
    struct taking taking = {.archive = archive,
                            .shapes = shapes,
                            .structure = structure,
                            .common = common,
                            .id = id,
                            .group = type == RFN_CHUNK_VALUES ? rfn_group_of_set(archive, id) : id};
    take_shape(&taking, rfn_cluster_index_find(shapes, taking.group));
    const char *fault = type == RFN_CHUNK_STRUCTURE     ? make_structure(&taking)
                        : type == RFN_CHUNK_RANK_PARAMS ? make_rank_params(&taking)
                                                        : make_values(&taking);
    if (!fault && taking.out.failed)
        fault = rfn_out_of_memory;
    if (fault)
        rfn_buf_release(&taking.out);
    *payload = shapes->payload;
    payload->data = taking.out.data;
    payload->size = taking.out.size;
    return fault;
}

/* ---- which formulas it has ---- */

struct formulas {
    const char *(*visit)(void *context, const char *text, size_t size);
    void *context;
};

static const char *take_formula(void *context, const struct rfn_stretch *stretch)
{
    const struct formulas *formulas = context;
    const struct rfn_rank_expression *expression = &stretch->expression;
    if (stretch->form != RFN_RUN_EXPRESSION || expression->form != RFN_EXPRESSION_FORMULA)
        return NULL;
    return formulas->visit(formulas->context, expression->formula, expression->formula_size);
}

/* Those of the numbers in which structures of the shape's groups differ, and of RANK_PARAMS. */
static const char *shape_formulas(struct taking *taking, struct formulas *formulas)
{
    struct rfn_reader *numbers = &taking->numbers, *rank_params = &taking->rank_params;
    const uint32_t *member = taking->archive->first_member, n = taking->end - taking->first;
    const uint32_t n_members = member[taking->end] - member[taking->first];
    const char *fault = NULL;
    uint64_t size = rfn_reader_limited(numbers, rfn_reader_left(numbers));
    for (uint64_t i = 0; i < size; i++)
        rfn_reader_varint(numbers);
    if (size == 0)
        rfn_common_skip(numbers);
    uint64_t changes = rfn_reader_limited(numbers, rfn_reader_left(numbers));
    for (uint64_t i = 0; i < changes && !fault; i++) {
        rfn_reader_varint(numbers);
        fault = rfn_sequence_take(numbers, n, 0, n, take_formula, formulas);
    }
    if (!fault && numbers->failed)
        fault = bad_numbers;
    while (rfn_reader_left(rank_params) && !fault)
        fault = rfn_sequence_take(rank_params, n_members, 0, n_members, take_formula, formulas);
    return fault;
}

const char *rfn_cluster_formulas(const struct rfn_archive *archive,
                                 const struct rfn_cluster_index *shapes,
                                 const char *(*visit)(void *context, const char *text, size_t size),
                                 void *context)
{
    struct formulas formulas = {visit, context};
    const char *fault = NULL;
    for (uint32_t i = 0; i < shapes->n && !fault; i++) {
        struct taking taking = {.archive = archive, .shapes = shapes};
        take_shape(&taking, &shapes->places[i]);
        fault = shape_formulas(&taking, &formulas);
    }
    return fault;
}

/* ---- how much it takes ---- */

int rfn_clusters_before(const struct rfn_archive *archive, const struct rfn_toc_entry *entry,
                        uint64_t *bytes, struct rfn_diag *diag)
{
    struct rfn_payload payload;
    RFN_TRY(rfn_chunks_load(&archive->chunks, entry, &payload, diag));
    struct rfn_reader reader = rfn_reader_over(payload.data, payload.size);
    *bytes = rfn_reader_varint(&reader);
    rfn_payload_release(&payload);
    return 0;
}

int rfn_archive_parameter_sizes(const struct rfn_archive *archive,
                                struct rfn_parameter_sizes *sizes, struct rfn_diag *diag)
{
    *sizes = (struct rfn_parameter_sizes){0};
    for (size_t i = 0; i < archive->chunks.n; i++) {
        const struct rfn_toc_entry *entry = &archive->chunks.entries[i];
        uint64_t bytes = rfn_chunk_bytes(entry), before = bytes;
        bool clusters = entry->type == RFN_CHUNK_CLUSTERS && archive->first_set;
        if (rfn_common_find(archive) == (int64_t)i)
            before = 0; /* it stands for no other */
        else if (clusters)
            RFN_TRY(rfn_clusters_before(archive, entry, &before, diag));
        else if (entry->type != RFN_CHUNK_STRUCTURE && entry->type != RFN_CHUNK_RANK_PARAMS &&
                 entry->type != RFN_CHUNK_VALUES)
            continue;
        if (clusters)
            sizes->clustered_groups += (uint32_t)entry->id - (uint32_t)(entry->id >> 32);
        sizes->bytes += bytes;
        sizes->unclustered_bytes += before;
    }
    return 0;
}
