#include "reduce/merge/merge.h"

#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

void rfn_merge_init(struct rfn_merge *merge)
{
    *merge = (struct rfn_merge){.arena = RFN_ARENA_INIT};
}

void rfn_merge_release(struct rfn_merge *merge)
{
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        free(merge->definitions[k].items);
        rfn_map_release(&merge->definitions[k].by_hash);
    }
    for (int child = 0; child < RFN_EXCHANGE_CHILDREN; child++) {
        for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
            rfn_mapping_release(&merge->children[child][k]);
    }
    rfn_stream_classes_release(&merge->streams);
    rfn_arena_release(&merge->arena);
}

/* ---- definitions ---- */

static int keep_content(struct rfn_merge *merge, struct rfn_definition *definition,
                        const void *bytes, size_t size)
{
    if (definition->bytes || !bytes)
        return 0;
    definition->bytes = rfn_arena_copy(&merge->arena, bytes, size);
    if (!definition->bytes)
        return RFN_E_NOMEM;
    definition->size = size;
    merge->content_bytes += size;
    return 0;
}

int rfn_merge_define(struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t hash,
                     const void *bytes, size_t size, uint64_t *used)
{
    struct rfn_definitions *definitions = &merge->definitions[kind];
    if (!hash)
        hash = rfn_hash_bytes(bytes, size);
    if (used)
        *used = hash;
    const uint64_t *place = rfn_map_get(&definitions->by_hash, hash);
    if (place)
        return keep_content(merge, &definitions->items[*place], bytes, size);
    RFN_TRY(RFN_GROW(definitions->items, definitions->capacity, definitions->n + 1));
    struct rfn_definition *added = &definitions->items[definitions->n];
    *added = (struct rfn_definition){.hash = hash};
    RFN_TRY(keep_content(merge, added, bytes, size));
    RFN_TRY(rfn_map_put(&definitions->by_hash, hash, definitions->n));
    definitions->n++;
    return 0;
}

const struct rfn_definition *rfn_merge_definition(const struct rfn_merge *merge,
                                                  enum rfn_definition_kind kind, uint64_t hash)
{
    const uint64_t *place = rfn_map_get(&merge->definitions[kind].by_hash, hash);
    return place ? &merge->definitions[kind].items[*place] : NULL;
}

int64_t rfn_merge_number(const struct rfn_merge *merge, enum rfn_definition_kind kind,
                         uint64_t hash)
{
    const struct rfn_definition *definition = rfn_merge_definition(merge, kind, hash);
    return definition ? (int64_t)definition->number : -1;
}

uint64_t rfn_merge_new(const struct rfn_merge *merge)
{
    uint64_t n = 0;
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
        n += merge->definitions[k].n - merge->definitions[k].merged;
    return n;
}

int rfn_merge_stream(struct rfn_merge *merge, const struct rfn_stream_digests *digests)
{
    return rfn_stream_classes_add(&merge->streams, digests);
}

/* ---- how much memory it takes ---- */

static int64_t merge_bytes(const struct rfn_merge *merge)
{
    int64_t bytes = (int64_t)merge->content_bytes + rfn_stream_classes_bytes(&merge->streams);
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &merge->definitions[k];
        bytes += (int64_t)(definitions->capacity * sizeof *definitions->items +
                           rfn_map_bytes(&definitions->by_hash));
    }
    return bytes;
}

/* Something on the way, and what of it has been counted. */
struct counted {
    struct rfn_exchange *exchange;
    int64_t bytes;
};

static void count_again(struct counted *counted, int64_t bytes)
{
    rfn_exchange_hold(counted->exchange, bytes - counted->bytes);
    counted->bytes = bytes;
}

/* ---- the merge: what a parent has, and what its children have beside that ---- */

struct merge_way {
    struct rfn_merge *merge;
    bool last; /* streams, too */
    struct counted counted;
    struct rfn_mapping streams[RFN_EXCHANGE_CHILDREN][RFN_STREAM_KINDS];
    size_t told[RFN_EXCHANGE_CHILDREN][RFN_DEFINITION_KINDS]; /* things of children before */
    unsigned same; /* what the parent has as this rank has it: bit k: definitions of kind k;
                      STREAMS */
};

/* What streams have in common goes up unless the parent has the same. */
enum { STREAMS = 1 << RFN_DEFINITION_KINDS };

