/* The tables are read in the order of refrain-archive(5), DEFINITIONS. Hosts are contributed last:
 * how many cores they have stands at the end.
 *
 * The frame of a path that the recorder saw is one return address, and in the archive a stretch of
 * locations with that address: one for each function that was inlined there. They follow each other
 * in the table of locations, and the frame has all of them. */
#include "archive/merge/unpack_definitions.h"

#include "event/datatype.h"

#include <stdlib.h>
#include <string.h>

struct text {
    const uint8_t *bytes; /* in the payload */
    size_t size;
};

struct location {
    uint64_t module, offset; /* module: hash */
    uint32_t module_number;
    const char *function, *file; /* NULL: not known */
    uint32_t line;
};

/* Of a function. */
struct calls {
    const struct rfn_source_call *calls;
    const struct rfn_source_loop *loops;
    size_t n, n_loops;
};

/* Of an address: its locations. */
struct sources {
    size_t n;
    struct rfn_source sources[];
};

struct unpacking {
    struct rfn_reader reader;
    struct rfn_merge *merge;
    struct rfn_known_sources *known;
    struct rfn_unpacked *to;
    struct text *texts;
    struct location *locations;
    size_t n_texts, n_locations;
    struct text *hosts;
    bool cores;             /* of hosts are told */
    struct rfn_buf content; /* of the definition that is being made */
};

/* ---- results ---- */

void rfn_unpacked_release(struct rfn_unpacked *unpacked)
{
    for (int k = 0; k < RFN_DEFINITION_KINDS; k++)
        free(unpacked->kinds[k].hashes);
    *unpacked = (struct rfn_unpacked){0};
}

bool rfn_unpacked_hash(const struct rfn_unpacked *unpacked, enum rfn_definition_kind kind,
                       uint64_t *number)
{
    const struct rfn_unpacked_kind *of = &unpacked->kinds[kind];
    if (*number >= of->n)
        return false;
    *number = of->hashes[*number];
    return true;
}

void rfn_known_sources_release(struct rfn_known_sources *known)
{
    rfn_map_release(&known->by_address);
    rfn_map_release(&known->by_function);
    rfn_arena_release(&known->arena);
}

static uint64_t address_key(uint64_t module, uint64_t offset)
{
    return rfn_hash_bytes((uint64_t[]){module, offset}, 2 * sizeof(uint64_t));
}

size_t rfn_known_sources_find(void *context, uint64_t module, uint64_t *offset,
                              struct rfn_source sources[RFN_SOURCES_MAX])
{
    const struct rfn_known_sources *known = context;
    const struct sources *found = rfn_map_object(&known->by_address, address_key(module, *offset));
    if (!found)
        return 1;
    memcpy(sources, found->sources, found->n * sizeof *sources);
    return found->n;
}

static uint64_t function_key(uint64_t module, const char *function, const char *file)
{
    const uint64_t parts[] = {module, rfn_hash_bytes(function, strlen(function)),
                              rfn_hash_bytes(file, strlen(file))};
    return rfn_hash_bytes(parts, sizeof parts);
}

void rfn_known_sources_calls(void *context, uint64_t module, const char *function, const char *file,
                             struct rfn_source_calls *calls)
{
    const struct rfn_known_sources *known = context;
    const struct calls *found = rfn_map_object(&known->by_function,
                                               function_key(module, function, file));
    if (!found)
        return;
    calls->n = found->n;
    calls->n_loops = found->n_loops;
    memcpy(calls->calls, found->calls, found->n * sizeof *found->calls);
    memcpy(calls->loops, found->loops, found->n_loops * sizeof *found->loops);
}

/* ---- reading ---- */

/* How many entries a table has; each takes a byte at least. */
static size_t read_count(struct unpacking *unpacking)
{
    return (size_t)rfn_reader_limited(&unpacking->reader, rfn_reader_left(&unpacking->reader));
}

static struct text read_text(struct unpacking *unpacking)
{
    uint64_t number = rfn_reader_limited(&unpacking->reader, UINT32_MAX);
    if (unpacking->reader.failed || number >= unpacking->n_texts) {
        unpacking->reader.failed = true;
        return (struct text){.bytes = unpacking->reader.data};
    }
    return unpacking->texts[number];
}

