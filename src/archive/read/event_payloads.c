/* Sizes are bounded before memory is taken: counts of things that cost at least a byte each by the
 * bytes that are left. Two things can be larger than their coded form by any factor, and have
 * limits of their own: the words of lists (constant columns, value_lists.h) and members (runs). */
#include "archive/read/event_payloads.h"

#include "base/grow.h"
#include "base/search.h"
#include "event/kind.h"
#include "reduce/columns/column.h"
#include "reduce/fold/fold.h"

#include <stdlib.h>

/* ---- words per member ---- */

/* Its number goes to *value. */
static int read_expression(struct rfn_member_table *table, struct rfn_reader *reader,
                           int64_t *value)
{
    RFN_TRY(RFN_GROW(table->expressions, table->expressions_capacity, table->n_expressions + 1));
    struct rfn_rank_expression *expression = &table->expressions[table->n_expressions];
    if (rfn_rank_expression_read(expression, reader) && expression->formula) {
        expression->formula = rfn_arena_copy(&table->formulas, expression->formula,
                                             expression->formula_size);
        RFN_TRY(expression->formula ? 0 : RFN_E_NOMEM);
    }
    *value = (int64_t)table->n_expressions++;
    return 0;
}

static const char *read_runs(struct rfn_member_table *table, size_t *n_runs,
                             struct rfn_reader *reader, enum rfn_run_form forms)
{
    for (uint32_t at = 0; at < table->n_members;) {
        uint64_t head = rfn_reader_varint(reader), count = head >> 2;
        uint32_t form = head & 3;
        int64_t value = 0;
        if (form != RFN_RUN_EXPRESSION)
            value = rfn_reader_svarint(reader);
        else if (read_expression(table, reader, &value) < 0)
            return rfn_out_of_memory;
        if (reader->failed || count == 0 || count > table->n_members - at || form >= forms)
            return "runs over ranks are malformed";
        if (RFN_GROW(table->runs, table->capacity, *n_runs + 1) < 0)
            return rfn_out_of_memory;
        table->runs[(*n_runs)++] = (struct rfn_member_run){at, form, value};
        at += (uint32_t)count;
    }
    return NULL;
}

const char *rfn_member_table_read(struct rfn_member_table *table, struct rfn_reader *reader,
                                  size_t n, uint32_t n_members, enum rfn_run_form forms)
{
    size_t n_runs = 0;
    const char *fault = NULL;
    *table = (struct rfn_member_table){.n = n, .n_members = n_members};
    table->first = malloc((n + 1) * sizeof *table->first);
    if (!table->first)
        return rfn_out_of_memory;
    for (size_t i = 0; i < n && !fault; i++) {
        table->first[i] = n_runs;
        fault = read_runs(table, &n_runs, reader, forms);
    }
    table->first[n] = n_runs;
    return fault;
}

void rfn_member_table_release(struct rfn_member_table *table)
{
    free(table->first);
    free(table->runs);
    free(table->expressions);
    rfn_arena_release(&table->formulas);
    *table = (struct rfn_member_table){0};
}

int64_t rfn_rank_param(const struct rfn_member_table *table, size_t sequence, uint32_t member,
                       int64_t reference)
{
    const size_t first = table->first[sequence], n = table->first[sequence + 1] - first;
    const struct rfn_member_run *runs = table->runs + first;
    const struct rfn_member_run *run = &runs[rfn_last_at_most(runs, sizeof *runs, n, member)];
    if (run->form == RFN_RUN_EXPRESSION)
        return rfn_rank_expression_at(&table->expressions[run->value], (uint32_t)reference);
    return run->form ? (int64_t)((uint64_t)run->value + (uint64_t)reference) : run->value;
}

/* ---- structure ---- */

struct context {
    struct rfn_structure *to;
    const struct rfn_dictionary *dictionary;
    struct rfn_reader reader;
};

