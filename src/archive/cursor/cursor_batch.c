/* cursor_batch.c - several iterations of a loop at once (cursor.h).
 *
 * Where in a loop nothing but times varies, the times of several iterations are decoded together
 * and put in order. Of a loop with loops inside it is the longest run of events between these, of
 * one iteration at a time. Nothing of a batch can fail: it takes what lies decoded of the columns,
 * and ends in front of a time mark.
 */
#include "archive/cursor/cursor_state.h"
#include "base/grow.h"
#include "event/kind.h"
#include "reduce/fold/fold.h"

#include <stdlib.h>

/* At most so many events in a batch, so many in an iteration; at least so many between loops. */
enum { BATCH_EVENTS = 128, BATCH_WIDTH = 64, BATCH_BETWEEN = 4 };

/* Whether a run of a loop's events has just different symbols of calls, of which only times change.
 * False if it is not known yet: some symbol has not occurred. */
static bool fits(const struct rfn_cursor *cursor, const struct rfn_node_list *run, bool *known)
{
    *known = true;
    for (uint32_t i = 0; i < run->n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (run->nodes[k] == run->nodes[i])
                return false;
        }
        const struct rfn_symbol_state *state = cursor->symbols[rfn_node_index(run->nodes[i])];
        if (!state)
            return *known = false;
        uint8_t class_ = cursor->archive->dictionary.functions[state->record.function].class_;
        if (state->ready.others || state->record.failed_poll || !rfn_class_is_mpi(class_) ||
            class_ == RFN_CLASS_SETUP)
            return false;
    }
    return true;
}

/* Before the plan is made: its run is the longest one of nodes of the body that are no loops; all
 * of them, where there are no loops inside. */
static void find_run(struct rfn_batch_plan *plan, const struct rfn_node_list *body)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < body->n; i++) {
        if (rfn_node_is_loop(body->nodes[i]))
            first = i + 1;
        else if (i + 1 - first > plan->run) {
            plan->first = first;
            plan->run = i + 1 - first;
        }
    }
    plan->whole = plan->run == body->n;
    if (plan->run > BATCH_WIDTH || plan->run < (plan->whole ? 1 : BATCH_BETWEEN))
        plan->width = UINT32_MAX;
}

