#include "archive/write/pack.h"

#include "archive/container.h"

#include <stdlib.h>

/* ---- structure: symbols, then the loops that the top reaches ---- */

static void mark_nodes(uint32_t *number, const rfn_node *nodes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (rfn_node_is_loop(nodes[i]))
            number[rfn_node_index(nodes[i])] = 0;
    }
}

/* Reachable loops only count, in the old order: bodies refer downwards. */
int rfn_pack_loop_numbers(const struct rfn_stream *stream, uint32_t **numbers, uint32_t *n)
{
    const struct rfn_fold *fold = rfn_stream_fold(stream);
    struct rfn_column_cursor frozen;
    struct rfn_fold_view view;
    int error = 0;
    rfn_fold_view(fold, &view);
    uint32_t *number = malloc((view.n_loops + 1) * sizeof *number);
    if (!number)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < view.n_loops; i++)
        number[i] = UINT32_MAX;
    rfn_column_open_growing(&frozen, view.frozen);
    while (!error && rfn_column_at(&frozen) < frozen.n) {
        int64_t node;
        error = rfn_column_next(&frozen, &node);
        if (!error)
            mark_nodes(number, &(rfn_node){(rfn_node)node}, 1);
    }
    rfn_column_close(&frozen);
    if (error < 0) {
        free(number);
        return error;
    }
    mark_nodes(number, view.top, view.n_top);
    for (size_t i = view.n_loops; i-- > 0;) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, (uint32_t)i, &length);
        if (number[i] != UINT32_MAX)
            mark_nodes(number, body, length);
    }
    *n = 0;
    for (size_t i = 0; i < view.n_loops; i++) {
        if (number[i] != UINT32_MAX)
            number[i] = (*n)++;
    }
    *numbers = number;
    return 0;
}

static void pack_nodes(const uint32_t *number, const rfn_node *nodes, size_t n, struct rfn_buf *out)
{
    for (size_t i = 0; i < n; i++)
        rfn_buf_varint(out, rfn_node_is_loop(nodes[i])
                                ? rfn_node_loop(number[rfn_node_index(nodes[i])])
                                : nodes[i]);
}

/* Frozen nodes may be very many. */
static int pack_loops(const struct rfn_stream *stream, struct rfn_rope *out)
{
    const struct rfn_fold *fold = rfn_stream_fold(stream);
    struct rfn_column_cursor frozen;
    struct rfn_fold_view view;
    uint32_t *number, n;
    int error = 0;
    RFN_TRY(rfn_pack_loop_numbers(stream, &number, &n));
    rfn_fold_view(fold, &view);
    rfn_buf_varint(&out->bytes, n);
    for (size_t i = 0; i < view.n_loops; i++) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, (uint32_t)i, &length);
        if (number[i] == UINT32_MAX)
            continue;
        rfn_buf_varint(&out->bytes, length);
        pack_nodes(number, body, length, &out->bytes);
    }
    rfn_buf_varint(&out->bytes, view.frozen->n + view.n_top);
    rfn_column_open_growing(&frozen, view.frozen);
    while (!error && rfn_column_at(&frozen) < frozen.n) {
        int64_t node;
        error = rfn_column_next(&frozen, &node);
        const rfn_node nodes[] = {error ? 0 : (rfn_node)node};
        if (!error)
            pack_nodes(number, nodes, 1, &out->bytes);
        if (rfn_column_at(&frozen) % RFN_ROPE_PART == 0)
            rfn_rope_relieve(out, rfn_stream_spill_of(stream));
    }
    rfn_column_close(&frozen);
    pack_nodes(number, view.top, view.n_top, &out->bytes);
    free(number);
    return error;
}

/* All that stands before the loops consists of numbers, of which some may differ in groups of one
 * shape: those of datatypes, and inputs. */
struct head {
    enum {
        WRITE,       /* all of them */
        WRITE_SHAPE, /* with 0 for those that may differ */
        WEIGH,       /* n: bytes of all */
        COUNT,       /* n: of those that may differ */
        APPEND,      /* those that may differ, a slot each */
        PLACE        /* where they stand, each after the one before */
    } what;
    struct rfn_buf *out;
    uint64_t n, last;
    struct rfn_rank_runs *slot;
    int error;
};

