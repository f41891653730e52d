/* pack_definitions.c - the merged definitions as the payload of DEFINITIONS.
 *
 * Definitions arrive as bytes that refer to each other by hash (pack.h). Here they get the numbers
 * that the merge gave them, their texts go to one string table, and the frames of all paths to one
 * table of locations, each resolved to function, file and line once. Sections are written to
 * buffers of their own, because the string table stands first but is complete last.
 *
 * Of each function that paths lead through the calls are told that it makes beside them: there the
 * program computes between two calls of MPI. A call that a path leads through is none of these. It
 * is known by its return address, or where the compiler made several of it by the functions, the
 * file and the line.
 */
#define _POSIX_C_SOURCE 200809L
#include "archive/write/pack.h"

#include "base/grow.h"
#include "event/datatype.h"

#include <stdlib.h>
#include <string.h>

struct location {
    uint64_t module, offset;
};

/* What a location says, in numbers of strings. */
struct place {
    uint64_t module, function, file;
    uint32_t line;
};

struct module {
    int symbols;                 /* its number in the symbolizer, or negative */
    const char *file, *function; /* of a script, or NULL; offsets are lines */
};

/* A function that paths lead through, by one location of it. */
struct caller {
    uint64_t location, module, offset;
    size_t level; /* among the functions there */
    const char *function, *file;
};

struct definitions {
    const struct rfn_merge *merge;
    struct rfn_symbolizer *symbolizer;
    struct module *modules;
    size_t n_modules;                       /* so far */
    struct rfn_arena arena;                 /* their texts */
    const struct rfn_source_finder *finder; /* instead of it, or NULL */
    struct rfn_buf strings, locations, rest, cores, callers;
    uint64_t n_strings, n_locations, n_callers_told;
    struct rfn_map string_numbers;   /* hash of text -> number */
    struct rfn_map location_numbers; /* hash of (module, offset) -> see locations_of */
    struct rfn_map led_through;      /* keys of calls, see call_key */
    struct rfn_map known_callers;    /* hashes of (module, function, file) */
    struct place *places;            /* by number of location */
    struct caller *callers_found;
    size_t places_room, n_found, found_room;
};

/* Texts are identified by 64-bit hashes, as all definitions are. */
static uint64_t string_number(struct definitions *definitions, const void *text, size_t size)
{
    uint64_t hash = rfn_hash_bytes(text, size);
    const uint64_t *known = rfn_map_get(&definitions->string_numbers, hash);
    if (known)
        return *known;
    if (rfn_map_put(&definitions->string_numbers, hash, definitions->n_strings) < 0)
        definitions->strings.failed = true;
    rfn_buf_blob(&definitions->strings, text, size);
    return definitions->n_strings++;
}

static uint64_t text_number(struct definitions *definitions, const char *text)
{
    return string_number(definitions, text ? text : "", text ? strlen(text) : 0);
}

/* Takes a string out of a definition's content and puts its number out. */
static void pass_string(struct definitions *definitions, struct rfn_reader *content,
                        struct rfn_buf *out)
{
    size_t size;
    const uint8_t *text = rfn_reader_blob(content, &size);
    rfn_buf_varint(out, string_number(definitions, text ? (const char *)text : "", size));
}

static void pass_rest(struct rfn_reader *content, struct rfn_buf *out)
{
    size_t left = rfn_reader_left(content);
    rfn_buf_bytes(out, rfn_reader_bytes(content, left), left);
}

static void pass_svarints(struct rfn_reader *content, uint64_t n, struct rfn_buf *out)
{
    for (uint64_t i = 0; i < n && !content->failed; i++)
        rfn_buf_svarint(out, rfn_reader_svarint(content));
}

/* ---- one function per kind: content in, archive's form out ---- */

