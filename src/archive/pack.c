#include "archive/pack.h"

#include <stdlib.h>

static const struct rfn_symbol *symbol_at(const struct rfn_stream *stream, uint32_t i)
{
    return rfn_stream_symbol(stream, i);
}

/* ---- structure: symbols, then the loops that the top reaches ---- */

/* New numbers of loops: only reachable ones count, in the old order (bodies refer downwards). */
struct loop_numbers {
    uint32_t *number; /* UINT32_MAX: not reachable */
    size_t n_old;
    uint32_t n;
};

static void mark_nodes(struct loop_numbers *loops, const rfn_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rfn_node_is_loop(nodes[i]))
            loops->number[rfn_node_index(nodes[i])] = 0;
    }
}

static int mark_frozen(struct loop_numbers *loops, const struct rfn_column *frozen)
{
    struct rfn_column_cursor cursor;
    int error = 0;
    rfn_column_open_growing(&cursor, frozen);
    while (!error && rfn_column_at(&cursor) < cursor.n) {
        int64_t node;
        error = rfn_column_next(&cursor, &node);
        if (!error)
            mark_nodes(loops, &(rfn_node){(rfn_node)node}, 1);
    }
    rfn_column_close(&cursor);
    return error;
}

static int number_loops(const struct rfn_fold *fold, struct loop_numbers *loops)
{
    struct rfn_fold_view view;
    rfn_fold_view(fold, &view);
    *loops = (struct loop_numbers){.n_old = view.n_loops};
    loops->number = malloc((view.n_loops + 1) * sizeof *loops->number);
    if (!loops->number)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < view.n_loops; i++)
        loops->number[i] = UINT32_MAX;
    int error = mark_frozen(loops, view.frozen);
    if (error < 0) {
        free(loops->number);
        return error;
    }
    mark_nodes(loops, view.top, view.n_top);
    for (size_t i = view.n_loops; i-- > 0;) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, (uint32_t)i, &length);
        if (loops->number[i] != UINT32_MAX)
            mark_nodes(loops, body, length);
    }
    for (size_t i = 0; i < view.n_loops; i++) {
        if (loops->number[i] != UINT32_MAX)
            loops->number[i] = loops->n++;
    }
    return 0;
}

int rfn_pack_loop_numbers(const struct rfn_stream *stream, uint32_t **number, uint32_t *n)
{
    struct loop_numbers loops;
    RFN_TRY(number_loops(rfn_stream_fold(stream), &loops));
    *number = loops.number;
    *n = loops.n;
    return 0;
}

static void pack_node(const struct loop_numbers *loops, rfn_node node, struct rfn_buf *out)
{
    rfn_buf_varint(out, rfn_node_is_loop(node) ? rfn_node_loop(loops->number[rfn_node_index(node)])
                                               : node);
}

static void pack_nodes(const struct loop_numbers *loops, const rfn_node *nodes, size_t n,
                       struct rfn_buf *out)
{
    for (size_t i = 0; i < n; i++)
        pack_node(loops, nodes[i], out);
}

/* Frozen nodes may be very many. */
static int pack_frozen(const struct loop_numbers *loops, const struct rfn_column *frozen,
                       const struct rfn_spill *spill, struct rfn_rope *out)
{
    struct rfn_column_cursor cursor;
    int error = 0;
    rfn_column_open_growing(&cursor, frozen);
    while (!error && rfn_column_at(&cursor) < cursor.n) {
        int64_t node;
        error = rfn_column_next(&cursor, &node);
        if (!error)
            pack_node(loops, (rfn_node)node, &out->bytes);
        if (rfn_column_at(&cursor) % RFN_ROPE_PART == 0)
            rfn_rope_relieve(out, spill);
    }
    rfn_column_close(&cursor);
    return error;
}

static int pack_loops(const struct rfn_stream *stream, struct rfn_rope *out)
{
    const struct rfn_fold *fold = rfn_stream_fold(stream);
    struct loop_numbers loops;
    RFN_TRY(number_loops(fold, &loops));
    rfn_buf_varint(&out->bytes, loops.n);
    for (size_t i = 0; i < loops.n_old; i++) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, (uint32_t)i, &length);
        if (loops.number[i] == UINT32_MAX)
            continue;
        rfn_buf_varint(&out->bytes, length);
        pack_nodes(&loops, body, length, &out->bytes);
    }
    struct rfn_fold_view view;
    rfn_fold_view(fold, &view);
    rfn_buf_varint(&out->bytes, view.frozen->n + view.n_top);
    int error = pack_frozen(&loops, view.frozen, rfn_stream_spill_of(stream), out);
    pack_nodes(&loops, view.top, view.n_top, &out->bytes);
    free(loops.number);
    return error;
}

