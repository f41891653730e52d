/* Spreads from times are packed first and read from that payload, so that they equal those kept. */
#include "archive/cursor/time_spreads.h"

#include "archive/cursor/pack_spreads.h"
#include "base/grow.h"

#include <stdlib.h>

#define NO_CLUSTER UINT32_MAX

struct cluster {
    struct rfn_hash128 digest;
    uint32_t *streams, n_streams, n_sites;
    uint32_t *functions, *paths; /* by site */
    uint64_t events;             /* of its streams */
    uint64_t counted;
};

struct rfn_time_spreads {
    bool kept, afters;    /* the payload tells apart what came before */
    uint32_t *cluster_of; /* per stream */
    struct cluster *clusters;
    size_t n_clusters, clusters_capacity;
    struct rfn_position_spread *positions;
    size_t n_positions, positions_capacity;
    struct rfn_arena arena;
};

static int no_memory(struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

/* ---- which streams are a cluster ---- */

static struct rfn_hash128 digest_of(const struct rfn_structure *structure)
{
    struct rfn_hash128 digest = {0};
    for (uint32_t i = 0; i < structure->n_sites; i++)
        digest = rfn_sites_digest(digest, structure->site_functions[i], structure->site_paths[i]);
    return digest;
}

/* That with the structure's sites; a new one if there is none. */
static int find_cluster(struct rfn_time_spreads *spreads, struct rfn_map *by_digest,
                        const struct rfn_structure *structure, uint32_t *found)
{
    struct rfn_hash128 digest = digest_of(structure);
    size_t bytes = structure->n_sites * sizeof *structure->site_paths;
    const uint64_t *number;
    uint64_t key = digest.low;
    for (; (number = rfn_map_get(by_digest, key)); key++) {
        *found = (uint32_t)*number;
        if (rfn_hash128_equal(spreads->clusters[*found].digest, digest))
            return 0;
    }
    *found = (uint32_t)spreads->n_clusters;
    RFN_TRY(RFN_GROW(spreads->clusters, spreads->clusters_capacity, spreads->n_clusters + 1));
    struct cluster *cluster = &spreads->clusters[spreads->n_clusters++];
    *cluster = (struct cluster){
        .digest = digest,
        .n_sites = structure->n_sites,
        .functions = rfn_arena_copy(&spreads->arena, structure->site_functions, bytes),
        .paths = rfn_arena_copy(&spreads->arena, structure->site_paths, bytes)};
    if (!cluster->functions || !cluster->paths)
        return RFN_E_NOMEM;
    return rfn_map_put(by_digest, key, *found);
}

static int place_streams(struct rfn_time_spreads *spreads, const struct rfn_archive *archive,
                         struct rfn_map *by_digest, uint32_t *of_groups, struct rfn_diag *diag)
{
    for (uint32_t i = 0; i < archive->n_streams; i++) {
        struct rfn_stream_info info = rfn_archive_stream(archive, i);
        uint32_t *number = &of_groups[info.group];
        if (!info.readable)
            continue;
        if (*number == NO_CLUSTER) {
            struct rfn_part *part;
            RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, info.group, NULL, &part, diag));
            int error = find_cluster(spreads, by_digest, &part->u.structure, number);
            rfn_part_done(archive, part);
            if (error < 0)
                return no_memory(diag);
        }
        spreads->cluster_of[i] = *number;
        spreads->clusters[*number].n_streams++;
        spreads->clusters[*number].events += info.events;
    }
    return 0;
}

/* Numbers clusters, and lists the streams of each. */
static int find_clusters(struct rfn_time_spreads *spreads, const struct rfn_archive *archive,
                         struct rfn_diag *diag)
{
    struct rfn_map by_digest = RFN_MAP_INIT;
    uint32_t *of_groups = malloc((archive->n_groups + (size_t)1) * sizeof *of_groups);
    uint32_t *listed = malloc((archive->n_streams + (size_t)1) * sizeof *listed);
    spreads->cluster_of = listed;
    int error = of_groups && listed ? 0 : no_memory(diag);
    for (uint32_t i = 0; i < archive->n_groups && !error; i++)
        of_groups[i] = NO_CLUSTER;
    for (uint32_t i = 0; i < archive->n_streams && !error; i++)
        listed[i] = NO_CLUSTER;
    if (!error)
        error = place_streams(spreads, archive, &by_digest, of_groups, diag);
    for (size_t i = 0; i < spreads->n_clusters && !error; i++) {
        struct cluster *cluster = &spreads->clusters[i];
        cluster->streams = rfn_arena_alloc(&spreads->arena,
                                           cluster->n_streams * sizeof *cluster->streams);
        error = cluster->streams ? 0 : no_memory(diag);
        cluster->n_streams = 0;
    }
    for (uint32_t i = 0; i < archive->n_streams && !error; i++) {
        if (listed[i] == NO_CLUSTER)
            continue;
        struct cluster *cluster = &spreads->clusters[listed[i]];
        cluster->streams[cluster->n_streams++] = i;
    }
    rfn_map_release(&by_digest);
    free(of_groups);
    return error;
}

