#include "archive/cluster_job.h"

#include "archive/cluster_parts.h"
#include "archive/pack_clusters.h"

#include <stdlib.h>
#include <string.h>

/* Bytes as stored, but for one group that has more: who reads one decompresses all that is stored
 * with it. */
enum { TOGETHER = 1 << 15 };

/* ---- a chunk ---- */

/* Where what is stored together ends that begins with this group. */
static uint32_t end_of_chunk(const struct rfn_cluster_job *job, uint32_t from)
{
    uint64_t stored = 0;
    uint32_t i = from;
    for (; i < job->archive->n_groups; i++) {
        const struct rfn_cluster_group *group = &job->groups[i];
        stored += group->stored;
        if (group->alone || (i > from && stored > TOGETHER))
            break;
    }
    return i > from ? i : from + 1;
}

static bool one_shape(const struct rfn_cluster_group *a, const struct rfn_cluster_group *b)
{
    return a->shape == b->shape && a->values == b->values;
}

static int add_shapes(const struct rfn_cluster_job *job, struct rfn_clusters_packer *packer,
                      uint32_t from, uint32_t end, bool *seen, unsigned *merged)
{
    for (uint32_t i = from, next; i < end; i = next) {
        for (next = i + 1; next < end; next++) {
            if (!one_shape(&job->groups[i], &job->groups[next]))
                break;
        }
        RFN_TRY(rfn_cluster_add_shape(job, packer, i, next, seen, merged));
    }
    return 0;
}

static int add_payload(struct rfn_cluster_job *job, const struct rfn_clusters_packer *packer,
                       uint32_t from, uint32_t end, uint64_t before)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_clusters_pack(packer, before, &payload.bytes);
    if (!error && rfn_rope_size(&payload) > RFN_CLUSTERS_BYTES_MAX)
        error = RFN_E_UNSUPPORTED;
    if (!error)
        error = rfn_rewrite_add(job->rewrite, RFN_CHUNK_CLUSTERS, rfn_clusters_id(from, end),
                                &payload);
    rfn_rope_release(&payload);
    return error;
}

/* How many formulas are in chunks that stay. */
static uint64_t stored_formulas(const struct rfn_cluster_job *job)
{
    return job->finder ? job->finder->stored : 0;
}

static int forget_formulas(struct rfn_cluster_job *job, uint64_t stored)
{
    if (job->finder)
        job->finder->stored = stored;
    return 0;
}

/* Stores groups together if that is shorter. */
static int add_chunk(struct rfn_cluster_job *job, uint32_t from, uint32_t end, bool *seen)
{
    struct rfn_clusters_packer packer = {0};
    uint64_t before = 0, stored = stored_formulas(job);
    unsigned merged = 0;
    for (uint32_t i = from; i < end; i++)
        before += job->groups[i].cost;
    int error = add_shapes(job, &packer, from, end, seen, &merged);
    if (!error)
        error = add_payload(job, &packer, from, end, before);
    rfn_clusters_packer_release(&packer);
    if (error == RFN_E_UNSUPPORTED)
        return forget_formulas(job, stored);
    RFN_TRY(error);
    struct rfn_rewrite *rewrite = job->rewrite;
    bool shorter = rfn_chunk_bytes(&rewrite->chunks[rewrite->n - 1].entry) < before;
    if (shorter) {
        job->plan->n_together += end - from;
        job->plan->merged_roles |= merged;
    } else {
        rfn_rewrite_drop(rewrite);
        forget_formulas(job, stored);
    }
    for (uint32_t i = from; i < end; i++)
        job->groups[i].taken = shorter;
    return 0;
}

/* Returns whether any groups are stored together, or an error. */
static int add_together(struct rfn_cluster_job *job, bool *seen)
{
    size_t before = job->rewrite->n;
    for (uint32_t i = 0, next; i < job->archive->n_groups; i = next) {
        next = end_of_chunk(job, i);
        if (!job->groups[i].alone)
            RFN_TRY(add_chunk(job, i, next, seen));
    }
    return job->rewrite->n > before;
}

/* ---- what stays ---- */

