#include "archive/read/structure_walk.h"

#include "base/grow.h"
#include "reduce/columns/column.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int rfn_structure_walk_failed(struct rfn_structure_walk *walk, const char *fault)
{
    walk->fault = fault;
    return rfn_fault_error(fault);
}

/* ---- frames and trips ---- */

static int push(struct rfn_structure_walk *walk, const struct rfn_node_list *list, uint32_t loop,
                uint64_t times)
{
    if (walk->depth == walk->frames_capacity &&
        RFN_GROW(walk->frames, walk->frames_capacity, walk->depth + 1) < 0)
        return rfn_structure_walk_failed(walk, rfn_out_of_memory);
    walk->frames[walk->depth++] = (struct rfn_structure_walk_frame){.node = list->nodes,
                                                                    .end = list->nodes + list->n,
                                                                    .body = list->nodes,
                                                                    .loop = loop,
                                                                    .left = times,
                                                                    .first = walk->index};
    return 0;
}

/* Errors of columns. */
static int open_trips(struct rfn_structure_walk *walk, uint32_t loop)
{
    const struct rfn_values *values = walk->values;
    const size_t *at = &values->columns[loop];
    if (walk->trips_open[loop])
        return 0;
    walk->trips_open[loop] = true;
    return rfn_payload_column(&values->payload, at[0], at[1], &walk->trips[loop]);
}

int rfn_structure_walk_enter_loop(struct rfn_structure_walk *walk, uint32_t loop)
{
    int64_t trips = 0;
    int error = open_trips(walk, loop);
    if (!error)
        error = rfn_column_next(&walk->trips[loop], &trips);
    if (error < 0)
        return rfn_structure_walk_failed(walk, rfn_column_fault(error));
    if (trips < 0)
        return rfn_structure_walk_failed(walk, "a negative number of trips");
    struct rfn_cuts *cuts = walk->cuts;
    if (cuts)
        cuts->pending |= rfn_stretch_meets(&walk->frames[walk->depth - 1].stretch, &cuts->loops,
                                           loop);
    if (trips == 0)
        return 0;
    RFN_TRY(push(walk, &walk->structure->loops[loop], loop, (uint64_t)trips));
    struct rfn_structure_walk_frame *frame = &walk->frames[walk->depth - 1];
    if (cuts)
        frame->stretch = rfn_stretch_inside(&frame[-1].stretch, &cuts->loops, loop);
    return 0;
}

int rfn_structure_walk_empty_trip(struct rfn_structure_walk *walk)
{
    walk->empty = walk->empty_at == walk->index ? walk->empty + 1 : 1;
    walk->empty_at = walk->index;
    return walk->empty <= RFN_EMPTY_TRIPS_MAX
               ? 0
               : rfn_structure_walk_failed(walk, "too many trips without an event");
}

int rfn_structure_walk_finish(struct rfn_structure_walk *walk)
{
    for (uint32_t i = 0; i < walk->structure->n_loops; i++) {
        int error = open_trips(walk, i);
        const char *fault = error < 0 ? rfn_column_fault(error)
                                      : rfn_column_left_over(&walk->trips[i]);
        if (fault)
            return rfn_structure_walk_failed(walk, fault);
    }
    return 0;
}

/* ---- opening and closing ---- */

int rfn_structure_walk_open(struct rfn_structure_walk *walk, const struct rfn_structure *structure,
                            const struct rfn_values *values)
{
    *walk = (struct rfn_structure_walk){.structure = structure, .values = values};
    walk->trips = calloc(structure->n_loops + (size_t)1, sizeof *walk->trips);
    walk->trips_open = calloc(structure->n_loops + (size_t)1, sizeof *walk->trips_open);
    if (!walk->trips || !walk->trips_open)
        return rfn_structure_walk_failed(walk, rfn_out_of_memory);
    return push(walk, &structure->top, UINT32_MAX, 1);
}

void rfn_structure_walk_close(struct rfn_structure_walk *walk)
{
    for (uint32_t i = 0; walk->trips && i < walk->structure->n_loops; i++)
        rfn_column_close(&walk->trips[i]);
    if (walk->cuts)
        rfn_contexts_release(&walk->cuts->loops);
    free(walk->cuts);
    free(walk->trips);
    free(walk->trips_open);
    free(walk->frames);
}

