/* Opening an archive, and what it says of the run. */
#include "archive/read/reader.h"

#include "archive/read/archive_calls.h"
#include "base/search.h"
#include "event/kind.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* More streams than any machine has; a few bytes could claim any number. */
#ifdef RFN_FUZZING
enum { STREAMS_MAX = 1 << 10 };
#else
enum { STREAMS_MAX = 1 << 25 };
#endif

/* ---- streams and groups ---- */

int64_t rfn_stream_word(const struct rfn_archive *archive, enum rfn_stream_word word,
                        uint32_t stream)
{
    return word < archive->streams.n ? rfn_rank_param(&archive->streams, word, stream, stream) : 0;
}

/* Files of minor version 0 do not have this word, nor volumes. */
bool rfn_stream_counted(const struct rfn_archive *archive, uint32_t stream)
{
    return rfn_stream_word(archive, RFN_WORD_VOLUME, stream) != 0;
}

/* Files of before minor version 3 do not have this word. */
uint32_t rfn_stream_times(const struct rfn_archive *archive, uint32_t stream)
{
    bool said = RFN_WORD_TIMES < archive->streams.n;
    return said ? (uint32_t)rfn_stream_word(archive, RFN_WORD_TIMES, stream) : stream;
}

/* Only a PROFILE is shared. */
int64_t rfn_timing_find(const struct rfn_archive *archive, uint32_t stream)
{
    if (rfn_stream_times(archive, stream) != stream)
        return -1;
    return rfn_chunks_find(&archive->chunks, RFN_CHUNK_TIMING, stream);
}

int64_t rfn_reduced_timing_find(const struct rfn_archive *archive, uint32_t stream)
{
    if (!archive->dictionary.run.reduced)
        return -1;
    uint32_t time_set = rfn_stream_times(archive, stream);
    int64_t entry = rfn_chunks_find(&archive->chunks, RFN_CHUNK_PROFILE, time_set);
    return entry < 0 ? rfn_time_set_table_find(&archive->chunks, time_set) : entry;
}

/* Counts the groups and checks every number. */
static const char *check_streams(struct rfn_archive *archive)
{
    const struct rfn_dictionary *dictionary = &archive->dictionary;
    int64_t rank_before = -1, thread_before = 0;
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        int64_t word[RFN_STREAM_WORDS];
        for (enum rfn_stream_word k = 0; k < RFN_STREAM_WORDS; k++)
            word[k] = rfn_stream_word(archive, k, i);
        if (word[RFN_WORD_RANK] < 0 || word[RFN_WORD_RANK] >= dictionary->run.ranks ||
            word[RFN_WORD_THREAD] < 0 || word[RFN_WORD_THREAD] > UINT32_MAX ||
            word[RFN_WORD_GROUP] < 0 || word[RFN_WORD_GROUP] >= archive->n_streams ||
            word[RFN_WORD_VALUES] < 0 || word[RFN_WORD_VALUES] >= archive->n_streams ||
            word[RFN_WORD_HOST] < 0 || word[RFN_WORD_HOST] >= dictionary->n_hosts ||
            word[RFN_WORD_EVENTS] < 0 || word[RFN_WORD_CALLS] < word[RFN_WORD_EVENTS] ||
            word[RFN_WORD_REGIONS] < 0 || word[RFN_WORD_REGIONS] > word[RFN_WORD_EVENTS])
            return "a stream has a number that is out of range";
        if (rfn_stream_counted(archive, i) && !dictionary->run.volume)
            return "a stream has volumes of which META says nothing";
        if (word[RFN_WORD_RANK] < rank_before ||
            (word[RFN_WORD_RANK] == rank_before && word[RFN_WORD_THREAD] <= thread_before))
            return "the streams are not in order";
        rank_before = word[RFN_WORD_RANK];
        thread_before = word[RFN_WORD_THREAD];
        if (word[RFN_WORD_GROUP] >= archive->n_groups)
            archive->n_groups = (uint32_t)word[RFN_WORD_GROUP] + 1;
        if (word[RFN_WORD_VALUES] >= archive->n_value_sets)
            archive->n_value_sets = (uint32_t)word[RFN_WORD_VALUES] + 1;
    }
    return NULL;
}

