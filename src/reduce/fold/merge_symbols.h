/* merge_symbols.h - events from before an input moved, as if it had always been in a column.
 *
 * The symbols of an unsettled site that differ in nothing but moved inputs become one; their
 * columns are joined in order of occurrence, with one more for each of these inputs; and the
 * sequence is folded again. That is one pass over all events so far. Symbols stay in order of first
 * occurrence, those of other sites as they are.
 */
#ifndef RFN_REDUCE_FOLD_MERGE_SYMBOLS_H
#define RFN_REDUCE_FOLD_MERGE_SYMBOLS_H

#include "reduce/fold/fold.h"
#include "reduce/fold/varying_params.h"

struct rfn_symbol_join {
    struct rfn_symbol_table *table; /* has the old symbols, then the new ones */
    struct rfn_varying_params *inputs;
    const struct rfn_fold *from; /* the sequence of old symbols */
    struct rfn_fold *to;         /* gets that of new ones */
    /* Called now and then, with `context`, since columns grow: 0, or an error, which ends it. */
    int (*look)(void *context);
    void *context;
};

/* *last, an old symbol, becomes the new one's number; symbols of unsettled sites are counted anew;
 * sites stay unsettled. RFN_E_NOMEM, or an error of the look or of reading columns: the table,
 * which has the new symbols so far, and the fold can only be freed. */
int rfn_symbols_join(const struct rfn_symbol_join *join, uint32_t *last);

#endif
