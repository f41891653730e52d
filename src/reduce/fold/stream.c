#include "reduce/fold/stream.h"

#include "base/grow.h"
#include "reduce/columns/lists.h"
#include "reduce/fold/backlog.h"
#include "reduce/fold/elastic_signature.h"
#include "reduce/fold/merge_symbols.h"
#include "reduce/fold/varying_params.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_EVERY = 4096,   /* events between two looks at the memory held */
    MANY_SYMBOLS = 4096, /* fewer are not worth a look at how often they occur */
    WORTH_CODING = 1024  /* staged values of a column, that are coded early, in memory */
};

/* A run of equal unsuccessful polls that may still grow. */
struct poll_run {
    bool open;
    struct rfn_event event; /* enter of the first, exit of the last */
    int64_t in[RFN_PARAMS_MAX], out[RFN_PARAMS_MAX];
    uint64_t count, inside, volume_inside;
};

struct rfn_stream {
    struct rfn_stream_options options;
    struct {
        struct rfn_elastic elastic; /* of what the fold has told */
        bool given_up;
    } signature;
    struct rfn_symbol_table table;
    struct rfn_varying_params inputs;
    struct rfn_lists lists;
    struct rfn_fold *fold;
    struct poll_run run;
    uint32_t last; /* symbol of the last event */
    uint64_t last_exit, last_volume;
    uint64_t events, calls;
    bool volume_dropped;
    uint64_t passed; /* events gone over again by settling, all passes together */
    struct {
        uint64_t *at;
        size_t n, capacity;
    } marks;
    struct {
        uint64_t next_look; /* when there are so many events */
        uint64_t next_walk; /* over all symbols: likewise */
        size_t counted;     /* what of options.memory->used is this stream's */
        bool spilled;       /* something has left memory */
        bool spill_failed;  /* do not try again */
        bool moving;        /* columns are between two symbols */
        bool drafting;      /* what is packed now is packed again */
        unsigned backoff;   /* walks are 2^backoff times rarer, as they did not help */
    } memory;
    size_t thin_at; /* symbols, with which those that hardly repeat are looked for */
    struct {
        struct rfn_stream_reduction *reduction; /* NULL: times are kept so far */
        size_t bytes; /* that it holds; counting takes long, and it changes rarely */
        uint64_t epochs;
    } times;
    /* What every event looks at, beside the backlog. */
    const struct rfn_function_info *functions;
    bool failed; /* a list could not be kept */
    struct rfn_backlog backlog;
};

/* ---- the signature ---- */

uint64_t rfn_stream_call_hash(const struct rfn_stream *stream, uint32_t symbol)
{
    const struct rfn_symbol *of = &stream->table.symbols[symbol];
    return of->failed_poll ? 0 : stream->inputs.sites[of->site].call_hash;
}

/* What the fold tells of. */
static void sign(void *context, const rfn_node *symbols, size_t n)
{
    struct rfn_stream *stream = context;
    for (size_t i = 0; i < n; i++) {
        uint64_t call_hash = rfn_stream_call_hash(stream, rfn_node_index(symbols[i]));
        int error = call_hash ? rfn_elastic_append(&stream->signature.elastic, call_hash) : 0;
        if (error || rfn_elastic_is_slow(&stream->signature.elastic)) {
            stream->signature.given_up = true;
            rfn_elastic_release(&stream->signature.elastic);
            rfn_fold_watch_by(stream->fold, NULL, NULL);
            return;
        }
    }
}

/* From now on, if it is signed. */
static void watch_fold(struct rfn_stream *stream)
{
    if (!stream->signature.given_up)
        rfn_fold_watch_by(stream->fold, sign, stream);
}

uint64_t rfn_stream_signature(struct rfn_stream *stream)
{
    if (stream->signature.given_up)
        return RFN_UNSIGNED;
    rfn_fold_tell(stream->fold);
    if (stream->signature.given_up)
        return RFN_UNSIGNED; /* what was told was too much */
    uint64_t signature = rfn_elastic_signature(&stream->signature.elastic);
    return signature == RFN_UNSIGNED ? 1 : signature; /* there are no calls */
}

/* ---- making and freeing ---- */

