/* structure_walk.h - unfolds the structure of a stream, symbol by symbol, and cuts it into
 * segments.
 *
 * A walk has a stack of frames, one per loop that it is in, and takes from VALUES how often loops
 * are executed. It may tell where segments begin, and of which contexts (doc/trace-profiling.md),
 * cut at loops with enough calls or at those that a list names.
 *
 * Against damaged files: no more than RFN_EMPTY_TRIPS_MAX executions without an event follow each
 * other. So a walk ends, after at most as many steps as that times nodes times events.
 */
#ifndef RFN_ARCHIVE_READ_STRUCTURE_WALK_H
#define RFN_ARCHIVE_READ_STRUCTURE_WALK_H

#include "archive/read/event_payloads.h"
#include "reduce/segments/contexts.h"
#include "refrain/archive.h"

struct rfn_structure_walk_frame {
    const uint32_t *node, *end, *body;
    uint32_t loop;              /* UINT32_MAX: the top */
    uint64_t left;              /* executions, with the current one */
    uint64_t first;             /* event at the start of the current one */
    struct rfn_stretch stretch; /* of segments */
};

/* Which loops cut segments, and where the walk is among these. */
struct rfn_cuts {
    struct rfn_contexts loops;  /* their contexts come behind those of the top */
    uint32_t n_top, n_contexts; /* contexts of the top, and all */
    bool marked;                /* some symbol may be a mark */
    bool pending;               /* the next event begins a segment */
    uint32_t length;            /* events of the segment so far */
    struct rfn_segment_place place;
};

/* All zeros can be closed. */
struct rfn_structure_walk {
    const struct rfn_structure *structure; /* both borrowed */
    const struct rfn_values *values;
    uint64_t index; /* events so far: the caller counts them */
    struct rfn_structure_walk_frame *frames;
    size_t depth, frames_capacity;
    uint64_t empty_at;               /* the value of index where a trip last had no event, */
    uint32_t empty;                  /* and how many had none there */
    struct rfn_column_cursor *trips; /* per loop; opened when n or blocks are set */
    bool *trips_open;
    struct rfn_cuts *cuts; /* NULL: nobody asks for segments */
    const char *fault;     /* after an error, what is wrong with VALUES */
};

/* All functions that return an error may return RFN_E_NOMEM. */

int rfn_structure_walk_open(struct rfn_structure_walk *walk, const struct rfn_structure *structure,
                            const struct rfn_values *values);
void rfn_structure_walk_close(struct rfn_structure_walk *walk);

/* Has the walk cut segments, before its first event: at loops that have a mark inside, if a symbol
 * is one, else at those whose body has at least so many calls, those of inner loops counted
 * once, with min_calls 0 at those with a call that may wait for other ranks... */
int rfn_structure_walk_cut(struct rfn_structure_walk *walk, const struct rfn_dictionary *dictionary,
                           uint32_t min_calls);
/* ... or at those that loops[] names. */
int rfn_structure_walk_cut_at(struct rfn_structure_walk *walk, const bool *loops);

/* What events of the symbol mark. */
static inline enum rfn_mark rfn_symbol_mark(const struct rfn_dictionary *dictionary,
                                            const struct rfn_structure *structure, uint32_t symbol)
{
    return rfn_mark_of(dictionary->functions[structure->symbols[symbol].function].class_);
}

/* How many stretches a list of nodes has when these loops cut. */
uint32_t rfn_count_stretches(const struct rfn_node_list *list, const bool *loops);

/* Shows the calls of the contexts that loops and the top have of their own, list by list, the top
 * last; those of loops that do not cut are left out. Once loops are cut. What `show` returns if
 * that is negative; RFN_E_NOMEM. */
int rfn_structure_walk_show_calls(const struct rfn_structure_walk *walk,
                                  int (*show)(void *context, const struct rfn_context_call *call),
                                  void *context);

/* What of the walk is not in line. RFN_E_CORRUPT, RFN_E_IO, RFN_E_INCOMPLETE. */
int rfn_structure_walk_failed(struct rfn_structure_walk *walk, const char *fault);
int rfn_structure_walk_enter_loop(struct rfn_structure_walk *walk, uint32_t loop);
/* A trip has had no event: RFN_E_CORRUPT where too many follow each other. */
int rfn_structure_walk_empty_trip(struct rfn_structure_walk *walk);

/* After the last event: whether all trips have been used. Errors as above. */
int rfn_structure_walk_finish(struct rfn_structure_walk *walk);