/* Sites, datatypes, and how many communicators there are. */
static const char *read_sites(struct context *context)
{
    struct rfn_structure *to = context->to;
    struct rfn_reader *reader = &context->reader;
    to->n_sites = rfn_reader_count(reader, 1);
    uint32_t *functions = rfn_arena_zeroed(&to->arena, to->n_sites, sizeof *functions);
    uint32_t *paths = rfn_arena_zeroed(&to->arena, to->n_sites, sizeof *paths);
    if (!functions || !paths)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_sites; i++) {
        functions[i] = rfn_reader_index(reader, context->dictionary->n_functions);
        paths[i] = rfn_reader_index(reader, context->dictionary->n_paths);
    }
    to->site_functions = functions;
    to->site_paths = paths;
    if (reader->failed)
        return "the table of sites is malformed";
    to->n_types = rfn_reader_count(reader, 1);
    uint32_t *types = rfn_arena_zeroed(&to->arena, to->n_types, sizeof *types);
    if (!types)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_types; i++)
        types[i] = rfn_reader_index(reader, context->dictionary->n_datatypes);
    to->types = types;
    to->n_comms = (uint32_t)rfn_reader_limited(reader, INT32_MAX);
    return reader->failed ? "the table of datatypes is malformed" : NULL;
}

bool rfn_structure_type(const struct rfn_structure *structure, int64_t *word)
{
    if (*word < 0)
        return true;
    if (*word >= structure->n_types)
        return false;
    *word = structure->types[*word];
    return true;
}

bool rfn_symbol_in_rank_params(const struct rfn_symbol_info *symbol,
                               const struct rfn_function_info *function, unsigned input)
{
    return rfn_kind_depends_on_rank(function->params[input].kind) && !(symbol->moved >> input & 1);
}

/* The words that all members share, and how many are elsewhere. */
static const char *read_inputs(struct context *context, struct rfn_symbol_info *symbol,
                               const struct rfn_function_info *function)
{
    int64_t *in = rfn_arena_zeroed(&context->to->arena, function->n_in, sizeof *in);
    if (!in)
        return rfn_out_of_memory;
    symbol->in = in;
    for (unsigned i = 0; i < function->n_in; i++) {
        if (symbol->moved >> i & 1) {
            context->to->n_values++;
        } else if (rfn_symbol_in_rank_params(symbol, function, i)) {
            context->to->n_rank_params++;
        } else {
            in[i] = rfn_reader_svarint(&context->reader);
            uint8_t kind = function->params[i].kind;
            if (kind == RFN_KIND_TYPE && !rfn_structure_type(context->to, &in[i]))
                return "a symbol has a datatype that does not exist";
            if (kind == RFN_KIND_REGION && !rfn_dictionary_region(context->dictionary, &in[i]))
                return "a symbol has a region that does not exist";
            if (kind == RFN_KIND_COMM && in[i] >= context->to->n_comms)
                return "a symbol has a communicator that does not exist";
        }
    }
    return NULL;
}

static const char *read_symbol(struct context *context, struct rfn_symbol_info *symbol)
{
    struct rfn_structure *to = context->to;
    uint64_t head = rfn_reader_varint(&context->reader);
    symbol->error = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    symbol->moved = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    if (context->reader.failed || head >> 1 >= to->n_sites)
        return "a symbol has a site that does not exist";
    symbol->site = (uint32_t)(head >> 1);
    symbol->function = to->site_functions[symbol->site];
    symbol->path = to->site_paths[symbol->site];
    symbol->failed_poll = head & 1;
    const struct rfn_function_info *function = &context->dictionary->functions[symbol->function];
    if (symbol->moved >> function->n_in)
        return "a symbol has moved inputs that do not exist";
    symbol->rank_params = to->n_rank_params;
    symbol->value = to->n_values;
    symbol->timing = to->n_timing;
    symbol->timing_bare = to->n_timing_bare;
    to->n_timing += symbol->failed_poll ? 4 : 2;
    to->n_timing_bare += symbol->failed_poll;
    to->n_polls += symbol->failed_poll;
    const char *fault = read_inputs(context, symbol, function);
    to->n_values += function->n_out;
    return fault;
}