/* Sorts the streams by group, by counting. first_member[g + 1] serves as the place to fill next. */
static const char *sort_members(struct rfn_archive *archive)
{
    uint32_t n = archive->n_groups, *first = calloc(n + (size_t)2, sizeof *first);
    archive->members = malloc((archive->n_streams + (size_t)1) * sizeof *archive->members);
    archive->first_member = first;
    if (!first || !archive->members)
        return rfn_out_of_memory;
    for (uint32_t i = 0; i < archive->n_streams; i++)
        first[rfn_stream_word(archive, RFN_WORD_GROUP, i) + 2]++;
    for (uint32_t g = 0; g < n; g++) {
        if (first[g + 2] == 0)
            return "a group has no members";
        first[g + 2] += first[g + 1];
    }
    for (uint32_t i = 0; i < archive->n_streams; i++)
        archive->members[first[rfn_stream_word(archive, RFN_WORD_GROUP, i) + 1]++] = i;
    return NULL;
}

/* Where the times of all streams begin. Clocks of one host agree. Those of different hosts are
 * corrected where CLOCKS says how, and then have the reference's offset; else they are aligned by
 * the time of day, CLOCK_REALTIME - CLOCK_MONOTONIC as the first stream of each host says. */
static const char *find_origin(struct rfn_archive *archive)
{
    const uint32_t n_hosts = archive->dictionary.n_hosts;
    uint64_t *offsets = archive->host_offsets = calloc(n_hosts + (size_t)1, sizeof *offsets);
    if (!offsets)
        return rfn_out_of_memory;
    for (uint32_t i = archive->n_streams; i-- > 0;)
        offsets[rfn_stream_word(archive, RFN_WORD_HOST, i)] = (uint64_t)rfn_stream_word(
            archive, RFN_WORD_REALTIME, i);
    for (uint32_t host = 0; host < n_hosts; host++) {
        if (rfn_host_clock(&archive->clocks, host))
            offsets[host] = offsets[archive->clocks.reference];
    }
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        struct rfn_clock_place place = {0};
        uint32_t host = (uint32_t)rfn_stream_word(archive, RFN_WORD_HOST, i);
        const struct rfn_clock *clock = rfn_host_clock(&archive->clocks, host);
        uint64_t start = (uint64_t)rfn_stream_word(archive, RFN_WORD_START, i);
        if (clock)
            start = rfn_clock_ns(clock, &place, start);
        start += offsets[host];
        if (i == 0 || (int64_t)(start - archive->start_ns) < 0)
            archive->start_ns = start;
    }
    return NULL;
}

uint64_t rfn_archive_origin(const struct rfn_archive *archive, uint32_t host)
{
    return archive->host_offsets[host] - archive->start_ns;
}

/* The shape of a value set is that of one group. In CLUSTERS, they stand in order of their groups.
 */
static const char *check_value_sets(struct rfn_archive *archive)
{
    bool clusters = rfn_chunks_know(&archive->chunks, RFN_CHUNK_CLUSTERS) &&
                    rfn_chunks_first(&archive->chunks, RFN_CHUNK_CLUSTERS) >= 0;
    uint32_t n_sets = archive->n_value_sets, n_groups = archive->n_groups, set = 0;
    int64_t *groups = malloc((n_sets + (size_t)1) * sizeof *groups);
    if (clusters)
        archive->first_set = malloc((n_groups + (size_t)1) * sizeof *archive->first_set);
    const char *fault = groups && (!clusters || archive->first_set) ? NULL : rfn_out_of_memory;
    for (uint32_t i = 0; i < n_sets && !fault; i++)
        groups[i] = -1;
    for (uint32_t i = 0; i < archive->n_streams && !fault; i++) {
        int64_t *group = &groups[rfn_stream_word(archive, RFN_WORD_VALUES, i)];
        int64_t own = rfn_stream_word(archive, RFN_WORD_GROUP, i);
        if (*group >= 0 && *group != own)
            fault = "streams of two groups have the same values";
        *group = own;
    }
    for (uint32_t i = 0; i < n_sets && !fault; i++) {
        if (groups[i] < 0)
            fault = "a value set belongs to no stream";
    }
    for (uint32_t group = 0; group < n_groups && clusters && !fault; group++) {
        archive->first_set[group] = set;
        while (set < n_sets && groups[set] == group)
            set++;
    }
    if (clusters && !fault)
        archive->first_set[n_groups] = set;
    if (clusters && !fault && set < n_sets)
        fault = "value sets are not in order of their groups";
    free(groups);
    return fault;
}

