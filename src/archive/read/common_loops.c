#include "archive/read/common_loops.h"

#include "base/grow.h"
#include "base/map.h"
#include "event/kind.h"
#include "reduce/fold/fold.h"

#include <stdlib.h>

uint32_t rfn_common_inputs(const struct rfn_function_info *function, uint32_t moved)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < function->n_in; i++)
        n += rfn_input_is_shared(function->params[i].kind, moved, i) != 0;
    return n;
}

/* ---- reading ---- */

struct context {
    struct rfn_common *to;
    const struct rfn_dictionary *dictionary;
    struct rfn_reader reader;
};

static const char *read_sites(struct context *context)
{
    struct rfn_common *to = context->to;
    to->n_sites = rfn_reader_count(&context->reader, 2);
    to->functions = rfn_arena_zeroed(&context->to->arena, to->n_sites, sizeof *to->functions);
    to->paths = rfn_arena_zeroed(&context->to->arena, to->n_sites, sizeof *to->paths);
    if (!to->functions || !to->paths)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_sites; i++) {
        uint64_t function = rfn_reader_varint(&context->reader);
        uint64_t path = rfn_reader_varint(&context->reader);
        if (context->reader.failed || function >= context->dictionary->n_functions ||
            path >= context->dictionary->n_paths)
            return "its sites are malformed";
        to->functions[i] = (uint32_t)function;
        to->paths[i] = (uint32_t)path;
    }
    return context->reader.failed ? "its sites are malformed" : NULL;
}

static const char *read_symbols(struct context *context)
{
    static const char malformed[] = "its symbols are malformed";
    struct rfn_common *to = context->to;
    struct rfn_reader *reader = &context->reader;
    uint64_t site = 0, n_inputs = 0;
    to->n_symbols = rfn_reader_count(reader, 3);
    to->symbols = rfn_arena_zeroed(&context->to->arena, to->n_symbols, sizeof *to->symbols);
    if (!to->symbols)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_symbols; i++) {
        uint64_t head = rfn_reader_varint(reader);
        site += (uint64_t)rfn_unzigzag(head >> 1);
        if (reader->failed || site >= to->n_sites)
            return "a symbol has a site that does not exist";
        to->symbols[i] = (struct rfn_common_symbol){.site = (uint32_t)site,
                                                    .failed_poll = head & 1};
    }
    for (uint32_t i = 0; i < to->n_symbols; i++)
        to->symbols[i].error = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
    for (uint32_t i = 0; i < to->n_symbols; i++) {
        struct rfn_common_symbol *symbol = &to->symbols[i];
        const struct rfn_function_info *function =
            &context->dictionary->functions[to->functions[symbol->site]];
        symbol->moved = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
        if (symbol->moved >> function->n_in)
            return "a symbol has moved inputs that do not exist";
        symbol->n_inputs = rfn_common_inputs(function, symbol->moved);
        n_inputs += symbol->n_inputs;
    }
    if (n_inputs > rfn_reader_left(reader))
        return malformed;
    uint64_t *inputs = rfn_arena_zeroed(&context->to->arena, n_inputs, sizeof *inputs);
    if (!inputs)
        return rfn_out_of_memory;
    for (uint64_t i = 0; i < n_inputs; i++)
        inputs[i] = rfn_reader_varint(reader);
    for (uint32_t i = 0; i < to->n_symbols; i++) {
        to->symbols[i].inputs = inputs;
        inputs += to->symbols[i].n_inputs;
    }
    return reader->failed ? malformed : NULL;
}

/* Loops have loops of lower numbers. */
static const char *read_loops(struct context *context)
{
    struct rfn_common *to = context->to;
    to->n_loops = rfn_reader_count(&context->reader, 2);
    to->loops = rfn_arena_zeroed(&to->arena, to->n_loops, sizeof *to->loops);
    if (!to->loops)
        return rfn_out_of_memory;
    for (uint32_t loop = 0; loop < to->n_loops; loop++) {
        uint32_t n = rfn_reader_count(&context->reader, 1);
        uint32_t *nodes = n ? rfn_arena_zeroed(&to->arena, n, sizeof *nodes) : NULL;
        if (!nodes)
            return n ? rfn_out_of_memory : "a loop has an empty body";
        for (uint32_t i = 0; i < n; i++) {
            nodes[i] = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
            if (rfn_node_index(nodes[i]) >= (rfn_node_is_loop(nodes[i]) ? loop : to->n_symbols))
                return "a loop has a symbol or loop that does not exist here";
        }
        to->loops[loop] = (struct rfn_node_list){nodes, n};
    }
    return context->reader.failed ? "its loops are malformed" : NULL;
}

