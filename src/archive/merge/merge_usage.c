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

static int pack(const struct rfn_archive_merge *joining, const struct rfn_stream_usage *const *all,
                struct rfn_rope *payload)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        if (!all[i])
            continue;
        rfn_buf_varint(&payload->bytes, i - next);
        rfn_pack_usage(all[i], &payload->bytes);
        next = i + 1;
    }
    return rfn_buf_status(&payload->bytes);
}

int rfn_archive_merge_add_usage(struct rfn_archive_merge *joining)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    struct rfn_usage *usages = calloc(joining->n_inputs, sizeof *usages);
    const struct rfn_stream_usage **all = calloc(joining->n_streams, sizeof *all);
    int error = usages && all ? 0 : RFN_E_NOMEM;
    for (size_t i = 0; i < joining->n_inputs && !error; i++) {
        const struct rfn_archive_merge_input *input = &joining->inputs[i];
        error = rfn_usage_read(input->archive, &usages[i], joining->diag);
        if (error)
            break;
        renumber(joining, input, &usages[i]);
        for (size_t k = 0; k < usages[i].n; k++) {
            const uint32_t number = input->streams[usages[i].streams[k].stream];
            if (number != RFN_JOIN_NONE)
                all[number] = &usages[i].streams[k];
        }
    }
    if (!error)
        error = pack(joining, all, &payload);
    if (!error && rfn_rope_size(&payload) > 0)
        error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_USAGE, 0, &payload);
    rfn_rope_release(&payload);
    for (size_t i = 0; usages && i < joining->n_inputs; i++)
        rfn_usage_release(&usages[i]);
    free(usages);
    free(all);
    return error;
}
