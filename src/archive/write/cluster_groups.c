#include "archive/write/cluster_job.h"

#include "archive/read/cluster_parts.h"
#include "base/map.h"

#include <stdlib.h>

/* Bytes as stored. What is larger has a chunk of its own: who reads one group decompresses all that
 * is stored with it. */
enum { STRUCTURE_MOST = 1 << 14, RANK_PARAMS_MOST = 1 << 16, VALUES_MOST = 1 << 15 };

int rfn_cluster_no_memory(const struct rfn_cluster_job *job)
{
    return rfn_fail(job->diag, RFN_E_NOMEM, -1, -1, "out of memory");
}

const struct rfn_toc_entry *rfn_cluster_chunk(const struct rfn_cluster_job *job, uint32_t type,
                                              uint64_t id)
{
    const struct rfn_chunks *chunks = &job->archive->chunks;
    int64_t entry = rfn_chunks_find(chunks, type, id);
    return entry < 0 ? NULL : &chunks->entries[entry];
}

/* ---- shapes ---- */

static uint64_t mix_nodes(uint64_t hash, const struct rfn_node_list *list)
{
    hash = rfn_hash_mix(hash, list->n);
    for (uint32_t i = 0; i < list->n; i++)
        hash = rfn_hash_mix(hash, list->nodes[i]);
    return hash;
}

/* All of a structure that must be equal in groups that are stored together. */
static uint64_t shape_hash(const struct rfn_structure *structure)
{
    const uint64_t sizes[] = {structure->n_sites, structure->n_types, structure->n_comms,
                              structure->n_symbols, structure->n_loops};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        hash = rfn_hash_mix(hash, sizes[i]);
    for (uint32_t i = 0; i < structure->n_symbols; i++) {
        const struct rfn_symbol_info *symbol = &structure->symbols[i];
        hash = rfn_hash_mix(hash, (uint64_t)symbol->function << 32 | symbol->path);
        hash = rfn_hash_mix(hash, (uint64_t)symbol->moved << 32 | symbol->error);
        hash = rfn_hash_mix(hash, symbol->failed_poll);
    }
    for (uint32_t i = 0; i < structure->n_loops; i++)
        hash = mix_nodes(hash, &structure->loops[i]);
    return mix_nodes(hash, &structure->top);
}

/* Of groups in a CLUSTERS: each has a part of what it takes, and would take otherwise. */
static int weigh_clusters(struct rfn_cluster_job *job, const struct rfn_toc_entry *chunk)
{
    const struct rfn_archive *archive = job->archive;
    uint32_t first = (uint32_t)(chunk->id >> 32), end = (uint32_t)chunk->id;
    uint64_t before;
    RFN_TRY(rfn_clusters_before(archive, chunk, &before, job->diag));
    for (uint32_t i = first; i < end && i < archive->n_groups; i++) {
        job->groups[i].stored = chunk->stored_size / (end - first);
        job->groups[i].cost = before / (end - first);
    }
    if (first < end && first < archive->n_groups)
        job->groups[first].cost += before % (end - first);
    return 0;
}

