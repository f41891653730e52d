/* Streams are folded as those of a recorded process are, and in the end merged as if all were of
 * one process (record/finish/finish.c), with numbers in place of hashes: definitions have their
 * final ones at once. A stream numbers what it refers to itself, in order of first use. So streams
 * that do alike have equal structures, whatever communicators they do it on. */
#include "archive/write/writer_like.h"

#include "archive/read/dictionary.h"
#include "archive/write/rewrite_facts.h"
#include "base/grow.h"
#include "event/datatype.h"
#include "reduce/clusters/path_signature.h"

#include <assert.h>
#include <stdlib.h>

enum { MEMORY = 1 << 28 }; /* for all streams; what is beyond goes to the temporary file */

/* Own numbers of things, in order of first use. */
struct numbers {
    struct rfn_map of; /* thing -> own number */
    uint64_t *things;
    size_t n, capacity;
};

struct stream {
    struct rfn_writer *writer;
    uint32_t rank, thread, host;
    bool volume;
    struct rfn_stream *events;
    struct numbers sites, types, comms;      /* of sites: function << 32 | path */
    uint64_t end_ns, counted, region_events; /* so far */
    bool polls;                              /* the last event */
    uint64_t signature;
    struct rfn_pack_refs refs; /* site_functions: to be freed, the other tables are in it */
    struct rfn_rope values;    /* VALUES */
};

struct rfn_writer {
    const char *path;
    bool force;
    struct rfn_run run; /* its texts are not there any more */
    struct rfn_function_info functions[RFN_WRITER_FUNCTIONS_MAX];
    uint64_t names[RFN_WRITER_FUNCTIONS_MAX]; /* hashes; functions may have the same */
    struct rfn_merge merge;
    struct numbers places; /* hashes of locations */
    struct rfn_location *locations;
    size_t locations_capacity;
    struct rfn_communicator *comms;
    size_t comms_capacity;
    struct stream **streams;
    size_t n_streams, streams_capacity;
    struct rfn_map threads; /* rank << 32 | thread -> number of its stream */
    int64_t *words;         /* of a list */
    size_t words_capacity;
    struct rfn_memory memory;
    const struct rfn_archive *like; /* whose definitions it has, or NULL */
    struct rfn_rewrite rewrite;
    struct rfn_diag *diag;
};

static int failed(const struct rfn_writer *writer, int64_t error)
{
    return rfn_rewrite_failed((int)error, writer->diag);
}

static const char *copy(struct rfn_writer *writer, const char *text)
{
    return rfn_arena_copy(&writer->merge.arena, text, strlen(text));
}

int rfn_writer_new(const char *path, bool force, const struct rfn_run *run,
                   struct rfn_writer **writer, struct rfn_diag *diag)
{
    if (run->start_realtime_ns < 0)
        return rfn_fail(diag, RFN_E_RANGE, -1, -1, "the run starts before 1970");
    struct rfn_writer *new = calloc(1, sizeof *new);
    if (!new)
        return rfn_rewrite_failed(RFN_E_NOMEM, diag);
    *new = (struct rfn_writer){
        .force = force, .run = *run, .memory = {.limit = MEMORY}, .diag = diag};
    new->run.reduced = false;
    rfn_merge_init(&new->merge);
    new->path = copy(new, path);
    int error = rfn_rewrite_init(&new->rewrite, NULL);
    if (!error)
        error = new->path ? rfn_rewrite_check(&new->rewrite, path, force, diag) : RFN_E_NOMEM;
    if (!error)
        error = rfn_rewrite_add_meta(&new->rewrite, &new->run);
    if (error < 0)
        rfn_writer_cancel(new);
    else
        *writer = new;
    return rfn_rewrite_failed(error, diag);
}

static int64_t own_number(struct numbers *numbers, uint64_t thing)
{
    const uint64_t *known = rfn_map_get(&numbers->of, thing);
    if (known)
        return (int64_t)*known;
    RFN_TRY(RFN_GROW(numbers->things, numbers->capacity, numbers->n + 1));
    RFN_TRY(rfn_map_put(&numbers->of, thing, numbers->n));
    numbers->things[numbers->n] = thing;
    return (int64_t)numbers->n++;
}

