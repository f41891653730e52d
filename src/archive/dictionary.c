/* Payloads are read in the order that refrain-archive(5) gives. The readers of tables return NULL,
 * or what is wrong in words; a reader of bytes that has failed (too short, a number too large) is
 * looked at once per table. Counts are limited by the bytes that are left, so no table is larger
 * than a small multiple of the payload. */
#include "archive/dictionary.h"

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
};

static void *allocate(struct context *context, size_t n, size_t size)
{
    void *memory = rfn_arena_alloc(&context->to->arena, (n + 1) * size);
    if (memory)
        memset(memory, 0, (n + 1) * size);
    return memory;
}

/* A number below n; failed if it is not. */
static uint32_t read_index(struct context *context, uint32_t n)
{
    if (n == 0)
        context->reader.failed = true;
    return (uint32_t)rfn_reader_limited(&context->reader, n ? n - 1 : 0);
}

static const char *read_name(struct context *context)
{
    uint32_t number = read_index(context, context->to->n_strings);
    return context->reader.failed ? "" : context->to->strings[number];
}

static const char *known_or_null(const char *text)
{
    return *text ? text : NULL;
}

/* A blob as a string; one with a zero byte inside ends there. */
static const char *read_text(struct context *context)
{
    size_t size;
    const uint8_t *bytes = rfn_reader_blob(&context->reader, &size);
    return bytes ? rfn_arena_copy(&context->to->arena, bytes, size) : NULL;
}

/* ---- strings, modules, hosts ---- */

static const char *read_strings(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_strings = rfn_reader_count(&context->reader, 1);
    to->strings = allocate(context, to->n_strings, sizeof *to->strings);
    if (!to->strings)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_strings; i++) {
        to->strings[i] = read_text(context);
        if (!to->strings[i])
            return context->reader.failed ? "the table of strings is malformed" : rfn_out_of_memory;
    }
    if (context->reader.failed || to->n_strings == 0 || *to->strings[0])
        return "the table of strings is malformed";
    return NULL;
}

static const char *read_modules(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_modules = rfn_reader_count(&context->reader, 1);
    to->modules = allocate(context, to->n_modules, sizeof *to->modules);
    to->module_keys = allocate(context, to->n_modules, sizeof *to->module_keys);
    if (!to->modules || !to->module_keys)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_modules; i++) {
        size_t size;
        to->modules[i] = read_name(context);
        const uint8_t *build_id = rfn_reader_blob(&context->reader, &size);
        to->module_keys[i] = build_id && size
                                 ? rfn_hash_bytes(build_id, size)
                                 : rfn_hash_bytes(to->modules[i], strlen(to->modules[i]));
    }
    return context->reader.failed ? "the table of modules is malformed" : NULL;
}

static const char *read_hosts(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_hosts = rfn_reader_count(&context->reader, 1);
    to->hosts = allocate(context, to->n_hosts, sizeof *to->hosts);
    to->cores = allocate(context, to->n_hosts, sizeof *to->cores);
    if (!to->hosts || !to->cores)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_hosts; i++)
        to->hosts[i] = read_name(context);
    return context->reader.failed ? "the table of hosts is malformed" : NULL;
}

/* ---- regions ---- */

/* Archives of minor version 0 end before this table. */
static const char *read_regions(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    if (rfn_reader_left(&context->reader) == 0)
        return NULL;
    to->n_regions = rfn_reader_count(&context->reader, 1);
    to->regions = allocate(context, to->n_regions, sizeof *to->regions);
    if (!to->regions)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_regions && !context->reader.failed; i++) {
        uint64_t hash = rfn_reader_u64(&context->reader);
        to->regions[i] = read_name(context);
        if (rfn_map_get(&to->region_numbers, hash))
            return "a region is there twice";
        if (rfn_map_put(&to->region_numbers, hash, i) < 0)
            return rfn_out_of_memory;
    }
    return context->reader.failed ? "the table of regions is malformed" : NULL;
}

