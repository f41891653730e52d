/* reduced_model.h - reduced archives with known times, made from scratch.
 *
 * For tests. Beside archive_model.h, whose writer of definitions it uses: a structure, its
 * execution by plain recursion, segments that are new or like others by chance, and the times that
 * follow, as refrain-archive(5), PROFILE, defines them. All values can be changed before they are
 * written, and the same events can be written as a full archive. To be included by one program.
 */
#ifndef RFN_TESTS_SUPPORT_REDUCED_MODEL_H
#define RFN_TESTS_SUPPORT_REDUCED_MODEL_H

#include "archive/cursor/pack_spreads.h"
#include "archive/read/reduced_timing.h"
#include "reduce/columns/list_writer.h"
#include "support/archive_model.h"

#include <stdlib.h>

/* Two sites of MPI_Init, two of MPI_Finalize, unsuccessful MPI_Test. */
enum { PLAIN_0, PLAIN_1, PLAIN_2, PLAIN_3, POLL, R_SYMBOLS };
enum { GAP, DURATION, POLLS, INSIDE, VOLUME_GAP, VOLUME_INSIDE, R_WORDS };
enum { R_LOOPS = 6, R_NODES = 10, R_CONTEXTS = 24 };

#define SYMBOL(number) ((number)*2)
#define LOOP(number)   ((number)*2 + 1)

struct numbers {
    int64_t *values;
    size_t n, capacity;
};

struct node_list {
    unsigned n;
    uint8_t nodes[R_NODES];
};

/* The k-th execution of loop l makes least[l] + (5 k + l) % more[l] trips. */
struct shape {
    struct node_list top, loops[R_LOOPS];
    unsigned n_loops;
    uint8_t cuts[R_LOOPS];
    unsigned least[R_LOOPS], more[R_LOOPS];
};

struct made_event {
    int symbol;
    uint64_t enter, exit; /* quanta */
    int64_t polls, inside, volume_gap, volume_inside;
};

/* A segment that can be executed again. */
struct made_segment {
    unsigned context;
    int64_t number;
    size_t n;
    int *symbols;
    int64_t (*words)[R_WORDS];
    uint64_t length, pace;
};

/* What one PROFILE says, and the events that follow from it. */
struct made_set {
    struct numbers words[R_SYMBOLS][R_WORDS], top, contexts[R_CONTEXTS][RFN_PROFILE_COLUMNS];
    uint64_t start, first, tolerance, share;
    struct made_event *events;
    size_t n, capacity;
    uint64_t next_start, last, random;
    struct made_segment *kept;
    size_t n_kept, kept_capacity;
    struct made_segment
        waiting; /* the last one, which lasts until the next one starts; n 0: none */
    bool waiting_kept;
    uint64_t waiting_start;
};

/* Four ranks, one group, the same values. */
struct reduced_run {
    struct shape shape;
    struct made_set sets[N_RANKS];
    int64_t set_of[N_RANKS];
    struct numbers trips[R_LOOPS];
    size_t occurrences[R_SYMBOLS];
    uint64_t calls[N_RANKS];
    unsigned n_contexts; /* of loops that cut */
    unsigned first_context[R_LOOPS];
    uint8_t clock; /* 0, or 3: of the run */
    bool volume, compress, full;
    bool stretched;
    bool together; /* in a PROFILES; clock is 3 */
    /* What is wrong on purpose. */
    bool not_reduced, with_timing, with_profile, only_timing, trailing, marks, other_clock;
    int missing;                                   /* 1 + time set */
    unsigned wrong_number, wrong_guide, wrong_end; /* of PROFILES */
    unsigned pairs;
    uint32_t group_of[N_RANKS];
    bool no_spreads;
    bool site_spreads;             /* as minor version 4 has them */
    const struct rfn_buf *spreads; /* this payload instead of the right one; may be NULL */
};

static void add_number(struct numbers *to, int64_t value)
{
    if (to->n == to->capacity) {
        to->capacity = to->capacity ? 2 * to->capacity : 8;
        to->values = realloc(to->values, to->capacity * sizeof *to->values);
        assert_non_null(to->values);
    }
    to->values[to->n++] = value;
}

/* ---- executing ---- */

/* Per symbol function and path. Functions may be marks (model_classes). */
static const uint8_t sites[R_SYMBOLS][2] = {
    {INIT, 0}, {INIT, 1}, {FINALIZE, 0}, {FINALIZE, 1}, {TEST, 0}};