static const char *read_symbols(struct context *context)
{
    struct rfn_structure *to = context->to;
    to->n_symbols = rfn_reader_count(&context->reader, 1);
    to->symbols = rfn_arena_zeroed(&to->arena, to->n_symbols, sizeof *to->symbols);
    const char *fault = to->symbols ? NULL : rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_symbols && !fault; i++)
        fault = read_symbol(context, &to->symbols[i]);
    return !fault && context->reader.failed ? "the table of symbols is malformed" : fault;
}

/* Nodes may use loops with numbers below n_loops. */
static const char *read_nodes(struct context *context, struct rfn_node_list *list, uint32_t n_loops)
{
    uint32_t n = rfn_reader_count(&context->reader, 1);
    uint32_t *nodes = rfn_arena_zeroed(&context->to->arena, n, sizeof *nodes);
    if (!nodes)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n; i++) {
        nodes[i] = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
        uint32_t index = rfn_node_index(nodes[i]);
        if (index >= (rfn_node_is_loop(nodes[i]) ? n_loops : context->to->n_symbols))
            return "a node is a symbol or loop that does not exist here";
    }
    *list = (struct rfn_node_list){nodes, n};
    context->to->n_nodes += n;
    return NULL;
}

static const char *read_loops(struct context *context)
{
    struct rfn_structure *to = context->to;
    to->n_loops = rfn_reader_count(&context->reader, 1);
    to->n_values += to->n_loops;
    to->loops = rfn_arena_zeroed(&context->to->arena, to->n_loops, sizeof *to->loops);
    const char *fault = to->loops ? NULL : rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_loops && !fault && !context->reader.failed; i++) {
        fault = read_nodes(context, &to->loops[i], i);
        if (!fault && to->loops[i].n == 0)
            fault = "a loop has an empty body";
    }
    if (!fault)
        fault = read_nodes(context, &to->top, to->n_loops);
    return !fault && context->reader.failed ? "the loops are malformed" : fault;
}

const char *rfn_structure_read(struct rfn_structure *structure,
                               const struct rfn_dictionary *dictionary,
                               const struct rfn_payload *payload, bool exact)
{
    *structure = (struct rfn_structure){.arena = RFN_ARENA_INIT};
    struct context context = {.to = structure,
                              .dictionary = dictionary,
                              .reader = rfn_reader_over(payload->data, payload->size)};
    const char *fault = read_sites(&context);
    if (!fault)
        fault = read_symbols(&context);
    if (!fault)
        fault = read_loops(&context);
    if (!fault && exact && rfn_reader_left(&context.reader))
        fault = "there are bytes behind its end";
    for (uint32_t i = 0; i < structure->n_symbols && !fault; i++)
        structure->symbols[i].value += structure->n_loops;
    return fault;
}

void rfn_structure_release(struct rfn_structure *structure)
{
    rfn_arena_release(&structure->arena);
}

/* ---- values ---- */

const char *rfn_values_read(struct rfn_values *values, const struct rfn_structure *structure,
                            struct rfn_payload *payload, bool exact)
{
    size_t lists[RFN_LIST_COLUMNS + 1] = {0};
    struct rfn_payload_reader scan;
    *values = (struct rfn_values){.payload = *payload, .n_columns = structure->n_values};
    *payload = (struct rfn_payload){0};
    rfn_payload_reader_begin(&scan, &values->payload);
    uint64_t n = rfn_payload_reader_limited(&scan, RFN_LIST_WORDS_MAX);
    if (rfn_payload_reader_columns(&scan, lists, RFN_LIST_COLUMNS))
        return rfn_payload_reader_fault(&scan, "the lists are malformed");
    const char *fault = rfn_value_lists_read(&values->lists, &values->payload, lists, n);
    if (fault)
        return fault;
    if (structure->n_values > rfn_payload_reader_left(&scan))
        return "columns are missing";
    values->columns = malloc((structure->n_values + 1) * sizeof *values->columns);
    if (!values->columns)
        return rfn_out_of_memory;
    fault = rfn_payload_reader_columns(&scan, values->columns, structure->n_values);
    return !fault && exact && rfn_payload_reader_left(&scan) ? "there are bytes behind its end"
                                                             : fault;
}