void rfn_structure_walk_restart(struct rfn_structure_walk *walk)
{
    for (uint32_t i = 0; i < walk->structure->n_loops; i++)
        rfn_column_close(&walk->trips[i]);
    memset(walk->trips_open, 0, walk->structure->n_loops * sizeof *walk->trips_open);
    walk->index = walk->empty_at = walk->empty = 0;
    walk->depth = 1;
    struct rfn_structure_walk_frame *top = walk->frames;
    top->node = top->body;
    top->left = 1;
    top->first = 0;
    top->stretch = (struct rfn_stretch){0};
    if (walk->cuts) {
        walk->cuts->pending = true;
        walk->cuts->length = 0;
    }
}

/* ---- passing over events ---- */

/* What an iteration of a loop consists of, while all trips inside stay what they are. */
struct iteration {
    struct rfn_structure_walk *walk;
    uint64_t *visits; /* of each loop inside, by number */
    uint32_t *inside; /* the loops that have some */
    uint32_t n_inside, n_nodes;
    uint64_t events, most;
};

/* Looking at more nodes takes longer than it saves. More events are passed in several steps, so
 * that no number overflows. */
enum { ITERATION_NODES = 1024 };
#define ITERATION_EVENTS (UINT64_C(1) << 48)

/* The next value of the loop's trips, which remains to be taken. RFN_E_RANGE: there is none. */
static int look_at_trips(struct rfn_structure_walk *walk, uint32_t loop, int64_t *trips)
{
    struct rfn_column_cursor *column = &walk->trips[loop];
    RFN_TRY(open_trips(walk, loop));
    if (!column->left)
        RFN_TRY(rfn_column_next_block(column));
    *trips = column->packed.base;
    if (column->packed.width)
        *trips += (int64_t)(rfn_load_64(column->next) & column->mask);
    return 0;
}

/* Adds what `times` executions of a list are. 1; 0: that cannot be told, or is too much; or an
 * error of a column. */
static int add_to_iteration(struct iteration *of, const struct rfn_node_list *list, uint64_t times)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t loop = rfn_node_index(list->nodes[i]);
        uint64_t before = of->events;
        int64_t trips;
        if (of->n_nodes++ == ITERATION_NODES || before > of->most)
            return 0;
        if (!rfn_node_is_loop(list->nodes[i])) {
            of->events += times;
            continue;
        }
        int error = look_at_trips(of->walk, loop, &trips);
        if (error < 0)
            return error == RFN_E_RANGE ? 0 : error;
        if (trips < 0 || (uint64_t)trips > of->most / times)
            return 0;
        if (!of->visits[loop])
            of->inside[of->n_inside++] = loop;
        of->visits[loop] += times;
        if (trips == 0)
            continue;
        int known = add_to_iteration(of, &of->walk->structure->loops[loop],
                                     times * (uint64_t)trips);
        if (known <= 0)
            return known;
        if (of->events == before) /* the walk counts executions without an event */
            return 0;
    }
    return of->events <= of->most;
}

/* Counts the symbols of `times` executions of a list that has been added so. */
static void count_symbols(struct rfn_structure_walk *walk, const struct rfn_node_list *list,
                          uint64_t times, uint64_t *passed)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t index = rfn_node_index(list->nodes[i]);
        int64_t trips = 0;
        if (!rfn_node_is_loop(list->nodes[i]))
            passed[index] += times;
        else if (look_at_trips(walk, index, &trips) == 0 && trips)
            count_symbols(walk, &walk->structure->loops[index], times * (uint64_t)trips, passed);
    }
}

/* At the beginning of an iteration: passes over as many alike ones as there are up to an event.
 * Returns whether there were any, or an error. */
