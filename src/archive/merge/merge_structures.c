#include "archive/merge/merge_internal.h"
#include "event/kind.h"

#include <stdlib.h>

int64_t rfn_archive_merge_number(const struct rfn_archive_merge *joining,
                                 const struct rfn_archive_merge_input *input,
                                 enum rfn_definition_kind kind, uint64_t number)
{
    if (!rfn_unpacked_hash(&input->definitions, kind, &number))
        return -1;
    return rfn_merge_number(&joining->merge, kind, number);
}

/* ---- STRUCTURE, with hashes or with the new numbers ---- */

struct rewriting {
    const struct rfn_archive_merge *joining;
    const struct rfn_archive_merge_input *input;
    bool numbers; /* else hashes */
    struct rfn_reader reader;
    struct rfn_buf *out;
};

static void pass_definition(struct rewriting *rewriting, enum rfn_definition_kind kind)
{
    uint64_t number = rfn_reader_varint(&rewriting->reader);
    if (!rfn_unpacked_hash(&rewriting->input->definitions, kind, &number))
        rewriting->reader.failed = true;
    if (rewriting->numbers)
        number = (uint64_t)rfn_merge_number(&rewriting->joining->merge, kind, number);
    rfn_buf_varint(rewriting->out, number);
}

static uint64_t pass_count(struct rewriting *rewriting)
{
    uint64_t n = rfn_reader_limited(&rewriting->reader, rfn_reader_left(&rewriting->reader));
    rfn_buf_varint(rewriting->out, n);
    return n;
}

static int make_structure(const struct rfn_archive_merge *joining,
                          const struct rfn_archive_merge_input *input, uint32_t group, bool numbers,
                          struct rfn_buf *out)
{
    struct rfn_payload payload;
    RFN_TRY(
        rfn_part_load(input->archive, RFN_CHUNK_STRUCTURE, group, NULL, &payload, joining->diag));
    struct rewriting rewriting = {.joining = joining,
                                  .input = input,
                                  .numbers = numbers,
                                  .reader = rfn_reader_over(payload.data, payload.size),
                                  .out = out};
    struct rfn_reader *reader = &rewriting.reader;
    for (uint64_t n = pass_count(&rewriting); n > 0 && !reader->failed; n--) {
        pass_definition(&rewriting, RFN_DEFINITION_FUNCTION);
        pass_definition(&rewriting, RFN_DEFINITION_PATH);
    }
    for (uint64_t n = pass_count(&rewriting); n > 0 && !reader->failed; n--)
        pass_definition(&rewriting, RFN_DEFINITION_DATATYPE);
    size_t left = rfn_reader_left(reader);
    const uint8_t *rest = rfn_reader_bytes(reader, left);
    if (!reader->failed)
        rfn_buf_bytes(out, rest, left);
    const char *fault = reader->failed ? "its tables of sites and datatypes are malformed"
                        : out->failed  ? rfn_out_of_memory
                                       : NULL;
    int error = rfn_payload_fault(&payload, fault, joining->diag);
    rfn_payload_release(&payload);
    return error;
}

/* ---- digests ---- */

void rfn_archive_merge_name_bytes(const struct rfn_payload *payload, size_t from, size_t end,
                                  struct rfn_rope *rope)
{
    const struct rfn_extent extent = {payload->at + from, end - from};
    if (payload->data)
        rfn_rope_borrow(rope, payload->data + from, end - from);
    else
        rfn_rope_extent(rope, payload->store, &extent);
}