_Static_assert(STREAMS <= UINT8_MAX, "what is the same is more than a byte");

static bool any_new(const struct rfn_definitions *definitions)
{
    return definitions->n > definitions->merged;
}

static uint64_t hash_of_new(const struct rfn_definitions *definitions)
{
    uint64_t hash = definitions->n - definitions->merged;
    for (size_t i = definitions->merged; i < definitions->n; i++)
        hash = rfn_hash_mix(hash, definitions->items[i].hash);
    return hash;
}

/* The new ones. */
static bool have_contents(const struct rfn_definitions *definitions)
{
    for (size_t i = definitions->merged; i < definitions->n; i++) {
        if (!definitions->items[i].bytes)
            return false;
    }
    return true;
}

/* u8: bit k: new definitions of kind k are here, with contents; u64 hash of each such kind; in the
 * end u64 hash of what streams have in common. */
static int merge_show(void *state, struct rfn_buf *out)
{
    const struct merge_way *way = state;
    uint64_t hash = 0;
    unsigned shown = 0;
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &way->merge->definitions[k];
        shown |= (unsigned)(any_new(definitions) && have_contents(definitions)) << k;
    }
    rfn_buf_u8(out, (uint8_t)shown);
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        if (shown >> k & 1)
            rfn_buf_u64(out, hash_of_new(&way->merge->definitions[k]));
    }
    if (way->last) {
        RFN_TRY(rfn_stream_classes_hash(&way->merge->streams, &hash));
        rfn_buf_u64(out, hash);
    }
    return rfn_buf_status(out);
}

static int merge_heed(void *state, const uint8_t *bytes, size_t size)
{
    struct merge_way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    const unsigned shown = rfn_reader_u8(&reader);
    uint64_t own = 0;
    way->same = 0;
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &way->merge->definitions[k];
        if (shown >> k & 1 && rfn_reader_u64(&reader) == hash_of_new(definitions) &&
            any_new(definitions))
            way->same |= 1u << k;
    }
    if (way->last) {
        RFN_TRY(rfn_stream_classes_hash(&way->merge->streams, &own));
        way->same |= rfn_reader_u64(&reader) == own ? STREAMS : 0;
    }
    return reader.failed ? RFN_E_EXCHANGE : 0;
}

/* u8 what follows, u8 what is the same; definitions, of each kind varint n, and of each varint
 * size * 2 + (0: the hash is that of the content; 1: u64 hash follows), content; streams. */
static int merge_write(void *state, struct rfn_buf *out)
{
    const struct merge_way *way = state;
    unsigned sent = way->last ? STREAMS : 0;
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
        sent |= (unsigned)any_new(&way->merge->definitions[k]) << k;
    sent &= ~way->same;
    rfn_buf_u8(out, (uint8_t)sent);
    rfn_buf_u8(out, (uint8_t)way->same);
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &way->merge->definitions[k];
        if (!(sent >> k & 1))
            continue;
        rfn_buf_varint(out, definitions->n - definitions->merged);
        for (size_t i = definitions->merged; i < definitions->n; i++) {
            const struct rfn_definition *definition = &definitions->items[i];
            const bool named = definition->size == 0 ||
                               definition->hash !=
                                   rfn_hash_bytes(definition->bytes, definition->size);
            rfn_buf_varint(out, (uint64_t)definition->size << 1 | named);
            if (named)
                rfn_buf_u64(out, definition->hash);
            rfn_buf_bytes(out, definition->bytes, definition->size);
        }
    }
    if (sent & STREAMS)
        rfn_stream_classes_write(&way->merge->streams, out);
    return rfn_buf_status(out);
}

static int read_definitions(struct rfn_merge *merge, enum rfn_definition_kind kind,
                            struct rfn_mapping *mapping, struct rfn_reader *reader)
{
    const struct rfn_definitions *definitions = &merge->definitions[kind];
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t head = rfn_reader_varint(reader);
        const size_t size = (size_t)(head >> 1);
        uint64_t hash = head & 1 ? rfn_reader_u64(reader) : 0;
        const uint8_t *bytes = rfn_reader_bytes(reader, size);
        if (reader->failed)
            return RFN_E_EXCHANGE;
        RFN_TRY(rfn_merge_define(merge, kind, hash, size ? bytes : NULL, size, &hash));
        uint64_t place = *rfn_map_get(&definitions->by_hash, hash);
        RFN_TRY(rfn_mapping_add(mapping, (uint32_t)place, false));
    }
    return 0;
}

