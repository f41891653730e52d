#include "archive/write/pack_common.h"

#include "archive/read/cluster_parts.h"
#include "archive/read/common_loops.h"
#include "base/grow.h"
#include "base/hash.h"
#include "refrain/event.h"

#include <stdlib.h>

void rfn_common_table_init(struct rfn_common_table *table, const struct rfn_dictionary *dictionary,
                           size_t max_bytes)
{
    *table = (struct rfn_common_table){.dictionary = dictionary, .max_bytes = max_bytes};
}

static void release_list(struct rfn_common_list *list)
{
    rfn_map_release(&list->numbers);
    free(list->entries);
}

void rfn_common_table_release(struct rfn_common_table *table)
{
    rfn_buf_release(&table->site_bytes);
    rfn_buf_release(&table->heads);
    rfn_buf_release(&table->errors);
    rfn_buf_release(&table->moved);
    rfn_buf_release(&table->inputs);
    rfn_buf_release(&table->loop_bytes);
    release_list(&table->sites);
    release_list(&table->symbols);
    release_list(&table->loops);
}

/* ---- what it takes ---- */

static size_t list_bytes(const struct rfn_common_list *list)
{
    size_t slots = list->numbers.slots ? (size_t)list->numbers.mask + 1 : 0;
    return slots * sizeof *list->numbers.slots + list->capacity * sizeof *list->entries;
}

size_t rfn_common_table_bytes(const struct rfn_common_table *table)
{
    return list_bytes(&table->sites) + list_bytes(&table->symbols) + list_bytes(&table->loops) +
           table->site_bytes.capacity + table->heads.capacity + table->errors.capacity +
           table->moved.capacity + table->inputs.capacity + table->loop_bytes.capacity;
}

/* Whether a structure of n numbers can be added. */
static bool has_room(const struct rfn_common_table *table, size_t n)
{
    enum { VARINT_MOST = 10 };
    size_t most = RFN_CLUSTERS_BYTES_MAX;
    size_t written = table->site_bytes.size + table->heads.size + table->errors.size +
                     table->moved.size + table->inputs.size + table->loop_bytes.size;
    return rfn_common_table_bytes(table) <= table->max_bytes && written < most &&
           n < (most - written) / VARINT_MOST;
}

/* ---- what is there once ---- */

/* The number of what has this content; *added: it is new. */
static int intern(struct rfn_common_list *list, const uint64_t *words, size_t n, uint32_t *number,
                  bool *added)
{
    struct rfn_hash128 digest = rfn_hash128_bytes(words, n * sizeof *words);
    const uint64_t *known = rfn_map_get(&list->numbers, digest.low);
    *added = !known;
    *number = known ? (uint32_t)*known : (uint32_t)list->n;
    if (known)
        return list->entries[*known].rest == digest.high ? 0 : RFN_E_UNSUPPORTED;
    if (list->n == INT32_MAX) /* nodes have a bit more */
        return RFN_E_UNSUPPORTED;
    RFN_TRY(RFN_GROW(list->entries, list->capacity, list->n + 1));
    RFN_TRY(rfn_map_put(&list->numbers, digest.low, list->n));
    list->entries[list->n++] = (struct rfn_common_entry){.rest = digest.high};
    return 0;
}

/* How often the structure has had it before. */
static uint32_t times_before(const struct rfn_common_table *table, struct rfn_common_list *list,
                             uint32_t number)
{
    struct rfn_common_entry *entry = &list->entries[number];
    if (entry->structure != table->structures)
        entry->times = 0;
    entry->structure = table->structures;
    return entry->times++;
}

/* ---- a structure ---- */

/* Its numbers, and what they are of the common ones. */
struct walk {
    struct rfn_common_table *table;
    const uint64_t *numbers;
    size_t n, at;
    bool failed;
    uint32_t n_sites, n_symbols, n_loops;
    uint32_t *sites, *symbols, *loops; /* common numbers */
    uint32_t *functions;               /* by site */
    uint32_t *behind; /* per loop: the number behind the last symbol that it executes */
    uint64_t *words;  /* room for the content of a symbol or loop */
    struct rfn_buf *out;
};

/* Only of numbers up to `limit`. */
static uint64_t next(struct walk *walk, uint64_t limit)
{
    walk->failed |= walk->at >= walk->n || walk->numbers[walk->at] > limit;
    return walk->failed ? 0 : walk->numbers[walk->at++];
}