static int pass_iterations(struct iteration *of, uint64_t to, uint64_t *passed)
{
    struct rfn_structure_walk *walk = of->walk;
    const struct rfn_structure_walk_frame *frame = &walk->frames[walk->depth - 1];
    const struct rfn_node_list body = {frame->body, (uint32_t)(frame->end - frame->body)};
    of->most = to - walk->index < ITERATION_EVENTS ? to - walk->index : ITERATION_EVENTS;
    of->events = of->n_inside = of->n_nodes = 0;
    int error = add_to_iteration(of, &body, 1);
    bool known = error > 0 && of->events > 0;
    uint64_t times = known ? of->most / of->events : 0;
    if (times > frame->left)
        times = frame->left;
    for (uint32_t i = 0; i < of->n_inside && known; i++) {
        uint32_t loop = of->inside[i];
        uint64_t alike = rfn_column_equal(&walk->trips[loop]) / of->visits[loop];
        if (times > alike)
            times = alike;
    }
    if (times)
        count_symbols(walk, &body, times, passed);
    for (uint32_t i = 0; i < of->n_inside; i++) {
        uint32_t loop = of->inside[i];
        if (error >= 0)
            error = rfn_column_skip(&walk->trips[loop], times * of->visits[loop]);
        of->visits[loop] = 0;
    }
    if (error < 0)
        return rfn_structure_walk_failed(walk, rfn_column_fault(error));
    if (times)
        rfn_structure_walk_skip_trips(walk, times, of->events);
    return times > 0;
}

static int pass_nodes(struct iteration *of, uint64_t to, uint64_t *passed)
{
    struct rfn_structure_walk *walk = of->walk;
    while (walk->depth > 0 && walk->index < to) {
        struct rfn_structure_walk_frame *frame = &walk->frames[walk->depth - 1];
        int alike = 0;
        if (frame->node == frame->body && walk->depth > 1)
            RFN_TRY(alike = pass_iterations(of, to, passed));
        if (alike)
            continue;
        if (frame->node == frame->end) {
            RFN_TRY(rfn_structure_walk_end_of_list(walk, frame));
        } else if (rfn_node_is_loop(*frame->node)) {
            RFN_TRY(rfn_structure_walk_enter_loop(walk, rfn_node_index(*frame->node++)));
        } else {
            passed[rfn_node_index(*frame->node++)]++;
            walk->index++;
        }
    }
    return 0;
}

int rfn_structure_walk_pass(struct rfn_structure_walk *walk,
                            const struct rfn_dictionary *dictionary, uint64_t to, uint64_t *passed)
{
    uint32_t symbol;
    int more = 0;
    /* Where segments begin depends on all events. */
    while (walk->cuts && walk->index < to && (more = rfn_structure_walk_next(walk, &symbol)) > 0) {
        rfn_structure_walk_place(walk, rfn_symbol_mark(dictionary, walk->structure, symbol));
        walk->index++;
        passed[symbol]++;
    }
    if (walk->cuts)
        return more < 0 ? more : 0;
    size_t n = walk->structure->n_loops + (size_t)1;
    struct iteration of = {.walk = walk,
                           .visits = calloc(n, sizeof *of.visits),
                           .inside = malloc(n * sizeof *of.inside)};
    int error = of.visits && of.inside ? pass_nodes(&of, to, passed)
                                       : rfn_structure_walk_failed(walk, rfn_out_of_memory);
    free(of.visits);
    free(of.inside);
    return error;
}

/* ---- cuts ---- */

uint32_t rfn_count_stretches(const struct rfn_node_list *list, const bool *loops)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < list->n; i++)
        n += rfn_node_is_loop(list->nodes[i]) && loops[rfn_node_index(list->nodes[i])];
    return n;
}

static int begin_cuts(struct rfn_structure_walk *walk, uint32_t least)
{
    assert(walk->index == 0 && !walk->cuts);
    walk->cuts = calloc(1, sizeof *walk->cuts);
    if (!walk->cuts)
        return rfn_structure_walk_failed(walk, rfn_out_of_memory);
    rfn_contexts_init(&walk->cuts->loops, least);
    walk->cuts->pending = walk->cuts->marked = true;
    return 0;
}