static void put_text(struct unpacking *unpacking, struct text text)
{
    rfn_buf_blob(&unpacking->content, text.bytes, text.size);
}

static void pass_bytes(struct unpacking *unpacking, size_t n)
{
    const uint8_t *bytes = rfn_reader_bytes(&unpacking->reader, n);
    if (bytes)
        rfn_buf_bytes(&unpacking->content, bytes, n);
}

static void pass_svarints(struct unpacking *unpacking, uint64_t n)
{
    for (uint64_t i = 0; i < n && !unpacking->reader.failed; i++)
        rfn_buf_svarint(&unpacking->content, rfn_reader_svarint(&unpacking->reader));
}

/* ---- definitions ---- */

/* Contributes the content that has been made, as the next one of the kind. hash 0: that of the
 * content. */
static int define(struct unpacking *unpacking, enum rfn_definition_kind kind, uint64_t hash)
{
    struct rfn_buf *content = &unpacking->content;
    struct rfn_unpacked_kind *of = &unpacking->to->kinds[kind];
    RFN_TRY(rfn_buf_status(content));
    if (unpacking->reader.failed)
        return RFN_E_CORRUPT;
    if (!hash)
        hash = rfn_hash_bytes(content->data, content->size);
    const struct rfn_definition *there = rfn_merge_definition(unpacking->merge, kind, hash);
    if (there && kind != RFN_DEFINITION_MODULE && /* modules may lie elsewhere on another host */
        (there->size != content->size || memcmp(there->bytes, content->data, content->size) != 0))
        return RFN_E_EXCHANGE; /* something else is under this hash */
    RFN_TRY(rfn_merge_define(unpacking->merge, kind, hash, content->data, content->size, NULL));
    of->hashes[of->n++] = hash;
    content->size = 0;
    return 0;
}

static int unpack_module(struct unpacking *unpacking)
{
    size_t size;
    put_text(unpacking, read_text(unpacking));
    const uint8_t *build_id = rfn_reader_blob(&unpacking->reader, &size);
    if (!build_id)
        return RFN_E_CORRUPT;
    rfn_buf_blob(&unpacking->content, build_id, size);
    return define(unpacking, RFN_DEFINITION_MODULE, size ? rfn_hash_bytes(build_id, size) : 0);
}

/* How many locations from this one on have its address. */
static size_t stretch(const struct unpacking *unpacking, size_t first)
{
    const struct location *locations = unpacking->locations;
    size_t end = first + 1;
    while (end < unpacking->n_locations &&
           locations[end].module_number == locations[first].module_number &&
           locations[end].offset == locations[first].offset)
        end++;
    return end - first;
}

/* Passes over the locations that belong to the frame of the first. */
static size_t read_frame(struct unpacking *unpacking, uint64_t left)
{
    uint64_t first = rfn_reader_varint(&unpacking->reader);
    bool there = !unpacking->reader.failed && first < unpacking->n_locations;
    size_t n = there ? stretch(unpacking, (size_t)first) : 0;
    if (n > left || n > RFN_SOURCES_MAX)
        n = 0;
    for (size_t i = 1; i < n; i++)
        n = rfn_reader_varint(&unpacking->reader) == first + i ? n : 0;
    if (n == 0) {
        unpacking->reader.failed = true;
        return 0;
    }
    rfn_buf_u64(&unpacking->content, unpacking->locations[first].module);
    rfn_buf_varint(&unpacking->content, unpacking->locations[first].offset);
    return n;
}

static int unpack_path(struct unpacking *unpacking)
{
    struct rfn_buf frames = RFN_BUF_INIT;
    uint64_t left = read_count(unpacking), n = 0;
    struct rfn_buf *content = &unpacking->content;
    for (; left > 0 && !unpacking->reader.failed; n++)
        left -= read_frame(unpacking, left);
    rfn_buf_varint(&frames, n);
    rfn_buf_bytes(&frames, content->data, content->size);
    frames.failed |= content->failed;
    rfn_buf_release(content);
    *content = frames;
    return define(unpacking, RFN_DEFINITION_PATH, 0);
}

