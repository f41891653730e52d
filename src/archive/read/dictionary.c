/* Payloads are read in the order that refrain-archive(5) gives. The readers of tables return NULL,
 * or what is wrong in words; a reader of bytes that has failed (too short, a number too large) is
 * looked at once per table. Counts are limited by the bytes that are left, so no table is larger
 * than a small multiple of the payload. */
#include "archive/read/dictionary.h"

#include "event/datatype.h"
#include "event/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_MAX_LENGTH = 250,
    RANKS_MAX = 1 << 25 /* more than any machine has; users keep something for each */
};

struct context {
    struct rfn_dictionary *to;
    struct rfn_reader reader;
    const char **strings;
    uint32_t n_strings;
};

static const char *read_name(struct context *context)
{
    uint32_t number = rfn_reader_index(&context->reader, context->n_strings);
    return context->reader.failed ? "" : context->strings[number];
}

static const char *known_or_null(const char *text)
{
    return *text ? text : NULL;
}

/* A blob as a string; one with a zero byte inside ends there. */
static const char *read_text(struct context *context, const char **text)
{
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(&context->reader, &size);
    *text = bytes ? rfn_arena_copy(&context->to->arena, bytes, size) : NULL;
    if (*text)
        return NULL;
    return context->reader.failed ? "a text is malformed" : rfn_out_of_memory;
}

/* ---- elements of tables, by number ---- */

static const char *read_strings(struct context *context)
{
    static const char malformed[] = "the table of strings is malformed";
    context->n_strings = rfn_reader_count(&context->reader, 1);
    context->strings = rfn_arena_zeroed(&context->to->arena, context->n_strings,
                                        sizeof *context->strings);
    if (!context->strings)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < context->n_strings; i++) {
        const char *fault = read_text(context, &context->strings[i]);
        if (fault)
            return context->reader.failed ? malformed : fault;
    }
    bool sound = !context->reader.failed && context->n_strings && !*context->strings[0];
    return sound ? NULL : malformed;
}

static const char *read_module(struct context *context, uint32_t number)
{
    struct rfn_dictionary_module *module = &context->to->modules[number];
    size_t size;
    module->path = read_name(context);
    const uint8_t *build_id = rfn_reader_blob(&context->reader, &size);
    module->key = build_id && size ? rfn_hash_bytes(build_id, size)
                                   : rfn_hash_bytes(module->path, strlen(module->path));
    return NULL;
}

static const char *read_location(struct context *context, uint32_t number)
{
    struct rfn_dictionary *to = context->to;
    struct rfn_location *location = &to->locations[number].is;
    const struct rfn_dictionary_module *module =
        &to->modules[rfn_reader_index(&context->reader, to->n_modules)];
    to->locations[number].module = module;
    location->module = module->path;
    location->offset = rfn_reader_varint(&context->reader);
    location->function = known_or_null(read_name(context));
    location->file = known_or_null(read_name(context));
    location->line = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    return NULL;
}

static const char *read_path(struct context *context, uint32_t number)
{
    uint32_t n = rfn_reader_count(&context->reader, 1);
    uint32_t *frames = rfn_arena_zeroed(&context->to->arena, n, sizeof *frames);
    if (!frames)
        return rfn_out_of_memory;
    for (uint32_t k = 0; k < n; k++)
        frames[k] = rfn_reader_index(&context->reader, context->to->n_locations);
    context->to->paths[number] = (struct rfn_path){frames, n};
    return NULL;
}

static const char *read_function(struct context *context, uint32_t number)
{
    struct rfn_function_info *function = &context->to->functions[number];
    function->name = read_name(context);
    function->class_ = rfn_reader_u8(&context->reader);
    function->flags = rfn_reader_u8(&context->reader);
    function->n_in = rfn_reader_u8(&context->reader);
    function->n_out = rfn_reader_u8(&context->reader);
    if (function->n_in > RFN_PARAMS_MAX || function->n_out > RFN_PARAMS_MAX)
        return "a function has too many parameters";
    unsigned n = (unsigned)function->n_in + function->n_out;
    struct rfn_param_info *params = rfn_arena_zeroed(&context->to->arena, n, sizeof *params);
    if (!params)
        return rfn_out_of_memory;
    for (unsigned i = 0; i < n; i++) {
        params[i].name = read_name(context);
        params[i].kind = rfn_reader_u8(&context->reader);
        params[i].flags = rfn_reader_u8(&context->reader);
    }
    function->params = params;
    return NULL;
}

