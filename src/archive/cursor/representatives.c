/* Of a segment its symbols are known from the structure, and for each event a few words, in the
 * order of the columns of its symbol:
 *
 *   gap, duration;  of a failed poll also polls, inside;  with volumes also volume gap and inside
 *
 * They come from the columns if the segment is new, else from the segment that was new with the
 * same number. */
#include "archive/cursor/representatives.h"

#include "archive/read/structure_walk.h"
#include "base/grow.h"
#include "base/map.h"
#include "reduce/segments/segment_starts.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 6 };

/* More than times are off by in any file that makes sense: a day. */
#define OFF_MOST (UINT64_C(86400) * 1000000000)

struct segment {
    uint32_t *symbols;
    int64_t *words;
    size_t n, n_words;
    uint64_t length, pace; /* quanta; to its end, and to the start of the next one */
    uint8_t roles;         /* of its calls (RFN_ROLE_) */
    bool ascends;          /* none of its times is before the one before */
};

/* The columns of a symbol. */
struct symbol_columns {
    unsigned n;
    struct rfn_column_cursor columns[WORDS_MAX];
};

/* A context of a loop that cuts. */
struct context {
    struct rfn_column_cursor columns[RFN_PROFILE_PLAIN];
    struct rfn_list_cursor lists[1 + RFN_GUIDES_MAX]; /* its own, and its guides */
    uint64_t n;                                       /* representatives so far */
    struct rfn_map kept;
};

/* A segment in its place. */
struct executed {
    const struct segment *segment; /* one of the stream's own, or one that is kept; NULL: none */
    uint64_t start;
};

struct rfn_representatives {
    struct rfn_representatives_of of;
    struct rfn_structure_walk walk;
    struct symbol_columns **symbols; /* NULL: has not been in a new segment */
    struct context **contexts;       /* NULL: has not been executed */
    struct rfn_column_cursor top;    /* corrections of segments of the top */
    struct own {                     /* two segments in turns; owned */
        struct segment segment;      /* of which only symbols are there when it is not new */
        size_t symbols_capacity, words_capacity;
    } own[2];
    struct own *gathered;          /* the one of them that was gathered last */
    uint64_t n_kept;               /* events of segments that are kept */
    bool begun, ahead;             /* there was a segment; the walk is an event ahead */
    uint32_t ahead_symbol;         /* that event */
    struct executed current, next; /* next: if it was looked at already */
    uint64_t predicted;            /* start of the one after these, before its correction */
    uint64_t begin, room;          /* where the current one begins, and how long it lasts */
    struct reached {               /* by the event before */
        size_t at, at_word;        /* in the current segment */
        uint64_t offset;           /* from the start of its representative */
        uint64_t last;             /* time of the stream: none is earlier from now on */
    } reached;
    struct rfn_representatives_fault fault;
};

static int failed(struct rfn_representatives *of, const char *text)
{
    of->fault = (struct rfn_representatives_fault){text, &of->of.timing->payload};
    return rfn_fault_error(text);
}

struct rfn_representatives_fault
rfn_representatives_fault(const struct rfn_representatives *representatives)
{
    return representatives->fault;
}

/* ---- columns ---- */

static int open_columns(struct rfn_representatives *of, const size_t *at,
                        struct rfn_column_cursor *columns, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int error = rfn_payload_column(&of->of.timing->payload, at[i], at[i + 1], &columns[i]);
        if (error < 0)
            return failed(of, rfn_column_fault(error));
    }
    return 0;
}

static void close_columns(struct rfn_column_cursor *columns, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        rfn_column_close(&columns[i]);
}

static int next_value(struct rfn_representatives *of, struct rfn_column_cursor *column,
                      int64_t *value)
{
    int error = rfn_column_next(column, value);
    return error < 0 ? failed(of, rfn_column_fault(error)) : 0;
}

static int expect_end(struct rfn_representatives *of, struct rfn_column_cursor *columns, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const char *fault = rfn_column_left_over(&columns[i]);
        if (fault)
            return failed(of, fault);
    }
    return 0;
}

/* Of columns that nothing has opened. */
static int expect_empty(struct rfn_representatives *of, const size_t *at, unsigned n)
{
    const char *fault = NULL;
    for (unsigned i = 0; i < n && !fault; i++)
        fault = rfn_column_not_empty(&of->of.timing->payload, at + i);
    return fault ? failed(of, fault) : 0;
}