/* A node of the stack takes 36 bytes, and room for it grows by doubling. */
static uint32_t max_nodes(const struct rfn_stream_options *options)
{
    enum { LEAST = 1 << 12, MOST = 1 << 26, SHARE = 256 };
    if (!options->memory)
        return 0;
    size_t n = LEAST;
    while (n < MOST && 2 * n <= options->memory->limit / SHARE)
        n *= 2;
    return (uint32_t)n;
}

/* Bytes of times that are kept in full; 0: none. */
static size_t keeps(const struct rfn_stream_options *options)
{
    return options->keep_bytes ? *options->keep_bytes : 0;
}

/* What the streams of the process may hold. Writing takes more if times are reduced late. */
static size_t limit_of(const struct rfn_stream *stream)
{
    const bool is_late = stream->times.reduction && keeps(&stream->options);
    return stream->options.memory->limit / (is_late ? 2 : 1);
}

/* From now on times are reduced. Kept segments take some 64 bytes per event, and four times that
 * per kind; both together may take half of the memory. */
static int begin_reducing(struct rfn_stream *stream)
{
    const struct rfn_stream_options *options = &stream->options;
    const size_t limit = options->memory ? options->memory->limit : 0;
    if (!stream->times.reduction)
        stream->times.reduction = options->sink->make(stream, options->reducing,
                                                      limit / (keeps(options) ? 512 : 256));
    return stream->times.reduction ? 0 : RFN_E_NOMEM;
}

struct rfn_stream *rfn_stream_new(const struct rfn_stream_options *options)
{
    struct rfn_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->options = *options;
    if (!options->times)
        stream->options.sink = NULL;
    stream->functions = options->functions;
    stream->table = (struct rfn_symbol_table){.functions = options->functions,
                                              .volume = options->volume};
    stream->last_exit = options->start;
    stream->last_volume = options->volume_start;
    stream->memory.next_look = options->memory ? LOOK_EVERY : UINT64_MAX;
    stream->thin_at = MANY_SYMBOLS;
    stream->fold = rfn_fold_new(max_nodes(options));
    stream->signature.given_up = !options->call_hash;
    if (stream->fold)
        watch_fold(stream);
    const bool at_once = stream->options.sink && !keeps(options);
    if (stream->fold && (!at_once || begin_reducing(stream) == 0))
        return stream;
    rfn_fold_free(stream->fold);
    free(stream);
    return NULL;
}

const struct rfn_function_info *rfn_stream_schema(const struct rfn_stream *stream,
                                                  uint32_t function)
{
    return &stream->functions[function];
}

void rfn_stream_free(struct rfn_stream *stream)
{
    if (!stream)
        return;
    if (stream->options.memory)
        __atomic_sub_fetch(&stream->options.memory->used, stream->memory.counted, __ATOMIC_RELAXED);
    rfn_symbol_table_release(&stream->table);
    rfn_varying_params_release(&stream->inputs);
    free(stream->marks.at);
    rfn_lists_release(&stream->lists);
    rfn_fold_free(stream->fold);
    rfn_elastic_release(&stream->signature.elastic);
    if (stream->times.reduction)
        stream->options.sink->free(stream->times.reduction);
    free(stream);
}

/* ---- memory ---- */

size_t rfn_stream_bytes(const struct rfn_stream *stream)
{
    struct rfn_fold_stats fold;
    rfn_fold_stats(stream->fold, &fold);
    return fold.bytes + rfn_lists_bytes(&stream->lists) + rfn_symbol_table_bytes(&stream->table) +
           rfn_varying_params_bytes(&stream->inputs) +
           stream->marks.capacity * sizeof *stream->marks.at +
           rfn_elastic_bytes(&stream->signature.elastic) + stream->times.bytes;
}

const struct rfn_spill *rfn_stream_spill_of(const struct rfn_stream *stream)
{
    return stream->memory.spilled && !stream->memory.drafting ? stream->options.spill : NULL;
}

/* Of all that can leave memory. */
static int each_that_leaves(void *columns, int (*visit)(void *context, struct rfn_column *column),
                            void *context)
{
    struct rfn_stream *stream = columns;
    RFN_TRY(rfn_symbol_table_each(&stream->table, visit, context));
    if (stream->times.reduction)
        RFN_TRY(stream->options.sink->each_column(stream->times.reduction, visit, context));
    return rfn_fold_each_column(stream->fold, visit, context);
}

