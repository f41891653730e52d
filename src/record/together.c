#include "record/together.h"

#include "archive/cluster_archive.h"
#include "base/grow.h"

#include <stdlib.h>

enum { PARCEL_SHAPE, PARCEL_CONTENT };

void rec_together_release(struct rec_together *together)
{
    rfn_tables_release(&together->numbers);
    rfn_parcels_release(&together->parcels);
}

int rec_together_begin(struct rec_together *together, const struct rfn_merge *merge)
{
    return rfn_tables_init(&together->numbers, merge->streams.of[RFN_KIND_OF_SHAPE].total);
}

/* ---- what a stream brings ---- */

/* A shape: blob of where the numbers that may differ stand, then all numbers of the first group. */
int rec_together_add_shape(struct rec_together *together, uint64_t number,
                           const struct rec_structure *structure)
{
    struct rfn_buf parcel = RFN_BUF_INIT;
    rfn_buf_blob(&parcel, structure->places.data, structure->places.size);
    rfn_buf_bytes(&parcel, structure->numbers.data, structure->numbers.size);
    int error = rfn_buf_status(&parcel);
    if (!error)
        error = rfn_parcels_add(&together->parcels, PARCEL_SHAPE, number, parcel.data, parcel.size);
    rfn_buf_release(&parcel);
    return error;
}

int rec_together_add_content(struct rec_together *together, uint64_t number, const uint8_t *bytes,
                             size_t size)
{
    return rfn_parcels_add(&together->parcels, PARCEL_CONTENT, number, bytes, size);
}

int rec_structure_pack(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       struct rec_structure *structure)
{
    struct rfn_rope rope = RFN_ROPE_INIT;
    int error = rfn_pack_number_places(stream, refs, &structure->places);
    if (!error)
        error = rfn_pack_structure(stream, refs, &rope);
    if (!error)
        rfn_rope_flatten(&rope, &structure->numbers);
    rfn_rope_release(&rope);
    return error ? error : rfn_buf_status(&structure->numbers);
}

void rec_structure_release(struct rec_structure *structure)
{
    rfn_buf_release(&structure->places);
    rfn_buf_release(&structure->numbers);
}

static int bring_shape(struct rec_together *together, uint64_t number,
                       const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    struct rec_structure structure = REC_STRUCTURE_INIT;
    int error = rec_structure_pack(stream, refs, &structure);
    if (!error)
        error = rec_together_add_shape(together, number, &structure);
    rec_structure_release(&structure);
    return error;
}

static int bring_numbers(struct rec_together *together, uint64_t shape,
                         const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    struct rfn_table *table = rfn_tables_use(&together->numbers, (size_t)shape,
                                             rfn_pack_numbers_count(stream, refs));
    return table ? rfn_pack_numbers(stream, refs, table) : RFN_E_NOMEM;
}

static int bring_content(struct rec_together *together, uint64_t number,
                         const struct rfn_rope *values)
{
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_rope_flatten(values, &content);
    int error = rfn_buf_status(&content);
    if (!error)
        error = rec_together_add_content(together, number, content.data, content.size);
    rfn_buf_release(&content);
    return error;
}

struct rec_brings rec_together_brings(const struct rfn_merge *merge, size_t i)
{
    const struct rfn_stream_fate shape = rfn_stream_fate(&merge->streams, i, RFN_KIND_OF_SHAPE);
    const struct rfn_stream_fate group = rfn_stream_fate(&merge->streams, i, RFN_KIND_OF_GROUP);
    const struct rfn_stream_fate content = rfn_stream_fate(&merge->streams, i, RFN_KIND_OF_CONTENT);
    const bool whole = shape.together && shape.first;
    return (struct rec_brings){.shape = whole,
                               .numbers = !whole && group.together && group.first,
                               .content = content.together && content.first,
                               .of_shape = shape.number,
                               .of_content = content.number};
}

int rec_together_bring(struct rec_together *together, const struct rfn_merge *merge, size_t i,
                       const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       const struct rfn_rope *values)
{
    const struct rec_brings brings = rec_together_brings(merge, i);
    if (brings.shape)
        RFN_TRY(bring_shape(together, brings.of_shape, stream, refs));
    if (brings.numbers)
        RFN_TRY(bring_numbers(together, brings.of_shape, stream, refs));
    return brings.content ? bring_content(together, brings.of_content, values) : 0;
}

/* ---- what rank 0 makes of it ---- */