static void take(struct head *head, uint64_t number, bool may_differ)
{
    switch (head->what) {
    case WRITE:
        rfn_buf_varint(head->out, number);
        break;
    case WRITE_SHAPE:
        rfn_buf_varint(head->out, may_differ ? 0 : number);
        break;
    case WEIGH:
        do
            head->n++;
        while (number >>= 7);
        break;
    case COUNT:
        head->n += may_differ;
        break;
    case APPEND:
        if (may_differ && !head->error)
            head->error = rfn_rank_runs_append(head->slot++, (int64_t)number, false, 0);
        break;
    case PLACE:
        head->n++;
        if (!may_differ)
            break;
        rfn_buf_varint(head->out, head->n - head->last);
        head->last = head->n;
        break;
    }
}

static void take_head(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                      struct head *head)
{
    take(head, refs->n_sites, false);
    for (size_t i = 0; i < refs->n_sites; i++) {
        take(head, refs->site_functions ? refs->site_functions[i] : i, false);
        take(head, refs->site_paths ? refs->site_paths[i] : i, false);
    }
    take(head, refs->n_types, false);
    for (size_t i = 0; i < refs->n_types; i++)
        take(head, refs->types ? refs->types[i] : i, true);
    take(head, refs->n_comms, false);
    take(head, rfn_stream_symbols(stream), false);
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(stream, i);
        const struct rfn_function_info *function = rfn_stream_schema(stream, symbol->function);
        take(head, (uint64_t)symbol->site << 1 | symbol->failed_poll, false);
        take(head, symbol->error, false);
        take(head, symbol->moved, false);
        for (unsigned k = 0; k < function->n_in; k++) {
            if (rfn_input_is_shared(function->params[k].kind, symbol->moved, k))
                take(head, rfn_zigzag(symbol->in[k]), true);
        }
    }
}

int rfn_pack_structure(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                       struct rfn_rope *rope)
{
    take_head(stream, refs, &(struct head){.what = WRITE, .out = &rope->bytes});
    RFN_TRY(pack_loops(stream, rope));
    return rfn_rope_status(rope);
}

/* ---- what structures of one shape have in common ---- */

int rfn_pack_structure_digests(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                               struct rfn_stream_digests *digests, uint64_t *loops)
{
    struct rfn_rope rope = RFN_ROPE_INIT;
    struct rfn_hash128 of_loops = {0}, digest[2] = {{0}};
    int error = pack_loops(stream, &rope);
    if (!error)
        error = rfn_rope_hash128(&rope, 0, &of_loops);
    *loops = rfn_rope_size(&rope);
    rfn_rope_release(&rope);
    for (int shape = 0; shape < 2 && !error; shape++) {
        struct rfn_buf head = RFN_BUF_INIT;
        take_head(stream, refs, &(struct head){.what = shape ? WRITE_SHAPE : WRITE, .out = &head});
        rfn_buf_u64(&head, of_loops.low);
        rfn_buf_u64(&head, of_loops.high);
        error = rfn_buf_status(&head);
        if (!error)
            digest[shape] = rfn_hash128_bytes(head.data, head.size);
        digests->shape_bytes = head.size + *loops;
        rfn_buf_release(&head);
    }
    digests->structure = digest[0];
    digests->shape = digest[1].low;
    return error;
}

uint64_t rfn_pack_head_bytes(const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    const struct rfn_pack_refs own = {
        .n_sites = refs->n_sites, .n_types = refs->n_types, .n_comms = refs->n_comms};
    struct head head = {.what = WEIGH};
    take_head(stream, &own, &head);
    return head.n;
}

size_t rfn_pack_numbers_count(const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    struct head head = {.what = COUNT};
    take_head(stream, refs, &head);
    return head.n;
}

int rfn_pack_numbers(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                     struct rfn_table *table)
{
    struct head head = {.what = APPEND, .slot = table->slots};
    take_head(stream, refs, &head);
    return head.error;
}