const char *rfn_common_read(struct rfn_common *common, const struct rfn_dictionary *dictionary,
                            const struct rfn_payload *payload, bool exact)
{
    *common = (struct rfn_common){.arena = RFN_ARENA_INIT};
    struct context context = {.to = common,
                              .dictionary = dictionary,
                              .reader = rfn_reader_over(payload->data, payload->size)};
    const char *fault = read_sites(&context);
    if (!fault)
        fault = read_symbols(&context);
    if (!fault)
        fault = read_loops(&context);
    return !fault && exact && rfn_reader_left(&context.reader) ? "there are bytes behind its end"
                                                               : fault;
}

void rfn_common_release(struct rfn_common *common)
{
    rfn_arena_release(&common->arena);
}

/* ---- a structure made of it ---- */

enum kind { SITE, SYMBOL, LOOP, KINDS };

struct references {
    uint32_t n;
    uint32_t *numbers;  /* by own number */
    struct rfn_map own; /* by common number */
};

struct expansion {
    const struct rfn_common *common;
    struct rfn_reader *reader;
    size_t most;
    struct rfn_numbers *out;
    struct references of[KINDS];
    uint32_t *behind; /* per loop: the number behind the last symbol that it executes */
    const char *fault;
};

static void fail(struct expansion *expansion, const char *fault)
{
    if (!expansion->fault)
        expansion->fault = fault;
}

static void put(struct expansion *expansion, uint64_t number)
{
    struct rfn_numbers *out = expansion->out;
    if (out->n >= expansion->most)
        fail(expansion, "it is too large");
    else if (RFN_GROW(out->at, out->capacity, out->n + 1) < 0)
        fail(expansion, rfn_out_of_memory);
    else
        out->at[out->n++] = number;
}

static uint32_t put_count(struct expansion *expansion)
{
    uint32_t n = rfn_reader_count(expansion->reader, 1);
    put(expansion, n);
    return n;
}

/* All that the structure has of a kind. */
static void take_references(struct expansion *expansion, enum kind kind)
{
    const struct rfn_common *common = expansion->common;
    const uint32_t there[] = {common->n_sites, common->n_symbols, common->n_loops};
    struct references *of = &expansion->of[kind];
    uint64_t expected = 0;
    of->n = put_count(expansion);
    of->numbers = malloc(((size_t)of->n + 1) * sizeof *of->numbers);
    if (!of->numbers)
        fail(expansion, rfn_out_of_memory);
    for (uint32_t i = 0; i < of->n && !expansion->fault; i++) {
        uint64_t number = expected + (uint64_t)rfn_reader_svarint(expansion->reader);
        if (expansion->reader->failed || number >= there[kind])
            fail(expansion, "COMMON does not have what a structure refers to");
        else if (rfn_map_get(&of->own, number))
            fail(expansion, "a structure has a site, symbol or loop twice");
        else if (rfn_map_put(&of->own, number, i) < 0)
            fail(expansion, rfn_out_of_memory);
        expected = number + 1;
        of->numbers[i] = (uint32_t)number;
    }
}

/* The structure's number of one that it refers to, which is below `end`. */
static uint32_t own_number(struct expansion *expansion, enum kind kind, uint32_t number,
                           uint32_t end)
{
    const uint64_t *own = rfn_map_get(&expansion->of[kind].own, number);
    if (own && *own < end)
        return (uint32_t)*own;
    fail(expansion, "a structure has not all that its symbols and loops consist of");
    return 0;
}

static void expand_sites(struct expansion *expansion)
{
    const struct references *sites = &expansion->of[SITE];
    take_references(expansion, SITE);
    for (uint32_t i = 0; i < sites->n && !expansion->fault; i++) {
        put(expansion, expansion->common->functions[sites->numbers[i]]);
        put(expansion, expansion->common->paths[sites->numbers[i]]);
    }
    uint32_t n_types = put_count(expansion);
    for (uint32_t i = 0; i < n_types && !expansion->fault; i++)
        put(expansion, rfn_reader_varint(expansion->reader));
    put(expansion, rfn_reader_varint(expansion->reader)); /* how many communicators */
}