static const char *read_host(struct context *context, uint32_t number)
{
    context->to->hosts[number].name = read_name(context);
    return NULL;
}

static const char *read_region(struct context *context, uint32_t number)
{
    struct rfn_map *numbers = &context->to->region_numbers;
    uint64_t hash = rfn_reader_u64(&context->reader);
    context->to->regions[number] = read_name(context);
    if (rfn_map_get(numbers, hash))
        return "a region is there twice";
    return rfn_map_put(numbers, hash, number) < 0 ? rfn_out_of_memory : NULL;
}

bool rfn_dictionary_region(const struct rfn_dictionary *dictionary, int64_t *word)
{
    const uint64_t *number = rfn_map_get(&dictionary->region_numbers, (uint64_t)*word);
    if (number)
        *word = (int64_t)*number;
    return number != NULL;
}

/* ---- datatypes ---- */

/* Text that is cut at NAME_MAX_LENGTH: constructor trees can be larger than any memory. */
struct text {
    char bytes[NAME_MAX_LENGTH + 8];
    size_t length;
    bool first; /* no comma yet */
};

static void add_text(struct text *text, const char *more)
{
    size_t length = strlen(more), room = NAME_MAX_LENGTH - text->length;
    if (text->length > NAME_MAX_LENGTH)
        return;
    if (length > room) {
        memcpy(text->bytes + text->length, more, room);
        memcpy(text->bytes + NAME_MAX_LENGTH, "...", 4);
        text->length = NAME_MAX_LENGTH + 3;
        return;
    }
    memcpy(text->bytes + text->length, more, length + 1);
    text->length += length;
}

static void add_item(struct text *text, const char *item)
{
    add_text(text, text->first ? "" : ",");
    add_text(text, item);
    text->first = false;
}

static void read_numbers(struct context *context, struct text *text)
{
    uint32_t n = rfn_reader_count(&context->reader, 1);
    for (uint32_t i = 0; i < n; i++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%" PRId64, rfn_reader_svarint(&context->reader));
        add_item(text, digits);
    }
}

static const char *combiner_name(uint64_t combiner)
{
    static const char *const names[] = {
        [RFN_COMBINER_OTHER] = "type",
        [RFN_COMBINER_NAMED] = "type",
        [RFN_COMBINER_DUP] = "dup",
        [RFN_COMBINER_CONTIGUOUS] = "contiguous",
        [RFN_COMBINER_VECTOR] = "vector",
        [RFN_COMBINER_HVECTOR] = "hvector",
        [RFN_COMBINER_INDEXED] = "indexed",
        [RFN_COMBINER_HINDEXED] = "hindexed",
        [RFN_COMBINER_INDEXED_BLOCK] = "indexed_block",
        [RFN_COMBINER_HINDEXED_BLOCK] = "hindexed_block",
        [RFN_COMBINER_STRUCT] = "struct",
        [RFN_COMBINER_SUBARRAY] = "subarray",
        [RFN_COMBINER_DARRAY] = "darray",
        [RFN_COMBINER_F90_REAL] = "f90_real",
        [RFN_COMBINER_F90_COMPLEX] = "f90_complex",
        [RFN_COMBINER_F90_INTEGER] = "f90_integer",
        [RFN_COMBINER_RESIZED] = "resized",
        [RFN_COMBINER_VALUE_INDEX] = "value_index",
        [RFN_COMBINER_HVECTOR_INTEGER] = "hvector",
        [RFN_COMBINER_HINDEXED_INTEGER] = "hindexed",
        [RFN_COMBINER_STRUCT_INTEGER] = "struct",
    };
    combiner &= ~(uint64_t)RFN_COMBINER_ABSOLUTE;
    return combiner < sizeof names / sizeof *names ? names[combiner] : "type";
}