static void pack_module(struct definitions *definitions, struct rfn_reader *content,
                        struct rfn_buf *out)
{
    size_t path_size, id_size, name_size;
    const uint8_t *path = rfn_reader_blob(content, &path_size);
    const uint8_t *build_id = rfn_reader_blob(content, &id_size);
    struct module *module =
        &definitions->modules[definitions->n_modules++]; /* they come in order */
    *module = (struct module){.symbols = -1};
    if (content->failed)
        return;
    rfn_buf_varint(out, string_number(definitions, path, path_size));
    rfn_buf_blob(out, build_id, id_size);
    const char *file = rfn_arena_copy(&definitions->arena, path, path_size);
    const uint8_t *name = rfn_reader_left(content) ? rfn_reader_blob(content, &name_size) : NULL;
    if (name) {
        module->function = rfn_arena_copy(&definitions->arena, name, name_size);
        module->file = file ? rfn_source_file(file) : NULL;
    } else if (definitions->symbolizer && file) {
        module->symbols = rfn_symbolizer_module(definitions->symbolizer, file,
                                                id_size ? build_id : NULL, id_size);
    }
}

/* ---- locations ---- */

static int note_place(struct definitions *definitions, struct place place)
{
    RFN_TRY(RFN_GROW(definitions->places, definitions->places_room, definitions->n_locations + 1));
    definitions->places[definitions->n_locations] = place;
    return 0;
}

/* Notes the function of the location that comes next, unless it is known. */
static int note_caller(struct definitions *definitions, struct caller caller,
                       const struct place *place)
{
    const uint64_t key = rfn_hash_bytes((uint64_t[]){place->module, place->function, place->file},
                                        3 * sizeof(uint64_t));
    if (!caller.function || !caller.file || rfn_map_get(&definitions->known_callers, key))
        return 0;
    RFN_TRY(rfn_map_put(&definitions->known_callers, key, 0));
    RFN_TRY(
        RFN_GROW(definitions->callers_found, definitions->found_room, definitions->n_found + 1));
    definitions->callers_found[definitions->n_found++] = caller;
    return 0;
}

/* A function that has no name goes by another one. */
static size_t find_sources(struct rfn_symbolizer *symbolizer, int module, uint64_t address,
                           struct rfn_source sources[RFN_SOURCES_MAX])
{
    const size_t n = rfn_symbolizer_find(symbolizer, module, address, sources);
    if (!sources[0].function && !sources[0].file)
        sources[0].function = rfn_symbolizer_nearby(symbolizer, module, address);
    return n;
}

/* A frame's locations have successive numbers: one, or more where functions are inlined. Returns
 * the first and how many there are. */
static uint64_t locations_of(struct definitions *definitions, uint64_t module, uint64_t offset,
                             uint64_t *n)
{
    const struct rfn_source_finder *finder = definitions->finder;
    struct rfn_buf *out = &definitions->locations;
    const uint64_t key = rfn_hash_bytes((uint64_t[]){module, offset}, 16);
    const uint64_t *known = rfn_map_get(&definitions->location_numbers, key);
    if (known) {
        *n = *known % (RFN_SOURCES_MAX + 1);
        return *known / (RFN_SOURCES_MAX + 1);
    }
    const struct module *in = &definitions->modules[module];
    struct rfn_source sources[RFN_SOURCES_MAX] = {0};
    *n = 1;
    if (in->function)
        sources[0] = (struct rfn_source){in->function, in->file, (uint32_t)offset};
    else if (finder)
        *n = finder->find(finder->context,
                          definitions->merge->definitions[RFN_DEFINITION_MODULE].items[module].hash,
                          &offset, sources);
    else if (definitions->symbolizer && in->symbols >= 0)
        *n = find_sources(definitions->symbolizer, in->symbols, offset - 1, sources);
    const uint64_t first = definitions->n_locations;
    if (rfn_map_put(&definitions->location_numbers, key, first * (RFN_SOURCES_MAX + 1) + *n) < 0)
        out->failed = true;
    for (uint64_t i = 0; i < *n; i++, definitions->n_locations++) {
        const struct place place = {module, text_number(definitions, sources[i].function),
                                    text_number(definitions, sources[i].file), sources[i].line};
        const struct caller caller = {definitions->n_locations, module,         offset, i,
                                      sources[i].function,      sources[i].file};
        rfn_buf_varint(out, module);
        rfn_buf_varint(out, offset);
        rfn_buf_varint(out, place.function);
        rfn_buf_varint(out, place.file);
        rfn_buf_varint(out, place.line);
        if (note_place(definitions, place) < 0 || note_caller(definitions, caller, &place) < 0)
            out->failed = true;
        if (out->failed)
            return first;
    }
    return first;
}