static void pack_symbol(const struct rfn_symbol *symbol, const struct rfn_function *function,
                        struct rfn_buf *out)
{
    rfn_buf_varint(out, (uint64_t)symbol->site << 1 | symbol->failed_poll);
    rfn_buf_varint(out, symbol->error);
    rfn_buf_varint(out, symbol->moved);
    for (unsigned i = 0; i < function->n_in; i++) {
        if (!(symbol->moved >> i & 1) && !rfn_kind_depends_on_rank(function->params[i].kind))
            rfn_buf_svarint(out, symbol->in[i]);
    }
}

int rfn_pack_structure(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       struct rfn_rope *rope)
{
    struct rfn_buf *out = &rope->bytes;
    rfn_buf_varint(out, refs->n_sites);
    for (size_t i = 0; i < refs->n_sites; i++) {
        rfn_buf_varint(out, refs->site_functions[i]);
        rfn_buf_varint(out, refs->site_paths[i]);
    }
    rfn_buf_varint(out, refs->n_types);
    for (size_t i = 0; i < refs->n_types; i++)
        rfn_buf_varint(out, refs->types[i]);
    rfn_buf_varint(out, refs->n_comms);
    rfn_buf_varint(out, rfn_stream_symbols(stream));
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++) {
        const struct rfn_symbol *symbol = symbol_at(stream, i);
        pack_symbol(symbol, rfn_stream_schema(stream, symbol->function), out);
    }
    RFN_TRY(pack_loops(stream, rope));
    return rfn_rope_status(rope);
}

/* ---- values ---- */

/* The lists' lengths and words are columns that exist only now; they may be large. */
struct list_columns {
    const struct rfn_spill *spill;
    struct rfn_column lengths, words;
};

static int fill_list_columns(const struct rfn_stream *stream, struct list_columns *columns)
{
    enum { LARGE = 1 << 20 };
    size_t n_lists = rfn_stream_lists(stream);
    for (size_t i = 1; i <= n_lists; i++) {
        size_t n;
        const int64_t *list = rfn_stream_list_words(stream, i, &n);
        if (!list)
            return RFN_E_NOMEM;
        RFN_TRY(rfn_column_append(&columns->lengths, (int64_t)n));
        for (size_t k = 0; k < n; k++)
            RFN_TRY(rfn_column_append(&columns->words, list[k]));
        if (columns->spill && columns->words.sealed.size > LARGE &&
            rfn_column_spill(&columns->words, columns->spill, false) < 0)
            columns->spill = NULL; /* then it takes memory */
    }
    return 0;
}

/* The columns' own memory goes into the rope as a copy, because they do not outlive this. */
static void pack_list_column(struct rfn_column *column, const struct rfn_spill *spill,
                             struct rfn_rope *out)
{
    if (column->spilled && spill && rfn_column_spill(column, spill, true) == 0)
        rfn_column_pack(column, out);
    else
        rfn_column_write(column, &out->bytes);
}

static int pack_lists(const struct rfn_stream *stream, struct rfn_rope *out)
{
    struct list_columns columns = {.spill = rfn_stream_spill_of(stream)};
    rfn_buf_varint(&out->bytes, rfn_stream_lists(stream));
    rfn_column_init(&columns.lengths);
    rfn_column_init(&columns.words);
    int error = fill_list_columns(stream, &columns);
    if (!error) {
        pack_list_column(&columns.lengths, columns.spill, out);
        pack_list_column(&columns.words, columns.spill, out);
    }
    rfn_column_release(&columns.lengths);
    rfn_column_release(&columns.words);
    return error;
}

