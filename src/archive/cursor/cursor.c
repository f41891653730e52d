/* A cursor walks over the structure of its stream (structure_walk.h) and takes from columns what
 * that leaves open: what all occurrences of a symbol share is filled in once per symbol; then, per
 * event, one value of each column that varies, and the times.
 *
 * All columns of a symbol have one value per occurrence, so they have equal lengths. A column that
 * is one value over its whole length (most are) is read once and then costs nothing. Of each of the
 * others a block of decoded values is in memory, of at most RFN_COLUMN_BLOCK, in 1 to 8 bytes each.
 * Reduced times have other columns, and come from representatives.h.
 *
 * Where in a loop nothing but times varies, iterations may come in batches (cursor_batch.c).
 *
 * Against damaged files: events beyond the number in STREAMS are an error. */
#include "archive/cursor/cursor_state.h"
#include "base/grow.h"
#include "event/kind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* One column of a symbol before it is known whether it varies. */
struct wanted {
    const struct rfn_payload *payload;
    const size_t *at; /* where in the payload it begins, then where it ends */
    int64_t *target;
    uint8_t kind;
    struct rfn_supply *supply; /* NULL: not of times */
};

enum { TIMING_COLUMNS_MAX = 6, WANTED_MAX = 2 * RFN_PARAMS_MAX + TIMING_COLUMNS_MAX };

/* In what form a list is wanted: as it is, or with the archive's numbers. */
enum list_form { FORM_PLAIN, FORM_TYPES, FORM_COMMS };

_Static_assert((int)FORM_COMMS < (int)RFN_LIST_FORMS, "forms do not go into the key of a list");

/* ---- failure ---- */

/* Events so far. */
static uint64_t index_of(const struct rfn_cursor *cursor)
{
    const struct rfn_batch *batch = &cursor->batches.batch;
    return batch->n ? batch->first + batch->taken : cursor->walk.index;
}

static int fail(struct rfn_cursor *cursor, int error, const struct rfn_payload *payload,
                const char *what)
{
    cursor->stop.error = error;
    cursor->stop.stopped = cursor->batches.batch.failed = true;
    rfn_fail(&cursor->stop.diag, error, (int64_t)payload->offset, (int)cursor->rank,
             "%s: %s at offset %" PRIu64 " (rank %" PRIu32 ", stream %" PRIu32 ", event %" PRIu64
             "): %s",
             cursor->archive->chunks.path, error == RFN_E_CORRUPT ? "damaged" : "cannot read",
             payload->offset, cursor->rank, cursor->stream, index_of(cursor), what);
    return error;
}

int rfn_cursor_no_memory(struct rfn_cursor *cursor)
{
    return fail(cursor, RFN_E_NOMEM, &cursor->parts.values->payload, rfn_out_of_memory);
}

int rfn_cursor_fault_in(struct rfn_cursor *cursor, const struct rfn_payload *payload,
                        const char *fault)
{
    return fail(cursor, rfn_fault_error(fault), payload, fault);
}

static int column_failed(struct rfn_cursor *cursor, int error, const struct rfn_payload *payload)
{
    return rfn_cursor_fault_in(cursor, payload, rfn_column_fault(error));
}

int rfn_cursor_report(const struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    if (diag)
        *diag = cursor->stop.diag;
    return cursor->stop.error;
}

/* ---- words ---- */

bool rfn_cursor_translate(const struct rfn_cursor *cursor, uint8_t kind, int64_t *word)
{
    if (kind == RFN_KIND_TYPE)
        return rfn_structure_type(cursor->parts.structure, word);
    if (kind == RFN_KIND_REGION)
        return rfn_dictionary_region(&cursor->archive->dictionary, word);
    if (kind != RFN_KIND_COMM || *word < 0)
        return true;
    if (*word >= cursor->parts.structure->n_comms)
        return false;
    *word = cursor->comms[*word];
    return true;
}

static int translate_or_fail(struct rfn_cursor *cursor, uint8_t kind, int64_t *word)
{
    if (rfn_cursor_translate(cursor, kind, word))
        return 0;
    return fail(cursor, RFN_E_CORRUPT, &cursor->parts.values->payload,
                "a datatype, communicator or region that does not exist");
}