/* ---- definitions ---- */

/* The number of the definition of this content, which is released. hash 0: that of the content. */
static int64_t define(struct rfn_writer *writer, enum rfn_definition_kind kind, uint64_t hash,
                      struct rfn_buf *content)
{
    int error = rfn_buf_status(content);
    if (!error)
        error = rfn_merge_define(&writer->merge, kind, hash, content->data, content->size, &hash);
    rfn_buf_release(content);
    RFN_TRY(failed(writer, error));
    return (int64_t)*rfn_map_get(&writer->merge.definitions[kind].by_hash, hash);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

int64_t rfn_writer_function(struct rfn_writer *writer, const struct rfn_function_info *function)
{
    const size_t n = (size_t)function->n_in + function->n_out;
    struct rfn_param_info params[2 * RFN_PARAMS_MAX];
    struct rfn_buf content = RFN_BUF_INIT;
    if (function->n_in > RFN_PARAMS_MAX || function->n_out > RFN_PARAMS_MAX ||
        writer->merge.definitions[RFN_DEFINITION_FUNCTION].n == RFN_WRITER_FUNCTIONS_MAX)
        return rfn_fail(writer->diag, RFN_E_RANGE, -1, -1,
                        "%s has too many parameters, or there "
                        "are too many functions",
                        text_of(function->name));
    for (size_t i = 0; i < n; i++)
        params[i] = (struct rfn_param_info){text_of(function->params[i].name),
                                            function->params[i].kind, function->params[i].flags};
    struct rfn_function_info as = {text_of(function->name), function->class_, function->flags,
                                   function->n_in,          function->n_out,  params};
    const uint64_t name = rfn_hash_bytes(as.name, strlen(as.name));
    rfn_pack_function(&as, &content);
    int64_t number = define(writer, RFN_DEFINITION_FUNCTION, 0, &content);
    /* Streams do not look at names. */
    as.name = "";
    as.params = rfn_arena_copy(&writer->merge.arena, params, n * sizeof *params);
    if (!as.params)
        return failed(writer, RFN_E_NOMEM);
    if (number >= 0) {
        writer->functions[number] = as;
        writer->names[number] = name;
    }
    return number;
}

/* Its number in the writer's table, in which equal ones are one. */
static int64_t locate(struct rfn_writer *writer, const struct rfn_location *at)
{
    const char *const texts[] = {text_of(at->function), text_of(at->file), text_of(at->module)};
    uint64_t key[5] = {at->line, at->offset};
    for (int i = 0; i < 3; i++)
        key[2 + i] = rfn_hash_bytes(texts[i], strlen(texts[i]));
    const size_t before = writer->places.n;
    RFN_TRY(RFN_GROW(writer->locations, writer->locations_capacity, before + 1));
    const int64_t number = own_number(&writer->places, rfn_hash_bytes(key, sizeof key));
    if (number < (int64_t)before)
        return number;
    struct rfn_location *added = &writer->locations[before];
    *added = (struct rfn_location){.function = copy(writer, texts[0]),
                                   .file = copy(writer, texts[1]),
                                   .line = at->line,
                                   .offset = at->offset ? at->offset : before + 1};
    return added->function && added->file ? number : RFN_E_NOMEM;
}

static size_t find_location(void *context, uint64_t module, uint64_t *offset,
                            struct rfn_source sources[RFN_SOURCES_MAX])
{
    const struct rfn_location *at = &((const struct rfn_writer *)context)->locations[*offset];
    (void)module;
    *offset = at->offset;
    sources[0] = (struct rfn_source){at->function, at->file, at->line};
    return 1;
}

/* Frames have numbers of locations in place of offsets in their modules. */
int64_t rfn_writer_path(struct rfn_writer *writer, const struct rfn_location *frames, size_t n)
{
    const struct rfn_definitions *modules = &writer->merge.definitions[RFN_DEFINITION_MODULE];
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_varint(&content, n);
    for (size_t i = 0; i < n; i++) {
        struct rfn_buf of_module = RFN_BUF_INIT;
        rfn_buf_string(&of_module, text_of(frames[i].module));
        rfn_buf_u8(&of_module, 0); /* no build-id */
        const int64_t module = define(writer, RFN_DEFINITION_MODULE, 0, &of_module);
        const int64_t location = module < 0 ? module : locate(writer, &frames[i]);
        if (location < 0) {
            rfn_buf_release(&content);
            return failed(writer, location);
        }
        rfn_buf_u64(&content, modules->items[module].hash);
        rfn_buf_varint(&content, (uint64_t)location);
    }
    return define(writer, RFN_DEFINITION_PATH, 0, &content);
}

int64_t rfn_writer_datatype(struct rfn_writer *writer, const struct rfn_datatype_info *datatype)
{
    const int64_t sizes[] = {datatype->size, 0, datatype->extent, 0, datatype->true_extent};
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_varint(&content, RFN_COMBINER_NAMED);
    rfn_buf_string(&content, text_of(datatype->name));
    for (int i = 0; i < 5; i++)
        rfn_buf_svarint(&content, sizes[i]);
    rfn_buf_bytes(&content, "\0\0\0", 3); /* no integers, addresses, children */
    return define(writer, RFN_DEFINITION_DATATYPE,
                  writer->merge.definitions[RFN_DEFINITION_DATATYPE].n + 1, &content);
}

/* As the longest runs there are, in order; NULL or what is wrong. */
static const char *put_group(struct rfn_writer *writer, const int64_t *members, uint32_t n,
                             struct rfn_rank_list *group, struct rfn_buf *content)
{
    struct rfn_buf runs = RFN_BUF_INIT;
    const size_t at = content->size;
    uint64_t n_runs = 0;
    for (uint32_t i = 0, length; i < n; i += length, n_runs++) {
        const int64_t first = members[i] < 0 ? RFN_RANK_FOREIGN : members[i];
        const int64_t next = i + 1 == n ? -1 : members[i + 1];
        const int64_t stride = members[i] < 0 || next < 0 ? 0 : next - first;
        for (length = 1; i + length < n; length++) {
            const int64_t member = members[i + length];
            if (members[i] < 0 ? member >= 0
                               : member < 0 || !stride || member != first + length * stride)
                break;
        }
        rfn_buf_varint(&runs, (uint64_t)first);
        rfn_buf_varint(&runs, length);
        rfn_buf_svarint(&runs, stride);
    }
    rfn_buf_varint(content, n);
    rfn_buf_varint(content, n_runs);
    rfn_buf_bytes(content, runs.data, runs.size);
    content->failed |= runs.failed;
    rfn_buf_release(&runs);
    if (content->failed)
        return rfn_out_of_memory;
    struct rfn_reader reader = rfn_reader_over(content->data + at, content->size - at);
    return rfn_rank_list_read(group, &reader, writer->run.ranks, &writer->merge.arena);
}

int64_t rfn_writer_comm(struct rfn_writer *writer, enum rfn_comm_kind kind, const int64_t *members,
                        uint32_t n, const int64_t *remote, uint32_t n_remote)
{
    const size_t number = writer->merge.definitions[RFN_DEFINITION_COMM].n;
    struct rfn_communicator comm = {.info = {.kind = kind}};
    struct rfn_buf content = RFN_BUF_INIT;
    const char *fault = NULL;
    rfn_buf_u8(&content, (uint8_t)kind);
    rfn_buf_u64(&content, number + 1); /* its identity */
    if (kind == RFN_COMM_INTRA || kind == RFN_COMM_INTER)
        fault = put_group(writer, members, n, &comm.groups[0], &content);
    if (kind == RFN_COMM_INTER && !fault)
        fault = put_group(writer, remote, n_remote, &comm.groups[1], &content);
    if (fault || RFN_GROW(writer->comms, writer->comms_capacity, number + 1) < 0) {
        rfn_buf_release(&content);
        if (!fault || fault == rfn_out_of_memory)
            return failed(writer, RFN_E_NOMEM);
        return rfn_fail(writer->diag, RFN_E_RANGE, -1, -1, "%s", fault);
    }
    writer->comms[number] = comm;
    return define(writer, RFN_DEFINITION_COMM, number + 1, &content);
}

int64_t rfn_writer_region(struct rfn_writer *writer, const char *name)
{
    const uint64_t bits = rfn_hash_bytes(name, strlen(name)) & INT64_MAX, hash = bits ? bits : 1;
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_u64(&content, hash);
    rfn_buf_string(&content, name);
    return define(writer, RFN_DEFINITION_REGION, hash, &content);
}

int64_t rfn_writer_host(struct rfn_writer *writer, const char *name, uint32_t cores)
{
    struct rfn_buf content = RFN_BUF_INIT;
    rfn_buf_string(&content, text_of(name));
    rfn_buf_varint(&content, cores);
    return define(writer, RFN_DEFINITION_HOST, 0, &content);
}

/* ---- definitions of another archive ---- */

/* Numbers 0 to n - 1 of a kind, whatever they are: what they mean is copied in the end. */
static int define_numbers(struct rfn_writer *writer, enum rfn_definition_kind kind, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_buf content = RFN_BUF_INIT;
        rfn_buf_u8(&content, (uint8_t)kind); /* hashes of different kinds are mixed */
        rfn_buf_varint(&content, i);
        const int64_t number = define(writer, kind, 0, &content);
        RFN_TRY((int)(number < 0 ? number : 0));
    }
    return 0;
}

