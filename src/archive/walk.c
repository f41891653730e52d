#include "archive/walk.h"

#include "base/grow.h"
#include "reduce/column.h"

#include <assert.h>
#include <stdlib.h>

int rfn_walk_failed(struct rfn_walk *walk, const char *fault)
{
    walk->fault = fault;
    return rfn_fault_error(fault);
}

/* ---- frames and trips ---- */

static int push(struct rfn_walk *walk, const struct rfn_node_list *list, uint32_t loop,
                uint64_t times)
{
    if (walk->depth == walk->frames_capacity &&
        RFN_GROW(walk->frames, walk->frames_capacity, walk->depth + 1) < 0)
        return rfn_walk_failed(walk, rfn_out_of_memory);
    walk->frames[walk->depth++] = (struct rfn_walk_frame){.node = list->nodes,
                                                          .end = list->nodes + list->n,
                                                          .body = list->nodes,
                                                          .loop = loop,
                                                          .left = times,
                                                          .first = walk->index};
    return 0;
}

static int open_trips(struct rfn_walk *walk, uint32_t loop)
{
    const struct rfn_values *values = walk->values;
    const size_t *at = &values->columns[loop];
    int error = rfn_payload_column(&values->payload, at[0], at[1], &walk->trips[loop]);
    walk->trips_open[loop] = true;
    return error < 0 ? rfn_walk_failed(walk, rfn_column_fault(error)) : 0;
}

int rfn_walk_enter_loop(struct rfn_walk *walk, uint32_t loop)
{
    int64_t trips;
    if (!walk->trips_open[loop])
        RFN_TRY(open_trips(walk, loop));
    int error = rfn_column_next(&walk->trips[loop], &trips);
    if (error < 0)
        return rfn_walk_failed(walk, rfn_column_fault(error));
    if (trips < 0)
        return rfn_walk_failed(walk, "a negative number of trips");
    struct rfn_cuts *cuts = walk->cuts;
    if (cuts)
        cuts->pending |= rfn_stretch_meets(&walk->frames[walk->depth - 1].stretch, &cuts->loops,
                                           loop);
    if (trips == 0)
        return 0;
    RFN_TRY(push(walk, &walk->structure->loops[loop], loop, (uint64_t)trips));
    struct rfn_walk_frame *frame = &walk->frames[walk->depth - 1];
    if (cuts)
        frame->stretch = rfn_stretch_inside(&frame[-1].stretch, &cuts->loops, loop);
    return 0;
}

int rfn_walk_empty_trip(struct rfn_walk *walk)
{
    walk->empty = walk->empty_at == walk->index ? walk->empty + 1 : 1;
    walk->empty_at = walk->index;
    return walk->empty <= RFN_EMPTY_TRIPS_MAX
               ? 0
               : rfn_walk_failed(walk, "too many trips without an event");
}

int rfn_walk_finish(struct rfn_walk *walk)
{
    for (uint32_t i = 0; i < walk->structure->n_loops; i++) {
        if (!walk->trips_open[i])
            RFN_TRY(open_trips(walk, i));
        const char *fault = rfn_column_left_over(&walk->trips[i]);
        if (fault)
            return rfn_walk_failed(walk, fault);
    }
    return 0;
}

/* ---- opening and closing ---- */

int rfn_walk_open(struct rfn_walk *walk, const struct rfn_structure *structure,
                  const struct rfn_values *values)
{
    *walk = (struct rfn_walk){.structure = structure, .values = values};
    walk->trips = calloc(structure->n_loops + (size_t)1, sizeof *walk->trips);
    walk->trips_open = calloc(structure->n_loops + (size_t)1, sizeof *walk->trips_open);
    if (!walk->trips || !walk->trips_open)
        return rfn_walk_failed(walk, rfn_out_of_memory);
    return push(walk, &structure->top, UINT32_MAX, 1);
}

static void free_cuts(struct rfn_cuts *cuts)
{
    if (!cuts)
        return;
    rfn_contexts_release(&cuts->loops);
    free(cuts);
}

void rfn_walk_close(struct rfn_walk *walk)
{
    for (uint32_t i = 0; walk->trips && i < walk->structure->n_loops; i++)
        rfn_column_close(&walk->trips[i]);
    free_cuts(walk->cuts);
    free(walk->trips);
    free(walk->trips_open);
    free(walk->frames);
}

/* ---- cuts ---- */

uint32_t rfn_count_stretches(const struct rfn_node_list *list, const bool *loops)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < list->n; i++)
        n += rfn_node_is_loop(list->nodes[i]) && loops[rfn_node_index(list->nodes[i])];
    return n;
}

static int begin_cuts(struct rfn_walk *walk, uint32_t least)
{
    assert(walk->index == 0 && !walk->cuts);
    walk->cuts = calloc(1, sizeof *walk->cuts);
    if (!walk->cuts)
        return rfn_walk_failed(walk, rfn_out_of_memory);
    rfn_contexts_init(&walk->cuts->loops, least);
    walk->cuts->pending = walk->cuts->marked = true;
    return 0;
}

/* When all loops are there: the top's contexts come first. */
static void number_contexts(struct rfn_walk *walk)
{
    const struct rfn_node_list *top = &walk->structure->top;
    struct rfn_cuts *cuts = walk->cuts;
    cuts->n_top = rfn_contexts_stretches(&cuts->loops, top->nodes, top->n);
    cuts->n_contexts = cuts->n_top + cuts->loops.n;
    for (uint32_t i = 0; i < walk->structure->n_loops; i++)
        cuts->loops.loops[i].first += cuts->n_top;
}

