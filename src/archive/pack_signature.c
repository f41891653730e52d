/* The recorder keeps the signatures of its streams. Of what has no order and hundreds of call paths
 * it would take too long with each call, but may be in time for all of it. */
#include "archive/pack.h"
#include "reduce/path_signature.h"

#include <stdlib.h>

enum { PIECE = 512 };

const struct rfn_path_limits rfn_signature_limits = {
    .steps = 1 << 19, .letters = 1 << 18, .work = 1 << 20};

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

/* Bodies of loops; those that nothing reaches are left without nodes. */
static int fill_loops(const struct rfn_stream *stream, struct rfn_path_nodes *loops, size_t n)
{
    uint32_t *number, n_reached;
    RFN_TRY(rfn_pack_loop_numbers(stream, &number, &n_reached));
    for (size_t i = 0; i < n; i++) {
        if (number[i] != UINT32_MAX)
            loops[i].nodes = rfn_fold_body(rfn_stream_fold(stream), (uint32_t)i, &loops[i].n);
    }
    free(number);
    return 0;
}

static int sign(const struct rfn_stream *stream, const struct rfn_fold_view *view,
                struct rfn_path_limits *left, uint64_t *letters, struct rfn_path_nodes *loops,
                uint64_t *signature)
{
    struct signing signing = {.fold = rfn_stream_fold(stream)};
    const struct rfn_path_source source = {.top = {view->top, view->n_top},
                                           .before_top = next_frozen,
                                           .loops = loops,
                                           .n_loops = (uint32_t)view->n_loops,
                                           .n_symbols = rfn_stream_symbols(stream),
                                           .letters = letters,
                                           .trips = open_trips,
                                           .context = &signing,
                                           .events = rfn_stream_events(stream),
                                           .limits = left};
    for (uint32_t i = 0; i < rfn_stream_symbols(stream); i++)
        letters[i] = rfn_stream_letter(stream, i);
    RFN_TRY(fill_loops(stream, loops, view->n_loops));
    rfn_column_open_growing(&signing.frozen, view->frozen);
    int error = rfn_path_signature(&source, RFN_PATHS_ELASTIC, signature);
    rfn_column_close(&signing.frozen);
    return error;
}

static uint64_t sign_structure(const struct rfn_stream *stream, struct rfn_path_limits *left)
{
    struct rfn_fold_view view;
    uint64_t signature = RFN_UNSIGNED, symbols = rfn_stream_symbols(stream);
    rfn_fold_view(rfn_stream_fold(stream), &view);
    if (symbols + view.frozen->n + view.n_top > left->steps || view.n_loops > LOOPS_MOST)
        return RFN_UNSIGNED;
    uint64_t *letters = calloc(symbols + 1, sizeof *letters);
    struct rfn_path_nodes *loops = calloc(view.n_loops + 1, sizeof *loops);
    bool made = letters && loops && sign(stream, &view, left, letters, loops, &signature) == 0;
    free(letters);
    free(loops);
    return made ? signature : RFN_UNSIGNED;
}

uint64_t rfn_pack_signature(struct rfn_stream *stream, struct rfn_path_limits *left)
{
    uint64_t kept = rfn_stream_signature(stream);
    return kept == RFN_UNSIGNED ? sign_structure(stream, left) : kept;
}
