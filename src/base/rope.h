/* rope.h - byte strings made of pieces: own bytes, borrowed memory, and stretches of a spill.
 *
 * What goes to a file may be much larger than the memory that is left. A payload is therefore put
 * together as a rope: small things are written to `bytes` like to any buffer, large ones are only
 * named (rfn_rope_borrow, rfn_rope_extent), and nothing is copied until the rope is walked. A rope
 * remembers failure as its buffer does.
 */
#ifndef RFN_BASE_ROPE_H
#define RFN_BASE_ROPE_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/spill.h"

struct rfn_rope_piece {
    size_t at;                     /* stands before bytes.data[at] */
    const uint8_t *memory;         /* borrowed, or NULL: in the spill */
    const struct rfn_spill *spill; /* borrowed */
    uint64_t offset;               /* in the spill */
    uint64_t size;
};

struct rfn_rope {
    struct rfn_buf bytes;
    struct rfn_rope_piece *pieces; /* in order */
    size_t n_pieces, pieces_capacity;
    uint64_t pieces_size;
};

#define RFN_ROPE_INIT         \
    {                         \
        .bytes = RFN_BUF_INIT \
    }

void rfn_rope_release(struct rfn_rope *rope); /* borrowed memory and spills are left alone */

static inline uint64_t rfn_rope_size(const struct rfn_rope *rope)
{
    return rope->bytes.size + rope->pieces_size;
}

static inline int rfn_rope_status(const struct rfn_rope *rope)
{
    return rfn_buf_status(&rope->bytes);
}

/* Appends memory that stays as it is as long as the rope is used, or a stretch of a spill. */
void rfn_rope_borrow(struct rfn_rope *rope, const void *memory, size_t size);
void rfn_rope_extent(struct rfn_rope *rope, const struct rfn_spill *spill,
                     const struct rfn_extent *extent);
/* Appends all of `more`, which is empty afterwards. */
void rfn_rope_join(struct rfn_rope *rope, struct rfn_rope *more);
/* Moves own bytes into the spill (may be NULL) when there are many of them; what cannot be written
 * there stays. To be called now and then while a rope grows. */
void rfn_rope_relieve(struct rfn_rope *rope, const struct rfn_spill *spill);

/* Calls visit with the bytes in order, at most RFN_ROPE_PART at a time where they come from a
 * spill, until it returns an error (returned then). RFN_E_NOMEM, or the error of a spill. */
enum { RFN_ROPE_PART = 1 << 16 };
int rfn_rope_each(const struct rfn_rope *rope,
                  int (*visit)(void *context, const uint8_t *bytes, size_t size), void *context);
/* The same, told apart: bytes that stay where they are as long as the rope is not changed, and
 * those that come from a spill, which are there during the call only. */
struct rfn_rope_visitor {
    int (*lasting)(void *context, const uint8_t *bytes, size_t size);
    int (*passing)(void *context, const uint8_t *bytes, size_t size);
};
int rfn_rope_walk(const struct rfn_rope *rope, const struct rfn_rope_visitor *visitor,
                  void *context);
/* Appends all bytes to out, which fails when they cannot be read. */
void rfn_rope_flatten(const struct rfn_rope *rope, struct rfn_buf *out);
/* The digest of the bytes, and of `more`. */
int rfn_rope_hash128(const struct rfn_rope *rope, uint64_t more, struct rfn_hash128 *digest);

#endif