/* Behind everything else, and not in files of long ago. */
static const char *read_cores(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    if (rfn_reader_left(&context->reader) == 0)
        return NULL;
    for (uint32_t i = 0; i < to->n_hosts; i++)
        to->cores[i] = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    return context->reader.failed ? "the numbers of cores are malformed" : NULL;
}

bool rfn_dictionary_region(const struct rfn_dictionary *dictionary, int64_t *word)
{
    const uint64_t *number = rfn_map_get(&dictionary->region_numbers, (uint64_t)*word);
    if (number)
        *word = (int64_t)*number;
    return number != NULL;
}

/* ---- call paths ---- */

static const char *read_locations(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_locations = rfn_reader_count(&context->reader, 1);
    to->locations = allocate(context, to->n_locations, sizeof *to->locations);
    to->location_modules = allocate(context, to->n_locations, sizeof *to->location_modules);
    if (!to->locations || !to->location_modules)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_locations && !context->reader.failed; i++) {
        struct rfn_location *location = &to->locations[i];
        to->location_modules[i] = read_index(context, to->n_modules);
        location->module = to->modules[to->location_modules[i]];
        location->offset = rfn_reader_varint(&context->reader);
        location->function = known_or_null(read_name(context));
        location->file = known_or_null(read_name(context));
        location->line = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    }
    return context->reader.failed ? "the table of locations is malformed" : NULL;
}

static const char *read_paths(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_paths = rfn_reader_count(&context->reader, 1);
    to->paths = allocate(context, to->n_paths, sizeof *to->paths);
    if (!to->paths)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_paths && !context->reader.failed; i++) {
        uint32_t n = rfn_reader_count(&context->reader, 1);
        uint32_t *frames = allocate(context, n, sizeof *frames);
        if (!frames)
            return rfn_out_of_memory;
        for (uint32_t k = 0; k < n; k++)
            frames[k] = read_index(context, to->n_locations);
        to->paths[i] = (struct rfn_path){frames, n};
    }
    return context->reader.failed ? "the table of call paths is malformed" : NULL;
}

/* ---- functions ---- */

static const char *read_function(struct context *context, struct rfn_function_info *function)
{
    function->name = read_name(context);
    function->class_ = rfn_reader_u8(&context->reader);
    function->flags = rfn_reader_u8(&context->reader);
    function->n_in = rfn_reader_u8(&context->reader);
    function->n_out = rfn_reader_u8(&context->reader);
    if (function->n_in > RFN_PARAMS_MAX || function->n_out > RFN_PARAMS_MAX)
        return "a function has too many parameters";
    unsigned n = (unsigned)function->n_in + function->n_out;
    struct rfn_param_info *params = allocate(context, n, sizeof *params);
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

static const char *read_functions(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_functions = rfn_reader_count(&context->reader, 1);
    to->functions = allocate(context, to->n_functions, sizeof *to->functions);
    const char *fault = to->functions ? NULL : rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_functions && !fault && !context->reader.failed; i++)
        fault = read_function(context, &to->functions[i]);
    if (fault)
        return fault;
    return context->reader.failed ? "the table of functions is malformed" : NULL;
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
        uint32_t child = read_index(context, number);
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

static const char *read_datatypes(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_datatypes = rfn_reader_count(&context->reader, 1);
    to->datatypes = allocate(context, to->n_datatypes, sizeof *to->datatypes);
    const char *fault = to->datatypes ? NULL : rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_datatypes && !fault && !context->reader.failed; i++)
        fault = read_datatype(context, i);
    if (fault)
        return fault;
    return context->reader.failed ? "the table of datatypes is malformed" : NULL;
}

/* ---- communicators ---- */

