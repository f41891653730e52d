#include "archive/write/cluster_job.h"

#include "archive/write/forced_parameters.h"
#include "archive/write/pack_clusters.h"

#include <stdlib.h>

/* What is packed at once is no larger when decompressed. */
enum { RAW_MOST = 1 << 22 };

/* STRUCTURE or VALUES, from a chunk of its own or from CLUSTERS. */
static int load_part(const struct rfn_cluster_job *job, uint32_t type, uint64_t id,
                     struct rfn_payload *payload)
{
    const struct rfn_toc_entry *chunk = rfn_cluster_chunk(job, type, id);
    if (chunk)
        return rfn_chunks_load(&job->archive->chunks, chunk, payload, job->diag);
    return rfn_part_load(job->archive, type, id, NULL, payload, job->diag);
}

/* ---- forced merging ---- */

/* The lowest rank of a shape, whose words all others get. */
struct lowest {
    struct rfn_part *structure; /* NULL: nothing is merged */
    struct rfn_payload payload;
    struct rfn_cluster_rank_params rank_params; /* of one member */
};

/* Of the shape of a group, by its place in the new order. To be released even after errors. */
static int find_lowest(const struct rfn_cluster_job *job, uint32_t at, struct lowest *lowest)
{
    uint32_t behind = 0;
    *lowest = (struct lowest){.rank_params.n_members = 1};
    if (!job->roles)
        return 0;
    while (at > 0 && job->groups[at - 1].shape == job->groups[at].shape)
        at--;
    uint32_t group = job->groups[at].number;
    RFN_TRY(rfn_part_use(job->archive, RFN_CHUNK_STRUCTURE, group, NULL, &lowest->structure,
                         job->diag));
    RFN_TRY(load_part(job, RFN_CHUNK_STRUCTURE, group, &lowest->payload));
    return rfn_cluster_take_group(job, group, NULL, 1, &lowest->rank_params, &behind);
}

/* In place of the payload of a STRUCTURE. */
static int force_structure(const struct rfn_cluster_job *job, const struct lowest *lowest,
                           struct rfn_payload *payload, struct rfn_pack_bytes *bytes,
                           unsigned *changed)
{
    const struct rfn_pack_bytes reference = {lowest->payload.data, lowest->payload.size};
    struct rfn_buf out = RFN_BUF_INIT;
    if (!lowest->structure)
        return 0;
    int error = rfn_force_structure(&job->archive->dictionary, &lowest->structure->u.structure,
                                    job->roles, bytes, &reference, changed, &out);
    if (error) {
        rfn_buf_release(&out);
        return error;
    }
    free(payload->data);
    payload->data = out.data;
    payload->size = out.size;
    *bytes = (struct rfn_pack_bytes){out.data, out.size};
    return 0;
}

/* What comes to another communicator is in it. */
static void force_rank_params(const struct rfn_cluster_job *job, const struct lowest *lowest,
                              struct rfn_cluster_rank_params *rank_params, unsigned *changed)
{
    bool elsewhere = job->roles & RFN_FORCED_COMM;
    for (uint32_t slot = 0; slot < rank_params->n_slots && lowest->structure; slot++) {
        unsigned role = rank_params->roles[slot] & job->roles;
        for (uint32_t i = 0; i < rank_params->n_members; i++) {
            struct rfn_rank_value *word =
                &rank_params->words[(size_t)slot * rank_params->n_members + i];
            int64_t before = word->value;
            word->value = rfn_force_word(role, word, &lowest->rank_params.words[slot]);
            if (word->value != before)
                *changed |= role;
            if (elsewhere && rank_params->of_ranks[slot] && word->size &&
                word->value >= word->size) {
                word->value %= word->size;
                *changed |= RFN_FORCED_COMM;
            }
        }
    }
}

/* ---- packing a shape ---- */

/* What is read for it, and owned. */
struct material {
    const struct rfn_cluster_job *job;
    struct rfn_payload *payloads; /* structures, then values */
    struct rfn_pack_bytes *bytes; /* the same */
    uint32_t n, capacity;
    uint32_t *ranks;
    uint64_t size;
    struct rfn_cluster_rank_params rank_params;
    unsigned merged; /* roles of which some word is the lowest rank's, and was another one */
};