static int define_like(struct rfn_writer *writer, const struct rfn_archive *archive)
{
    const struct rfn_dictionary *of = &archive->dictionary;
    writer->like = archive;
    if (of->n_functions > RFN_WRITER_FUNCTIONS_MAX)
        return rfn_fail(writer->diag, RFN_E_RANGE, -1, -1, "there are too many functions");
    if (of->n_functions)
        memcpy(writer->functions, of->functions, of->n_functions * sizeof *of->functions);
    for (uint32_t i = 0; i < of->n_functions; i++)
        writer->names[i] = rfn_hash_bytes(of->functions[i].name, strlen(of->functions[i].name));
    RFN_TRY(define_numbers(writer, RFN_DEFINITION_FUNCTION, of->n_functions));
    RFN_TRY(define_numbers(writer, RFN_DEFINITION_PATH, of->n_paths));
    RFN_TRY(define_numbers(writer, RFN_DEFINITION_DATATYPE, of->n_datatypes));
    RFN_TRY(define_numbers(writer, RFN_DEFINITION_HOST, of->n_hosts));
    RFN_TRY(define_numbers(writer, RFN_DEFINITION_COMM, of->n_comms));
    RFN_TRY(failed(writer, RFN_GROW(writer->comms, writer->comms_capacity, of->n_comms)));
    if (of->n_comms)
        memcpy(writer->comms, of->comms, of->n_comms * sizeof *of->comms);
    for (uint32_t i = 0; i < of->n_regions; i++) {
        const int64_t number = rfn_writer_region(writer, of->regions[i]);
        RFN_TRY((int)(number < 0 ? number : 0));
    }
    return 0;
}

