#include "record/hand_up.h"

#include "base/grow.h"
#include "base/map.h"

#include <stdlib.h>

/* A message is varint n, n entries (struct rfn_toc_entry, offsets relative to the bytes), bytes. */

static int hand_merge(void *state, int child, const uint8_t *bytes, size_t size)
{
    struct rec_output *own = state, theirs = REC_OUTPUT_INIT;
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    (void)child;
    uint64_t n = rfn_reader_limited(&reader, size / sizeof *theirs.entries);
    const uint8_t *entries = rfn_reader_bytes(&reader, n * sizeof *theirs.entries);
    if (reader.failed)
        return RFN_E_EXCHANGE;
    RFN_TRY(RFN_GROW(theirs.entries, theirs.entries_capacity, n + 1));
    memcpy(theirs.entries, entries, n * sizeof *theirs.entries);
    theirs.n_entries = n;
    rfn_rope_borrow(&theirs.bytes, bytes + reader.at, rfn_reader_left(&reader));
    int error = rec_output_append(own, &theirs);
    rec_output_release(&theirs);
    return error;
}

static int hand_write(void *state, struct rfn_buf *out)
{
    const struct rec_output *own = state;
    rfn_buf_varint(out, own->n_entries);
    rfn_buf_bytes(out, own->entries, own->n_entries * sizeof *own->entries);
    rfn_rope_flatten(&own->bytes, out);
    return rfn_buf_status(out);
}

/* Of a type and id, the first. */
static int take_different(const struct rec_output *all, const struct rfn_buf *bytes,
                          struct rfn_map *seen, struct rec_output *output)
{
    for (size_t i = 0; i < all->n_entries; i++) {
        const struct rfn_toc_entry *entry = &all->entries[i];
        uint64_t key = entry->id << 8 | entry->type, size = rfn_chunk_bytes(entry);
        if (rfn_map_get(seen, key))
            continue;
        if (entry->offset > bytes->size || size > bytes->size - entry->offset)
            return RFN_E_EXCHANGE;
        RFN_TRY(rfn_map_put(seen, key, 1));
        struct rfn_rope chunk = RFN_ROPE_INIT;
        rfn_rope_borrow(&chunk, bytes->data + entry->offset, size);
        int error = rec_output_take(output, entry, &chunk);
        rfn_rope_release(&chunk);
        RFN_TRY(error);
    }
    return 0;
}

int rec_hand_up(struct rec_output *own, struct rfn_exchange *exchange, struct rec_output *output,
                int error)
{
    static const struct rfn_round round = {.merge = hand_merge, .write = hand_write};
    struct rfn_map seen = RFN_MAP_INIT;
    struct rfn_buf bytes = RFN_BUF_INIT;
    error = rfn_exchange_climb(exchange, &round, own, error);
    if (!error && exchange->rank == 0) {
        rfn_rope_flatten(&own->bytes, &bytes);
        error = rfn_buf_status(&bytes);
        if (!error)
            error = take_different(own, &bytes, &seen, output);
    }
    rfn_map_release(&seen);
    rfn_buf_release(&bytes);
    rec_output_release(own);
    *own = (struct rec_output)REC_OUTPUT_INIT;
    return error;
}
