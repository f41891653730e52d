#include "base/rope.h"

#include "base/grow.h"

#include <stdlib.h>

void rfn_rope_release(struct rfn_rope *rope)
{
    rfn_buf_release(&rope->bytes);
    free(rope->pieces);
    *rope = (struct rfn_rope)RFN_ROPE_INIT;
}

static void add(struct rfn_rope *rope, const struct rfn_rope_piece *piece)
{
    if (piece->size == 0)
        return;
    if (RFN_GROW(rope->pieces, rope->pieces_capacity, rope->n_pieces + 1) < 0) {
        rope->bytes.failed = true;
        return;
    }
    rope->pieces[rope->n_pieces++] = *piece;
    rope->pieces_size += piece->size;
}

void rfn_rope_borrow(struct rfn_rope *rope, const void *memory, size_t size)
{
    add(rope, &(struct rfn_rope_piece){.at = rope->bytes.size, .memory = memory, .size = size});
}

void rfn_rope_extent(struct rfn_rope *rope, const struct rfn_spill *spill,
                     const struct rfn_extent *extent)
{
    add(rope, &(struct rfn_rope_piece){.at = rope->bytes.size,
                                       .spill = spill,
                                       .offset = extent->offset,
                                       .size = extent->size});
}

void rfn_rope_join(struct rfn_rope *rope, struct rfn_rope *more)
{
    size_t before = rope->bytes.size;
    rfn_buf_bytes(&rope->bytes, more->bytes.data, more->bytes.size);
    rope->bytes.failed |= more->bytes.failed;
    for (size_t i = 0; i < more->n_pieces; i++) {
        struct rfn_rope_piece piece = more->pieces[i];
        piece.at += before;
        add(rope, &piece);
    }
    rfn_rope_release(more);
}

void rfn_rope_relieve(struct rfn_rope *rope, const struct rfn_spill *spill)
{
    enum { MANY = 4 * RFN_ROPE_PART };
    size_t from = rope->n_pieces ? rope->pieces[rope->n_pieces - 1].at : 0;
    size_t size = rope->bytes.size - from;
    struct rfn_extent extent = {.size = size};
    if (!spill || size < MANY || rope->bytes.failed ||
        spill->write(spill->context, rope->bytes.data + from, size, &extent.offset) < 0)
        return;
    rope->bytes.size = from;
    rfn_rope_extent(rope, spill, &extent);
}

typedef int visitor_function(void *context, const uint8_t *bytes, size_t size);

static int each_of_spill(const struct rfn_rope_piece *piece, visitor_function *visit, void *context)
{
    uint8_t *part = malloc(RFN_ROPE_PART);
    int error = part ? 0 : RFN_E_NOMEM;
    for (uint64_t at = 0; at < piece->size && !error; at += RFN_ROPE_PART) {
        size_t size = piece->size - at < RFN_ROPE_PART ? (size_t)(piece->size - at) : RFN_ROPE_PART;
        error = piece->spill->read(piece->spill->context, piece->offset + at, part, size);
        if (!error)
            error = visit(context, part, size);
    }
    free(part);
    return error;
}

int rfn_rope_walk(const struct rfn_rope *rope, const struct rfn_rope_visitor *visitor,
                  void *context)
{
    visitor_function *const visit = visitor->lasting;
    size_t at = 0;
    RFN_TRY(rfn_rope_status(rope));
    for (size_t i = 0; i < rope->n_pieces; i++) {
        const struct rfn_rope_piece *piece = &rope->pieces[i];
        if (piece->at > at)
            RFN_TRY(visit(context, rope->bytes.data + at, piece->at - at));
        at = piece->at;
        RFN_TRY(piece->memory ? visit(context, piece->memory, (size_t)piece->size)
                              : each_of_spill(piece, visitor->passing, context));
    }
    return rope->bytes.size > at ? visit(context, rope->bytes.data + at, rope->bytes.size - at) : 0;
}

int rfn_rope_each(const struct rfn_rope *rope, visitor_function *visit, void *context)
{
    return rfn_rope_walk(rope, &(struct rfn_rope_visitor){visit, visit}, context);
}

static int append_part(void *context, const uint8_t *bytes, size_t size)
{
    rfn_buf_bytes(context, bytes, size);
    return rfn_buf_status(context);
}

void rfn_rope_flatten(const struct rfn_rope *rope, struct rfn_buf *out)
{
    if (rfn_rope_each(rope, append_part, out) < 0)
        out->failed = true;
}

static int hash_part(void *context, const uint8_t *bytes, size_t size)
{
    XXH3_128bits_update(context, bytes, size);
    return 0;
}

int rfn_rope_hash128(const struct rfn_rope *rope, uint64_t more, struct rfn_hash128 *digest)
{
    XXH3_state_t state;
    XXH3_128bits_reset(&state);
    RFN_TRY(rfn_rope_each(rope, hash_part, &state));
    uint8_t bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(more >> (8 * i));
    XXH3_128bits_update(&state, bytes, sizeof bytes);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    *digest = (struct rfn_hash128){hash.low64, hash.high64};
    return 0;
}
