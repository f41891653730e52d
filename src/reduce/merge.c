#include "reduce/merge.h"

#include "base/grow.h"

#include <stdlib.h>

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
    free(merge->groups.items);
    rfn_map_release(&merge->groups.by_hash);
    free(merge->values.items);
    rfn_map_release(&merge->values.by_hash);
    rfn_arena_release(&merge->arena);
}

/* ---- definitions and distinct digests ---- */

/* Adds a definition unless it is known. bytes == NULL: only the hash. */
static int define(struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t hash,
                  const void *bytes, size_t size)
{
    struct rfn_definitions *definitions = &merge->definitions[kind];
    if (rfn_map_get(&definitions->by_hash, hash))
        return 0;
    RFN_TRY(RFN_GROW(definitions->items, definitions->capacity, definitions->n + 1));
    void *copy = NULL;
    if (bytes) {
        copy = rfn_arena_copy(&merge->arena, bytes, size);
        if (!copy)
            return RFN_E_NOMEM;
        merge->content_bytes += size;
    }
    RFN_TRY(rfn_map_put(&definitions->by_hash, hash, definitions->n));
    definitions->items[definitions->n++] = (struct rfn_definition){hash, copy, size};
    return 0;
}

int rfn_merge_define(struct rfn_merge *merge, enum rfn_definition_kind kind, uint64_t hash,
                     const void *bytes, size_t size, uint64_t *used)
{
    if (!hash)
        hash = rfn_hash_bytes(bytes, size);
    if (used)
        *used = hash;
    return define(merge, kind, hash, bytes, size);
}

int64_t rfn_merge_number(const struct rfn_merge *merge, enum rfn_definition_kind kind,
                         uint64_t hash)
{
    const uint64_t *number = rfn_map_get(&merge->definitions[kind].by_hash, hash);
    return number ? (int64_t)*number : -1;
}

/* Digests whose low halves agree but which differ go under the next key. */
int64_t rfn_merge_distinct(const struct rfn_distincts *distincts, struct rfn_hash128 digest)
{
    for (uint64_t key = digest.low;; key++) {
        const uint64_t *number = rfn_map_get(&distincts->by_hash, key);
        if (!number)
            return -1;
        if (rfn_hash128_equal(distincts->items[*number].digest, digest))
            return (int64_t)*number;
    }
}

static int distinct_add(struct rfn_distincts *distincts, struct rfn_hash128 digest, uint64_t first)
{
    if (rfn_merge_distinct(distincts, digest) >= 0)
        return 0;
    RFN_TRY(RFN_GROW(distincts->items, distincts->capacity, distincts->n + 1));
    uint64_t key = digest.low;
    while (rfn_map_get(&distincts->by_hash, key))
        key++;
    RFN_TRY(rfn_map_put(&distincts->by_hash, key, distincts->n));
    distincts->items[distincts->n++] = (struct rfn_distinct){digest, first};
    return 0;
}

int rfn_merge_stream(struct rfn_merge *merge, uint64_t stream, struct rfn_hash128 structure,
                     struct rfn_hash128 values)
{
    RFN_TRY(distinct_add(&merge->groups, structure, stream));
    return distinct_add(&merge->values, values, stream);
}

/* ---- how much memory it takes ---- */

static int64_t map_bytes(const struct rfn_map *map)
{
    return map->slots ? (int64_t)((map->mask + 1) * sizeof *map->slots) : 0;
}

static int64_t distincts_bytes(const struct rfn_distincts *distincts)
{
    return (int64_t)(distincts->capacity * sizeof *distincts->items) +
           map_bytes(&distincts->by_hash);
}

static int64_t merge_bytes(const struct rfn_merge *merge)
{
    int64_t bytes = (int64_t)merge->content_bytes + distincts_bytes(&merge->groups) +
                    distincts_bytes(&merge->values);
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &merge->definitions[k];
        bytes += (int64_t)(definitions->capacity * sizeof *definitions->items) +
                 map_bytes(&definitions->by_hash);
    }
    return bytes;
}