/* What was in a CLUSTERS gets a chunk of its own. */
static int add_part(struct rfn_cluster_job *job, uint32_t type, uint64_t id, uint64_t new_id)
{
    const struct rfn_archive *archive = job->archive;
    struct rfn_part *structure = NULL;
    struct rfn_payload payload = {0};
    struct rfn_rope rope = RFN_ROPE_INIT;
    if (type == RFN_CHUNK_PLACES)
        RFN_TRY(rfn_part_use(archive, RFN_CHUNK_STRUCTURE, id, NULL, &structure, job->diag));
    int error = rfn_part_load(archive, type, id, structure ? &structure->u.structure : NULL,
                              &payload, job->diag);
    if (structure)
        rfn_part_done(archive, structure);
    RFN_TRY(error);
    rfn_buf_bytes(&rope.bytes, payload.data, payload.size);
    rfn_payload_release(&payload);
    error = rfn_buf_status(&rope.bytes);
    if (!error)
        error = rfn_rewrite_add(job->rewrite, type, new_id, &rope);
    rfn_rope_release(&rope);
    return error;
}

static int copy_as(struct rfn_cluster_job *job, uint32_t type, uint64_t id, uint64_t new_id)
{
    const struct rfn_chunks *chunks = &job->archive->chunks;
    int64_t entry = rfn_chunks_find(chunks, type, id);
    if (entry < 0 && job->known_shapes)
        return 0;
    if (entry < 0)
        return add_part(job, type, id, new_id);
    return rfn_rewrite_copy_as(job->rewrite, (size_t)entry, new_id);
}

/* The values of one group after the other. */
struct copying {
    struct rfn_cluster_job *job;
    const uint32_t *numbers;
};

static int copy_set(void *context, uint32_t set)
{
    struct copying *copying = context;
    return copy_as(copying->job, RFN_CHUNK_VALUES, set, copying->numbers[set]);
}

static int copy_rest(struct rfn_cluster_job *job, bool *seen)
{
    const struct rfn_archive *archive = job->archive;
    struct copying copying = {job, job->plan->sets};
    for (uint32_t i = 0; i < archive->n_groups; i++) {
        const struct rfn_cluster_group *group = &job->groups[i];
        uint32_t number = job->plan->groups[group->number];
        if (group->taken && group->values)
            continue;
        RFN_TRY(rfn_cluster_each_set(archive, group->number, seen, copy_set, &copying));
        if (group->taken)
            continue;
        RFN_TRY(copy_as(job, RFN_CHUNK_PLACES, group->number, number));
        RFN_TRY(copy_as(job, RFN_CHUNK_STRUCTURE, group->number, number));
    }
    return 0;
}

/* ---- the whole ---- */

/* Each turn goes over all value sets once. */
static bool *next_turn(const struct rfn_cluster_job *job, bool *seen)
{
    return memset(seen, 0, (job->archive->n_value_sets + (size_t)1) * sizeof *seen);
}

static int add_all(struct rfn_cluster_job *job, bool *seen)
{
    RFN_TRY(rfn_cluster_list_groups(job, next_turn(job, seen)));
    rfn_cluster_number(job, next_turn(job, seen));
    int together = add_together(job, next_turn(job, seen));
    RFN_TRY(together);
    if (!together)
        rfn_cluster_keep_numbers(job);
    return copy_rest(job, next_turn(job, seen));
}

int rfn_cluster_archive(const struct rfn_archive *archive,
                        const struct rfn_cluster_options *options, struct rfn_rewrite *rewrite,
                        struct rfn_cluster_plan *plan, struct rfn_diag *diag)
{
    struct rfn_cluster_job job = {.archive = archive,
                                  .known_shapes = options->shapes,
                                  .roles = options->forced_roles,
                                  .finder = options->finder,
                                  .rewrite = rewrite,
                                  .plan = plan,
                                  .shapes = RFN_MAP_INIT,
                                  .mains = RFN_MAP_INIT,
                                  .diag = diag};
    bool *seen = malloc((archive->n_value_sets + (size_t)1) * sizeof *seen);
    job.groups = calloc(archive->n_groups + (size_t)1, sizeof *job.groups);
    plan->groups = calloc(archive->n_groups + (size_t)1, sizeof *plan->groups);
    plan->sets = calloc(archive->n_value_sets + (size_t)1, sizeof *plan->sets);
    bool made = seen && job.groups && plan->groups && plan->sets;
    int error = made ? add_all(&job, seen) : RFN_E_NOMEM;
    free(seen);
    free(job.groups);
    rfn_map_release(&job.shapes);
    rfn_map_release(&job.mains);
    return error == RFN_E_NOMEM ? rfn_cluster_no_memory(&job) : error;
}

void rfn_cluster_plan_release(struct rfn_cluster_plan *plan)
{
    free(plan->groups);
    free(plan->sets);
}