/* Every group is a shape of its own: nothing is stored together here. */
static int add_stream(struct rfn_archive_merge *joining,
                      const struct rfn_archive_merge_stream *stream)
{
    struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    const struct rfn_archive *archive = input->archive;
    uint32_t group = (uint32_t)rfn_stream_word(archive, RFN_WORD_GROUP, stream->stream);
    uint32_t set = (uint32_t)rfn_stream_word(archive, RFN_WORD_VALUES, stream->stream);
    struct rfn_archive_merge_digest *structure = &input->structures[group],
                                    *values = &input->values[set];
    if (!structure->known) {
        struct rfn_buf bytes = RFN_BUF_INIT;
        int error = make_structure(joining, input, group, false, &bytes);
        if (!error)
            *structure = (struct rfn_archive_merge_digest){
                rfn_hash128_bytes(bytes.data, bytes.size), true};
        rfn_buf_release(&bytes);
        RFN_TRY(error);
    }
    if (!values->known) {
        struct rfn_rope rope = RFN_ROPE_INIT;
        struct rfn_payload payload;
        RFN_TRY(rfn_part_load(archive, RFN_CHUNK_VALUES, set, NULL, &payload, joining->diag));
        rfn_archive_merge_name_bytes(&payload, 0, payload.size, &rope);
        int error = rfn_rope_status(&rope);
        if (!error)
            error = rfn_rope_hash128(&rope, 0, &values->digest);
        values->known = !error;
        rfn_rope_release(&rope);
        rfn_payload_release(&payload);
        RFN_TRY(error);
    }
    const struct rfn_stream_digests digests = {
        .signature = (uint64_t)rfn_stream_word(archive, RFN_WORD_SIGNATURE, stream->stream),
        .shape = structure->digest.low,
        .structure = structure->digest,
        .content = values->digest};
    return rfn_merge_stream(&joining->merge, &digests);
}

int rfn_archive_merge_groups(struct rfn_archive_merge *joining)
{
    for (size_t i = 0; i < joining->n_inputs; i++) {
        struct rfn_archive_merge_input *input = &joining->inputs[i];
        const struct rfn_archive *archive = input->archive;
        input->structures = calloc(archive->n_groups + (size_t)1, sizeof *input->structures);
        input->values = calloc(archive->n_value_sets + (size_t)1, sizeof *input->values);
        if (!input->structures || !input->values)
            return RFN_E_NOMEM;
    }
    for (uint32_t i = 0; i < joining->n_streams; i++)
        RFN_TRY(add_stream(joining, &joining->streams[i]));
    struct rfn_exchange alone = {.size = 1};
    RFN_TRY(rfn_merge_run(&joining->merge, &alone, 0));
    const struct rfn_stream_classes *kinds = &joining->merge.streams;
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        struct rfn_archive_merge_stream *stream = &joining->streams[i];
        stream->group = (uint32_t)rfn_stream_class_of(kinds, i, RFN_KIND_OF_GROUP).number;
        stream->set = (uint32_t)rfn_stream_class_of(kinds, i, RFN_KIND_OF_VALUES).number;
    }
    return 0;
}

/* ---- STRUCTURE and VALUES ---- */

/* VALUES of a chunk of their own are copied as they are stored. */
int rfn_archive_merge_add_parts(struct rfn_archive_merge *joining, uint32_t number)
{
    const struct rfn_archive_merge_stream *stream = &joining->streams[number];
    const struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    const struct rfn_archive *archive = input->archive;
    uint32_t group = (uint32_t)rfn_stream_word(archive, RFN_WORD_GROUP, stream->stream);
    uint32_t set = (uint32_t)rfn_stream_word(archive, RFN_WORD_VALUES, stream->stream);
    struct rfn_rope rope = RFN_ROPE_INIT;
    struct rfn_payload payload;
    if (rfn_stream_class_of(&joining->merge.streams, number, RFN_KIND_OF_GROUP).first) {
        int error = make_structure(joining, input, group, true, &rope.bytes);
        if (!error)
            error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_STRUCTURE, stream->group, &rope);
        rfn_rope_release(&rope);
        RFN_TRY(error);
    }
    if (!rfn_stream_class_of(&joining->merge.streams, number, RFN_KIND_OF_VALUES).first)
        return 0;
    int64_t entry = rfn_chunks_find(&archive->chunks, RFN_CHUNK_VALUES, set);
    if (entry >= 0)
        return rfn_rewrite_copy_of(&joining->rewrite, archive, (size_t)entry, stream->set);
    RFN_TRY(rfn_part_load(archive, RFN_CHUNK_VALUES, set, NULL, &payload, joining->diag));
    rope = (struct rfn_rope)RFN_ROPE_INIT;
    rfn_archive_merge_name_bytes(&payload, 0, payload.size, &rope);
    int error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_VALUES, stream->set, &rope);
    rfn_rope_release(&rope);
    rfn_payload_release(&payload);
    return error;
}

/* ---- RANK_PARAMS ---- */

