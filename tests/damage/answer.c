#include "damage/answer.h"

#include "base/hash.h"
#include "refrain/open_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of each definition, what it says. */
struct meanings {
    uint64_t *functions, *paths, *types, *comms, *regions;
    uint32_t n_functions, n_paths, n_types, n_comms, n_regions;
};

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return rfn_hash_mix(hash, text ? rfn_hash_bytes(text, strlen(text)) : 1);
}

static void *room_for(size_t n, size_t size)
{
    void *room = calloc(n + 1, size);
    if (!room)
        abort();
    return room;
}

static uint64_t meaning_of_path(const struct rfn_archive *archive, uint32_t number)
{
    const struct rfn_path path = rfn_archive_path(archive, number);
    uint64_t hash = path.n_frames;
    for (uint32_t i = 0; i < path.n_frames; i++) {
        const struct rfn_location location = rfn_archive_location(archive, path.frames[i]);
        hash = mix_text(mix_text(hash, location.function), location.module);
        hash = rfn_hash_mix(rfn_hash_mix(hash, location.line), location.offset);
    }
    return hash;
}

static uint64_t meaning_of_comm(const struct rfn_archive *archive, uint32_t number)
{
    const struct rfn_comm_info *comm = rfn_archive_comm(archive, number);
    return rfn_hash_mix(rfn_hash_mix(comm->kind, comm->size), comm->remote_size);
}

static struct meanings meanings_of(const struct rfn_archive *archive)
{
    struct meanings of = {.n_functions = rfn_archive_functions(archive),
                          .n_paths = rfn_archive_paths(archive),
                          .n_types = rfn_archive_datatypes(archive),
                          .n_comms = rfn_archive_comms(archive),
                          .n_regions = rfn_archive_regions(archive)};
    of.functions = room_for(of.n_functions, sizeof *of.functions);
    of.paths = room_for(of.n_paths, sizeof *of.paths);
    of.types = room_for(of.n_types, sizeof *of.types);
    of.comms = room_for(of.n_comms, sizeof *of.comms);
    of.regions = room_for(of.n_regions, sizeof *of.regions);
    for (uint32_t i = 0; i < of.n_functions; i++)
        of.functions[i] = mix_text(1, rfn_archive_function(archive, i)->name);
    for (uint32_t i = 0; i < of.n_paths; i++)
        of.paths[i] = meaning_of_path(archive, i);
    for (uint32_t i = 0; i < of.n_types; i++)
        of.types[i] = mix_text((uint64_t)rfn_archive_datatype(archive, i)->size,
                               rfn_archive_datatype(archive, i)->name);
    for (uint32_t i = 0; i < of.n_comms; i++)
        of.comms[i] = meaning_of_comm(archive, i);
    for (uint32_t i = 0; i < of.n_regions; i++)
        of.regions[i] = mix_text(1, rfn_archive_region(archive, i));
    return of;
}

static void release_meanings(struct meanings *of)
{
    free(of->functions);
    free(of->paths);
    free(of->types);
    free(of->comms);
    free(of->regions);
}

static uint64_t meaning_in(const uint64_t *meanings, uint32_t n, int64_t number)
{
    return number >= 0 && number < n ? meanings[number] : (uint64_t)number;
}

static uint64_t meaning_of_word(const struct meanings *of, unsigned kind, int64_t word)
{
    switch (kind) {
    case RFN_KIND_TYPE:
        return meaning_in(of->types, of->n_types, word);
    case RFN_KIND_COMM:
        return meaning_in(of->comms, of->n_comms, word);
    case RFN_KIND_REGION:
        return meaning_in(of->regions, of->n_regions, word);
    default:
        return (uint64_t)word;
    }
}

/* ---- events ---- */

static bool is_list(unsigned kind)
{
    return kind & RFN_KIND_LIST || kind == RFN_KIND_STRING || kind == RFN_KIND_COMPLETIONS;
}