int rfn_pack_values(const struct rfn_stream *stream, struct rfn_rope *out)
{
    const struct rfn_fold *fold = rfn_stream_fold(stream);
    struct loop_numbers loops;
    RFN_TRY(pack_lists(stream, out));
    RFN_TRY(number_loops(fold, &loops));
    for (size_t i = 0; i < loops.n_old; i++) {
        if (loops.number[i] == UINT32_MAX)
            continue;
        const struct rfn_column *trips = rfn_fold_trips(fold, (uint32_t)i);
        if (trips)
            rfn_column_pack(trips, out);
        out->bytes.failed |= !trips;
    }
    free(loops.number);
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++) {
        const struct rfn_symbol *symbol = symbol_at(stream, i);
        unsigned n = (unsigned)__builtin_popcount(symbol->moved) +
                     rfn_stream_schema(stream, symbol->function)->n_out;
        for (unsigned k = 0; k < n; k++)
            rfn_column_pack(&symbol->columns[k], out);
    }
    return rfn_rope_status(out);
}

/* ---- places ---- */

static bool in_places(const struct rfn_symbol *symbol, const struct rfn_function *function,
                      unsigned i)
{
    return rfn_kind_depends_on_rank(function->params[i].kind) && !(symbol->moved >> i & 1);
}

size_t rfn_pack_places_count(const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    size_t n = refs->n_comms;
    for (uint32_t s = 0; s < rfn_stream_symbols(stream); s++) {
        const struct rfn_symbol *symbol = symbol_at(stream, s);
        const struct rfn_function *function = rfn_stream_schema(stream, symbol->function);
        for (unsigned i = 0; i < function->n_in; i++)
            n += in_places(symbol, function, i);
    }
    return n;
}

/* What a RANK input of the symbol is relative to: the own rank in the call's communicator. */
static int64_t own_rank(const struct rfn_symbol *symbol, const struct rfn_function *function,
                        const struct rfn_pack_refs *refs)
{
    for (unsigned i = function->n_in; i-- > 0;) {
        if (function->params[i].kind != RFN_KIND_COMM)
            continue;
        int64_t comm = symbol->in[i];
        bool known = !(symbol->moved >> i & 1) && comm >= 0 && (size_t)comm < refs->n_comms;
        return known ? refs->comm_ranks[comm] : refs->world_rank;
    }
    return refs->world_rank;
}

int rfn_pack_places(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                    struct rfn_table *table)
{
    struct rfn_runs *slot = table->slots;
    for (uint32_t s = 0; s < rfn_stream_symbols(stream); s++) {
        const struct rfn_symbol *symbol = symbol_at(stream, s);
        const struct rfn_function *function = rfn_stream_schema(stream, symbol->function);
        for (unsigned i = 0; i < function->n_in; i++) {
            if (!in_places(symbol, function, i))
                continue;
            bool rank = function->params[i].kind == RFN_KIND_RANK;
            int64_t word = symbol->in[i];
            bool relative = rank ? word >= 0 : word != RFN_UNDEFINED;
            RFN_TRY(rfn_runs_append(slot++, word, relative,
                                    rank ? own_rank(symbol, function, refs) : refs->world_rank));
        }
    }
    for (size_t i = 0; i < refs->n_comms; i++)
        RFN_TRY(rfn_runs_append(slot++, refs->comms[i], false, 0));
    return 0;
}

int rfn_pack_table(const struct rfn_table *table, struct rfn_buf *out)
{
    rfn_buf_varint(out, table->n_slots);
    for (size_t s = 0; s < table->n_slots; s++)
        rfn_runs_pack(&table->slots[s], out);
    return rfn_buf_status(out);
}

int rfn_pack_streams(const struct rfn_table *table, uint64_t n_streams, struct rfn_buf *out)
{
    rfn_buf_varint(out, n_streams);
    for (size_t s = 0; s < RFN_STREAM_SLOTS; s++)
        rfn_runs_pack(&table->slots[s], out);
    return rfn_buf_status(out);
}

/* ---- timing ---- */

void rfn_pack_clock(const struct rfn_pack_clock *clock, const uint64_t *marks, size_t n_marks,
                    struct rfn_buf *out)
{
    rfn_buf_u8(out, clock->kind);
    rfn_buf_varint(out, clock->n_pairs);
    for (size_t i = 0; i < clock->n_pairs; i++) {
        rfn_buf_u64(out, clock->pairs[i].quanta);
        rfn_buf_u64(out, clock->pairs[i].monotonic_ns);
        rfn_buf_u64(out, clock->pairs[i].realtime_ns);
    }
    rfn_buf_u64(out, clock->start);
    uint64_t before = clock->start;
    rfn_buf_varint(out, n_marks);
    for (size_t i = 0; i < n_marks; i++) {
        rfn_buf_varint(out, marks[i] - before);
        before = marks[i];
    }
}

