/* Of a segment its symbols are known from the structure, and for each event a few words, in the
 * order of the columns of its symbol:
 *
 *   gap, duration;  of a failed poll also polls, inside;  with volumes also volume gap and inside
 *
 * They come from the columns if the segment is new, else from the segment that was new with the
 * same number. */
#include "archive/representatives.h"

#include "archive/walk.h"
#include "base/grow.h"
#include "base/map.h"
#include "reduce/one_way.h"
#include "reduce/segment_starts.h"

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
    uint8_t roles;         /* of its calls (reduce/one_way.h) */
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
    struct rfn_walk walk;
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
    struct rfn_column_cursor columns[WORDS_MAX] = {0};
    int error = open_columns(of, at, columns, n);
    if (!error)
        error = expect_end(of, columns, n);
    close_columns(columns, n);
    return error;
}

static const struct rfn_symbol_info *info_of(const struct rfn_representatives *of, uint32_t symbol)
{
    return &of->of.structure->symbols[symbol];
}

static const size_t *volumes_at(const struct rfn_representatives *of, uint32_t symbol)
{
    return of->of.timing->columns + of->of.timing->n_times + 2 * (size_t)symbol;
}

static int columns_of_symbol(struct rfn_representatives *of, uint32_t symbol,
                             struct symbol_columns **found)
{
    *found = of->symbols[symbol];
    if (*found)
        return 0;
    struct symbol_columns *columns = calloc(1, sizeof *columns);
    if (!columns)
        return failed(of, rfn_out_of_memory);
    of->symbols[symbol] = *found = columns;
    const size_t *at = of->of.timing->columns + info_of(of, symbol)->timing;
    unsigned n = info_of(of, symbol)->failed_poll ? 4 : 2;
    columns->n = n;
    RFN_TRY(open_columns(of, at, columns->columns, n));
    if (!of->of.timing->volume)
        return 0;
    columns->n += 2;
    return open_columns(of, volumes_at(of, symbol), columns->columns + n, 2);
}

static const size_t *context_at(const struct rfn_representatives *of, uint32_t context)
{
    return of->of.reduced->columns + 1 + RFN_PROFILE_PLAIN * (size_t)context;
}

static const size_t *list_at(const struct rfn_representatives *of, uint32_t context)
{
    return context_at(of, of->of.reduced->n_contexts) + context;
}