/* A time set has the number of its lowest stream; what shares it is of one group. */
static const char *check_time_sets(const struct rfn_archive *archive)
{
    for (uint32_t i = 0; i < archive->n_streams && RFN_WORD_TIMES < archive->streams.n; i++) {
        int64_t set = rfn_stream_word(archive, RFN_WORD_TIMES, i);
        if (set < 0 || set > i || rfn_stream_word(archive, RFN_WORD_TIMES, (uint32_t)set) != set)
            return "a time set has not the number of its lowest stream";
        if (rfn_stream_word(archive, RFN_WORD_GROUP, i) !=
            rfn_stream_word(archive, RFN_WORD_GROUP, (uint32_t)set))
            return "streams of two groups have the same times";
    }
    return NULL;
}

static const char *read_streams(struct rfn_archive *archive, const struct rfn_payload *payload)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    uint32_t minor = archive->chunks.minor;
    size_t words = minor == 0                           ? RFN_WORD_VOLUME
                   : minor < RFN_PROFILE_SINCE_MINOR    ? RFN_WORD_TIMES
                   : minor < RFN_SIGNATURES_SINCE_MINOR ? RFN_WORD_SIGNATURE
                   : minor < RFN_ENDS_SINCE_MINOR       ? RFN_WORD_END
                                                        : RFN_STREAM_WORDS;
    archive->n_streams = (uint32_t)rfn_reader_limited(&reader, STREAMS_MAX);
    if (reader.failed)
        return "it has an unbelievable number of streams";
    const char *fault = rfn_member_table_read(&archive->streams, &reader, words, archive->n_streams,
                                              RFN_RUN_EXPRESSION);
    if (!fault && archive->exact && rfn_reader_left(&reader))
        fault = "there are bytes behind its end";
    if (!fault)
        fault = check_streams(archive);
    if (!fault)
        fault = check_time_sets(archive);
    if (!fault)
        fault = sort_members(archive);
    return fault ? fault : check_value_sets(archive);
}

/* ---- opening ---- */

static const char *read_meta(struct rfn_archive *archive, const struct rfn_payload *payload)
{
    return rfn_dictionary_meta(&archive->dictionary, payload, archive->chunks.minor,
                               archive->exact);
}

static const char *read_definitions(struct rfn_archive *archive, const struct rfn_payload *payload)
{
    return rfn_dictionary_definitions(&archive->dictionary, payload, archive->exact);
}

/* Most archives have no CLOCKS; before minor version 2 the type meant nothing. */
static const char *read_clocks(struct rfn_archive *archive, const struct rfn_payload *payload)
{
    const char *fault = NULL;
    if (payload->data)
        fault = rfn_host_clocks_read(&archive->clocks, payload, archive->dictionary.n_hosts,
                                     archive->exact);
    return fault ? fault : find_origin(archive);
}