static void pack_volume(const struct rfn_stream *stream, struct rfn_rope *out)
{
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++) {
        const struct rfn_column *columns = rfn_stream_volume(stream, symbol_at(stream, i));
        rfn_column_pack(&columns[0], out);
        rfn_column_pack(&columns[1], out);
    }
}

int rfn_pack_timing(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                    struct rfn_rope *out)
{
    bool polls = false;
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++)
        polls |= symbol_at(stream, i)->failed_poll;
    bool volume = rfn_stream_has_volume(stream);
    if (!clock && !polls && !volume)
        return 0;
    rfn_buf_varint(&out->bytes, (uint64_t)(clock != NULL) | (uint64_t)volume << 1);
    size_t n_marks;
    const uint64_t *marks = rfn_stream_marks(stream, &n_marks);
    if (clock)
        rfn_pack_clock(clock, marks, n_marks, &out->bytes);
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++) {
        const struct rfn_symbol *symbol = symbol_at(stream, i);
        if (clock) {
            rfn_column_pack(&symbol->gap, out);
            rfn_column_pack(&symbol->duration, out);
        }
        if (symbol->failed_poll) {
            rfn_column_pack(&symbol->polls, out);
            if (clock)
                rfn_column_pack(&symbol->inside, out);
        }
    }
    if (volume)
        pack_volume(stream, out);
    return rfn_rope_status(out);
}

/* ---- clocks of hosts ---- */

int rfn_pack_clocks(uint64_t reference, const struct rfn_pack_host_clock *hosts, size_t n,
                    struct rfn_buf *out)
{
    rfn_buf_varint(out, reference);
    rfn_buf_varint(out, n);
    for (size_t i = 0; i < n; i++) {
        rfn_buf_varint(out, hosts[i].host);
        rfn_buf_varint(out, hosts[i].n);
        for (size_t k = 0; k < hosts[i].n; k++) {
            rfn_buf_u64(out, hosts[i].offsets[k].monotonic_ns);
            rfn_buf_svarint(out, hosts[i].offsets[k].offset_ns);
            rfn_buf_varint(out, hosts[i].offsets[k].round_trip_ns);
        }
    }
    return rfn_buf_status(out);
}

/* ---- meta ---- */

static void pack_reduction(const struct rfn_pack_meta *meta, struct rfn_buf *out)
{
    const struct rfn_run_reduction *reduction = &meta->reduction;
    rfn_buf_string(out, meta->similar);
    rfn_buf_string(out, meta->across ? meta->across : "");
    rfn_buf_varint(out, reduction->exact_starts);
    rfn_buf_varint(out, reduction->min_calls);
    rfn_buf_varint(out, reduction->executions);
    rfn_buf_varint(out, reduction->kinds);
    rfn_buf_varint(out, reduction->representatives);
    rfn_buf_varint(out, reduction->corrections);
    rfn_buf_varint(out, reduction->streams);
    rfn_buf_varint(out, reduction->classes);
    rfn_buf_varint(out, reduction->time_sets);
    rfn_buf_varint(out, reduction->widened);
    rfn_buf_varint(out, reduction->full_bytes);
}

int rfn_pack_meta(const struct rfn_pack_meta *meta, struct rfn_buf *out)
{
    rfn_buf_string(out, meta->recorder);
    rfn_buf_string(out, meta->program);
    rfn_buf_string(out, meta->command);
    rfn_buf_string(out, meta->mpi);
    rfn_buf_string(out, meta->flavour);
    rfn_buf_u64(out, meta->start_realtime_ns);
    rfn_buf_varint(out, meta->ranks);
    rfn_buf_varint(out, (uint64_t)meta->times | (uint64_t)meta->all_polls << 1 |
                            (uint64_t)(meta->volume != NULL) << 2 | (uint64_t)meta->start_off << 3 |
                            (uint64_t)(meta->similar != NULL) << 4);
    rfn_buf_varint(out, meta->merge_ns);
    if (meta->volume) {
        rfn_buf_string(out, meta->volume);
        rfn_buf_string(out, meta->volume_unit);
    }
    if (meta->similar)
        pack_reduction(meta, out);
    return rfn_buf_status(out);
}
