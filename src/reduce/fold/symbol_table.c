#include "reduce/fold/symbol_table.h"

#include "base/grow.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* ---- symbols ---- */

static const struct rfn_function_info *schema_of(const struct rfn_symbol_table *table,
                                                 const struct rfn_symbol *symbol)
{
    return &table->functions[symbol->function];
}

void rfn_symbol_table_release(struct rfn_symbol_table *table)
{
    for (size_t i = 0; i < table->n; i++) {
        struct rfn_symbol *symbol = &table->symbols[i];
        unsigned n = symbol->columns ? rfn_symbol_columns(table, symbol) : RFN_SYMBOL_FIXED;
        for (unsigned k = 0; k < n; k++)
            rfn_column_release(rfn_symbol_column(symbol, k));
        free(symbol->columns);
        free((void *)(uintptr_t)symbol->in);
    }
    free(table->symbols);
    free(table->entries);
    free(table->slots);
    *table = (struct rfn_symbol_table){.functions = table->functions, .volume = table->volume};
}

/* ---- finding them ---- */

static uint64_t signature_hash(const struct rfn_symbol_signature *signature)
{
    uint64_t hash = rfn_hash_mix((uint64_t)signature->site << 32 | (uint64_t)signature->error << 1 |
                                     signature->failed_poll,
                                 (uint64_t)signature->moved << 32 | signature->n_in);
    for (unsigned i = 0; i < signature->n_in; i++)
        hash = rfn_hash_mix(hash, (uint64_t)signature->in[i]);
    return hash;
}

static void insert(struct rfn_symbol_table *table, uint32_t symbol)
{
    size_t at = table->entries[symbol].hash & table->mask;
    while (table->slots[at])
        at = (at + 1) & table->mask;
    table->slots[at] = symbol + 1;
}

/* Makes the slots anew with room for twice the symbols. */
static int rebuild(struct rfn_symbol_table *table)
{
    size_t size = 64;
    while (size < table->n * 4)
        size *= 2;
    uint32_t *slots = calloc(size, sizeof *slots);
    if (!slots)
        return RFN_E_NOMEM;
    free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    for (size_t i = 0; i < table->n; i++)
        insert(table, (uint32_t)i);
    return 0;
}

static int make_room(struct rfn_symbol_table *table)
{
    RFN_TRY(RFN_GROW(table->symbols, table->capacity, table->n + 1));
    return RFN_GROW(table->entries, table->entries_capacity, table->n + 1);
}

/* The last symbol can be found from now on. */
static int64_t enter_last(struct rfn_symbol_table *table)
{
    uint32_t number = (uint32_t)table->n - 1;
    const struct rfn_symbol *symbol = &table->symbols[number];
    const struct rfn_symbol_signature signature = {.site = symbol->site,
                                                   .error = symbol->error,
                                                   .moved = symbol->moved,
                                                   .failed_poll = symbol->failed_poll,
                                                   .n_in = schema_of(table, symbol)->n_in,
                                                   .in = symbol->in};
    table->entries[number] = (struct rfn_symbol_entry){.hash = signature_hash(&signature),
                                                       .next = number};
    if (!table->slots || table->n * 2 > table->mask)
        RFN_TRY(rebuild(table));
    else
        insert(table, number);
    return number;
}

/* Of its words and columns; not what is in these. */
static size_t own_bytes(const struct rfn_symbol_table *table, const struct rfn_symbol *symbol)
{
    enum { HEAP = 32 }; /* what the C library adds to two blocks of memory */
    return (rfn_symbol_columns(table, symbol) - RFN_SYMBOL_FIXED + 1) * sizeof *symbol->columns +
           (schema_of(table, symbol)->n_in + 1u) * sizeof *symbol->in + HEAP;
}

static void count_columns(struct rfn_symbol_table *table, struct rfn_symbol *symbol)
{
    for (unsigned k = 0; k < rfn_symbol_columns(table, symbol); k++)
        *rfn_symbol_column_held(table, symbol, k) += rfn_column_bytes(rfn_symbol_column(symbol, k));
}

int64_t rfn_symbol_table_add(struct rfn_symbol_table *table, const struct rfn_symbol *like,
                             const int64_t *in)
{
    RFN_TRY(make_room(table));
    struct rfn_symbol *symbol = &table->symbols[table->n++];
    *symbol = (struct rfn_symbol){.site = like->site,
                                  .function = like->function,
                                  .error = like->error,
                                  .failed_poll = like->failed_poll,
                                  .moved = like->moved};
    unsigned n_in = schema_of(table, symbol)->n_in, n = rfn_symbol_columns(table, symbol);
    int64_t *words = malloc((n_in + 1) * sizeof *words);
    symbol->columns = calloc(n - RFN_SYMBOL_FIXED + 1, sizeof *symbol->columns);
    symbol->in = words;
    if (!words || !symbol->columns)
        return RFN_E_NOMEM;
    memcpy(words, in, n_in * sizeof *words);
    table->held += own_bytes(table, symbol);
    return enter_last(table);
}