void rfn_values_release(struct rfn_values *values)
{
    rfn_payload_release(&values->payload);
    free(values->columns);
    rfn_value_lists_release(&values->lists);
    *values = (struct rfn_values){0};
}

/* ---- RANK_PARAMS ---- */

const char *rfn_rank_params_read(struct rfn_member_table *rank_params,
                                 const struct rfn_structure *structure,
                                 const struct rfn_dictionary *dictionary, uint32_t n_members,
                                 const struct rfn_payload *payload, bool exact)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    size_t n = structure->n_rank_params + structure->n_comms;
    *rank_params = (struct rfn_member_table){0};
    if (rfn_reader_varint(&reader) != n || reader.failed || n > rfn_reader_left(&reader))
        return "it has not as many sequences as the structure asks for";
    const char *fault = rfn_member_table_read(rank_params, &reader, n, n_members, RFN_RUN_FORMS);
    if (fault)
        return fault;
    for (size_t i = rank_params->first[structure->n_rank_params]; i < rank_params->first[n]; i++) {
        /* Communicators are not relative. */
        const struct rfn_member_run *run = &rank_params->runs[i];
        if (run->form || run->value < -1 || run->value >= (int64_t)dictionary->n_comms)
            return "a local communicator is one that does not exist";
    }
    return exact && rfn_reader_left(&reader) ? "there are bytes behind its end" : NULL;
}

/* ---- timing ---- */

struct rfn_clock_segment rfn_clock_segment_of(const uint64_t *pair, const uint64_t *next)
{
    uint64_t quanta = next[0] - pair[0], ns = next[1] - pair[1];
    unsigned shift = 64;
    rfn_u128 slope;
    for (;; shift--) {
        slope = ((rfn_u128)ns << shift) / quanta;
        if (shift == 0 || slope >> 63 == 0)
            break;
    }
    uint64_t half = shift ? UINT64_C(1) << (shift - 1) : 0;
    return (struct rfn_clock_segment){pair[0], pair[1], (uint64_t)slope, shift, half};
}

uint64_t rfn_clock_move(const struct rfn_clock *clock, struct rfn_clock_place *place,
                        uint64_t quanta)
{
    size_t at = place->segment;
    while (at + 1 < clock->n && quanta >= clock->segments[at + 1].from)
        at++;
    while (at > 0 && quanta < clock->segments[at].from)
        at--;
    const struct rfn_clock_segment *in = &clock->segments[at];
    const uint64_t end = at + 1 < clock->n ? in[1].from : UINT64_MAX;
    *place = (struct rfn_clock_place){*in, end > in->from ? end - in->from : 0, at};
    if (quanta >= in->from)
        return in->base_ns + rfn_clock_scale(in, quanta - in->from);
    return in->base_ns - rfn_clock_scale(in, in->from - quanta);
}

/* Pairs of equal quanta tell nothing about the slope; if all are equal, a quantum is taken for a
 * nanosecond. */
static const char *read_pairs(struct rfn_clock *clock, uint64_t n, struct rfn_payload_reader *scan)
{
    uint64_t first[3] = {0}, last[3] = {0}, next[3];
    for (uint64_t i = 0; i < n; i++) {
        struct rfn_reader *reader = rfn_payload_reader_next(scan, sizeof next);
        for (int k = 0; k < 3; k++)
            next[k] = rfn_reader_u64(reader);
        if (rfn_payload_reader_failed(scan) || (i > 0 && (next[0] < last[0] || next[1] < last[1])))
            return rfn_payload_reader_fault(scan, "the clock's pairs are malformed");
        if (i > 0 && next[0] > last[0])
            clock->segments[clock->n++] = rfn_clock_segment_of(last, next);
        if (i == 0)
            memcpy(first, next, sizeof first);
        if (i == 0 || next[0] > last[0])
            memcpy(last, next, sizeof last);
    }
    if (clock->n == 0)
        clock->segments[clock->n++] = (struct rfn_clock_segment){first[0], first[1], 1, 0, 0};
    clock->realtime_offset = first[2] - first[1];
    clock->resolution_ns = last[0] > first[0]
                               ? (double)(last[1] - first[1]) / (double)(last[0] - first[0])
                               : 1.0;
    return NULL;
}