/* Of things that take so many numbers each, or more. */
static uint32_t next_count(struct walk *walk, size_t each)
{
    return (uint32_t)next(walk, (walk->n - walk->at) / each);
}

static uint64_t next_index(struct walk *walk, uint64_t n)
{
    walk->failed |= n == 0;
    return next(walk, n ? n - 1 : 0);
}

static void write_references(const uint32_t *numbers, uint32_t n, struct rfn_buf *out)
{
    uint32_t expected = 0;
    rfn_buf_varint(out, n);
    for (uint32_t i = 0; i < n; i++) {
        rfn_buf_svarint(out, (int64_t)numbers[i] - expected);
        expected = numbers[i] + 1;
    }
}

static int add_site(struct walk *walk, uint32_t own)
{
    struct rfn_common_table *table = walk->table;
    uint32_t *number = &walk->sites[own];
    uint64_t words[2];
    bool added;
    words[0] = next_index(walk, table->dictionary->n_functions);
    words[1] = next_index(walk, table->dictionary->n_paths);
    if (walk->failed)
        return RFN_E_UNSUPPORTED;
    walk->functions[own] = (uint32_t)words[0];
    RFN_TRY(intern(&table->sites, words, 2, number, &added));
    if (times_before(table, &table->sites, *number))
        return RFN_E_UNSUPPORTED;
    for (int i = 0; i < 2 && added; i++)
        rfn_buf_varint(&table->site_bytes, words[i]);
    return 0;
}

static int add_sites(struct walk *walk)
{
    walk->n_sites = next_count(walk, 2);
    walk->functions = walk->sites + walk->n_sites;
    for (uint32_t i = 0; i < walk->n_sites; i++)
        RFN_TRY(add_site(walk, i));
    write_references(walk->sites, walk->n_sites, walk->out);
    uint32_t n_types = next_count(walk, 1);
    rfn_buf_varint(walk->out, n_types);
    for (uint32_t i = 0; i < n_types; i++)
        rfn_buf_varint(walk->out, next(walk, UINT64_MAX));
    rfn_buf_varint(walk->out, next(walk, UINT64_MAX)); /* how many communicators */
    return 0;
}

/* What a symbol's content begins with; its inputs follow, and how many equal ones are before it. */
enum { HEAD, ERROR, MOVED, INPUTS };

static int add_symbol(struct walk *walk, uint32_t own)
{
    struct rfn_common_table *table = walk->table;
    uint64_t *words = walk->words, head = next(walk, UINT64_MAX); /* words: in common numbers */
    uint32_t *number = &walk->symbols[own], n = 0;
    bool added;
    words[ERROR] = next(walk, UINT32_MAX);
    words[MOVED] = next(walk, UINT32_MAX);
    if (walk->failed || head >> 1 >= walk->n_sites)
        return RFN_E_UNSUPPORTED;
    const uint32_t site = walk->sites[head >> 1];
    const struct rfn_function_info *function =
        &table->dictionary->functions[walk->functions[head >> 1]];
    if (words[MOVED] >> function->n_in != 0)
        return RFN_E_UNSUPPORTED;
    words[HEAD] = (uint64_t)site << 1 | (head & 1);
    for (uint32_t left = rfn_common_inputs(function, (uint32_t)words[MOVED]); n < left; n++)
        words[INPUTS + n] = next(walk, UINT64_MAX);
    if (walk->failed)
        return RFN_E_UNSUPPORTED;
    words[INPUTS + n] = 0;
    RFN_TRY(intern(&table->symbols, words, INPUTS + n + 1, number, &added));
    uint32_t before = times_before(table, &table->symbols, *number);
    if (before > 0) { /* the one that has as many before it */
        words[INPUTS + n] = before;
        RFN_TRY(intern(&table->symbols, words, INPUTS + n + 1, number, &added));
    }
    if (!added)
        return 0;
    rfn_buf_varint(&table->heads, rfn_zigzag((int64_t)site - table->site_before) << 1 | (head & 1));
    table->site_before = site;
    rfn_buf_varint(&table->errors, words[ERROR]);
    rfn_buf_varint(&table->moved, words[MOVED]);
    for (uint32_t i = 0; i < n; i++)
        rfn_buf_varint(&table->inputs, words[INPUTS + i]);
    return 0;
}

static int add_symbols(struct walk *walk)
{
    walk->n_symbols = next_count(walk, 3);
    walk->symbols = walk->functions + walk->n_sites;
    for (uint32_t i = 0; i < walk->n_symbols; i++)
        RFN_TRY(add_symbol(walk, i));
    write_references(walk->symbols, walk->n_symbols, walk->out);
    return 0;
}