static int read_head(struct rfn_archive *archive, struct rfn_diag *diag)
{
    static const struct {
        uint32_t type;
        const char *name;
        const char *(*read)(struct rfn_archive *archive, const struct rfn_payload *payload);
    } parts[] = {{RFN_CHUNK_META, "META", read_meta},
                 {RFN_CHUNK_DEFINITIONS, "DEFINITIONS", read_definitions},
                 {RFN_CHUNK_STREAMS, "STREAMS", read_streams},
                 {RFN_CHUNK_CLOCKS, NULL, read_clocks}};
    const struct rfn_chunks *chunks = &archive->chunks;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct rfn_payload payload = {.path = chunks->path};
        bool known = rfn_chunks_know(chunks, parts[i].type);
        int64_t entry = known ? rfn_chunks_find(chunks, parts[i].type, 0) : -1;
        if (entry >= 0)
            RFN_TRY(rfn_chunks_load(chunks, &chunks->entries[entry], &payload, diag));
        else if (parts[i].name)
            return rfn_archive_missing(archive, parts[i].name, 0, diag);
        int error = rfn_payload_fault(&payload, parts[i].read(archive, &payload), diag);
        rfn_payload_release(&payload);
        RFN_TRY(error);
    }
    return 0;
}

/* The resolution is that of the first stream that has times. In PROFILES quanta are nanoseconds. */
static int find_resolution(struct rfn_archive *archive, struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &archive->chunks;
    struct rfn_run *run = &archive->dictionary.run;
    int64_t entry = rfn_chunks_first(chunks, run->reduced ? RFN_CHUNK_PROFILE : RFN_CHUNK_TIMING);
    struct rfn_payload payload;
    struct rfn_payload_reader scan;
    struct rfn_clock clock;
    uint64_t flags;
    if (run->reduced && rfn_chunks_first(chunks, RFN_CHUNK_PROFILES) >= 0)
        run->resolution_ns = 1;
    if (!run->times || entry < 0)
        return 0;
    RFN_TRY(rfn_chunks_load_events(chunks, &chunks->entries[entry], &payload, diag));
    rfn_payload_reader_begin(&scan, &payload);
    int error = rfn_payload_fault(&payload, rfn_clock_read(&clock, &flags, &scan), diag);
    if (!error && flags & RFN_TIMING_TIMES)
        run->resolution_ns = clock.resolution_ns;
    rfn_clock_release(&clock);
    rfn_payload_release(&payload);
    return error;
}

/* n: ranks that are here. */
static void say_recovered(struct rfn_archive *archive, uint32_t n)
{
    const struct rfn_run *run = &archive->dictionary.run;
    const double seconds = (double)(run->recovered.first_ns - run->start_realtime_ns) * 1e-9;
    snprintf(
        archive->missing, sizeof archive->missing,
        "it was recovered from the journal of a run that had not ended, with %u of %u ranks, and "
        "lacks what they did after about %.1f s",
        n, run->ranks, seconds > 0 ? seconds : 0);
}

static int read_archive(struct rfn_archive *archive, struct rfn_diag *diag)
{
    archive->exact = archive->chunks.minor == RFN_FORMAT_MINOR;
    archive->complete = archive->chunks.complete;
    archive->why = archive->complete ? NULL : archive->chunks.why;
    RFN_TRY(read_head(archive, diag));
    struct rfn_part_cache *cache = &archive->cache;
    cache->n = archive->chunks.n;
    if (archive->first_set)
        cache->n += 2 * (size_t)archive->n_groups + archive->n_value_sets;
    cache->parts = calloc(cache->n + 1, sizeof(struct rfn_part *));
    if (!cache->parts)
        return rfn_archive_no_memory(archive, diag);
    struct rfn_run *run = &archive->dictionary.run;
    run->streams = archive->n_streams;
    run->file_bytes = archive->chunks.file_bytes;
    run->clustered |= archive->first_set != NULL;
    /* A process that could not finish with the others has saved its events alone, or these ranks
     * were taken out of an archive. */
    uint32_t n = 0;
    int64_t before = -1;
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        int64_t rank = rfn_stream_word(archive, RFN_WORD_RANK, i);
        n += rank != before; /* ranks ascend */
        before = rank;
    }
    if (n < run->ranks)
        snprintf(
            archive->missing, sizeof archive->missing,
            "%u of %u ranks %s here: others were not recorded, were left out, or the run ended "
            "before the ranks met",
            n, run->ranks, n == 1 ? "is" : "are");
    if (run->recovered.recovered)
        say_recovered(archive, n);
    return find_resolution(archive, diag);
}