static uint8_t class_of(int symbol)
{
    return model_classes[sites[symbol][0]];
}

/* A segment that is being gathered. */
struct gathering {
    struct reduced_run *run;
    struct made_set *set; /* NULL: only trips and occurrences are counted */
    int *symbols;
    size_t n, capacity;
    int context; /* -1: of the top */
};

static unsigned stretches(const struct shape *shape, const struct node_list *list)
{
    unsigned n = 1;
    for (unsigned i = 0; i < list->n; i++)
        n += (list->nodes[i] & 1) && shape->cuts[list->nodes[i] >> 1] == 1;
    return n;
}

static void number_made_contexts(struct reduced_run *run)
{
    run->n_contexts = 0;
    for (unsigned i = 0; i < run->shape.n_loops; i++) {
        run->first_context[i] = run->n_contexts;
        if (run->shape.cuts[i])
            run->n_contexts += stretches(&run->shape, &run->shape.loops[i]);
    }
    assert_true(run->n_contexts <= R_CONTEXTS);
}

static int64_t made_word(struct made_set *set, int which)
{
    static const unsigned limits[R_WORDS] = {3000, 900, 9, 700, 100000, 70};
    return (int64_t)(noise(&set->random) % limits[which]) + (which == POLLS);
}

static bool has_word(const struct reduced_run *run, int symbol, int which)
{
    return which < POLLS || (which < VOLUME_GAP ? symbol == POLL : run->volume);
}

static uint64_t later(struct made_set *set, uint64_t time)
{
    if ((int64_t)(time - set->last) > 0)
        set->last = time;
    return set->last;
}

/* Where in a segment that lasts for `room` what is at the offset is, if it is in it at all. */
static uint64_t moved(uint64_t offset, uint64_t length, uint64_t room)
{
    if ((int64_t)offset < 0)
        return 0;
    return offset < length ? (uint64_t)((rfn_u128)offset * room / length) : room;
}

/* room: how long it lasts. */
static void add_made_events(struct made_set *set, const struct made_segment *segment,
                            uint64_t start, uint64_t room)
{
    uint64_t at = 0;
    for (size_t i = 0; i < segment->n; i++) {
        if (set->n == set->capacity) {
            set->capacity = set->capacity ? 2 * set->capacity : 64;
            set->events = realloc(set->events, set->capacity * sizeof *set->events);
            assert_non_null(set->events);
        }
        const int64_t *word = segment->words[i];
        struct made_event *event = &set->events[set->n++];
        *event = (struct made_event){.symbol = segment->symbols[i],
                                     .polls = word[POLLS],
                                     .volume_gap = word[VOLUME_GAP],
                                     .volume_inside = word[VOLUME_INSIDE]};
        at += (uint64_t)word[GAP];
        event->enter = later(set, start + moved(at, segment->length, room));
        at += (uint64_t)word[DURATION];
        event->exit = later(set, start + moved(at, segment->length, room));
        event->inside = (int64_t)(event->exit - event->enter);
        int64_t inside = (int64_t)moved((uint64_t)word[INSIDE], segment->length, room);
        if (event->symbol == POLL && inside < event->inside)
            event->inside = inside;
    }
}

static struct made_segment *find_kept(struct made_set *set, const struct gathering *gathering)
{
    for (size_t i = set->n_kept; i-- > 0;) {
        struct made_segment *kept = &set->kept[i];
        if (kept->context == (unsigned)gathering->context && kept->n == gathering->n &&
            memcmp(kept->symbols, gathering->symbols, kept->n * sizeof *kept->symbols) == 0 &&
            noise(&set->random) % 3)
            return kept;
    }
    return NULL;
}

/* New words, which go to the columns of their symbols. */
static struct made_segment make_segment(struct gathering *gathering)
{
    struct made_set *set = gathering->set;
    struct made_segment segment = {.n = gathering->n};
    segment.symbols = malloc(segment.n * sizeof *segment.symbols);
    segment.words = calloc(segment.n, sizeof *segment.words);
    assert_true(segment.symbols && segment.words);
    memcpy(segment.symbols, gathering->symbols, segment.n * sizeof *segment.symbols);
    for (size_t i = 0; i < segment.n; i++) {
        segment.words[i][POLLS] = 1;
        for (int which = 0; which < R_WORDS; which++) {
            if (!has_word(gathering->run, segment.symbols[i], which))
                continue;
            segment.words[i][which] = made_word(set, which);
            add_number(&set->words[segment.symbols[i]][which], segment.words[i][which]);
        }
        segment.length += (uint64_t)(segment.words[i][GAP] + segment.words[i][DURATION]);
    }
    segment.pace = segment.length;
    return segment;
}