static int load(struct material *material, uint32_t type, uint64_t id)
{
    const struct rfn_cluster_job *job = material->job;
    struct rfn_payload *payload = &material->payloads[material->n];
    RFN_TRY(load_part(job, type, id, payload));
    material->bytes[material->n++] = (struct rfn_pack_bytes){payload->data, payload->size};
    material->size += payload->size;
    return material->size > RAW_MOST ? RFN_E_UNSUPPORTED : 0;
}

/* All of the groups from..end - 1 in the new order. */
static int gather(struct material *material, uint32_t from, uint32_t end,
                  const struct lowest *lowest)
{
    const struct rfn_cluster_job *job = material->job;
    const struct rfn_archive *archive = job->archive;
    /* Whose communicators calls are to have; NULL: their own. */
    const struct rfn_structure *shape = job->roles & RFN_FORCED_COMM
                                            ? &lowest->structure->u.structure
                                            : NULL;
    uint32_t at = 0;
    for (uint32_t i = from; i < end; i++) {
        uint32_t number = job->groups[i].number;
        uint32_t stream = archive->members[archive->first_member[number]];
        material->ranks[i - from] = (uint32_t)rfn_stream_word(archive, RFN_WORD_RANK, stream);
        RFN_TRY(load(material, RFN_CHUNK_STRUCTURE, number));
        RFN_TRY(force_structure(job, lowest, &material->payloads[material->n - 1],
                                &material->bytes[material->n - 1], &material->merged));
        RFN_TRY(
            rfn_cluster_take_group(job, number, shape, UINT32_MAX, &material->rank_params, &at));
    }
    if (lowest->structure && lowest->rank_params.n_slots != material->rank_params.n_slots)
        return RFN_E_UNSUPPORTED; /* they only have one hash */
    force_rank_params(job, lowest, &material->rank_params, &material->merged);
    for (uint32_t i = from; i < end && job->groups[i].values; i++) {
        const uint32_t *first = &job->first_set[job->groups[i].number];
        for (uint32_t k = first[0]; k < first[1]; k++)
            RFN_TRY(load(material, RFN_CHUNK_VALUES, job->sets[k]));
    }
    return 0;
}

int rfn_cluster_add_shape(const struct rfn_cluster_job *job, struct rfn_clusters_packer *packer,
                          uint32_t from, uint32_t end, unsigned *merged)
{
    struct material material = {.job = job};
    struct lowest lowest;
    const uint32_t n = end - from, *first = job->archive->first_member;
    for (uint32_t i = from; i < end; i++)
        material.rank_params.n_members += first[job->groups[i].number + 1] -
                                          first[job->groups[i].number];
    const uint32_t most = n + material.rank_params.n_members; /* at most a value set per member */
    material.payloads = calloc(most, sizeof *material.payloads);
    material.bytes = calloc(most, sizeof *material.bytes);
    material.ranks = calloc(n, sizeof *material.ranks);
    int error = find_lowest(job, from, &lowest);
    if (!error && (!material.payloads || !material.bytes || !material.ranks))
        error = rfn_cluster_no_memory(job);
    if (!error)
        error = gather(&material, from, end, &lowest);
    if (!error)
        error = rfn_clusters_add(
            packer,
            &(struct rfn_pack_shape){.n_groups = n,
                                     .n_sets = material.n - n,
                                     .n_members = material.rank_params.n_members,
                                     .n_slots = material.rank_params.n_slots,
                                     .structures = material.bytes,
                                     .ranks = material.ranks,
                                     .values = material.bytes + n,
                                     .rank_params = material.rank_params.words,
                                     .of_ranks = material.rank_params.of_ranks,
                                     .finder = job->finder,
                                     .number_parameters = material.rank_params.number_parameters,
                                     .n_number_parameters = material.rank_params.n_numbers,
                                     .slot_parameters = material.rank_params.parameters});
    *merged |= material.merged;
    for (uint32_t i = 0; i < material.n; i++)
        rfn_payload_release(&material.payloads[i]);
    free(material.payloads);
    free(material.bytes);
    free(material.ranks);
    rfn_cluster_rank_params_release(&material.rank_params);
    if (lowest.structure)
        rfn_part_done(job->archive, lowest.structure);
    rfn_payload_release(&lowest.payload);
    rfn_cluster_rank_params_release(&lowest.rank_params);
    return error;
}