/* Parcels and things by their numbers. */
struct brought {
    const struct rfn_stream_things *of; /* by kind */
    struct rfn_parcel *shapes, *contents;
    const struct rfn_stream_thing **groups, **values;
};

static void release_brought(struct brought *brought)
{
    free(brought->shapes);
    free(brought->contents);
    free(brought->groups);
    free(brought->values);
}

static const struct rfn_stream_thing **by_number(const struct rfn_stream_things *things)
{
    const struct rfn_stream_thing **sorted = calloc(things->n + 1, sizeof *sorted);
    for (size_t i = 0; i < things->n && sorted; i++)
        sorted[things->items[i].fate.number] = &things->items[i];
    return sorted;
}

static void sort_parcels(struct brought *brought, const struct rfn_parcels *parcels)
{
    struct rfn_reader reader = rfn_reader_over(parcels->bytes.data, parcels->bytes.size);
    struct rfn_parcel parcel;
    while (rfn_parcels_next(&reader, &parcel)) {
        if (parcel.kind == PARCEL_SHAPE && parcel.number < brought->of[RFN_KIND_OF_SHAPE].n)
            brought->shapes[parcel.number] = parcel;
        if (parcel.kind == PARCEL_CONTENT && parcel.number < brought->of[RFN_KIND_OF_CONTENT].n)
            brought->contents[parcel.number] = parcel;
    }
}

static int find_brought(struct brought *brought, const struct rec_together *together,
                        const struct rfn_merge *merge)
{
    const struct rfn_stream_things *of = merge->streams.of;
    *brought = (struct brought){
        .of = of,
        .shapes = calloc(of[RFN_KIND_OF_SHAPE].n + 1, sizeof *brought->shapes),
        .contents = calloc(of[RFN_KIND_OF_CONTENT].n + 1, sizeof *brought->contents),
        .groups = by_number(&of[RFN_KIND_OF_GROUP]),
        .values = by_number(&of[RFN_KIND_OF_VALUES])};
    if (!brought->shapes || !brought->contents || !brought->groups || !brought->values)
        return RFN_E_NOMEM;
    sort_parcels(brought, &together->parcels);
    return 0;
}

/* ---- structures ---- */

/* The structures of the groups of a shape, one after the other. */
struct unfolding {
    uint64_t *numbers; /* of the present group */
    size_t n, capacity;
    struct rfn_reader places;
    const struct rfn_table *table;
    struct place_in_run {
        size_t run;
        uint64_t passed; /* of its members */
    } * at;              /* per slot */
};

static void release_unfolding(struct unfolding *unfolding)
{
    free(unfolding->numbers);
    free(unfolding->at);
    unfolding->at = NULL;
}

static int begin_shape(struct unfolding *unfolding, const struct rfn_parcel *parcel,
                       const struct rfn_table *table)
{
    struct rfn_reader reader = rfn_reader_over(parcel->bytes, parcel->size);
    size_t size;
    const uint8_t *places = rfn_reader_blob(&reader, &size);
    unfolding->n = 0;
    while (rfn_reader_left(&reader)) {
        RFN_TRY(RFN_GROW(unfolding->numbers, unfolding->capacity, unfolding->n + 1));
        unfolding->numbers[unfolding->n++] = rfn_reader_varint(&reader);
    }
    unfolding->places = rfn_reader_over(places, reader.failed ? 0 : size);
    unfolding->table = table;
    free(unfolding->at);
    unfolding->at = calloc(table->n_slots + 1, sizeof *unfolding->at);
    return !unfolding->at ? RFN_E_NOMEM : reader.failed ? RFN_E_EXCHANGE : 0;
}

/* The next member's word of a slot. */
static int next_word(struct place_in_run *at, const struct rfn_runs *runs, uint64_t *word)
{
    while (at->run < runs->n && at->passed == runs->runs[at->run].count)
        *at = (struct place_in_run){.run = at->run + 1};
    if (at->run == runs->n || !runs->runs[at->run].is_absolute)
        return RFN_E_EXCHANGE;
    at->passed++;
    *word = (uint64_t)runs->runs[at->run].absolute;
    return 0;
}

/* The numbers of the next group. */
static int next_group(struct unfolding *unfolding)
{
    struct rfn_reader places = unfolding->places;
    uint64_t behind = 0;
    for (size_t slot = 0; rfn_reader_left(&places); slot++) {
        behind += rfn_reader_varint(&places);
        if (places.failed || behind == 0 || behind > unfolding->n ||
            slot >= unfolding->table->n_slots)
            return RFN_E_EXCHANGE;
        RFN_TRY(next_word(&unfolding->at[slot], &unfolding->table->slots[slot],
                          &unfolding->numbers[behind - 1]));
    }
    return 0;
}

