#include "record/regions/regions.h"

#include "base/grow.h"
#include "base/hash.h"
#include "base/map.h"
#include "record/core/begin.h"
#include "record/core/message.h"
#include "record/core/pause.h"
#include "record/handles/params.h"
#include "record/regions/function_calls.h"
#include "refrain/region.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_BITS = 5, NAME_MAX_BYTES = 1023 };

struct name {
    char *text;
    size_t length;
    int64_t word;
};

/* Where the program keeps a name. What lies there may have changed. */
struct known {
    const char *pointer;
    uint32_t number;
};

/* What the program begins and ends; segments do not nest with regions. */
enum kind { REGION, SEGMENT, N_KINDS };

static const struct {
    uint32_t begin, end; /* enum rec_fn */
    const char *what;
} kinds[N_KINDS] = {
    [REGION] = {REC_FN_refrain_region_begin, REC_FN_refrain_region_end, "region"},
    [SEGMENT] = {REC_FN_refrain_segment_begin, REC_FN_refrain_segment_end, "segment"},
};

struct open {
    uint32_t number;
    bool recorded;
    uint64_t order; /* of begins in the stream */
};

/* What is open of a kind, innermost last. */
struct stack {
    struct open *open;
    size_t depth, capacity;
};

struct rec_regions {
    struct known cache[1 << CACHE_BITS];
    struct name *names;
    size_t n_names, names_capacity;
    struct rfn_map by_word; /* hash of a name -> its number */
    struct stack stacks[N_KINDS];
    uint64_t begun;
};

/* What the thread has begun before MPI was there to be recorded. */
static __thread uint32_t unseen[N_KINDS] REC_TLS_MODEL;

/* ---- names ---- */

static int64_t add_name(struct rec_regions *regions, const char *text, size_t length, int64_t word)
{
    RFN_TRY(RFN_GROW(regions->names, regions->names_capacity, regions->n_names + 1));
    char *copy = malloc(length + 1);
    if (!copy || rfn_map_put(&regions->by_word, (uint64_t)word, regions->n_names) < 0) {
        free(copy);
        return RFN_E_NOMEM;
    }
    memcpy(copy, text, length);
    copy[length] = 0;
    regions->names[regions->n_names] = (struct name){copy, length, word};
    return (int64_t)regions->n_names++;
}

/* The number of a name; for a new one RFN_E_NOTFOUND, or, if it is to be added, its number or
 * RFN_E_NOMEM. Names of equal hash are taken for equal, as all ranks do. */
static int64_t find(struct rec_regions *regions, const char *text, size_t length, bool add)
{
    const uint64_t at = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u >> (64 - CACHE_BITS);
    struct known *known = &regions->cache[at];
    if (__builtin_expect(known->pointer == text && regions->n_names, 1)) {
        const struct name *name = &regions->names[known->number];
        if (name->length == length && memcmp(name->text, text, length) == 0)
            return known->number;
    }
    int64_t word = (int64_t)(rfn_hash_bytes(text, length) & INT64_MAX);
    word = word ? word : 1;
    const uint64_t *number = rfn_map_get(&regions->by_word, (uint64_t)word);
    const int64_t found = number ? (int64_t)*number
                          : add  ? add_name(regions, text, length, word)
                                 : RFN_E_NOTFOUND;
    if (found >= 0)
        *known = (struct known){text, (uint32_t)found};
    return found;
}

/* ---- events ---- */

static struct rec_stream *stream_of_thread(enum kind kind)
{
    struct rec_stream *stream = rec_this_stream;
    if (__builtin_expect(stream && rec_state == REC_RECORDING, 1))
        return stream;
    if (rec_state == REC_ASLEEP && (unseen[kind] || !rec_is_mpi_there())) {
        unseen[kind]++;
        return NULL;
    }
    return rec_state == REC_ASLEEP || rec_state == REC_RECORDING ? rec_stream_wake() : NULL;
}

/* The stream's regions, with room for one more open one; NULL: no memory. */
static struct rec_regions *regions_of(struct rec_stream *stream, enum kind kind)
{
    if (!stream->regions)
        stream->regions = calloc(1, sizeof *stream->regions);
    struct rec_regions *regions = stream->regions;
    struct stack *stack = regions ? &regions->stacks[kind] : NULL;
    if (stack && stack->depth == stack->capacity &&
        RFN_GROW(stack->open, stack->capacity, stack->depth + 1) < 0)
        regions = NULL;
    return regions;
}

static void record(struct rec_call *call, const struct rec_regions *regions, uint32_t number)
{
    if (rec_functions[call->function].n_in)
        rec_in_int(call, regions->names[number].word);
    call->enter = call->exit = rec_now();
    call->rc = MPI_SUCCESS;
    rec_leave(call);
}