int rfn_pack_number_places(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                           struct rfn_buf *out)
{
    take_head(stream, refs, &(struct head){.what = PLACE, .out = out});
    return rfn_buf_status(out);
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
        if (columns->spill && rfn_column_sealed_bytes(&columns->words) > LARGE &&
            rfn_column_spill(&columns->words, columns->spill, false) < 0)
            columns->spill = NULL; /* then it takes memory */
    }
    return 0;
}

/* The columns' own memory goes into the rope as a copy, because they do not outlive this. */
static void pack_list_column(struct rfn_column *column, const struct rfn_spill *spill,
                             struct rfn_rope *out)
{
    if (column->values && column->values->spilled && spill &&
        rfn_column_spill(column, spill, true) == 0)
        rfn_column_pack(column, out);
    else
        rfn_column_write(column, &out->bytes);
}

int rfn_pack_values(const struct rfn_stream *stream, struct rfn_rope *out)
{
    const struct rfn_fold *fold = rfn_stream_fold(stream);
    struct list_columns lists = {.spill = rfn_stream_spill_of(stream)};
    struct rfn_fold_view view;
    uint32_t *number, n_loops;
    rfn_buf_varint(&out->bytes, rfn_stream_lists(stream));
    rfn_column_init(&lists.lengths);
    rfn_column_init(&lists.words);
    int error = fill_list_columns(stream, &lists);
    if (!error) {
        pack_list_column(&lists.lengths, lists.spill, out);
        pack_list_column(&lists.words, lists.spill, out);
    }
    rfn_column_release(&lists.lengths);
    rfn_column_release(&lists.words);
    RFN_TRY(error);
    RFN_TRY(rfn_pack_loop_numbers(stream, &number, &n_loops));
    rfn_fold_view(fold, &view);
    for (size_t i = 0; i < view.n_loops; i++) {
        if (number[i] == UINT32_MAX)
            continue;
        const struct rfn_column *trips = rfn_fold_trips(fold, (uint32_t)i);
        if (trips)
            rfn_column_pack(trips, out);
        out->bytes.failed |= !trips;
    }
    free(number);
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(stream, i);
        unsigned n = (unsigned)__builtin_popcount(symbol->moved) +
                     rfn_stream_schema(stream, symbol->function)->n_out;
        for (unsigned k = 0; k < n; k++)
            rfn_column_pack(&symbol->columns[k], out);
    }
    return rfn_rope_status(out);
}

/* ---- RANK_PARAMS ---- */

static bool in_rank_params(const struct rfn_symbol *symbol,
                           const struct rfn_function_info *function, unsigned i)
{
    return rfn_kind_depends_on_rank(function->params[i].kind) && !(symbol->moved >> i & 1);
}

size_t rfn_pack_rank_params_count(const struct rfn_stream *stream, const struct rfn_pack_refs *refs)
{
    size_t n = refs->n_comms;
    for (uint32_t s = 0; s < rfn_stream_symbols(stream); s++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(stream, s);
        const struct rfn_function_info *function = rfn_stream_schema(stream, symbol->function);
        for (unsigned i = 0; i < function->n_in; i++)
            n += in_rank_params(symbol, function, i);
    }
    return n;
}

int rfn_pack_rank_params(const struct rfn_stream *stream, const struct rfn_pack_refs *refs,
                         struct rfn_table *table)
{
    struct rfn_rank_runs *slot = table->slots;
    for (uint32_t s = 0; s < rfn_stream_symbols(stream); s++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(stream, s);
        const struct rfn_function_info *function = rfn_stream_schema(stream, symbol->function);
        int64_t own = refs->world_rank; /* in the communicator of the call */
        unsigned i = function->n_in;
        while (i > 0 && function->params[i - 1].kind != RFN_KIND_COMM)
            i--;
        if (i > 0 && !(symbol->moved >> (i - 1) & 1) && symbol->in[i - 1] >= 0 &&
            (size_t)symbol->in[i - 1] < refs->n_comms)
            own = refs->comm_ranks[symbol->in[i - 1]];
        for (i = 0; i < function->n_in; i++) {
            if (!in_rank_params(symbol, function, i))
                continue;
            bool rank = function->params[i].kind == RFN_KIND_RANK;
            int64_t word = symbol->in[i];
            bool relative = rank ? word >= 0 : word != RFN_UNDEFINED;
            RFN_TRY(rfn_rank_runs_append(slot++, word, relative, rank ? own : refs->world_rank));
        }
    }
    for (size_t i = 0; i < refs->n_comms; i++)
        RFN_TRY(rfn_rank_runs_append(slot++, refs->comms[i], false, 0));
    return 0;
}