static int unpack_function(struct unpacking *unpacking)
{
    put_text(unpacking, read_text(unpacking));
    size_t at = unpacking->content.size;
    pass_bytes(unpacking, 4); /* class, flags, n_in, n_out */
    if (unpacking->reader.failed || unpacking->content.failed)
        return unpacking->content.failed ? RFN_E_NOMEM : RFN_E_CORRUPT;
    int n = unpacking->content.data[at + 2] + unpacking->content.data[at + 3];
    for (int i = 0; i < n; i++) {
        put_text(unpacking, read_text(unpacking));
        pass_bytes(unpacking, 2);
    }
    return define(unpacking, RFN_DEFINITION_FUNCTION, 0);
}

static int unpack_datatype(struct unpacking *unpacking)
{
    uint64_t combiner = rfn_reader_varint(&unpacking->reader);
    struct text name = read_text(unpacking);
    rfn_buf_varint(&unpacking->content, combiner);
    if (combiner == RFN_COMBINER_NAMED)
        put_text(unpacking, name);
    pass_svarints(unpacking, 5);
    for (int section = 0; section < 2; section++) { /* integers, addresses */
        size_t n = read_count(unpacking);
        rfn_buf_varint(&unpacking->content, n);
        pass_svarints(unpacking, n);
    }
    size_t n = read_count(unpacking);
    rfn_buf_varint(&unpacking->content, n);
    for (size_t i = 0; i < n && !unpacking->reader.failed; i++) {
        uint64_t child = rfn_reader_varint(&unpacking->reader); /* of a lower number */
        if (!rfn_unpacked_hash(unpacking->to, RFN_DEFINITION_DATATYPE, &child))
            unpacking->reader.failed = true;
        rfn_buf_u64(&unpacking->content, child);
    }
    return define(unpacking, RFN_DEFINITION_DATATYPE, 0);
}

static void pass_ranks(struct unpacking *unpacking)
{
    struct rfn_reader *reader = &unpacking->reader;
    rfn_buf_varint(&unpacking->content, rfn_reader_varint(reader));
    size_t n = read_count(unpacking);
    rfn_buf_varint(&unpacking->content, n);
    for (size_t i = 0; i < n && !reader->failed; i++) {
        rfn_buf_varint(&unpacking->content, rfn_reader_varint(reader)); /* start */
        rfn_buf_varint(&unpacking->content, rfn_reader_varint(reader)); /* count */
        pass_svarints(unpacking, 1);                                    /* stride */
    }
}

static int unpack_comm(struct unpacking *unpacking)
{
    uint8_t kind = rfn_reader_u8(&unpacking->reader);
    uint64_t identity = rfn_reader_u64(&unpacking->reader);
    rfn_buf_u8(&unpacking->content, kind);
    rfn_buf_u64(&unpacking->content, identity);
    for (int i = RFN_COMM_SELF; i < kind && i < RFN_COMM_INTER; i++)
        pass_ranks(unpacking);
    return define(unpacking, RFN_DEFINITION_COMM, identity);
}

static int unpack_region(struct unpacking *unpacking)
{
    uint64_t hash = rfn_reader_u64(&unpacking->reader);
    rfn_buf_u64(&unpacking->content, hash);
    put_text(unpacking, read_text(unpacking));
    return define(unpacking, RFN_DEFINITION_REGION, hash);
}

/* ---- locations ---- */

static const char *copy_text(struct unpacking *unpacking, struct text text)
{
    return text.size ? rfn_arena_copy(&unpacking->known->arena, text.bytes, text.size) : "";
}

static const char *known_or_null(const char *text)
{
    return *text ? text : NULL;
}

