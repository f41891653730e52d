#include "archive/write/pack_profile.h"

#include "reduce/segments/stream_reduction.h"

#include <assert.h>
#include <stdlib.h>

/* ---- shapes ---- */

int rfn_own_shape_make(struct rfn_own_shape *shape, uint32_t n_symbols, uint32_t n_loops,
                       uint32_t n_contexts)
{
    *shape = (struct rfn_own_shape){
        .failed_polls = calloc(n_symbols + (size_t)1, sizeof *shape->failed_polls),
        .loops = calloc(n_loops + (size_t)1, sizeof *shape->loops),
        .contexts = calloc(n_contexts + (size_t)1, sizeof *shape->contexts)};
    if (!shape->failed_polls || !shape->loops || !shape->contexts)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < n_contexts; i++)
        shape->contexts[i] = i;
    shape->shape = (struct rfn_profile_shape){.failed_polls = shape->failed_polls,
                                              .n_symbols = n_symbols,
                                              .loops = shape->loops,
                                              .n_loops = n_loops};
    return 0;
}

void rfn_own_shape_release(struct rfn_own_shape *shape)
{
    free(shape->failed_polls);
    free(shape->loops);
    free(shape->contexts);
    *shape = (struct rfn_own_shape){0};
}

void rfn_own_shape_cuts(struct rfn_own_shape *shape, uint32_t loop,
                        const struct rfn_contexts *contexts, uint32_t of, const rfn_node *body,
                        size_t length)
{
    shape->loops[loop] = (struct rfn_profile_loop){
        .cuts = true,
        .n_contexts = rfn_contexts_stretches(contexts, body, length),
        .contexts = shape->contexts + contexts->loops[of].first};
}

/* ---- the values of new segments ---- */

enum { LOOK_EVERY = 4096 }; /* events between two looks at what their columns take */

/* Where a symbol's columns are. */
struct places {
    size_t *first;  /* per symbol: gap, duration, and of a failed poll polls and inside */
    size_t volumes; /* of symbol 0; two per symbol */
};

static bool has_volumes(const struct rfn_profile_shape *shape)
{
    return shape->volumes && !shape->volumes_dropped;
}

static int append_two(struct rfn_column *columns, const int64_t *values)
{
    RFN_TRY(rfn_column_append(&columns[0], values[0]));
    return rfn_column_append(&columns[1], values[1]);
}

static int64_t difference(int64_t later, int64_t earlier)
{
    return (int64_t)((uint64_t)later - (uint64_t)earlier);
}

static int append_segment(struct rfn_new_times *times, const struct places *places,
                          const struct rfn_profile_shape *shape,
                          const struct rfn_executed *executed)
{
    const int64_t *extra = executed->extra, *time = executed->vector;
    for (size_t i = 0; i < executed->n; i++, time += 2) {
        uint32_t symbol = executed->events[i];
        struct rfn_column *columns = times->columns + places->first[symbol];
        const int64_t both[] = {difference(time[1], time[0]), difference(time[2], time[1])};
        RFN_TRY(append_two(columns, both));
        if (shape->failed_polls[symbol]) {
            RFN_TRY(append_two(columns + 2, extra));
            extra += 2;
        }
        if (shape->volumes) {
            if (!shape->volumes_dropped)
                RFN_TRY(append_two(times->columns + places->volumes + 2 * (size_t)symbol, extra));
            extra += 2;
        }
    }
    assert(extra == executed->extra + executed->n_extra);
    return 0;
}

static int each_new(void *columns, int (*visit)(void *context, struct rfn_column *column),
                    void *context)
{
    struct rfn_new_times *times = columns;
    for (size_t i = 0; i < times->n; i++)
        RFN_TRY(visit(context, &times->columns[i]));
    return 0;
}