int rfn_writer_new_like(const struct rfn_archive *archive, const char *path, bool force,
                        const struct rfn_run *run, struct rfn_writer **writer,
                        struct rfn_diag *diag)
{
    RFN_TRY(rfn_rewrite_check_other(archive, path, diag));
    RFN_TRY(rfn_writer_new(path, force, run, writer, diag));
    int error = define_like(*writer, archive);
    if (error < 0)
        rfn_writer_cancel(*writer);
    return error;
}

int rfn_writer_chunk(struct rfn_writer *writer, uint32_t type, struct rfn_rope *payload)
{
    return failed(writer, rfn_rewrite_add(&writer->rewrite, type, 0, payload));
}

/* ---- streams ---- */

static void free_stream(struct stream *stream)
{
    struct numbers *all[] = {&stream->sites, &stream->types, &stream->comms};
    for (int i = 0; i < 3; i++) {
        rfn_map_release(&all[i]->of);
        free(all[i]->things);
    }
    rfn_rope_release(&stream->values);
    rfn_stream_free(stream->events);
    free((void *)stream->refs.site_functions);
    free(stream);
}

/* Calls are alike by the names of their functions, whatever parameters these have. */
static uint64_t call_hash(const void *context, uint32_t site)
{
    const struct stream *stream = context;
    const struct rfn_definitions *of = stream->writer->merge.definitions;
    const uint64_t thing = stream->sites.things[site];
    return rfn_hash_mix(stream->writer->names[thing >> 32],
                        of[RFN_DEFINITION_PATH].items[(uint32_t)thing].hash);
}

