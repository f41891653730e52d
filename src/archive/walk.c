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

static int push(struct rfn_walk *walk, const struct rfn_node_list *list, uint64_t times)
{
    if (walk->depth == walk->frames_capacity &&
        RFN_GROW(walk->frames, walk->frames_capacity, walk->depth + 1) < 0)
        return rfn_walk_failed(walk, rfn_out_of_memory);
    walk->frames[walk->depth++] = (struct rfn_walk_frame){.node = list->nodes,
                                                          .end = list->nodes + list->n,
                                                          .body = list->nodes,
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

/* A loop that cuts ends the stretch before it, also when it makes no trip. */
static void cut_before(struct rfn_walk *walk, uint32_t loop)
{
    struct rfn_walk_frame *frame = &walk->frames[walk->depth - 1];
    if (frame->flat || !walk->cuts->loops[loop])
        return;
    frame->context++;
    walk->cuts->pending = true;
}

static void place_loop(struct rfn_walk *walk, uint32_t loop)
{
    struct rfn_walk_frame *frame = &walk->frames[walk->depth - 1], *around = frame - 1;
    frame->flat = around->flat || !walk->cuts->loops[loop];
    frame->context = frame->flat ? around->context : walk->cuts->first[loop];
    frame->first_context = frame->context;
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
    if (walk->cuts)
        cut_before(walk, loop);
    if (trips == 0)
        return 0;
    RFN_TRY(push(walk, &walk->structure->loops[loop], (uint64_t)trips));
    if (walk->cuts)
        place_loop(walk, loop);
    return 0;
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
    return push(walk, &structure->top, 1);
}

static void free_cuts(struct rfn_cuts *cuts)
{
    if (!cuts)
        return;
    free(cuts->loops);
    free(cuts->first);
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

static struct rfn_cuts *new_cuts(uint32_t n_loops)
{
    struct rfn_cuts *cuts = calloc(1, sizeof *cuts);
    if (!cuts)
        return NULL;
    cuts->loops = calloc(n_loops + (size_t)1, sizeof *cuts->loops);
    cuts->first = calloc(n_loops + (size_t)1, sizeof *cuts->first);
    if (cuts->loops && cuts->first)
        return cuts;
    free_cuts(cuts);
    return NULL;
}

uint32_t rfn_count_stretches(const struct rfn_node_list *list, const bool *loops)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < list->n; i++)
        n += rfn_node_is_loop(list->nodes[i]) && loops[rfn_node_index(list->nodes[i])];
    return n;
}

static void number_contexts(const struct rfn_structure *structure, struct rfn_cuts *cuts)
{
    cuts->n_top = cuts->n_contexts = rfn_count_stretches(&structure->top, cuts->loops);
    for (uint32_t i = 0; i < structure->n_loops; i++) {
        cuts->first[i] = cuts->n_contexts;
        if (cuts->loops[i])
            cuts->n_contexts += rfn_count_stretches(&structure->loops[i], cuts->loops);
    }
    cuts->pending = true;
}

static int begin_cuts(struct rfn_walk *walk)
{
    assert(walk->index == 0 && !walk->cuts);
    walk->cuts = new_cuts(walk->structure->n_loops);
    return walk->cuts ? 0 : rfn_walk_failed(walk, rfn_out_of_memory);
}

int rfn_walk_cut(struct rfn_walk *walk, const struct rfn_dictionary *dictionary, uint32_t min_calls)
{
    RFN_TRY(begin_cuts(walk));
    rfn_choose_cuts(dictionary, walk->structure, min_calls, walk->cuts->loops, walk->cuts->first);
    number_contexts(walk->structure, walk->cuts);
    return 0;
}

int rfn_walk_cut_at(struct rfn_walk *walk, const bool *loops)
{
    RFN_TRY(begin_cuts(walk));
    memcpy(walk->cuts->loops, loops, walk->structure->n_loops * sizeof *loops);
    number_contexts(walk->structure, walk->cuts);
    return 0;
}