static bool is_poll(const struct rfn_representatives *of, uint32_t symbol)
{
    return of->of.structure->symbols[symbol].failed_poll;
}

/* Where a symbol's columns of times and those of volumes are. */
static const size_t *times_at(const struct rfn_representatives *of, uint32_t symbol)
{
    return of->of.timing->columns + of->of.structure->symbols[symbol].timing;
}

static const size_t *volumes_at(const struct rfn_representatives *of, uint32_t symbol)
{
    return of->of.timing->columns + of->of.timing->n_times + 2 * (size_t)symbol;
}

static int columns_of_symbol(struct rfn_representatives *of, uint32_t symbol,
                             struct symbol_columns **found)
{
    struct symbol_columns *columns = of->symbols[symbol];
    if (!columns) {
        columns = of->symbols[symbol] = calloc(1, sizeof *columns);
        if (!columns)
            return failed(of, rfn_out_of_memory);
        unsigned n = columns->n = is_poll(of, symbol) ? 4 : 2;
        RFN_TRY(open_columns(of, times_at(of, symbol), columns->columns, n));
        columns->n += of->of.timing->volume ? 2 : 0;
        if (of->of.timing->volume)
            RFN_TRY(open_columns(of, volumes_at(of, symbol), columns->columns + n, 2));
    }
    *found = columns;
    return 0;
}

/* Where a context's columns are, but for its list. */
static const size_t *context_at(const struct rfn_representatives *of, uint32_t context)
{
    return of->of.reduced->columns + 1 + RFN_PROFILE_PLAIN * (size_t)context;
}

static int context_of(struct rfn_representatives *of, uint32_t number, struct context **found)
{
    *found = of->contexts[number];
    if (*found)
        return 0;
    *found = of->contexts[number] = calloc(1, sizeof **found);
    if (!*found)
        return failed(of, rfn_out_of_memory);
    RFN_TRY(open_columns(of, context_at(of, number), (*found)->columns, RFN_PROFILE_PLAIN));
    int error = rfn_reduced_timing_list(of->of.reduced, of->of.timing, number, (*found)->lists);
    return error < 0 ? failed(of, rfn_column_fault(error)) : 0;
}

/* ---- segments ---- */

static int walk_failed(struct rfn_representatives *of)
{
    of->fault = (struct rfn_representatives_fault){of->walk.fault, &of->of.values->payload};
    return rfn_fault_error(of->walk.fault);
}

/* Walks on to the next event, if there is one. */
static int look_ahead(struct rfn_representatives *of)
{
    int more = rfn_structure_walk_next(&of->walk, &of->ahead_symbol);
    if (more < 0)
        return walk_failed(of);
    of->ahead = more;
    if (!more)
        return 0;
    rfn_structure_walk_place(
        &of->walk, rfn_symbol_mark(of->of.dictionary, of->of.structure, of->ahead_symbol));
    of->walk.index++;
    return 0;
}

/* Gathers the symbols of the next segment, and looks at the event behind it. */
static int gather(struct rfn_representatives *of, uint32_t *context)
{
    if (!of->begun)
        RFN_TRY(look_ahead(of));
    if (!of->ahead)
        return failed(of, "there are fewer events than the stream has");
    of->gathered = &of->own[of->gathered == &of->own[0]];
    struct own *own = of->gathered;
    struct segment *new = &own->segment;
    *context = of->walk.cuts->place.context;
    new->n = 0;
    do {
        if (RFN_GROW(new->symbols, own->symbols_capacity, new->n + 1) < 0)
            return failed(of, rfn_out_of_memory);
        new->symbols[new->n++] = of->ahead_symbol;
        RFN_TRY(look_ahead(of));
    } while (of->ahead && !of->walk.cuts->place.begins);
    return 0;
}