/* What is the same is as it was when this rank has shown it. */
static int merge_join(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct merge_way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    const unsigned sent = rfn_reader_u8(&reader), same = rfn_reader_u8(&reader);
    for (enum rfn_definition_kind k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &way->merge->definitions[k];
        struct rfn_mapping *mapping = &way->merge->children[child][k];
        if (same >> k & 1)
            RFN_TRY(rfn_mapping_add_run(mapping, definitions->merged,
                                        definitions->n - definitions->merged));
        else if (sent >> k & 1)
            RFN_TRY(read_definitions(way->merge, k, mapping, &reader));
    }
    int error = reader.failed ? RFN_E_EXCHANGE : 0;
    if (!error && same & STREAMS)
        error = rfn_stream_classes_recognize(&way->merge->streams, way->streams[child]);
    else if (!error && sent & STREAMS)
        error = rfn_stream_classes_join(&way->merge->streams, way->streams[child], &reader);
    count_again(&way->counted, merge_bytes(way->merge));
    return error;
}

/* ---- the numbers ---- */

/* On rank 0. */
static int merge_turn(void *state)
{
    const struct merge_way *way = state;
    struct rfn_merge *merge = way->merge;
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        struct rfn_definitions *definitions = &merge->definitions[k];
        if (!have_contents(definitions))
            return RFN_E_EXCHANGE;
        for (size_t i = definitions->merged; i < definitions->n; i++)
            definitions->items[i].number = i;
    }
    return way->last ? rfn_stream_classes_number(&merge->streams, merge->together) : 0;
}

static int merge_tell(void *state, int child, struct rfn_buf *out)
{
    const struct merge_way *way = state;
    const struct rfn_merge *merge = way->merge;
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_mapping *mapping = &merge->children[child][k];
        const size_t told = way->told[child][k], n = mapping->n - told;
        struct rfn_fate *fates = calloc(n + 1, sizeof *fates);
        if (!fates)
            return RFN_E_NOMEM;
        for (size_t i = 0; i < n; i++)
            fates[i].number = merge->definitions[k].items[mapping->things[told + i].to].number;
        rfn_fates_write(fates, n, out);
        free(fates);
    }
    return way->last ? rfn_stream_classes_tell(&merge->streams, way->streams[child], out)
                     : rfn_buf_status(out);
}

static int learn_definitions(struct rfn_definitions *definitions, struct rfn_reader *reader)
{
    size_t n = definitions->n - definitions->merged;
    struct rfn_fate *fates = malloc((n + 1) * sizeof *fates);
    if (!fates)
        return RFN_E_NOMEM;
    int error = rfn_fates_read(fates, n, UINT32_MAX, reader);
    for (size_t i = 0; i < n && !error; i++)
        definitions->items[definitions->merged + i].number = fates[i].number;
    free(fates);
    return error;
}

static int merge_learn(void *state, const uint8_t *bytes, size_t size)
{
    const struct merge_way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
        RFN_TRY(learn_definitions(&way->merge->definitions[k], &reader));
    return way->last ? rfn_stream_classes_learn(&way->merge->streams, &reader) : 0;
}

static void end_run(struct merge_way *way, int error)
{
    struct rfn_merge *merge = way->merge;
    for (int child = 0; child < RFN_EXCHANGE_CHILDREN; child++) {
        for (int k = 0; k < RFN_STREAM_KINDS; k++)
            rfn_mapping_release(&way->streams[child][k]);
    }
    for (int k = 0; k < RFN_DEFINITION_KINDS && !error; k++)
        merge->definitions[k].merged = merge->definitions[k].n;
    if (way->counted.exchange->rank != 0) { /* which alone writes contents */
        for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
            for (size_t i = 0; i < merge->definitions[k].n; i++)
                merge->definitions[k].items[i].bytes = NULL;
        }
        rfn_arena_release(&merge->arena);
        merge->arena = (struct rfn_arena)RFN_ARENA_INIT;
        merge->content_bytes = 0;
    }
    count_again(&way->counted, merge_bytes(merge));
    merge->held = way->counted.bytes;
    merge->error = error;
}