static void fill_inputs(const struct rfn_cursor *cursor, const struct rfn_symbol_info *symbol,
                        const struct rfn_function_info *function, int64_t *in)
{
    const struct rfn_member member = {
        cursor->archive, cursor->parts.structure, cursor->parts.rank_params,
        rfn_stream_place(cursor->archive, cursor->stream), cursor->rank};
    int64_t reference = rfn_member_own_place(&member, symbol, function).rank;
    size_t slot = symbol->rank_params;
    for (unsigned i = 0; i < function->n_in; i++) {
        uint8_t kind = function->params[i].kind;
        if (symbol->moved >> i & 1)
            continue;
        if (rfn_symbol_in_rank_params(symbol, function, i))
            in[i] = rfn_rank_param(member.table, slot++, member.place,
                                   kind == RFN_KIND_RANK ? reference : cursor->rank);
        else
            in[i] = kind == RFN_KIND_COMM && symbol->in[i] >= 0 ? cursor->comms[symbol->in[i]]
                                                                : symbol->in[i];
    }
}

/* ---- a symbol's first occurrence ---- */

/* Lists the columns of a symbol. */
static unsigned want_columns(const struct rfn_cursor *cursor, const struct rfn_symbol_info *symbol,
                             const struct rfn_function_info *function,
                             struct rfn_symbol_state *state, struct wanted *wanted)
{
    unsigned n = 0;
    const struct rfn_payload *values = &cursor->parts.values->payload;
    const size_t *at = cursor->parts.values->columns + symbol->value;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (symbol->moved >> i & 1)
            wanted[n++] = (struct wanted){values, at++, &state->in[i], function->params[i].kind,
                                          NULL};
    }
    for (unsigned i = 0; i < function->n_out; i++)
        wanted[n++] = (struct wanted){values, at++, &state->out[i],
                                      function->params[function->n_in + i].kind, NULL};
    if (!cursor->has_timing)
        return n;
    const struct rfn_payload *timing = &cursor->timing.payload;
    at = cursor->timing.columns + (cursor->times ? symbol->timing : symbol->timing_bare);
    if (cursor->times) {
        wanted[n++] = (struct wanted){timing, at++, &state->gaps.value, 0, &state->gaps};
        wanted[n++] = (struct wanted){timing, at++, &state->durations.value, 0, &state->durations};
    }
    if (symbol->failed_poll) {
        wanted[n++] = (struct wanted){timing, at++, (int64_t *)&state->record.polls, 0, NULL};
        if (cursor->times)
            wanted[n++] = (struct wanted){timing, at++, &state->inside, 0, NULL};
    }
    if (cursor->timing.volume) {
        size_t number = (size_t)(symbol - cursor->parts.structure->symbols);
        at = cursor->timing.columns + cursor->timing.n_times + 2 * number;
        wanted[n++] = (struct wanted){timing, at++, &state->record.volume_gap, 0, NULL};
        wanted[n++] = (struct wanted){timing, at++, &state->record.volume_inside, 0, NULL};
    }
    return n;
}

/* What a source's column lies in. */
static const struct rfn_payload *payload_of(const struct rfn_cursor *cursor,
                                            const struct rfn_symbol_source *source)
{
    return source->of_timing ? &cursor->timing.payload : &cursor->parts.values->payload;
}

/* Decodes a block of a column that has been opened, the first that is to be read. Returns whether
 * it varies: if not, its value goes to the target for good. */
static int first_block(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                       const struct wanted *wanted, struct rfn_column_cursor *column)
{
    uint64_t passed = cursor->passed ? cursor->passed[state->record.symbol] : 0;
    if (state->counted && state->n != column->n)
        return fail(cursor, RFN_E_CORRUPT, wanted->payload,
                    "columns of one symbol have different lengths");
    state->counted = true;
    state->n = column->n;
    state->gaps.left = column->n - passed;
    int error = passed < column->n ? rfn_column_skip(column, passed) : RFN_E_RANGE;
    if (!error && !column->left)
        error = rfn_column_next_block(column);
    if (error < 0)
        return column_failed(cursor, error, wanted->payload);
    if (column->packed.width || column->left < column->n - passed)
        return 1;
    if (rfn_column_bytes_left(column))
        return column_failed(cursor, RFN_E_CORRUPT, wanted->payload);
    *wanted->target = column->packed.base;
    return translate_or_fail(cursor, wanted->kind, wanted->target);
}