/* Opens a file, or bytes in memory when path is NULL. */
static int open_archive(const char *path, const void *bytes, size_t size,
                        struct rfn_archive **archive, struct rfn_diag *diag)
{
    struct rfn_archive *opened = calloc(1, sizeof *opened);
    if (!opened || pthread_mutex_init(&opened->cache.lock, NULL) != 0) {
        free(opened);
        return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory", path ? path : "(memory)");
    }
    opened->list_bytes = RFN_LIST_BYTES;
    opened->mark_events = RFN_MARK_EVENTS;
    int error = path ? rfn_chunks_open(&opened->chunks, path, diag)
                     : rfn_chunks_open_memory(&opened->chunks, bytes, size, diag);
    if (error < 0) {
        pthread_mutex_destroy(&opened->cache.lock);
        free(opened);
        return error;
    }
    error = read_archive(opened, diag);
    if (error < 0) {
        rfn_archive_close(opened);
        return error;
    }
    *archive = opened;
    return 0;
}

int rfn_archive_open(const char *path, struct rfn_archive **archive, struct rfn_diag *diag)
{
    return open_archive(path, NULL, 0, archive, diag);
}

int rfn_archive_open_memory(const void *bytes, size_t size, struct rfn_archive **archive,
                            struct rfn_diag *diag)
{
    return open_archive(NULL, bytes, size, archive, diag);
}

/* ---- what it says ---- */

bool rfn_archive_complete(const struct rfn_archive *archive, const char **why)
{
    if (why)
        *why = archive->missing[0] && archive->complete ? archive->missing : archive->why;
    return archive->complete && !archive->missing[0];
}

const struct rfn_run *rfn_archive_run(const struct rfn_archive *archive)
{
    return &archive->dictionary.run;
}

/* Where the structure has failed polls, streams need TIMING without times, too. A structure that
 * cannot be read counts as without. */
static bool is_readable(const struct rfn_archive *archive, uint32_t stream, uint32_t group)
{
    uint64_t values = (uint64_t)rfn_stream_word(archive, RFN_WORD_VALUES, stream);
    struct rfn_part *part;
    if (archive->complete)
        return true;
    if (rfn_part_find(archive, RFN_CHUNK_STRUCTURE, group) < 0 ||
        rfn_part_find(archive, RFN_CHUNK_RANK_PARAMS, group) < 0 ||
        rfn_part_find(archive, RFN_CHUNK_VALUES, values) < 0)
        return false;
    if (rfn_reduced_timing_find(archive, stream) >= 0 || rfn_timing_find(archive, stream) >= 0)
        return true;
    if (archive->dictionary.run.times || rfn_stream_counted(archive, stream))
        return false;
    if (rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &part, NULL) < 0)
        return true;
    bool polls = part->u.structure.n_polls > 0;
    rfn_part_done(archive, part);
    return !polls;
}

struct rfn_stream_info rfn_archive_stream(const struct rfn_archive *archive, uint32_t stream)
{
    struct rfn_stream_info info = {
        .rank = (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, stream),
        .thread = (uint32_t)rfn_stream_word(archive, RFN_WORD_THREAD, stream),
        .group = (uint32_t)rfn_stream_word(archive, RFN_WORD_GROUP, stream),
        .host = archive->dictionary.hosts[rfn_stream_word(archive, RFN_WORD_HOST, stream)].name,
        .events = (uint64_t)rfn_stream_word(archive, RFN_WORD_EVENTS, stream),
        .region_events = (uint64_t)rfn_stream_word(archive, RFN_WORD_REGIONS, stream),
        .volume = rfn_stream_counted(archive, stream),
        .signature = (uint64_t)rfn_stream_word(archive, RFN_WORD_SIGNATURE, stream),
    };
    info.calls = (uint64_t)rfn_stream_word(archive, RFN_WORD_CALLS, stream) - info.region_events;
    info.readable = is_readable(archive, stream, info.group);
    return info;
}

