/* fold_source.h - what a fold has, as a source of call-path signatures, for tests.
 */
#ifndef RFN_TESTS_SUPPORT_FOLD_SOURCE_H
#define RFN_TESTS_SUPPORT_FOLD_SOURCE_H

#include "reduce/clusters/path_signature.h"

#include <stdlib.h>

static int open_fold_trips(void *context, uint32_t loop, struct rfn_column_cursor *cursor)
{
    const struct rfn_column *trips = rfn_fold_trips(context, loop);
    if (!trips)
        return RFN_E_NOMEM;
    rfn_column_open_growing(cursor, trips);
    return 0;
}

/* The fold is borrowed and must not be frozen; *loops is the caller's to free. RFN_E_NOMEM. */
static inline int fold_source(struct rfn_fold *fold, const uint64_t *call_hashes,
                              uint32_t n_symbols, struct rfn_path_nodes **loops,
                              struct rfn_path_source *source)
{
    struct rfn_fold_view view;
    struct rfn_fold_stats stats;
    rfn_fold_view(fold, &view);
    rfn_fold_stats(fold, &stats);
    *loops = calloc(view.n_loops + 1, sizeof **loops);
    if (!*loops)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < view.n_loops; i++)
        (*loops)[i].nodes = rfn_fold_body(fold, i, &(*loops)[i].n);
    *source = (struct rfn_path_source){.top = {view.top, view.n_top},
                                       .loops = *loops,
                                       .n_loops = (uint32_t)view.n_loops,
                                       .n_symbols = n_symbols,
                                       .call_hashes = call_hashes,
                                       .trips = open_fold_trips,
                                       .context = fold,
                                       .events = stats.appended};
    return 0;
}

#endif
