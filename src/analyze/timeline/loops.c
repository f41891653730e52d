/* loops.c - the loops of a stream in time.
 *
 * The cursor says where segments begin, and their contexts; a context is a stretch between loops,
 * numbered in the order in which an iteration executes them. So a segment begins a new iteration of
 * a loop where its number, or that of the inner loop it is in, is not above the last one there.
 */
#include "refrain/timeline.h"

#include <stdlib.h>

enum { LEAST_CALLS = 1, DEEPEST = RFN_TIMELINE_LOOPS_DEEP };

/* A loop that is under way. */
struct open {
    uint32_t loop, last; /* context, or inner loop, of the segment at hand */
    int64_t began_ns;    /* the iteration */
    struct rfn_timeline_loop_run run;
};

struct walk {
    const struct rfn_timeline_loop_hooks *hooks;
    uint32_t *loop_of, *around; /* by context; of loops, whose number is that of their first one */
    uint32_t n_contexts, top;   /* contexts below top are in no loop */
    struct open open[DEEPEST];  /* the outermost first */
    uint32_t n_open;
    int64_t last_ns; /* the last call's exit */
};

static int note_context(void *context, const struct rfn_context_call *call)
{
    struct walk *walk = context;
    if (call->context >= walk->n_contexts || call->list >= walk->n_contexts)
        return 0;
    walk->loop_of[call->context] = call->list;
    walk->around[call->list] = call->around;
    return 0;
}

static int learn_contexts(struct walk *walk, const struct rfn_cursor *cursor)
{
    const uint32_t n = rfn_cursor_contexts(cursor);
    walk->loop_of = malloc(((size_t)n + 1) * sizeof *walk->loop_of);
    walk->around = malloc(((size_t)n + 1) * sizeof *walk->around);
    if (!walk->loop_of || !walk->around)
        return RFN_E_NOMEM;
    walk->n_contexts = n;
    walk->top = rfn_cursor_top_contexts(cursor);
    for (uint32_t i = 0; i < n; i++)
        walk->loop_of[i] = walk->around[i] = RFN_NO_CONTEXT;
    return rfn_cursor_show_calls(cursor, note_context, walk);
}

/* The loops around a context, innermost first. */
static uint32_t chain_of(const struct walk *walk, uint32_t context, uint32_t chain[DEEPEST])
{
    uint32_t n = 0;
    if (context < walk->top || context >= walk->n_contexts)
        return 0;
    for (uint32_t loop = walk->loop_of[context];
         loop != RFN_NO_CONTEXT && loop >= walk->top && loop < walk->n_contexts && n < DEEPEST;
         loop = walk->around[loop])
        chain[n++] = loop;
    return n;
}

static void end_iteration(struct open *open, int64_t ns)
{
    const int64_t took = ns - open->began_ns;
    if (!open->run.iterations++ || took < open->run.shortest_ns)
        open->run.shortest_ns = took;
    if (took > open->run.longest_ns)
        open->run.longest_ns = took;
    open->began_ns = ns;
}

static int close_down_to(struct walk *walk, uint32_t n)
{
    while (walk->n_open > n) {
        struct open *open = &walk->open[--walk->n_open];
        end_iteration(open, walk->last_ns);
        RFN_TRY(walk->hooks->end(walk->hooks->context, walk->n_open, walk->last_ns, &open->run));
    }
    return 0;
}

/* key: of the segment in the loop. */
static int open_loop(struct walk *walk, uint32_t loop, uint32_t key,
                     const struct rfn_record *record)
{
    const uint32_t depth = walk->n_open++;
    walk->open[depth] = (struct open){.loop = loop, .last = key, .began_ns = record->enter_ns};
    return walk->hooks->begin(walk->hooks->context, depth, loop, record);
}

/* A segment begins. */
static int begin(struct walk *walk, uint32_t context, const struct rfn_record *record)
{
    uint32_t chain[DEEPEST], n = chain_of(walk, context, chain), same = 0;
    while (same < n && same < walk->n_open && walk->open[same].loop == chain[n - 1 - same])
        same++;
    RFN_TRY(close_down_to(walk, same));
    for (uint32_t depth = 0; depth < n; depth++) {
        const uint32_t key = depth + 1 < n ? chain[n - 2 - depth] : context;
        if (depth >= walk->n_open) {
            RFN_TRY(open_loop(walk, chain[n - 1 - depth], key, record));
            continue;
        }
        struct open *open = &walk->open[depth];
        const bool goes_on = depth + 1 < n && depth + 1 < same && key == open->last;
        if (!goes_on && key <= open->last) {
            RFN_TRY(close_down_to(walk, depth + 1));
            end_iteration(open, record->enter_ns);
            RFN_TRY(walk->hooks->iterate(walk->hooks->context, depth, record->enter_ns));
        }
        open->last = key;
    }
    return 0;
}

static int walk_all(struct walk *walk, struct rfn_cursor *cursor, struct rfn_diag *diag)
{
    const struct rfn_timeline_loop_hooks *hooks = walk->hooks;
    const struct rfn_record *record;
    int more;
    RFN_TRY(rfn_cursor_cut_segments(cursor, LEAST_CALLS, diag));
    RFN_TRY(learn_contexts(walk, cursor));
    while ((more = rfn_cursor_next(cursor, &record, diag)) > 0) {
        const struct rfn_segment_place place = rfn_cursor_place(cursor);
        if (hooks->counts && !hooks->counts(hooks->context, record))
            continue;
        if (place.begins)
            RFN_TRY(begin(walk, place.context, record));
        walk->last_ns = record->exit_ns;
    }
    const int error = close_down_to(walk, 0);
    return error < 0 ? error : more;
}

int rfn_timeline_loops(const struct rfn_archive *archive, uint32_t stream,
                       const struct rfn_timeline_loop_hooks *hooks, struct rfn_diag *diag)
{
    struct walk walk = {.hooks = hooks};
    struct rfn_cursor *cursor;
    RFN_TRY(rfn_cursor_open(archive, stream, &cursor, diag));
    const int error = walk_all(&walk, cursor, diag);
    rfn_cursor_close(cursor);
    free(walk.loop_of);
    free(walk.around);
    return error == RFN_E_NOMEM ? rfn_fail(diag, error, -1, -1, "%s", rfn_error_text(error))
                                : error;
}