uint32_t rfn_archive_groups(const struct rfn_archive *archive)
{
    return archive->n_groups;
}

struct rfn_group_info rfn_archive_group(const struct rfn_archive *archive, uint32_t group)
{
    uint32_t first = archive->first_member[group], end = archive->first_member[group + 1];
    struct rfn_group_info info = {.members = archive->members + first, .n_members = end - first};
    int64_t entry = rfn_chunks_find(&archive->chunks, RFN_CHUNK_STRUCTURE, group);
    struct rfn_part *part;
    if (entry >= 0)
        info.bytes = archive->chunks.entries[entry].stored_size;
    if (rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &part, NULL) < 0)
        return info;
    const struct rfn_structure *structure = &part->u.structure;
    info.symbols = structure->n_symbols;
    info.loops = structure->n_loops;
    info.nodes = structure->n_nodes < UINT32_MAX ? (uint32_t)structure->n_nodes : UINT32_MAX;
    rfn_part_done(archive, part);
    return info;
}

uint32_t rfn_stream_place(const struct rfn_archive *archive, uint32_t stream)
{
    const uint32_t *first = archive->first_member +
                            rfn_stream_word(archive, RFN_WORD_GROUP, stream);
    const uint32_t *members = archive->members + first[0];
    return (uint32_t)rfn_last_at_most(members, sizeof *members, first[1] - first[0], stream);
}

struct rfn_rank_value rfn_member_own_place(const struct rfn_member *member,
                                           const struct rfn_symbol_info *symbol,
                                           const struct rfn_function_info *function)
{
    const struct rfn_archive *archive = member->archive;
    struct rfn_rank_value own = {.rank = member->rank, .size = archive->dictionary.run.ranks};
    unsigned i = function->n_in;
    while (i > 0 && function->params[i - 1].kind != RFN_KIND_COMM)
        i--;
    if (i == 0 || symbol->moved >> (i - 1) & 1 || symbol->in[i - 1] < 0)
        return own;
    int64_t comm = rfn_rank_param(member->table,
                                  member->structure->n_rank_params + (size_t)symbol->in[i - 1],
                                  member->place, 0);
    int64_t rank = comm < 0 ? -1 : rfn_comm_rank_of(archive, (uint32_t)comm, member->rank);
    if (rank < 0)
        return own;
    return (struct rfn_rank_value){.rank = (uint32_t)rank,
                                   .size = rfn_comm_peers(archive, (uint32_t)comm, member->rank)};
}

/* ---- hosts ---- */

uint32_t rfn_archive_hosts(const struct rfn_archive *archive)
{
    return archive->dictionary.n_hosts;
}

struct rfn_host_info rfn_archive_host(const struct rfn_archive *archive, uint32_t host)
{
    const struct rfn_host_clocks *clocks = &archive->clocks;
    struct rfn_host_info info = {.name = archive->dictionary.hosts[host].name,
                                 .cores = archive->dictionary.hosts[host].cores};
    if (!clocks->hosts)
        return info;
    info.reference = host == clocks->reference;
    info.n_offsets = clocks->hosts[host].n;
    info.offsets = clocks->hosts[host].offsets;
    return info;
}

/* ---- definitions ---- */

uint32_t rfn_archive_paths(const struct rfn_archive *archive)
{
    return archive->dictionary.n_paths;
}

struct rfn_path rfn_archive_path(const struct rfn_archive *archive, uint32_t path)
{
    return archive->dictionary.paths[path];
}

uint32_t rfn_archive_locations(const struct rfn_archive *archive)
{
    return archive->dictionary.n_locations;
}

