#include "reduce/columns/list_writer.h"

#include "base/grow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What the coder knows beside each value. */
struct rfn_list_guide {
    struct rfn_column_cursor column;
    int64_t beside[RFN_COLUMN_BLOCK]; /* what is staged */
};

/* ---- blocks ---- */

/* Codes what is staged by the adaptive coder, or another one if that needs no more. count: what the
 * block's head says. */
static int put_smaller(struct rfn_list_writer *writer, struct rfn_coder_memory *memory,
                       uint64_t count)
{
    enum { LEAST = 4 }; /* bytes: head, form */
    struct rfn_buf plain = RFN_BUF_INIT, adaptive = RFN_BUF_INIT, *out = &writer->coded;
    uint32_t n = (uint32_t)writer->n_staged;
    rfn_block_put(&plain, writer->staged, n, count);
    int error = rfn_buf_status(&plain);
    bool small = plain.size <= LEAST;
    if (!error && !small)
        error = rfn_column_adaptive_encode(
            writer->staged, writer->guide ? writer->guide->beside : NULL, n, memory, &adaptive);
    size_t begin = out->size;
    if (!error)
        rfn_block_head(out, RFN_CODER_ADAPTIVE, count, adaptive.size);
    rfn_buf_bytes(out, adaptive.data, adaptive.size);
    if (!error && !out->failed && (small || plain.size <= out->size - begin)) {
        out->size = begin;
        rfn_buf_bytes(out, plain.data, plain.size);
    }
    rfn_buf_release(&plain);
    rfn_buf_release(&adaptive);
    return error ? error : rfn_buf_status(out);
}

/* Codes the run, or what is staged. last: nothing follows. */
static int put_block(struct rfn_list_writer *writer, struct rfn_coder_memory *memory, bool last)
{
    int error = 0;
    if (writer->run)
        rfn_block_constant(&writer->coded, writer->staged[0], last ? 0 : writer->run);
    else if (writer->n_staged)
        error = put_smaller(writer, memory, last ? 0 : writer->n_staged);
    writer->run = 0;
    writer->n_staged = 0;
    return error ? error : rfn_buf_status(&writer->coded);
}

/* ---- values ---- */

static bool is_full(const struct rfn_list_writer *writer)
{
    return writer->n_staged == RFN_COLUMN_BLOCK;
}

/* As many of the values as are left room for; *count: how many are left. */
static int stage(struct rfn_list_writer *writer, int64_t value, uint64_t *count)
{
    size_t room = RFN_COLUMN_BLOCK - writer->n_staged, n = *count < room ? (size_t)*count : room;
    RFN_TRY(RFN_GROW(writer->staged, writer->capacity, writer->n_staged + n));
    if (writer->guide) {
        struct rfn_list_guide *guide = writer->guide;
        RFN_TRY(rfn_column_skip(&guide->column, writer->n - rfn_column_at(&guide->column)));
        for (size_t i = 0; i < n; i++)
            RFN_TRY(rfn_column_next(&guide->column, &guide->beside[writer->n_staged + i]));
    }
    for (size_t i = 0; i < n; i++)
        writer->staged[writer->n_staged++] = value;
    writer->n += n;
    *count -= n;
    return 0;
}

/* Appends equal values. */
static int put(struct rfn_list_writer *writer, struct rfn_coder_memory *memory, int64_t value,
               uint64_t count)
{
    while (count) {
        if (is_full(writer) && !writer->run &&
            rfn_run_length(writer->staged, RFN_COLUMN_BLOCK) == RFN_COLUMN_BLOCK)
            writer->run = RFN_COLUMN_BLOCK;
        if (writer->run && value == writer->staged[0]) {
            writer->run += count;
            writer->n += count;
            return 0;
        }
        if (is_full(writer))
            RFN_TRY(put_block(writer, memory, false));
        RFN_TRY(stage(writer, value, &count));
    }
    return 0;
}

/* Writes the list; nothing may follow. */
static int end(struct rfn_list_writer *writer, struct rfn_coder_memory *memory, struct rfn_buf *out)
{
    const uint32_t n = (uint32_t)writer->n_staged;
    const bool zeros = !writer->coded.size && n && !writer->staged[0] &&
                       rfn_run_length(writer->staged, n) == n;
    if (!zeros) /* which need no block */
        RFN_TRY(put_block(writer, memory, true));
    rfn_buf_varint(out, writer->n);
    rfn_buf_blob(out, writer->coded.data, writer->coded.size);
    return rfn_buf_status(out);
}

int rfn_list_put(struct rfn_list_writer *writer, int64_t value, struct rfn_coder_memory *memory)
{
    return put(writer, memory, value, 1);
}

size_t rfn_list_bytes(const struct rfn_list_writer *writer)
{
    return writer->coded.capacity + writer->capacity * sizeof *writer->staged;
}

void rfn_list_release(struct rfn_list_writer *writer)
{
    rfn_buf_release(&writer->coded);
    free(writer->staged);
    if (writer->guide)
        rfn_column_close(&writer->guide->column);
    free(writer->guide);
    *writer = (struct rfn_list_writer){0};
}

/* ---- packing ---- */

/* Makes the writer, which is empty, what another one is. */
static int copy(struct rfn_list_writer *writer, const struct rfn_list_writer *from)
{
    assert(!from->guide);
    RFN_TRY(RFN_GROW(writer->staged, writer->capacity, from->n_staged));
    if (from->n_staged)
        memcpy(writer->staged, from->staged, from->n_staged * sizeof *from->staged);
    rfn_buf_bytes(&writer->coded, from->coded.data, from->coded.size);
    writer->n = from->n;
    writer->n_staged = from->n_staged;
    writer->run = from->run;
    return rfn_buf_status(&writer->coded);
}

static int put_column(struct rfn_list_writer *writer, struct rfn_column_cursor *cursor,
                      struct rfn_coder_memory *memory)
{
    while (rfn_column_at(cursor) < cursor->n) {
        int64_t value;
        if (!cursor->left)
            RFN_TRY(rfn_column_next_block(cursor));
        uint64_t count = rfn_column_equal(cursor);
        RFN_TRY(rfn_column_next(cursor, &value));
        RFN_TRY(rfn_column_skip(cursor, count - 1));
        RFN_TRY(put(writer, memory, value, count));
    }
    return 0;
}

int rfn_list_pack(const struct rfn_list_writer *coded, const struct rfn_column *column,
                  const struct rfn_column *guide, struct rfn_coder_memory *memory,
                  struct rfn_buf *out)
{
    struct rfn_list_writer writer = {0};
    struct rfn_column_cursor cursor;
    int error = 0;
    rfn_column_open_growing(&cursor, column);
    if (coded && coded->n)
        error = copy(&writer, coded);
    else if (guide && guide->n == column->n)
        error = (writer.guide = malloc(sizeof *writer.guide)) ? 0 : RFN_E_NOMEM;
    if (writer.guide)
        rfn_column_open_growing(&writer.guide->column, guide);
    if (!error)
        error = put_column(&writer, &cursor, memory);
    if (!error)
        error = end(&writer, memory, out);
    rfn_column_close(&cursor);
    rfn_list_release(&writer);
    return error;
}