/* A call from a place to the function with the name of this number. */
static uint64_t call_key(const struct place *from, uint64_t function)
{
    const uint64_t parts[] = {from->module, from->function, from->file, from->line, function};
    return rfn_hash_bytes(parts, sizeof parts);
}

/* A path leads from the place of one location to the function of another. */
static void lead_through(struct definitions *definitions, uint64_t outer, uint64_t inner)
{
    const struct place *places = definitions->places;
    const uint64_t key = call_key(&places[outer], places[inner].function);
    if (!rfn_map_get(&definitions->led_through, key) &&
        rfn_map_put(&definitions->led_through, key, 0) < 0)
        definitions->locations.failed = true;
}

static void pack_path(struct definitions *definitions, struct rfn_reader *content,
                      struct rfn_buf *out)
{
    struct rfn_buf frames = RFN_BUF_INIT;
    uint64_t n = rfn_reader_varint(content), n_frames = 0, inner = 0;
    for (uint64_t i = 0; i < n && !content->failed; i++) {
        int64_t module = rfn_merge_number(definitions->merge, RFN_DEFINITION_MODULE,
                                          rfn_reader_u64(content));
        uint64_t offset = rfn_reader_varint(content), n_here = 0;
        content->failed |= module < 0;
        if (content->failed)
            break;
        uint64_t first = locations_of(definitions, (uint64_t)module, offset, &n_here);
        for (uint64_t j = 0; j < n_here && !definitions->locations.failed; j++) {
            rfn_buf_varint(&frames, first + j);
            if (n_frames + j > 0)
                lead_through(definitions, first + j, inner);
            inner = first + j;
        }
        n_frames += n_here;
    }
    rfn_buf_varint(out, n_frames);
    rfn_buf_bytes(out, frames.data, frames.size);
    out->failed |= frames.failed;
    rfn_buf_release(&frames);
}

static void pack_function(struct definitions *definitions, struct rfn_reader *content,
                          struct rfn_buf *out)
{
    pass_string(definitions, content, out);
    const uint8_t *head = rfn_reader_bytes(content, 4); /* class, flags, n_in, n_out */
    if (!head)
        return;
    rfn_buf_bytes(out, head, 4);
    for (int i = 0; i < head[2] + head[3] && !content->failed; i++) {
        pass_string(definitions, content, out);
        rfn_buf_bytes(out, rfn_reader_bytes(content, 2), 2);
    }
}

static void pack_datatype(struct definitions *definitions, struct rfn_reader *content,
                          struct rfn_buf *out)
{
    uint64_t combiner = rfn_reader_varint(content);
    rfn_buf_varint(out, combiner);
    if (combiner == RFN_COMBINER_NAMED)
        pass_string(definitions, content, out);
    else
        rfn_buf_varint(out, text_number(definitions, ""));
    pass_svarints(content, 5, out);
    for (int section = 0; section < 2; section++) { /* integers, addresses */
        uint64_t n = rfn_reader_varint(content);
        rfn_buf_varint(out, n);
        pass_svarints(content, n, out);
    }
    uint64_t n = rfn_reader_varint(content);
    rfn_buf_varint(out, n);
    for (uint64_t i = 0; i < n && !content->failed; i++) {
        int64_t child = rfn_merge_number(definitions->merge, RFN_DEFINITION_DATATYPE,
                                         rfn_reader_u64(content));
        content->failed |= child < 0;
        rfn_buf_varint(out, (uint64_t)child);
    }
}

static void pack_comm(struct definitions *definitions, struct rfn_reader *content,
                      struct rfn_buf *out)
{
    (void)definitions;
    pass_rest(content, out);
}

static void pack_host(struct definitions *definitions, struct rfn_reader *content,
                      struct rfn_buf *out)
{
    pass_string(definitions, content, out);
    rfn_buf_varint(&definitions->cores, rfn_reader_varint(content));
}