static void forget(const struct made_segment *segment)
{
    free(segment->symbols);
    free(segment->words);
}

/* A new segment of a loop: its pace is up to a sixteenth beside its length. */
static struct made_segment new_in_context(struct gathering *gathering, bool *kept)
{
    struct made_set *set = gathering->set;
    struct numbers *columns = set->contexts[gathering->context];
    struct made_segment segment = make_segment(gathering);
    int64_t pace = (int64_t)(noise(&set->random) % (segment.length / 8 + 1)) -
                   (int64_t)(segment.length / 16);
    *kept = noise(&set->random) % 4 > 0;
    segment.pace += (uint64_t)pace;
    segment.context = (unsigned)gathering->context;
    segment.number = (int64_t)columns[RFN_PROFILE_PACE].n;
    add_number(&columns[RFN_PROFILE_PACE], pace);
    add_number(&columns[RFN_PROFILE_KEPT], *kept);
    if (!*kept)
        return segment;
    if (set->n_kept == set->kept_capacity) {
        set->kept_capacity = 2 * set->kept_capacity + 8;
        set->kept = realloc(set->kept, set->kept_capacity * sizeof *set->kept);
        assert_non_null(set->kept);
    }
    set->kept[set->n_kept++] = segment;
    return segment;
}

/* Adds the events of the segment that waits, which lasts until `end`. */
static void end_waiting(struct made_set *set, uint64_t end)
{
    if (set->waiting.n == 0)
        return;
    uint64_t begin = set->waiting_start;
    uint64_t start = (int64_t)(begin - set->last) > 0 ? begin : set->last;
    add_made_events(set, &set->waiting, start, (int64_t)(end - start) > 0 ? end - start : 0);
    if (!set->waiting_kept)
        forget(&set->waiting);
    set->waiting.n = 0;
}

static void add_segment(struct gathering *gathering, const struct made_segment *segment,
                        uint64_t start, bool kept)
{
    struct made_set *set = gathering->set;
    if (gathering->run->stretched) {
        end_waiting(set, start);
        set->waiting = *segment;
        set->waiting_kept = kept;
        set->waiting_start = start;
        return;
    }
    add_made_events(set, segment, start, segment->length);
    if (!kept)
        forget(segment);
}

static void end_segment(struct gathering *gathering)
{
    struct made_set *set = gathering->set;
    if (!set || gathering->n == 0) {
        gathering->n = 0;
        return;
    }
    struct made_segment segment;
    bool kept = true, first = set->n == 0 && set->waiting.n == 0;
    int64_t correction = first ? 0 : (int64_t)(noise(&set->random) % 7) - 3;
    if (gathering->context < 0) {
        segment = make_segment(gathering);
        kept = false;
        add_number(&set->top, correction);
    } else {
        struct numbers *columns = set->contexts[gathering->context];
        struct made_segment *like = find_kept(set, gathering);
        segment = like ? *like : new_in_context(gathering, &kept);
        add_number(&columns[RFN_PROFILE_REPRESENTATIVE], segment.number);
        add_number(&columns[RFN_PROFILE_CORRECTION], correction);
    }
    uint64_t unit = set->tolerance + (segment.length * set->share >> 16);
    uint64_t start = set->next_start + (uint64_t)correction * (unit ? unit : 1);
    set->next_start = start + segment.pace;
    add_segment(gathering, &segment, start, kept);
    gathering->n = 0;
}

static void gather_event(struct gathering *gathering, int symbol)
{
    bool behind_mark = gathering->n &&
                       class_of(gathering->symbols[gathering->n - 1]) == RFN_CLASS_SEGMENT_END;
    if (gathering->n == RFN_SEGMENT_EVENTS_MAX || behind_mark ||
        class_of(symbol) == RFN_CLASS_SEGMENT_BEGIN)
        end_segment(gathering);
    if (gathering->n == gathering->capacity) {
        gathering->capacity = 2 * gathering->capacity + 8;
        gathering->symbols = realloc(gathering->symbols,
                                     gathering->capacity * sizeof *gathering->symbols);
        assert_non_null(gathering->symbols);
    }
    gathering->symbols[gathering->n++] = symbol;
    if (!gathering->set)
        gathering->run->occurrences[symbol]++;
}

