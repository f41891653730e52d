/* What threads were doing when their records end, under the new numbers of streams. What it refers
 * to are the stream's own numbers. */
#include "archive/merge/merge_internal.h"

#include <stdlib.h>

struct open {
    const uint8_t *bytes; /* of a payload; NULL: it is not known */
    size_t size;
};

static int read_open(const struct rfn_archive_merge_input *input, const struct rfn_payload *payload,
                     struct open *all)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    for (uint64_t stream = 0; rfn_reader_left(&reader); stream++) {
        size_t size;
        stream += rfn_reader_limited(&reader, input->archive->n_streams);
        const uint8_t *bytes = rfn_reader_blob(&reader, &size);
        if (reader.failed || stream >= input->archive->n_streams)
            return RFN_E_CORRUPT;
        const uint32_t number = input->streams[stream];
        if (number != RFN_JOIN_NONE)
            all[number] = (struct open){bytes, size};
    }
    return 0;
}

static int add(struct rfn_archive_merge *joining, const struct open *all)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    uint32_t next = 0;
    for (uint32_t i = 0; i < joining->n_streams; i++) {
        if (!all[i].bytes)
            continue;
        rfn_buf_varint(&payload.bytes, i - next);
        rfn_buf_blob(&payload.bytes, all[i].bytes, all[i].size);
        next = i + 1;
    }
    int error = rfn_buf_status(&payload.bytes);
    if (!error && rfn_rope_size(&payload) > 0)
        error = rfn_rewrite_add(&joining->rewrite, RFN_CHUNK_OPEN, 0, &payload);
    rfn_rope_release(&payload);
    return error;
}

int rfn_archive_merge_add_open(struct rfn_archive_merge *joining)
{
    struct rfn_payload *payloads = calloc(joining->n_inputs, sizeof *payloads);
    struct open *all = calloc(joining->n_streams, sizeof *all);
    int error = payloads && all ? 0 : RFN_E_NOMEM;
    size_t n = 0;
    for (; n < joining->n_inputs && !error; n++) {
        const struct rfn_chunks *chunks = &joining->inputs[n].archive->chunks;
        const int64_t entry = rfn_chunks_find(chunks, RFN_CHUNK_OPEN, 0);
        if (entry < 0 || !rfn_chunks_know(chunks, RFN_CHUNK_OPEN))
            continue;
        error = rfn_chunks_load(chunks, &chunks->entries[entry], &payloads[n], joining->diag);
        if (!error)
            error = read_open(&joining->inputs[n], &payloads[n], all);
        if (error == RFN_E_CORRUPT)
            error = rfn_payload_fail(&payloads[n], error, "it is malformed", joining->diag);
    }
    if (!error)
        error = add(joining, all);
    for (size_t i = 0; payloads && i < n; i++)
        rfn_payload_release(&payloads[i]);
    free(payloads);
    free(all);
    return error;
}