/* Reads the words of a new segment and adds up its length. */
static int read_words(struct rfn_representatives *of)
{
    const uint64_t most = RFN_SEGMENT_LENGTH_MAX;
    struct segment *made = &of->gathered->segment;
    made->n_words = 0;
    made->length = 0;
    made->roles = 0;
    made->ascends = true;
    for (size_t i = 0; i < made->n; i++) {
        uint32_t symbol = made->symbols[i];
        uint32_t function = of->of.structure->symbols[symbol].function;
        struct symbol_columns *columns = NULL;
        RFN_TRY(columns_of_symbol(of, symbol, &columns));
        if (RFN_GROW(made->words, of->gathered->words_capacity, made->n_words + WORDS_MAX) < 0)
            return failed(of, rfn_out_of_memory);
        int64_t *words = made->words + made->n_words;
        for (unsigned k = 0; k < columns->n; k++)
            RFN_TRY(next_value(of, &columns->columns[k], &words[k]));
        uint64_t gap = (uint64_t)words[0], duration = (uint64_t)words[1];
        made->length += gap + duration;
        made->ascends &= gap <= most && duration <= most && made->length <= most;
        made->roles |= rfn_class_role(of->of.dictionary->functions[function].class_);
        made->n_words += columns->n;
    }
    made->pace = made->length;
    return made->length > most ? failed(of, "a segment is too long") : 0;
}

/* Keeps a copy of the new segment, in one allocation. */
static int keep(struct rfn_representatives *of, struct context *context)
{
    const struct segment *made = &of->gathered->segment;
    size_t words = made->n_words * sizeof *made->words;
    size_t symbols = made->n * sizeof *made->symbols;
    of->n_kept += made->n;
    if (of->n_kept > RFN_KEPT_EVENTS_MAX)
        return failed(of, "too many events are kept");
    struct segment *copy = malloc(sizeof *copy + words + symbols);
    if (!copy)
        return failed(of, rfn_out_of_memory);
    *copy = *made;
    copy->words = (int64_t *)(copy + 1);
    copy->symbols = (uint32_t *)(copy->words + made->n_words);
    memcpy(copy->words, made->words, words);
    memcpy(copy->symbols, made->symbols, symbols);
    if (rfn_map_put_object(&context->kept, context->n, copy) == 0)
        return 0;
    free(copy);
    return failed(of, rfn_out_of_memory);
}

static int take_new(struct rfn_representatives *of, struct context *context)
{
    struct segment *new = &of->gathered->segment;
    int64_t pace, kept;
    RFN_TRY(read_words(of));
    RFN_TRY(next_value(of, &context->columns[RFN_PROFILE_PACE], &pace));
    RFN_TRY(next_value(of, &context->columns[RFN_PROFILE_KEPT], &kept));
    new->pace += (uint64_t)pace;
    if (new->pace > RFN_SEGMENT_LENGTH_MAX)
        return failed(of, "a segment has too large a pace");
    if (kept != 0 && kept != 1)
        return failed(of, "it is not said whether a segment is kept");
    if (kept)
        RFN_TRY(keep(of, context));
    context->n++;
    of->next.segment = new;
    return 0;
}

static int take_kept(struct rfn_representatives *of, struct context *context, uint64_t number)
{
    const struct segment *kept = rfn_map_object(&context->kept, number);
    const struct segment *gathered = &of->gathered->segment;
    if (!kept)
        return failed(of, "a segment is like one that is not kept");
    if (kept->n != gathered->n ||
        memcmp(kept->symbols, gathered->symbols, kept->n * sizeof *kept->symbols) != 0)
        return failed(of, "a segment is like one that has other events");
    of->next.segment = kept;
    return 0;
}

/* Takes the segment whose symbols have been gathered, one of a loop that cuts. */
static int take(struct rfn_representatives *of, uint32_t number, int64_t *correction)
{
    struct context *context;
    int64_t representative;
    RFN_TRY(context_of(of, number, &context));
    struct rfn_column_cursor *columns = context->columns;
    int error = rfn_list_next(&context->lists[0], &representative);
    if (error < 0)
        return failed(of, rfn_column_fault(error));
    RFN_TRY(next_value(of, &columns[RFN_PROFILE_CORRECTION], correction));
    if (representative < 0 || (uint64_t)representative > context->n)
        return failed(of, "a segment is like one that has not been");
    if ((uint64_t)representative == context->n)
        return take_new(of, context);
    return take_kept(of, context, (uint64_t)representative);
}

/* What a correction of 1 stands for. */
static uint64_t unit_of(const struct rfn_reduced_timing *reduced, const struct segment *segment)
{
    uint64_t share = (uint64_t)((rfn_u128)segment->length * reduced->share >> 16);
    uint64_t unit = reduced->tolerance + share;
    return unit ? unit : 1;
}