/* When all loops are there: the top's contexts come first. */
static void number_contexts(struct rfn_structure_walk *walk)
{
    const struct rfn_node_list *top = &walk->structure->top;
    struct rfn_cuts *cuts = walk->cuts;
    cuts->n_top = rfn_contexts_stretches(&cuts->loops, top->nodes, top->n);
    cuts->n_contexts = cuts->n_top + cuts->loops.n;
    for (uint32_t i = 0; i < walk->structure->n_loops; i++)
        cuts->loops.loops[i].first += cuts->n_top;
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

int rfn_structure_walk_cut(struct rfn_structure_walk *walk, const struct rfn_dictionary *dictionary,
                           uint32_t min_calls)
{
    const struct rfn_structure *structure = walk->structure;
    const uint32_t n = structure->n_symbols;
    bool *counts = calloc(n + (size_t)1, sizeof *counts); /* by symbol */
    bool marked = false;
    for (uint32_t i = 0; i < n && counts; i++)
        marked |= counts[i] = rfn_symbol_mark(dictionary, structure, i) != RFN_MARK_NONE;
    bool some = marked || !min_calls; /* loops cut that have one that counts */
    for (uint32_t i = 0; i < n && counts && some && !marked; i++)
        counts[i] = may_wait(&dictionary->functions[structure->symbols[i].function]);
    int error = counts ? begin_cuts(walk, some ? 1 : min_calls) : RFN_E_NOMEM;
    for (uint32_t i = 0; i < structure->n_loops && !error; i++)
        error = rfn_contexts_add(&walk->cuts->loops, structure->loops[i].nodes,
                                 structure->loops[i].n, some ? counts : NULL);
    free(counts);
    if (error < 0)
        return rfn_structure_walk_failed(walk, rfn_out_of_memory);
    walk->cuts->marked = marked;
    number_contexts(walk);
    return 0;
}

int rfn_structure_walk_cut_at(struct rfn_structure_walk *walk, const bool *loops)
{
    const struct rfn_structure *structure = walk->structure;
    RFN_TRY(begin_cuts(walk, 1));
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        if (rfn_contexts_add_as(&walk->cuts->loops, structure->loops[i].nodes,
                                structure->loops[i].n, loops[i]) < 0)
            return rfn_structure_walk_failed(walk, rfn_out_of_memory);
    }
    number_contexts(walk);
    return 0;
}

/* ---- what contexts consist of ---- */

static int show_list(const struct rfn_structure_walk *walk, const struct rfn_node_list *list,
                     struct rfn_context_call call,
                     int (*show)(void *context, const struct rfn_context_call *call), void *context)
{
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t index = rfn_node_index(list->nodes[i]);
        if (rfn_node_is_loop(list->nodes[i])) {
            call.context += rfn_contexts_cuts(&walk->cuts->loops, index);
            continue;
        }
        call.function = walk->structure->symbols[index].function;
        call.path = walk->structure->symbols[index].path;
        RFN_TRY(show(context, &call));
    }
    return 0;
}

/* around: of each loop the first context of the one around it; of those in several, of the last. */
int rfn_structure_walk_show_calls(const struct rfn_structure_walk *walk,
                                  int (*show)(void *context, const struct rfn_context_call *call),
                                  void *context)
{
    const struct rfn_structure *structure = walk->structure;
    const struct rfn_contexts *loops = &walk->cuts->loops;
    uint32_t *around = malloc((structure->n_loops + (size_t)1) * sizeof *around);
    int error = around ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < structure->n_loops && !error; i++) {
        const struct rfn_node_list *body = &structure->loops[i];
        around[i] = RFN_NO_CONTEXT;
        for (uint32_t j = 0; j < body->n; j++) { /* they have lower numbers */
            if (rfn_node_is_loop(body->nodes[j]))
                around[rfn_node_index(body->nodes[j])] = loops->loops[i].first;
        }
    }
    for (uint32_t i = 0; i < structure->n_loops && !error; i++) {
        uint32_t first = loops->loops[i].first;
        const struct rfn_context_call call = {.context = first, .list = first, .around = around[i]};
        if (rfn_contexts_cuts(loops, i))
            error = show_list(walk, &structure->loops[i], call, show, context);
    }
    const struct rfn_context_call top = {.around = RFN_NO_CONTEXT};
    if (!error)
        error = show_list(walk, &structure->top, top, show, context);
    free(around);
    return error;
}