int64_t rfn_writer_stream(struct rfn_writer *writer, uint32_t rank, uint32_t thread, uint32_t host,
                          bool volume)
{
    const uint64_t key = (uint64_t)rank << 32 | thread;
    if (rank >= writer->run.ranks || host >= writer->merge.definitions[RFN_DEFINITION_HOST].n ||
        (volume && !writer->run.volume) || rfn_map_get(&writer->threads, key))
        return rfn_fail(writer->diag, RFN_E_RANGE, -1, (int)rank,
                        "rank %u, thread %u: there is no such rank, host or volume, or it has a "
                        "stream already",
                        rank, thread);
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream || RFN_GROW(writer->streams, writer->streams_capacity, writer->n_streams + 1) < 0) {
        free(stream);
        return failed(writer, RFN_E_NOMEM);
    }
    *stream = (struct stream){
        .writer = writer, .rank = rank, .thread = thread, .host = host, .volume = volume};
    stream->events = rfn_stream_new(&(struct rfn_stream_options){.functions = writer->functions,
                                                                 .times = writer->run.times,
                                                                 .all_polls = writer->run.all_polls,
                                                                 .volume = volume,
                                                                 .memory = &writer->memory,
                                                                 .spill = &writer->rewrite.spill,
                                                                 .call_hash = call_hash,
                                                                 .call_hash_context = stream});
    if (!stream->events || rfn_map_put(&writer->threads, key, writer->n_streams) < 0) {
        free_stream(stream);
        return failed(writer, RFN_E_NOMEM);
    }
    writer->streams[writer->n_streams] = stream;
    return (int64_t)writer->n_streams++;
}

/* ---- events ---- */

static int out_of_range(const struct stream *stream, const char *what)
{
    return rfn_fail(stream->writer->diag, RFN_E_RANGE, -1, (int)stream->rank,
                    "rank %u, thread %u: %s", stream->rank, stream->thread, what);
}

/* A word of the writer's becomes one of the stream's. */
static int translate(struct stream *stream, uint8_t kind, int64_t *word)
{
    const struct rfn_definitions *all = stream->writer->merge.definitions, *of;
    struct numbers *own = NULL;
    if (kind == RFN_KIND_TYPE)
        of = &all[RFN_DEFINITION_DATATYPE], own = &stream->types;
    else if (kind == RFN_KIND_COMM)
        of = &all[RFN_DEFINITION_COMM], own = &stream->comms;
    else if (kind == RFN_KIND_REGION)
        of = &all[RFN_DEFINITION_REGION];
    else
        return 0;
    if (own && *word < 0) /* the null handle, or what nobody knows */
        return 0;
    if (*word < 0 || *word >= (int64_t)of->n)
        return out_of_range(stream, "a datatype, communicator or region is not defined");
    *word = own ? own_number(own, (uint64_t)*word) : (int64_t)of->items[*word].hash;
    return *word < 0 ? failed(stream->writer, RFN_E_NOMEM) : 0;
}

int64_t rfn_writer_list(struct rfn_writer *writer, uint32_t number, uint8_t kind,
                        const int64_t *words, size_t n)
{
    assert(number < writer->n_streams);
    struct stream *stream = writer->streams[number];
    RFN_TRY(failed(writer, RFN_GROW(writer->words, writer->words_capacity, n)));
    for (size_t i = 0; i < n; i++) {
        writer->words[i] = words[i];
        RFN_TRY(translate(stream, kind, &writer->words[i]));
    }
    const int64_t list = rfn_stream_list(stream->events, writer->words, n);
    return list < 0 ? failed(writer, RFN_E_NOMEM) : list;
}