static int append_structure(const struct unfolding *unfolding, uint64_t group,
                            struct rec_output *chunks)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    for (size_t i = 0; i < unfolding->n; i++)
        rfn_buf_varint(&payload.bytes, unfolding->numbers[i]);
    int error = rec_output_chunk(chunks, RFN_CHUNK_STRUCTURE, group, &payload, true, NULL);
    rfn_rope_release(&payload);
    return error;
}

static int unfold_groups(const struct brought *brought, const struct rec_together *together,
                         struct unfolding *unfolding, struct rec_output *chunks)
{
    uint64_t before = UINT64_MAX; /* the shape of the group before */
    for (uint64_t i = 0; i < brought->of[RFN_KIND_OF_GROUP].n; i++) {
        uint64_t shape =
            brought->of[RFN_KIND_OF_SHAPE].items[brought->groups[i]->of[0]].fate.number;
        if (!(brought->groups[i]->fate.bits & RFN_KIND_TOGETHER))
            continue;
        if (!brought->shapes[shape].bytes)
            return RFN_E_EXCHANGE;
        if (shape == before)
            RFN_TRY(next_group(unfolding));
        else
            RFN_TRY(
                begin_shape(unfolding, &brought->shapes[shape], &together->numbers.tables[shape]));
        before = shape;
        RFN_TRY(append_structure(unfolding, i, chunks));
    }
    return 0;
}

static int append_values(const struct brought *brought, struct rec_output *chunks)
{
    for (uint64_t i = 0; i < brought->of[RFN_KIND_OF_VALUES].n; i++) {
        const struct rfn_parcel *content = &brought->contents[brought->values[i]->of[1]];
        struct rfn_rope payload = RFN_ROPE_INIT;
        if (!(brought->values[i]->fate.bits & RFN_KIND_TOGETHER))
            continue;
        if (!content->bytes)
            return RFN_E_EXCHANGE;
        rfn_rope_borrow(&payload, content->bytes, content->size);
        int error = rec_output_chunk(chunks, RFN_CHUNK_VALUES, i, &payload, true, NULL);
        rfn_rope_release(&payload);
        RFN_TRY(error);
    }
    return 0;
}

int rec_together_unfold(const struct rec_together *together, const struct rfn_merge *merge,
                        struct rec_output *chunks)
{
    struct brought brought;
    struct unfolding unfolding = {0};
    int error = find_brought(&brought, together, merge);
    if (!error)
        error = unfold_groups(&brought, together, &unfolding, chunks);
    if (!error)
        error = append_values(&brought, chunks);
    release_unfolding(&unfolding);
    release_brought(&brought);
    return error;
}

/* ---- clusters ---- */

/* All chunks so far as a file in memory. */
static int make_image(const struct rec_output *front, const struct rec_output *chunks,
                      struct rfn_buf *image)
{
    const struct rec_output *parts[] = {front, chunks};
    const uint8_t header[RFN_HEADER_BYTES] = {0};
    struct rfn_buf contents = RFN_BUF_INIT;
    size_t n = 0;
    uint64_t end = sizeof header;
    struct rfn_toc_entry *entries = calloc(front->n_entries + chunks->n_entries + 1,
                                           sizeof *entries);
    if (!entries)
        return RFN_E_NOMEM;
    rfn_buf_bytes(image, header, sizeof header);
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        for (size_t i = 0; i < parts[part]->n_entries; i++) {
            entries[n] = parts[part]->entries[i];
            entries[n++].offset += end;
        }
        rfn_rope_flatten(&parts[part]->bytes, image);
        end += rfn_rope_size(&parts[part]->bytes);
    }
    rfn_toc_append(&contents, entries, n);
    rfn_chunk_append(image, RFN_CHUNK_TOC, 0, contents.data, contents.size, true);
    int error = contents.failed || image->failed ? RFN_E_NOMEM : 0;
    if (!error)
        rfn_header_write(image->data, RFN_STATE_WHOLE, end, image->size);
    rfn_buf_release(&contents);
    free(entries);
    return error;
}