static const char *read_comm(struct context *context, struct rfn_communicator *comm)
{
    uint32_t ranks = context->to->run.ranks;
    uint8_t kind = rfn_reader_u8(&context->reader);
    rfn_reader_u64(&context->reader); /* identity */
    if (kind > RFN_COMM_INTER)
        return "a communicator is of unknown kind";
    comm->info = (struct rfn_comm_info){.kind = (enum rfn_comm_kind)kind,
                                        .size = kind == RFN_COMM_WORLD ? ranks : 1};
    const char *fault = NULL;
    for (int i = 0; i < kind - RFN_COMM_SELF && !fault; i++)
        fault = rfn_rank_list_read(&comm->groups[i], &context->reader, ranks, &context->to->arena);
    if (kind >= RFN_COMM_INTRA)
        comm->info.size = comm->groups[0].size;
    if (kind == RFN_COMM_INTER)
        comm->info.remote_size = comm->groups[1].size;
    return fault;
}

static const char *read_comms(struct context *context)
{
    struct rfn_dictionary *to = context->to;
    to->n_comms = rfn_reader_count(&context->reader, 1);
    to->comms = allocate(context, to->n_comms, sizeof *to->comms);
    const char *fault = to->comms ? NULL : rfn_out_of_memory;
    for (uint32_t i = 0; i < to->n_comms && !fault && !context->reader.failed; i++)
        fault = read_comm(context, &to->comms[i]);
    if (fault)
        return fault;
    return context->reader.failed ? "the table of communicators is malformed" : NULL;
}

/* ---- whole payloads ---- */

static int finish(const struct context *context, const char *fault, bool exact,
                  const struct rfn_payload *payload, struct rfn_diag *diag)
{
    if (!fault && exact && rfn_reader_left(&context->reader))
        fault = "there are bytes behind its end";
    return rfn_payload_fault(payload, fault, diag);
}

int rfn_dictionary_definitions(struct rfn_dictionary *dictionary, const struct rfn_payload *payload,
                               bool exact, struct rfn_diag *diag)
{
    static const char *(*const tables[])(struct context *) = {
        read_strings,   read_modules, read_locations, read_paths,   read_functions,
        read_datatypes, read_comms,   read_hosts,     read_regions, read_cores,
    };
    struct context context = {dictionary, rfn_reader_over(payload->data, payload->size)};
    const char *fault = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !fault; i++)
        fault = tables[i](&context);
    return finish(&context, fault, exact, payload, diag);
}

static const char *read_volume(struct context *context)
{
    struct rfn_run *run = &context->to->run;
    run->volume = read_text(context);
    run->volume_unit = read_text(context);
    if (run->volume && run->volume_unit)
        return NULL;
    return context->reader.failed ? "a text is malformed" : rfn_out_of_memory;
}

/* How times were reduced, and what became of them. */
static const char *read_reduction(struct context *context)
{
    struct rfn_run *run = &context->to->run;
    struct rfn_run_reduction *to = &run->reduction;
    uint64_t *const numbers[] = {&to->executions,  &to->kinds,   &to->representatives,
                                 &to->corrections, &to->streams, &to->classes,
                                 &to->time_sets,   &to->widened, &to->full_bytes};
    run->similar = read_text(context);
    run->across = read_text(context);
    if (!run->similar || !run->across)
        return context->reader.failed ? "a text is malformed" : rfn_out_of_memory;
    run->across = known_or_null(run->across);
    run->reduced = true;
    to->exact_starts = rfn_reader_varint(&context->reader) & 1;
    to->min_calls = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = rfn_reader_varint(&context->reader);
    return context->reader.failed ? "it is malformed" : NULL;
}

static const char *read_path_ends(struct context *context)
{
    struct rfn_path_ends *ends = &context->to->run.path_ends;
    ends->outer = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    ends->inner = (uint32_t)rfn_reader_limited(&context->reader, UINT32_MAX);
    return context->reader.failed || ends->inner == 0 ? "it is malformed" : NULL;
}

static const char *read_merging(struct context *context)
{
    struct rfn_run_merging *merging = &context->to->run.merging;
    merging->messages = rfn_reader_varint(&context->reader);
    merging->bytes = rfn_reader_varint(&context->reader);
    merging->trace_bytes = rfn_reader_varint(&context->reader);
    merging->all_bytes = rfn_reader_varint(&context->reader);
    merging->all_definition_bytes = rfn_reader_varint(&context->reader);
    for (int step = 0; step < RFN_MERGING_STEPS; step++)
        rfn_reader_varint(&context->reader);
    return context->reader.failed || merging->messages == 0 ? "it is malformed" : NULL;
}