int64_t rfn_symbol_table_take(struct rfn_symbol_table *table, struct rfn_symbol *symbol)
{
    RFN_TRY(make_room(table));
    struct rfn_symbol *taken = &table->symbols[table->n++];
    *taken = *symbol;
    *symbol = (struct rfn_symbol){.function = symbol->function};
    table->held += own_bytes(table, taken);
    count_columns(table, taken);
    return enter_last(table);
}

int64_t rfn_symbol_table_find(const struct rfn_symbol_table *table,
                              const struct rfn_symbol_signature *signature)
{
    if (!table->slots)
        return -1;
    uint64_t hash = signature_hash(signature);
    for (size_t at = hash & table->mask; table->slots[at]; at = (at + 1) & table->mask) {
        uint32_t symbol = table->slots[at] - 1;
        if (table->entries[symbol].hash == hash &&
            rfn_symbol_is(&table->symbols[symbol], signature))
            return symbol;
    }
    return -1;
}

/* ---- columns ---- */

unsigned rfn_symbol_values(const struct rfn_symbol_table *table, const struct rfn_symbol *symbol)
{
    return (unsigned)__builtin_popcount(symbol->moved) + schema_of(table, symbol)->n_out;
}

unsigned rfn_symbol_columns(const struct rfn_symbol_table *table, const struct rfn_symbol *symbol)
{
    return RFN_SYMBOL_FIXED + rfn_symbol_values(table, symbol) + (table->volume ? 2 : 0);
}

struct rfn_column *rfn_symbol_column(struct rfn_symbol *symbol, unsigned k)
{
    struct rfn_column *fixed[RFN_SYMBOL_FIXED] = {&symbol->gap, &symbol->duration, &symbol->polls,
                                                  &symbol->inside};
    return k < RFN_SYMBOL_FIXED ? fixed[k] : &symbol->columns[k - RFN_SYMBOL_FIXED];
}

static bool is_measured(const struct rfn_symbol_table *table, const struct rfn_symbol *symbol,
                        unsigned k)
{
    return k < RFN_SYMBOL_FIXED || k >= RFN_SYMBOL_FIXED + rfn_symbol_values(table, symbol);
}

size_t *rfn_symbol_column_held(struct rfn_symbol_table *table, const struct rfn_symbol *symbol,
                               unsigned k)
{
    return is_measured(table, symbol, k) ? &table->measured_held : &table->held;
}

static int each(const struct rfn_symbol_table *table, bool measured,
                int (*visit)(void *context, struct rfn_column *column), void *context)
{
    for (size_t i = 0; i < table->n; i++) {
        struct rfn_symbol *symbol = &table->symbols[i];
        for (unsigned k = 0; k < rfn_symbol_columns(table, symbol); k++) {
            if (!measured || is_measured(table, symbol, k))
                RFN_TRY(visit(context, rfn_symbol_column(symbol, k)));
        }
    }
    return 0;
}

int rfn_symbol_table_each(const struct rfn_symbol_table *table,
                          int (*visit)(void *context, struct rfn_column *column), void *context)
{
    return each(table, false, visit, context);
}

size_t rfn_symbol_table_bytes(const struct rfn_symbol_table *table)
{
    return table->capacity * sizeof *table->symbols +
           table->entries_capacity * sizeof *table->entries +
           (table->slots ? table->mask + 1 : 0) * sizeof *table->slots + table->held +
           table->measured_held;
}

void rfn_symbol_table_recount(struct rfn_symbol_table *table)
{
    table->held = table->measured_held = 0;
    for (size_t i = 0; i < table->n; i++) {
        table->held += own_bytes(table, &table->symbols[i]);
        count_columns(table, &table->symbols[i]);
    }
}

static int add_coded_bytes(void *sum, struct rfn_column *column)
{
    *(size_t *)sum += rfn_column_coded_bytes(column);
    return 0;
}

size_t rfn_symbol_table_coded_bytes(const struct rfn_symbol_table *table)
{
    size_t bytes = 0;
    each(table, true, add_coded_bytes, &bytes);
    return bytes;
}

static int empty(void *context, struct rfn_column *column)
{
    (void)context;
    rfn_column_release(column);
    return 0;
}

void rfn_symbol_table_empty_measured(struct rfn_symbol_table *table)
{
    each(table, true, empty, NULL);
    table->measured_held = 0;
}