/* A node of the structure's; loops have numbers below n_loops. */
static uint64_t next_node(struct walk *walk, uint32_t n_loops)
{
    uint64_t node = next(walk, UINT32_MAX);
    walk->failed |= node >> 1 >= (node & 1 ? n_loops : walk->n_symbols);
    return walk->failed ? 0 : node;
}

static int add_loop(struct walk *walk, uint32_t own)
{
    struct rfn_common_table *table = walk->table;
    uint32_t *number = &walk->loops[own], n = next_count(walk, 1);
    bool added;
    walk->failed |= n == 0;
    for (uint32_t i = 0; i < n && !walk->failed; i++) {
        uint64_t node = next_node(walk, own), index = node >> 1;
        if (walk->failed)
            break;
        walk->words[i] = (uint64_t)(node & 1 ? walk->loops : walk->symbols)[index] << 1 |
                         (node & 1);
        walk->behind[own] = node & 1 ? walk->behind[index] : (uint32_t)index + 1;
    }
    if (walk->failed)
        return RFN_E_UNSUPPORTED;
    RFN_TRY(intern(&table->loops, walk->words, n, number, &added));
    if (times_before(table, &table->loops, *number))
        return RFN_E_UNSUPPORTED;
    if (added)
        rfn_buf_varint(&table->loop_bytes, n);
    for (uint32_t i = 0; i < n && added; i++)
        rfn_buf_varint(&table->loop_bytes, walk->words[i]);
    return 0;
}

static int add_loops(struct walk *walk)
{
    walk->n_loops = next_count(walk, 2);
    walk->loops = walk->symbols + walk->n_symbols;
    walk->behind = walk->loops + walk->n_loops;
    for (uint32_t i = 0; i < walk->n_loops; i++)
        RFN_TRY(add_loop(walk, i));
    write_references(walk->loops, walk->n_loops, walk->out);
    return 0;
}

static int add_top(struct walk *walk)
{
    uint32_t n = next_count(walk, 1), expected[] = {0, 0};
    rfn_buf_varint(walk->out, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t node = next_node(walk, walk->n_loops), is_loop = node & 1;
        if (walk->failed)
            return RFN_E_UNSUPPORTED;
        uint32_t index = (uint32_t)(node >> 1);
        uint64_t difference = rfn_zigzag((int64_t)index - expected[is_loop]);
        rfn_buf_varint(walk->out, difference << 1 | is_loop);
        expected[is_loop] = index + 1;
        if (is_loop)
            expected[0] = walk->behind[index];
    }
    return walk->failed || walk->at < walk->n ? RFN_E_UNSUPPORTED : 0;
}

int rfn_common_add(struct rfn_common_table *table, const uint64_t *numbers, size_t n,
                   struct rfn_buf *out)
{
    static int (*const steps[])(struct walk *) = {add_sites, add_symbols, add_loops, add_top};
    struct walk walk = {.table = table, .numbers = numbers, .n = n, .out = out};
    if (!has_room(table, n))
        return RFN_E_UNSUPPORTED;
    walk.sites = malloc((n + 1) *
                        sizeof *walk.sites); /* and all others: none is without a number */
    walk.words = malloc((n + INPUTS + RFN_PARAMS_MAX + 1) * sizeof *walk.words);
    int error = walk.sites && walk.words ? 0 : RFN_E_NOMEM;
    table->structures++;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !error; i++)
        error = steps[i](&walk);
    free(walk.sites);
    free(walk.words);
    return error ? error : rfn_buf_status(out);
}

/* ---- all of it ---- */

int rfn_common_pack(const struct rfn_common_table *table, struct rfn_buf *out)
{
    const struct {
        size_t n;
        const struct rfn_buf *bytes[4];
    } parts[] = {{table->sites.n, {&table->site_bytes}},
                 {table->symbols.n, {&table->heads, &table->errors, &table->moved, &table->inputs}},
                 {table->loops.n, {&table->loop_bytes}}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        rfn_buf_varint(out, parts[i].n);
        for (size_t k = 0; k < 4 && parts[i].bytes[k]; k++) {
            rfn_buf_bytes(out, parts[i].bytes[k]->data, parts[i].bytes[k]->size);
            out->failed |= parts[i].bytes[k]->failed;
        }
    }
    return rfn_buf_status(out);
}