/* Frees what is only there to save time later. */
static void drop_ahead(struct rfn_stream *stream)
{
    if (!stream->times.reduction)
        return;
    stream->options.sink->drop_ahead(stream->times.reduction);
    stream->times.bytes = stream->options.sink->bytes(stream->times.reduction);
}

/* What columns hold, after other changes than appending to them. */
static void recount(struct rfn_stream *stream)
{
    rfn_symbol_table_recount(&stream->table);
    rfn_fold_recount(stream->fold);
    if (stream->times.reduction)
        stream->times.bytes = stream->options.sink->bytes(stream->times.reduction);
}

static int compact(void *context, struct rfn_column *column)
{
    (void)context;
    return rfn_column_compact(column, WORTH_CODING);
}

/* Whether a walk over all symbols may be made: not before there were as many events as it looks at
 * columns, and more where walks did not help. So what walks take stays in proportion to events. */
static bool may_walk(struct rfn_stream *stream)
{
    if (stream->events < stream->memory.next_walk)
        return false;
    const uint64_t columns = 8 * ((uint64_t)stream->table.n + stream->inputs.n);
    stream->memory.next_walk = stream->events + ((columns > LOOK_EVERY ? columns : LOOK_EVERY)
                                                 << stream->memory.backoff);
    return true;
}

/* Frees about `wanted` bytes. What is staged is coded first, which may suffice. */
static int spill(struct rfn_stream *stream, size_t wanted)
{
    const size_t before = rfn_stream_bytes(stream);
    stream->memory.spilled = true;
    drop_ahead(stream); /* it would read what is spilled again and again */
    RFN_TRY(each_that_leaves(stream, compact, NULL));
    RFN_TRY(rfn_lists_spill(&stream->lists, stream->options.spill));
    recount(stream);
    const size_t after = rfn_stream_bytes(stream), freed = before > after ? before - after : 0;
    if (freed >= wanted)
        return 0;
    const int error = rfn_columns_spill(stream, each_that_leaves, stream->options.spill,
                                        wanted - freed, NULL);
    recount(stream);
    return error;
}

/* Brings what the process holds up to date and returns it. */
static size_t count_memory(struct rfn_stream *stream)
{
    struct rfn_memory *memory = stream->options.memory;
    size_t bytes = rfn_stream_bytes(stream), change = bytes - stream->memory.counted;
    stream->memory.counted = bytes;
    return __atomic_add_fetch(&memory->used, change, __ATOMIC_RELAXED);
}

/* What was measured so far goes to the sink. An input that has moved stays in the symbols from
 * before: they are in the part that keeps its structure. */
static int end_epoch(struct rfn_stream *stream)
{
    rfn_varying_params_settled(&stream->inputs);
    stream->times.epochs++;
    RFN_TRY(rfn_fold_freeze(stream->fold));
    RFN_TRY(stream->options.sink->epoch(stream->times.reduction));
    stream->times.bytes = stream->options.sink->bytes(stream->times.reduction);
    rfn_symbol_table_empty_measured(&stream->table);
    stream->marks.n = 0;
    return 0;
}

bool rfn_stream_is_long(const struct rfn_stream *stream)
{
    return stream->times.reduction ||
           (stream->options.sink &&
            rfn_symbol_table_coded_bytes(&stream->table) > keeps(&stream->options));
}

/* Has the stream hold less by epochs and wider thresholds. 1: enough, or what is too much is in
 * other streams, which will do the same; 0; or an error. */
static int reduce_memory(struct rfn_stream *stream)
{
    enum { AT_ONCE = 64 }; /* kinds that are widened: each takes as long as there are kinds */
    const size_t limit = limit_of(stream);
    size_t used = __atomic_load_n(&stream->options.memory->used, __ATOMIC_RELAXED);
    if (stream->table.measured_held > limit / 16) {
        RFN_TRY(end_epoch(stream));
        used = count_memory(stream);
    }
    if (used > limit) {
        drop_ahead(stream);
        used = count_memory(stream);
    }
    int widened = 1;
    for (int i = 0; i < AT_ONCE && used > limit && widened; i++) {
        if (stream->times.bytes < limit / 16)
            break;
        RFN_TRY(widened = stream->options.sink->widen(stream->times.reduction));
        stream->times.bytes = stream->options.sink->bytes(stream->times.reduction);
        used = count_memory(stream);
    }
    bool others = stream->memory.counted < limit / 8;
    return used <= limit || (others && used <= limit / 8 * 9);
}