/* executions[]: of each loop, so far. context: of the first stretch, if something cuts here. */
static void execute(struct gathering *gathering, const struct node_list *list, int context,
                    bool flat, size_t *executions)
{
    struct reduced_run *run = gathering->run;
    const struct shape *shape = &run->shape;
    for (unsigned i = 0; i < list->n; i++) {
        unsigned index = list->nodes[i] >> 1;
        if (!flat)
            gathering->context = context;
        if (!(list->nodes[i] & 1)) {
            gather_event(gathering, (int)index);
            continue;
        }
        size_t trips = shape->least[index] + (5 * executions[index]++ + index) % shape->more[index];
        bool cuts = !flat && shape->cuts[index] == 1;
        if (!gathering->set)
            add_number(&run->trips[index], (int64_t)trips);
        if (cuts)
            end_segment(gathering);
        for (size_t k = 0; k < trips; k++) {
            execute(gathering, &shape->loops[index], (int)run->first_context[index], flat || !cuts,
                    executions);
            if (cuts)
                end_segment(gathering);
        }
        if (cuts && context >= 0)
            context++;
    }
}

/* Executes the run for a set, or (NULL) counts what all have in common. */
static void execute_all(struct reduced_run *run, struct made_set *set)
{
    struct gathering gathering = {.run = run, .set = set};
    size_t executions[R_LOOPS] = {0};
    execute(&gathering, &run->shape.top, -1, false, executions);
    gathering.context = -1;
    end_segment(&gathering);
    if (set)
        end_waiting(set, set->waiting_start + set->waiting.length);
    free(gathering.symbols);
}

/* Makes the sets of a run whose shape, clock, volume and set_of are there. */
static void make_reduced(struct reduced_run *run, uint64_t seed)
{
    make_model();
    number_made_contexts(run);
    execute_all(run, NULL);
    for (int i = 0; i < N_RANKS; i++) {
        struct made_set *set = &run->sets[i];
        set->random = seed * 100 + (uint64_t)i;
        set->start = run->clock ? 0 : model[i].start;
        set->first = 5 + (uint64_t)i * 3;
        set->tolerance = noise(&set->random) % 40;
        set->share = noise(&set->random) % 9000;
        set->last = set->start;
        set->next_start = set->start + set->first;
        if (run->set_of[i] == i)
            execute_all(run, set);
    }
}

static void free_numbers(struct numbers *numbers)
{
    free(numbers->values);
    *numbers = (struct numbers){0};
}

static void free_set(struct made_set *set)
{
    for (int s = 0; s < R_SYMBOLS; s++) {
        for (int w = 0; w < R_WORDS; w++)
            free_numbers(&set->words[s][w]);
    }
    for (int c = 0; c < R_CONTEXTS; c++) {
        for (int k = 0; k < RFN_PROFILE_COLUMNS; k++)
            free_numbers(&set->contexts[c][k]);
    }
    for (size_t i = 0; i < set->n_kept; i++)
        forget(&set->kept[i]);
    free_numbers(&set->top);
    free(set->kept);
    free(set->events);
}

static void free_reduced(struct reduced_run *run)
{
    for (int i = 0; i < N_RANKS; i++)
        free_set(&run->sets[i]);
    for (int i = 0; i < R_LOOPS; i++)
        free_numbers(&run->trips[i]);
}

/* ---- writing ---- */

static const struct rfn_run_reduction made_reduction = {
    .executions = 1000,
    .kinds = 20,
    .representatives = 118,
    .corrections = 7,
    .streams = 4,
    .classes = 2,
    .time_sets = 3,
    .widened = 1,
    .full_bytes = 123456,
    .min_calls = 2,
    .exact_starts = true,
};

static void write_reduced_meta(struct writer *writer, const struct reduced_run *run)
{
    const struct rfn_run_reduction *to = &made_reduction;
    const uint64_t numbers[] = {
        1,           2,           to->executions, to->kinds,   to->representatives, to->corrections,
        to->streams, to->classes, to->time_sets,  to->widened, to->full_bytes};
    struct rfn_buf out = RFN_BUF_INIT;
    const char *const texts[] = {"refrain 0.1.0", "/bin/model", "./model 4", "MPI", "mpich"};
    bool reduced = !run->full && !run->not_reduced;
    for (int i = 0; i < 5; i++)
        rfn_buf_string(&out, texts[i]);
    rfn_buf_u64(&out, 1700000000000000000u);
    rfn_buf_varint(&out, N_RANKS);
    rfn_buf_varint(&out, 1u + 4u * run->volume + 16u * reduced);
    rfn_buf_varint(&out, 2500000);
    if (run->volume) {
        rfn_buf_string(&out, "papi:model");
        rfn_buf_string(&out, "ticks");
    }
    if (reduced) {
        rfn_buf_string(&out, "avgWave:0.2");
        rfn_buf_string(&out, "avgWave:0.4");
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            rfn_buf_varint(&out, numbers[i]);
    }
    add_chunk(writer, RFN_CHUNK_META, 0, &out);
}

