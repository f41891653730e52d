/* What processes used, under the new numbers of streams, functions and call paths. */
#include "archive/merge/merge_internal.h"
#include "archive/usage_format.h"

#include <stdlib.h>

static uint32_t new_number(const struct rfn_archive_merge *joining,
                           const struct rfn_archive_merge_input *input,
                           enum rfn_definition_kind kind, uint32_t number)
{
    return (uint32_t)rfn_archive_merge_number(joining, input, kind, number);
}

/* All streams of an input, in place. */
static void renumber(const struct rfn_archive_merge *joining,
                     const struct rfn_archive_merge_input *input, struct rfn_usage *usage)
{
    for (size_t i = 0; i < usage->n_gaps; i++) {
        struct rfn_gap_usage *gap = &usage->gaps[i];
        uint32_t *const functions[] = {&gap->before_function, &gap->at_function};
        uint32_t *const paths[] = {&gap->before_path, &gap->at_path};
        for (int k = 0; k < 2; k++) {
            *functions[k] = new_number(joining, input, RFN_DEFINITION_FUNCTION, *functions[k]);
            *paths[k] = new_number(joining, input, RFN_DEFINITION_PATH, *paths[k]);
        }
    }
}

/* What streams have, by their new numbers; NULL: nothing. */
struct parts {
    const struct rfn_stream_usage **usage;
    const struct rfn_process_cores **cores;
};

static void pack_usage(const struct parts *all, uint32_t stream, struct rfn_buf *out)
{
    rfn_pack_usage(all->usage[stream], out);
}

static void pack_cores(const struct parts *all, uint32_t stream, struct rfn_buf *out)
{
    rfn_pack_cores(all->cores[stream], out);
}

static int add(struct rfn_archive_merge *joining, uint32_t type, const void *const *which,
               const struct parts *all,
               void (*pack)(const struct parts *all, uint32_t stream, struct rfn_buf *out))
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    uint32_t next = 0;
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        if (!which[i])
            continue;
        rfn_buf_varint(&payload.bytes, i - next);
        pack(all, i, &payload.bytes);
        next = i + 1;
    }
    int error = rfn_buf_status(&payload.bytes);
    if (!error && rfn_rope_size(&payload) > 0)
        error = rfn_rewrite_add(&joining->rewrite, type, 0, &payload);
    rfn_rope_release(&payload);
    return error;
}

static void sort(const struct rfn_archive_merge_input *input, const struct rfn_usage *usage,
                 const struct parts *all)
{
    for (size_t k = 0; k < usage->n; k++) {
        const uint32_t number = input->streams[usage->streams[k].stream];
        if (number != RFN_JOIN_NONE)
            all->usage[number] = &usage->streams[k];
    }
    for (size_t k = 0; k < usage->n_cores; k++) {
        const uint32_t number = input->streams[usage->cores[k].stream];
        if (number != RFN_JOIN_NONE)
            all->cores[number] = &usage->cores[k];
    }
}

int rfn_archive_merge_add_usage(struct rfn_archive_merge *joining)
{
    struct rfn_usage *usages = calloc(joining->n_inputs, sizeof *usages);
    const struct parts all = {calloc(joining->n_streams, sizeof *all.usage),
                              calloc(joining->n_streams, sizeof *all.cores)};
    int error = usages && all.usage && all.cores ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < joining->n_inputs && !error; i++) {
        const struct rfn_archive_merge_input *input = &joining->inputs[i];
        error = rfn_usage_read(input->archive, &usages[i], joining->diag);
        if (error)
            break;
        renumber(joining, input, &usages[i]);
        sort(input, &usages[i], &all);
    }
    if (!error)
        error = add(joining, RFN_CHUNK_USAGE, (const void *const *)all.usage, &all, pack_usage);
    if (!error)
        error = add(joining, RFN_CHUNK_CORES, (const void *const *)all.cores, &all, pack_cores);
    for (size_t i = 0; usages && i < joining->n_inputs; i++)
        rfn_usage_release(&usages[i]);
    free(usages);
    free(all.usage);
    free(all.cores);
    return error;
}