static int run(struct rfn_merge *merge, struct rfn_exchange *exchange, bool last, int error)
{
    static const struct rfn_round round = {.merge = merge_join,
                                           .write = merge_write,
                                           .turn = merge_turn,
                                           .write_down = merge_tell,
                                           .read_down = merge_learn,
                                           .show = merge_show,
                                           .heed = merge_heed};
    struct merge_way way = {.merge = merge, .last = last, .counted = {exchange, merge->held}};
    for (int child = 0; child < RFN_EXCHANGE_CHILDREN; child++) {
        for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
            way.told[child][k] = merge->children[child][k].n;
    }
    count_again(&way.counted, merge_bytes(merge)); /* stays: numbers are looked up in it */
    error = rfn_exchange_round(exchange, &round, &way, error ? error : merge->error);
    end_run(&way, error);
    return error;
}

int rfn_merge_definitions(struct rfn_merge *merge, struct rfn_exchange *exchange, int error)
{
    return run(merge, exchange, false, error);
}

int rfn_merge_run(struct rfn_merge *merge, struct rfn_exchange *exchange, int error)
{
    return run(merge, exchange, true, error);
}

/* ---- tables ---- */

int rfn_tables_init(struct rfn_tables *tables, size_t n)
{
    tables->n = n;
    tables->tables = calloc(n + 1, sizeof *tables->tables);
    return tables->tables ? 0 : RFN_E_NOMEM;
}

void rfn_tables_release(struct rfn_tables *tables)
{
    for (size_t t = 0; tables->tables && t < tables->n; t++) {
        for (size_t s = 0; s < tables->tables[t].n_slots; s++)
            rfn_rank_runs_release(&tables->tables[t].slots[s]);
        free(tables->tables[t].slots);
    }
    free(tables->tables);
    tables->tables = NULL;
}

struct rfn_table *rfn_tables_use(struct rfn_tables *tables, size_t table, size_t n_slots)
{
    struct rfn_table *used = &tables->tables[table];
    if (!used->slots) {
        used->slots = calloc(n_slots + 1, sizeof *used->slots);
        used->n_slots = used->slots ? n_slots : 0;
        return used->slots ? used : NULL;
    }
    return used->n_slots == n_slots ? used : NULL;
}

static int64_t tables_bytes(const struct rfn_tables *tables)
{
    int64_t bytes = 0;
    for (size_t t = 0; t < tables->n; t++) {
        const struct rfn_table *table = &tables->tables[t];
        bytes += (int64_t)(sizeof *table + table->n_slots * sizeof *table->slots);
        for (size_t s = 0; s < table->n_slots; s++)
            bytes += (int64_t)(table->slots[s].capacity * sizeof *table->slots[s].runs);
    }
    return bytes;
}

static int read_tables(struct rfn_tables *tables, struct rfn_reader *reader)
{
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t number = rfn_reader_varint(reader);
        uint64_t n_slots = rfn_reader_limited(reader, rfn_reader_left(reader));
        if (reader->failed || number >= tables->n)
            return RFN_E_EXCHANGE;
        struct rfn_table *table = rfn_tables_use(tables, number, n_slots);
        if (!table)
            return RFN_E_EXCHANGE;
        for (uint64_t s = 0; s < n_slots; s++)
            RFN_TRY(rfn_rank_runs_join(&table->slots[s], reader));
    }
    return reader->failed ? RFN_E_EXCHANGE : 0;
}

static void write_tables(const struct rfn_tables *tables, struct rfn_buf *out)
{
    uint64_t n = 0;
    for (size_t t = 0; t < tables->n; t++)
        n += tables->tables[t].slots != NULL;
    rfn_buf_varint(out, n);
    for (size_t t = 0; t < tables->n; t++) {
        if (!tables->tables[t].slots)
            continue;
        rfn_buf_varint(out, t);
        rfn_buf_varint(out, tables->tables[t].n_slots);
        for (size_t s = 0; s < tables->tables[t].n_slots; s++)
            rfn_rank_runs_write(&tables->tables[t].slots[s], out);
    }
}

/* ---- what rank 0 collects ---- */

void rfn_root_blobs_release(struct rfn_root_blobs *parcels)
{
    rfn_buf_release(&parcels->bytes);
}