/* Goes back to the first event; loops cut as before. */
void rfn_structure_walk_restart(struct rfn_structure_walk *walk);
/* Goes on to the event with this number, or to the end, and adds to passed[] how often each symbol
 * occurs on the way. Iterations of a loop are passed at once where all trips inside stay the same,
 * unless segments are cut. Errors as above. */
int rfn_structure_walk_pass(struct rfn_structure_walk *walk,
                            const struct rfn_dictionary *dictionary, uint64_t to, uint64_t *passed);

/* The frame's list of nodes is at its end: once more, or back to the frame around it. */
static inline int rfn_structure_walk_end_of_list(struct rfn_structure_walk *walk,
                                                 struct rfn_structure_walk_frame *frame)
{
    if (walk->depth > 1 && frame->first == walk->index)
        RFN_TRY(rfn_structure_walk_empty_trip(walk));
    frame->node = frame->body;
    frame->first = walk->index;
    if (walk->cuts)
        walk->cuts->pending |= rfn_stretch_ends(&frame->stretch);
    if (--frame->left == 0)
        walk->depth--;
    return 0;
}

/* Moves on until the innermost frame's next node is that of the next event: 1, 0 at the end, or an
 * error as above. */
static inline int rfn_structure_walk_find(struct rfn_structure_walk *walk)
{
    while (walk->depth > 0) {
        struct rfn_structure_walk_frame *frame = &walk->frames[walk->depth - 1];
        if (frame->node == frame->end)
            RFN_TRY(rfn_structure_walk_end_of_list(walk, frame));
        else if (!rfn_node_is_loop(*frame->node))
            return 1;
        else
            RFN_TRY(rfn_structure_walk_enter_loop(walk, rfn_node_index(*frame->node++)));
    }
    return 0;
}

/* 1 and the symbol of the next event, 0 at the end, or an error as above. */
static inline int rfn_structure_walk_next(struct rfn_structure_walk *walk, uint32_t *symbol)
{
    int more = rfn_structure_walk_find(walk);
    if (__builtin_expect(more > 0, 1))
        *symbol = rfn_node_index(*walk->frames[walk->depth - 1].node++);
    return more;
}

/* Before an iteration of a loop that has no loops inside and no marks: goes over `trips` of them at
 * once, of `width` events each, to the end of the last one's list. The caller does not count these
 * events. Of a frame, rfn_structure_walk_find has found it; a segment does not become too long. */
static inline void rfn_structure_walk_skip_trips(struct rfn_structure_walk *walk, uint64_t trips,
                                                 uint64_t width)
{
    struct rfn_structure_walk_frame *frame = &walk->frames[walk->depth - 1];
    frame->left -= trips - 1;
    frame->node = frame->end;
    frame->first = walk->index + (trips - 1) * width;
    walk->index += trips * width;
    struct rfn_cuts *cuts = walk->cuts;
    if (!cuts)
        return;
    bool each = rfn_stretch_ends(&frame->stretch), first = cuts->pending;
    cuts->length = (uint32_t)(each ? width : (first ? 0 : cuts->length) + trips * width);
    cuts->place.begins = width == 1 && (trips > 1 ? each : first);
    cuts->place.context = frame->stretch.context;
    cuts->pending = false;
}

/* The same within one iteration, of which the next `width` nodes, more than one, are no loops. */
static inline void rfn_structure_walk_skip_run(struct rfn_structure_walk *walk, uint32_t width)
{
    struct rfn_structure_walk_frame *frame = &walk->frames[walk->depth - 1];
    frame->node += width;
    walk->index += width;
    struct rfn_cuts *cuts = walk->cuts;
    if (!cuts)
        return;
    cuts->length = (cuts->pending ? 0 : cuts->length) + width;
    cuts->place.begins = false;
    cuts->place.context = frame->stretch.context;
    cuts->pending = false;
}

/* To be called for each event, with what its symbol marks, when segments are cut: cuts->place is
 * then that of the event. */
static inline void rfn_structure_walk_place(struct rfn_structure_walk *walk, enum rfn_mark mark)
{
    struct rfn_cuts *cuts = walk->cuts;
    cuts->place.context = walk->frames[walk->depth - 1].stretch.context;
    cuts->place.begins = cuts->pending || mark == RFN_MARK_BEGIN ||
                         cuts->length == RFN_SEGMENT_EVENTS_MAX;
    cuts->length = cuts->place.begins ? 1 : cuts->length + 1;
    cuts->pending = mark == RFN_MARK_END;
}

#endif
