#include "reduce/fold/merge_symbols.h"

#include <stdlib.h>

enum { LOOK_EVERY = 4096 }; /* events */

/* An old symbol. */
struct source {
    uint32_t number;                   /* of the new one */
    struct rfn_column_cursor *cursors; /* its columns; NULL: the new one has them */
    unsigned n;
};

struct pass {
    const struct rfn_symbol_join *join;
    struct rfn_symbol_table old;
    struct source *sources; /* beside old symbols */
    uint64_t n_events;      /* gone over so far */
};

/* A symbol of an unsettled site loses the values of the moved inputs; it may become one with
 * others. */
static int64_t join_symbol(const struct rfn_symbol_join *join, const struct rfn_symbol *old)
{
    int64_t in[RFN_PARAMS_MAX];
    struct rfn_input_site *site = &join->inputs->sites[old->site];
    for (unsigned i = 0; i < site->n_in; i++)
        in[i] = site->moved >> i & 1 ? 0 : old->in[i];
    const struct rfn_symbol_signature signature = {.site = old->site,
                                                   .error = old->error,
                                                   .moved = site->moved,
                                                   .failed_poll = old->failed_poll,
                                                   .n_in = site->n_in,
                                                   .in = in};
    int64_t number = rfn_symbol_table_find(join->table, &signature);
    if (number >= 0)
        return number;
    struct rfn_symbol like = *old;
    like.moved = site->moved;
    site->n_symbols++;
    return rfn_symbol_table_add(join->table, &like, in);
}

/* New numbers ascend with old ones, so symbols stay in order of first occurrence. */
static int join_all(struct pass *pass)
{
    const struct rfn_symbol_join *join = pass->join;
    for (size_t i = 0; i < pass->old.n; i++) {
        struct rfn_symbol *old = &pass->old.symbols[i];
        bool joins = join->inputs->sites[old->site].unsettled;
        int64_t number = joins ? join_symbol(join, old) : rfn_symbol_table_take(join->table, old);
        RFN_TRY((int)number);
        pass->sources[i].number = (uint32_t)number;
        if (joins) {
            struct source *source = &pass->sources[i];
            source->n = rfn_symbol_columns(&pass->old, old);
            source->cursors = calloc(source->n, sizeof *source->cursors);
            if (!source->cursors)
                return RFN_E_NOMEM;
            for (unsigned k = 0; k < source->n; k++)
                rfn_column_open_growing(&source->cursors[k], rfn_symbol_column(old, k));
        }
    }
    return 0;
}

/* To column k of a new symbol. */
static int put_value(struct rfn_symbol_table *table, struct rfn_symbol *new, unsigned k,
                     int64_t value)
{
    return rfn_column_append_held(rfn_symbol_column(new, k), value,
                                  rfn_symbol_column_held(table, new, k));
}

static int move_value(struct rfn_column_cursor *from, struct rfn_symbol_table *table,
                      struct rfn_symbol *new, unsigned k)
{
    int64_t value;
    if (from->n == 0)
        return 0;
    RFN_TRY(rfn_column_next(from, &value));
    return put_value(table, new, k, value);
}

/* One event of the old sequence: appended to the new structure, its values to the joined columns.
 */
static int move_event(void *context, uint32_t symbol)
{
    struct pass *pass = context;
    const struct rfn_symbol_join *join = pass->join;
    const struct rfn_symbol *old = &pass->old.symbols[symbol];
    const struct source *source = &pass->sources[symbol];
    RFN_TRY(rfn_fold_append(join->to, source->number));
    if (++pass->n_events % LOOK_EVERY == 0)
        RFN_TRY(join->look(join->context));
    if (!source->cursors)
        return 0;
    struct rfn_symbol_table *table = join->table;
    struct rfn_symbol *new = &table->symbols[source->number];
    unsigned from = 0, to = 0;
    new->occurrences++;
    for (; from < RFN_SYMBOL_FIXED; from++, to++)
        RFN_TRY(move_value(&source->cursors[from], table, new, to));
    for (uint32_t left = new->moved; left; left &= left - 1, to++) {
        unsigned input = (unsigned)__builtin_ctz(left);
        if (old->moved >> input & 1)
            RFN_TRY(move_value(&source->cursors[from++], table, new, to));
        else
            RFN_TRY(put_value(table, new, to, old->in[input]));
    }
    for (; from < source->n; from++, to++)
        RFN_TRY(move_value(&source->cursors[from], table, new, to));
    return 0;
}

int rfn_symbols_join(const struct rfn_symbol_join *join, uint32_t *last)
{
    struct rfn_symbol_table *table = join->table;
    struct pass pass = {.join = join, .old = *table};
    pass.sources = calloc(table->n + 1, sizeof *pass.sources);
    if (!pass.sources)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < join->inputs->n; i++) {
        if (join->inputs->sites[i].unsettled)
            join->inputs->sites[i].n_symbols = 0;
    }
    free(pass.old.slots); /* old symbols are not looked for any more */
    free(pass.old.entries);
    pass.old.slots = NULL;
    pass.old.entries = NULL;
    *table = (struct rfn_symbol_table){.functions = table->functions, .volume = table->volume};
    int error = join_all(&pass);
    if (!error)
        error = rfn_fold_unfold(join->from, move_event, &pass);
    *last = pass.sources[*last].number;
    for (size_t i = 0; i < pass.old.n; i++) {
        struct source *source = &pass.sources[i];
        for (unsigned k = 0; source->cursors && k < source->n; k++)
            rfn_column_close(&source->cursors[k]);
        free(source->cursors);
    }
    rfn_symbol_table_release(&pass.old);
    free(pass.sources);
    return error;
}