/* The process holds too much, and this stream may walk over its symbols: it frees what is over
 * seven eighths of the limit. A spill that fails leaves all as it is: memory grows then. */
static int hold_less(struct rfn_stream *stream)
{
    struct rfn_memory *memory = stream->options.memory;
    if (rfn_stream_is_long(stream))
        RFN_TRY(begin_reducing(stream));
    const size_t limit = limit_of(stream);
    size_t used = count_memory(stream);
    if (used > limit && stream->times.reduction && !stream->memory.moving) {
        int enough = reduce_memory(stream);
        if (enough)
            return enough < 0 ? enough : 0;
        used = __atomic_load_n(&memory->used, __ATOMIC_RELAXED);
    }
    if (used <= limit || stream->memory.spill_failed)
        return 0;
    stream->memory.spill_failed = spill(stream, used - limit / 8 * 7) < 0;
    /* What is too much may be another thread's, or may not be able to leave. */
    bool helped = count_memory(stream) <= limit;
    stream->memory.backoff = helped                       ? 0
                             : stream->memory.backoff < 8 ? stream->memory.backoff + 1
                                                          : 8;
    return 0;
}

static int look_at_memory(struct rfn_stream *stream)
{
    struct rfn_memory *memory = stream->options.memory;
    stream->memory.next_look = stream->events + LOOK_EVERY;
    if (!memory || !stream->options.spill || (stream->memory.spill_failed && !stream->options.sink))
        return 0;
    const bool is_much = count_memory(stream) > memory->limit / 2;
    return is_much && may_walk(stream) ? hold_less(stream) : 0;
}

static int spill_all(struct rfn_stream *stream)
{
    if (!stream->options.memory || !stream->options.spill || stream->memory.spill_failed)
        return 0;
    int error = spill(stream, SIZE_MAX);
    stream->memory.spill_failed = error < 0;
    count_memory(stream);
    return error;
}

/* ---- moving inputs from signatures to columns ---- */

static int look(void *stream)
{
    return look_at_memory(stream);
}

/* After an epoch symbols stay as they are. */
void rfn_stream_move(struct rfn_stream *stream, uint32_t site, uint32_t input)
{
    rfn_varying_params_move(&stream->inputs, site, input, !stream->times.epochs);
}

int rfn_stream_settle(struct rfn_stream *stream)
{
    if (!stream->inputs.unsettled)
        return 0;
    struct rfn_fold *old = stream->fold;
    rfn_fold_tell(old); /* call hashes stay what they are */
    /* The pass makes new columns: the old ones go out of the way. */
    if (stream->options.memory && count_memory(stream) > limit_of(stream) / 4)
        spill_all(stream);
    struct rfn_fold *new = rfn_fold_new(max_nodes(&stream->options));
    if (!new)
        return RFN_E_NOMEM;
    stream->fold = new;
    stream->memory.moving = true;
    const struct rfn_symbol_join join = {
        .table = &stream->table,
        .inputs = &stream->inputs,
        .from = old,
        .to = stream->fold,
        .look = look,
        .context = stream,
    };
    int error = rfn_symbols_join(&join, &stream->last);
    stream->memory.moving = false;
    stream->signature.given_up |= error < 0;
    if (!error)
        watch_fold(stream);
    rfn_fold_free(old);
    rfn_varying_params_settled(&stream->inputs);
    stream->passed += stream->events;
    return error;
}

/* Settles while the passes so far together have not gone over more than all events, and a few. A
 * pass makes all columns anew: where times are reduced, an epoch makes that unnecessary when there
 * is no memory for both. */
static int settle_in_time(struct rfn_stream *stream)
{
    enum { FREE = 1 << 16 };
    if (stream->times.reduction && stream->options.memory &&
        count_memory(stream) > limit_of(stream) / 2)
        return may_walk(stream) ? end_epoch(stream) : 0;
    return stream->passed <= stream->events + FREE ? rfn_stream_settle(stream) : 0;
}