static int weigh(struct rfn_cluster_job *job, struct rfn_cluster_group *group)
{
    const struct rfn_archive *archive = job->archive;
    const bool clustered = rfn_group_is_clustered(archive, group->number);
    const struct rfn_toc_entry *parts[] = {
        rfn_cluster_chunk(job, RFN_CHUNK_STRUCTURE, group->number),
        rfn_cluster_chunk(job, RFN_CHUNK_RANK_PARAMS, group->number)};
    uint64_t stored = 0, cost = 0;
    bool missing = false;
    group->alone = !clustered && !parts[0] && job->known_shapes;
    if (group->alone)
        return 0;
    for (int i = 0; i < 2 && !clustered; i++) {
        if (!parts[i])
            return rfn_archive_missing(archive, i ? "RANK_PARAMS" : "STRUCTURE", group->number,
                                       job->diag);
        group->alone |= parts[i]->stored_size > (i ? RANK_PARAMS_MOST : STRUCTURE_MOST);
        group->stored += parts[i]->stored_size;
        group->cost += rfn_chunk_bytes(parts[i]);
    }
    for (uint32_t i = job->first_set[group->number]; i < job->first_set[group->number + 1]; i++) {
        const struct rfn_toc_entry *chunk = rfn_cluster_chunk(job, RFN_CHUNK_VALUES, job->sets[i]);
        if (!chunk && !clustered && !job->known_shapes)
            return rfn_archive_missing(archive, "VALUES", job->sets[i], job->diag);
        missing |= !chunk;
        stored += chunk ? chunk->stored_size : 0;
        cost += chunk ? rfn_chunk_bytes(chunk) : 0;
    }
    group->values = stored <= VALUES_MOST && (clustered || !missing);
    group->stored += group->values ? stored : 0;
    group->cost += group->values ? cost : 0;
    return 0;
}

/* Known shapes are in order of main clusters. */
static int find_shape(struct rfn_cluster_job *job, struct rfn_cluster_group *group)
{
    struct rfn_part *part;
    if (job->known_shapes) {
        group->shape = job->known_shapes[group->number];
        return 0;
    }
    RFN_TRY(rfn_part_use(job->archive, RFN_CHUNK_STRUCTURE, group->number, NULL, &part, job->diag));
    uint64_t hash = rfn_hash_mix(shape_hash(&part->u.structure), group->values);
    rfn_part_done(job->archive, part);
    if (group->alone)
        hash = rfn_hash_mix(hash, group->number);
    const uint64_t *known = rfn_map_get(&job->shapes, hash);
    group->shape = known ? (uint32_t)*known : (uint32_t)job->shapes.n;
    return !known && rfn_map_put(&job->shapes, hash, group->shape) < 0 ? rfn_cluster_no_memory(job)
                                                                       : 0;
}

/* A shape is where its first group's main cluster is. */
static int find_mains(struct rfn_cluster_job *job)
{
    uint32_t n = job->archive->n_groups;
    uint32_t *first = malloc((n + (size_t)1) * sizeof *first);
    uint64_t *signatures = malloc((n + (size_t)1) * sizeof *signatures);
    int error = first && signatures ? 0 : RFN_E_NOMEM;
    for (uint32_t i = n; i-- > 0 && !error;)
        first[job->groups[i].shape] = i;
    for (uint32_t i = 0; i < n && !error; i++) {
        uint32_t member = job->archive->first_member[first[job->groups[i].shape]];
        signatures[i] = (uint64_t)rfn_stream_word(job->archive, RFN_WORD_SIGNATURE,
                                                  job->archive->members[member]);
    }
    if (!error)
        error = rfn_first_equal(signatures, n, first);
    for (uint32_t i = 0; i < n && !error; i++)
        job->groups[i].main = first[i];
    free(first);
    free(signatures);
    return error ? rfn_cluster_no_memory(job) : 0;
}

static int compare_groups(const void *left, const void *right)
{
    const struct rfn_cluster_group *a = left, *b = right;
    if (a->main != b->main)
        return a->main < b->main ? -1 : 1;
    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

int rfn_cluster_list_groups(struct rfn_cluster_job *job)
{
    uint32_t n = job->archive->n_groups;
    const struct rfn_chunks *chunks = &job->archive->chunks;
    for (size_t i = 0; i < chunks->n && job->archive->first_set; i++) {
        if (chunks->entries[i].type == RFN_CHUNK_CLUSTERS)
            RFN_TRY(weigh_clusters(job, &chunks->entries[i]));
    }
    for (uint32_t i = 0; i < n; i++) {
        struct rfn_cluster_group *group = &job->groups[i];
        group->number = i;
        RFN_TRY(weigh(job, group));
        RFN_TRY(find_shape(job, group));
    }
    int error = job->known_shapes ? 0 : find_mains(job);
    qsort(job->groups, n, sizeof *job->groups, compare_groups);
    return error;
}
