/* Parts of an archive: read when first asked for, shared while in use, and kept for a while after.
 *
 * Reading takes place outside of the lock. Two threads may then read the same part at the same
 * time; the second finds that it is there and throws its own away. Parts without users are in a
 * list from newest to oldest; when it is too long the oldest is freed. A chunk with parts of many
 * may be large, and counts as several. */
#include "archive/read/cluster_parts.h"
#include "archive/read/reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { IDLE_MAX = 32, IDLE_CHUNK = 8 };

int rfn_archive_no_memory(const struct rfn_archive *archive, struct rfn_diag *diag)
{
    return rfn_fail(diag, RFN_E_NOMEM, -1, -1, "%s: out of memory", archive->chunks.path);
}

int rfn_archive_missing(const struct rfn_archive *archive, const char *what, uint64_t id,
                        struct rfn_diag *diag)
{
    if (archive->chunks.complete)
        return rfn_fail(diag, RFN_E_CORRUPT, (int64_t)archive->chunks.toc_offset, -1,
                        "%s: damaged: the table of contents at offset %" PRIu64
                        " lists no chunk %s %" PRIu64,
                        archive->chunks.path, archive->chunks.toc_offset, what, id);
    return rfn_fail(diag, RFN_E_INCOMPLETE, -1, -1, "%s: %s: chunk %s %" PRIu64 " is missing",
                    archive->chunks.path, archive->chunks.why, what, id);
}

/* ---- reading ---- */

/* The time sets of PROFILES are those that its id says. */
static const char *read_profiles(const struct rfn_archive *archive,
                                 struct rfn_time_set_table *profiles, uint64_t id,
                                 struct rfn_payload *payload)
{
    uint32_t first = rfn_time_set_table_first(id), end = rfn_time_set_table_end(id), n = 0;
    end = end < archive->n_streams ? end : archive->n_streams;
    uint32_t *sets = malloc((first < end ? end - first : 1) * sizeof *sets);
    if (!sets)
        return rfn_out_of_memory;
    for (uint32_t i = first; i < end; i++) {
        sets[n] = i;
        n += rfn_stream_times(archive, i) == i;
    }
    const char *fault = rfn_time_set_table_read(profiles, sets, n, payload);
    free(sets);
    return fault;
}

static const char *read_part(const struct rfn_archive *archive, struct rfn_part *part, uint64_t id,
                             const struct rfn_structure *structure, struct rfn_payload *payload)
{
    const struct rfn_dictionary *dictionary = &archive->dictionary;
    switch (part->type) {
    case RFN_CHUNK_STRUCTURE:
        return rfn_structure_read(&part->u.structure, dictionary, payload, archive->exact);
    case RFN_CHUNK_VALUES:
        return rfn_values_read(&part->u.values, structure, payload, archive->exact);
    case RFN_CHUNK_CLUSTERS:
        return rfn_cluster_index_read(&part->u.shapes, archive->n_groups, payload);
    case RFN_CHUNK_COMMON:
        return payload->size > RFN_CLUSTERS_BYTES_MAX
                   ? "it is too large"
                   : rfn_common_read(&part->u.common, dictionary, payload, archive->exact);
    case RFN_CHUNK_PROFILES:
        return read_profiles(archive, &part->u.profiles, id, payload);
    default:
        return rfn_rank_params_read(&part->u.rank_params, structure, dictionary,
                                    archive->first_member[id + 1] - archive->first_member[id],
                                    payload, archive->exact);
    }
}

static void free_part(struct rfn_part *part)
{
    switch (part->type) {
    case RFN_CHUNK_STRUCTURE:
        rfn_structure_release(&part->u.structure);
        break;
    case RFN_CHUNK_VALUES:
        rfn_values_release(&part->u.values);
        break;
    case RFN_CHUNK_CLUSTERS:
        rfn_cluster_index_release(&part->u.shapes);
        break;
    case RFN_CHUNK_COMMON:
        rfn_common_release(&part->u.common);
        break;
    case RFN_CHUNK_PROFILES:
        rfn_time_set_table_release(&part->u.profiles);
        break;
    default:
        rfn_member_table_release(&part->u.rank_params);
    }
    free(part);
}