static int make_plan(struct rfn_cursor *cursor, struct rfn_batch_plan *plan,
                     const struct rfn_node_list *body)
{
    bool known = true;
    const struct rfn_node_list run = {body->nodes + plan->first, plan->run};
    if (!fits(cursor, &run, &known)) {
        plan->width = known ? UINT32_MAX : 0;
        return 0;
    }
    if (!cursor->batches.times)
        cursor->batches.times = malloc(BATCH_EVENTS * sizeof *cursor->batches.times);
    plan->states = malloc(run.n * sizeof *plan->states);
    plan->records = malloc(run.n * sizeof *plan->records);
    if (!cursor->batches.times || !plan->states || !plan->records) {
        free(plan->states);
        free(plan->records);
        *plan = (struct rfn_batch_plan){0};
        return rfn_cursor_no_memory(cursor);
    }
    plan->width = run.n;
    for (uint32_t i = 0; i < run.n; i++) {
        plan->states[i] = cursor->symbols[rfn_node_index(run.nodes[i])];
        plan->records[i] = &plan->states[i]->record;
    }
    return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How many iterations may come at once: their times can be had without decoding another block, and
 * no time mark lies in front of any of their events. */
static uint64_t trips_at_once(const struct rfn_cursor *cursor, const struct rfn_batch_plan *plan)
{
    const struct rfn_structure_walk *walk = &cursor->walk;
    uint64_t since_mark = walk->index & cursor->marks.mask;
    const uint64_t end = least(cursor->events, cursor->clock.last);
    uint64_t events = walk->index < end ? least(BATCH_EVENTS, end - walk->index) : 0;
    if (!since_mark)
        return 0;
    events = least(events, cursor->marks.mask + 1 - since_mark);
    if (walk->cuts)
        events = least(events, RFN_SEGMENT_EVENTS_MAX - walk->cuts->length);
    uint64_t left = plan->whole ? walk->frames[walk->depth - 1].left : 1;
    uint64_t trips = least(left, events / plan->width);
    for (uint32_t i = 0; i < plan->width && trips; i++) {
        const struct rfn_symbol_state *state = plan->states[i];
        const struct rfn_supply *gaps = &state->gaps, *durations = &state->durations;
        uint64_t n = least(gaps->open ? gaps->column.left : gaps->left,
                           durations->open ? durations->column.left : durations->left);
        trips = least(trips, state->ready.n + n);
    }
    return trips;
}

/* The next n times of a symbol, which remain to be taken. */
static void look_ahead(const struct rfn_symbol_state *state, size_t n, struct rfn_quanta *to,
                       size_t step)
{
    const struct rfn_ready *ready = &state->ready;
    size_t at = 0;
    for (; at < n && at < ready->n; at++)
        to[at * step] = rfn_ready_at(ready, (uint32_t)(ready->n - 1 - at));
    for (size_t i = 0; at + i < n; i++)
        to[(at + i) * step].gap = rfn_supply_at(&state->gaps, i);
    for (size_t i = 0; at + i < n; i++)
        to[(at + i) * step].duration = rfn_supply_at(&state->durations, i);
}

/* The times of one iteration in nanoseconds. Returns whether they fit. */
static bool to_ns(struct rfn_cursor *cursor, const struct rfn_quanta *quanta, uint32_t width,
                  uint64_t *before_ns, struct rfn_batch_time *times)
{
    uint64_t at = cursor->clock.last_exit, ns = *before_ns, all = 0;
    for (uint32_t i = 0; i < width; i++) {
        uint64_t enter_ns = rfn_cursor_ns(cursor, at += (uint64_t)quanta[i].gap);
        uint64_t exit_ns = rfn_cursor_ns(cursor, at += (uint64_t)quanta[i].duration);
        times[i] = (struct rfn_batch_time){(uint32_t)(enter_ns - ns),
                                           (uint32_t)(exit_ns - enter_ns)};
        all |= (enter_ns - ns) | (exit_ns - enter_ns);
        ns = exit_ns;
    }
    if (all > UINT32_MAX)
        return false;
    cursor->clock.last_exit = at;
    *before_ns = ns;
    return true;
}

/* Decodes the times of at most so many iterations. Returns of how many. */
static uint64_t fill_batch(struct rfn_cursor *cursor, const struct rfn_batch_plan *plan,
                           uint64_t trips)
{
    struct rfn_quanta quanta[BATCH_EVENTS];
    uint64_t done = 0, ns = rfn_cursor_ns(cursor, cursor->clock.last_exit);
    cursor->batches.batch.before_ns = (int64_t)(ns + cursor->clock.add_ns);
    for (uint32_t i = 0; i < plan->width; i++) { /* their columns, whose places are near by now */
        __builtin_prefetch(plan->states[i]->gaps.column.next);
        __builtin_prefetch(plan->states[i]->durations.column.next);
    }
    for (uint32_t i = 0; i < plan->width; i++)
        look_ahead(plan->states[i], trips, quanta + i, plan->width);
    while (done < trips && to_ns(cursor, quanta + done * plan->width, plan->width, &ns,
                                 cursor->batches.times + done * plan->width))
        done++;
    cursor->batches.batch.end_ns = (int64_t)(ns + cursor->clock.add_ns);
    return done;
}

static void begin_batch(struct rfn_cursor *cursor, const struct rfn_batch_plan *plan,
                        uint64_t trips)
{
    struct rfn_structure_walk *walk = &cursor->walk;
    struct rfn_batch *batch = &cursor->batches.batch;
    batch->loop = (uint32_t)(plan - cursor->batches.plans);
    batch->width = plan->width;
    batch->n = (uint32_t)trips * plan->width;
    batch->taken = 0;
    batch->records = plan->records;
    batch->times = cursor->batches.times;
    batch->first = walk->index;
    batch->begins = walk->cuts && walk->cuts->pending;
    for (uint32_t i = 0; i < plan->width; i++) {
        struct rfn_symbol_state *state = plan->states[i];
        uint32_t ready = (uint32_t)least(trips, state->ready.n);
        state->ready.n -= ready;
        rfn_supply_take(&state->gaps, trips - ready);
        rfn_supply_take(&state->durations, trips - ready);
    }
    if (plan->whole)
        rfn_structure_walk_skip_trips(walk, trips, plan->width);
    else
        rfn_structure_walk_skip_run(walk, plan->width);
    if (!walk->cuts)
        return;
    const struct rfn_stretch *stretch = &walk->frames[walk->depth - 1].stretch;
    batch->all_begin = !stretch->flat;
    batch->context = stretch->context;
}

/* The plan of the loop at the beginning of whose run the walk is; NULL: there is none, or the
 * cursor has failed. */
static struct rfn_batch_plan *plan_here(struct rfn_cursor *cursor)
{
    const struct rfn_structure_walk_frame *frame = &cursor->walk.frames[cursor->walk.depth - 1];
    if (cursor->walk.depth == 1)
        return NULL;
    struct rfn_batch_plan *plan = &cursor->batches.plans[frame->loop];
    const struct rfn_node_list *body = &cursor->parts.structure->loops[frame->loop];
    if (!plan->width && !plan->run)
        find_run(plan, body);
    if (plan->width == UINT32_MAX || frame->node != frame->body + plan->first)
        return NULL;
    if (!plan->width && make_plan(cursor, plan, body) < 0)
        return NULL;
    if (!plan->width || plan->width == UINT32_MAX)
        return NULL;
    if (plan->pause) {
        plan->pause--;
        return NULL;
    }
    return plan;
}

int rfn_cursor_next_batch(struct rfn_cursor *cursor, struct rfn_batch **batch,
                          struct rfn_diag *diag)
{
    cursor->batches.batch.n = 0;
    if (cursor->stop.stopped)
        return rfn_cursor_report(cursor, diag);
    const struct rfn_cuts *cuts = cursor->walk.cuts;
    if (!cursor->times || !cursor->has_timing || cursor->timing.volume || (cuts && cuts->marked))
        return 0;
    int more = rfn_structure_walk_find(&cursor->walk);
    if (more < 0)
        rfn_cursor_fault_in(cursor, &cursor->parts.values->payload, cursor->walk.fault);
    struct rfn_batch_plan *plan = more > 0 ? plan_here(cursor) : NULL;
    if (cursor->stop.error)
        return rfn_cursor_report(cursor, diag);
    for (uint32_t i = 0; plan && i < plan->width; i++) { /* mostly far from the processor */
        __builtin_prefetch(&plan->states[i]->ready, 1);
        __builtin_prefetch(&plan->states[i]->gaps, 1);
        __builtin_prefetch(&plan->states[i]->durations, 1);
    }
    uint64_t trips = plan ? trips_at_once(cursor, plan) : 0;
    if (!trips || (plan->whole && trips < 2))
        return 0;
    uint64_t done = fill_batch(cursor, plan, trips);
    if (!done) {
        plan->pause = (uint32_t)trips;
        return 0;
    }
    begin_batch(cursor, plan, done);
    *batch = &cursor->batches.batch;
    return 1;
}

void rfn_cursor_forget_plans(struct rfn_cursor *cursor)
{
    for (uint32_t i = 0; cursor->batches.plans && i < cursor->parts.structure->n_loops; i++) {
        free(cursor->batches.plans[i].states);
        free(cursor->batches.plans[i].records);
        cursor->batches.plans[i] = (struct rfn_batch_plan){0};
    }
}