static int open_lists(struct rfn_representatives *of, uint32_t context,
                      struct rfn_list_cursor *lists)
{
    int error = rfn_reduced_timing_list(of->of.reduced, of->of.timing, context, lists);
    return error < 0 ? failed(of, rfn_column_fault(error)) : 0;
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
    return open_lists(of, number, (*found)->lists);
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
    int more = rfn_walk_next(&of->walk, &of->ahead_symbol);
    if (more < 0)
        return walk_failed(of);
    of->ahead = more;
    if (!more)
        return 0;
    rfn_walk_place(&of->walk,
                   rfn_symbol_mark(of->of.dictionary, of->of.structure, of->ahead_symbol));
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

static uint8_t role_of(const struct rfn_representatives *of, uint32_t symbol)
{
    uint32_t function = of->of.structure->symbols[symbol].function;
    return rfn_class_role(of->of.dictionary->functions[function].class_);
}

/* Reads the words of a new segment and adds up its length. */
static int read_words(struct rfn_representatives *of)
{
    struct segment *new = &of->gathered->segment;
    new->n_words = 0;
    new->length = 0;
    new->roles = 0;
    new->ascends = true;
    for (size_t i = 0; i < new->n; i++) {
        struct symbol_columns *columns;
        RFN_TRY(columns_of_symbol(of, new->symbols[i], &columns));
        if (RFN_GROW(new->words, of->gathered->words_capacity, new->n_words + WORDS_MAX) < 0)
            return failed(of, rfn_out_of_memory);
        int64_t *words = new->words + new->n_words;
        for (unsigned k = 0; k < columns->n; k++)
            RFN_TRY(next_value(of, &columns->columns[k], &words[k]));
        new->length += (uint64_t)words[0] + (uint64_t)words[1];
        new->ascends &= (uint64_t)words[0] <= RFN_SEGMENT_LENGTH_MAX &&
                        (uint64_t)words[1] <= RFN_SEGMENT_LENGTH_MAX &&new->length <=
                            RFN_SEGMENT_LENGTH_MAX;
        new->roles |= role_of(of, new->symbols[i]);
        new->n_words += columns->n;
    }
    new->pace = new->length;
    return new->length > RFN_SEGMENT_LENGTH_MAX ? failed(of, "a segment is too long") : 0;
}

/* A copy, in one allocation. */
static struct segment *copy_of(const struct segment *segment)
{
    size_t words = segment->n_words * sizeof *segment->words;
    size_t symbols = segment->n * sizeof *segment->symbols;
    struct segment *copy = malloc(sizeof *copy + words + symbols);
    if (!copy)
        return NULL;
    *copy = *segment;
    copy->words = (int64_t *)(copy + 1);
    copy->symbols = (uint32_t *)(copy->words + segment->n_words);
    memcpy(copy->words, segment->words, words);
    memcpy(copy->symbols, segment->symbols, symbols);
    return copy;
}

static int keep(struct rfn_representatives *of, struct context *context)
{
    const struct segment *new = &of->gathered->segment;
    of->n_kept += new->n;
    if (of->n_kept > RFN_KEPT_EVENTS_MAX)
        return failed(of, "too many events are kept");
    struct segment *copy = copy_of(new);
    if (copy && rfn_map_put_object(&context->kept, context->n, copy) == 0)
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

static int take_top(struct rfn_representatives *of, int64_t *correction)
{
    RFN_TRY(next_value(of, &of->top, correction));
    of->next.segment = &of->gathered->segment;
    return read_words(of);
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
    RFN_TRY(context < n_top ? take_top(of, &correction) : take(of, context - n_top, &correction));
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
static int stretch(struct rfn_representatives *of)
{
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

static int next_segment(struct rfn_representatives *of)
{
    if (!of->next.segment)
        RFN_TRY(take_next(of));
    of->current = of->next;
    of->next.segment = NULL;
    of->reached = (struct reached){.last = of->reached.last};
    of->begin = of->current.start;
    return of->of.timing->stretched ? stretch(of) : 0;
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
    bool poll = info_of(of, segment->symbols[of->reached.at++])->failed_poll;
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

static int finish_symbol(struct rfn_representatives *of, uint32_t symbol)
{
    struct symbol_columns *columns = of->symbols[symbol];
    if (columns)
        return expect_end(of, columns->columns, columns->n);
    const struct rfn_symbol_info *info = info_of(of, symbol);
    RFN_TRY(expect_empty(of, of->of.timing->columns + info->timing, info->failed_poll ? 4 : 2));
    return of->of.timing->volume ? expect_empty(of, volumes_at(of, symbol), 2) : 0;
}

static int finish_context(struct rfn_representatives *of, uint32_t context)
{
    struct context *used = of->contexts[context];
    RFN_TRY(used ? expect_end(of, used->columns, RFN_PROFILE_PLAIN)
                 : expect_empty(of, context_at(of, context), RFN_PROFILE_PLAIN));
    return used ? expect_end(of, &used->lists[0].column, 1)
                : expect_empty(of, list_at(of, context), 1);
}

int rfn_representatives_finish(struct rfn_representatives *of)
{
    RFN_TRY(expect_end(of, &of->top, 1));
    for (uint32_t i = 0; i < of->of.structure->n_symbols; i++)
        RFN_TRY(finish_symbol(of, i));
    for (uint32_t i = 0; i < of->of.reduced->n_contexts; i++)
        RFN_TRY(finish_context(of, i));
    return 0;
}

/* ---- opening and closing ---- */

static int begin(struct rfn_representatives *of)
{
    const struct rfn_structure *structure = of->of.structure;
    of->symbols = calloc(structure->n_symbols + (size_t)1, sizeof(struct symbol_columns *));
    of->contexts = calloc(of->of.reduced->n_contexts + (size_t)1, sizeof(struct context *));
    if (!of->symbols || !of->contexts)
        return failed(of, rfn_out_of_memory);
    if (rfn_walk_open(&of->walk, structure, of->of.values) < 0 ||
        rfn_walk_cut_at(&of->walk, of->of.reduced->cuts) < 0)
        return walk_failed(of);
    of->reached.last = of->of.timing->clock.start;
    of->predicted = of->reached.last + of->of.reduced->first;
    return open_columns(of, of->of.reduced->columns, &of->top, 1);
}

int rfn_representatives_open(const struct rfn_representatives_of *what,
                             struct rfn_representatives **opened)
{
    struct rfn_representatives *of = calloc(1, sizeof *of);
    if (!of)
        return RFN_E_NOMEM;
    of->of = *what;
    *opened = of;
    return begin(of);
}

static void free_context(struct context *context)
{
    if (!context)
        return;
    close_columns(context->columns, RFN_PROFILE_PLAIN);
    for (unsigned i = 0; i < 1 + RFN_GUIDES_MAX; i++)
        rfn_column_close(&context->lists[i].column);
    rfn_map_release_objects(&context->kept, free);
    free(context);
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
    for (uint32_t i = 0; of->contexts && i < of->of.reduced->n_contexts; i++)
        free_context(of->contexts[i]);
    rfn_column_close(&of->top);
    rfn_walk_close(&of->walk);
    free(of->symbols);
    free(of->contexts);
    for (int i = 0; i < 2; i++) {
        free(of->own[i].segment.symbols);
        free(of->own[i].segment.words);
    }
    free(of);
}
