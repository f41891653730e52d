/* A cursor walks over the structure of its stream (walk.h) and takes from columns what that leaves
 * open: what all occurrences of a symbol share is filled in once per symbol; then, per event, one
 * value of each column that varies, and the times.
 *
 * All columns of a symbol have one value per occurrence, so they have equal lengths. A column that
 * is one value over its whole length (most are) is read once and then costs nothing. Of each of the
 * others a block of decoded values is in memory, of at most RFN_COLUMN_BLOCK, in 1 to 8 bytes each.
 * Reduced times have other columns, and come from representatives.h.
 *
 * Where in a loop nothing but times varies, iterations may come in batches (cursor_batch.c).
 *
 * Against damaged files: events beyond the number in STREAMS are an error. */
#include "archive/cursor_state.h"
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
    const struct rfn_batch *batch = &cursor->batch;
    return batch->n ? batch->first + batch->taken : cursor->walk.index;
}

static int fail(struct rfn_cursor *cursor, int error, const struct rfn_payload *payload,
                const char *what)
{
    cursor->error = error;
    cursor->stopped = cursor->batch.failed = true;
    rfn_fail(&cursor->diag, error, (int64_t)payload->offset, (int)cursor->rank,
             "%s: stream %" PRIu32 " of rank %" PRIu32 ", event %" PRIu64
             ", in the chunk at offset %" PRIu64 ": %s",
             cursor->archive->chunks.path, cursor->stream, cursor->rank, index_of(cursor),
             payload->offset, what);
    return error;
}

int rfn_cursor_no_memory(struct rfn_cursor *cursor)
{
    return fail(cursor, RFN_E_NOMEM, &cursor->values->payload, rfn_out_of_memory);
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
        *diag = cursor->diag;
    return cursor->error;
}

/* ---- words ---- */

static bool translate(const struct rfn_cursor *cursor, uint8_t kind, int64_t *word)
{
    if (kind == RFN_KIND_TYPE)
        return rfn_structure_type(cursor->structure, word);
    if (kind == RFN_KIND_REGION)
        return rfn_dictionary_region(&cursor->archive->dictionary, word);
    if (kind != RFN_KIND_COMM || *word < 0)
        return true;
    if (*word >= cursor->structure->n_comms)
        return false;
    *word = cursor->comms[*word];
    return true;
}

static int translate_or_fail(struct rfn_cursor *cursor, uint8_t kind, int64_t *word)
{
    if (translate(cursor, kind, word))
        return 0;
    return fail(cursor, RFN_E_CORRUPT, &cursor->values->payload,
                "a datatype, communicator or region that does not exist");
}

/* What rank inputs of a symbol are relative to: the own rank in the communicator of the call. */
static int64_t own_rank(const struct rfn_cursor *cursor, const struct rfn_symbol_info *symbol,
                        const struct rfn_function_info *function)
{
    for (unsigned i = function->n_in; i-- > 0;) {
        if (function->params[i].kind != RFN_KIND_COMM)
            continue;
        int64_t comm = symbol->in[i];
        if ((symbol->moved >> i & 1) || comm < 0 || cursor->comms[comm] < 0)
            return cursor->rank;
        int64_t rank = rfn_comm_rank_of(cursor->archive, (uint32_t)cursor->comms[comm],
                                        cursor->rank);
        return rank < 0 ? cursor->rank : rank;
    }
    return cursor->rank;
}

static void fill_inputs(const struct rfn_cursor *cursor, const struct rfn_symbol_info *symbol,
                        const struct rfn_function_info *function, int64_t *in)
{
    const struct rfn_member_table *places = &cursor->parts.places->u.places;
    int64_t reference = own_rank(cursor, symbol, function);
    size_t place = symbol->place;
    for (unsigned i = 0; i < function->n_in; i++) {
        uint8_t kind = function->params[i].kind;
        if (symbol->moved >> i & 1)
            continue;
        if (rfn_symbol_in_places(symbol, function, i))
            in[i] = rfn_member_word(places, place++, cursor->place,
                                    kind == RFN_KIND_RANK ? reference : cursor->rank);
        else
            in[i] = kind == RFN_KIND_COMM && symbol->in[i] >= 0 ? cursor->comms[symbol->in[i]]
                                                                : symbol->in[i];
    }
}