/* "vector(4,1,10,MPI_DOUBLE)": integers, addresses, children, as the constructor was given them. */
static void read_constructor(struct context *context, uint32_t number, struct text *text)
{
    text->first = true;
    add_text(text, "(");
    read_numbers(context, text);
    read_numbers(context, text);
    uint32_t n = rfn_reader_count(&context->reader, 1);
    for (uint32_t i = 0; i < n && !context->reader.failed; i++) {
        uint32_t child = rfn_reader_index(&context->reader, number);
        if (!context->reader.failed)
            add_item(text, context->to->datatypes[child].name);
    }
    add_text(text, ")");
}

static const char *read_datatype(struct context *context, uint32_t number)
{
    struct rfn_datatype_info *type = &context->to->datatypes[number];
    struct text text = {.length = 0};
    add_text(&text, combiner_name(rfn_reader_varint(&context->reader)));
    type->name = read_name(context);
    type->size = rfn_reader_svarint(&context->reader);
    rfn_reader_svarint(&context->reader); /* lower bound */
    type->extent = rfn_reader_svarint(&context->reader);
    rfn_reader_svarint(&context->reader); /* true lower bound */
    type->true_extent = rfn_reader_svarint(&context->reader);
    read_constructor(context, number, &text);
    if (!*type->name)
        type->name = rfn_arena_copy(&context->to->arena, text.bytes, text.length);
    return type->name ? NULL : rfn_out_of_memory;
}

/* ---- what functions of the program call ---- */

static const char *read_calls(struct context *context, struct rfn_dictionary_caller *caller,
                              uint64_t offset)
{
    struct rfn_reader *reader = &context->reader;
    uint32_t line = 0, n = rfn_reader_count(reader, 3);
    struct rfn_program_call *calls = rfn_arena_zeroed(&context->to->arena, n, sizeof *calls);
    if (!calls)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        calls[i].function = known_or_null(read_name(context));
        calls[i].offset = offset + (uint64_t)rfn_reader_svarint(reader);
        const uint64_t further = rfn_reader_limited(reader, 2 * (uint64_t)(UINT32_MAX - line) + 1);
        line += (uint32_t)(further / 2);
        calls[i].line = line;
        calls[i].library = further % 2;
    }
    caller->calls = calls;
    caller->n_calls = n;
    return NULL;
}

static const char *read_caller(struct context *context, struct rfn_dictionary_caller *caller,
                               uint32_t *location)
{
    struct rfn_reader *reader = &context->reader;
    *location = rfn_reader_index(reader, context->to->n_locations);
    if (reader->failed)
        return NULL;
    const char *fault = read_calls(context, caller, context->to->locations[*location].is.offset);
    if (fault)
        return fault;
    uint32_t n = rfn_reader_count(reader, 2);
    struct rfn_dictionary_loop *loops = rfn_arena_zeroed(&context->to->arena, n, sizeof *loops);
    if (!loops)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n && !reader->failed; i++) {
        loops[i].first = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
        loops[i].last = loops[i].first +
                        (uint32_t)rfn_reader_limited(reader, UINT32_MAX - loops[i].first);
    }
    caller->loops = loops;
    caller->n_loops = n;
    return NULL;
}

/* All locations of a function have its calls. The caller that is listed at a location is found by
 * its number there, one more. */