static void expand_symbols(struct expansion *expansion)
{
    const struct references *symbols = &expansion->of[SYMBOL];
    take_references(expansion, SYMBOL);
    for (uint32_t i = 0; i < symbols->n && !expansion->fault; i++) {
        const struct rfn_common_symbol *symbol = &expansion->common->symbols[symbols->numbers[i]];
        uint64_t site = own_number(expansion, SITE, symbol->site, UINT32_MAX);
        put(expansion, site * 2 + symbol->failed_poll);
        put(expansion, symbol->error);
        put(expansion, symbol->moved);
        for (uint32_t k = 0; k < symbol->n_inputs; k++)
            put(expansion, symbol->inputs[k]);
    }
}

/* Loops have loops of lower own numbers. */
static void expand_loops(struct expansion *expansion)
{
    const struct references *loops = &expansion->of[LOOP];
    take_references(expansion, LOOP);
    expansion->behind = calloc((size_t)loops->n + 1, sizeof *expansion->behind);
    if (!expansion->behind)
        fail(expansion, rfn_out_of_memory);
    for (uint32_t loop = 0; loop < loops->n && !expansion->fault; loop++) {
        const struct rfn_node_list *body = &expansion->common->loops[loops->numbers[loop]];
        put(expansion, body->n);
        for (uint32_t i = 0; i < body->n && !expansion->fault; i++) {
            bool is_loop = rfn_node_is_loop(body->nodes[i]);
            uint32_t own = own_number(expansion, is_loop ? LOOP : SYMBOL,
                                      rfn_node_index(body->nodes[i]), is_loop ? loop : UINT32_MAX);
            put(expansion, (uint64_t)own * 2 + is_loop);
            expansion->behind[loop] = is_loop ? expansion->behind[own] : own + 1;
        }
    }
}

/* Nodes are relative to what follows the one before. */
static void expand_top(struct expansion *expansion)
{
    const uint32_t of[] = {expansion->of[SYMBOL].n, expansion->of[LOOP].n};
    uint64_t expected[] = {0, 0};
    uint32_t n = put_count(expansion);
    for (uint32_t i = 0; i < n && !expansion->fault; i++) {
        uint64_t head = rfn_reader_varint(expansion->reader);
        bool is_loop = head & 1;
        uint64_t number = expected[is_loop] + (uint64_t)rfn_unzigzag(head >> 1);
        if (expansion->reader->failed || number >= of[is_loop]) {
            fail(expansion, "a node is a symbol or loop that does not exist here");
            return;
        }
        put(expansion, number * 2 + is_loop);
        expected[is_loop] = number + 1;
        if (is_loop)
            expected[0] = expansion->behind[number];
    }
}

const char *rfn_common_expand(const struct rfn_common *common, struct rfn_reader *reader,
                              size_t most, struct rfn_numbers *numbers)
{
    static void (*const steps[])(struct expansion *) = {expand_sites, expand_symbols, expand_loops,
                                                        expand_top};
    struct expansion expansion = {.common = common, .reader = reader, .most = most, .out = numbers};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !expansion.fault; i++)
        steps[i](&expansion);
    if (!expansion.fault && reader->failed)
        fail(&expansion, "the numbers of a shape are malformed");
    for (int kind = 0; kind < KINDS; kind++) {
        free(expansion.of[kind].numbers);
        rfn_map_release(&expansion.of[kind].own);
    }
    free(expansion.behind);
    return expansion.fault;
}

static void skip(struct rfn_reader *reader)
{
    uint32_t n = rfn_reader_count(reader, 1);
    for (uint32_t i = 0; i < n && !reader->failed; i++)
        rfn_reader_varint(reader);
}

void rfn_common_skip(struct rfn_reader *reader)
{
    skip(reader); /* sites */
    skip(reader); /* datatypes */
    rfn_reader_varint(reader);
    skip(reader); /* symbols */
    skip(reader); /* loops */
    skip(reader); /* nodes */
}
