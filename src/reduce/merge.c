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
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    return read_merge(state, true, &reader);
}

static int up_write(void *state, struct rfn_buf *out)
{
    write_merge(state, true, out);
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
    error = up(exchange, error, up_merge, up_write, merge);
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

static int tables_merge(void *state, const uint8_t *bytes, size_t size)
{
    struct rfn_tables *tables = state;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    while (rfn_reader_left(&reader)) {
        uint64_t number = rfn_reader_varint(&reader);
        uint64_t n_slots = rfn_reader_limited(&reader, rfn_reader_left(&reader));
        if (reader.failed || number >= tables->n)
            return RFN_E_EXCHANGE;
        struct rfn_table *table = rfn_tables_use(tables, number, n_slots);
        if (!table)
            return RFN_E_EXCHANGE;
        for (uint64_t s = 0; s < n_slots; s++)
            RFN_TRY(rfn_runs_join(&table->slots[s], &reader));
    }
    return reader.failed ? RFN_E_EXCHANGE : 0;
}

static int tables_write(void *state, struct rfn_buf *out)
{
    const struct rfn_tables *tables = state;
    for (size_t t = 0; t < tables->n; t++) {
        if (!tables->tables[t].slots)
            continue;
        rfn_buf_varint(out, t);
        rfn_buf_varint(out, tables->tables[t].n_slots);
        for (size_t s = 0; s < tables->tables[t].n_slots; s++)
            rfn_runs_write(&tables->tables[t].slots[s], out);
    }
    return rfn_buf_status(out);
}

int rfn_tables_run(struct rfn_tables *tables, struct rfn_exchange *exchange, int error)
{
    return up(exchange, error, tables_merge, tables_write, tables);
}

/* ---- unions ---- */

static int union_merge(void *state, const uint8_t *bytes, size_t size)
{
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    while (rfn_reader_left(&reader))
        RFN_TRY(rfn_map_put(state, rfn_reader_u64(&reader), 0));
    return reader.failed ? RFN_E_EXCHANGE : 0;
}

static int union_write(void *state, struct rfn_buf *out)
{
    const struct rfn_map *set = state;
    for (uint64_t i = 0; set->slots && i <= set->mask; i++) {
        if (set->slots[i].used)
            rfn_buf_u64(out, set->slots[i].key);
    }
    return rfn_buf_status(out);
}

int rfn_union_run(struct rfn_map *set, struct rfn_exchange *exchange, int error)
{
    error = up(exchange, error, union_merge, union_write, set);
    struct rfn_buf down = RFN_BUF_INIT;
    if (exchange->rank == 0 && !error)
        error = union_write(set, &down);
    error = rfn_exchange_down(exchange, &down, error);
    if (!error)
        error = union_merge(set, down.data, down.size);
    rfn_buf_release(&down);
    return error;
}