/* ---- events ---- */

static int append_times(struct rfn_stream *stream, struct rfn_symbol *symbol,
                        const struct rfn_event *event)
{
    size_t *held = &stream->table.measured_held;
    int error = rfn_column_append_held(&symbol->gap, (int64_t)(event->enter - stream->last_exit),
                                       held);
    error |= rfn_column_append_held(&symbol->duration, (int64_t)(event->exit - event->enter), held);
    stream->last_exit = event->exit;
    if (__builtin_expect(stream->events % RFN_STREAM_MARK == 0 && stream->events, 0)) {
        RFN_TRY(RFN_GROW(stream->marks.at, stream->marks.capacity, stream->marks.n + 1));
        stream->marks.at[stream->marks.n++] = event->enter;
    }
    return error ? RFN_E_NOMEM : 0;
}

__attribute__((noinline)) static int
append_volume(struct rfn_stream *stream, struct rfn_column *columns, const struct rfn_event *event)
{
    size_t *held = &stream->table.measured_held;
    if (!rfn_class_is_mpi(rfn_stream_schema(stream, event->function)->class_)) {
        /* A moment in the program, at which nothing is counted. */
        RFN_TRY(rfn_column_append_held(&columns[0], 0, held));
        return rfn_column_append_held(&columns[1], 0, held);
    }
    uint64_t inside = event->volume_exit - event->volume_enter;
    uint64_t counted = event->volume_exit - stream->last_volume;
    stream->last_volume = event->volume_exit;
    RFN_TRY(rfn_column_append_held(&columns[0], (int64_t)(counted - inside), held));
    return rfn_column_append_held(&columns[1], (int64_t)inside, held);
}

static int append_columns(struct rfn_stream *stream, struct rfn_symbol *symbol,
                          const struct rfn_event *event, uint64_t polls, uint64_t inside)
{
    struct rfn_symbol_table *table = &stream->table;
    struct rfn_column *column = symbol->columns;
    int error = 0;
    for (uint32_t moved = symbol->moved; moved; moved &= moved - 1)
        error |= rfn_column_append_held(column++, event->in[__builtin_ctz(moved)], &table->held);
    unsigned n_out = rfn_stream_schema(stream, symbol->function)->n_out;
    for (unsigned i = 0; i < n_out; i++)
        error |= rfn_column_append_held(column++, event->out[i], &table->held);
    if (symbol->failed_poll) {
        error |= rfn_column_append_held(&symbol->polls, (int64_t)polls, &table->measured_held);
        if (stream->options.times)
            error |= rfn_column_append_held(&symbol->inside, (int64_t)inside,
                                            &table->measured_held);
    }
    if (stream->options.times)
        error |= append_times(stream, symbol, event);
    if (__builtin_expect(stream->options.volume, 0))
        error |= append_volume(stream, column, event);
    symbol->occurrences++;
    return error ? RFN_E_NOMEM : 0;
}

/* Adds the symbol of an event that was never seen; *move is the input that then has to move. */
static int64_t symbol_new(struct rfn_stream *stream, uint32_t function,
                          const struct rfn_symbol_signature *signature, int *move)
{
    const struct rfn_function_info *schema = rfn_stream_schema(stream, function);
    int new = rfn_varying_params_use(&stream->inputs, signature->site, schema->n_in);
    RFN_TRY(new);
    if (new && stream->options.call_hash && rfn_class_is_mpi(schema->class_))
        stream->inputs.sites[signature->site].call_hash =
            stream->options.call_hash(stream->options.call_hash_context, signature->site) | 1;
    struct rfn_symbol like = {.site = signature->site,
                              .function = function,
                              .error = signature->error,
                              .failed_poll = signature->failed_poll,
                              .moved = signature->moved};
    int64_t symbol = rfn_symbol_table_add(&stream->table, &like, signature->in);
    RFN_TRY((int)symbol);
    *move = rfn_varying_params_note(&stream->inputs, &stream->table.symbols[symbol]);
    if (*move < -1)
        return *move;
    if (stream->table.n >= stream->thin_at)
        RFN_TRY(rfn_varying_params_thin(&stream->inputs, &stream->table, !stream->times.epochs));
    while (stream->thin_at <= stream->table.n)
        stream->thin_at *= 2;
    return symbol;
}

