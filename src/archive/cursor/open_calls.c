/* OPEN, as refrain-archive(5) has it. */
#include "refrain/open_calls.h"

#include "archive/cursor/cursor_state.h"
#include "archive/read/archive_calls.h"

#include <stdlib.h>

static const char malformed[] = "it is malformed";

/* The words become those of the archive. */
static const char *read_words(struct rfn_cursor *cursor, struct rfn_reader *reader, bool outside,
                              struct rfn_record *record)
{
    const struct rfn_function_info *function = rfn_archive_function(cursor->archive,
                                                                    record->function);
    const uint64_t n = rfn_reader_limited(reader, RFN_PARAMS_MAX);
    if (n != (outside ? 0 : function->n_in))
        return malformed;
    int64_t *words = calloc(RFN_PARAMS_MAX, sizeof *words);
    if (!words)
        return rfn_out_of_memory;
    free(cursor->open_words);
    cursor->open_words = words;
    record->in = words;
    for (uint64_t i = 0; i < n; i++) {
        words[i] = rfn_reader_svarint(reader);
        if (!rfn_cursor_translate(cursor, function->params[i].kind, &words[i]))
            return malformed;
    }
    return reader->failed ? malformed : NULL;
}

static const char *read_open(struct rfn_cursor *cursor, struct rfn_reader *reader,
                             struct rfn_open_call *open)
{
    const struct rfn_structure *structure = cursor->parts.structure;
    const uint8_t kind = rfn_reader_u8(reader);
    const uint64_t site = rfn_reader_varint(reader);
    if (reader->failed || kind > RFN_OPEN_OUTSIDE || site >= structure->n_sites)
        return malformed;
    *open = (struct rfn_open_call){.kind = (enum rfn_open_kind)kind};
    open->since_ns = (int64_t)rfn_reader_u64(reader);
    open->until_ns = (int64_t)rfn_reader_u64(reader);
    open->record.function = structure->site_functions[site];
    open->record.path = structure->site_paths[site];
    open->record.polls = rfn_reader_varint(reader);
    open->record.index = cursor->events;
    open->record.failed_poll = kind == RFN_OPEN_POLLS;
    return open->since_ns < 0 || open->until_ns < open->since_ns
               ? malformed
               : read_words(cursor, reader, kind == RFN_OPEN_OUTSIDE, &open->record);
}

/* The payload has those streams of which it is known, each with what is to be read of it. */
static const char *find(struct rfn_cursor *cursor, const struct rfn_payload *payload,
                        struct rfn_open_call *open, int *found)
{
    struct rfn_reader reader = rfn_reader_over(payload->data, payload->size);
    for (uint64_t stream = 0; rfn_reader_left(&reader); stream++) {
        size_t size;
        stream += rfn_reader_limited(&reader, cursor->archive->n_streams);
        const uint8_t *bytes = rfn_reader_blob(&reader, &size);
        if (reader.failed || stream >= cursor->archive->n_streams)
            return malformed;
        if (stream != cursor->stream)
            continue;
        struct rfn_reader own = rfn_reader_over(bytes, size);
        *found = 1;
        return read_open(cursor, &own, open);
    }
    return NULL;
}

int rfn_cursor_open_call(struct rfn_cursor *cursor, struct rfn_open_call *open,
                         struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &cursor->archive->chunks;
    const int64_t entry = rfn_chunks_find(chunks, RFN_CHUNK_OPEN, 0);
    struct rfn_payload payload;
    int found = 0;
    if (entry < 0 || !rfn_chunks_know(chunks, RFN_CHUNK_OPEN))
        return 0;
    RFN_TRY(rfn_chunks_load(chunks, &chunks->entries[entry], &payload, diag));
    const int error = rfn_payload_fault(&payload, find(cursor, &payload, open, &found), diag);
    rfn_payload_release(&payload);
    return error ? error : found;
}