int rfn_root_blobs_add(struct rfn_root_blobs *parcels, uint32_t kind, uint64_t number,
                       const void *bytes, size_t size)
{
    rfn_buf_varint(&parcels->bytes, kind);
    rfn_buf_varint(&parcels->bytes, number);
    rfn_buf_blob(&parcels->bytes, bytes, size);
    return rfn_buf_status(&parcels->bytes);
}

void rfn_root_blobs_write(const struct rfn_root_blobs *parcels, struct rfn_buf *out)
{
    rfn_buf_blob(out, parcels->bytes.data, parcels->bytes.size);
}

int rfn_root_blobs_join(struct rfn_root_blobs *parcels, struct rfn_reader *reader)
{
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(reader, &size);
    if (reader->failed)
        return RFN_E_EXCHANGE;
    rfn_buf_bytes(&parcels->bytes, bytes, size);
    return rfn_buf_status(&parcels->bytes);
}

bool rfn_root_blobs_next(struct rfn_reader *reader, struct rfn_root_blob *parcel)
{
    if (!rfn_reader_left(reader))
        return false;
    parcel->kind = (uint32_t)rfn_reader_varint(reader);
    parcel->number = rfn_reader_varint(reader);
    parcel->bytes = rfn_reader_blob(reader, &parcel->size);
    return !reader->failed;
}

size_t rfn_root_blobs_bytes(const struct rfn_root_blobs *parcels)
{
    return parcels->bytes.capacity;
}

struct collecting {
    struct rfn_collection *collection;
    struct counted counted;
    const struct rfn_exchange *exchange;
    uint64_t received; /* bytes that are counted, or were there before */
};

static void count_collection(struct collecting *collecting)
{
    const struct rfn_collection *collection = collecting->collection;
    int64_t bytes = (int64_t)rfn_root_blobs_bytes(collection->parcels);
    for (size_t i = 0; i < collection->n_tables; i++)
        bytes += tables_bytes(collection->tables[i]);
    count_again(&collecting->counted, bytes);
}

/* A child's message, as it was sent: no rank can say of its own how large it will be. */
static void count_arrived(struct collecting *collecting)
{
    uint64_t *sums = collecting->collection->sums;
    sums[RFN_COLLECTED_MESSAGES]++;
    sums[RFN_COLLECTED_BYTES] += collecting->exchange->bytes_received - collecting->received;
    collecting->received = collecting->exchange->bytes_received;
}

static int collect_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct collecting *collecting = state;
    struct rfn_collection *collection = collecting->collection;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    (void)child;
    count_arrived(collecting);
    for (int i = 0; i < RFN_COLLECTED_SUMS; i++)
        collection->sums[i] += rfn_reader_varint(&reader);
    for (size_t i = 0; i < collection->n_tables; i++)
        RFN_TRY(read_tables(collection->tables[i], &reader));
    RFN_TRY(rfn_root_blobs_join(collection->parcels, &reader));
    count_collection(collecting);
    return 0;
}

static int collect_write(void *state, struct rfn_buf *out)
{
    const struct collecting *collecting = state;
    const struct rfn_collection *collection = collecting->collection;
    for (int i = 0; i < RFN_COLLECTED_SUMS; i++)
        rfn_buf_varint(out, collection->sums[i]);
    for (size_t i = 0; i < collection->n_tables; i++)
        write_tables(collection->tables[i], out);
    rfn_root_blobs_write(collection->parcels, out);
    return rfn_buf_status(out);
}

int rfn_collect(struct rfn_collection *collection, struct rfn_exchange *exchange, int error)
{
    static const struct rfn_round round = {.merge = collect_merge, .write = collect_write};
    struct collecting collecting = {.collection = collection,
                                    .counted = {.exchange = exchange},
                                    .exchange = exchange,
                                    .received = exchange->bytes_received};
    if (!error)
        count_collection(&collecting);
    return rfn_exchange_climb(exchange, &round, &collecting, error);
}

/* ---- surveys ---- */

struct survey_way {
    struct rfn_survey *survey;
    struct rfn_exchange *exchange;
    uint64_t sums[RFN_SURVEY_COUNTS];         /* of this rank and the children merged so far */
    uint64_t children[RFN_EXCHANGE_CHILDREN]; /* the first sum, before each child */
};