struct rfn_location rfn_archive_location(const struct rfn_archive *archive, uint32_t location)
{
    return archive->dictionary.locations[location].is;
}

uint32_t rfn_archive_functions(const struct rfn_archive *archive)
{
    return archive->dictionary.n_functions;
}

const struct rfn_function_info *rfn_archive_function(const struct rfn_archive *archive,
                                                     uint32_t function)
{
    return &archive->dictionary.functions[function];
}

const struct rfn_call *rfn_archive_call(const struct rfn_archive *archive, uint32_t function)
{
    return &archive->dictionary.calls[function];
}

uint32_t rfn_archive_datatypes(const struct rfn_archive *archive)
{
    return archive->dictionary.n_datatypes;
}

const struct rfn_datatype_info *rfn_archive_datatype(const struct rfn_archive *archive,
                                                     uint32_t datatype)
{
    return &archive->dictionary.datatypes[datatype];
}

uint32_t rfn_archive_regions(const struct rfn_archive *archive)
{
    return archive->dictionary.n_regions;
}

const char *rfn_archive_region(const struct rfn_archive *archive, uint32_t region)
{
    return archive->dictionary.regions[region];
}

uint32_t rfn_archive_comms(const struct rfn_archive *archive)
{
    return archive->dictionary.n_comms;
}

const struct rfn_comm_info *rfn_archive_comm(const struct rfn_archive *archive, uint32_t comm)
{
    return &archive->dictionary.comms[comm].info;
}

int64_t rfn_comm_world_rank(const struct rfn_archive *archive, uint32_t comm, bool remote,
                            uint32_t rank)
{
    const struct rfn_communicator *of = &archive->dictionary.comms[comm];
    if (of->info.kind == RFN_COMM_WORLD || of->info.kind == RFN_COMM_SELF)
        return rank < archive->dictionary.run.ranks ? (int64_t)rank : -1;
    return rfn_rank_list_world(&of->groups[remote && of->info.kind == RFN_COMM_INTER], rank);
}

/* The group of a communicator that a world rank is in, 0 or 1 (of an INTER); -1: it is in none. */
static int group_of(const struct rfn_communicator *comm, uint32_t world_rank, int64_t *rank)
{
    for (int i = 0; i <= (comm->info.kind == RFN_COMM_INTER); i++) {
        *rank = rfn_rank_list_find(&comm->groups[i], world_rank);
        if (*rank >= 0)
            return i;
    }
    return -1;
}

int64_t rfn_comm_rank_of(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank)
{
    const struct rfn_communicator *of = &archive->dictionary.comms[comm];
    int64_t rank;
    if (of->info.kind == RFN_COMM_WORLD)
        return world_rank < archive->dictionary.run.ranks ? (int64_t)world_rank : -1;
    if (of->info.kind == RFN_COMM_SELF)
        return 0;
    return group_of(of, world_rank, &rank) < 0 ? -1 : rank;
}

/* Whether calls of the rank mean the second group by a rank. */
static bool means_second(const struct rfn_communicator *comm, uint32_t world_rank)
{
    int64_t rank;
    return comm->info.kind == RFN_COMM_INTER && group_of(comm, world_rank, &rank) == 0;
}

int64_t rfn_comm_peer(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank,
                      int64_t rank)
{
    const struct rfn_communicator *of = &archive->dictionary.comms[comm];
    if (rank < 0 || rank > UINT32_MAX)
        return -1;
    if (of->info.kind == RFN_COMM_SELF)
        return rank == 0 ? (int64_t)world_rank : -1;
    return rfn_comm_world_rank(archive, comm, means_second(of, world_rank), (uint32_t)rank);
}

uint32_t rfn_comm_peers(const struct rfn_archive *archive, uint32_t comm, uint32_t world_rank)
{
    const struct rfn_communicator *of = &archive->dictionary.comms[comm];
    return means_second(of, world_rank) ? of->info.remote_size : of->info.size;
}