static void pack_region(struct definitions *definitions, struct rfn_reader *content,
                        struct rfn_buf *out)
{
    rfn_buf_u64(out, rfn_reader_u64(content));
    pass_string(definitions, content, out);
}

static void (*const packers[RFN_DEFINITION_KINDS])(struct definitions *, struct rfn_reader *,
                                                   struct rfn_buf *) = {
    [RFN_DEFINITION_MODULE] = pack_module,     [RFN_DEFINITION_PATH] = pack_path,
    [RFN_DEFINITION_FUNCTION] = pack_function, [RFN_DEFINITION_DATATYPE] = pack_datatype,
    [RFN_DEFINITION_COMM] = pack_comm,         [RFN_DEFINITION_HOST] = pack_host,
    [RFN_DEFINITION_REGION] = pack_region,
};

static int pack_kind(struct definitions *definitions, enum rfn_definition_kind kind,
                     struct rfn_buf *out)
{
    const struct rfn_definitions *of = &definitions->merge->definitions[kind];
    rfn_buf_varint(out, of->n);
    for (size_t i = 0; i < of->n; i++) {
        struct rfn_reader content = rfn_reader_over(of->items[i].bytes, of->items[i].size);
        packers[kind](definitions, &content, out);
        if (content.failed || rfn_reader_left(&content))
            return RFN_E_CORRUPT;
    }
    return 0;
}

/* ---- calls of functions that paths lead through ---- */

/* All of them take at most so many bytes, and a look at so many entries of debug information, some
 * 0.1 s, as all ranks wait; what comes after is left out. */
enum { CALLERS_BYTES_MAX = 1 << 16, CALLERS_ENTRIES_MAX = 1 << 18 };

static bool is_led_through(const struct definitions *definitions, const struct caller *caller,
                           const struct rfn_source_call *call, uint64_t function)
{
    struct place from = definitions->places[caller->location];
    from.line = call->line;
    return rfn_map_get(&definitions->led_through, call_key(&from, function)) ||
           (!call->inlined &&
            rfn_map_get(&definitions->location_numbers,
                        rfn_hash_bytes((uint64_t[]){caller->module, call->offset}, 16)));
}

static void pack_calls(struct definitions *definitions, const struct caller *caller,
                       const struct rfn_source_calls *calls)
{
    struct rfn_buf *out = &definitions->callers, told = RFN_BUF_INIT;
    uint64_t n = 0;
    uint32_t line = 0;
    for (size_t i = 0; i < calls->n; i++) {
        const struct rfn_source_call *call = &calls->calls[i];
        const uint64_t function = text_number(definitions, call->function);
        if (is_led_through(definitions, caller, call, function))
            continue;
        rfn_buf_varint(&told, function);
        rfn_buf_svarint(&told, (int64_t)(call->offset - caller->offset));
        rfn_buf_varint(&told, 2 * (uint64_t)(call->line - line) + call->library);
        line = call->line;
        n++;
    }
    if (n > 0) {
        rfn_buf_varint(out, caller->location);
        rfn_buf_varint(out, n);
        rfn_buf_bytes(out, told.data, told.size);
        rfn_buf_varint(out, calls->n_loops);
        definitions->n_callers_told++;
    }
    for (size_t i = 0; i < calls->n_loops && n > 0; i++) {
        rfn_buf_varint(out, calls->loops[i].first);
        rfn_buf_varint(out, calls->loops[i].last - calls->loops[i].first);
    }
    out->failed |= told.failed;
    rfn_buf_release(&told);
}

static int find_calls(const struct definitions *definitions, const struct caller *caller,
                      unsigned *budget, struct rfn_source_calls *calls)
{
    const struct rfn_source_finder *finder = definitions->finder;
    const struct rfn_definitions *modules = &definitions->merge->definitions[RFN_DEFINITION_MODULE];
    calls->n = calls->n_loops = 0;
    if (!finder)
        return rfn_symbolizer_calls(definitions->symbolizer,
                                    definitions->modules[caller->module].symbols,
                                    caller->offset - 1, caller->level, caller->file, budget, calls);
    if (finder->calls)
        finder->calls(finder->context, modules->items[caller->module].hash, caller->function,
                      caller->file, calls);
    return 0;
}

