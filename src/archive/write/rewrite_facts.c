#include "archive/write/rewrite_facts.h"

/* ---- META ---- */

int rfn_rewrite_add_meta(struct rfn_rewrite *rewrite, const struct rfn_run *run)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = rfn_pack_meta(run, &payload.bytes);
    if (!error)
        error = rfn_rewrite_add(rewrite, RFN_CHUNK_META, 0, &payload);
    rfn_rope_release(&payload);
    return error;
}

/* ---- STREAMS ---- */

/* What the words of the chunk are called by readers. */
static const enum rfn_stream_word words[RFN_STREAM_SLOTS] = {
    [RFN_SLOT_RANK] = RFN_WORD_RANK,           [RFN_SLOT_THREAD] = RFN_WORD_THREAD,
    [RFN_SLOT_GROUP] = RFN_WORD_GROUP,         [RFN_SLOT_VALUES] = RFN_WORD_VALUES,
    [RFN_SLOT_HOST] = RFN_WORD_HOST,           [RFN_SLOT_EVENTS] = RFN_WORD_EVENTS,
    [RFN_SLOT_CALLS] = RFN_WORD_CALLS,         [RFN_SLOT_START] = RFN_WORD_START,
    [RFN_SLOT_REALTIME] = RFN_WORD_REALTIME,   [RFN_SLOT_VOLUME] = RFN_WORD_VOLUME,
    [RFN_SLOT_REGIONS] = RFN_WORD_REGIONS,     [RFN_SLOT_TIMES] = RFN_WORD_TIMES,
    [RFN_SLOT_SIGNATURE] = RFN_WORD_SIGNATURE, [RFN_SLOT_END] = RFN_WORD_END};

int rfn_rewrite_add_streams(struct rfn_rewrite *rewrite, uint32_t n,
                            int64_t (*word)(const void *context, enum rfn_stream_word word,
                                            uint32_t stream),
                            const void *context)
{
    struct rfn_rank_runs slots[RFN_STREAM_SLOTS] = {RFN_RUNS_INIT};
    struct rfn_rope payload = RFN_ROPE_INIT;
    int error = 0;
    for (uint32_t i = 0; i < n && !error; i++) {
        for (int slot = 0; slot < RFN_STREAM_SLOTS && !error; slot++)
            error = rfn_rank_runs_append(&slots[slot], word(context, words[slot], i), true, i);
    }
    if (!error)
        error = rfn_pack_streams(slots, n, &payload.bytes);
    if (!error)
        error = rfn_rewrite_add(rewrite, RFN_CHUNK_STREAMS, 0, &payload);
    for (int slot = 0; slot < RFN_STREAM_SLOTS; slot++)
        rfn_rank_runs_release(&slots[slot]);
    rfn_rope_release(&payload);
    return error;
}

/* ---- the other chunks ---- */

/* DEFINITIONS of minor version 0 end before the regions: there are none. */
static int copy_old_definitions(struct rfn_rewrite *rewrite, const struct rfn_toc_entry *entry,
                                struct rfn_diag *diag)
{
    struct rfn_rope payload = RFN_ROPE_INIT;
    struct rfn_payload old;
    RFN_TRY(rfn_chunks_load(&rewrite->from->chunks, entry, &old, diag));
    rfn_buf_bytes(&payload.bytes, old.data, old.size);
    rfn_buf_varint(&payload.bytes, 0);
    int error = rfn_rewrite_add(rewrite, RFN_CHUNK_DEFINITIONS, 0, &payload);
    rfn_payload_release(&old);
    rfn_rope_release(&payload);
    return rfn_rewrite_failed(error, diag);
}

int rfn_rewrite_copy_others(struct rfn_rewrite *rewrite,
                            bool (*stays)(const void *context, uint32_t type), const void *context,
                            struct rfn_diag *diag)
{
    const struct rfn_chunks *chunks = &rewrite->from->chunks;
    for (size_t i = 0; i < chunks->n; i++) {
        const struct rfn_toc_entry *entry = &chunks->entries[i];
        const bool means = rfn_chunks_know(chunks, entry->type) ||
                           entry->type > RFN_CHUNK_SAMPLE_COLUMNS;
        if (!means || entry->type == RFN_CHUNK_STREAMS || entry->type == RFN_CHUNK_TOC ||
            !stays(context, entry->type))
            continue;
        if (entry->type == RFN_CHUNK_DEFINITIONS && chunks->minor == 0 &&
            rfn_archive_regions(rewrite->from) == 0)
            RFN_TRY(copy_old_definitions(rewrite, entry, diag));
        else
            RFN_TRY(rfn_rewrite_failed(rfn_rewrite_copy(rewrite, i), diag));
    }
    return 0;
}
