#include "archive/journal_format.h"

#include "archive/container.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

int rfn_journal_folder(const char *archive, const char *directory, char *path, size_t size)
{
    const char *slash = strrchr(archive, '/');
    const int n = directory ? snprintf(path, size, "%s/%s.journal", directory,
                                       slash ? slash + 1 : archive)
                            : snprintf(path, size, "%s.journal", archive);
    return n > 0 && (size_t)n < size ? 0 : RFN_E_IO;
}

static const uint8_t magic[8] = {0x89, 'R', 'F', 'J', 0x0d, 0x0a, 0x1a, 0x0a};

/* ---- chunks ---- */

/* What of the rope's own bytes and of borrowed ones lies side by side is one piece. */
struct pieces {
    struct rfn_buf waiting, out;
    uint64_t n;
};

static void end_piece(struct pieces *pieces)
{
    if (!pieces->waiting.size)
        return;
    rfn_buf_varint(&pieces->out, 0);
    rfn_buf_blob(&pieces->out, pieces->waiting.data, pieces->waiting.size);
    pieces->waiting.size = 0;
    pieces->n++;
}

static void add_piece(struct pieces *pieces, const struct rfn_rope_piece *piece,
                      uint64_t (*file_of)(const struct rfn_spill *spill))
{
    if (piece->memory) {
        rfn_buf_bytes(&pieces->waiting, piece->memory, (size_t)piece->size);
        return;
    }
    end_piece(pieces);
    rfn_buf_varint(&pieces->out, file_of(piece->spill) + 1);
    rfn_buf_varint(&pieces->out, piece->offset);
    rfn_buf_varint(&pieces->out, piece->size);
    pieces->n++;
}

void rfn_journal_pack_chunk(struct rfn_buf *out, uint32_t type, uint64_t id, bool compress,
                            const struct rfn_rope *payload,
                            uint64_t (*file_of)(const struct rfn_spill *spill))
{
    struct pieces pieces = {.waiting = RFN_BUF_INIT, .out = RFN_BUF_INIT};
    size_t at = 0;
    for (size_t i = 0; i < payload->n_pieces; i++) {
        const struct rfn_rope_piece *piece = &payload->pieces[i];
        rfn_buf_bytes(&pieces.waiting, payload->bytes.data + at, piece->at - at);
        at = piece->at;
        add_piece(&pieces, piece, file_of);
    }
    rfn_buf_bytes(&pieces.waiting, payload->bytes.data + at, payload->bytes.size - at);
    end_piece(&pieces);
    rfn_buf_varint(out, type);
    rfn_buf_varint(out, id);
    rfn_buf_u8(out, compress);
    rfn_buf_varint(out, pieces.n);
    rfn_buf_bytes(out, pieces.out.data, pieces.out.size);
    out->failed |= payload->bytes.failed || pieces.waiting.failed || pieces.out.failed;
    rfn_buf_release(&pieces.waiting);
    rfn_buf_release(&pieces.out);
}

/* ---- checkpoints ---- */

static void pack_head(struct rfn_buf *out, const struct rfn_journal_head *head)
{
    const struct rfn_journal_rank *rank = &head->rank;
    rfn_buf_varint(out, rank->rank);
    rfn_buf_varint(out, rank->ranks);
    rfn_buf_varint(out, rank->pid);
    rfn_buf_string(out, rank->host);
    rfn_buf_u64(out, (uint64_t)rank->start_realtime_ns);
    rfn_buf_u64(out, (uint64_t)rank->until_realtime_ns);
    rfn_buf_u8(out, (uint8_t)rank->state);
    rfn_buf_u8(out, (rank->times_lost ? RFN_JOURNAL_TIMES_LOST : 0) |
                        (rank->run ? RFN_JOURNAL_OF_RUN : 0));
    rfn_buf_string(out, head->archive);
    if (rank->run)
        rfn_buf_u64(out, rank->run);
    rfn_buf_varint(out, head->n_files);
    for (size_t i = 0; i < head->n_files; i++) {
        rfn_buf_string(out, head->files[i].name);
        rfn_buf_varint(out, head->files[i].bytes);
        rfn_buf_u64(out, head->files[i].hash);
    }
}

void rfn_journal_wrap(struct rfn_buf *out, uint64_t sequence, const void *body, size_t size)
{
    const size_t start = out->size;
    rfn_buf_bytes(out, magic, sizeof magic);
    rfn_buf_u32(out, RFN_JOURNAL_VERSION);
    rfn_buf_u32(out, 0);
    rfn_buf_u64(out, sequence);
    rfn_buf_u64(out, size);
    rfn_buf_u64(out, rfn_hash_bytes(body, size));
    if (!out->failed)
        rfn_buf_u64(out, rfn_hash_bytes(out->data + start, out->size - start));
    rfn_buf_bytes(out, body, size);
}

void rfn_journal_pack(struct rfn_buf *out, uint64_t sequence, const struct rfn_journal_head *head,
                      uint64_t n_chunks, const struct rfn_buf *chunks)
{
    struct rfn_buf body = RFN_BUF_INIT;
    pack_head(&body, head);
    rfn_buf_varint(&body, n_chunks);
    rfn_buf_bytes(&body, chunks->data, chunks->size);
    out->failed |= body.failed || chunks->failed;
    if (!out->failed)
        rfn_journal_wrap(out, sequence, body.data, body.size);
    rfn_buf_release(&body);
}

const char *rfn_journal_open(const uint8_t *bytes, size_t size, uint64_t *sequence,
                             struct rfn_reader *body)
{
    struct rfn_reader reader = rfn_reader_over(bytes, size);
    if (size < RFN_JOURNAL_HEADER_BYTES)
        return "it is cut short";
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return "it is no checkpoint";
    if (rfn_hash_bytes(bytes, RFN_JOURNAL_HEADER_BYTES - 8) !=
        rfn_get_u64(bytes + RFN_JOURNAL_HEADER_BYTES - 8))
        return "its header is damaged";
    reader.at = sizeof magic;
    const uint32_t version = rfn_reader_u32(&reader);
    if (!version || version > RFN_JOURNAL_VERSION)
        return "it was written by a later version of Refrain: read it with that version";
    rfn_reader_u32(&reader);
    *sequence = rfn_reader_u64(&reader);
    const uint64_t body_bytes = rfn_reader_u64(&reader), hash = rfn_reader_u64(&reader);
    reader.at = RFN_JOURNAL_HEADER_BYTES;
    if (body_bytes > rfn_reader_left(&reader))
        return "it is cut short";
    *body = rfn_reader_over(bytes + reader.at, (size_t)body_bytes);
    return rfn_hash_bytes(bytes + reader.at, (size_t)body_bytes) == hash ? NULL : "it is damaged";
}