int rfn_writer_event(struct rfn_writer *writer, uint32_t number, const struct rfn_record *record)
{
    const struct rfn_definitions *all = writer->merge.definitions;
    const bool times = writer->run.times;
    assert(number < writer->n_streams);
    struct stream *stream = writer->streams[number];
    int64_t words[2 * RFN_PARAMS_MAX];
    if (record->function >= all[RFN_DEFINITION_FUNCTION].n ||
        record->path >= all[RFN_DEFINITION_PATH].n)
        return out_of_range(stream, "the function or call path of an event is not defined");
    if (times && record->enter_ns < (int64_t)stream->end_ns)
        return out_of_range(stream, "an event begins before the one before it has ended");
    if (times &&
        (record->exit_ns < record->enter_ns ||
         (record->failed_poll &&
          (record->inside_ns < 0 || record->inside_ns > record->exit_ns - record->enter_ns))))
        return out_of_range(stream, "an event ends before it begins, or had more time inside");
    const struct rfn_function_info *function = &writer->functions[record->function];
    for (unsigned i = 0; i < (unsigned)function->n_in + function->n_out; i++) {
        words[i] = i < function->n_in ? record->in[i] : record->out[i - function->n_in];
        const uint8_t kind = function->params[i].kind;
        if (!(kind & RFN_KIND_LIST || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS))
            RFN_TRY(translate(stream, kind, &words[i]));
        else if (words[i] > (int64_t)rfn_stream_lists(stream->events))
            return out_of_range(stream, "a list is not defined");
    }
    const int64_t site = own_number(&stream->sites,
                                    (uint64_t)record->function << 32 | record->path);
    RFN_TRY(failed(writer, site < 0 ? site : 0));
    struct rfn_event event = {.site = (uint32_t)site,
                              .function = record->function,
                              .error = record->error,
                              .poll = record->failed_poll ? RFN_POLL_FAILED : RFN_POLL_NONE,
                              .in = words,
                              .out = words + function->n_in,
                              .enter = times ? (uint64_t)record->enter_ns : 0,
                              .exit = times ? (uint64_t)record->exit_ns : 0,
                              .volume_enter = stream->counted,
                              .volume_exit = stream->counted};
    if (rfn_class_is_mpi(function->class_)) {
        event.volume_enter += (uint64_t)record->volume_gap;
        event.volume_exit = event.volume_enter + (uint64_t)record->volume_inside;
    } else {
        stream->region_events++;
    }
    /* Runs of polls that were apart stay apart, whatever was between them. */
    int error = writer->like && stream->polls ? rfn_stream_flush(stream->events) : 0;
    stream->polls = record->failed_poll;
    if (error >= 0)
        error = rfn_stream_event(stream->events, &event);
    if (error >= 0 && record->failed_poll && !writer->run.all_polls)
        error = rfn_stream_more_polls(stream->events, record->polls ? record->polls - 1 : 0,
                                      event.exit - event.enter - (uint64_t)record->inside_ns);
    stream->end_ns = event.exit;
    stream->counted = event.volume_exit;
    return error < 0 ? failed(writer, error) : 0;
}

/* ---- the archive ---- */