static const char *read_meetings(struct context *context)
{
    struct rfn_run_meetings *before = &context->to->run.merging.before;
    before->meetings = rfn_reader_varint(&context->reader);
    before->ns = rfn_reader_varint(&context->reader);
    before->bytes = rfn_reader_varint(&context->reader);
    before->messages = rfn_reader_varint(&context->reader);
    return context->reader.failed || before->meetings == 0 ? "it is malformed" : NULL;
}

static const char *read_forced(struct context *context)
{
    context->to->run.forced = read_text(context);
    if (context->to->run.forced)
        return NULL;
    return context->reader.failed ? "a text is malformed" : rfn_out_of_memory;
}

static const char *read_meta(struct context *context, uint32_t minor)
{
    struct rfn_run *run = &context->to->run;
    const char **const texts[] = {&run->recorder, &run->program, &run->command, &run->mpi,
                                  &run->flavour};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = read_text(context);
        if (!*texts[i])
            return context->reader.failed ? "a text is malformed" : rfn_out_of_memory;
    }
    run->start_realtime_ns = (int64_t)rfn_reader_u64(&context->reader);
    run->ranks = (uint32_t)rfn_reader_limited(&context->reader, RANKS_MAX);
    uint64_t flags = rfn_reader_varint(&context->reader);
    run->times = flags & 1;
    run->all_polls = flags >> 1 & 1;
    run->start_off = flags >> 3 & 1;
    run->clustered = minor >= RFN_SENT_SINCE_MINOR && flags >> 10 & 1;
    run->merge_seconds = (double)rfn_reader_limited(&context->reader, INT64_MAX) * 1e-9;
    if (context->reader.failed || run->ranks == 0)
        return "it is malformed";
    const char *fault = flags >> 2 & 1 ? read_volume(context) : NULL;
    bool reduced = minor >= RFN_PROFILE_SINCE_MINOR && flags >> 4 & 1;
    if (!fault && reduced && !run->times)
        return "times that are not there are reduced";
    if (!fault && reduced)
        fault = read_reduction(context);
    bool ends = minor >= RFN_CLUSTERS_SINCE_MINOR && flags >> 5 & 1;
    if (!fault && ends)
        fault = read_path_ends(context);
    bool merging = minor >= RFN_CLUSTERS_SINCE_MINOR && flags >> 6 & 1;
    if (!fault && merging)
        fault = read_merging(context);
    bool forced = minor >= RFN_CLUSTERS_SINCE_MINOR && flags >> 7 & 1;
    if (!fault && forced)
        fault = read_forced(context);
    bool met = minor >= RFN_CLUSTERS_SINCE_MINOR && flags >> 8 & 1;
    if (!fault && met)
        fault = read_meetings(context);
    bool sent = minor >= RFN_SENT_SINCE_MINOR && flags >> 9 & 1;
    for (int i = 0; !fault && sent && i < 2 * RFN_MERGING_STEPS; i++)
        rfn_reader_varint(&context->reader);
    return !fault && context->reader.failed ? "it is malformed" : fault;
}

int rfn_dictionary_meta(struct rfn_dictionary *dictionary, const struct rfn_payload *payload,
                        uint32_t minor, bool exact, struct rfn_diag *diag)
{
    struct context context = {dictionary, rfn_reader_over(payload->data, payload->size)};
    return finish(&context, read_meta(&context, minor), exact, payload, diag);
}

void rfn_dictionary_release(struct rfn_dictionary *dictionary)
{
    rfn_arena_release(&dictionary->arena);
    rfn_map_release(&dictionary->region_numbers);
    *dictionary = (struct rfn_dictionary){.arena = RFN_ARENA_INIT};
}
