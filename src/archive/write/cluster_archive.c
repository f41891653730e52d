#include "archive/write/cluster_job.h"

#include "archive/read/cluster_parts.h"
#include "archive/write/pack_clusters.h"
#include "base/grow.h"

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

/* Packs the shapes of the groups from..end - 1. */
static int add_shapes(const struct rfn_cluster_job *job, struct rfn_clusters_packer *packer,
                      uint32_t from, uint32_t end, unsigned *merged)
{
    for (uint32_t i = from, next; i < end; i = next) {
        const struct rfn_cluster_group *group = &job->groups[i];
        for (next = i + 1; next < end; next++) {
            if (job->groups[next].shape != group->shape ||
                job->groups[next].values != group->values)
                break;
        }
        RFN_TRY(rfn_cluster_add_shape(job, packer, i, next, merged));
    }
    return 0;
}

/* How many formulas are in chunks that stay. */
static uint64_t stored_formulas(const struct rfn_cluster_job *job)
{
    return job->finder ? job->finder->stored : 0;
}

static void set_formulas(struct rfn_cluster_job *job, uint64_t stored)
{
    if (job->finder)
        job->finder->stored = stored;
}

/* What is stored together: the groups from..end - 1, in the one form or in the other. */
struct window {
    uint32_t from, end;
    uint64_t before;                   /* bytes of the chunks that it stands for */
    uint64_t formulas;                 /* that are in it */
    unsigned merged;                   /* roles of which some word changed */
    size_t chunks[RFN_CLUSTERS_FORMS]; /* of the new file; NONE: it is not shorter than what it
                                          stands for, or the common one not than the plain one */
};

#define NONE SIZE_MAX

struct windows {
    struct window *at;
    size_t n, capacity;
    size_t common; /* number of the chunk COMMON */
};

static uint64_t chunk_bytes(const struct rfn_cluster_job *job, size_t chunk)
{
    return rfn_chunk_bytes(&job->rewrite->chunks[chunk].entry);
}

/* The number of the chunk that was added last, if it is shorter; else it is taken back. */
static size_t keep_if_shorter(struct rfn_rewrite *rewrite, uint64_t before)
{
    if (rfn_chunk_bytes(&rewrite->chunks[rewrite->n - 1].entry) < before)
        return rewrite->n - 1;
    rfn_rewrite_drop(rewrite);
    return NONE;
}

/* Packs groups in each form in which that is shorter. */
static int add_window(struct rfn_cluster_job *job, struct window *window)
{
    struct rfn_clusters_packer packer = {.common = job->common};
    const uint64_t stored = stored_formulas(job);
    uint64_t shortest = 0; /* what the next form has to be shorter than */
    for (uint32_t i = window->from; i < window->end; i++)
        shortest += job->groups[i].cost;
    window->before = shortest;
    int error = add_shapes(job, &packer, window->from, window->end, &window->merged);
    for (enum rfn_clusters_form form = 0; form < RFN_CLUSTERS_FORMS && !error; form++) {
        struct rfn_rope payload = RFN_ROPE_INIT;
        window->chunks[form] = NONE;
        if (form == RFN_CLUSTERS_COMMON && !job->common)
            break;
        error = rfn_clusters_pack(&packer, form, window->before, &payload.bytes);
        if (!error && rfn_rope_size(&payload) <= RFN_CLUSTERS_BYTES_MAX) {
            error = rfn_rewrite_add(job->rewrite, RFN_CHUNK_CLUSTERS,
                                    rfn_clusters_id(window->from, window->end), &payload);
            window->chunks[form] = error ? NONE : keep_if_shorter(job->rewrite, shortest);
        }
        if (window->chunks[form] != NONE)
            shortest = chunk_bytes(job, window->chunks[form]);
        rfn_rope_release(&payload);
    }
    rfn_clusters_packer_release(&packer);
    window->formulas = stored_formulas(job) - stored;
    set_formulas(job, stored);
    return error == RFN_E_UNSUPPORTED ? 0 : error;
}

/* ---- with what is common, or without ---- */

/* The chunk that a window becomes. With COMMON each may have the form in which it is shorter. */
static size_t best_chunk(const struct window *window, enum rfn_clusters_form form)
{
    size_t common = window->chunks[RFN_CLUSTERS_COMMON];
    return form == RFN_CLUSTERS_COMMON && common != NONE ? common
                                                         : window->chunks[RFN_CLUSTERS_PLAIN];
}

/* What all groups take then. */
static uint64_t bytes_of(const struct rfn_cluster_job *job, const struct windows *windows,
                         enum rfn_clusters_form form)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < windows->n; i++) {
        const struct window *window = &windows->at[i];
        size_t chunk = best_chunk(window, form);
        bytes += chunk == NONE ? window->before : chunk_bytes(job, chunk);
    }
    return bytes;
}