static int add_column(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                      const struct wanted *wanted)
{
    const uint8_t kind = wanted->kind;
    struct rfn_symbol_source *source = &state->sources[state->n_sources];
    struct rfn_column_cursor *column = wanted->supply ? &wanted->supply->column : &source->column;
    int error = rfn_payload_column(wanted->payload, wanted->at[0], wanted->at[1], column);
    if (error < 0)
        return column_failed(cursor, error, wanted->payload);
    int varies = first_block(cursor, state, wanted, column);
    if (!varies) {
        rfn_column_close(column);
        return 0;
    }
    if (wanted->supply) { /* from here on it is closed with the others */
        wanted->supply->open = true;
    } else {
        source->of_timing = wanted->payload == &cursor->timing.payload;
        source->target = wanted->target;
        source->kind = kind;
        source->translated = kind == RFN_KIND_TYPE || kind == RFN_KIND_COMM ||
                             kind == RFN_KIND_REGION;
        state->n_sources++;
    }
    return varies < 0 ? varies : 0;
}

/* If the column of gaps does not vary, or there is none, occurrences are counted in its place. */
static int open_symbol(struct rfn_cursor *cursor, uint32_t symbol)
{
    const struct rfn_symbol_info *info = &cursor->parts.structure->symbols[symbol];
    const struct rfn_function_info *function =
        &cursor->archive->dictionary.functions[info->function];
    unsigned columns = (unsigned)__builtin_popcount(info->moved) + function->n_out +
                       TIMING_COLUMNS_MAX;
    struct rfn_symbol_state *state;
    size_t size = sizeof *state + columns * sizeof *state->sources +
                  (size_t)(function->n_in + function->n_out) * sizeof *state->in;
    size = (size + RFN_LINE - 1) / RFN_LINE * RFN_LINE;
    state = aligned_alloc(RFN_LINE, size);
    if (!state)
        return rfn_cursor_no_memory(cursor);
    memset(state, 0, size);
    cursor->symbols[symbol] = state;
    state->sources = (struct rfn_symbol_source *)(state + 1);
    state->in = (int64_t *)(state->sources + columns);
    state->out = state->in + function->n_in;
    state->record = (struct rfn_record){.polls = 1,
                                        .symbol = symbol,
                                        .function = info->function,
                                        .path = info->path,
                                        .error = info->error,
                                        .varying = info->moved,
                                        .in = state->in,
                                        .out = state->out,
                                        .failed_poll = info->failed_poll};
    state->gaps.left = state->durations.left = UINT64_MAX;
    fill_inputs(cursor, info, function, state->in);
    struct wanted wanted[WANTED_MAX];
    unsigned n = want_columns(cursor, info, function, state, wanted);
    for (unsigned i = 0; i < n; i++)
        RFN_TRY(add_column(cursor, state, &wanted[i]));
    state->ready.others = state->n_sources > 0;
    return 0;
}

/* ---- events ---- */

static int fill_times(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                      struct rfn_quanta quanta)
{
    struct rfn_record *record = &state->record;
    uint64_t enter = cursor->clock.last_exit + (uint64_t)quanta.gap;
    if (__builtin_expect(!(cursor->walk.index & cursor->marks.mask) && cursor->walk.index, 0))
        RFN_TRY(rfn_cursor_check_mark(cursor, &enter));
    uint64_t exit = enter + (uint64_t)quanta.duration;
    uint64_t from = rfn_cursor_ns(cursor, enter), to = rfn_cursor_ns(cursor, exit);
    record->enter_ns = (int64_t)(from + cursor->clock.add_ns);
    record->exit_ns = (int64_t)(to + cursor->clock.add_ns);
    record->inside_ns = (int64_t)(to - from);
    if (__builtin_expect(record->failed_poll, 0)) {
        to = rfn_cursor_ns(cursor, enter + (uint64_t)state->inside);
        record->inside_ns = (int64_t)(to - from);
    }
    const int64_t end_ns = cursor->clock.end_ns;
    if (__builtin_expect(cursor->walk.index == cursor->clock.last, 0) && end_ns > record->exit_ns) {
        if (!record->failed_poll) /* it had not ended when its times were written */
            record->inside_ns = (int64_t)((uint64_t)end_ns - (uint64_t)record->enter_ns);
        record->exit_ns = end_ns;
    }
    cursor->clock.last_exit = exit;
    return 0;
}