/* In counts, by symbol, those that are marks; returns whether there are any. */
static bool find_marks(const struct rfn_structure *structure,
                       const struct rfn_dictionary *dictionary, bool *counts)
{
    bool found = false;
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        counts[i] = rfn_symbol_mark(dictionary, structure, i) != RFN_MARK_NONE;
        found |= counts[i];
    }
    return found;
}

/* Whether a call may wait for other ranks, by what it is. */
static bool may_wait(const struct rfn_function_info *function)
{
    if (function->flags & (RFN_FUNCTION_NONBLOCKING | RFN_FUNCTION_PERSISTENT))
        return false;
    switch (function->class_) {
    case RFN_CLASS_SEND:
    case RFN_CLASS_SSEND:
    case RFN_CLASS_RECV:
    case RFN_CLASS_SENDRECV:
    case RFN_CLASS_PROBE:
    case RFN_CLASS_COMPLETION:
    case RFN_CLASS_RMA_SYNC:
        return true;
    default:
        return (function->flags & RFN_FUNCTION_COLLECTIVE) != 0;
    }
}

static void find_waiting(const struct rfn_structure *structure,
                         const struct rfn_dictionary *dictionary, bool *counts)
{
    for (uint32_t i = 0; i < structure->n_symbols; i++)
        counts[i] = may_wait(&dictionary->functions[structure->symbols[i].function]);
}

int rfn_walk_cut(struct rfn_walk *walk, const struct rfn_dictionary *dictionary, uint32_t min_calls)
{
    const struct rfn_structure *structure = walk->structure;
    bool *counts = calloc(structure->n_symbols + (size_t)1, sizeof *counts);
    bool marked = counts && find_marks(structure, dictionary, counts);
    bool some = marked || !min_calls;
    int error = counts ? begin_cuts(walk, some ? 1 : min_calls) : RFN_E_NOMEM;
    if (counts && some && !marked)
        find_waiting(structure, dictionary, counts);
    for (uint32_t i = 0; i < structure->n_loops && !error; i++)
        error = rfn_contexts_add(&walk->cuts->loops, structure->loops[i].nodes,
                                 structure->loops[i].n, some ? counts : NULL);
    free(counts);
    if (error < 0)
        return rfn_walk_failed(walk, rfn_out_of_memory);
    walk->cuts->marked = marked;
    number_contexts(walk);
    return 0;
}

int rfn_walk_cut_at(struct rfn_walk *walk, const bool *loops)
{
    const struct rfn_structure *structure = walk->structure;
    RFN_TRY(begin_cuts(walk, 1));
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        if (rfn_contexts_add_as(&walk->cuts->loops, structure->loops[i].nodes,
                                structure->loops[i].n, loops[i]) < 0)
            return rfn_walk_failed(walk, rfn_out_of_memory);
    }
    number_contexts(walk);
    return 0;
}

/* ---- what contexts consist of ---- */

struct showing {
    const struct rfn_walk *walk;
    int (*show)(void *context, const struct rfn_context_call *call);
    void *context;
};

static int show_list(const struct showing *showing, const struct rfn_node_list *list,
                     uint32_t first, uint32_t around)
{
    const struct rfn_contexts *loops = &showing->walk->cuts->loops;
    struct rfn_context_call call = {.context = first, .list = first, .around = around};
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t index = rfn_node_index(list->nodes[i]);
        if (rfn_node_is_loop(list->nodes[i])) {
            call.context += rfn_contexts_cuts(loops, index);
            continue;
        }
        call.function = showing->walk->structure->symbols[index].function;
        call.path = showing->walk->structure->symbols[index].path;
        RFN_TRY(showing->show(showing->context, &call));
    }
    return 0;
}

/* Of each loop the first context of the one around it; of those in several, of the last. */
static void find_around(const struct rfn_walk *walk, uint32_t *around)
{
    const struct rfn_structure *structure = walk->structure;
    for (uint32_t i = 0; i < structure->n_loops; i++)
        around[i] = RFN_NO_CONTEXT;
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        const struct rfn_node_list *body = &structure->loops[i];
        for (uint32_t j = 0; j < body->n; j++) {
            if (rfn_node_is_loop(body->nodes[j]))
                around[rfn_node_index(body->nodes[j])] = walk->cuts->loops.loops[i].first;
        }
    }
}

int rfn_walk_show_calls(const struct rfn_walk *walk,
                        int (*show)(void *context, const struct rfn_context_call *call),
                        void *context)
{
    const struct showing showing = {walk, show, context};
    const struct rfn_structure *structure = walk->structure;
    uint32_t *around = malloc((structure->n_loops + (size_t)1) * sizeof *around);
    int error = around ? 0 : RFN_E_NOMEM;
    if (!error)
        find_around(walk, around);
    for (uint32_t i = 0; i < structure->n_loops && !error; i++) {
        if (rfn_contexts_cuts(&walk->cuts->loops, i))
            error = show_list(&showing, &structure->loops[i], walk->cuts->loops.loops[i].first,
                              around[i]);
    }
    if (!error)
        error = show_list(&showing, &structure->top, 0, RFN_NO_CONTEXT);
    free(around);
    return error;
}