static int add_often(struct rfn_map *set, uint64_t key, uint64_t often)
{
    const uint64_t *known = rfn_map_get(set, key);
    return rfn_map_put(set, key, known || often > 1 ? 2 : 1);
}

int rfn_survey_add(struct rfn_map *set, uint64_t key)
{
    return add_often(set, key, 1);
}

/* Of a child, which adds to what is there, or of the parent, who knows all. */
static int read_set(struct survey_way *way, bool adds, struct rfn_reader *reader)
{
    struct rfn_map *set = way->survey->set;
    int64_t before = (int64_t)rfn_map_bytes(set);
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    int error = 0;
    for (uint64_t i = 0; i < n && !reader->failed && !error; i++) {
        uint64_t key = rfn_reader_u64(reader), often = rfn_reader_u8(reader);
        error = adds ? add_often(set, key, often) : rfn_map_put(set, key, often);
    }
    rfn_exchange_hold(way->exchange, (int64_t)rfn_map_bytes(set) - before);
    return error ? error : reader->failed ? RFN_E_EXCHANGE : 0;
}

static void write_set(const struct rfn_map *set, struct rfn_buf *out)
{
    rfn_buf_varint(out, set->n);
    for (uint64_t i = 0; set->slots && i <= set->mask; i++) {
        if (!set->slots[i].used)
            continue;
        rfn_buf_u64(out, set->slots[i].key);
        rfn_buf_u8(out, set->slots[i].value > 1 ? 2 : 1);
    }
}

static int survey_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct survey_way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    way->children[child] = way->sums[0];
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++)
        way->sums[c] += rfn_reader_varint(&reader);
    int64_t least = rfn_reader_svarint(&reader);
    way->survey->least = least < way->survey->least ? least : way->survey->least;
    return read_set(way, true, &reader);
}

static int survey_write(void *state, struct rfn_buf *out)
{
    struct survey_way *way = state;
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++)
        rfn_buf_varint(out, way->sums[c]);
    rfn_buf_svarint(out, way->survey->least);
    write_set(way->survey->set, out);
    return rfn_buf_status(out);
}

static int survey_turn(void *state)
{
    struct survey_way *way = state;
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++)
        way->survey->total[c] = way->sums[c];
    return 0;
}

static int survey_write_down(void *state, int child, struct rfn_buf *out)
{
    struct survey_way *way = state;
    rfn_buf_varint(out, way->survey->before + way->children[child]);
    rfn_buf_varint(out, way->survey->total[0]);
    rfn_buf_svarint(out, way->survey->least);
    if (way->survey->set_for_first)
        rfn_buf_varint(out, 0);
    else
        write_set(way->survey->set, out);
    return rfn_buf_status(out);
}

static int survey_read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct survey_way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    way->survey->before = rfn_reader_varint(&reader);
    way->survey->total[0] = rfn_reader_varint(&reader);
    way->survey->least = rfn_reader_svarint(&reader);
    return read_set(way, false, &reader);
}

int rfn_survey_run(struct rfn_survey *survey, struct rfn_exchange *exchange, int error)
{
    static const struct rfn_round round = {.merge = survey_merge,
                                           .write = survey_write,
                                           .turn = survey_turn,
                                           .write_down = survey_write_down,
                                           .read_down = survey_read_down};
    struct survey_way way = {.survey = survey, .exchange = exchange};
    rfn_exchange_hold(exchange, (int64_t)rfn_map_bytes(survey->set));
    survey->before = 0;
    memcpy(way.sums, survey->counts, sizeof way.sums);
    error = rfn_exchange_round(exchange, &round, &way, error);
    rfn_exchange_hold(exchange, -(int64_t)rfn_map_bytes(survey->set));
    return error;
}

/* ---- when to merge next ---- */

uint64_t rfn_merge_interval_next(uint64_t calls, uint64_t done, uint64_t every)
{
    enum { CALLS_MAX = 1 << 30 };
    const double most = calls < CALLS_MAX / 2 ? 2.0 * (double)calls : CALLS_MAX;
    const double wanted = done ? (double)calls * ((double)every / (double)done) : most;
    return wanted >= most ? (uint64_t)most : wanted < 1 ? 1 : (uint64_t)(wanted + 0.5);
}