static int emit(struct rfn_stream *stream, const struct rfn_event *event, uint64_t polls,
                uint64_t inside)
{
    int64_t masked[RFN_PARAMS_MAX];
    struct rfn_symbol_signature signature = {
        .site = event->site,
        .error = event->error,
        .moved = rfn_stream_moved(stream, event->site),
        .failed_poll = event->poll == RFN_POLL_FAILED,
        .n_in = rfn_stream_schema(stream, event->function)->n_in,
        .in = event->in};
    if (signature.moved) {
        memcpy(masked, event->in, signature.n_in * sizeof *masked);
        for (uint32_t left = signature.moved; left; left &= left - 1)
            masked[__builtin_ctz(left)] = 0;
        signature.in = masked;
    }
    int move = -1;
    struct rfn_symbol_table *table = &stream->table;
    int64_t symbol = table->n ? (int64_t)table->entries[stream->last].next : -1;
    if (symbol < 0 || !rfn_symbol_is(&table->symbols[symbol], &signature)) {
        symbol = rfn_symbol_table_find(table, &signature);
        if (symbol < 0)
            symbol = symbol_new(stream, event->function, &signature, &move);
        RFN_TRY((int)symbol);
        table->entries[stream->last].next = (uint32_t)symbol;
    }
    stream->last = (uint32_t)symbol;
    RFN_TRY(append_columns(stream, &table->symbols[symbol], event, polls, inside));
    stream->events++;
    stream->calls += polls;
    RFN_TRY(rfn_fold_append(stream->fold, (uint32_t)symbol));
    if (move >= 0)
        rfn_stream_move(stream, event->site, (uint32_t)move);
    if (__builtin_expect(stream->events >= stream->memory.next_look, 0))
        RFN_TRY(look_at_memory(stream));
    return __builtin_expect(stream->inputs.unsettled, 0) ? settle_in_time(stream) : 0;
}

static int end_run(struct rfn_stream *stream)
{
    struct poll_run *run = &stream->run;
    if (!run->open)
        return 0;
    run->open = false;
    /* What was counted between the polls goes to the gap. */
    run->event.volume_enter = run->event.volume_exit - run->volume_inside;
    return emit(stream, &run->event, run->count, run->inside);
}

static int hold(struct rfn_stream *stream, const struct rfn_event *event)
{
    struct poll_run *run = &stream->run;
    const struct rfn_function_info *function = rfn_stream_schema(stream, event->function);
    bool goes_on = run->open && run->event.site == event->site && run->event.error == event->error;
    for (unsigned i = 0; i < function->n_in && goes_on; i++)
        goes_on = run->in[i] == event->in[i];
    if (!goes_on) {
        RFN_TRY(end_run(stream));
        run->open = true;
        run->event = *event;
        memcpy(run->in, event->in, function->n_in * sizeof *run->in);
        memcpy(run->out, event->out, function->n_out * sizeof *run->out);
        run->event.in = run->in;
        run->event.out = run->out;
        run->count = run->inside = run->volume_inside = 0;
    }
    run->count++;
    run->inside += event->exit - event->enter;
    run->event.exit = event->exit;
    run->volume_inside += event->volume_exit - event->volume_enter;
    run->event.volume_exit = event->volume_exit;
    return 0;
}

static int reduce(struct rfn_stream *stream, const struct rfn_event *event)
{
    if (event->poll == RFN_POLL_FAILED && !stream->options.all_polls)
        return hold(stream, event);
    if (stream->run.open)
        RFN_TRY(end_run(stream));
    return emit(stream, event, 1, event->exit - event->enter);
}

int rfn_stream_catch_up(struct rfn_stream *stream)
{
    struct rfn_backlog *backlog = &stream->backlog;
    if (stream->failed)
        return RFN_E_NOMEM;
    for (uint32_t at = 0; at < backlog->n;) {
        const struct rfn_event event = rfn_backlog_get(backlog, &at);
        if (__builtin_expect(reduce(stream, &event) < 0, 0)) {
            stream->failed = true; /* what is left cannot be told apart from what is done */
            break;
        }
    }
    backlog->n = 0;
    return stream->failed ? RFN_E_NOMEM : 0;
}