static int compare_streams(const void *left, const void *right)
{
    const struct stream *a = *(struct stream *const *)left, *b = *(struct stream *const *)right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/* What varies too much in one stream becomes a column in all: they would differ by that. */
static int move_inputs(struct rfn_writer *writer)
{
    struct rfn_map moved = RFN_MAP_INIT; /* site -> inputs */
    int error = 0;
    for (size_t i = 0; i < 2 * writer->n_streams && !error; i++) {
        const bool second = i >= writer->n_streams;
        struct stream *stream = writer->streams[i % writer->n_streams];
        error = second ? 0 : rfn_stream_flush(stream->events);
        for (uint32_t site = 0; site < stream->sites.n && !error; site++) {
            const uint32_t own = rfn_stream_moved(stream->events, site);
            const uint64_t *known = rfn_map_get(&moved, stream->sites.things[site]);
            const uint64_t all = own | (known ? *known : 0);
            if (!second && own)
                error = rfn_map_put(&moved, stream->sites.things[site], all);
            for (uint64_t more = second ? all & ~(uint64_t)own : 0; more; more &= more - 1)
                rfn_stream_move(stream->events, site, (uint32_t)__builtin_ctzll(more));
        }
        if (!error && second)
            error = rfn_stream_settle(stream->events);
    }
    rfn_map_release(&moved);
    return error;
}

/* What the stream's own numbers stand for. */
static int make_refs(struct stream *stream)
{
    const size_t n_sites = stream->sites.n, n_comms = stream->comms.n;
    uint64_t *functions = calloc(2 * n_sites + n_comms + 1, sizeof *functions);
    if (!functions)
        return RFN_E_NOMEM;
    uint64_t *paths = functions + n_sites;
    int64_t *ranks = (int64_t *)(paths + n_sites);
    for (size_t i = 0; i < n_sites; i++) {
        functions[i] = stream->sites.things[i] >> 32;
        paths[i] = (uint32_t)stream->sites.things[i];
    }
    for (size_t i = 0; i < n_comms; i++) {
        const struct rfn_communicator *comm = &stream->writer->comms[stream->comms.things[i]];
        ranks[i] = comm->info.kind == RFN_COMM_SELF ? 0 : -1;
        for (int group = 0; group < 2 && ranks[i] < 0; group++)
            ranks[i] = rfn_rank_list_find(&comm->groups[group], stream->rank);
        if (ranks[i] < 0) /* the world, or not a member */
            ranks[i] = stream->rank;
    }
    stream->refs = (struct rfn_pack_refs){.site_functions = functions,
                                          .site_paths = paths,
                                          .n_sites = n_sites,
                                          .types = stream->types.things,
                                          .n_types = stream->types.n,
                                          .comm_ranks = ranks,
                                          .comms = (const int64_t *)stream->comms.things,
                                          .n_comms = n_comms,
                                          .world_rank = stream->rank};
    return 0;
}

/* Finds streams of equal structures and values. */
static int merge_streams(struct rfn_writer *writer)
{
    RFN_TRY(move_inputs(writer));
    for (size_t i = 0; i < writer->n_streams; i++) {
        struct stream *stream = writer->streams[i];
        struct rfn_path_limits limits = rfn_signature_limits;
        struct rfn_stream_digests digests = {0};
        uint64_t loops;
        RFN_TRY(make_refs(stream));
        stream->signature = digests.signature = rfn_pack_signature(stream->events, &limits);
        RFN_TRY(rfn_pack_structure_digests(stream->events, &stream->refs, &digests, &loops));
        RFN_TRY(rfn_pack_values(stream->events, &stream->values));
        RFN_TRY(rfn_rope_hash128(&stream->values, 0, &digests.content));
        RFN_TRY(rfn_merge_stream(&writer->merge, &digests));
    }
    return rfn_merge_run(&writer->merge, &(struct rfn_exchange){.size = 1}, 0);
}

static int64_t word_of(const void *context, enum rfn_stream_word word, uint32_t number)
{
    const struct rfn_writer *writer = context;
    const struct rfn_stream_classes *kinds = &writer->merge.streams;
    const struct stream *stream = writer->streams[number];
    const uint64_t words[RFN_STREAM_WORDS] = {
        [RFN_WORD_RANK] = stream->rank,
        [RFN_WORD_THREAD] = stream->thread,
        [RFN_WORD_GROUP] = rfn_stream_class_of(kinds, number, RFN_KIND_OF_GROUP).number,
        [RFN_WORD_VALUES] = rfn_stream_class_of(kinds, number, RFN_KIND_OF_VALUES).number,
        [RFN_WORD_HOST] = stream->host,
        [RFN_WORD_EVENTS] = rfn_stream_events(stream->events),
        [RFN_WORD_CALLS] = rfn_stream_calls(stream->events),
        [RFN_WORD_REALTIME] = writer->run.times ? (uint64_t)writer->run.start_realtime_ns : 0,
        [RFN_WORD_VOLUME] = stream->volume,
        [RFN_WORD_REGIONS] = stream->region_events,
        [RFN_WORD_TIMES] = number,
        [RFN_WORD_SIGNATURE] = stream->signature};
    return (int64_t)words[word];
}

/* Adds a chunk of what packing has made, unless it made nothing. */
static int add(struct rfn_writer *writer, uint32_t type, uint64_t id, int error,
               struct rfn_rope *payload)
{
    if (!error && rfn_rope_size(payload) > 0)
        error = rfn_rewrite_add(&writer->rewrite, type, id, payload);
    rfn_rope_release(payload);
    return error;
}

static int add_stream(struct rfn_writer *writer, uint32_t number, struct rfn_tables *rank_params)
{
    const uint64_t second = 1000000000, start = (uint64_t)writer->run.start_realtime_ns;
    const struct rfn_pack_pair pairs[] = {{0, 0, start}, {second, second, start + second}};
    const struct rfn_pack_clock clock = {.kind = 1, .pairs = pairs, .n_pairs = 2};
    struct stream *stream = writer->streams[number];
    const struct rfn_stream_classes *kinds = &writer->merge.streams;
    const struct rfn_stream_class_of group = rfn_stream_class_of(kinds, number, RFN_KIND_OF_GROUP);
    const struct rfn_stream_class_of values = rfn_stream_class_of(kinds, number,
                                                                  RFN_KIND_OF_VALUES);
    struct rfn_table *table = rfn_tables_use(
        rank_params, group.number, rfn_pack_rank_params_count(stream->events, &stream->refs));
    struct rfn_rope payload = RFN_ROPE_INIT;
    if (!table)
        return RFN_E_NOMEM;
    RFN_TRY(rfn_pack_rank_params(stream->events, &stream->refs, table));
    if (group.first) {
        int error = rfn_pack_structure(stream->events, &stream->refs, &payload);
        RFN_TRY(add(writer, RFN_CHUNK_STRUCTURE, group.number, error, &payload));
    }
    if (values.first)
        RFN_TRY(add(writer, RFN_CHUNK_VALUES, values.number, 0, &stream->values));
    int error = rfn_pack_timing(stream->events, writer->run.times ? &clock : NULL, &payload);
    return add(writer, RFN_CHUNK_TIMING, number, error, &payload);
}

static int add_definitions(struct rfn_writer *writer)
{
    const struct rfn_source_finder finder = {.context = writer, .find = find_location};
    const struct rfn_archive *like = writer->like;
    struct rfn_rope payload = RFN_ROPE_INIT;
    if (like)
        return rfn_rewrite_copy_of(&writer->rewrite, like,
                                   (size_t)rfn_chunks_find(&like->chunks, RFN_CHUNK_DEFINITIONS, 0),
                                   0);
    int error = rfn_pack_known_definitions(&writer->merge, &finder, &payload.bytes);
    return add(writer, RFN_CHUNK_DEFINITIONS, 0, error, &payload);
}

static int add_chunks(struct rfn_writer *writer)
{
    const size_t n_groups = writer->merge.streams.of[RFN_KIND_OF_GROUP].n;
    struct rfn_tables rank_params = {0};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = add_definitions(writer);
    if (!error)
        error = rfn_rewrite_add_streams(&writer->rewrite, (uint32_t)writer->n_streams, word_of,
                                        writer);
    if (!error)
        error = rfn_tables_init(&rank_params, n_groups);
    for (size_t i = 0; i < writer->n_streams && !error; i++)
        error = add_stream(writer, (uint32_t)i, &rank_params);
    for (size_t i = 0; i < n_groups && !error; i++) {
        error = rfn_pack_table(&rank_params.tables[i], &payload.bytes);
        error = add(writer, RFN_CHUNK_RANK_PARAMS, i, error, &payload);
    }
    rfn_tables_release(&rank_params);
    return error;
}

int rfn_writer_close(struct rfn_writer *writer, uint64_t *bytes)
{
    struct rfn_diag *diag = writer->diag;
    uint64_t size;
    if (writer->n_streams > 0)
        qsort(writer->streams, writer->n_streams, sizeof *writer->streams, compare_streams);
    int error = merge_streams(writer);
    if (!error)
        error = add_chunks(writer);
    if (!error)
        error = rfn_rewrite_write(&writer->rewrite, writer->path, writer->force, &size, diag);
    if (!error && bytes)
        *bytes = size;
    rfn_writer_cancel(writer);
    return rfn_rewrite_failed(error, diag);
}

void rfn_writer_cancel(struct rfn_writer *writer)
{
    for (size_t i = 0; i < writer->n_streams; i++)
        free_stream(writer->streams[i]);
    rfn_map_release(&writer->places.of);
    free(writer->places.things);
    free(writer->locations);
    free(writer->comms);
    free(writer->streams);
    rfn_map_release(&writer->threads);
    free(writer->words);
    rfn_merge_release(&writer->merge);
    rfn_rewrite_release(&writer->rewrite);
    free(writer);
}
