/* symbol_table.h - the symbols of a stream: equal calls from equal places are one.
 *
 * What makes a symbol is its signature: site, whether the poll failed, the error class, and the
 * input words that are not in columns. Symbols are numbered in order of first occurrence, and found
 * by a hash of the signature; each has columns of what varies from one occurrence to the next.
 */
#ifndef RFN_REDUCE_FOLD_SYMBOL_TABLE_H
#define RFN_REDUCE_FOLD_SYMBOL_TABLE_H

#include "event/kind.h"
#include "reduce/columns/column.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a symbol is. Arrays are owned by the table. */
struct rfn_symbol {
    uint32_t site, function, error;
    bool failed_poll;
    uint32_t moved;    /* bit i: input i is in a column; its word in `in` is 0 */
    const int64_t *in; /* n_in words of the schema */
    uint64_t occurrences;
    struct rfn_column gap, duration; /* with times */
    struct rfn_column polls, inside; /* failed polls: count; time inside MPI (with times) */
    struct rfn_column *columns;      /* one per moved input, in order, then one per outcome; with
                                        volume then two more, gap and inside */
};

/* Words of moved inputs are 0. */
struct rfn_symbol_signature {
    uint32_t site, error, moved;
    bool failed_poll;
    unsigned n_in;
    const int64_t *in;
};

struct rfn_symbol_table {
    const struct rfn_function_info
        *functions; /* the schemas; borrowed. All but these and volume begins as 0 */
    bool volume;    /* symbols have columns of volumes */
    struct rfn_symbol *symbols;
    struct rfn_symbol_entry {
        uint64_t hash;
        uint32_t next; /* the symbol that followed last time: the first guess for what comes */
    } * entries;       /* beside symbols */
    size_t n, capacity, entries_capacity;
    size_t held;          /* bytes: of words, columns, and what is in columns of values */
    size_t measured_held; /* and in columns of what is measured */
    uint32_t *slots;      /* open addressing: symbol + 1, 0 free */
    size_t mask;
};

/* Empty then, with the same schemas. */
void rfn_symbol_table_release(struct rfn_symbol_table *table);
size_t rfn_symbol_table_bytes(const struct rfn_symbol_table *table); /* with the columns */
/* Columns were changed other than by appending to them with held: sums up anew what they hold. */
void rfn_symbol_table_recount(struct rfn_symbol_table *table);

static inline bool rfn_symbol_is(const struct rfn_symbol *symbol,
                                 const struct rfn_symbol_signature *signature)
{
    if (symbol->site != signature->site || symbol->error != signature->error ||
        symbol->failed_poll != signature->failed_poll || symbol->moved != signature->moved)
        return false;
    for (unsigned i = 0; i < signature->n_in; i++) {
        if (symbol->in[i] != signature->in[i])
            return false;
    }
    return true;
}

/* The number of the symbol, or -1. */
int64_t rfn_symbol_table_find(const struct rfn_symbol_table *table,
                              const struct rfn_symbol_signature *signature);
/* Appends a symbol, which must be new, without occurrences: its number, or RFN_E_NOMEM, after which
 * the table can only be released. The words of `like` are not looked at, but `in` is copied. */
int64_t rfn_symbol_table_add(struct rfn_symbol_table *table, const struct rfn_symbol *like,
                             const int64_t *in);
/* The same of a symbol of another table with the same schemas, with all that it has: only its
 * function is left there. RFN_E_NOMEM: it may still have all, or be here. */
int64_t rfn_symbol_table_take(struct rfn_symbol_table *table, struct rfn_symbol *symbol);

/* ---- columns ---- */

/* Columns that every symbol has, before its own. */
enum { RFN_SYMBOL_FIXED = 4 };

/* The symbol's own: moved inputs and outcomes; and all, fixed ones and volumes included. */
unsigned rfn_symbol_values(const struct rfn_symbol_table *table, const struct rfn_symbol *symbol);
unsigned rfn_symbol_columns(const struct rfn_symbol_table *table, const struct rfn_symbol *symbol);
/* The k-th of all in a fixed order: times, polls, then the symbol's own. */
struct rfn_column *rfn_symbol_column(struct rfn_symbol *symbol, unsigned k);

/* Visits all columns of all symbols, until a visit returns less than 0. */
int rfn_symbol_table_each(const struct rfn_symbol_table *table,
                          int (*visit)(void *context, struct rfn_column *column), void *context);
/* The k-th column's share of what the table holds. */
size_t *rfn_symbol_column_held(struct rfn_symbol_table *table, const struct rfn_symbol *symbol,
                               unsigned k);
/* What is measured: times, polls and volumes. About what writing these takes
 * (rfn_column_coded_bytes, of all symbols), and making them empty. */
size_t rfn_symbol_table_coded_bytes(const struct rfn_symbol_table *table);
void rfn_symbol_table_empty_measured(struct rfn_symbol_table *table);

#endif