static const struct made_set *set_of(const struct reduced_run *run, int stream)
{
    int64_t set = run->set_of[stream];
    return &run->sets[set >= 0 && set < N_RANKS ? set : stream];
}

static void write_reduced_streams(struct writer *writer, const struct reduced_run *run)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, N_RANKS);
    for (int k = 0; k < RFN_STREAM_WORDS; k++) {
        for (int i = 0; i < N_RANKS; i++) {
            const struct made_set *set = set_of(run, i);
            uint64_t calls = 0;
            int64_t regions = 0;
            for (size_t e = 0; e < set->n; e++) {
                calls += (uint64_t)set->events[e].polls;
                regions += !rfn_class_is_mpi(class_of(set->events[e].symbol));
            }
            const int64_t words[RFN_STREAM_WORDS] = {
                [RFN_WORD_RANK] = i,
                [RFN_WORD_GROUP] = run->group_of[i],
                [RFN_WORD_VALUES] = run->group_of[i],
                [RFN_WORD_HOST] = model[i].host,
                [RFN_WORD_EVENTS] = (int64_t)set->n,
                [RFN_WORD_CALLS] = (int64_t)calls,
                [RFN_WORD_START] = (int64_t)monotonic_of(model[i].start),
                [RFN_WORD_REALTIME] = (int64_t)offset_of(&model[i]),
                [RFN_WORD_VOLUME] = run->volume,
                [RFN_WORD_REGIONS] = regions,
                [RFN_WORD_TIMES] = run->full ? i : run->set_of[i],
            };
            rfn_buf_varint(&out, 4);
            rfn_buf_svarint(&out, words[k]);
        }
    }
    add_chunk(writer, RFN_CHUNK_STREAMS, 0, &out);
}

static void write_nodes(const struct node_list *list, struct rfn_buf *out)
{
    rfn_buf_varint(out, list->n);
    for (unsigned i = 0; i < list->n; i++)
        rfn_buf_varint(out, list->nodes[i]);
}

static void write_reduced_structure(struct writer *writer, const struct reduced_run *run,
                                    uint32_t group)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, R_SYMBOLS);
    for (int s = 0; s < R_SYMBOLS; s++)
        rfn_buf_bytes(&out, sites[s], 2);
    rfn_buf_bytes(&out, "\0\0", 2); /* datatypes, communicators */
    rfn_buf_varint(&out, R_SYMBOLS);
    for (unsigned s = 0; s < R_SYMBOLS; s++) {
        rfn_buf_varint(&out, s * 2 + (s == POLL));
        rfn_buf_bytes(&out, "\0\0", 2);
        if (s == POLL)
            rfn_buf_svarint(&out, rfn_request_word(RFN_REQUEST_RECENT, 1));
    }
    rfn_buf_varint(&out, run->shape.n_loops);
    for (unsigned i = 0; i < run->shape.n_loops; i++)
        write_nodes(&run->shape.loops[i], &out);
    write_nodes(&run->shape.top, &out);
    add_chunk(writer, RFN_CHUNK_STRUCTURE, group, &out);
}

static void write_numbers(const struct numbers *numbers, struct rfn_buf *out)
{
    struct column_writer column;
    begin_column(&column, out);
    for (size_t i = 0; i < numbers->n; i++)
        add_value(&column, numbers->values[i]);
    end_column(&column);
}

static void write_reduced_values(struct writer *writer, const struct reduced_run *run, uint32_t set)
{
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_bytes(&out, "\0\0\0\0\0", 5); /* no lists */
    for (unsigned i = 0; i < run->shape.n_loops; i++)
        write_numbers(&run->trips[i], &out);
    for (int k = 0; k < 2; k++) { /* flag and completions */
        rfn_buf_varint(&out, run->occurrences[POLL]);
        rfn_buf_varint(&out, 0);
    }
    add_chunk(writer, RFN_CHUNK_VALUES, set, &out);
}