static uint64_t mix_words(uint64_t hash, const struct meanings *of, const struct rfn_cursor *cursor,
                          const struct rfn_param_info *params, const int64_t *words, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const unsigned kind = params[i].kind & ~(unsigned)RFN_KIND_LIST;
        size_t size = 0;
        const int64_t *list = is_list(params[i].kind)
                                  ? rfn_cursor_list(cursor, words[i], &size, (uint8_t)kind)
                                  : NULL;
        for (size_t k = 0; list && k < size; k++)
            hash = rfn_hash_mix(hash, meaning_of_word(of, kind, list[k]));
        hash = rfn_hash_mix(hash, list ? size : meaning_of_word(of, kind, words[i]));
    }
    return hash;
}

static struct told tell(const struct rfn_archive *archive, const struct meanings *of,
                        const struct rfn_cursor *cursor, const struct rfn_record *record,
                        int64_t origin_ns, struct told before)
{
    const struct rfn_function_info *function = rfn_archive_function(archive, record->function);
    uint64_t calls = rfn_hash_mix(before.calls, of->functions[record->function]);
    calls = rfn_hash_mix(calls, meaning_in(of->paths, of->n_paths, record->path));
    calls = rfn_hash_mix(calls, record->error);
    calls = mix_words(calls, of, cursor, function->params, record->in, function->n_in);
    calls = mix_words(calls, of, cursor, function->params + function->n_in, record->out,
                      function->n_out);
    const uint64_t more[] = {(uint64_t)record->enter_ns - (uint64_t)origin_ns,
                             (uint64_t)record->exit_ns - (uint64_t)origin_ns,
                             (uint64_t)record->inside_ns,
                             record->polls,
                             record->failed_poll,
                             (uint64_t)record->volume_gap,
                             (uint64_t)record->volume_inside};
    uint64_t all = rfn_hash_mix(before.all, calls);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        all = rfn_hash_mix(all, more[i]);
    return (struct told){calls, all};
}

/* Which call the thread was in. Returns an error as of rfn_cursor_next. */
static int read_open(const struct rfn_archive *archive, struct rfn_cursor *cursor, uint64_t *hash,
                     struct rfn_diag *diag)
{
    struct rfn_open_call open;
    const int there = rfn_cursor_open_call(cursor, &open, diag);
    if (there <= 0)
        return there;
    *hash = mix_text(open.kind, rfn_archive_function(archive, open.record.function)->name);
    *hash = rfn_hash_mix(*hash, (uint64_t)open.since_ns);
    *hash = rfn_hash_mix(*hash, (uint64_t)open.until_ns);
    return 0;
}

static void add_told(struct stream_answer *stream, size_t *capacity, struct told told)
{
    if (stream->n == *capacity) {
        *capacity = 2 * *capacity + 64;
        stream->told = realloc(stream->told, *capacity * sizeof *stream->told);
        if (!stream->told)
            abort();
    }
    stream->told[stream->n++] = told;
}

static void read_stream(const struct rfn_archive *archive, const struct meanings *of,
                        uint32_t number, bool relative, size_t most, struct answer *answer)
{
    const struct rfn_stream_info info = rfn_archive_stream(archive, number);
    struct stream_answer *stream = &answer->streams[number];
    struct rfn_diag diag = {.file_offset = -1, .rank = -1};
    struct rfn_cursor *cursor;
    const struct rfn_record *record;
    struct told before = {1, 1};
    int64_t origin_ns = 0;
    size_t capacity = 0;
    *stream = (struct stream_answer){.rank = info.rank, .thread = info.thread, .said = info.events};
    stream->status = rfn_cursor_open(archive, number, &cursor, &diag);
    const bool opened = stream->status == 0;
    while (opened && (stream->status = rfn_cursor_next(cursor, &record, &diag)) > 0) {
        if (stream->n == most)
            break;
        if (relative && !stream->n)
            origin_ns = record->enter_ns;
        before = tell(archive, of, cursor, record, origin_ns, before);
        add_told(stream, &capacity, before);
    }
    if (stream->status == 0)
        stream->status = read_open(archive, cursor, &stream->open, &diag);
    answer->silent |= stream->status < 0 && !diag.text[0];
    if (opened)
        rfn_cursor_close(cursor);
}