int rfn_pack_table(const struct rfn_table *table, struct rfn_buf *out)
{
    rfn_buf_varint(out, table->n_slots);
    for (size_t s = 0; s < table->n_slots; s++)
        rfn_rank_runs_pack(&table->slots[s], out);
    return rfn_buf_status(out);
}

int rfn_pack_streams(const struct rfn_rank_runs slots[RFN_STREAM_SLOTS], uint64_t n_streams,
                     struct rfn_buf *out)
{
    rfn_buf_varint(out, n_streams);
    for (size_t s = 0; s < RFN_STREAM_SLOTS; s++)
        rfn_rank_runs_pack(&slots[s], out);
    return rfn_buf_status(out);
}

int rfn_fill_signatures(const struct rfn_rank_runs *sets, const uint64_t *signatures,
                        uint64_t n_sets, struct rfn_rank_runs *out)
{
    uint64_t stream = 0;
    for (size_t i = 0; i < sets->n; i++) {
        const struct rfn_run_of_ranks *run = &sets->runs[i];
        for (uint64_t k = 0; k < run->count; k++, stream++) {
            uint64_t set = (uint64_t)(run->is_absolute ? run->absolute : run->relative);
            set += run->is_absolute ? 0 : stream;
            if (set >= n_sets)
                return RFN_E_EXCHANGE;
            RFN_TRY(rfn_rank_runs_append(out, (int64_t)signatures[set], false, 0));
        }
    }
    return 0;
}

/* ---- timing ---- */

void rfn_pack_clock(const struct rfn_pack_clock *clock, const uint64_t *marks, size_t n_marks,
                    struct rfn_buf *out)
{
    rfn_pack_clock_pairs(clock, out);
    uint64_t before = clock->start;
    rfn_buf_varint(out, n_marks);
    for (size_t i = 0; i < n_marks; i++) {
        rfn_buf_varint(out, marks[i] - before);
        before = marks[i];
    }
}

int rfn_pack_timing_of(const struct rfn_pack_clock *clock, const uint64_t *marks, size_t n_marks,
                       struct rfn_pack_times (*of)(const void *context, uint32_t symbol),
                       const void *context, uint32_t n_symbols, bool volumes, struct rfn_rope *out)
{
    rfn_buf_varint(&out->bytes, (uint64_t)(clock != NULL) | (uint64_t)volumes << 1);
    if (clock)
        rfn_pack_clock(clock, marks, n_marks, &out->bytes);
    for (uint32_t i = 0; i < n_symbols; i++) {
        const struct rfn_pack_times times = of(context, i);
        if (clock) {
            rfn_column_pack(times.gap, out);
            rfn_column_pack(times.duration, out);
        }
        if (times.polls) {
            rfn_column_pack(times.polls, out);
            if (clock)
                rfn_column_pack(times.inside, out);
        }
    }
    for (uint32_t i = 0; i < n_symbols && volumes; i++) {
        const struct rfn_pack_times times = of(context, i);
        rfn_column_pack(&times.volumes[0], out);
        rfn_column_pack(&times.volumes[1], out);
    }
    return rfn_rope_status(out);
}

static struct rfn_pack_times times_of(const void *context, uint32_t number)
{
    const struct rfn_stream *stream = context;
    const struct rfn_symbol *symbol = rfn_stream_symbol(stream, number);
    return (struct rfn_pack_times){
        .gap = &symbol->gap,
        .duration = &symbol->duration,
        .polls = symbol->failed_poll ? &symbol->polls : NULL,
        .inside = symbol->failed_poll ? &symbol->inside : NULL,
        .volumes = rfn_stream_has_volume(stream) ? rfn_stream_volume(stream, symbol) : NULL};
}