/* A merge or tables on the way, and what of them has been counted. */
struct counted {
    struct rfn_exchange *exchange;
    struct rfn_merge *merge;
    struct rfn_tables *const *tables;
    size_t n_tables;
    int64_t bytes;
};

static void count_again(struct counted *counted, int64_t bytes)
{
    rfn_exchange_hold(counted->exchange, bytes - counted->bytes);
    counted->bytes = bytes;
}

/* ---- messages ---- */

static void write_distincts(const struct rfn_distincts *distincts, struct rfn_buf *out)
{
    rfn_buf_varint(out, distincts->n);
    for (size_t i = 0; i < distincts->n; i++) {
        rfn_buf_u64(out, distincts->items[i].digest.low);
        rfn_buf_u64(out, distincts->items[i].digest.high);
        rfn_buf_varint(out, distincts->items[i].first);
    }
}

static int read_distincts(struct rfn_distincts *distincts, struct rfn_reader *reader)
{
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    for (uint64_t i = 0; i < n && !reader->failed; i++) {
        struct rfn_hash128 digest = {rfn_reader_u64(reader), 0};
        digest.high = rfn_reader_u64(reader);
        uint64_t first = rfn_reader_varint(reader);
        RFN_TRY(distinct_add(distincts, digest, first));
    }
    return reader->failed ? RFN_E_EXCHANGE : 0;
}

/* With or without contents: up the tree they are needed, down only the hashes are. */
static void write_merge(const struct rfn_merge *merge, bool contents, struct rfn_buf *out)
{
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++) {
        const struct rfn_definitions *definitions = &merge->definitions[k];
        rfn_buf_varint(out, definitions->n);
        for (size_t i = 0; i < definitions->n; i++) {
            rfn_buf_u64(out, definitions->items[i].hash);
            if (contents)
                rfn_buf_blob(out, definitions->items[i].bytes, definitions->items[i].size);
        }
    }
    write_distincts(&merge->groups, out);
    write_distincts(&merge->values, out);
}

static int read_merge(struct rfn_merge *merge, bool contents, struct rfn_reader *reader)
{
    for (enum rfn_definition_kind k = 0; k < RFN_DEFINITION_KINDS; k++) {
        uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
        for (uint64_t i = 0; i < n && !reader->failed; i++) {
            uint64_t hash = rfn_reader_u64(reader);
            size_t size = 0;
            const uint8_t *bytes = contents ? rfn_reader_blob(reader, &size) : NULL;
            if (!reader->failed)
                RFN_TRY(define(merge, k, hash, bytes, size));
        }
    }
    RFN_TRY(read_distincts(&merge->groups, reader));
    return read_distincts(&merge->values, reader);
}

static int up_merge(void *state, const uint8_t *bytes, size_t size)
{
    struct counted *counted = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    int error = read_merge(counted->merge, true, &reader);
    count_again(counted, merge_bytes(counted->merge));
    return error;
}

static int up_write(void *state, struct rfn_buf *out)
{
    const struct counted *counted = state;
    write_merge(counted->merge, true, out);
    return rfn_buf_status(out);
}

/* For a rank that has failed already: its message says so. */
static int failed_merge(void *state, const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
    return *(int *)state;
}

static int failed_write(void *state, struct rfn_buf *out)
{
    (void)out;
    return *(int *)state;
}

static int up(struct rfn_exchange *exchange, int error,
              int (*merge)(void *, const uint8_t *, size_t), int (*write)(void *, struct rfn_buf *),
              void *state)
{
    if (error < 0) {
        rfn_exchange_up(exchange, failed_merge, failed_write, &error);
        return error;
    }
    return rfn_exchange_up(exchange, merge, write, state);
}