/* What is not of that form is taken back; COMMON comes first. */
static int keep_form(struct rfn_cluster_job *job, const struct windows *windows, size_t first)
{
    bool common = windows->common != NONE;
    size_t n = 0, *kept = malloc((windows->n + 1) * sizeof *kept);
    uint64_t formulas = stored_formulas(job);
    if (!kept)
        return RFN_E_NOMEM;
    if (common)
        kept[n++] = windows->common;
    for (size_t i = 0; i < windows->n; i++) {
        const struct window *window = &windows->at[i];
        size_t chunk = best_chunk(window, common ? RFN_CLUSTERS_COMMON : RFN_CLUSTERS_PLAIN);
        if (chunk == NONE)
            continue;
        kept[n++] = chunk;
        formulas += window->formulas;
        job->plan->n_together += window->end - window->from;
        job->plan->merged_roles |= window->merged;
        for (uint32_t k = window->from; k < window->end; k++)
            job->groups[k].taken = true;
    }
    set_formulas(job, formulas);
    int error = rfn_rewrite_keep(job->rewrite, first, kept, n);
    free(kept);
    return error;
}

/* Returns whether any groups are stored together, or an error. */
static int add_together(struct rfn_cluster_job *job)
{
    struct rfn_rewrite *rewrite = job->rewrite;
    const size_t before = rewrite->n;
    const struct rfn_cluster_group *last = NULL;
    struct rfn_common_table common;
    struct windows windows = {.common = NONE};
    struct rfn_rope payload = RFN_ROPE_INIT;
    bool several = false;
    int error = 0;
    rfn_common_table_init(&common, &job->archive->dictionary,
                          job->common_room ? job->common_room : SIZE_MAX);
    /* Groups of one shape have all in common by being one. */
    for (uint32_t i = 0; i < job->archive->n_groups; i++) {
        const struct rfn_cluster_group *group = &job->groups[i];
        if (group->alone)
            continue;
        several |= last && last->shape != group->shape;
        last = group;
    }
    job->common = several ? &common : NULL;
    for (uint32_t i = 0, next; i < job->archive->n_groups && !error; i = next) {
        next = end_of_chunk(job, i);
        if (job->groups[i].alone)
            continue;
        error = RFN_GROW(windows.at, windows.capacity, windows.n + 1);
        if (error)
            break;
        windows.at[windows.n] = (struct window){.from = i, .end = next, .chunks = {NONE, NONE}};
        error = add_window(job, &windows.at[windows.n++]);
    }
    /* COMMON, if the whole is shorter with it. */
    uint64_t plain = bytes_of(job, &windows, RFN_CLUSTERS_PLAIN);
    uint64_t with = bytes_of(job, &windows, RFN_CLUSTERS_COMMON);
    if (!error && job->common && with < plain) {
        error = rfn_common_pack(job->common, &payload.bytes);
        if (!error && rfn_rope_size(&payload) <= RFN_CLUSTERS_BYTES_MAX) {
            error = rfn_rewrite_add(rewrite, RFN_CHUNK_COMMON, 0, &payload);
            windows.common = error ? NONE : keep_if_shorter(rewrite, plain - with);
        }
        rfn_rope_release(&payload);
    }
    job->plan->held = rfn_common_table_bytes(&common);
    for (size_t i = before; i < rewrite->n; i++) /* keep_form leaves some of them */
        job->plan->held += rewrite->chunks[i].bytes.bytes.capacity;
    if (!error)
        error = keep_form(job, &windows, before);
    job->common = NULL;
    rfn_common_table_release(&common);
    free(windows.at);
    return error ? error : rewrite->n > before;
}

/* ---- what stays ---- */