int rfn_pack_timing(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                    struct rfn_rope *out)
{
    bool polls = false;
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++)
        polls |= rfn_stream_symbol(stream, i)->failed_poll;
    bool volume = rfn_stream_has_volume(stream);
    if (!clock && !polls && !volume)
        return 0;
    size_t n_marks;
    const uint64_t *marks = rfn_stream_marks(stream, &n_marks);
    return rfn_pack_timing_of(clock, marks, n_marks, times_of, stream, rfn_stream_symbols(stream),
                              volume, out);
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

static void pack_text(struct rfn_buf *out, const char *text)
{
    rfn_buf_string(out, text ? text : "");
}

static void pack_reduction(const struct rfn_run *run, struct rfn_buf *out)
{
    const struct rfn_run_reduction *reduction = &run->reduction;
    pack_text(out, run->similar);
    pack_text(out, run->across);
    rfn_buf_varint(out, reduction->exact_starts | reduction->long_streams << 1);
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

static void pack_merging(const struct rfn_run_merging *merging, struct rfn_buf *out)
{
    rfn_buf_varint(out, merging->messages);
    rfn_buf_varint(out, merging->bytes);
    rfn_buf_varint(out, merging->trace_bytes);
    rfn_buf_varint(out, merging->all_bytes);
    rfn_buf_varint(out, merging->all_definition_bytes);
    for (int step = 0; step < RFN_MERGING_STEPS; step++)
        rfn_buf_varint(out, 0); /* once the ns that it took */
}

static void pack_online_merges(const struct rfn_run_online_merges *online, struct rfn_buf *out)
{
    rfn_buf_varint(out, online->merges);
    rfn_buf_varint(out, online->ns);
    rfn_buf_varint(out, online->bytes);
    rfn_buf_varint(out, online->messages);
}

int rfn_pack_meta(const struct rfn_run *run, struct rfn_buf *out)
{
    pack_text(out, run->recorder);
    pack_text(out, run->program);
    pack_text(out, run->command);
    pack_text(out, run->mpi);
    pack_text(out, run->flavour);
    rfn_buf_u64(out, (uint64_t)run->start_realtime_ns);
    rfn_buf_varint(out, run->ranks);
    rfn_buf_varint(
        out, (uint64_t)run->times | (uint64_t)run->all_polls << 1 |
                 (uint64_t)(run->volume != NULL) << 2 | (uint64_t)run->start_off << 3 |
                 (uint64_t)run->reduced << 4 | (uint64_t)(run->path_ends.inner > 0) << 5 |
                 (uint64_t)(run->merging.messages > 0) << 6 | (uint64_t)(run->forced != NULL) << 7 |
                 (uint64_t)(run->merging.online.merges > 0) << 8 | (uint64_t)run->clustered << 10 |
                 (uint64_t)(run->predicted != NULL) << 11 | (uint64_t)run->apart << 12 |
                 (uint64_t)run->recovered.recovered << 13 | (uint64_t)(run->limits != NULL) << 14 |
                 (uint64_t)(run->identity != 0) << 15);
    rfn_buf_varint(out, (uint64_t)(run->merge_seconds * 1e9 + 0.5));
    if (run->volume) {
        rfn_buf_string(out, run->volume);
        pack_text(out, run->volume_unit);
    }
    if (run->reduced)
        pack_reduction(run, out);
    if (run->path_ends.inner) {
        rfn_buf_varint(out, run->path_ends.outer);
        rfn_buf_varint(out, run->path_ends.inner);
    }
    if (run->merging.messages)
        pack_merging(&run->merging, out);
    if (run->forced)
        rfn_buf_string(out, run->forced);
    if (run->merging.online.merges)
        pack_online_merges(&run->merging.online, out);
    if (run->predicted)
        rfn_buf_string(out, run->predicted);
    if (run->apart)
        rfn_buf_varint(out, run->taken_out);
    if (run->recovered.recovered) {
        rfn_buf_u64(out, (uint64_t)run->recovered.first_ns);
        rfn_buf_u64(out, (uint64_t)run->recovered.last_ns);
    }
    if (run->limits)
        rfn_buf_string(out, run->limits);
    if (run->identity)
        rfn_buf_u64(out, run->identity);
    return rfn_buf_status(out);
}