static void write_reduced_clock(const struct writer *writer, const struct reduced_run *run,
                                int stream, struct rfn_buf *out)
{
    if (run->clock == 0 || run->full) {
        write_clock(writer, &model[(stream + run->other_clock) % N_RANKS], out);
        return;
    }
    rfn_buf_u8(out, run->clock);
    rfn_buf_varint(out, run->pairs);
    for (unsigned i = 0; i < 3 * run->pairs; i++)
        rfn_buf_u64(out, i);
    rfn_buf_u64(out, run->sets[stream].start);
    rfn_buf_varint(out, 0);
}

/* What stands before the lists. */
static struct rfn_buf write_rest(const struct writer *writer, const struct reduced_run *run,
                                 int stream)
{
    const struct made_set *set = &run->sets[stream];
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, 1 + 2u * run->volume + 4u * run->stretched);
    write_reduced_clock(writer, run, stream, &out);
    if (run->marks) {
        out.size--;
        rfn_buf_bytes(&out, "\1\5", 2);
    }
    for (int s = 0; s < R_SYMBOLS; s++) {
        for (int w = GAP; w < (s == POLL ? VOLUME_GAP : POLLS); w++)
            write_numbers(&set->words[s][w], &out);
    }
    for (int s = 0; s < R_SYMBOLS && run->volume; s++) {
        write_numbers(&set->words[s][VOLUME_GAP], &out);
        write_numbers(&set->words[s][VOLUME_INSIDE], &out);
    }
    rfn_buf_bytes(&out, run->shape.cuts, run->shape.n_loops);
    rfn_buf_varint(&out, set->first);
    rfn_buf_varint(&out, set->tolerance);
    rfn_buf_varint(&out, set->share);
    write_numbers(&set->top, &out);
    for (unsigned c = 0; c < run->n_contexts; c++) {
        for (int k = 0; k < RFN_PROFILE_PLAIN; k++)
            write_numbers(&set->contexts[c][k], &out);
    }
    return out;
}

static void write_profile(struct writer *writer, const struct reduced_run *run, int stream)
{
    struct rfn_buf out = write_rest(writer, run, stream);
    for (unsigned c = 0; c < run->n_contexts; c++)
        write_numbers(&run->sets[stream].contexts[c][RFN_PROFILE_REPRESENTATIVE], &out);
    if (run->trailing)
        rfn_buf_u8(&out, 0);
    add_chunk(writer, RFN_CHUNK_PROFILE, (uint64_t)stream, &out);
}

static struct rfn_column list_of(const struct numbers *numbers)
{
    struct rfn_column column;
    rfn_column_init(&column);
    for (size_t i = 0; i < numbers->n; i++)
        assert_int_equal(rfn_column_append(&column, numbers->values[i]), 0);
    return column;
}

/* Each list is guided by that of the time set before. */
static struct rfn_buf write_lists_of(const struct reduced_run *run, int stream, int guide)
{
    struct rfn_coder_memory memory = {0};
    struct rfn_buf out = RFN_BUF_INIT;
    for (unsigned c = 0; c < run->n_contexts; c++) {
        const int which = RFN_PROFILE_REPRESENTATIVE;
        struct rfn_column list = list_of(&run->sets[stream].contexts[c][which]);
        struct rfn_column other = list_of(&run->sets[guide].contexts[c][which]);
        const struct rfn_column *beside = guide == stream ? NULL : &other;
        assert_int_equal(rfn_list_pack(NULL, &list, beside, &memory, &out), 0);
        rfn_column_release(&list);
        rfn_column_release(&other);
    }
    rfn_coder_memory_release(&memory);
    if (run->trailing)
        rfn_buf_u8(&out, 0);
    return out;
}

static void write_profiles(struct writer *writer, const struct reduced_run *run)
{
    struct rfn_buf out = RFN_BUF_INIT, rests[N_RANKS], lists[N_RANKS];
    uint32_t n = 0;
    int before = 0;
    for (int i = 0; i < N_RANKS; i++) {
        if (run->set_of[i] != i)
            continue;
        rests[n] = write_rest(writer, run, i);
        lists[n++] = write_lists_of(run, i, before);
        before = i;
    }
    rfn_buf_varint(&out, n + run->wrong_number);
    for (uint32_t i = 0; i < n; i++) {
        rfn_buf_varint(&out, rests[i].size);
        rfn_buf_varint(&out, lists[i].size);
        rfn_buf_varint(&out, (i > 0) + run->wrong_guide);
    }
    for (uint32_t i = 0; i < 2 * n; i++) {
        struct rfn_buf *part = i < n ? &rests[i] : &lists[i - n];
        rfn_buf_bytes(&out, part->data, part->size);
        rfn_buf_release(part);
    }
    add_chunk(writer, RFN_CHUNK_PROFILES, rfn_time_set_table_id(0, N_RANKS - run->wrong_end), &out);
}