/* Notes those from `first` on as sources of their address. */
static int note_sources(struct unpacking *unpacking, size_t first, size_t n)
{
    const struct location *location = &unpacking->locations[first];
    struct rfn_map *map = &unpacking->known->by_address;
    uint64_t key = address_key(location->module, location->offset);
    const struct sources *before = rfn_map_object(map, key);
    if (n > RFN_SOURCES_MAX)
        return RFN_E_CORRUPT;
    if (before && (before->sources[0].function || !*location->function))
        return 0;
    struct sources *sources = rfn_arena_alloc(&unpacking->known->arena,
                                              sizeof *sources + n * sizeof *sources->sources);
    if (!sources)
        return RFN_E_NOMEM;
    sources->n = n;
    for (size_t i = 0; i < n; i++)
        sources->sources[i] = (struct rfn_source){
            known_or_null(location[i].function), known_or_null(location[i].file), location[i].line};
    return rfn_map_put_object(map, key, sources);
}

static int read_locations(struct unpacking *unpacking)
{
    struct rfn_reader *reader = &unpacking->reader;
    unpacking->n_locations = read_count(unpacking);
    unpacking->locations = calloc(unpacking->n_locations + 1, sizeof *unpacking->locations);
    if (!unpacking->locations)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < unpacking->n_locations; i++) {
        struct location *location = &unpacking->locations[i];
        uint64_t module = rfn_reader_varint(reader);
        location->module_number = (uint32_t)module;
        if (!rfn_unpacked_hash(unpacking->to, RFN_DEFINITION_MODULE, &module))
            reader->failed = true;
        location->module = module;
        location->offset = rfn_reader_varint(reader);
        location->function = copy_text(unpacking, read_text(unpacking));
        location->file = copy_text(unpacking, read_text(unpacking));
        location->line = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
        if (reader->failed)
            return RFN_E_CORRUPT;
        if (!location->function || !location->file)
            return RFN_E_NOMEM;
    }
    for (size_t i = 0, n; i < unpacking->n_locations; i += n) {
        n = stretch(unpacking, i);
        RFN_TRY(note_sources(unpacking, i, n));
    }
    return 0;
}

/* ---- what functions call ---- */

/* Of more than there can be the last are left out. Which calls are inlined is not told: that paths
 * lead through them is then known by their names alone. */
static int read_calls(struct unpacking *unpacking, uint64_t offset, struct rfn_source_calls *calls)
{
    struct rfn_reader *reader = &unpacking->reader;
    uint32_t line = 0;
    for (size_t i = 0, n = read_count(unpacking); i < n && !reader->failed; i++) {
        const char *name = copy_text(unpacking, read_text(unpacking));
        if (!name)
            return RFN_E_NOMEM;
        const uint64_t at = offset + (uint64_t)rfn_reader_svarint(reader);
        const uint64_t further = rfn_reader_limited(reader, 2 * (uint64_t)(UINT32_MAX - line) + 1);
        line += (uint32_t)(further / 2);
        if (calls->n < RFN_SOURCE_CALLS_MAX)
            calls->calls[calls->n++] = (struct rfn_source_call){known_or_null(name), at, line, true,
                                                                further % 2};
    }
    for (size_t i = 0, n = read_count(unpacking); i < n && !reader->failed; i++) {
        struct rfn_source_loop loop;
        loop.first = (uint32_t)rfn_reader_limited(reader, UINT32_MAX);
        loop.last = loop.first + (uint32_t)rfn_reader_limited(reader, UINT32_MAX - loop.first);
        if (calls->n_loops < RFN_SOURCE_LOOPS_MAX)
            calls->loops[calls->n_loops++] = loop;
    }
    return reader->failed ? RFN_E_CORRUPT : 0;
}

static int read_caller(struct unpacking *unpacking)
{
    uint64_t number = rfn_reader_varint(&unpacking->reader);
    if (unpacking->reader.failed || number >= unpacking->n_locations)
        return RFN_E_CORRUPT;
    const struct location *location = &unpacking->locations[number];
    const uint64_t key = function_key(location->module, location->function, location->file);
    struct rfn_arena *arena = &unpacking->known->arena;
    struct rfn_source_calls read = {.n = 0};
    RFN_TRY(read_calls(unpacking, location->offset, &read));
    if (rfn_map_object(&unpacking->known->by_function, key))
        return 0;
    const struct calls calls = {
        rfn_arena_copy(arena, read.calls, read.n * sizeof *read.calls),
        rfn_arena_copy(arena, read.loops, read.n_loops * sizeof *read.loops), read.n, read.n_loops};
    void *object = rfn_arena_copy(arena, &calls, sizeof calls);
    if (!calls.calls || !calls.loops || !object)
        return RFN_E_NOMEM;
    return rfn_map_put_object(&unpacking->known->by_function, key, object);
}