int rfn_stream_event(struct rfn_stream *stream, const struct rfn_event *event)
{
    const int took_long = !rfn_backlog_has_room(&stream->backlog);
    if (__builtin_expect(stream->failed, 0))
        return RFN_E_NOMEM;
    if (__builtin_expect(took_long, 0))
        RFN_TRY(rfn_stream_catch_up(stream));
    const struct rfn_function_info *function = rfn_stream_schema(stream, event->function);
    rfn_backlog_put(&stream->backlog, event, function->n_in, function->n_out,
                    stream->options.volume);
    return took_long;
}

int rfn_stream_more_polls(struct rfn_stream *stream, uint64_t more, uint64_t less)
{
    RFN_TRY(rfn_stream_catch_up(stream)); /* now it is held back */
    stream->run.count += more;
    stream->run.inside -= less;
    return 0;
}

uint64_t rfn_stream_polls(const struct rfn_stream *stream, struct rfn_event *event)
{
    if (!stream->run.open)
        return 0;
    *event = stream->run.event;
    return stream->run.count;
}

int rfn_stream_spill(struct rfn_stream *stream)
{
    RFN_TRY(rfn_stream_catch_up(stream));
    return spill_all(stream);
}

/* Blocks of a column that are not worth a write stay where they are. */
static int leave_finished(void *context, struct rfn_column *column)
{
    enum { FEW_BYTES = 1 << 12 };
    struct rfn_stream *stream = context;
    if (rfn_column_sealed_bytes(column) < FEW_BYTES)
        return 0;
    stream->memory.spilled = true;
    return rfn_column_spill(column, stream->options.spill, false);
}

int rfn_stream_draft_begin(struct rfn_stream *stream)
{
    RFN_TRY(rfn_stream_catch_up(stream));
    RFN_TRY(rfn_stream_settle(stream));
    if (stream->memory.spill_failed)
        return RFN_E_IO;
    int error = rfn_symbol_table_each(&stream->table, leave_finished, stream);
    if (!error)
        error = rfn_fold_each_column(stream->fold, leave_finished, stream);
    recount(stream);
    if (stream->options.memory)
        count_memory(stream);
    stream->memory.spill_failed = error < 0;
    stream->memory.drafting = !error;
    return error;
}

void rfn_stream_draft_end(struct rfn_stream *stream)
{
    stream->memory.drafting = false;
}

int rfn_stream_flush(struct rfn_stream *stream)
{
    RFN_TRY(rfn_stream_catch_up(stream));
    RFN_TRY(end_run(stream));
    return rfn_stream_settle(stream);
}

int rfn_stream_end_later(struct rfn_stream *stream, uint64_t exit, uint64_t volume_exit)
{
    RFN_TRY(rfn_stream_catch_up(stream)); /* the event may still be in the backlog */
    struct rfn_symbol *symbol = &stream->table.symbols[stream->last];
    struct rfn_column *columns[2] = {&symbol->duration, NULL};
    uint64_t more[2] = {exit - stream->last_exit, volume_exit - stream->last_volume};
    if (rfn_stream_has_volume(stream))
        columns[1] = (struct rfn_column *)rfn_stream_volume(stream, symbol) + 1;
    if (stream->times.reduction && !columns[0]->n) /* an epoch has taken its times */
        stream->options.sink->end_later(stream->times.reduction, (int64_t)more[0],
                                        (int64_t)more[1]);
    for (int i = 0; i < 2; i++) {
        if (columns[i] && columns[i]->n)
            RFN_TRY(rfn_column_set_last_held(columns[i], columns[i]->last + (int64_t)more[i],
                                             &stream->table.measured_held));
    }
    stream->last_exit = exit;
    stream->last_volume = volume_exit;
    return 0;
}

static int code_ahead(void *context, struct rfn_column *column)
{
    (void)context;
    rfn_column_code_ahead(column);
    return 0;
}