/* ---- a symbol's first occurrence ---- */

/* At most how many columns a symbol has. */
static unsigned count_columns(const struct rfn_symbol_info *symbol,
                              const struct rfn_function_info *function)
{
    return (unsigned)__builtin_popcount(symbol->moved) + function->n_out + TIMING_COLUMNS_MAX;
}

/* Lists the columns of a symbol. */
static unsigned want_columns(const struct rfn_cursor *cursor, const struct rfn_symbol_info *symbol,
                             const struct rfn_function_info *function,
                             struct rfn_symbol_state *state, struct wanted *wanted)
{
    unsigned n = 0;
    const struct rfn_payload *values = &cursor->values->payload;
    const size_t *at = cursor->values->columns + symbol->value;
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
        size_t number = (size_t)(symbol - cursor->structure->symbols);
        at = cursor->timing.columns + cursor->timing.n_times + 2 * number;
        wanted[n++] = (struct wanted){timing, at++, &state->record.volume_gap, 0, NULL};
        wanted[n++] = (struct wanted){timing, at++, &state->record.volume_inside, 0, NULL};
    }
    return n;
}

static int open_column(struct rfn_column_cursor *column, const struct wanted *wanted)
{
    return rfn_payload_column(wanted->payload, wanted->at[0], wanted->at[1], column);
}

/* What a source's column lies in. */
static const struct rfn_payload *payload_of(const struct rfn_cursor *cursor,
                                            const struct rfn_symbol_source *source)
{
    return source->of_timing ? &cursor->timing.payload : &cursor->values->payload;
}

static uint64_t passed_of(const struct rfn_cursor *cursor, uint32_t symbol)
{
    return cursor->passed ? cursor->passed[symbol] : 0;
}

static bool is_translated(uint8_t kind)
{
    return kind == RFN_KIND_TYPE || kind == RFN_KIND_COMM || kind == RFN_KIND_REGION;
}

/* Decodes a block of a column that has been opened, the first that is to be read. Returns whether
 * it varies: if not, its value goes to the target for good. */
