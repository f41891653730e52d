#include "record/finish/cluster_gather.h"

#include "archive/write/cluster_archive.h"
#include "base/grow.h"
#include "record/core/job.h"
#include "record/core/options.h"
#include "record/finish/finish_internal.h"
#include "record/finish/pack_usage.h"
#include "record/regions/regions.h"

#include <stdlib.h>

enum { PARCEL_SHAPE, PARCEL_CONTENT, PARCEL_USAGE, PARCEL_CORES };

void rec_cluster_gather_release(struct rec_cluster_gather *together)
{
    rfn_tables_release(&together->streams);
    rfn_tables_release(&together->rank_params);
    rfn_tables_release(&together->numbers);
    rfn_root_blobs_release(&together->parcels);
}

/* ---- what a stream brings ---- */

/* What the stream adds to the table of streams and to its group's. */
static int bring_words(struct rec_finishing *finish, size_t i)
{
    const struct rec_stream_definitions *of = &finish->description.streams[i];
    const struct rfn_stream *events = of->stream->events;
    const struct rfn_stream_classes *kinds = &finish->merge.streams;
    const uint64_t group = rfn_stream_class_of(kinds, i, RFN_KIND_OF_GROUP).number;
    const struct rec_clock_pair start = rec_start();
    const bool times = finish->wishes & REC_WANTS_TIMES;
    const bool lacks_times = rec_finishing_lacks_times(finish, events);
    struct rfn_table *streams = rfn_tables_use(&finish->together.streams, 0, RFN_STREAM_SLOTS);
    struct rfn_table *rank_params = rfn_tables_use(&finish->together.rank_params, (size_t)group,
                                                   rfn_pack_rank_params_count(events, &of->refs));
    const int64_t words[RFN_STREAM_SLOTS] = {
        [RFN_SLOT_RANK] = rec_job_rank(),
        [RFN_SLOT_THREAD] = (int64_t)i,
        [RFN_SLOT_GROUP] = (int64_t)group,
        [RFN_SLOT_VALUES] = (int64_t)rfn_stream_class_of(kinds, i, RFN_KIND_OF_VALUES).number,
        [RFN_SLOT_HOST] = (int64_t)finish->description.host,
        [RFN_SLOT_EVENTS] = (int64_t)rfn_stream_events(events),
        [RFN_SLOT_CALLS] = (int64_t)(lacks_times ? rfn_stream_events(events)
                                                 : rfn_stream_calls(events)),
        [RFN_SLOT_START] = times ? start.monotonic_ns : 0,
        [RFN_SLOT_REGIONS] = (int64_t)rec_regions_events(of->stream),
        [RFN_SLOT_REALTIME] = times ? start.realtime_ns - start.monotonic_ns : 0,
        [RFN_SLOT_VOLUME] = rfn_stream_has_volume(events) && !lacks_times,
        [RFN_SLOT_TIMES] = (int64_t)finish->packed[i].time_set,
    };
    if (!streams || !rank_params)
        return RFN_E_NOMEM;
    for (int s = 0; s < RFN_STREAM_SLOTS; s++) {
        /* these are large, and do not follow from the stream's number */
        const bool relative = s != RFN_SLOT_START && s != RFN_SLOT_REALTIME;
        RFN_TRY(rfn_rank_runs_append(&streams->slots[s], words[s], relative,
                                     (int64_t)(finish->survey.first_stream + i)));
    }
    return rfn_pack_rank_params(events, &of->refs, rank_params);
}

/* All of the structure: blob of where the numbers that may differ stand, then STRUCTURE. */
static int bring_shape(struct rfn_root_blobs *parcels, uint64_t shape,
                       const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    struct rfn_rope structure = RFN_ROPE_INIT;
    struct rfn_buf places = RFN_BUF_INIT, parcel = RFN_BUF_INIT;
    int error = rfn_pack_number_places(stream, refs, &places);
    if (!error)
        error = rfn_pack_structure(stream, refs, &structure);
    if (!error) {
        rfn_buf_blob(&parcel, places.data, places.size);
        rfn_rope_flatten(&structure, &parcel);
        error = rfn_buf_status(&parcel);
    }
    if (!error)
        error = rfn_root_blobs_add(parcels, PARCEL_SHAPE, shape, parcel.data, parcel.size);
    rfn_rope_release(&structure);
    rfn_buf_release(&places);
    rfn_buf_release(&parcel);
    return error;
}

static int bring_content(struct rfn_root_blobs *parcels, uint64_t number,
                         const struct rfn_rope *values)
{
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_rope_flatten(values, &content);
    int error = rfn_buf_status(&content);
    if (!error)
        error = rfn_root_blobs_add(parcels, PARCEL_CONTENT, number, content.data, content.size);
    rfn_buf_release(&content);
    return error;
}