int rfn_stream_code_ahead(struct rfn_stream *stream)
{
    RFN_TRY(rfn_stream_catch_up(stream));
    if (end_run(stream) < 0) {
        stream->failed = true; /* the run is lost */
        return RFN_E_NOMEM;
    }
    if (rfn_stream_is_long(stream))
        return 0;
    const int error = each_that_leaves(stream, code_ahead, NULL);
    recount(stream);
    return error;
}

int rfn_stream_epoch(struct rfn_stream *stream)
{
    if (!stream->options.sink)
        return 0;
    RFN_TRY(begin_reducing(stream));
    RFN_TRY(rfn_stream_settle(stream));
    RFN_TRY(end_epoch(stream));
    stream->options.sink->code_ahead(stream->times.reduction);
    stream->times.bytes = stream->options.sink->bytes(stream->times.reduction);
    if (stream->options.memory)
        count_memory(stream);
    return 0;
}

struct rfn_room rfn_stream_room(const struct rfn_stream *stream)
{
    const struct rfn_memory *memory = stream->options.memory;
    if (!memory || stream->memory.spill_failed)
        return (struct rfn_room){0};
    size_t used = __atomic_load_n(&memory->used, __ATOMIC_RELAXED);
    double share = used ? (double)stream->memory.counted / (double)used : 1;
    return (struct rfn_room){stream->options.spill,
                             (size_t)((double)(limit_of(stream) / 2) * share)};
}

int rfn_stream_reduce(struct rfn_stream *stream)
{
    if (!stream->options.sink)
        return 0;
    RFN_TRY(begin_reducing(stream));
    const struct rfn_room room = rfn_stream_room(stream);
    RFN_TRY(stream->options.sink->epoch(stream->times.reduction));
    rfn_symbol_table_empty_measured(&stream->table);
    stream->marks.n = 0;
    return stream->options.sink->finish(stream->times.reduction, &room);
}

const struct rfn_stream_reduction *rfn_stream_reduced(const struct rfn_stream *stream)
{
    return stream->times.reduction;
}

uint64_t rfn_stream_epochs(const struct rfn_stream *stream)
{
    return stream->times.epochs;
}

/* ---- looking at the result ---- */

int64_t rfn_stream_list(struct rfn_stream *stream, const int64_t *words, size_t n)
{
    int64_t number = rfn_lists_intern(&stream->lists, words, n);
    stream->failed |= number < 0;
    return number < 0 ? RFN_LIST_ABSENT : number;
}

size_t rfn_stream_lists(const struct rfn_stream *stream)
{
    return stream->lists.n;
}

const int64_t *rfn_stream_list_words(const struct rfn_stream *stream, size_t number, size_t *n)
{
    return rfn_lists_get(&stream->lists, number, n);
}

uint32_t rfn_stream_symbols(const struct rfn_stream *stream)
{
    return (uint32_t)stream->table.n;
}

const struct rfn_symbol *rfn_stream_symbol(const struct rfn_stream *stream, uint32_t symbol)
{
    return &stream->table.symbols[symbol];
}

const struct rfn_column *rfn_stream_volume(const struct rfn_stream *stream,
                                           const struct rfn_symbol *symbol)
{
    return stream->options.volume ? symbol->columns + rfn_symbol_values(&stream->table, symbol)
                                  : NULL;
}

bool rfn_stream_has_volume(const struct rfn_stream *stream)
{
    return stream->options.volume && !stream->volume_dropped;
}

bool rfn_stream_counts(const struct rfn_stream *stream)
{
    return stream->options.volume;
}

uint64_t rfn_stream_start(const struct rfn_stream *stream)
{
    return stream->options.start;
}

void rfn_stream_drop_volume(struct rfn_stream *stream)
{
    stream->volume_dropped = true;
}

const struct rfn_fold *rfn_stream_fold(const struct rfn_stream *stream)
{
    return stream->fold;
}

uint64_t rfn_stream_events(const struct rfn_stream *stream)
{
    return stream->events;
}

uint64_t rfn_stream_calls(const struct rfn_stream *stream)
{
    return stream->calls;
}

const uint64_t *rfn_stream_marks(const struct rfn_stream *stream, size_t *n)
{
    *n = stream->marks.n;
    return stream->marks.at;
}

uint32_t rfn_stream_moved(const struct rfn_stream *stream, uint32_t site)
{
    return rfn_varying_params_of(&stream->inputs, site);
}