/* How many values there are at once, at least one. */
static int supplied(struct rfn_cursor *cursor, struct rfn_supply *supply, uint64_t *left)
{
    int error = supply->open || supply->left ? 0 : RFN_E_RANGE;
    if (supply->open && !supply->column.left)
        error = rfn_column_next_block(&supply->column);
    *left = supply->open ? supply->column.left : supply->left;
    if (error == RFN_E_RANGE)
        return column_failed(cursor, error, &cursor->parts.values->payload);
    return error < 0 ? column_failed(cursor, error, &cursor->timing.payload) : 0;
}

/* Makes the next times of a symbol ready, at least one. */
__attribute__((noinline)) static int make_ready(struct rfn_cursor *cursor,
                                                struct rfn_symbol_state *state)
{
    struct rfn_ready *ready = &state->ready;
    struct rfn_quanta next[RFN_READY_NARROW];
    uint64_t gaps, durations, all = 0;
    RFN_TRY(supplied(cursor, &state->gaps, &gaps));
    RFN_TRY(supplied(cursor, &state->durations, &durations));
    size_t n = gaps < durations ? gaps : durations;
    n = n < RFN_READY_NARROW ? n : RFN_READY_NARROW;
    for (size_t i = 0; i < n; i++) {
        next[i] = (struct rfn_quanta){rfn_supply_at(&state->gaps, i),
                                      rfn_supply_at(&state->durations, i)};
        all |= (uint64_t)next[i].gap | (uint64_t)next[i].duration;
    }
    ready->wide = all > UINT32_MAX;
    if (ready->wide && n > RFN_READY_WIDE)
        n = RFN_READY_WIDE;
    for (size_t i = 0; i < n && ready->wide; i++)
        ready->wides[n - 1 - i] = next[i];
    for (size_t i = 0; i < n && !ready->wide; i++) {
        ready->narrow[n - 1 - i].gap = (uint32_t)next[i].gap;
        ready->narrow[n - 1 - i].duration = (uint32_t)next[i].duration;
    }
    rfn_supply_take(&state->gaps, n);
    rfn_supply_take(&state->durations, n);
    ready->n = (uint32_t)n;
    return 0;
}

static int read_sources(struct rfn_cursor *cursor, struct rfn_symbol_state *state)
{
    for (unsigned i = 0; i < state->n_sources; i++) {
        struct rfn_symbol_source *source = &state->sources[i];
        int error = rfn_column_next(&source->column, source->target);
        if (__builtin_expect(error < 0, 0))
            return column_failed(cursor, error, payload_of(cursor, source));
        if (source->translated)
            RFN_TRY(translate_or_fail(cursor, source->kind, source->target));
    }
    return 0;
}

/* What the event behind the next one will take, as long as it is in the same loop: mostly right. */
static inline void prefetch(const struct rfn_cursor *cursor)
{
    const struct rfn_structure_walk_frame *frame = &cursor->walk.frames[cursor->walk.depth - 1];
    const uint32_t *node = frame->end - frame->node > 1 ? frame->node + 1 : frame->body;
    if (rfn_node_is_loop(*node))
        return;
    const struct rfn_symbol_state *state = cursor->symbols[rfn_node_index(*node)];
    if (state) {
        __builtin_prefetch(&state->record, 1);
        __builtin_prefetch(&state->ready, 1);
    }
}

int rfn_cursor_segment_failed(struct rfn_cursor *cursor)
{
    struct rfn_representatives_fault fault = rfn_representatives_fault(cursor->representatives);
    return rfn_cursor_fault_in(cursor, fault.payload, fault.text);
}

/* What most cursors do not do: telling segments, and taking from representatives what else comes
 * from columns of TIMING. */
static int deliver_seldom(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                          struct rfn_quanta *quanta)
{
    const struct rfn_cuts *cuts = cursor->walk.cuts;
    struct rfn_record *record = &state->record;
    struct rfn_recreated event;
    if (cuts) {
        rfn_structure_walk_place(
            &cursor->walk, cuts->marked ? rfn_symbol_mark(&cursor->archive->dictionary,
                                                          cursor->parts.structure, record->symbol)
                                        : RFN_MARK_NONE);
        record->begins = cuts->place.begins;
        record->context = cuts->place.context;
    }
    if (!cursor->representatives)
        return 0;
    if (rfn_representatives_next(cursor->representatives, &event) < 0)
        return rfn_cursor_segment_failed(cursor);
    quanta->gap = (int64_t)(event.enter - cursor->clock.last_exit);
    quanta->duration = (int64_t)(event.exit - event.enter);
    state->inside = event.inside;
    record->polls = (uint64_t)event.polls;
    record->volume_gap = event.volume_gap;
    record->volume_inside = event.volume_inside;
    return 0;
}