static int read_callers(struct unpacking *unpacking)
{
    for (size_t i = 0, n = read_count(unpacking); i < n; i++)
        RFN_TRY(read_caller(unpacking));
    return 0;
}

/* ---- the whole ---- */

/* A table of texts. */
static int read_texts(struct unpacking *unpacking, bool numbers, struct text **texts, size_t *n)
{
    *n = read_count(unpacking);
    *texts = calloc(*n + 1, sizeof **texts);
    if (!*texts)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < *n; i++) {
        struct text *text = &(*texts)[i];
        if (numbers)
            *text = read_text(unpacking);
        else
            text->bytes = rfn_reader_blob(&unpacking->reader, &text->size);
    }
    return 0;
}

/* How many a table has it says itself, but for hosts. */
#define AS_SAID SIZE_MAX

static int unpack_kind(struct unpacking *unpacking, enum rfn_definition_kind kind, size_t n,
                       int (*unpack)(struct unpacking *))
{
    struct rfn_unpacked_kind *of = &unpacking->to->kinds[kind];
    if (n == AS_SAID)
        n = read_count(unpacking);
    if (unpacking->reader.failed)
        return RFN_E_CORRUPT;
    of->hashes = calloc(n + 1, sizeof *of->hashes);
    if (!of->hashes)
        return RFN_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        RFN_TRY(unpack(unpacking));
    return 0;
}

/* Files of long ago do not say how many cores there are. */
static int unpack_host(struct unpacking *unpacking)
{
    size_t number = unpacking->to->kinds[RFN_DEFINITION_HOST].n;
    put_text(unpacking, unpacking->hosts[number]);
    rfn_buf_varint(&unpacking->content,
                   unpacking->cores ? rfn_reader_varint(&unpacking->reader) : 0);
    return define(unpacking, RFN_DEFINITION_HOST, 0);
}

static int unpack_all(struct unpacking *unpacking)
{
    size_t n_hosts = 0;
    RFN_TRY(read_texts(unpacking, false, &unpacking->texts, &unpacking->n_texts));
    RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_MODULE, AS_SAID, unpack_module));
    RFN_TRY(read_locations(unpacking));
    RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_PATH, AS_SAID, unpack_path));
    RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_FUNCTION, AS_SAID, unpack_function));
    RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_DATATYPE, AS_SAID, unpack_datatype));
    RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_COMM, AS_SAID, unpack_comm));
    RFN_TRY(read_texts(unpacking, true, &unpacking->hosts, &n_hosts));
    if (rfn_reader_left(&unpacking->reader)) /* none in minor version 0 */
        RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_REGION, AS_SAID, unpack_region));
    unpacking->cores = rfn_reader_left(&unpacking->reader) > 0;
    RFN_TRY(unpack_kind(unpacking, RFN_DEFINITION_HOST, n_hosts, unpack_host));
    if (rfn_reader_left(&unpacking->reader)) /* none before minor version 10 */
        RFN_TRY(read_callers(unpacking));
    return unpacking->reader.failed ? RFN_E_CORRUPT : 0;
}

int rfn_unpack_definitions(const uint8_t *payload, size_t size, struct rfn_merge *merge,
                           struct rfn_known_sources *known, struct rfn_unpacked *unpacked)
{
    struct unpacking unpacking = {
        .reader = rfn_reader_over(payload, size), .merge = merge, .known = known, .to = unpacked};
    *unpacked = (struct rfn_unpacked){0};
    int error = unpack_all(&unpacking);
    free(unpacking.texts);
    free(unpacking.locations);
    free(unpacking.hosts);
    rfn_buf_release(&unpacking.content);
    return error;
}