static int64_t full_word(const struct made_set *set, uint64_t start, size_t e, int which)
{
    const struct made_event *event = &set->events[e];
    const int64_t words[R_WORDS] = {(int64_t)(event->enter - (e ? event[-1].exit : start)),
                                    (int64_t)(event->exit - event->enter),
                                    event->polls,
                                    event->inside,
                                    event->volume_gap,
                                    event->volume_inside};
    return words[which];
}

static void write_full_column(const struct made_set *set, uint64_t start, int symbol, int which,
                              struct rfn_buf *out)
{
    struct column_writer column;
    begin_column(&column, out);
    for (size_t e = 0; e < set->n; e++) {
        if (set->events[e].symbol == symbol)
            add_value(&column, full_word(set, start, e, which));
    }
    end_column(&column);
}

static uint64_t made_enter(const void *set, size_t event)
{
    return ((const struct made_set *)set)->events[event].enter;
}

/* The same events, as they would be had nothing been reduced. */
static void write_full(struct writer *writer, const struct reduced_run *run, int stream)
{
    const struct made_set *set = set_of(run, stream);
    struct rfn_buf out = RFN_BUF_INIT;
    rfn_buf_varint(&out, 1 + 2u * run->volume);
    write_clock(writer, &model[stream], &out);
    write_marks(model[stream].start, set->n, made_enter, set, &out);
    for (int s = 0; s < R_SYMBOLS; s++) {
        for (int w = GAP; w < (s == POLL ? VOLUME_GAP : POLLS); w++)
            write_full_column(set, set->start, s, w, &out);
    }
    for (int s = 0; s < R_SYMBOLS && run->volume; s++) {
        write_full_column(set, set->start, s, VOLUME_GAP, &out);
        write_full_column(set, set->start, s, VOLUME_INSIDE, &out);
    }
    add_chunk(writer, RFN_CHUNK_TIMING, (uint64_t)stream, &out);
}

static uint32_t groups_of(const struct reduced_run *run)
{
    uint32_t n = 0;
    for (int i = 0; i < N_RANKS; i++)
        n = run->group_of[i] >= n ? run->group_of[i] + 1 : n;
    return n;
}

static void write_times(struct writer *writer, const struct reduced_run *run)
{
    for (int i = 0; i < N_RANKS; i++) {
        bool own = run->set_of[i] == i && run->missing != i + 1;
        if (run->full || run->with_timing || (run->only_timing && own))
            write_full(writer, run, i);
        if (!run->full && !run->only_timing && own && (!run->together || run->with_profile))
            write_profile(writer, run, i);
    }
    if (run->together && !run->full)
        write_profiles(writer, run);
}

/* As if the times that come out had been the measured ones. Symbols are sites. */
static int spread_stream(const struct made_set *set, struct rfn_spread_table *table)
{
    for (size_t e = 0; e < set->n; e++) {
        const struct made_event *event = &set->events[e];
        uint32_t site = (uint32_t)event->symbol;
        RFN_TRY(rfn_spread_table_event(table, rfn_spread_place(site, site == POLL),
                                       e ? (int64_t)event[-1].exit : 0, (int64_t)event->enter,
                                       (int64_t)event->exit));
    }
    return 0;
}

static struct rfn_buf pack_spreads(const struct reduced_run *run)
{
    struct rfn_buf out = RFN_BUF_INIT;
    struct rfn_spreads spreads = {0};
    for (int i = 0; i < N_RANKS; i++) {
        struct rfn_spread_table table = {0};
        assert_int_equal(spread_stream(set_of(run, i), &table), 0);
        assert_int_equal(rfn_spreads_add(&spreads, (struct rfn_hash128){0, 0}, (uint64_t)i, &table),
                         0);
        rfn_spread_table_release(&table);
    }
    assert_int_equal(rfn_pack_spreads(&spreads, &out), 0);
    rfn_spreads_release(&spreads);
    return out;
}