static int deliver(struct rfn_cursor *cursor, uint32_t symbol, const struct rfn_record **record)
{
    if (cursor->walk.index >= cursor->events)
        return fail(cursor, RFN_E_CORRUPT, &cursor->parts.values->payload,
                    "there are more events than the stream has");
    if (!cursor->symbols[symbol])
        RFN_TRY(open_symbol(cursor, symbol));
    struct rfn_symbol_state *state = cursor->symbols[symbol];
    if (__builtin_expect(!state->ready.n, 0))
        RFN_TRY(make_ready(cursor, state));
    struct rfn_quanta quanta = rfn_ready_at(&state->ready, --state->ready.n);
    if (__builtin_expect(cursor->seldom, 0))
        RFN_TRY(deliver_seldom(cursor, state, &quanta));
    prefetch(cursor);
    if (state->ready.others)
        RFN_TRY(read_sources(cursor, state));
    if ((int64_t)state->record.polls < 1)
        return fail(cursor, RFN_E_CORRUPT, &cursor->timing.payload, "a run of no polls");
    if (cursor->times)
        RFN_TRY(fill_times(cursor, state, quanta));
    state->record.index = cursor->walk.index++;
    *record = &state->record;
    return 1;
}

static int next(struct rfn_cursor *cursor, const struct rfn_record **record)
{
    uint32_t symbol;
    const struct rfn_payload *values = &cursor->parts.values->payload;
    int more = rfn_structure_walk_next(&cursor->walk, &symbol);
    if (__builtin_expect(more > 0, 1))
        return deliver(cursor, symbol, record);
    if (more < 0)
        return rfn_cursor_fault_in(cursor, values, cursor->walk.fault);
    if (cursor->walk.index == cursor->events)
        return 0;
    return fail(cursor, RFN_E_CORRUPT, values, "there are fewer events than the stream has");
}

/* What a seek has found, unless the cursor has failed. */
static int resume(struct rfn_cursor *cursor, const struct rfn_record **record,
                  struct rfn_diag *diag)
{
    if (cursor->stop.error)
        return rfn_cursor_report(cursor, diag);
    *record = cursor->stop.held;
    cursor->stop.stopped = false;
    return 1;
}

int rfn_cursor_next(struct rfn_cursor *cursor, const struct rfn_record **record,
                    struct rfn_diag *diag)
{
    cursor->batches.batch.n = 0;
    if (__builtin_expect(cursor->stop.stopped, 0))
        return resume(cursor, record, diag);
    int result = next(cursor, record);
    return result < 0 ? rfn_cursor_report(cursor, diag) : result;
}

/* ---- opening ---- */

int rfn_cursor_begin_representatives(struct rfn_cursor *cursor)
{
    const struct rfn_representatives_of what = {&cursor->archive->dictionary,
                                                cursor->parts.structure, cursor->parts.values,
                                                &cursor->timing, &cursor->reduced};
    int error = rfn_representatives_open(&what, &cursor->representatives);
    cursor->seldom = true;
    if (error < 0 && !cursor->representatives)
        return rfn_cursor_no_memory(cursor);
    return error < 0 ? rfn_cursor_segment_failed(cursor) : 0;
}

/* Times are of TIMING, or of the segments of a PROFILE, or there are none. */
static int load_times(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    int error = rfn_times_load(cursor->archive, cursor->stream, cursor->parts.structure,
                               &cursor->timing, &cursor->reduced, diag);
    if (error < 0)
        return error == RFN_E_NOTFOUND ? 0 : error;
    cursor->has_timing = !cursor->reduced.columns;
    cursor->times = cursor->timing.times;
    cursor->clock.last_exit = cursor->marks.quanta = cursor->timing.clock.start;
    cursor->marks.at = cursor->timing.marks;
    if (!cursor->has_timing && rfn_cursor_begin_representatives(cursor) < 0)
        return rfn_cursor_report(cursor, diag);
    return 0;
}

/* How quanta become times of the run; and when the last event ends, if STREAMS says it. Segments of
 * a PROFILE have their own ends. */