/* Structure and values, if they are small and the stream is the first to have them: of the first
 * group of a shape all of the structure, of others the numbers that may differ. */
static int bring(struct rec_finishing *finish, size_t i)
{
    struct rec_cluster_gather *together = &finish->together;
    const struct rec_stream_definitions *of = &finish->description.streams[i];
    const struct rfn_stream *events = of->stream->events;
    const struct rfn_stream_classes *kinds = &finish->merge.streams;
    const struct rfn_stream_class_of shape = rfn_stream_class_of(kinds, i, RFN_KIND_OF_SHAPE);
    const struct rfn_stream_class_of group = rfn_stream_class_of(kinds, i, RFN_KIND_OF_GROUP);
    const struct rfn_stream_class_of content = rfn_stream_class_of(kinds, i, RFN_KIND_OF_CONTENT);
    if (shape.together && shape.first) {
        RFN_TRY(bring_shape(&together->parcels, shape.number, events, &of->refs));
    } else if (group.together && group.first) {
        struct rfn_table *table = rfn_tables_use(&together->numbers, (size_t)shape.number,
                                                 rfn_pack_numbers_count(events, &of->refs));
        if (!table)
            return RFN_E_NOMEM;
        RFN_TRY(rfn_pack_numbers(events, &of->refs, table));
    }
    return content.together && content.first
               ? bring_content(&together->parcels, content.number, &finish->packed[i].values)
               : 0;
}

static int bring_part(struct rec_finishing *finish, size_t i, uint32_t kind,
                      int (*pack)(const struct rec_stream_definitions *of, struct rfn_buf *out))
{
    struct rfn_buf part = RFN_BUF_INIT;
    int error = pack(&finish->description.streams[i], &part);
    if (!error && part.size)
        error = rfn_root_blobs_add(&finish->together.parcels, kind, finish->survey.first_stream + i,
                                   part.data, part.size);
    rfn_buf_release(&part);
    return error;
}

/* What a trace of this process alone would have of its streams: structures, words that depend on
 * the rank (a byte for each and one for its run), values and times. */
static uint64_t trace_bytes(const struct rec_finishing *finish)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < finish->description.n_streams; i++) {
        const struct rec_stream_definitions *of = &finish->description.streams[i];
        const struct rec_packed *packed = &finish->packed[i];
        bytes += packed->loop_bytes + rfn_pack_head_bytes(of->stream->events, &of->refs) +
                 2 * rfn_pack_rank_params_count(of->stream->events, &of->refs) +
                 packed->digests.content_bytes + packed->timing_bytes;
    }
    return bytes;
}

enum { TRACES = RFN_COLLECTED_BYTES + 1, ALL, DEFINITIONS, SUMS };

_Static_assert(SUMS == (int)RFN_COLLECTED_SUMS, "other sums are collected");

int rec_cluster_gather_collect(struct rec_finishing *finish, int error)
{
    struct rec_cluster_gather *together = &finish->together;
    struct rfn_tables *tables[] = {&together->streams, &together->rank_params, &together->numbers};
    const struct rfn_stream_class_bits *of = finish->merge.streams.of;
    const size_t n[] = {1, of[RFN_KIND_OF_GROUP].total, of[RFN_KIND_OF_SHAPE].total};
    struct rfn_collection collection = {
        .tables = tables, .n_tables = 3, .parcels = &together->parcels};
    for (int t = 0; t < 3 && !error; t++)
        error = rfn_tables_init(tables[t], n[t]);
    for (size_t i = 0; i < finish->description.n_streams && !error; i++) {
        error = bring_words(finish, i);
        if (!error)
            error = bring(finish, i);
        if (!error)
            error = bring_part(finish, i, PARCEL_USAGE, rec_pack_usage);
        if (!error)
            error = bring_part(finish, i, PARCEL_CORES, rec_pack_cores);
    }
    if (!error) {
        /* a trace that is handed on goes over as many ranks as this one has bits */
        const uint64_t hops = (uint64_t)__builtin_popcount((unsigned)finish->exchange->rank);
        const uint64_t bytes = trace_bytes(finish);
        collection.sums[RFN_COLLECTED_MESSAGES] = finish->exchange->messages_sent;
        collection.sums[RFN_COLLECTED_BYTES] = finish->exchange->bytes_sent;
        collection.sums[TRACES] = bytes;
        collection.sums[ALL] = bytes * hops;
        collection.sums[DEFINITIONS] = finish->definition_bytes * hops;
    }
    error = rfn_collect(&collection, finish->exchange, error);
    finish->merging.messages = collection.sums[RFN_COLLECTED_MESSAGES];
    finish->merging.bytes = collection.sums[RFN_COLLECTED_BYTES];
    finish->merging.trace_bytes = collection.sums[TRACES];
    finish->merging.all_bytes = collection.sums[ALL];
    finish->merging.all_definition_bytes = collection.sums[DEFINITIONS];
    return error;
}

