/* The profile has its contexts from the loops as the fold numbers them (contexts.h); the file has
 * those loops that are reachable, in the same order. */
#include "archive/pack_reduced.h"

#include "reduce/stream_reduction.h"

#include <stdlib.h>

/* number: of each loop of the fold in the file, or UINT32_MAX. */
static void fill_loops(struct rfn_own_shape *shape, const struct rfn_fold *fold,
                       const struct rfn_contexts *contexts, const uint32_t *number)
{
    for (uint32_t i = 0; i < contexts->n_loops; i++) {
        size_t length;
        const rfn_node *body = rfn_fold_body(fold, i, &length);
        if (number[i] != UINT32_MAX && rfn_contexts_cuts(contexts, i))
            rfn_own_shape_cuts(shape, number[i], contexts, i, body, length);
    }
}

static int make_shape(struct rfn_own_shape *shape, const struct rfn_stream *stream,
                      const uint32_t *number, uint32_t n_loops)
{
    const struct rfn_contexts *contexts = rfn_stream_reduction_contexts(rfn_stream_reduced(stream));
    uint32_t n_symbols = rfn_stream_symbols(stream);
    RFN_TRY(rfn_own_shape_make(shape, n_symbols, n_loops, contexts->n));
    for (uint32_t i = 0; i < n_symbols; i++)
        shape->failed_polls[i] = rfn_stream_symbol(stream, i)->failed_poll;
    fill_loops(shape, rfn_stream_fold(stream), contexts, number);
    shape->shape.volumes = rfn_stream_counts(stream);
    shape->shape.volumes_dropped = !rfn_stream_has_volume(stream);
    return 0;
}

int rfn_pack_reduced(const struct rfn_stream *stream, const struct rfn_pack_clock *clock,
                     struct rfn_new_times *times, struct rfn_rope *out)
{
    const struct rfn_stream_profile *profile = rfn_stream_reduction_profile(
        rfn_stream_reduced(stream));
    struct rfn_own_shape shape;
    uint32_t *number, n_loops;
    *times = (struct rfn_new_times){0};
    RFN_TRY(rfn_pack_loop_numbers(stream, &number, &n_loops));
    int error = make_shape(&shape, stream, number, n_loops);
    if (!error)
        error = rfn_new_times_make(times, profile, &shape.shape, rfn_stream_room(stream));
    if (!error)
        error = rfn_pack_profile(profile, times, &shape.shape, clock, out);
    rfn_own_shape_release(&shape);
    free(number);
    return error;
}