static int append_new(struct rfn_new_times *times, const struct rfn_stream_profile *profile,
                      const struct places *places, const struct rfn_profile_shape *shape,
                      struct rfn_room *room)
{
    struct rfn_profile_walk *walk = rfn_profile_walk_firsts(profile);
    struct rfn_executed executed;
    size_t look_every = LOOK_EVERY + 4 * times->n, appended = 0; /* events */
    int more = walk ? 1 : RFN_E_NOMEM;
    while (more > 0 && (more = rfn_profile_walk_next(walk, &executed)) > 0) {
        if (append_segment(times, places, shape, &executed) < 0)
            more = RFN_E_NOMEM;
        appended += executed.n;
        if (more > 0 && appended >= look_every) {
            rfn_columns_keep_to(times, each_new, room);
            appended = 0;
        }
    }
    rfn_profile_walk_free(walk);
    return more;
}

int rfn_new_times_make(struct rfn_new_times *times, const struct rfn_stream_profile *profile,
                       const struct rfn_profile_shape *shape, struct rfn_room room)
{
    struct places places = {.first = malloc((shape->n_symbols + (size_t)1) * sizeof *places.first)};
    *times = (struct rfn_new_times){0};
    if (!places.first)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < shape->n_symbols; i++) {
        places.first[i] = places.volumes;
        places.volumes += shape->failed_polls[i] ? 4 : 2;
    }
    size_t n = places.volumes + (has_volumes(shape) ? 2 * (size_t)shape->n_symbols : 0);
    times->columns = malloc((n + 1) * sizeof *times->columns);
    for (size_t i = 0; times->columns && i < n; i++)
        rfn_column_init(&times->columns[i]);
    times->n = times->columns ? n : 0;
    int error = times->columns ? append_new(times, profile, &places, shape, &room) : RFN_E_NOMEM;
    free(places.first);
    return error;
}

void rfn_new_times_release(struct rfn_new_times *times)
{
    for (size_t i = 0; i < times->n; i++)
        rfn_column_release(&times->columns[i]);
    free(times->columns);
    *times = (struct rfn_new_times){0};
}

/* ---- the payload ---- */

static void pack_column(const struct rfn_column *column, struct rfn_rope *out)
{
    static const struct rfn_column empty = {0};
    rfn_column_pack(column ? column : &empty, out);
}

/* Where lists go. */
struct packing {
    struct rfn_coder_memory *memory;
    struct rfn_rope *out;
};

/* NULL: it is empty. */
static void pack_list(const struct packing *packing, const struct rfn_execution_list *list)
{
    static const struct rfn_execution_list empty = {0};
    struct rfn_buf *out = &packing->out->bytes;
    list = list ? list : &empty;
    if (rfn_list_pack(&list->coded, &list->rest, NULL, packing->memory, out) < 0)
        out->failed = true;
}

int rfn_pack_profile_rest(const struct rfn_stream_profile *profile,
                          const struct rfn_new_times *times, const struct rfn_profile_shape *shape,
                          const struct rfn_pack_clock *clock, struct rfn_coder_memory *memory,
                          struct rfn_rope *out)
{
    enum { TIMES = 1, VOLUMES = 2, STRETCHED = 4 };
    const struct packing packing = {memory, out};
    const struct rfn_start_tolerance tolerance = rfn_stream_profile_tolerance(profile);
    const uint64_t first = (uint64_t)rfn_stream_profile_first(profile); /* if there is a segment */
    rfn_buf_varint(&out->bytes, TIMES | (has_volumes(shape) ? VOLUMES : 0) |
                                    (rfn_stream_profile_stretched(profile) ? STRETCHED : 0));
    rfn_pack_clock(clock, NULL, 0, &out->bytes);
    for (size_t i = 0; i < times->n; i++)
        rfn_column_pack(&times->columns[i], out);
    for (uint32_t i = 0; i < shape->n_loops; i++)
        rfn_buf_u8(&out->bytes, shape->loops[i].cuts);
    rfn_buf_varint(&out->bytes, first > clock->start ? first - clock->start : 0);
    rfn_buf_varint(&out->bytes, tolerance.absolute);
    rfn_buf_varint(&out->bytes, tolerance.share);
    rfn_column_pack(rfn_stream_profile_top(profile), out);
    for (uint32_t i = 0; i < shape->n_loops; i++) {
        const struct rfn_profile_loop *loop = &shape->loops[i];
        for (uint32_t k = 0; loop->cuts && k < loop->n_contexts; k++) {
            const struct rfn_execution_columns *columns = rfn_stream_profile_columns(
                profile, loop->contexts[k]);
            pack_list(&packing, columns ? &columns->correction : NULL);
            pack_column(columns ? &columns->pace : NULL, out);
            pack_column(columns ? &columns->kept : NULL, out);
        }
    }
    return rfn_rope_status(out);
}