/* ---- what rank 0 makes of it ---- */

static int collected(const struct rec_cluster_gather *together, uint32_t kind,
                     struct rfn_buf *payload)
{
    struct rfn_reader reader = rfn_reader_over(together->parcels.bytes.data,
                                               together->parcels.bytes.size);
    struct rfn_root_blob parcel;
    uint64_t next = 0; /* stream */
    while (rfn_root_blobs_next(&reader, &parcel)) {
        if (parcel.kind != kind)
            continue;
        rfn_buf_varint(payload, parcel.number - next);
        rfn_buf_bytes(payload, parcel.bytes, parcel.size);
        next = parcel.number + 1;
    }
    return rfn_buf_status(payload);
}

int rec_cluster_gather_usage(const struct rec_cluster_gather *together, struct rfn_buf *payload)
{
    return collected(together, PARCEL_USAGE, payload);
}

int rec_cluster_gather_cores(const struct rec_cluster_gather *together, struct rfn_buf *payload)
{
    return collected(together, PARCEL_CORES, payload);
}

/* Parcels and things by their numbers. */
struct brought {
    const struct rfn_stream_class_bits *of; /* by kind */
    struct rfn_root_blob *shapes, *contents;
    const struct rfn_stream_class_bit **groups, **values;
};

static void release_brought(struct brought *brought)
{
    free(brought->shapes);
    free(brought->contents);
    free(brought->groups);
    free(brought->values);
}

static const struct rfn_stream_class_bit **by_number(const struct rfn_stream_class_bits *things)
{
    const struct rfn_stream_class_bit **sorted = calloc(things->n + 1, sizeof *sorted);
    for (size_t i = 0; i < things->n && sorted; i++)
        sorted[things->items[i].fate.number] = &things->items[i];
    return sorted;
}

static void sort_parcels(struct brought *brought, const struct rfn_root_blobs *parcels)
{
    struct rfn_reader reader = rfn_reader_over(parcels->bytes.data, parcels->bytes.size);
    struct rfn_root_blob parcel;
    while (rfn_root_blobs_next(&reader, &parcel)) {
        if (parcel.kind == PARCEL_SHAPE && parcel.number < brought->of[RFN_KIND_OF_SHAPE].n)
            brought->shapes[parcel.number] = parcel;
        if (parcel.kind == PARCEL_CONTENT && parcel.number < brought->of[RFN_KIND_OF_CONTENT].n)
            brought->contents[parcel.number] = parcel;
    }
}

static int find_brought(struct brought *brought, const struct rec_cluster_gather *together,
                        const struct rfn_merge *merge)
{
    const struct rfn_stream_class_bits *of = merge->streams.of;
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

static int begin_shape(struct unfolding *unfolding, const struct rfn_root_blob *parcel,
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
static int next_word(struct place_in_run *at, const struct rfn_rank_runs *runs, uint64_t *word)
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

static int unfold_groups(const struct brought *brought, const struct rec_cluster_gather *together,
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
        const struct rfn_root_blob *content = &brought->contents[brought->values[i]->of[1]];
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

int rec_cluster_gather_unfold(const struct rec_cluster_gather *together,
                              const struct rfn_merge *merge, struct rec_output *chunks)
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
    const struct rfn_stream_class_bits *groups = &merge->streams.of[RFN_KIND_OF_GROUP];
    const struct rfn_stream_class_bit *of = merge->streams.of[RFN_KIND_OF_SHAPE].items;
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

/* Takes over chunks of RANK_PARAMS, or all others. */
static int take_chunks(const struct rfn_rewrite *rewrite, bool rank_params,
                       const struct rfn_buf *image, struct rec_output *out)
{
    for (size_t i = 0; i < rewrite->n; i++) {
        const struct rfn_rewrite_chunk *chunk = &rewrite->chunks[i];
        struct rfn_rope old = RFN_ROPE_INIT;
        if ((chunk->entry.type == RFN_CHUNK_RANK_PARAMS) != rank_params)
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

struct rec_clustered rec_cluster_gather_cluster(const struct rfn_merge *merge,
                                                const struct rec_output *front,
                                                unsigned forced_roles, struct rec_output *chunks)
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
