/* page_loops.c - the loops of a stream as bands: from when to when a loop ran, how many iterations
 * it had, how long these took. */
#include "view/wasm/page_reader.h"

#include "base/grow.h"
#include "refrain/timeline.h"

enum { MOST_BANDS = 1 << 16 };

struct band {
    double from, to, count, shortest, longest;
    uint32_t loop, depth;
};

/* An iteration of a band begins. */
struct start {
    double ns, band;
};

static struct {
    struct band *bands;
    size_t n_bands, bands_capacity;
    struct start *starts; /* of iterations, in order of time */
    size_t n_starts, starts_capacity;
    uint32_t open[RFN_TIMELINE_LOOPS_DEEP]; /* bands by depth; UINT32_MAX: there are too many */
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

static int iterate(void *context, uint32_t depth, int64_t ns)
{
    (void)context;
    if (loops.open[depth] == UINT32_MAX)
        return 0;
    RFN_TRY(RFN_GROW(loops.starts, loops.starts_capacity, loops.n_starts + 1));
    loops.starts[loops.n_starts++] = (struct start){(double)ns, loops.open[depth]};
    return 0;
}

static int begin(void *context, uint32_t depth, uint32_t loop, const struct rfn_record *record)
{
    const double ns = (double)record->enter_ns;
    loops.open[depth] = UINT32_MAX;
    if (loops.n_bands < MOST_BANDS) {
        RFN_TRY(RFN_GROW(loops.bands, loops.bands_capacity, loops.n_bands + 1));
        loops.open[depth] = (uint32_t)loops.n_bands;
        loops.bands[loops.n_bands++] = (struct band){
            .from = ns, .to = ns, .loop = loop, .depth = depth};
    }
    return iterate(context, depth, record->enter_ns);
}

static int end(void *context, uint32_t depth, int64_t ns, const struct rfn_timeline_loop_run *run)
{
    (void)context;
    if (loops.open[depth] == UINT32_MAX)
        return 0;
    struct band *band = &loops.bands[loops.open[depth]];
    band->to = (double)ns;
    band->count = (double)run->iterations;
    band->shortest = (double)run->shortest_ns;
    band->longest = (double)run->longest_ns;
    return 0;
}

/* The number of bands of a stream; reads all of its events. */
int EXPORT(page_loops)(uint32_t stream)
{
    static const struct rfn_timeline_loop_hooks hooks = {
        .begin = begin, .iterate = iterate, .end = end};
    page_forget_error();
    loops.n_bands = loops.n_starts = 0;
    const int error = rfn_timeline_loops(page_archive, stream, &hooks, &page_diag);
    return error < 0 && !loops.n_bands ? page_fail(error) : (int)loops.n_bands;
}