/* Takes the segment after the last one that was taken. */
static int take_next(struct rfn_representatives *of)
{
    uint32_t context = 0, n_top = of->walk.cuts->n_top;
    int64_t correction;
    RFN_TRY(gather(of, &context));
    if (context < n_top) {
        RFN_TRY(next_value(of, &of->top, &correction));
        of->next.segment = &of->gathered->segment;
        RFN_TRY(read_words(of));
    } else {
        RFN_TRY(take(of, context - n_top, &correction));
    }
    if (!of->begun && correction)
        return failed(of, "the first segment's start is corrected");
    of->begun = true;
    of->next.start = of->predicted +
                     (uint64_t)correction * unit_of(of->of.reduced, of->next.segment);
    of->predicted = of->next.start + of->next.segment->pace;
    return 0;
}

/* A segment that is stretched lasts until the next one starts; where that is earlier than what has
 * been, there is no room for it. */
static int next_segment(struct rfn_representatives *of)
{
    if (!of->next.segment)
        RFN_TRY(take_next(of));
    of->current = of->next;
    of->next.segment = NULL;
    of->reached = (struct reached){.last = of->reached.last};
    of->begin = of->current.start;
    if (!of->of.timing->stretched)
        return 0;
    uint64_t end = of->current.start + of->current.segment->length;
    if (of->ahead) {
        RFN_TRY(take_next(of));
        end = of->next.start;
    }
    if ((int64_t)(of->begin - of->reached.last) < 0)
        of->begin = of->reached.last;
    of->room = (int64_t)(end - of->begin) > 0 ? end - of->begin : 0;
    return 0;
}

/* Starts and times within segments are off by about as much. Segments that are stretched are
 * compared by jitter. */
uint64_t rfn_representatives_off(const struct rfn_representatives *of)
{
    const struct segment *segment = of->current.segment;
    if (!segment)
        return 0;
    uint64_t unit = unit_of(of->of.reduced, segment);
    bool one_way = of->of.timing->stretched && rfn_roles_one_way(segment->roles);
    return unit > OFF_MOST ? OFF_MOST : unit * (one_way ? RFN_ONE_WAY_STARTS : 2);
}

/* ---- events ---- */

/* What is so long in the representative, in the current segment. */
static uint64_t in_segment(const struct rfn_representatives *of, uint64_t quanta)
{
    return of->of.timing->stretched
               ? rfn_start_stretched((int64_t)quanta, of->current.segment->length, of->room)
               : quanta;
}

/* The time at the offset, or the last one if it is earlier than that. */
static uint64_t next_time(struct rfn_representatives *of)
{
    uint64_t time = of->begin + in_segment(of, of->reached.offset);
    if ((int64_t)(time - of->reached.last) > 0)
        of->reached.last = time;
    return of->reached.last;
}

int rfn_representatives_next(struct rfn_representatives *of, struct rfn_recreated *event)
{
    if (!of->current.segment || of->reached.at == of->current.segment->n)
        RFN_TRY(next_segment(of));
    const struct segment *segment = of->current.segment;
    bool poll = is_poll(of, segment->symbols[of->reached.at++]);
    const int64_t *word = segment->words + of->reached.at_word;
    *event = (struct rfn_recreated){.polls = 1};
    of->reached.offset += (uint64_t)*word++;
    event->enter = next_time(of);
    of->reached.offset += (uint64_t)*word++;
    event->exit = next_time(of);
    event->inside = (int64_t)(event->exit - event->enter);
    if (poll) {
        event->polls = *word++;
        int64_t inside = (int64_t)in_segment(of, (uint64_t)*word++);
        event->inside = inside < event->inside ? inside : event->inside;
    }
    if (of->of.timing->volume) {
        event->volume_gap = *word++;
        event->volume_inside = *word++;
    }
    of->reached.at_word = (size_t)(word - segment->words);
    return 0;
}

/* Goes behind the current segment. Where times ascend, by its last one alone; numbers that a
 * recorder does not write may go round beyond 64 bits. */
void rfn_representatives_pass(struct rfn_representatives *of)
{
    const struct segment *segment = of->current.segment;
    struct rfn_recreated event;
    uint64_t later = of->begin - of->reached.last + RFN_SEGMENT_LENGTH_MAX;
    if (segment->ascends && later <= 2 * RFN_SEGMENT_LENGTH_MAX &&
        in_segment(of, segment->length) <= RFN_SEGMENT_LENGTH_MAX) {
        of->reached.at = segment->n;
        of->reached.offset = segment->length;
        next_time(of);
    }
    while (of->reached.at < segment->n)
        rfn_representatives_next(of, &event);
}