static int use_clock(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = cursor->archive;
    const struct rfn_clock *clock = &cursor->timing.clock;
    uint32_t of = rfn_stream_times(archive, cursor->stream); /* whose clock it is */
    uint32_t host = (uint32_t)rfn_stream_word(archive, RFN_WORD_HOST, of);
    uint64_t start = (uint64_t)rfn_stream_word(archive, RFN_WORD_START, of),
             realtime = (uint64_t)rfn_stream_word(archive, RFN_WORD_REALTIME, of),
             end = (uint64_t)rfn_stream_word(archive, RFN_WORD_END, cursor->stream);
    struct rfn_clock_place place = {0}, end_place = {0};
    if (!cursor->times || clock->of_the_run)
        return 0;
    if (rfn_clock_ns(clock, &place, clock->start) != start || clock->realtime_offset != realtime)
        return rfn_payload_fault(&cursor->timing.payload, "its clock starts not as STREAMS says",
                                 diag);
    cursor->clock.add_ns = rfn_archive_origin(archive, host);
    cursor->clock.correction = rfn_host_clock(&archive->clocks, host);
    if (!end || cursor->representatives || !cursor->events)
        return 0;
    if (cursor->clock.correction)
        end = rfn_clock_ns(cursor->clock.correction, &end_place, end);
    cursor->clock.last = cursor->events - 1;
    cursor->clock.end_ns = (int64_t)(end + cursor->clock.add_ns);
    return 0;
}

static int make_tables(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_structure *structure = cursor->parts.structure;
    uint32_t place = rfn_stream_place(cursor->archive, cursor->stream);
    cursor->comms = malloc((structure->n_comms + (size_t)1) * sizeof *cursor->comms);
    cursor->symbols = calloc(structure->n_symbols + (size_t)1, sizeof(struct rfn_symbol_state *));
    cursor->batches.plans = calloc(structure->n_loops + (size_t)1, sizeof *cursor->batches.plans);
    if (!cursor->comms || !cursor->symbols || !cursor->batches.plans ||
        rfn_structure_walk_open(&cursor->walk, structure, cursor->parts.values) < 0)
        return rfn_archive_no_memory(cursor->archive, diag);
    for (uint32_t i = 0; i < structure->n_comms; i++)
        cursor->comms[i] = rfn_rank_param(cursor->parts.rank_params, structure->n_rank_params + i,
                                          place, 0);
    return 0;
}

int rfn_cursor_open(const struct rfn_archive *archive, uint32_t stream, struct rfn_cursor **cursor,
                    struct rfn_diag *diag)
{
    struct rfn_cursor *opened = calloc(1, sizeof *opened);
    if (!opened)
        return rfn_archive_no_memory(archive, diag);
    opened->archive = archive;
    opened->stream = stream;
    opened->rank = (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, stream);
    opened->events = (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream);
    opened->clock.last = UINT64_MAX;
    opened->marks.mask = archive->mark_events - 1;
    int error = rfn_stream_parts_use(archive, stream, &opened->parts, diag);
    if (!error)
        error = load_times(opened, diag);
    if (!error)
        error = use_clock(opened, diag);
    if (!error)
        error = make_tables(opened, diag);
    if (error < 0) {
        rfn_cursor_close(opened);
        return error;
    }
    *cursor = opened;
    return 0;
}

/* ---- segments ---- */

int rfn_cursor_cut_segments(struct rfn_cursor *cursor, uint32_t min_calls, struct rfn_diag *diag)
{
    if (rfn_structure_walk_cut(&cursor->walk, &cursor->archive->dictionary, min_calls) < 0)
        return rfn_archive_no_memory(cursor->archive, diag);
    cursor->seldom = true;
    return 0;
}

uint32_t rfn_cursor_contexts(const struct rfn_cursor *cursor)
{
    return cursor->walk.cuts->n_contexts;
}

uint32_t rfn_cursor_top_contexts(const struct rfn_cursor *cursor)
{
    return cursor->walk.cuts->n_top;
}

struct rfn_segment_place rfn_cursor_place(const struct rfn_cursor *cursor)
{
    return cursor->walk.cuts->place;
}

int rfn_cursor_show_calls(const struct rfn_cursor *cursor,
                          int (*show)(void *context, const struct rfn_context_call *call),
                          void *context)
{
    return rfn_structure_walk_show_calls(&cursor->walk, show, context);
}

/* ---- closing ---- */