static int spread_callers(struct rfn_dictionary *to, const uint32_t *caller_at)
{
    const uint32_t n = to->n_locations;
    uint64_t *keys = calloc(n + (size_t)1, sizeof *keys);
    uint32_t *first = calloc(n + (size_t)1, sizeof *first);
    uint32_t *caller_of = calloc(n + (size_t)1, sizeof *caller_of);
    int error = keys && first && caller_of ? 0 : RFN_E_NOMEM;
    for (uint32_t i = 0; i < n && !error; i++) {
        const struct rfn_dictionary_location *location = &to->locations[i];
        const uintptr_t parts[] = {(uintptr_t)location->module, (uintptr_t)location->is.function,
                                   (uintptr_t)location->is.file};
        keys[i] = rfn_hash_bytes(parts, sizeof parts);
    }
    if (!error)
        error = rfn_first_equal(keys, n, first);
    for (uint32_t i = 0; i < n && !error; i++) {
        if (caller_at[i])
            caller_of[first[i]] = caller_at[i];
    }
    for (uint32_t i = 0; i < n && !error; i++) {
        const uint32_t number = caller_of[first[i]];
        if (number)
            to->locations[i].caller = &to->callers[number - 1];
    }
    free(keys);
    free(first);
    free(caller_of);
    return error;
}

static const char *read_callers(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    const char *fault = NULL;
    const uint32_t n = rfn_reader_count(&context->reader, 3);
    uint32_t *caller_at = calloc(to->n_locations + (size_t)1, sizeof *caller_at);
    to->callers = rfn_arena_zeroed(&to->arena, n, sizeof *to->callers);
    if (!caller_at || !to->callers)
        fault = rfn_out_of_memory;
    for (uint32_t i = 0; i < n && !fault && !context->reader.failed; i++) {
        uint32_t location;
        fault = read_caller(context, &to->callers[i], &location);
        caller_at[location] = i + 1;
    }
    to->n_callers = n;
    if (!fault && context->reader.failed)
        fault = "the calls of functions are malformed";
    if (!fault && spread_callers(to, caller_at) < 0)
        fault = rfn_out_of_memory;
    free(caller_at);
    return fault;
}

/* ---- communicators ---- */

static const char *read_comm(struct context *context, uint32_t number)
{
    struct rfn_communicator *comm = &context->to->comms[number];
    uint32_t ranks = context->to->run.ranks;
    uint8_t kind = rfn_reader_u8(&context->reader);
    uint64_t identity = rfn_reader_u64(&context->reader);
    if (kind > RFN_COMM_INTER)
        return "a communicator is of unknown kind";
    comm->info = (struct rfn_comm_info){.kind = (enum rfn_comm_kind)kind,
                                        .size = kind == RFN_COMM_WORLD ? ranks : 1,
                                        .identity = identity};
    const char *fault = NULL;
    for (int i = 0; i < kind - RFN_COMM_SELF && !fault; i++)
        fault = rfn_rank_list_read(&comm->groups[i], &context->reader, ranks, &context->to->arena);
    if (kind >= RFN_COMM_INTRA)
        comm->info.size = comm->groups[0].size;
    if (kind == RFN_COMM_INTER)
        comm->info.remote_size = comm->groups[1].size;
    return fault;
}

/* ---- whole payloads ---- */

/* As they follow each other. */
#define TABLE(name)                                                                   \
    offsetof(struct rfn_dictionary, n_##name), offsetof(struct rfn_dictionary, name), \
        sizeof *((struct rfn_dictionary *)NULL)->name

static const struct table {
    size_t n, at, size;
    const char *(*read)(struct context *context, uint32_t number);
    const char *malformed;
} tables[] = {
    {TABLE(modules), read_module, "the table of modules is malformed"},
    {TABLE(locations), read_location, "the table of locations is malformed"},
    {TABLE(paths), read_path, "the table of call paths is malformed"},
    {TABLE(functions), read_function, "the table of functions is malformed"},
    {TABLE(datatypes), read_datatype, "the table of datatypes is malformed"},
    {TABLE(comms), read_comm, "the table of communicators is malformed"},
    {TABLE(hosts), read_host, "the table of hosts is malformed"},
    {TABLE(regions), read_region, "the table of regions is malformed"},
};

static const char *read_table(struct context *context, const struct table *table)
{
    struct rfn_dictionary *to = context->to;
    const char *fault = NULL;
    if (table->read == read_region && !rfn_reader_left(&context->reader))
        return NULL; /* minor version 0 had none */
    uint32_t n = rfn_reader_count(&context->reader, 1);
    void *elements = rfn_arena_zeroed(&context->to->arena, n, table->size);
    memcpy((uint8_t *)to + table->n, &n, sizeof n);
    memcpy((uint8_t *)to + table->at, &elements, sizeof elements);
    if (!elements)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < n && !fault && !context->reader.failed; i++)
        fault = table->read(context, i);
    return fault || !context->reader.failed ? fault : table->malformed;
}