/* Inlined, so that the frame is there as long as it is looked at. */
#define INLINE static inline __attribute__((always_inline))

INLINE void begin(enum kind kind, const char *text, size_t length, void *frame)
{
    struct rec_stream *stream = stream_of_thread(kind);
    if (stream && kind == SEGMENT)
        rec_begin_check(RFN_UNTIL_SEGMENT, 0);
    struct rec_call *call = stream ? rec_enter(kinds[kind].begin, frame) : NULL;
    if (!stream)
        return;
    if (call && rec_is_over(stream)) {
        rec_go_outside(stream);
        return;
    }
    if (!call)
        rec_pause_forbid(); /* within another call, where streams may be read */
    struct rec_regions *regions = regions_of(stream, kind);
    const int64_t number = regions ? find(regions, text, length, true) : RFN_E_NOMEM;
    if (!call)
        rec_pause_allow();
    if (number < 0) {
        rec_stop("out of memory for %ss", kinds[kind].what);
        if (call)
            rec_go_outside(stream);
        return;
    }
    struct stack *stack = &regions->stacks[kind];
    stack->open[stack->depth++] = (struct open){(uint32_t)number, call && !call->off,
                                                ++regions->begun};
    if (call)
        record(call, regions, (uint32_t)number);
}

/* ---- ends ---- */

/* text: what the program has called the region that it ends; NULL: no name. */
static __attribute__((cold)) void misused(const struct rec_regions *regions, enum kind kind,
                                          const char *text, size_t length)
{
    static bool told[N_KINDS];
    if (rec_state != REC_RECORDING || __atomic_exchange_n(&told[kind], true, __ATOMIC_ACQ_REL))
        return;
    const char *what = kinds[kind].what, *quote = text ? "\"" : "";
    const struct stack *stack = regions ? &regions->stacks[kind] : NULL;
    if (stack && stack->depth)
        rec_message(
            "refrain_%s_end(%s%.*s%s): the %s begun last and not ended is \"%s\"; such ends are "
            "not recorded",
            what, quote, (int)length, text ? text : "", quote, what,
            regions->names[stack->open[stack->depth - 1].number].text);
    else
        rec_message("refrain_%s_end(%s%.*s%s): no %s is begun; such ends are not recorded", what,
                    quote, (int)length, text ? text : "", quote, what);
}

INLINE void end(enum kind kind, const char *text, size_t length, void *frame)
{
    struct rec_stream *stream = rec_this_stream;
    struct rec_regions *regions = stream ? stream->regions : NULL;
    struct stack *stack = regions ? &regions->stacks[kind] : NULL;
    if (rec_state != REC_RECORDING || !stack || !stack->depth) {
        if (unseen[kind])
            unseen[kind]--;
        else
            misused(regions, kind, text, length);
        return;
    }
    const struct open innermost = stack->open[stack->depth - 1];
    if (text && find(regions, text, length, false) != innermost.number) {
        misused(regions, kind, text, length);
        return;
    }
    stack->depth--;
    struct rec_call *call = innermost.recorded ? rec_enter(kinds[kind].end, frame) : NULL;
    if (call && rec_is_over(stream)) {
        rec_go_outside(stream);
    } else if (call) {
        rec_insist(call);
        record(call, regions, innermost.number);
    }
}

/* The kind whose innermost one was begun last; N_KINDS: nothing is open. *order: of its begin. */
static enum kind begun_last(const struct rec_regions *regions, uint64_t *order)
{
    enum kind last = N_KINDS;
    *order = 0;
    for (enum kind kind = 0; kind < N_KINDS; kind++) {
        const struct stack *stack = &regions->stacks[kind];
        if (!stack->depth || stack->open[stack->depth - 1].order < *order)
            continue;
        *order = stack->open[stack->depth - 1].order;
        last = kind;
    }
    return last;
}

static void close_innermost(struct rec_stream *stream, enum kind kind, void *frame)
{
    struct stack *stack = &stream->regions->stacks[kind];
    const struct open innermost = stack->open[--stack->depth];
    const uint64_t now = rec_now();
    const struct rfn_event event = {.site = rec_site(&stream->sites, kinds[kind].end, frame),
                                    .function = kinds[kind].end,
                                    .in = &stream->regions->names[innermost.number].word,
                                    .enter = now,
                                    .exit = now};
    if (innermost.recorded && rec_take_event(stream, &event) < 0)
        rec_stop("out of memory");
}

