/* page_loops.c - the loops of a stream as bands: from when to when a loop ran, how many iterations
 * it had, how long these took.
 *
 * The cursor says where segments begin, and their contexts; a context is a stretch
 * between loops, numbered in the order in which an iteration executes them. So a segment begins a
 * new iteration of a loop where its number, or that of the inner loop it is in, is not above the
 * last one there.
 */
#include "view/wasm/page_reader.h"

#include "base/grow.h"

#include <stdlib.h>

enum { MOST_DEPTH = 16, MOST_BANDS = 1 << 16, LEAST_CALLS = 1 };

struct band {
    double from, to, count, shortest, longest;
    uint32_t loop, depth;
};

/* An iteration of a band begins. */
struct start {
    double ns, band;
};

/* A loop that is under way. */
struct open {
    uint32_t loop, last; /* context, or inner loop, of the segment at hand */
    double count, shortest, longest, began;
    uint32_t band;
};

static struct {
    uint32_t *loop_of, *around; /* by context; of loops, whose number is that of their first one */
    uint32_t n_contexts;
    struct band *bands;
    size_t n_bands, bands_capacity;
    struct start *starts; /* of iterations, in order of time */
    size_t n_starts, starts_capacity;
    struct open open[MOST_DEPTH];
    uint32_t n_open;
} loops;

const void *EXPORT(page_bands)(void)
{
    return loops.bands;
}

const void *EXPORT(page_band_starts)(void)
{
    return loops.starts;
}

uint32_t EXPORT(page_band_n_starts)(void)
{
    return (uint32_t)loops.n_starts;
}

static int note_context(void *context, const struct rfn_context_call *call)
{
    (void)context;
    if (call->context >= loops.n_contexts || call->list >= loops.n_contexts)
        return 0;
    loops.loop_of[call->context] = call->list;
    loops.around[call->list] = call->around;
    return 0;
}

static int learn_contexts(const struct rfn_cursor *cursor)
{
    const uint32_t n = rfn_cursor_contexts(cursor);
    free(loops.loop_of);
    free(loops.around);
    loops.loop_of = malloc(((size_t)n + 1) * sizeof *loops.loop_of);
    loops.around = malloc(((size_t)n + 1) * sizeof *loops.around);
    loops.n_contexts = loops.loop_of && loops.around ? n : 0;
    if (loops.n_contexts < n)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n; i++)
        loops.loop_of[i] = loops.around[i] = RFN_NO_CONTEXT;
    return rfn_cursor_show_calls(cursor, note_context, NULL);
}

/* The loops around a context that is no context of the top, innermost first. */
static uint32_t chain_of(uint32_t context, uint32_t top, uint32_t chain[MOST_DEPTH])
{
    uint32_t n = 0;
    if (context < top || context >= loops.n_contexts)
        return 0;
    for (uint32_t loop = loops.loop_of[context];
         loop != RFN_NO_CONTEXT && loop >= top && loop < loops.n_contexts && n < MOST_DEPTH;
         loop = loops.around[loop])
        chain[n++] = loop;
    return n;
}

static void end_iteration(struct open *open, double ns)
{
    const double took = ns - open->began;
    if (!open->count++ || took < open->shortest)
        open->shortest = took;
    if (took > open->longest)
        open->longest = took;
    open->began = ns;
}

static void close_loops(uint32_t n, double ns)
{
    while (loops.n_open > n) {
        struct open *open = &loops.open[--loops.n_open];
        end_iteration(open, ns);
        if (open->band == UINT32_MAX)
            continue;
        struct band *band = &loops.bands[open->band];
        band->to = ns;
        band->count = open->count;
        band->shortest = open->shortest;
        band->longest = open->longest;
    }
}

static int note_start(const struct open *open, double ns)
{
    if (open->band == UINT32_MAX)
        return 0;
    RFN_TRY(RFN_GROW(loops.starts, loops.starts_capacity, loops.n_starts + 1));
    loops.starts[loops.n_starts++] = (struct start){ns, open->band};
    return 0;
}

static int open_loop(uint32_t loop, uint32_t key, double ns)
{
    struct open *open = &loops.open[loops.n_open];
    *open = (struct open){.loop = loop, .last = key, .began = ns, .band = UINT32_MAX};
    if (loops.n_bands < MOST_BANDS) {
        RFN_TRY(RFN_GROW(loops.bands, loops.bands_capacity, loops.n_bands + 1));
        open->band = (uint32_t)loops.n_bands;
        loops.bands[loops.n_bands++] = (struct band){
            .from = ns, .to = ns, .loop = loop, .depth = loops.n_open};
    }
    loops.n_open++;
    return note_start(open, ns);
}

/* A segment begins. */
static int begin(uint32_t context, uint32_t top, double ns, double last_ns)
{
    uint32_t chain[MOST_DEPTH], n = chain_of(context, top, chain), same = 0;
    while (same < n && same < loops.n_open && loops.open[same].loop == chain[n - 1 - same])
        same++;
    close_loops(same, last_ns);
    for (uint32_t depth = 0; depth < n; depth++) {
        const uint32_t key = depth + 1 < n ? chain[n - 2 - depth] : context;
        if (depth >= loops.n_open) {
            RFN_TRY(open_loop(chain[n - 1 - depth], key, ns));
            continue;
        }
        struct open *open = &loops.open[depth];
        const bool goes_on = depth + 1 < n && depth + 1 < same && key == open->last;
        if (!goes_on && key <= open->last) {
            close_loops(depth + 1, last_ns);
            end_iteration(open, ns);
            RFN_TRY(note_start(open, ns));
        }
        open->last = key;
    }
    return 0;
}

static int read_all(struct rfn_cursor *cursor)
{
    const struct rfn_record *record;
    double last_ns = 0;
    int more;
    RFN_TRY(rfn_cursor_cut_segments(cursor, LEAST_CALLS, &page_diag));
    RFN_TRY(learn_contexts(cursor));
    const uint32_t top = rfn_cursor_top_contexts(cursor);
    while ((more = rfn_cursor_next(cursor, &record, &page_diag)) > 0) {
        const struct rfn_segment_place place = rfn_cursor_place(cursor);
        if (place.begins)
            RFN_TRY(begin(place.context, top, (double)record->enter_ns, last_ns));
        last_ns = (double)record->exit_ns;
    }
    close_loops(0, last_ns);
    return more;
}

/* The number of bands of a stream; reads all of its events. */
int EXPORT(page_loops)(uint32_t stream)
{
    struct rfn_cursor *cursor;
    page_forget_error();
    loops.n_bands = loops.n_starts = loops.n_open = 0;
    int error = rfn_cursor_open(page_archive, stream, &cursor, &page_diag);
    if (error < 0)
        return page_fail(error);
    error = read_all(cursor);
    rfn_cursor_close(cursor);
    return error < 0 && !loops.n_bands ? page_fail(error) : (int)loops.n_bands;
}