static int pack_callers(struct definitions *definitions)
{
    struct rfn_source_calls calls;
    unsigned budget = CALLERS_ENTRIES_MAX;
    for (size_t i = 0; i < definitions->n_found; i++) {
        if (definitions->callers.size > CALLERS_BYTES_MAX)
            break;
        RFN_TRY(find_calls(definitions, &definitions->callers_found[i], &budget, &calls));
        pack_calls(definitions, &definitions->callers_found[i], &calls);
    }
    return 0;
}

/* ---- the whole ---- */

static int pack_sections(struct definitions *definitions, struct rfn_buf *out)
{
    struct rfn_buf modules = RFN_BUF_INIT;
    text_number(definitions, ""); /* string 0 */
    int error = pack_kind(definitions, RFN_DEFINITION_MODULE, &modules);
    for (enum rfn_definition_kind kind = RFN_DEFINITION_PATH; kind < RFN_DEFINITION_KINDS; kind++)
        error = error ? error : pack_kind(definitions, kind, &definitions->rest);
    error = error ? error : pack_callers(definitions);
    rfn_buf_varint(out, definitions->n_strings);
    rfn_buf_bytes(out, definitions->strings.data, definitions->strings.size);
    rfn_buf_bytes(out, modules.data, modules.size);
    rfn_buf_varint(out, definitions->n_locations);
    rfn_buf_bytes(out, definitions->locations.data, definitions->locations.size);
    rfn_buf_bytes(out, definitions->rest.data, definitions->rest.size);
    rfn_buf_bytes(out, definitions->cores.data, definitions->cores.size);
    rfn_buf_varint(out, definitions->n_callers_told);
    rfn_buf_bytes(out, definitions->callers.data, definitions->callers.size);
    out->failed |= definitions->strings.failed || modules.failed || definitions->locations.failed ||
                   definitions->rest.failed || definitions->cores.failed ||
                   definitions->callers.failed;
    rfn_buf_release(&modules);
    return error ? error : rfn_buf_status(out);
}

static int pack_definitions(struct definitions *definitions, struct rfn_buf *out)
{
    size_t n_modules = definitions->merge->definitions[RFN_DEFINITION_MODULE].n;
    definitions->modules = calloc(n_modules + 1, sizeof *definitions->modules);
    int error = definitions->modules ? pack_sections(definitions, out) : RFN_E_NOMEM;
    free(definitions->modules);
    rfn_arena_release(&definitions->arena);
    rfn_buf_release(&definitions->strings);
    rfn_buf_release(&definitions->locations);
    rfn_buf_release(&definitions->rest);
    rfn_buf_release(&definitions->cores);
    rfn_buf_release(&definitions->callers);
    rfn_map_release(&definitions->string_numbers);
    rfn_map_release(&definitions->location_numbers);
    rfn_map_release(&definitions->led_through);
    rfn_map_release(&definitions->known_callers);
    free(definitions->places);
    free(definitions->callers_found);
    return error;
}

int rfn_pack_definitions(const struct rfn_merge *merge, struct rfn_symbolizer *symbolizer,
                         struct rfn_buf *out)
{
    return pack_definitions(&(struct definitions){.merge = merge, .symbolizer = symbolizer}, out);
}

int rfn_pack_known_definitions(const struct rfn_merge *merge,
                               const struct rfn_source_finder *finder, struct rfn_buf *out)
{
    return pack_definitions(&(struct definitions){.merge = merge, .finder = finder}, out);
}

void rfn_pack_function(const struct rfn_function_info *function, struct rfn_buf *out)
{
    rfn_buf_string(out, function->name);
    rfn_buf_u8(out, function->class_);
    rfn_buf_u8(out, function->flags);
    rfn_buf_u8(out, function->n_in);
    rfn_buf_u8(out, function->n_out);
    for (int i = 0; i < function->n_in + function->n_out; i++) {
        rfn_buf_string(out, function->params[i].name);
        rfn_buf_u8(out, function->params[i].kind);
        rfn_buf_u8(out, function->params[i].flags);
    }
}