const char *rfn_dictionary_definitions(struct rfn_dictionary *dictionary,
                                       const struct rfn_payload *payload, bool exact)
{
    struct context context = {.to = dictionary,
                              .reader = rfn_reader_over(payload->data, payload->size)};
    struct rfn_reader *reader = &context.reader;
    const char *fault = read_strings(&context);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !fault; i++)
        fault = read_table(&context, &tables[i]);
    if (!fault) {
        dictionary->calls = rfn_arena_zeroed(&dictionary->arena, dictionary->n_functions,
                                             sizeof *dictionary->calls);
        if (!dictionary->calls)
            return rfn_out_of_memory;
        for (uint32_t i = 0; i < dictionary->n_functions; i++)
            rfn_call_init(&dictionary->calls[i], &dictionary->functions[i]);
    }
    bool cores = !fault && rfn_reader_left(reader); /* not in files of long ago */
    for (uint32_t i = 0; cores && i < dictionary->n_hosts; i++)
        dictionary->hosts[i].cores = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
    if (!fault && reader->failed)
        fault = "the numbers of cores are malformed";
    if (!fault && rfn_reader_left(reader)) /* since minor version 10 */
        fault = read_callers(&context);
    return !fault && exact && rfn_reader_left(reader) ? "there are bytes behind its end" : fault;
}

/* How times were reduced, and what became of them. */
static const char *read_reduction(struct context *context)
{
    struct rfn_run *run = &context->to->run;
    struct rfn_run_reduction *to = &run->reduction;
    uint64_t *const numbers[] = {&to->executions,  &to->kinds,   &to->representatives,
                                 &to->corrections, &to->streams, &to->classes,
                                 &to->time_sets,   &to->widened, &to->full_bytes};
    const char *fault = read_text(context, &run->similar);
    if (!fault)
        fault = read_text(context, &run->across);
    if (fault)
        return fault;
    run->across = known_or_null(run->across);
    run->reduced = true;
    const uint64_t how = rfn_reader_varint(&context->reader);
    to->exact_starts = how & 1;
    to->long_streams = how >> 1;
    to->min_calls = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = rfn_reader_varint(&context->reader);
    return NULL;
}

static bool read_merging(struct context *context)
{
    struct rfn_run_merging *merging = &context->to->run.merging;
    merging->messages = rfn_reader_varint(&context->reader);
    merging->bytes = rfn_reader_varint(&context->reader);
    merging->trace_bytes = rfn_reader_varint(&context->reader);
    merging->all_bytes = rfn_reader_varint(&context->reader);
    merging->all_definition_bytes = rfn_reader_varint(&context->reader);
    for (int step = 0; step < RFN_MERGING_STEPS; step++)
        rfn_reader_varint(&context->reader);
    return merging->messages > 0;
}

static bool read_online_merges(struct context *context)
{
    struct rfn_run_online_merges *online = &context->to->run.merging.online;
    online->merges = rfn_reader_varint(&context->reader);
    online->ns = rfn_reader_varint(&context->reader);
    online->bytes = rfn_reader_varint(&context->reader);
    online->messages = rfn_reader_varint(&context->reader);
    return online->merges > 0;
}

static bool read_path_ends(struct context *context)
{
    struct rfn_path_ends *ends = &context->to->run.path_ends;
    ends->outer = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    ends->inner = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    return ends->inner > 0;
}