/* ---- from times ---- */

int rfn_structure_places(const struct rfn_archive *archive, uint32_t stream,
                         struct rfn_structure_places *places, struct rfn_diag *diag)
{
    struct rfn_part *part;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, rfn_archive_stream(archive, stream).group,
                         NULL, &part, diag));
    const struct rfn_structure *structure = &part->u.structure;
    places->digest = digest_of(structure);
    places->places = malloc((structure->n_symbols + (size_t)1) * sizeof *places->places);
    for (uint32_t i = 0; i < structure->n_symbols && places->places; i++)
        places->places[i] = rfn_spread_place(structure->symbols[i].site,
                                             structure->symbols[i].failed_poll);
    rfn_part_done(archive, part);
    return places->places ? 0 : no_memory(diag);
}

void rfn_structure_places_release(struct rfn_structure_places *places)
{
    free(places->places);
    places->places = NULL;
}

static int add_stream(const struct rfn_archive *archive, uint32_t stream, struct rfn_spreads *sums,
                      struct rfn_diag *diag)
{
    struct rfn_structure_places places;
    struct rfn_spread_table table = {0};
    struct rfn_cursor *cursor = NULL;
    const struct rfn_record *record;
    int64_t last_exit = 0;
    RFN_TRY(rfn_structure_places(archive, stream, &places, diag));
    int error = rfn_cursor_open(archive, stream, &cursor, diag);
    while (!error && (error = rfn_cursor_next(cursor, &record, diag)) > 0) {
        error = 0;
        if (rfn_spread_table_event(&table, places.places[record->symbol], last_exit,
                                   record->enter_ns, record->exit_ns) < 0)
            error = no_memory(diag);
        last_exit = record->exit_ns;
    }
    rfn_cursor_close(cursor);
    if (!error && rfn_spreads_add(sums, places.digest, stream, &table) < 0)
        error = no_memory(diag);
    rfn_spread_table_release(&table);
    rfn_structure_places_release(&places);
    return error;
}

/* ---- reading the payload; functions say what is wrong, or NULL ---- */

static const char malformed[] = "it is malformed";

/* Of n times. */
static const char *read_spread(struct rfn_reader *reader, struct rfn_arena *arena, uint64_t n,
                               struct rfn_time_spread *spread)
{
    *spread = (struct rfn_time_spread){.n = n};
    if (!n)
        return NULL;
    uint64_t min = rfn_reader_limited(reader, RFN_SPREAD_CODE_MAX);
    uint64_t range = rfn_reader_limited(reader, RFN_SPREAD_CODE_MAX - min);
    uint64_t mean = range ? rfn_reader_limited(reader, range) : 0;
    spread->min_ns = rfn_spread_decode(min);
    spread->max_ns = rfn_spread_decode(min + range);
    spread->mean_ns = rfn_spread_decode(min + mean);
    if (range)
        spread->deviation_ns = rfn_spread_decode(rfn_reader_limited(reader, RFN_SPREAD_CODE_MAX));
    if (reader->failed)
        return malformed;
    spread->first_bin = rfn_spread_bin(spread->min_ns);
    spread->n_bins = rfn_spread_bin(spread->max_ns) - spread->first_bin + 1;
    uint64_t *bins = rfn_arena_alloc(arena, spread->n_bins * sizeof *bins);
    if (!bins)
        return rfn_out_of_memory;
    spread->bins = bins;
    bins[0] = rfn_spread_decode(rfn_spread_code(n));
    for (uint32_t i = 0; spread->n_bins > 1 && i < spread->n_bins; i++)
        bins[i] = rfn_spread_decode(rfn_reader_limited(reader, RFN_SPREAD_CODE_MAX));
    return reader->failed ? malformed : NULL;
}

