/* The recorder keeps the signatures of its streams. Of what has no order and hundreds of call paths
 * it would take too long with each call, but may be in time for all of it. */
#include "archive/write/pack.h"
#include "reduce/clusters/path_signature.h"

#include <stdlib.h>

enum { PIECE = 512 };

const struct rfn_path_limits rfn_signature_limits = {
    .steps = 1 << 19, .calls = 1 << 18, .work = 1 << 20};

/* Of a stream: memory is some 400 bytes for each number of a loop, also where nothing reaches
 * the loop any more (fold.h). */
enum { LOOPS_MOST = 1 << 13 };

/* A stream's fold as a source of signatures. */
struct signing {
    const struct rfn_fold *fold;
    struct rfn_column_cursor frozen;
    rfn_node piece[PIECE];
};

static int open_trips(void *context, uint32_t loop, struct rfn_column_cursor *cursor)
{
    const struct signing *signing = context;
    const struct rfn_column *trips = rfn_fold_trips(signing->fold, loop);
    if (!trips)
        return RFN_E_NOMEM;
    rfn_column_open_growing(cursor, trips);
    return 0;
}

static int next_frozen(void *context, struct rfn_path_nodes *piece)
{
    struct signing *signing = context;
    struct rfn_column_cursor *frozen = &signing->frozen;
    *piece = (struct rfn_path_nodes){.nodes = signing->piece};
    while (piece->n < PIECE && rfn_column_at(frozen) < frozen->n) {
        int64_t node;
        RFN_TRY(rfn_column_next(frozen, &node));
        signing->piece[piece->n++] = (rfn_node)node;
    }
    return 0;
}

static uint64_t sign_structure(const struct rfn_stream *stream, struct rfn_path_limits *left)
{
    struct signing signing = {.fold = rfn_stream_fold(stream)};
    const uint32_t symbols = rfn_stream_symbols(stream);
    uint64_t signature = RFN_UNSIGNED;
    uint32_t *number = NULL, n_reached;
    struct rfn_fold_view view;
    rfn_fold_view(signing.fold, &view);
    if (symbols + view.frozen->n + view.n_top > left->steps || view.n_loops > LOOPS_MOST)
        return RFN_UNSIGNED;
    uint64_t *call_hashes = calloc(symbols + (size_t)1, sizeof *call_hashes);
    struct rfn_path_nodes *loops = calloc(view.n_loops + 1, sizeof *loops);
    const struct rfn_path_source source = {.top = {view.top, view.n_top},
                                           .before_top = next_frozen,
                                           .loops = loops,
                                           .n_loops = (uint32_t)view.n_loops,
                                           .n_symbols = symbols,
                                           .call_hashes = call_hashes,
                                           .trips = open_trips,
                                           .context = &signing,
                                           .events = rfn_stream_events(stream),
                                           .limits = left};
    int error = call_hashes && loops ? rfn_pack_loop_numbers(stream, &number, &n_reached)
                                     : RFN_E_NOMEM;
    for (uint32_t i = 0; i < symbols && !error; i++)
        call_hashes[i] = rfn_stream_call_hash(stream, i);
    for (size_t i = 0; i < view.n_loops && !error; i++) { /* others are left without nodes */
        if (number[i] != UINT32_MAX)
            loops[i].nodes = rfn_fold_body(signing.fold, (uint32_t)i, &loops[i].n);
    }
    if (!error) {
        rfn_column_open_growing(&signing.frozen, view.frozen);
        error = rfn_path_signature(&source, RFN_PATHS_ELASTIC, &signature);
        rfn_column_close(&signing.frozen);
    }
    free(number);
    free(call_hashes);
    free(loops);
    return error ? RFN_UNSIGNED : signature;
}

uint64_t rfn_pack_signature(struct rfn_stream *stream, struct rfn_path_limits *left)
{
    uint64_t kept = rfn_stream_signature(stream);
    return kept == RFN_UNSIGNED ? sign_structure(stream, left) : kept;
}