static const char *read_meta(struct context *context, uint32_t minor)
{
    struct rfn_run *run = &context->to->run;
    const char **const texts[] = {&run->recorder, &run->program, &run->command, &run->mpi,
                                  &run->flavour};
    const char *fault = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !fault; i++)
        fault = read_text(context, texts[i]);
    if (fault)
        return fault;
    run->start_realtime_ns = (int64_t)rfn_reader_u64(&context->reader);
    run->ranks = (uint32_t)rfn_reader_limited(&context->reader, RANKS_MAX);
    uint64_t flags = rfn_reader_varint(&context->reader);
    run->times = flags & 1;
    run->all_polls = flags >> 1 & 1;
    run->start_off = flags >> 3 & 1;
    run->clustered = minor >= RFN_SENT_SINCE_MINOR && flags >> 10 & 1;
    run->merge_seconds = (double)rfn_reader_limited(&context->reader, INT64_MAX) * 1e-9;
    bool volume = flags >> 2 & 1, sound = !context->reader.failed && run->ranks > 0;
    bool reduced = minor >= RFN_PROFILE_SINCE_MINOR && flags >> 4 & 1;
    uint64_t since_clusters = minor >= RFN_CLUSTERS_SINCE_MINOR ? flags : 0;
    bool sent = minor >= RFN_SENT_SINCE_MINOR && flags >> 9 & 1;
    if (sound && volume)
        fault = read_text(context, &run->volume);
    if (sound && volume && !fault)
        fault = read_text(context, &run->volume_unit);
    if (sound && !fault && reduced)
        fault = run->times ? read_reduction(context) : "times that are not there are reduced";
    if (sound && !fault && since_clusters >> 5 & 1)
        sound = read_path_ends(context);
    if (sound && !fault && since_clusters >> 6 & 1)
        sound = read_merging(context);
    if (sound && !fault && since_clusters >> 7 & 1)
        fault = read_text(context, &run->forced);
    if (sound && !fault && since_clusters >> 8 & 1)
        sound = read_online_merges(context);
    for (int i = 0; sound && !fault && sent && i < 2 * RFN_MERGING_STEPS; i++)
        rfn_reader_varint(&context->reader);
    if (sound && !fault && minor >= RFN_PREDICTED_SINCE_MINOR && flags >> 11 & 1)
        fault = read_text(context, &run->predicted);
    if (sound && !fault && minor >= RFN_APART_SINCE_MINOR && flags >> 12 & 1) {
        run->apart = true;
        run->taken_out = rfn_reader_varint(&context->reader);
        fault = run->volume ? NULL : "volumes that are not there are counted apart";
    }
    if (sound && !fault && minor >= RFN_RECOVERED_SINCE_MINOR && flags >> 13 & 1) {
        run->recovered.recovered = true;
        run->recovered.first_ns = (int64_t)rfn_reader_u64(&context->reader);
        run->recovered.last_ns = (int64_t)rfn_reader_u64(&context->reader);
    }
    /* The difference of a negative date and another one may overflow. */
    if (run->start_realtime_ns < 0 || run->recovered.first_ns < 0 || run->recovered.last_ns < 0)
        fault = "its dates are before 1970";
    if (sound && !fault && minor >= RFN_LIMITS_SINCE_MINOR && flags >> 14 & 1)
        fault = read_text(context, &run->limits);
    if (sound && !fault && minor >= RFN_IDENTITY_SINCE_MINOR && flags >> 15 & 1)
        run->identity = rfn_reader_u64(&context->reader);
    return fault || (sound && !context->reader.failed) ? fault : "it is malformed";
}

const char *rfn_dictionary_meta(struct rfn_dictionary *dictionary,
                                const struct rfn_payload *payload, uint32_t minor, bool exact)
{
    struct context context = {.to = dictionary,
                              .reader = rfn_reader_over(payload->data, payload->size)};
    const char *fault = read_meta(&context, minor);
    return !fault && exact && rfn_reader_left(&context.reader) ? "there are bytes behind its end"
                                                               : fault;
}

void rfn_dictionary_release(struct rfn_dictionary *dictionary)
{
    rfn_arena_release(&dictionary->arena);
    rfn_map_release(&dictionary->region_numbers);
    *dictionary = (struct rfn_dictionary){.arena = RFN_ARENA_INIT};
}