void rfn_cursor_close_columns(struct rfn_cursor *cursor)
{
    for (uint32_t i = 0; cursor->symbols && i < cursor->parts.structure->n_symbols; i++) {
        struct rfn_symbol_state *state = cursor->symbols[i];
        if (!state)
            continue;
        if (state->gaps.open)
            rfn_column_close(&state->gaps.column);
        if (state->durations.open)
            rfn_column_close(&state->durations.column);
        for (unsigned k = 0; k < state->n_sources; k++)
            rfn_column_close(&state->sources[k].column);
        free(state);
        cursor->symbols[i] = NULL;
    }
}

void rfn_cursor_close(struct rfn_cursor *cursor)
{
    if (!cursor)
        return;
    rfn_cursor_close_columns(cursor);
    rfn_cursor_forget_plans(cursor);
    free(cursor->batches.plans);
    free(cursor->batches.times);
    rfn_list_reader_free(cursor->lists);
    rfn_structure_walk_close(&cursor->walk);
    free(cursor->symbols);
    free(cursor->passed);
    free(cursor->comms);
    free(cursor->open_words);
    rfn_representatives_close(cursor->representatives);
    rfn_reduced_timing_release(&cursor->reduced);
    rfn_timing_release(&cursor->timing);
    rfn_stream_parts_done(cursor->archive, &cursor->parts);
    free(cursor);
}

/* ---- lists ---- */

static void list_failed(struct rfn_cursor *cursor, int error)
{
    const struct rfn_payload *payload = &cursor->parts.values->payload;
    if (cursor->stop.error)
        return;
    if (error == RFN_E_NOMEM || error == RFN_E_IO || error == RFN_E_INCOMPLETE)
        fail(cursor, error, payload, rfn_read_fault(error));
    else
        fail(cursor, RFN_E_CORRUPT, payload, "the words of lists are malformed");
}

static const struct rfn_list_copy *read_list(struct rfn_cursor *cursor, uint64_t key)
{
    const struct rfn_archive *archive = cursor->archive;
    const struct rfn_values *values = cursor->parts.values;
    struct rfn_list_copy *copy = NULL;
    bool made = false;
    if (!cursor->lists)
        cursor->lists = rfn_list_reader_new(&values->lists, &values->payload,
                                            archive->list_bytes / archive->n_streams);
    int error = cursor->lists
                    ? rfn_list_reader_find(cursor->lists, key, index_of(cursor), &copy, &made)
                    : RFN_E_NOMEM;
    if (error < 0) {
        list_failed(cursor, error);
        return NULL;
    }
    const enum list_form form = (enum list_form)(key % RFN_LIST_FORMS);
    uint8_t kind = form == FORM_TYPES ? RFN_KIND_TYPE : RFN_KIND_COMM;
    for (uint32_t i = 0; made && form != FORM_PLAIN && i < copy->n; i++) {
        if (!rfn_cursor_translate(cursor, kind, &copy->words[i]))
            copy->words[i] = RFN_UNKNOWN; /* there is no such number */
    }
    return copy;
}

const int64_t *rfn_cursor_list(const struct rfn_cursor *cursor, int64_t number, size_t *n,
                               uint8_t kind)
{
    uint8_t of = kind & (uint8_t)~RFN_KIND_LIST;
    *n = 0;
    if (number < 1 || (uint64_t)number > cursor->parts.values->lists.n)
        return NULL;
    uint64_t key = (uint64_t)number * RFN_LIST_FORMS;
    if (of == RFN_KIND_TYPE || of == RFN_KIND_COMM)
        key += of == RFN_KIND_TYPE ? FORM_TYPES : FORM_COMMS;
    const struct rfn_list_copy *copy = NULL;
    if (cursor->lists)
        copy = rfn_list_reader_known(cursor->lists, key, index_of(cursor));
    /* What a cursor keeps of lists, and that it could not read one, is no part of what it has said
     * so far. */
    if (__builtin_expect(!copy, 0))
        copy = read_list((struct rfn_cursor *)(uintptr_t)cursor, key);
    if (!copy)
        return NULL;
    *n = copy->n;
    return copy->words;
}

int rfn_cursor_decode_ahead(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    struct rfn_representatives *representatives = cursor->representatives;
    if (!cursor->stop.error && representatives &&
        rfn_representatives_decode_ahead(representatives) < 0)
        rfn_cursor_segment_failed(cursor);
    return rfn_cursor_report(cursor, diag);
}