/* The shape of every group; to be freed. */
static uint32_t *shapes_of(const struct rfn_merge *merge)
{
    const struct rfn_stream_things *groups = &merge->streams.of[RFN_KIND_OF_GROUP];
    const struct rfn_stream_thing *of = merge->streams.of[RFN_KIND_OF_SHAPE].items;
    uint32_t *shapes = calloc(groups->n + 1, sizeof *shapes);
    for (size_t i = 0; i < groups->n && shapes; i++)
        shapes[groups->items[i].fate.number] = (uint32_t)of[groups->items[i].of[0]].fate.number;
    return shapes;
}

/* They are as ranks know them. */
static bool same_numbers(const struct rfn_archive *archive, const struct rfn_cluster_plan *plan)
{
    for (uint32_t i = 0; i < archive->n_groups; i++) {
        if (plan->groups[i] != i)
            return false;
    }
    for (uint32_t i = 0; i < archive->n_value_sets; i++) {
        if (plan->sets[i] != i)
            return false;
    }
    return true;
}

/* Takes over chunks of PLACES, or all others. */
static int take_chunks(const struct rfn_rewrite *rewrite, bool places, const struct rfn_buf *image,
                       struct rec_output *out)
{
    for (size_t i = 0; i < rewrite->n; i++) {
        const struct rfn_rewrite_chunk *chunk = &rewrite->chunks[i];
        struct rfn_rope old = RFN_ROPE_INIT;
        if ((chunk->entry.type == RFN_CHUNK_PLACES) != places)
            continue;
        if (chunk->old)
            rfn_rope_borrow(&old, image->data + chunk->entry.offset,
                            rfn_chunk_bytes(&chunk->entry));
        int error = rec_output_take(out, &chunk->entry, chunk->old ? &old : &chunk->bytes);
        rfn_rope_release(&old);
        RFN_TRY(error);
    }
    return 0;
}

static int rewrite_chunks(const struct rfn_archive *archive,
                          const struct rfn_cluster_options *options, const struct rfn_buf *image,
                          struct rec_clustered *result, struct rec_output *out)
{
    struct rfn_rewrite rewrite;
    struct rfn_cluster_plan plan = {0};
    int error = rfn_rewrite_init(&rewrite, archive);
    if (!error)
        error = rfn_cluster_archive(archive, options, &rewrite, &plan, NULL);
    if (!error && !same_numbers(archive, &plan))
        error = RFN_E_UNSUPPORTED;
    if (!error)
        error = take_chunks(&rewrite, true, image, out);
    if (!error)
        error = take_chunks(&rewrite, false, image, out);
    result->merged = plan.merged_roles;
    result->held = plan.held;
    rfn_cluster_plan_release(&plan);
    rfn_rewrite_release(&rewrite);
    return error;
}

static int cluster_image(const struct rfn_merge *merge, const struct rfn_buf *image,
                         unsigned forced_roles, struct rec_clustered *result,
                         struct rec_output *out)
{
    struct rfn_archive *archive;
    uint32_t *shapes = shapes_of(merge);
    const struct rfn_cluster_options options = {
        .shapes = shapes, .forced_roles = forced_roles, .common_room = merge->together};
    int error = shapes ? rfn_archive_open_memory(image->data, image->size, &archive, NULL)
                       : RFN_E_NOMEM;
    if (!error) {
        error = rewrite_chunks(archive, &options, image, result, out);
        rfn_archive_close(archive);
    }
    free(shapes);
    return error;
}

static uint64_t count_clustered(const struct rec_output *chunks)
{
    uint64_t n = 0;
    for (size_t i = 0; i < chunks->n_entries; i++) {
        uint64_t id = chunks->entries[i].id;
        if (chunks->entries[i].type == RFN_CHUNK_CLUSTERS)
            n += (uint32_t)id - (id >> 32);
    }
    return n;
}

struct rec_clustered rec_together_cluster(const struct rfn_merge *merge,
                                          const struct rec_output *front, unsigned forced_roles,
                                          struct rec_output *chunks)
{
    struct rfn_buf image = RFN_BUF_INIT;
    struct rec_output clustered = REC_OUTPUT_INIT;
    struct rec_clustered result = {.error = make_image(front, chunks, &image)};
    if (!result.error)
        result.error = cluster_image(merge, &image, forced_roles, &result, &clustered);
    result.held += image.capacity + rfn_rope_size(&clustered.bytes);
    if (!result.error && rfn_rope_size(&clustered.bytes) < rfn_rope_size(&chunks->bytes)) {
        rec_output_release(chunks);
        *chunks = clustered;
        result.n = count_clustered(chunks);
    } else {
        result.merged = 0;
        rec_output_release(&clustered);
    }
    rfn_buf_release(&image);
    return result;
}