void answer_read(const struct rfn_archive *archive, bool relative, struct answer *answer)
{
    const uint32_t streams = rfn_archive_run(archive)->streams;
    size_t left = EVENTS_MOST;
    const char *why;
    *answer = (struct answer){.n = streams < STREAMS_MOST ? streams : STREAMS_MOST};
    if (!rfn_archive_complete(archive, &why))
        snprintf(answer->why, sizeof answer->why, "%s", why);
    answer->streams = room_for(answer->n, sizeof *answer->streams);
    struct meanings of = meanings_of(archive);
    for (uint32_t i = 0; i < answer->n; i++) {
        read_stream(archive, &of, i, relative, left, answer);
        left -= answer->streams[i].n;
    }
    release_meanings(&of);
}

void answer_release(struct answer *answer)
{
    for (size_t i = 0; i < answer->n; i++)
        free(answer->streams[i].told);
    free(answer->streams);
    *answer = (struct answer){0};
}

/* ---- comparing ---- */

const struct stream_answer *answer_stream(const struct answer *answer, uint32_t rank,
                                          uint32_t thread)
{
    for (size_t i = 0; i < answer->n; i++) {
        if (answer->streams[i].rank == rank && answer->streams[i].thread == thread)
            return &answer->streams[i];
    }
    return NULL;
}

/* The words for an event depend on all before it: the last one tells. */
static bool begins(const struct stream_answer *start, const struct stream_answer *whole,
                   enum answer_part part)
{
    if (start->n > whole->n)
        return false;
    if (!start->n)
        return true;
    const struct told *one = &start->told[start->n - 1], *other = &whole->told[start->n - 1];
    return one->calls == other->calls && (part < ANSWER_EVENTS || one->all == other->all);
}

bool answer_equals(const struct stream_answer *one, const struct stream_answer *other,
                   enum answer_part part)
{
    return one->status == 0 && one->n == other->n && begins(one, other, part) &&
           (part < ANSWER_ALL || one->open == other->open);
}

/* told: that something is missing. */
static const char *stream_wrong(const struct stream_answer *stream, const struct answer *sound,
                                enum answer_part part, bool told)
{
    const struct stream_answer *other = answer_stream(sound, stream->rank, stream->thread);
    if (!other)
        return "a stream that there was not";
    if (!begins(stream, other, part))
        return "other events";
    if (stream->status == 0 && stream->n < other->n)
        return "fewer events, and no error";
    const bool missing = told && !stream->open;
    if (stream->status == 0 && !missing && !answer_equals(stream, other, part))
        return "another open call";
    return NULL;
}

const char *answer_wrong(const struct answer *answer, const struct answer *sound,
                         enum answer_part part)
{
    const char *wrong = answer->silent ? "an error without a text" : NULL;
    if (part == ANSWER_NOTHING)
        return wrong;
    const bool told = strcmp(answer->why, sound->why) != 0;
    if (answer->n != sound->n && !told)
        wrong = "other streams, and no word of it";
    for (size_t i = 0; i < answer->n && !wrong; i++)
        wrong = stream_wrong(&answer->streams[i], sound, part, told);
    return wrong;
}

bool answer_is_whole(const struct answer *answer)
{
    for (size_t i = 0; i < answer->n; i++) {
        if (answer->streams[i].status || answer->streams[i].n != answer->streams[i].said)
            return false;
    }
    return true;
}

bool answer_is_small(const struct rfn_archive *archive)
{
    const uint32_t streams = rfn_archive_run(archive)->streams;
    uint64_t events = 0;
    for (uint32_t i = 0; i < streams && i < STREAMS_MOST && events <= EVENTS_MOST; i++)
        events += rfn_archive_stream(archive, i).events;
    return streams <= STREAMS_MOST && events <= EVENTS_MOST;
}