static int first_block(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                       const struct wanted *wanted, struct rfn_column_cursor *column)
{
    if (state->counted && state->n != column->n)
        return fail(cursor, RFN_E_CORRUPT, wanted->payload,
                    "columns of one symbol have different lengths");
    state->counted = true;
    state->n = column->n;
    uint64_t passed = passed_of(cursor, state->record.symbol);
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

static int add_source(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                      const struct wanted *wanted)
{
    struct rfn_symbol_source *source = &state->sources[state->n_sources];
    *source = (struct rfn_symbol_source){.of_timing = wanted->payload == &cursor->timing.payload,
                                         .target = wanted->target,
                                         .kind = wanted->kind,
                                         .translated = is_translated(wanted->kind)};
    int error = open_column(&source->column, wanted);
    if (error < 0)
        return column_failed(cursor, error, wanted->payload);
    state->n_sources++; /* from here on it is closed with the others */
    int varies = first_block(cursor, state, wanted, &source->column);
    if (varies)
        return varies < 0 ? varies : 0;
    rfn_column_close(&source->column);
    state->n_sources--;
    return 0;
}

static int add_supply(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                      const struct wanted *wanted)
{
    struct rfn_supply *supply = wanted->supply;
    int error = open_column(&supply->column, wanted);
    if (error < 0)
        return column_failed(cursor, error, wanted->payload);
    supply->open = true; /* from here on it is closed with the others */
    int varies = first_block(cursor, state, wanted, &supply->column);
    if (varies)
        return varies < 0 ? varies : 0;
    rfn_column_close(&supply->column);
    supply->open = false;
    return 0;
}

/* Opens the columns of a symbol. If that of gaps does not vary, or there is none, occurrences are
 * counted in its place. */
static int add_columns(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                       const struct wanted *wanted, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        RFN_TRY((wanted[i].supply ? add_supply : add_source)(cursor, state, &wanted[i]));
    state->ready.others = state->n_sources > 0;
    state->gaps.left = state->counted ? state->n - passed_of(cursor, state->record.symbol)
                                      : UINT64_MAX;
    state->durations.left = UINT64_MAX;
    return 0;
}

static void free_state(struct rfn_symbol_state *state)
{
    if (state && state->gaps.open)
        rfn_column_close(&state->gaps.column);
    if (state && state->durations.open)
        rfn_column_close(&state->durations.column);
    for (unsigned i = 0; state && i < state->n_sources; i++)
        rfn_column_close(&state->sources[i].column);
    free(state);
}

static struct rfn_symbol_state *new_state(const struct rfn_function_info *function,
                                          unsigned n_columns)
{
    size_t n_words = (size_t)function->n_in + function->n_out;
    struct rfn_symbol_state *state;
    size_t size = sizeof *state + n_columns * sizeof *state->sources + n_words * sizeof *state->in;
    size = (size + RFN_LINE - 1) / RFN_LINE * RFN_LINE;
    state = aligned_alloc(RFN_LINE, size);
    if (!state)
        return NULL;
    memset(state, 0, size);
    state->sources = (struct rfn_symbol_source *)(state + 1);
    state->in = (int64_t *)(state->sources + n_columns);
    state->out = state->in + function->n_in;
    return state;
}

static void fill_record(const struct rfn_symbol_info *info, uint32_t symbol,
                        struct rfn_symbol_state *state)
{
    state->record = (struct rfn_record){.polls = 1,
                                        .symbol = symbol,
                                        .function = info->function,
                                        .path = info->path,
                                        .error = info->error,
                                        .varying = info->moved,
                                        .in = state->in,
                                        .out = state->out,
                                        .failed_poll = info->failed_poll};
}

static int open_symbol(struct rfn_cursor *cursor, uint32_t symbol)
{
    struct wanted wanted[WANTED_MAX];
    const struct rfn_symbol_info *info = &cursor->structure->symbols[symbol];
    const struct rfn_function_info *function =
        &cursor->archive->dictionary.functions[info->function];
    struct rfn_symbol_state *state = new_state(function, count_columns(info, function));
    if (!state)
        return rfn_cursor_no_memory(cursor);
    cursor->symbols[symbol] = state;
    fill_record(info, symbol, state);
    fill_inputs(cursor, info, function, state->in);
    unsigned n = want_columns(cursor, info, function, state, wanted);
    return add_columns(cursor, state, wanted, n);
}

/* ---- events ---- */

/* An event that had not ended when its times were written. */
static void end_later(const struct rfn_cursor *cursor, struct rfn_record *record)
{
    if (cursor->end_ns <= record->exit_ns)
        return;
    if (!record->failed_poll)
        record->inside_ns = (int64_t)((uint64_t)cursor->end_ns - (uint64_t)record->enter_ns);
    record->exit_ns = cursor->end_ns;
}

static int fill_times(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                      struct rfn_quanta quanta)
{
    struct rfn_record *record = &state->record;
    uint64_t enter = cursor->last_exit + (uint64_t)quanta.gap;
    if (__builtin_expect(!(cursor->walk.index & cursor->mark_mask) && cursor->walk.index, 0))
        RFN_TRY(rfn_cursor_check_mark(cursor, &enter));
    uint64_t exit = enter + (uint64_t)quanta.duration;
    uint64_t from = rfn_cursor_ns(cursor, enter), to = rfn_cursor_ns(cursor, exit);
    record->enter_ns = (int64_t)(from + cursor->add_ns);
    record->exit_ns = (int64_t)(to + cursor->add_ns);
    record->inside_ns = (int64_t)(to - from);
    if (__builtin_expect(record->failed_poll, 0)) {
        to = rfn_cursor_ns(cursor, enter + (uint64_t)state->inside);
        record->inside_ns = (int64_t)(to - from);
    }
    if (__builtin_expect(cursor->walk.index == cursor->last, 0))
        end_later(cursor, record);
    cursor->last_exit = exit;
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
        return column_failed(cursor, error, &cursor->values->payload);
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

static inline int take_times(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                             struct rfn_quanta *quanta)
{
    struct rfn_ready *ready = &state->ready;
    if (__builtin_expect(!ready->n, 0))
        RFN_TRY(make_ready(cursor, state));
    uint32_t at = --ready->n;
    if (__builtin_expect(ready->wide, 0))
        *quanta = ready->wides[at];
    else
        *quanta = (struct rfn_quanta){ready->narrow[at].gap, ready->narrow[at].duration};
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
    const struct rfn_walk_frame *frame = &cursor->walk.frames[cursor->walk.depth - 1];
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

/* What else comes from columns of TIMING. */
static int read_representative(struct rfn_cursor *cursor, struct rfn_symbol_state *state,
                               struct rfn_quanta *quanta)
{
    struct rfn_recreated event;
    if (rfn_representatives_next(cursor->representatives, &event) < 0)
        return rfn_cursor_segment_failed(cursor);
    *quanta = (struct rfn_quanta){.gap = (int64_t)(event.enter - cursor->last_exit),
                                  .duration = (int64_t)(event.exit - event.enter)};
    state->inside = event.inside;
    state->record.polls = (uint64_t)event.polls;
    state->record.volume_gap = event.volume_gap;
    state->record.volume_inside = event.volume_inside;
    return 0;
}

/* What most cursors do not do. */
static int deliver_seldom(struct rfn_cursor *cursor, uint32_t symbol,
                          struct rfn_symbol_state *state, struct rfn_quanta *quanta)
{
    const struct rfn_cuts *cuts = cursor->walk.cuts;
    if (cuts) {
        rfn_walk_place(&cursor->walk, cuts->marked ? rfn_symbol_mark(&cursor->archive->dictionary,
                                                                     cursor->structure, symbol)
                                                   : RFN_MARK_NONE);
        state->record.begins = cuts->place.begins;
        state->record.context = cuts->place.context;
    }
    return cursor->representatives ? read_representative(cursor, state, quanta) : 0;
}

static int deliver(struct rfn_cursor *cursor, uint32_t symbol, const struct rfn_record **record)
{
    if (cursor->walk.index >= cursor->events)
        return fail(cursor, RFN_E_CORRUPT, &cursor->values->payload,
                    "there are more events than the stream has");
    if (!cursor->symbols[symbol])
        RFN_TRY(open_symbol(cursor, symbol));
    struct rfn_symbol_state *state = cursor->symbols[symbol];
    struct rfn_quanta quanta;
    RFN_TRY(take_times(cursor, state, &quanta));
    if (__builtin_expect(cursor->seldom, 0))
        RFN_TRY(deliver_seldom(cursor, symbol, state, &quanta));
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

static int at_end(struct rfn_cursor *cursor)
{
    if (cursor->walk.index == cursor->events)
        return 0;
    return fail(cursor, RFN_E_CORRUPT, &cursor->values->payload,
                "there are fewer events than the stream has");
}

static int next(struct rfn_cursor *cursor, const struct rfn_record **record)
{
    uint32_t symbol;
    int more = rfn_walk_next(&cursor->walk, &symbol);
    if (__builtin_expect(more > 0, 1))
        return deliver(cursor, symbol, record);
    if (more == 0)
        return at_end(cursor);
    return rfn_cursor_fault_in(cursor, &cursor->values->payload, cursor->walk.fault);
}

/* What a seek has found, unless the cursor has failed. */
static int resume(struct rfn_cursor *cursor, const struct rfn_record **record,
                  struct rfn_diag *diag)
{
    if (cursor->error)
        return rfn_cursor_report(cursor, diag);
    *record = cursor->held;
    cursor->stopped = false;
    return 1;
}

int rfn_cursor_next(struct rfn_cursor *cursor, const struct rfn_record **record,
                    struct rfn_diag *diag)
{
    cursor->batch.n = 0;
    if (__builtin_expect(cursor->stopped, 0))
        return resume(cursor, record, diag);
    int result = next(cursor, record);
    return result < 0 ? rfn_cursor_report(cursor, diag) : result;
}

/* ---- opening ---- */

static int use_parts(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    RFN_TRY(rfn_stream_parts_use(cursor->archive, cursor->stream, &cursor->parts, diag));
    cursor->structure = &cursor->parts.structure->u.structure;
    cursor->values = &cursor->parts.values->u.values;
    return 0;
}

/* Times are of TIMING, or of the segments of a PROFILE. RFN_E_NOTFOUND: there are none. */
static int load_times(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    int error = rfn_reduced_timing_load(cursor->archive, cursor->stream, cursor->structure,
                                        &cursor->timing, &cursor->reduced, diag);
    if (error != RFN_E_NOTFOUND)
        return error;
    RFN_TRY(
        rfn_timing_load(cursor->archive, cursor->stream, cursor->structure, &cursor->timing, diag));
    cursor->has_timing = true;
    return 0;
}

int rfn_cursor_begin_representatives(struct rfn_cursor *cursor)
{
    const struct rfn_representatives_of what = {&cursor->archive->dictionary, cursor->structure,
                                                cursor->values, &cursor->timing, &cursor->reduced};
    int error = rfn_representatives_open(&what, &cursor->representatives);
    cursor->seldom = true;
    if (error < 0 && !cursor->representatives)
        return rfn_cursor_no_memory(cursor);
    return error < 0 ? rfn_cursor_segment_failed(cursor) : 0;
}

/* What STREAMS says of the end; segments of a PROFILE have their own. */
static void use_end(struct rfn_cursor *cursor)
{
    struct rfn_clock_place place = {0};
    uint64_t ns = (uint64_t)rfn_stream_word(cursor->archive, RFN_WORD_END, cursor->stream);
    if (!ns || cursor->representatives || !cursor->events)
        return;
    if (cursor->correction)
        ns = rfn_clock_ns(cursor->correction, &place, ns);
    cursor->last = cursor->events - 1;
    cursor->end_ns = (int64_t)(ns + cursor->add_ns);
}

static int use_timing(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_archive *archive = cursor->archive;
    int error = load_times(cursor, diag);
    if (error == RFN_E_NOTFOUND)
        return 0;
    RFN_TRY(error);
    cursor->times = cursor->timing.times;
    cursor->marks.at = cursor->timing.marks;
    cursor->marks.quanta = cursor->timing.clock.start;
    if (!cursor->has_timing && rfn_cursor_begin_representatives(cursor) < 0)
        return rfn_cursor_report(cursor, diag);
    const struct rfn_clock *clock = &cursor->timing.clock;
    if (cursor->times)
        cursor->last_exit = clock->start;
    if (!cursor->times || clock->of_the_run)
        return 0;
    struct rfn_clock_place place = {0};
    uint32_t of = rfn_stream_times(archive, cursor->stream); /* whose clock it is */
    if (rfn_clock_ns(clock, &place, clock->start) !=
            (uint64_t)rfn_stream_word(archive, RFN_WORD_START, of) ||
        clock->realtime_offset != (uint64_t)rfn_stream_word(archive, RFN_WORD_REALTIME, of))
        return rfn_payload_fault(&cursor->timing.payload, "its clock starts not as STREAMS says",
                                 diag);
    uint32_t host = (uint32_t)rfn_stream_word(archive, RFN_WORD_HOST, of);
    cursor->add_ns = rfn_archive_origin(archive, host);
    cursor->correction = rfn_host_clock(&archive->clocks, host);
    use_end(cursor);
    return 0;
}

static int make_tables(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_structure *structure = cursor->structure;
    cursor->comms = malloc((structure->n_comms + (size_t)1) * sizeof *cursor->comms);
    cursor->symbols = calloc(structure->n_symbols + (size_t)1, sizeof(struct rfn_symbol_state *));
    cursor->plans = calloc(structure->n_loops + (size_t)1, sizeof *cursor->plans);
    if (!cursor->comms || !cursor->symbols || !cursor->plans ||
        rfn_walk_open(&cursor->walk, structure, cursor->values) < 0)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory",
                        cursor->archive->chunks.path);
    for (uint32_t i = 0; i < structure->n_comms; i++)
        cursor->comms[i] = rfn_member_word(&cursor->parts.places->u.places, structure->n_places + i,
                                           cursor->place, 0);
    return 0;
}

int rfn_cursor_open(const struct rfn_archive *archive, uint32_t stream, struct rfn_cursor **cursor,
                    struct rfn_diag *diag)
{
    struct rfn_cursor *opened = calloc(1, sizeof *opened);
    if (!opened)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory", archive->chunks.path);
    opened->archive = archive;
    opened->stream = stream;
    opened->rank = (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, stream);
    opened->events = (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream);
    opened->last = UINT64_MAX;
    opened->mark_mask = archive->mark_events - 1;
    opened->place = rfn_stream_place(archive, stream);
    int error = use_parts(opened, diag);
    if (!error)
        error = use_timing(opened, diag);
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
    if (rfn_walk_cut(&cursor->walk, &cursor->archive->dictionary, min_calls) < 0)
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory",
                        cursor->archive->chunks.path);
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
    return rfn_walk_show_calls(&cursor->walk, show, context);
}

/* ---- closing ---- */

void rfn_cursor_close_columns(struct rfn_cursor *cursor)
{
    for (uint32_t i = 0; cursor->symbols && i < cursor->structure->n_symbols; i++) {
        free_state(cursor->symbols[i]);
        cursor->symbols[i] = NULL;
    }
}

void rfn_cursor_close(struct rfn_cursor *cursor)
{
    if (!cursor)
        return;
    rfn_cursor_close_columns(cursor);
    rfn_cursor_forget_plans(cursor);
    free(cursor->plans);
    free(cursor->batch_times);
    rfn_list_reader_free(cursor->lists);
    rfn_walk_close(&cursor->walk);
    free(cursor->symbols);
    free(cursor->passed);
    free(cursor->comms);
    rfn_representatives_close(cursor->representatives);
    rfn_reduced_timing_release(&cursor->reduced);
    rfn_timing_release(&cursor->timing);
    rfn_stream_parts_done(cursor->archive, &cursor->parts);
    free(cursor);
}

/* ---- lists ---- */

/* Lists are read when they are asked for. What a cursor keeps of them, and that it could not read
 * one, is no part of what it has said so far. */
static struct rfn_cursor *changeable(const struct rfn_cursor *cursor)
{
    return (struct rfn_cursor *)(uintptr_t)cursor;
}

static void list_failed(struct rfn_cursor *cursor, int error)
{
    const struct rfn_payload *payload = &cursor->values->payload;
    if (cursor->error)
        return;
    if (error == RFN_E_NOMEM || error == RFN_E_IO || error == RFN_E_INCOMPLETE)
        fail(cursor, error, payload, rfn_read_fault(error));
    else
        fail(cursor, RFN_E_CORRUPT, payload, "the words of lists are malformed");
}

/* Archive numbers for the stream's; for one that does not exist RFN_UNKNOWN. */
static void translate_list(const struct rfn_cursor *cursor, enum list_form form,
                           struct rfn_list_copy *copy)
{
    uint8_t kind = form == FORM_TYPES ? RFN_KIND_TYPE : RFN_KIND_COMM;
    for (uint32_t i = 0; i < copy->n; i++) {
        if (!translate(cursor, kind, &copy->words[i]))
            copy->words[i] = RFN_UNKNOWN;
    }
}

static const struct rfn_list_copy *read_list(struct rfn_cursor *cursor, uint64_t key)
{
    const struct rfn_archive *archive = cursor->archive;
    const struct rfn_values *values = cursor->values;
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
    if (made && key % RFN_LIST_FORMS != FORM_PLAIN)
        translate_list(cursor, (enum list_form)(key % RFN_LIST_FORMS), copy);
    return copy;
}

const int64_t *rfn_cursor_list(const struct rfn_cursor *cursor, int64_t number, size_t *n,
                               uint8_t kind)
{
    uint8_t of = kind & (uint8_t)~RFN_KIND_LIST;
    *n = 0;
    if (number < 1 || (uint64_t)number > cursor->values->lists.n)
        return NULL;
    uint64_t key = (uint64_t)number * RFN_LIST_FORMS;
    if (of == RFN_KIND_TYPE || of == RFN_KIND_COMM)
        key += of == RFN_KIND_TYPE ? FORM_TYPES : FORM_COMMS;
    const struct rfn_list_copy *copy = NULL;
    if (cursor->lists)
        copy = rfn_list_reader_known(cursor->lists, key, index_of(cursor));
    if (__builtin_expect(!copy, 0) && !(copy = read_list(changeable(cursor), key)))
        return NULL;
    *n = copy->n;
    return copy->words;
}

int rfn_cursor_decode_ahead(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    struct rfn_representatives *representatives = cursor->representatives;
    if (!cursor->error && representatives && rfn_representatives_decode_ahead(representatives) < 0)
        rfn_cursor_segment_failed(cursor);
    return rfn_cursor_report(cursor, diag);
}

int64_t rfn_cursor_off_ns(const struct rfn_cursor *cursor)
{
    const struct rfn_representatives *of = cursor->representatives;
    return of ? (int64_t)rfn_representatives_off(of) : 0;
}

/* ---- for verification ---- */

bool rfn_cursor_counts_calls(const struct rfn_cursor *cursor)
{
    return !cursor->representatives || cursor->structure->n_polls == 0;
}

uint64_t rfn_cursor_lists(const struct rfn_cursor *cursor)
{
    return cursor->values->lists.n;
}

bool rfn_cursor_list_types_exist(const struct rfn_cursor *cursor, uint64_t number)
{
    size_t n;
    const int64_t *words = rfn_cursor_list(cursor, (int64_t)number, &n, RFN_KIND_COUNT);
    for (size_t i = 0; i < n; i++) {
        int64_t word = words[i];
        if (!translate(cursor, RFN_KIND_TYPE, &word))
            return false;
    }
    return true;
}

int rfn_cursor_check_lists(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_values *values = cursor->values;
    int error = rfn_value_lists_check(&values->lists, &values->payload);
    if (error < 0)
        list_failed(cursor, error);
    return rfn_cursor_report(cursor, diag);
}

static int expect_end(struct rfn_cursor *cursor, struct rfn_column_cursor *column,
                      const struct rfn_payload *payload)
{
    const char *fault = rfn_column_left_over(column);
    return fault ? rfn_cursor_fault_in(cursor, payload, fault) : 0;
}

/* A column that no event has opened must be empty. */
static int expect_empty(struct rfn_cursor *cursor, const struct wanted *wanted)
{
    struct rfn_column_cursor column;
    int error = open_column(&column, wanted);
    if (error < 0)
        return column_failed(cursor, error, wanted->payload);
    error = expect_end(cursor, &column, wanted->payload);
    rfn_column_close(&column);
    return error;
}

static int finish_symbol(struct rfn_cursor *cursor, uint32_t symbol)
{
    const struct rfn_symbol_info *info = &cursor->structure->symbols[symbol];
    struct rfn_symbol_state *state = cursor->symbols[symbol];
    if (!state) {
        struct wanted wanted[WANTED_MAX];
        int64_t words[2 * RFN_PARAMS_MAX];
        struct rfn_symbol_state nowhere = {.in = words, .out = words};
        unsigned n = want_columns(
            cursor, info, &cursor->archive->dictionary.functions[info->function], &nowhere, wanted);
        for (unsigned i = 0; i < n; i++)
            RFN_TRY(expect_empty(cursor, &wanted[i]));
        return 0;
    }
    bool left = state->ready.n || (!state->gaps.open && state->gaps.left);
    if (state->counted && left)
        return fail(cursor, RFN_E_CORRUPT, &cursor->values->payload,
                    "a column is longer than the structure says");
    struct rfn_supply *supplies[] = {&state->gaps, &state->durations};
    for (unsigned i = 0; i < 2; i++) {
        if (supplies[i]->open)
            RFN_TRY(expect_end(cursor, &supplies[i]->column, &cursor->timing.payload));
    }
    for (unsigned i = 0; i < state->n_sources; i++)
        RFN_TRY(
            expect_end(cursor, &state->sources[i].column, payload_of(cursor, &state->sources[i])));
    return 0;
}

static int finish(struct rfn_cursor *cursor)
{
    for (uint32_t i = 0; i < cursor->structure->n_symbols; i++)
        RFN_TRY(finish_symbol(cursor, i));
    if (rfn_walk_finish(&cursor->walk) < 0)
        return rfn_cursor_fault_in(cursor, &cursor->values->payload, cursor->walk.fault);
    if (cursor->representatives && rfn_representatives_finish(cursor->representatives) < 0)
        return rfn_cursor_segment_failed(cursor);
    if (cursor->times && cursor->marks.n != cursor->timing.n_marks)
        return fail(cursor, RFN_E_CORRUPT, &cursor->timing.payload,
                    "there are too many time marks");
    return 0;
}

int rfn_cursor_finish(struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    if (!cursor->error)
        finish(cursor);
    return rfn_cursor_report(cursor, diag);
}
