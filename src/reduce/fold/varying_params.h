/* varying_params.h - which inputs of a stream's sites are in columns, and no longer in signatures.
 *
 * An input moves when it has had more than RFN_INPUT_VALUES_MAX values, or when its site has
 * more than RFN_INPUT_SYMBOLS_MAX symbols and it is the one with most values; when there are many
 * symbols and those of its site hardly occur again (RFN_INPUT_REPEATS); or because another rank has
 * moved it. Symbols from before it moved still have it in their signature: they are
 * unsettled until they have been joined (merge_symbols.h), or have become what they stay.
 */
#ifndef RFN_REDUCE_FOLD_VARYING_PARAMS_H
#define RFN_REDUCE_FOLD_VARYING_PARAMS_H

#include "reduce/fold/symbol_table.h"

enum {
    RFN_INPUT_VALUES_MAX = 64,
    RFN_INPUT_SYMBOLS_MAX = 1024,
    RFN_INPUT_REPEATS = 16 /* occurrences of a symbol, on average over its site */
};

struct rfn_varying_params {
    struct rfn_input_site {
        uint32_t moved; /* bit i: input i is in a column */
        unsigned n_in;
        bool unsettled;
        uint32_t n_symbols; /* since an input moved last */
        uint64_t call_hash; /* in the stream's signature, which sets it; 0: it does not count */
        struct rfn_distinct *inputs; /* values per input; NULL until the site is used */
    } * sites;
    size_t n, capacity;
    size_t held;    /* bytes of what sites hold */
    bool unsettled; /* some site is */
};

void rfn_varying_params_release(struct rfn_varying_params *inputs);

/* Of a site, which may be unknown: bit i for input i. */
static inline uint32_t rfn_varying_params_of(const struct rfn_varying_params *inputs, uint32_t site)
{
    return site < inputs->n ? inputs->sites[site].moved : 0;
}

/* A site with so many inputs is there from now on. 1: it is new; 0; RFN_E_NOMEM. */
int rfn_varying_params_use(struct rfn_varying_params *inputs, uint32_t site, unsigned n_in);
/* Notes the values of a new symbol. Returns the input that has to move now, or -1, or RFN_E_NOMEM,
 * which is less. */
int rfn_varying_params_note(struct rfn_varying_params *inputs, const struct rfn_symbol *symbol);
/* Moves an input; nothing if it has moved, or the site is not used. settles: the symbols so far are
 * to be joined. */
void rfn_varying_params_move(struct rfn_varying_params *inputs, uint32_t site, uint32_t input,
                             bool settles);
/* Moves the inputs of sites whose symbols hardly occur again: a symbol takes hundreds of bytes, a
 * value in a column one or two. Looks at all symbols. RFN_E_NOMEM. */
int rfn_varying_params_thin(struct rfn_varying_params *inputs, const struct rfn_symbol_table *table,
                            bool settles);
size_t rfn_varying_params_bytes(const struct rfn_varying_params *inputs);
/* No site is unsettled any longer. */
void rfn_varying_params_settled(struct rfn_varying_params *inputs);

#endif