/* Of n events, some of which are the first of their streams. */
static const char *read_position(struct rfn_time_spreads *spreads, struct rfn_reader *reader,
                                 struct rfn_position_spread *position, uint64_t n, uint64_t firsts)
{
    const char *fault = read_spread(reader, &spreads->arena, n - firsts, &position->before);
    if (!fault)
        fault = read_spread(reader, &spreads->arena, n, &position->duration);
    if (fault || !n)
        return fault;
    if (RFN_GROW(spreads->positions, spreads->positions_capacity, spreads->n_positions + 1) < 0)
        return rfn_out_of_memory;
    spreads->positions[spreads->n_positions++] = *position;
    return NULL;
}

/* The positions that are told apart. *left: events of the place that are in none of them. */
static const char *read_apart(struct rfn_time_spreads *spreads, struct rfn_reader *reader,
                              struct rfn_position_spread position, uint64_t *left)
{
    const struct cluster *cluster = &spreads->clusters[position.cluster];
    uint64_t n_apart = rfn_reader_limited(reader, RFN_SITES_BEFORE_MOST), site = 0;
    const char *fault = n_apart < 2 ? malformed : NULL;
    position.after = RFN_AFTER_SITE;
    for (uint64_t i = 0; i < n_apart && !fault; i++, site++) {
        site += rfn_reader_limited(reader, cluster->n_sites);
        uint64_t n = rfn_reader_limited(reader, *left);
        if (reader->failed || site >= cluster->n_sites || !n)
            return malformed;
        position.after_function = cluster->functions[site];
        position.after_path = cluster->paths[site];
        *left -= n;
        fault = read_position(spreads, reader, &position, n, 0);
    }
    return fault;
}

/* *events: of the cluster that are in no place yet. *more: whether the site has failed polls, too.
 */
static const char *read_place(struct rfn_time_spreads *spreads, struct rfn_reader *reader,
                              struct rfn_position_spread position, uint64_t *events, bool *more)
{
    uint64_t head = rfn_reader_varint(reader), n = head >> (spreads->afters ? 3 : 2);
    uint64_t firsts = head & 2 ? rfn_reader_limited(reader, n) : 0;
    const char *fault = NULL;
    *more = head & 1;
    if (reader->failed || (head & 2 && !firsts))
        return malformed;
    if (n > *events)
        return "it has more times than there are events";
    *events -= n;
    if (*more && position.failed_poll)
        return malformed;
    if (spreads->afters && head & 4) {
        fault = read_apart(spreads, reader, position, &n);
        position.after = RFN_AFTER_REST;
    }
    if (fault || firsts > n)
        return fault ? fault : malformed;
    return read_position(spreads, reader, &position, n, firsts);
}

static const char *read_cluster(struct rfn_time_spreads *spreads, struct rfn_reader *reader,
                                uint32_t stream)
{
    uint32_t number = spreads->cluster_of[stream];
    struct cluster *cluster = &spreads->clusters[number];
    if (cluster->counted)
        return "a cluster is there twice";
    cluster->counted = rfn_reader_limited(reader, cluster->n_streams);
    uint64_t n = rfn_reader_limited(reader, cluster->n_sites), events = cluster->events;
    if (reader->failed || !cluster->counted)
        return "a cluster has another number of streams or sites";
    const char *fault = NULL;
    for (uint32_t i = 0; i < n && !fault; i++) {
        bool more = true;
        for (int polls = 0; more && !fault; polls++) {
            const struct rfn_position_spread position = {.cluster = number,
                                                         .function = cluster->functions[i],
                                                         .path = cluster->paths[i],
                                                         .failed_poll = polls};
            fault = read_place(spreads, reader, position, &events, &more);
        }
    }
    return fault;
}

static const char *read_payload(struct rfn_time_spreads *spreads, uint32_t n_streams, bool exact,
                                struct rfn_reader *reader)
{
    const char *fault = NULL;
    uint64_t n = rfn_reader_limited(reader, n_streams), stream = 0;
    for (uint64_t i = 0; i < n && !fault; i++) {
        uint64_t gap = rfn_reader_limited(reader, n_streams);
        stream += gap;
        if (reader->failed || (i && !gap) || stream >= n_streams ||
            spreads->cluster_of[stream] == NO_CLUSTER)
            return "it has a cluster of a stream that is not there";
        fault = read_cluster(spreads, reader, (uint32_t)stream);
    }
    if (!fault && (reader->failed || (exact && rfn_reader_left(reader))))
        return malformed;
    return fault;
}