void rec_regions_close(void *frame)
{
    struct rec_stream *stream = rec_this_stream;
    if (!stream || rec_state != REC_RECORDING)
        return;
    const bool awaited = stream->in_fortran && rec_fortran.awaited == REC_FN_MPI_Finalize + 1;
    if (stream->inside && !awaited)
        rec_notice_left(stream, frame);
    if (stream->inside) { /* called from Fortran, or within another call */
        if (!awaited)
            return;
        frame = rec_fortran.frame;
    }
    uint64_t order = 0;
    rec_pause_forbid();
    rec_calls_prepare_close(stream);
    for (enum kind kind;
         stream->regions && (kind = begun_last(stream->regions, &order)) != N_KINDS;) {
        rec_calls_close(stream, order);
        close_innermost(stream, kind, frame);
    }
    rec_calls_close(stream, 0);
    rec_pause_allow();
    rec_calls_tell_unrecorded(stream);
}

/* ---- names of others ---- */

int64_t rec_regions_name(struct rec_stream *stream, const char *text)
{
    if (!stream->regions)
        stream->regions = calloc(1, sizeof *stream->regions);
    if (!stream->regions)
        return RFN_E_NOMEM;
    const int64_t number = find(stream->regions, text, strnlen(text, NAME_MAX_BYTES), true);
    return number < 0 ? number : stream->regions->names[number].word;
}

uint64_t rec_regions_next(struct rec_stream *stream)
{
    return ++stream->regions->begun;
}

/* ---- what was used ---- */

uint32_t rec_regions_count(const struct rec_stream *stream)
{
    return stream->regions ? (uint32_t)stream->regions->n_names : 0;
}

struct rec_region rec_regions_get(const struct rec_stream *stream, uint32_t number)
{
    const struct name *name = &stream->regions->names[number];
    return (struct rec_region){name->text, name->word};
}

uint64_t rec_regions_events(const struct rec_stream *stream)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rfn_stream_symbols(stream->events); i++) {
        const struct rfn_symbol *symbol = rfn_stream_symbol(stream->events, i);
        if (!rfn_class_is_mpi(rec_functions[symbol->function].class_))
            sum += symbol->occurrences;
    }
    return sum;
}

/* ---- what the program calls ---- */

static size_t length_of(const char *name)
{
    return strnlen(name, NAME_MAX_BYTES);
}

/* Fortran's strings end with blanks. */
static size_t trimmed(const char *name, size_t length)
{
    while (length > 0 && name[length - 1] == ' ')
        length--;
    return strnlen(name, length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES);
}

#define FRAME __builtin_frame_address(0)

REC_EXPORT void refrain_region_begin(const char *name)
{
    name = name ? name : "";
    begin(REGION, name, length_of(name), FRAME);
}

REC_EXPORT void refrain_region_end(const char *name)
{
    name = name ? name : "";
    end(REGION, name, length_of(name), FRAME);
}

REC_EXPORT void refrain_segment_begin(const char *name)
{
    name = name ? name : "";
    begin(SEGMENT, name, length_of(name), FRAME);
}

REC_EXPORT void refrain_segment_end(void)
{
    end(SEGMENT, NULL, 0, FRAME);
}

/* Declared by the Fortran module (include/refrain/refrain.f90). */
REC_EXPORT void refrain_region_begin_(const char *name, size_t length);
REC_EXPORT void refrain_region_end_(const char *name, size_t length);
REC_EXPORT void refrain_segment_begin_(const char *name, size_t length);
REC_EXPORT void refrain_segment_end_(void);

REC_EXPORT void refrain_region_begin_(const char *name, size_t length)
{
    begin(REGION, name, trimmed(name, length), FRAME);
}

REC_EXPORT void refrain_region_end_(const char *name, size_t length)
{
    end(REGION, name, trimmed(name, length), FRAME);
}

REC_EXPORT void refrain_segment_begin_(const char *name, size_t length)
{
    begin(SEGMENT, name, trimmed(name, length), FRAME);
}

REC_EXPORT void refrain_segment_end_(void)
{
    end(SEGMENT, NULL, 0, FRAME);
}

/* Under other names for the library that programs are linked with (src/program/region.c), whose
 * definitions come before these. */
#define OTHER_NAME(other, name) \
    extern __typeof__(name) other __attribute__((alias(#name), visibility("default")))

OTHER_NAME(refrain_recorder_region_begin, refrain_region_begin);
OTHER_NAME(refrain_recorder_region_end, refrain_region_end);
OTHER_NAME(refrain_recorder_region_begin_, refrain_region_begin_);
OTHER_NAME(refrain_recorder_region_end_, refrain_region_end_);
OTHER_NAME(refrain_recorder_segment_begin, refrain_segment_begin);
OTHER_NAME(refrain_recorder_segment_end, refrain_segment_end);
OTHER_NAME(refrain_recorder_segment_begin_, refrain_segment_begin_);
OTHER_NAME(refrain_recorder_segment_end_, refrain_segment_end_);