bool rfn_cursor_clock_ns(struct rfn_cursor *cursor, uint64_t quanta, int64_t *ns)
{
    const struct rfn_clock *clock = &cursor->timing.clock;
    if (!cursor->times || rfn_stream_times(cursor->archive, cursor->stream) != cursor->stream)
        return false;
    *ns = (int64_t)(rfn_cursor_ns(cursor, clock->start + quanta) + cursor->clock.add_ns);
    return true;
}

int64_t rfn_cursor_off_ns(const struct rfn_cursor *cursor)
{
    const struct rfn_representatives *of = cursor->representatives;
    return of ? (int64_t)rfn_representatives_off(of) : 0;
}

/* ---- for verification ---- */

bool rfn_cursor_counts_calls(const struct rfn_cursor *cursor)
{
    return !cursor->representatives || cursor->parts.structure->n_polls == 0;
}

uint64_t rfn_cursor_lists(const struct rfn_cursor *cursor)
{
    return cursor->parts.values->lists.n;
}

bool rfn_cursor_list_types_exist(const struct rfn_cursor *cursor, uint64_t number)
{
    size_t n;
    const int64_t *words = rfn_cursor_list(cursor, (int64_t)number, &n, RFN_KIND_COUNT);
    for (size_t i = 0; i < n; i++) {
        int64_t word = words[i];
        if (!rfn_cursor_translate(cursor, RFN_KIND_TYPE, &word))
            return false;
    }
    return true;
}

int rfn_cursor_check_lists(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_values *values = cursor->parts.values;
    int error = rfn_value_lists_check(&values->lists, &values->payload);
    if (error < 0)
        list_failed(cursor, error);
    return rfn_cursor_report(cursor, diag);
}

/* All columns of a symbol are at their ends; those that no event has opened are empty. */
static int finish_symbol(struct rfn_cursor *cursor, uint32_t symbol)
{
    const struct rfn_symbol_info *info = &cursor->parts.structure->symbols[symbol];
    struct rfn_symbol_state *state = cursor->symbols[symbol];
    const char *fault = NULL;
    if (!state) {
        struct wanted wanted[WANTED_MAX];
        int64_t words[2 * RFN_PARAMS_MAX];
        struct rfn_symbol_state nowhere = {.in = words, .out = words};
        unsigned n = want_columns(
            cursor, info, &cursor->archive->dictionary.functions[info->function], &nowhere, wanted);
        for (unsigned i = 0; i < n; i++) {
            fault = rfn_column_not_empty(wanted[i].payload, wanted[i].at);
            if (fault)
                return rfn_cursor_fault_in(cursor, wanted[i].payload, fault);
        }
        return 0;
    }
    if (state->counted && (state->ready.n || (!state->gaps.open && state->gaps.left)))
        return fail(cursor, RFN_E_CORRUPT, &cursor->parts.values->payload,
                    "a column is longer than the structure says");
    if (state->gaps.open)
        fault = rfn_column_left_over(&state->gaps.column);
    if (!fault && state->durations.open)
        fault = rfn_column_left_over(&state->durations.column);
    const struct rfn_payload *payload = &cursor->timing.payload;
    for (unsigned i = 0; i < state->n_sources && !fault; i++) {
        payload = payload_of(cursor, &state->sources[i]);
        fault = rfn_column_left_over(&state->sources[i].column);
    }
    return fault ? rfn_cursor_fault_in(cursor, payload, fault) : 0;
}

static int finish(struct rfn_cursor *cursor)
{
    for (uint32_t i = 0; i < cursor->parts.structure->n_symbols; i++)
        RFN_TRY(finish_symbol(cursor, i));
    if (rfn_structure_walk_finish(&cursor->walk) < 0)
        return rfn_cursor_fault_in(cursor, &cursor->parts.values->payload, cursor->walk.fault);
    if (cursor->representatives && rfn_representatives_finish(cursor->representatives) < 0)
        return rfn_cursor_segment_failed(cursor);
    if (cursor->times && cursor->marks.n != cursor->timing.n_marks)
        return fail(cursor, RFN_E_CORRUPT, &cursor->timing.payload,
                    "there are too many time marks");
    return 0;
}

int rfn_cursor_finish(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    if (!cursor->stop.error)
        finish(cursor);
    return rfn_cursor_report(cursor, diag);
}