const char *rfn_clock_read(struct rfn_clock *clock, uint64_t *flags,
                           struct rfn_payload_reader *scan)
{
    static const char too_short[] = "it is too short";
    *clock = (struct rfn_clock){0};
    *flags = rfn_payload_reader_varint(scan);
    if (rfn_payload_reader_failed(scan))
        return rfn_payload_reader_fault(scan, too_short);
    if (!(*flags & RFN_TIMING_TIMES))
        return NULL;
    clock->of_the_run = rfn_reader_u8(rfn_payload_reader_next(scan, 1)) == RFN_CLOCK_OF_THE_RUN;
    uint64_t n = rfn_payload_reader_limited(scan, rfn_payload_reader_left(scan) / 24);
    if (rfn_payload_reader_failed(scan) || (clock->of_the_run ? n > 0 : n < 2))
        return rfn_payload_reader_fault(scan, "the clock's pairs are malformed");
    clock->segments = malloc((size_t)(n + 1) * sizeof *clock->segments);
    if (!clock->segments)
        return rfn_out_of_memory;
    const char *fault = read_pairs(clock, n, scan);
    clock->start = rfn_reader_u64(rfn_payload_reader_next(scan, 8));
    return fault || !rfn_payload_reader_failed(scan) ? fault
                                                     : rfn_payload_reader_fault(scan, too_short);
}

void rfn_clock_release(struct rfn_clock *clock)
{
    free(clock->segments);
    *clock = (struct rfn_clock){0};
}

const char *rfn_timing_scan(struct rfn_timing *timing, const struct rfn_structure *structure,
                            struct rfn_payload *payload, struct rfn_payload_reader *scan)
{
    uint64_t flags;
    *timing = (struct rfn_timing){.payload = *payload};
    *payload = (struct rfn_payload){0};
    rfn_payload_reader_begin(scan, &timing->payload);
    const char *fault = rfn_clock_read(&timing->clock, &flags, scan);
    if (fault)
        return fault;
    timing->times = flags & RFN_TIMING_TIMES;
    timing->volume = flags & RFN_TIMING_VOLUME;
    timing->stretched = flags & RFN_TIMING_STRETCHED;
    timing->n_marks = timing->times
                          ? rfn_payload_reader_limited(scan, rfn_payload_reader_left(scan))
                          : 0;
    timing->marks = rfn_payload_reader_at(scan);
    for (uint64_t i = 0; i < timing->n_marks && !rfn_payload_reader_failed(scan); i++)
        rfn_payload_reader_varint(scan);
    if (rfn_payload_reader_failed(scan))
        return rfn_payload_reader_fault(scan, "the time marks are malformed");
    timing->n_times = timing->times ? structure->n_timing : structure->n_timing_bare;
    size_t n = timing->n_times + (timing->volume ? 2 * (size_t)structure->n_symbols : 0);
    if (n > rfn_payload_reader_left(scan))
        return "columns are missing";
    timing->columns = malloc((n + 1) * sizeof *timing->columns);
    return timing->columns ? rfn_payload_reader_columns(scan, timing->columns, n)
                           : rfn_out_of_memory;
}

const char *rfn_timing_read(struct rfn_timing *timing, const struct rfn_structure *structure,
                            struct rfn_payload *payload, bool exact)
{
    struct rfn_payload_reader scan;
    const char *fault = rfn_timing_scan(timing, structure, payload, &scan);
    if (!fault && timing->clock.of_the_run)
        fault = "its clock is not that of a stream";
    return !fault && exact && rfn_payload_reader_left(&scan) ? "there are bytes behind its end"
                                                             : fault;
}

void rfn_timing_release(struct rfn_timing *timing)
{
    rfn_payload_release(&timing->payload);
    rfn_clock_release(&timing->clock);
    free(timing->columns);
    timing->columns = NULL;
}