int rfn_merge_run(struct rfn_merge *merge, struct rfn_exchange *exchange, int error)
{
    struct counted counted = {.exchange = exchange, .merge = merge};
    count_again(&counted, merge_bytes(merge));
    error = up(exchange, error, up_merge, up_write, &counted);
    struct rfn_buf down = RFN_BUF_INIT;
    if (exchange->rank == 0 && !error)
        write_merge(merge, false, &down);
    error = rfn_exchange_down(exchange, &down, error);
    if (!error && exchange->rank != 0) {
        rfn_merge_release(merge);
        rfn_merge_init(merge);
        struct rfn_reader reader = rfn_reader_over(down.data, down.size);
        error = read_merge(merge, false, &reader);
    }
    count_again(&counted, merge_bytes(merge) + (int64_t)down.capacity);
    count_again(&counted, merge_bytes(merge)); /* stays: numbers are looked up in it */
    rfn_buf_release(&down);
    return error;
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
            rfn_runs_release(&tables->tables[t].slots[s]);
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

static void count_tables(struct counted *counted)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < counted->n_tables; i++)
        bytes += tables_bytes(counted->tables[i]);
    count_again(counted, bytes);
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
            RFN_TRY(rfn_runs_join(&table->slots[s], reader));
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
            rfn_runs_write(&tables->tables[t].slots[s], out);
    }
}

static int tables_merge(void *state, const uint8_t *bytes, size_t size)
{
    struct counted *counted = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    for (size_t i = 0; i < counted->n_tables; i++)
        RFN_TRY(read_tables(counted->tables[i], &reader));
    count_tables(counted);
    return 0;
}

static int tables_write(void *state, struct rfn_buf *out)
{
    const struct counted *counted = state;
    for (size_t i = 0; i < counted->n_tables; i++)
        write_tables(counted->tables[i], out);
    return rfn_buf_status(out);
}

int rfn_tables_run(struct rfn_tables *const *tables, size_t n, struct rfn_exchange *exchange,
                   int error)
{
    struct counted counted = {.exchange = exchange, .tables = tables, .n_tables = n};
    if (!error)
        count_tables(&counted);
    return up(exchange, error, tables_merge, tables_write, &counted);
}

/* ---- surveys ---- */

struct survey_way {
    struct rfn_survey *survey;
    struct rfn_exchange *exchange;
    uint64_t sums[RFN_SURVEY_COUNTS]; /* of this rank and the children merged so far */
    uint64_t children[RFN_EXCHANGE_CHILDREN][RFN_SURVEY_COUNTS]; /* sums before each child */
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
    int64_t before = map_bytes(set);
    uint64_t n = rfn_reader_limited(reader, rfn_reader_left(reader));
    int error = 0;
    for (uint64_t i = 0; i < n && !reader->failed && !error; i++) {
        uint64_t key = rfn_reader_u64(reader), often = rfn_reader_u8(reader);
        error = adds ? add_often(set, key, often) : rfn_map_put(set, key, often);
    }
    rfn_exchange_hold(way->exchange, map_bytes(set) - before);
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
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++) {
        way->children[child][c] = way->sums[c];
        way->sums[c] += rfn_reader_varint(&reader);
    }
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
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++) {
        rfn_buf_varint(out, way->survey->before[c] + way->children[child][c]);
        rfn_buf_varint(out, way->survey->total[c]);
    }
    rfn_buf_u64(out, way->survey->first);
    rfn_buf_svarint(out, way->survey->least);
    write_set(way->survey->set, out);
    return rfn_buf_status(out);
}

static int survey_read_down(void *state, const uint8_t *bytes, size_t size)
{
    struct survey_way *way = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++) {
        way->survey->before[c] = rfn_reader_varint(&reader);
        way->survey->total[c] = rfn_reader_varint(&reader);
    }
    way->survey->first = rfn_reader_u64(&reader);
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
    rfn_exchange_hold(exchange, map_bytes(survey->set));
    for (int c = 0; c < RFN_SURVEY_COUNTS; c++) {
        survey->before[c] = 0;
        way.sums[c] = survey->counts[c];
    }
    error = rfn_exchange_round(exchange, &round, &way, error);
    rfn_exchange_hold(exchange, -map_bytes(survey->set));
    return error;
}