static void write_spreads(struct writer *writer, const struct reduced_run *run)
{
    struct rfn_buf out = RFN_BUF_INIT;
    if (run->spreads)
        rfn_buf_bytes(&out, run->spreads->data, run->spreads->size);
    else
        out = pack_spreads(run);
    add_chunk(writer, run->site_spreads ? RFN_CHUNK_SITE_SPREADS : RFN_CHUNK_SPREADS, 0, &out);
}

static struct rfn_buf write_reduced(const struct reduced_run *run)
{
    struct writer writer = {
        .compress = run->compress, .times = true, .volume = run->volume, .minor = RFN_FORMAT_MINOR};
    uint8_t header[RFN_HEADER_BYTES];
    rfn_header_write(header, RFN_STATE_WRITING, 0, 0);
    rfn_buf_bytes(&writer.file, header, sizeof header);
    write_reduced_meta(&writer, run);
    write_definitions(&writer);
    write_reduced_streams(&writer, run);
    write_clocks(&writer);
    for (uint32_t group = 0; group < groups_of(run); group++) {
        struct rfn_buf out = RFN_BUF_INIT;
        rfn_buf_bytes(&out, "\0", 1);
        add_chunk(&writer, RFN_CHUNK_RANK_PARAMS, group, &out);
    }
    for (uint32_t group = 0; group < groups_of(run); group++) {
        write_reduced_structure(&writer, run, group);
        write_reduced_values(&writer, run, group);
    }
    write_times(&writer, run);
    if (!run->full && !run->not_reduced && !run->no_spreads)
        write_spreads(&writer, run);
    write_tail(&writer);
    assert_false(writer.file.failed);
    return writer.file;
}

/* ---- shapes ---- */

/* L0 lies in the top and in L1, whose first stretch is empty. */
static const struct shape nested = {
    .top = {5, {SYMBOL(PLAIN_0), LOOP(1), SYMBOL(PLAIN_1), LOOP(0), SYMBOL(PLAIN_2)}},
    .loops = {{2, {SYMBOL(PLAIN_0), SYMBOL(PLAIN_1)}}, {2, {LOOP(0), SYMBOL(POLL)}}},
    .n_loops = 2,
    .cuts = {1, 1},
    .least = {0, 30},
    .more = {4, 1}};

/* L0 does not cut, so that L1's segments have different events; L2's middle stretches are empty. */
static const struct shape mixed = {.top = {3, {LOOP(2), LOOP(1), SYMBOL(PLAIN_3)}},
                                   .loops = {{1, {SYMBOL(PLAIN_0)}},
                                             {3, {SYMBOL(PLAIN_1), LOOP(0), SYMBOL(POLL)}},
                                             {4, {LOOP(1), LOOP(1), SYMBOL(PLAIN_3), LOOP(1)}}},
                                   .n_loops = 3,
                                   .cuts = {0, 1, 1},
                                   .least = {0, 0, 9},
                                   .more = {3, 5, 1}};

/* L0 would cut, but lies in L1, which does not: its columns are empty. L2 never runs. */
static const struct shape flat = {.top = {4, {LOOP(1), SYMBOL(PLAIN_3), LOOP(2), LOOP(3)}},
                                  .loops = {{2, {SYMBOL(PLAIN_0), SYMBOL(PLAIN_1)}},
                                            {2, {LOOP(0), SYMBOL(PLAIN_2)}},
                                            {1, {SYMBOL(PLAIN_0)}},
                                            {2, {SYMBOL(POLL), LOOP(1)}}},
                                  .n_loops = 4,
                                  .cuts = {1, 0, 1, 1},
                                  .least = {1, 1, 0, 12},
                                  .more = {4, 2, 1, 1}};

static const struct shape *const shapes[] = {&nested, &mixed, &flat};

enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static struct reduced_run *new_run(const struct shape *shape, unsigned variant, uint64_t seed)
{
    struct reduced_run *run = calloc(1, sizeof *run);
    assert_non_null(run);
    run->shape = *shape;
    run->volume = variant & 1;
    run->clock = variant & 2 ? 3 : 0;
    run->compress = variant & 4;
    run->together = (variant & 10) == 10;
    run->stretched = variant & 16;
    bool shared = variant & (2 | 8);
    for (int i = 0; i < N_RANKS; i++)
        run->set_of[i] = shared ? (const int64_t[]){0, 1, 0, 1}[i] : i;
    make_reduced(run, seed);
    return run;
}

static void delete_run(struct reduced_run *run)
{
    free_reduced(run);
    free(run);
}

#endif