int64_t rfn_part_find(const struct rfn_archive *archive, uint32_t type, uint64_t id)
{
    bool values = type == RFN_CHUNK_VALUES;
    int64_t entry = rfn_chunks_find(&archive->chunks, type, id);
    if (entry >= 0)
        return entry;
    if (!archive->first_set || id >= (values ? archive->n_value_sets : archive->n_groups))
        return -1;
    return rfn_chunks_find_range(&archive->chunks, RFN_CHUNK_CLUSTERS,
                                 values ? rfn_group_of_set(archive, (uint32_t)id) : (uint32_t)id);
}

/* ---- sharing; the lock is held, where nothing else is said ---- */

/* What may change in an open archive. */
static struct rfn_part_cache *cache_of(const struct rfn_archive *archive)
{
    return &((struct rfn_archive *)(uintptr_t)archive)->cache;
}

static size_t weight(const struct rfn_part *part)
{
    bool many = part->type == RFN_CHUNK_CLUSTERS || part->type == RFN_CHUNK_PROFILES;
    return many ? IDLE_CHUNK : 1;
}

static void unlink_idle(struct rfn_part_cache *cache, struct rfn_part *part)
{
    *(part->newer ? &part->newer->older : &cache->newest) = part->older;
    *(part->older ? &part->older->newer : &cache->oldest) = part->newer;
    part->newer = part->older = NULL;
    cache->n_idle -= weight(part);
}

static struct rfn_part *take(struct rfn_part_cache *cache, size_t slot)
{
    struct rfn_part *part = cache->parts[slot];
    if (part && part->users++ == 0)
        unlink_idle(cache, part);
    return part;
}

/* Without the lock. */
static struct rfn_part *take_if_there(const struct rfn_archive *archive, size_t slot)
{
    struct rfn_part_cache *cache = cache_of(archive);
    pthread_mutex_lock(&cache->lock);
    struct rfn_part *part = take(cache, slot);
    pthread_mutex_unlock(&cache->lock);
    return part;
}

/* Without the lock. Returns the part that is kept: the first, where two threads have read it. To be
 * given back. */
static struct rfn_part *keep(const struct rfn_archive *archive, size_t slot, struct rfn_part *read)
{
    struct rfn_part_cache *cache = cache_of(archive);
    pthread_mutex_lock(&cache->lock);
    struct rfn_part *kept = take(cache, slot);
    if (!kept) {
        read->entry = slot;
        read->users = 1;
        kept = cache->parts[slot] = read;
    }
    pthread_mutex_unlock(&cache->lock);
    if (kept != read)
        free_part(read);
    return kept;
}

void rfn_part_done(const struct rfn_archive *archive, struct rfn_part *part)
{
    struct rfn_part_cache *cache = cache_of(archive);
    struct rfn_part *old = NULL;
    pthread_mutex_lock(&cache->lock);
    if (--part->users == 0) {
        part->older = cache->newest;
        *(cache->newest ? &cache->newest->newer : &cache->oldest) = part;
        cache->newest = part;
        cache->n_idle += weight(part);
        if (cache->n_idle > IDLE_MAX) {
            old = cache->oldest;
            unlink_idle(cache, old);
            cache->parts[old->entry] = NULL;
        }
    }
    pthread_mutex_unlock(&cache->lock);
    if (old)
        free_part(old);
}

/* ---- loading ---- */

/* Makes a part of a payload, which is released, and keeps it in its slot. */
static int make_part(const struct rfn_archive *archive, size_t slot, uint32_t type, uint64_t id,
                     const struct rfn_structure *structure, struct rfn_payload *payload,
                     struct rfn_part **part, struct rfn_diag *diag)
{
    struct rfn_payload where = *payload; /* the part may take the payload over */
    struct rfn_part *made = calloc(1, sizeof *made);
    const char *fault = rfn_out_of_memory;
    if (made) {
        made->type = type;
        fault = read_part(archive, made, id, structure, payload);
    }
    rfn_payload_release(payload);
    if (!fault) {
        *part = keep(archive, slot, made);
        return 0;
    }
    if (made)
        free_part(made);
    int error = rfn_payload_fault(&where, fault, diag);
    assert(error < 0);
    return error;
}

int rfn_chunk_use(const struct rfn_archive *archive, const struct rfn_toc_entry *chunk,
                  struct rfn_part **part, struct rfn_diag *diag)
{
    size_t slot = (size_t)(chunk - archive->chunks.entries);
    struct rfn_payload payload;
    *part = take_if_there(archive, slot);
    if (*part)
        return 0;
    RFN_TRY(rfn_chunks_load(&archive->chunks, chunk, &payload, diag));
    return make_part(archive, slot, chunk->type, chunk->id, NULL, &payload, part, diag);
}