static int append_symbol(const struct rfn_member *member, const struct rfn_symbol_info *symbol,
                         struct rfn_table *table)
{
    const struct rfn_function_info *function =
        &member->archive->dictionary.functions[symbol->function];
    uint32_t own = rfn_member_own_place(member, symbol, function).rank;
    size_t slot = symbol->rank_params;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (!rfn_symbol_in_rank_params(symbol, function, i))
            continue;
        bool ranks = function->params[i].kind == RFN_KIND_RANK;
        uint32_t reference = ranks ? own : member->rank;
        int64_t word = rfn_rank_param(member->table, slot, member->place, reference);
        bool relative = ranks ? word >= 0 : word != RFN_UNDEFINED;
        RFN_TRY(rfn_rank_runs_append(&table->slots[slot++], word, relative, reference));
    }
    return 0;
}

static int append_member(const struct rfn_archive_merge *joining,
                         const struct rfn_archive_merge_input *input,
                         const struct rfn_member *member, struct rfn_tables *tables)
{
    const struct rfn_structure *structure = member->structure;
    struct rfn_table *table = rfn_tables_use(tables, 0,
                                             structure->n_rank_params + (size_t)structure->n_comms);
    if (!table)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        RFN_TRY(append_symbol(member, &structure->symbols[i], table));
    for (size_t slot = structure->n_rank_params; slot < table->n_slots; slot++) {
        int64_t word = rfn_rank_param(member->table, slot, member->place, 0);
        if (word >= 0)
            word = rfn_archive_merge_number(joining, input, RFN_DEFINITION_COMM, (uint64_t)word);
        RFN_TRY(rfn_rank_runs_append(&table->slots[slot], word, false, 0));
    }
    return 0;
}

/* The words of a stream, behind those of the members of its group before it. */
static int take_member(const struct rfn_archive_merge *joining, uint32_t number,
                       struct rfn_tables *tables)
{
    const struct rfn_archive_merge_stream *stream = &joining->streams[number];
    const struct rfn_archive_merge_input *input = &joining->inputs[stream->input];
    uint32_t group = (uint32_t)rfn_stream_word(input->archive, RFN_WORD_GROUP, stream->stream);
    struct rfn_part *structure, *rank_params;
    RFN_TRY(
        rfn_part_use(input->archive, RFN_CHUNK_STRUCTURE, group, NULL, &structure, joining->diag));
    int error = rfn_part_use(input->archive, RFN_CHUNK_RANK_PARAMS, group, &structure->u.structure,
                             &rank_params, joining->diag);
    if (!error) {
        const struct rfn_member member = {.archive = input->archive,
                                          .structure = &structure->u.structure,
                                          .table = &rank_params->u.rank_params,
                                          .place = rfn_stream_place(input->archive, stream->stream),
                                          .rank = stream->rank};
        error = append_member(joining, input, &member, tables);
        rfn_part_done(input->archive, rank_params);
    }
    rfn_part_done(input->archive, structure);
    return error;
}

static int add_rank_params(struct rfn_archive_merge *joining, uint32_t group,
                           const uint32_t *members, uint32_t n)
{
    struct rfn_tables tables = {0};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_tables_init(&tables, 1);
    for (uint32_t i = 0; i < n && !error; i++)
        error = take_member(joining, members[i], &tables);
    if (!error)
        error = rfn_pack_table(&tables.tables[0], &payload.bytes);
    if (!error)
        error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_RANK_PARAMS, group, &payload);
    rfn_rope_release(&payload);
    rfn_tables_release(&tables);
    return error;
}

/* Streams are sorted by group, by counting: first[g + 1] is the place to fill next. */
int rfn_archive_merge_add_rank_params(struct rfn_archive_merge *joining)
{
    size_t n = joining->merge.streams.of[RFN_KIND_OF_GROUP].n;
    uint32_t *first = calloc(n + 2, sizeof *first);
    uint32_t *members = calloc(joining->n_streams + (size_t)1, sizeof *members);
    bool made = first && members;
    int error = made ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < joining->n_streams && made; i++)
        first[joining->streams[i].group + 2]++;
    for (size_t g = 0; g < n && made; g++)
        first[g + 2] += first[g + 1];
    for (uint32_t i = 0; i < joining->n_streams && made; i++)
        members[first[joining->streams[i].group + 1]++] = i;
    for (size_t g = 0; g < n && made && !error; g++)
        error = add_rank_params(joining, (uint32_t)g, members + first[g], first[g + 1] - first[g]);
    free(first);
    free(members);
    return error;
}