void rfn_profile_lists(const struct rfn_stream_profile *profile,
                       const struct rfn_profile_shape *shape,
                       void (*visit)(void *context, const struct rfn_execution_columns *columns),
                       void *context)
{
    for (uint32_t i = 0; i < shape->n_loops; i++) {
        const struct rfn_profile_loop *loop = &shape->loops[i];
        for (uint32_t k = 0; loop->cuts && k < loop->n_contexts; k++)
            visit(context, rfn_stream_profile_columns(profile, loop->contexts[k]));
    }
}

static void pack_unguided(void *context, const struct rfn_execution_columns *columns)
{
    pack_list(context, columns ? &columns->representative : NULL);
}

int rfn_pack_profile(const struct rfn_stream_profile *profile, const struct rfn_new_times *times,
                     const struct rfn_profile_shape *shape, const struct rfn_pack_clock *clock,
                     struct rfn_rope *out)
{
    struct rfn_coder_memory memory = {0};
    struct packing packing = {&memory, out};
    int error = rfn_pack_profile_rest(profile, times, shape, clock, &memory, out);
    if (!error)
        rfn_profile_lists(profile, shape, pack_unguided, &packing);
    rfn_coder_memory_release(&memory);
    return error ? error : rfn_rope_status(out);
}

/* ---- of a stream that was reduced while it was recorded ---- */

/* The profile has its contexts from the loops as the fold numbers them (contexts.h); the file has
 * those loops that are reachable, in the same order. */
int rfn_pack_reduced(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                     struct rfn_new_times *times, struct rfn_rope *out)
{
    const struct rfn_stream_reduction *reduction = rfn_stream_reduced(stream);
    const struct rfn_stream_profile *profile = rfn_stream_reduction_profile(reduction);
    const struct rfn_contexts *contexts = rfn_stream_reduction_contexts(reduction);
    const uint32_t n_symbols = rfn_stream_symbols(stream);
    struct rfn_own_shape shape;
    uint32_t *number, n_loops;
    *times = (struct rfn_new_times){0};
    RFN_TRY(rfn_pack_loop_numbers(stream, &number, &n_loops));
    int error = rfn_own_shape_make(&shape, n_symbols, n_loops, contexts->n);
    for (uint32_t i = 0; i < n_symbols && !error; i++)
        shape.failed_polls[i] = rfn_stream_symbol(stream, i)->failed_poll;
    for (uint32_t i = 0; i < contexts->n_loops && !error; i++) {
        size_t length;
        const rfn_node *body = rfn_fold_body(rfn_stream_fold(stream), i, &length);
        if (number[i] != UINT32_MAX && rfn_contexts_cuts(contexts, i))
            rfn_own_shape_cuts(&shape, number[i], contexts, i, body, length);
    }
    shape.shape.volumes = rfn_stream_counts(stream);
    shape.shape.volumes_dropped = !rfn_stream_has_volume(stream);
    if (!error)
        error = rfn_new_times_make(times, profile, &shape.shape, rfn_stream_room(stream));
    if (!error)
        error = rfn_pack_profile(profile, times, &shape.shape, clock, out);
    rfn_own_shape_release(&shape);
    free(number);
    return error;
}