/* ---- COMMON: never given back, and so kept until the archive is closed ---- */

int64_t rfn_common_find(const struct rfn_archive *archive)
{
    bool known = archive->first_set && rfn_chunks_know(&archive->chunks, RFN_CHUNK_COMMON);
    return known ? rfn_chunks_find(&archive->chunks, RFN_CHUNK_COMMON, 0) : -1;
}

int rfn_common_use(const struct rfn_archive *archive, const struct rfn_common **common,
                   struct rfn_diag *diag)
{
    int64_t entry = rfn_common_find(archive);
    struct rfn_part *part;
    if (entry < 0)
        return rfn_archive_missing(archive, "COMMON", 0, diag);
    RFN_TRY(rfn_chunk_use(archive, &archive->chunks.entries[entry], &part, diag));
    *common = &part->u.common;
    return 0;
}

/* ---- parts in chunks of their own, or in CLUSTERS ---- */

/* The payload that a chunk of its own has, or would have. COMMON is read when it is needed. */
static int load_payload(const struct rfn_archive *archive, const struct rfn_toc_entry *chunk,
                        uint32_t type, uint64_t id, const struct rfn_structure *structure,
                        struct rfn_payload *payload, struct rfn_diag *diag)
{
    struct rfn_part *many;
    if (chunk->type == RFN_CHUNK_VALUES)
        return rfn_chunks_load_events(&archive->chunks, chunk, payload, diag);
    if (chunk->type != RFN_CHUNK_CLUSTERS)
        return rfn_chunks_load(&archive->chunks, chunk, payload, diag);
    RFN_TRY(rfn_chunk_use(archive, chunk, &many, diag));
    int64_t entry = rfn_common_find(archive);
    struct rfn_part *known = entry < 0 ? NULL : take_if_there(archive, (size_t)entry);
    const struct rfn_common *common = known ? &known->u.common : NULL;
    const char *fault = rfn_cluster_take(archive, &many->u.shapes, type, (uint32_t)id, structure,
                                         common, payload);
    int error = 0;
    if (fault == rfn_common_needed) {
        error = rfn_common_use(archive, &common, diag);
        fault = error < 0 ? NULL
                          : rfn_cluster_take(archive, &many->u.shapes, type, (uint32_t)id,
                                             structure, common, payload);
    }
    if (fault)
        error = rfn_payload_fault(payload, fault, diag);
    rfn_part_done(archive, many);
    return error;
}

int rfn_part_load(const struct rfn_archive *archive, uint32_t type, uint64_t id,
                  const struct rfn_structure *structure, struct rfn_payload *payload,
                  struct rfn_diag *diag)
{
    static const char *const names[] = {[RFN_CHUNK_STRUCTURE] = "STRUCTURE",
                                        [RFN_CHUNK_VALUES] = "VALUES",
                                        [RFN_CHUNK_RANK_PARAMS] = "RANK_PARAMS"};
    int64_t entry = rfn_part_find(archive, type, id);
    if (entry < 0)
        return rfn_archive_missing(archive, names[type], id, diag);
    return load_payload(archive, &archive->chunks.entries[entry], type, id, structure, payload,
                        diag);
}

int rfn_part_use(const struct rfn_archive *archive, uint32_t type, uint64_t id,
                 const struct rfn_structure *structure, struct rfn_part **part,
                 struct rfn_diag *diag)
{
    int64_t entry = rfn_part_find(archive, type, id);
    /* Those in CLUSTERS come behind the chunks: structures, rank parameters, values. */
    size_t before = type == RFN_CHUNK_STRUCTURE ? 0 : type == RFN_CHUNK_RANK_PARAMS ? 1 : 2;
    bool own = entry >= 0 && archive->chunks.entries[entry].type == type;
    size_t slot = own ? (size_t)entry : archive->chunks.n + before * archive->n_groups + (size_t)id;
    struct rfn_payload payload;
    *part = entry < 0 ? NULL : take_if_there(archive, slot);
    if (*part)
        return 0;
    RFN_TRY(rfn_part_load(archive, type, id, structure, &payload, diag));
    return make_part(archive, slot, type, id, structure, &payload, part, diag);
}