int rfn_representatives_rest(struct rfn_representatives *of, uint64_t *n, uint64_t *exit)
{
    if (!of->current.segment || of->reached.at == of->current.segment->n)
        RFN_TRY(next_segment(of));
    const struct reached before = of->reached;
    rfn_representatives_pass(of);
    *n = of->current.segment->n - before.at;
    *exit = of->reached.last;
    of->reached = before;
    return 0;
}

int rfn_representatives_decode_ahead(struct rfn_representatives *of)
{
    for (uint32_t i = 0; i < of->of.reduced->n_contexts; i++) {
        struct context *context;
        RFN_TRY(context_of(of, i, &context));
        struct rfn_list_cursor *list = &context->lists[0];
        int error = list->column.n ? rfn_list_next_block(list) : 0;
        if (error < 0)
            return failed(of, rfn_column_fault(error));
    }
    return 0;
}

/* ---- the end ---- */

int rfn_representatives_finish(struct rfn_representatives *of)
{
    uint32_t n_contexts = of->of.reduced->n_contexts;
    RFN_TRY(expect_end(of, &of->top, 1));
    for (uint32_t i = 0; i < of->of.structure->n_symbols; i++) {
        struct symbol_columns *used = of->symbols[i];
        if (used)
            RFN_TRY(expect_end(of, used->columns, used->n));
        else
            RFN_TRY(expect_empty(of, times_at(of, i), is_poll(of, i) ? 4 : 2));
        if (!used && of->of.timing->volume)
            RFN_TRY(expect_empty(of, volumes_at(of, i), 2));
    }
    for (uint32_t i = 0; i < n_contexts; i++) {
        struct context *used = of->contexts[i];
        if (used) {
            RFN_TRY(expect_end(of, used->columns, RFN_PROFILE_PLAIN));
            RFN_TRY(expect_end(of, &used->lists[0].column, 1));
        } else {
            RFN_TRY(expect_empty(of, context_at(of, i), RFN_PROFILE_PLAIN));
            RFN_TRY(expect_empty(of, context_at(of, n_contexts) + i, 1));
        }
    }
    return 0;
}

/* ---- opening and closing ---- */

int rfn_representatives_open(const struct rfn_representatives_of *what,
                             struct rfn_representatives **opened)
{
    const struct rfn_structure *structure = what->structure;
    struct rfn_representatives *of = calloc(1, sizeof *of);
    if (!of)
        return RFN_E_NOMEM;
    of->of = *what;
    *opened = of;
    of->symbols = calloc(structure->n_symbols + (size_t)1, sizeof(struct symbol_columns *));
    of->contexts = calloc(what->reduced->n_contexts + (size_t)1, sizeof(struct context *));
    if (!of->symbols || !of->contexts)
        return failed(of, rfn_out_of_memory);
    if (rfn_structure_walk_open(&of->walk, structure, what->values) < 0 ||
        rfn_structure_walk_cut_at(&of->walk, what->reduced->cuts) < 0)
        return walk_failed(of);
    of->reached.last = what->timing->clock.start;
    of->predicted = of->reached.last + what->reduced->first;
    return open_columns(of, what->reduced->columns, &of->top, 1);
}

void rfn_representatives_close(struct rfn_representatives *of)
{
    if (!of)
        return;
    for (uint32_t i = 0; of->symbols && i < of->of.structure->n_symbols; i++) {
        if (of->symbols[i])
            close_columns(of->symbols[i]->columns, WORDS_MAX);
        free(of->symbols[i]);
    }
    for (uint32_t i = 0; of->contexts && i < of->of.reduced->n_contexts; i++) {
        struct context *context = of->contexts[i];
        if (!context)
            continue;
        close_columns(context->columns, RFN_PROFILE_PLAIN);
        for (unsigned k = 0; k < 1 + RFN_GUIDES_MAX; k++)
            rfn_column_close(&context->lists[k].column);
        rfn_map_release_objects(&context->kept, free);
        free(context);
    }
    rfn_column_close(&of->top);
    rfn_structure_walk_close(&of->walk);
    free(of->symbols);
    free(of->contexts);
    for (int i = 0; i < 2; i++) {
        free(of->own[i].segment.symbols);
        free(of->own[i].segment.words);
    }
    free(of);
}