/* ---- the whole ---- */

static int read_kept(struct rfn_time_spreads *spreads, const struct rfn_archive *archive,
                     size_t entry, struct rfn_diag *diag)
{
    struct rfn_payload payload;
    RFN_TRY(rfn_chunks_load(&archive->chunks, &archive->chunks.entries[entry], &payload, diag));
    struct rfn_reader reader = rfn_reader_over(payload.data, payload.size);
    spreads->afters = archive->chunks.entries[entry].type == RFN_CHUNK_SPREADS;
    const char *fault = read_payload(spreads, archive->n_streams, archive->exact, &reader);
    int error = rfn_payload_fault(&payload, fault, diag);
    rfn_payload_release(&payload);
    spreads->kept = true;
    return error;
}

static int read_times(struct rfn_time_spreads *spreads, const struct rfn_archive *archive,
                      struct rfn_diag *diag)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    if (!rfn_archive_run(archive)->times)
        return rfn_fail(diag, RFN_E_UNSUPPORTED, -1, -1,
                        "the archive has no times; record it with --time=full");
    struct rfn_spreads sums = {0};
    int error = 0;
    for (uint32_t i = 0; i < archive->n_streams && !error; i++) {
        if (rfn_archive_stream(archive, i).readable)
            error = add_stream(archive, i, &sums, diag);
    }
    if (!error && rfn_pack_spreads(&sums, &payload) < 0)
        error = no_memory(diag);
    rfn_spreads_release(&sums);
    if (!error) {
        struct rfn_reader reader = rfn_reader_over(payload.data, payload.size);
        spreads->afters = true;
        const char *fault = read_payload(spreads, archive->n_streams, true, &reader);
        if (fault)
            error = rfn_fail(diag, rfn_fault_error(fault), -1, -1,
                             "%s: how far times differ cannot be computed: %s",
                             archive->chunks.path, fault);
    }
    rfn_buf_release(&payload);
    return error;
}

int64_t rfn_time_spreads_find(const struct rfn_archive *archive)
{
    static const uint32_t types[] = {RFN_CHUNK_SPREADS, RFN_CHUNK_SITE_SPREADS};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        int64_t entry = rfn_chunks_find(&archive->chunks, types[i], 0);
        if (entry >= 0 && rfn_chunks_know(&archive->chunks, types[i]))
            return entry;
    }
    return -1;
}

int rfn_time_spreads_new(const struct rfn_archive *archive, struct rfn_time_spreads **spreads,
                         struct rfn_diag *diag)
{
    struct rfn_time_spreads *made = calloc(1, sizeof *made);
    int64_t entry = rfn_time_spreads_find(archive);
    if (!made)
        return no_memory(diag);
    int error = find_clusters(made, archive, diag);
    if (!error)
        error = entry >= 0 ? read_kept(made, archive, (size_t)entry, diag)
                           : read_times(made, archive, diag);
    if (error < 0)
        rfn_time_spreads_free(made);
    else
        *spreads = made;
    return error;
}

void rfn_time_spreads_free(struct rfn_time_spreads *spreads)
{
    if (!spreads)
        return;
    free(spreads->cluster_of);
    free(spreads->clusters);
    free(spreads->positions);
    rfn_arena_release(&spreads->arena);
    free(spreads);
}

int rfn_time_spreads_check(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    struct rfn_time_spreads *spreads;
    if (rfn_time_spreads_find(archive) < 0)
        return 0;
    RFN_TRY(rfn_time_spreads_new(archive, &spreads, diag));
    rfn_time_spreads_free(spreads);
    return 0;
}

bool rfn_time_spreads_kept(const struct rfn_time_spreads *spreads)
{
    return spreads->kept;
}

uint32_t rfn_time_spreads_clusters(const struct rfn_time_spreads *spreads)
{
    return (uint32_t)spreads->n_clusters;
}

struct rfn_spread_cluster rfn_time_spreads_cluster(const struct rfn_time_spreads *spreads,
                                                   uint32_t cluster)
{
    const struct cluster *of = &spreads->clusters[cluster];
    return (struct rfn_spread_cluster){
        .streams = of->streams, .n_streams = of->n_streams, .counted = of->counted};
}

const struct rfn_position_spread *rfn_time_spreads_positions(const struct rfn_time_spreads *spreads,
                                                             size_t *n)
{
    *n = spreads->n_positions;
    return spreads->positions;
}