int rfn_stream_parts_use(const struct rfn_archive *archive, uint32_t stream,
                         struct rfn_stream_parts *parts, struct rfn_diag *diag)
{
    uint64_t group = (uint64_t)rfn_stream_word(archive, RFN_WORD_GROUP, stream);
    uint64_t values = (uint64_t)rfn_stream_word(archive, RFN_WORD_VALUES, stream);
    *parts = (struct rfn_stream_parts){0};
    struct rfn_part **used = parts->used;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, group, NULL, &used[0], diag));
    parts->structure = &used[0]->u.structure;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_RANK_PARAMS, group, parts->structure, &used[1], diag));
    parts->rank_params = &used[1]->u.rank_params;
    RFN_TRY(rfn_part_use(archive, RFN_CHUNK_VALUES, values, parts->structure, &used[2], diag));
    parts->values = &used[2]->u.values;
    return 0;
}

void rfn_stream_parts_done(const struct rfn_archive *archive, const struct rfn_stream_parts *parts)
{
    for (int i = 0; i < 3; i++) {
        if (parts->used[i])
            rfn_part_done(archive, parts->used[i]);
    }
}

void rfn_archive_close(struct rfn_archive *archive)
{
    if (!archive)
        return;
    struct rfn_part_cache *cache = &archive->cache;
    for (size_t i = 0; cache->parts && i < cache->n; i++) {
        if (cache->parts[i])
            free_part(cache->parts[i]);
    }
    free(cache->parts);
    rfn_host_clocks_release(&archive->clocks);
    free(archive->host_offsets);
    free(archive->members);
    free(archive->first_member);
    free(archive->first_set);
    rfn_member_table_release(&archive->streams);
    rfn_dictionary_release(&archive->dictionary);
    rfn_chunks_close(&archive->chunks);
    pthread_mutex_destroy(&cache->lock);
    free(archive);
}

/* ---- timing ---- */

int rfn_profile_load(const struct rfn_archive *archive, const struct rfn_toc_entry *entry,
                     uint32_t time_set, struct rfn_payload *payload, struct rfn_guides *guides,
                     struct rfn_diag *diag)
{
    struct rfn_part *many;
    *guides = (struct rfn_guides){0};
    if (entry->type == RFN_CHUNK_PROFILE)
        return rfn_chunks_load_events(&archive->chunks, entry, payload, diag);
    RFN_TRY(rfn_chunk_use(archive, entry, &many, diag));
    const char *fault = rfn_time_set_table_take(&many->u.profiles, time_set, payload, guides);
    rfn_part_done(archive, many);
    struct rfn_payload where = *payload;
    if (fault) {
        rfn_guides_release(guides);
        rfn_payload_release(payload);
    }
    return rfn_payload_fault(&where, fault, diag);
}

int rfn_times_load(const struct rfn_archive *archive, uint32_t stream,
                   const struct rfn_structure *structure, struct rfn_timing *timing,
                   struct rfn_reduced_timing *reduced, struct rfn_diag *diag)
{
    const struct rfn_run *run = &archive->dictionary.run;
    const uint32_t set = rfn_stream_times(archive, stream);
    const bool counted = rfn_stream_counted(archive, stream);
    const struct rfn_toc_entry *entries = archive->chunks.entries;
    int64_t profile = rfn_reduced_timing_find(archive, stream);
    int64_t entry = profile < 0 ? rfn_timing_find(archive, stream) : profile;
    struct rfn_payload payload;
    struct rfn_guides guides;
    const char *fault;
    *timing = (struct rfn_timing){0};
    *reduced = (struct rfn_reduced_timing){0};
    if (entry < 0 && !run->times && !counted && structure->n_polls == 0)
        return RFN_E_NOTFOUND;
    if (entry < 0)
        return rfn_archive_missing(archive, run->reduced ? "PROFILE" : "TIMING", set, diag);
    RFN_TRY(profile < 0 ? rfn_chunks_load_events(&archive->chunks, &entries[entry], &payload, diag)
                        : rfn_profile_load(archive, &entries[entry], set, &payload, &guides, diag));
    struct rfn_payload where = payload;
    if (profile < 0)
        fault = rfn_timing_read(timing, structure, &payload, archive->exact);
    else
        fault = rfn_reduced_timing_read(reduced, timing, structure, &payload, &guides,
                                        archive->exact);
    if (!fault && timing->times != run->times)
        fault = "whether it has times is not as META says";
    if (!fault && timing->volume != counted)
        fault = "whether it has volumes is not as STREAMS says";
    if (fault) {
        rfn_timing_release(timing);
        rfn_reduced_timing_release(reduced);
    }
    return rfn_payload_fault(&where, fault, diag);
}