/* What was in a CLUSTERS gets a chunk of its own. */
static int add_part(struct rfn_cluster_job *job, uint32_t type, uint64_t id, uint64_t new_id)
{
    const struct rfn_archive *archive = job->archive;
    struct rfn_part *structure = NULL;
    struct rfn_payload payload = {0};
    struct rfn_rope rope = RFN_ROPE_INIT;
    if (type == RFN_CHUNK_RANK_PARAMS)
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

static int copy_rest(struct rfn_cluster_job *job)
{
    for (uint32_t i = 0; i < job->archive->n_groups; i++) {
        const struct rfn_cluster_group *group = &job->groups[i];
        const uint32_t old = group->number, number = job->plan->groups[old];
        for (uint32_t k = job->first_set[old]; k < job->first_set[old + 1]; k++) {
            const uint32_t set = job->sets[k];
            if (!group->taken || !group->values)
                RFN_TRY(copy_as(job, RFN_CHUNK_VALUES, set, job->plan->sets[set]));
        }
        if (group->taken)
            continue;
        RFN_TRY(copy_as(job, RFN_CHUNK_RANK_PARAMS, old, number));
        RFN_TRY(copy_as(job, RFN_CHUNK_STRUCTURE, old, number));
    }
    return 0;
}

/* ---- the whole ---- */

/* seen: per value set, all false. */
static void list_sets(struct rfn_cluster_job *job, bool *seen)
{
    const struct rfn_archive *archive = job->archive;
    uint32_t n = 0;
    for (uint32_t group = 0; group < archive->n_groups; group++) {
        for (uint32_t i = archive->first_member[group]; i < archive->first_member[group + 1]; i++) {
            uint32_t set = (uint32_t)rfn_stream_word(archive, RFN_WORD_VALUES, archive->members[i]);
            if (!seen[set])
                job->sets[n++] = set;
            seen[set] = true;
        }
        job->first_set[group + 1] = n;
    }
}

static int add_all(struct rfn_cluster_job *job)
{
    const struct rfn_archive *archive = job->archive;
    struct rfn_cluster_plan *plan = job->plan;
    uint32_t n = 0;
    RFN_TRY(rfn_cluster_list_groups(job));
    for (uint32_t i = 0; i < archive->n_groups; i++) {
        const uint32_t old = job->groups[i].number;
        plan->groups[old] = i;
        for (uint32_t k = job->first_set[old]; k < job->first_set[old + 1]; k++)
            plan->sets[job->sets[k]] = n++;
    }
    int together = add_together(job);
    RFN_TRY(together);
    for (uint32_t i = 0; i < archive->n_groups && !together; i++) /* all stays as it was */
        plan->groups[i] = i;
    for (uint32_t i = 0; i < archive->n_value_sets && !together; i++)
        plan->sets[i] = i;
    return copy_rest(job);
}

int rfn_cluster_archive(const struct rfn_archive *archive,
                        const struct rfn_cluster_options *options, struct rfn_rewrite *rewrite,
                        struct rfn_cluster_plan *plan, struct rfn_diag *diag)
{
    struct rfn_cluster_job job = {.archive = archive,
                                  .known_shapes = options->shapes,
                                  .common_room = options->common_room,
                                  .roles = options->forced_roles,
                                  .finder = options->finder,
                                  .rewrite = rewrite,
                                  .plan = plan,
                                  .shapes = RFN_MAP_INIT,
                                  .diag = diag};
    bool *seen = calloc(archive->n_value_sets + (size_t)1, sizeof *seen);
    job.groups = calloc(archive->n_groups + (size_t)1, sizeof *job.groups);
    plan->groups = calloc(archive->n_groups + (size_t)1, sizeof *plan->groups);
    plan->sets = calloc(archive->n_value_sets + (size_t)1, sizeof *plan->sets);
    job.sets = calloc(archive->n_value_sets + (size_t)1, sizeof *job.sets);
    job.first_set = calloc(archive->n_groups + (size_t)2, sizeof *job.first_set);
    bool made = seen && job.groups && job.sets && job.first_set && plan->groups && plan->sets;
    if (made)
        list_sets(&job, seen);
    int error = made ? add_all(&job) : RFN_E_NOMEM;
    free(seen);
    free(job.groups);
    free(job.sets);
    free(job.first_set);
    rfn_map_release(&job.shapes);
    return error == RFN_E_NOMEM ? rfn_cluster_no_memory(&job) : error;
}

/* ---- whether that is smaller ---- */

/* What STREAMS would take of the file, with or without the new numbers. */
static int weigh_streams(struct rfn_rewrite *rewrite, const struct rfn_cluster_streams *streams,
                         bool clustered, uint64_t *bytes)
{
    RFN_TRY(streams->add(streams->context, clustered));
    *bytes = rfn_chunk_bytes(&rewrite->chunks[rewrite->n - 1].entry);
    rfn_rewrite_drop(rewrite);
    return 0;
}

int rfn_cluster_if_smaller(const struct rfn_archive *archive,
                           const struct rfn_cluster_options *options, struct rfn_rewrite *rewrite,
                           struct rfn_cluster_plan *plan, const struct rfn_cluster_streams *streams,
                           struct rfn_diag *diag)
{
    struct rfn_parameter_sizes sizes;
    size_t before = rewrite->n;
    uint64_t with, without;
    RFN_TRY(rfn_archive_parameter_sizes(archive, &sizes, diag));
    RFN_TRY(rfn_cluster_archive(archive, options, rewrite, plan, diag));
    RFN_TRY(weigh_streams(rewrite, streams, false, &without));
    RFN_TRY(weigh_streams(rewrite, streams, true, &with));
    for (size_t i = before; i < rewrite->n; i++)
        with += rfn_chunk_bytes(&rewrite->chunks[i].entry);
    if (with < without + sizes.bytes)
        return 1;
    while (rewrite->n > before)
        rfn_rewrite_drop(rewrite);
    if (options->finder)
        options->finder->stored = 0;
    return 0;
}

void rfn_cluster_plan_release(struct rfn_cluster_plan *plan)
{
    free(plan->groups);
    free(plan->sets);
}
