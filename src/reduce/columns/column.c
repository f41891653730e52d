/* A column that grows is blocks that are coded, then at most one run, then staged values. A run
 * that turns out to be short moves into the staging; staged values that turn out to be equal become
 * a run. doc/refrain-archive.5.md, Columns defines the bytes.
 */
#include "reduce/columns/column.h"

#include "base/grow.h"

#include <stdlib.h>

enum {
    FIRST_STAGED = 4, /* values that a column makes room for when it is no longer constant */
    SHORT_RUN = 32,   /* a run of fewer values is written together with the values behind it */
    FEW = 64,         /* fewer values are not coded ahead */
    SMALL_BLOCK = RFN_COLUMN_WINDOW / 16, /* bytes; behind it the window is kept for the next */
};

/* ---- columns that grow ---- */

void rfn_column_init(struct rfn_column *column)
{
    *column = (struct rfn_column){0};
}

static void drop_ahead(struct rfn_column_values *values)
{
    if (values->ahead)
        rfn_buf_release(&values->ahead->tail);
    free(values->ahead);
    values->ahead = NULL;
}

void rfn_column_release(struct rfn_column *column)
{
    struct rfn_column_values *values = column->values;
    if (values) {
        drop_ahead(values);
        free(values->staged);
        rfn_buf_release(&values->sealed);
        if (values->spilled)
            free(values->spilled->extents);
        free(values->spilled);
        free(values);
    }
    rfn_column_init(column);
}

size_t rfn_column_bytes(const struct rfn_column *column)
{
    const struct rfn_column_values *values = column->values;
    if (!values)
        return 0;
    size_t bytes = sizeof *values + values->staged_capacity * sizeof *values->staged +
                   values->sealed.capacity;
    if (values->spilled)
        bytes += sizeof *values->spilled + values->spilled->capacity * sizeof(struct rfn_extent);
    if (values->ahead)
        bytes += sizeof *values->ahead + values->ahead->tail.capacity;
    return bytes;
}

size_t rfn_column_sealed_bytes(const struct rfn_column *column)
{
    return column->values ? column->values->sealed.size : 0;
}

size_t rfn_column_coded_bytes(const struct rfn_column *column)
{
    enum { HEAD = 4 };
    const struct rfn_column_values *values = column->values;
    if (!values)
        return column->n ? HEAD : 0;
    const struct rfn_column_ahead *ahead = values->ahead;
    const bool is_coded = ahead && ahead->n == column->n;
    return HEAD + values->sealed.size + (values->spilled ? (size_t)values->spilled->size : 0) +
           (is_coded ? ahead->tail.size : values->n_staged);
}

/* Values before the run, in it, and its value. */
static uint64_t sealed_count(const struct rfn_column *column)
{
    return column->values ? column->values->n_sealed : 0;
}

static uint32_t staged_count(const struct rfn_column *column)
{
    return column->values ? column->values->n_staged : 0;
}

static uint64_t run_count(const struct rfn_column *column)
{
    return column->n - sealed_count(column) - staged_count(column);
}

static int64_t run_value(const struct rfn_column *column)
{
    return column->values ? column->values->run : column->last;
}

/* From now on values may differ. */
static int differ(struct rfn_column *column)
{
    if (column->values)
        return 0;
    struct rfn_column_values *values = calloc(1, sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    values->constant = true;
    values->run = column->last;
    column->values = values;
    return 0;
}

static void seal_run(struct rfn_column *column)
{
    struct rfn_column_values *values = column->values;
    uint64_t count = run_count(column);
    if (count)
        rfn_block_constant(&values->sealed, values->run, count);
    values->n_sealed += count;
}

/* Staged values that are all equal become the run, or lengthen it. */
static void staged_to_run(struct rfn_column *column)
{
    struct rfn_column_values *values = column->values;
    if (values->run != values->staged[0])
        seal_run(column);
    values->run = values->staged[0];
    values->n_staged = 0;
    values->constant = true;
}

static bool staged_is_run(const struct rfn_column_values *values)
{
    return rfn_run_length(values->staged, values->n_staged) == values->n_staged;
}

/* Empties the staging. On failure the sealed blocks are lost, and writing the column says so. */
static int seal(struct rfn_column *column)
{
    struct rfn_column_values *values = column->values;
    if (staged_is_run(values)) {
        staged_to_run(column);
    } else {
        seal_run(column);
        rfn_block_put(&values->sealed, values->staged, values->n_staged, values->n_staged);
        values->n_sealed += values->n_staged;
        values->n_staged = 0;
    }
    return rfn_buf_status(&values->sealed);
}

static int reserve_staging(struct rfn_column_values *values, uint32_t n)
{
    uint32_t capacity = values->staged_capacity ? values->staged_capacity : FIRST_STAGED;
    while (capacity < n)
        capacity *= 2;
    if (capacity == values->staged_capacity)
        return 0;
    int64_t *staged = realloc(values->staged, capacity * sizeof *staged);
    if (!staged)
        return RFN_E_NOMEM;
    values->staged = staged;
    values->staged_capacity = capacity;
    return 0;
}

/* The first value behind a run takes it along when it is short: one block then, not two. */
static int stage(struct rfn_column *column, int64_t value)
{
    RFN_TRY(differ(column));
    struct rfn_column_values *values = column->values;
    uint64_t before = run_count(column);
    uint32_t n_run = values->n_staged == 0 && before < SHORT_RUN ? (uint32_t)before : 0;
    RFN_TRY(reserve_staging(values, values->n_staged + n_run + 1));
    for (uint32_t i = 0; i < n_run; i++)
        values->staged[values->n_staged++] = values->run;
    values->staged[values->n_staged++] = value;
    values->constant = false;
    return 0;
}

int rfn_column_append_slow(struct rfn_column *column, int64_t value)
{
    if (staged_count(column) == RFN_COLUMN_BLOCK)
        RFN_TRY(seal(column));
    if (staged_count(column) || (run_count(column) && run_value(column) != value)) {
        RFN_TRY(stage(column, value));
    } else if (column->values) {
        column->values->run = value;
        column->values->constant = true;
    }
    column->last = value;
    column->n++;
    return 0;
}

int rfn_column_set_last(struct rfn_column *column, int64_t value)
{
    struct rfn_column_values *values = column->values;
    if (values)
        drop_ahead(values);
    if (staged_count(column)) {
        values->staged[values->n_staged - 1] = value;
        if (values->n_staged <= SHORT_RUN && staged_is_run(values) &&
            (run_count(column) == 0 || values->run == value))
            staged_to_run(column);
    } else if (run_count(column) == 1) {
        if (values)
            values->run = value;
    } else if (run_value(column) != value) {
        column->n--;
        int error = stage(column, value);
        column->n++;
        RFN_TRY(error);
    }
    column->last = value;
    return 0;
}

int rfn_column_append_slow_held(struct rfn_column *column, int64_t value, size_t *held)
{
    const size_t before = rfn_column_bytes(column);
    const int error = rfn_column_append_slow(column, value);
    *held += rfn_column_bytes(column) - before;
    return error;
}

int rfn_column_set_last_held(struct rfn_column *column, int64_t value, size_t *held)
{
    const size_t before = rfn_column_bytes(column);
    const int error = rfn_column_set_last(column, value);
    *held += rfn_column_bytes(column) - before;
    return error;
}

/* The last block's count is not written. */
static void put_tail(const struct rfn_column *column, struct rfn_buf *out)
{
    uint64_t count = run_count(column);
    uint32_t n_staged = staged_count(column);
    if (count)
        rfn_block_constant(out, run_value(column), n_staged ? count : 0);
    if (n_staged)
        rfn_block_put(out, column->values->staged, n_staged, 0);
}

void rfn_column_code_ahead(struct rfn_column *column)
{
    if (column->values)
        drop_ahead(column->values);
    struct rfn_column_ahead *ahead = staged_count(column) < FEW ? NULL : malloc(sizeof *ahead);
    if (!ahead)
        return;
    *ahead = (struct rfn_column_ahead){.n = column->n, .tail = RFN_BUF_INIT};
    column->values->ahead = ahead;
    put_tail(column, &ahead->tail);
    if (ahead->tail.failed)
        drop_ahead(column->values);
}

/* What stays with the column. Small pieces are copied: that costs less than a reference. */
static void pack_own(const struct rfn_buf *own, struct rfn_rope *out)
{
    enum { SMALL = 1024 };
    if (own->size < SMALL)
        rfn_buf_bytes(&out->bytes, own->data, own->size);
    else
        rfn_rope_borrow(out, own->data, own->size);
}

/* Whether no block is written, as all values are 0. */
static bool is_zero(const struct rfn_column *column)
{
    return !sealed_count(column) && !staged_count(column) && !run_value(column);
}

void rfn_column_pack(const struct rfn_column *column, struct rfn_rope *out)
{
    const struct rfn_column_values *values = column->values;
    const struct rfn_column_spilled *spilled = values ? values->spilled : NULL;
    const struct rfn_column_ahead *ahead = values ? values->ahead : NULL;
    struct rfn_buf tail = RFN_BUF_INIT;
    if (ahead && ahead->n != column->n)
        ahead = NULL;
    rfn_buf_varint(&out->bytes, column->n);
    if (!ahead && !is_zero(column))
        put_tail(column, &tail);
    rfn_buf_varint(&out->bytes, (spilled ? spilled->size : 0) + rfn_column_sealed_bytes(column) +
                                    (ahead ? ahead->tail.size : tail.size));
    for (size_t i = 0; spilled && i < spilled->n; i++)
        rfn_rope_extent(out, spilled->spill, &spilled->extents[i]);
    if (values)
        pack_own(&values->sealed, out);
    if (ahead)
        pack_own(&ahead->tail, out);
    else
        rfn_buf_bytes(&out->bytes, tail.data, tail.size);
    out->bytes.failed |= tail.failed | (values && values->sealed.failed);
    rfn_buf_release(&tail);
}

void rfn_column_write(const struct rfn_column *column, struct rfn_buf *out)
{
    struct rfn_rope rope = RFN_ROPE_INIT;
    rfn_column_pack(column, &rope);
    rfn_rope_flatten(&rope, out);
    rfn_rope_release(&rope);
}

/* ---- columns that grow together ---- */

/* Which columns leave memory: those with at least so many sealed bytes, or also staged values. */
struct leaving {
    const struct rfn_spill *spill;
    size_t sealed;
    uint32_t staged; /* at least so many; 0: staged values stay */
    size_t wanted;   /* bytes to be freed */
    size_t freed;
};

static int leave(void *context, struct rfn_column *column)
{
    struct leaving *leaving = context;
    bool staged = leaving->staged && staged_count(column) >= leaving->staged;
    if (leaving->freed >= leaving->wanted ||
        (rfn_column_sealed_bytes(column) < leaving->sealed && !staged))
        return 0;
    size_t before = rfn_column_bytes(column);
    RFN_TRY(rfn_column_spill(column, leaving->spill, staged));
    size_t after = rfn_column_bytes(column);
    leaving->freed += before > after ? before - after : 0;
    return 0;
}

int rfn_columns_spill(void *columns, rfn_each_column each, const struct rfn_spill *spill,
                      size_t wanted, size_t *freed)
{
    static const struct {
        size_t sealed;
        uint32_t staged;
    } rounds[] = {{1 << 14, 0}, {1 << 10, 0}, {1 << 8, 1024}, {1, 64}};
    struct leaving leaving = {.spill = spill, .wanted = wanted};
    for (size_t i = 0; i < sizeof rounds / sizeof *rounds && leaving.freed < wanted; i++) {
        leaving.sealed = rounds[i].sealed;
        leaving.staged = rounds[i].staged;
        RFN_TRY(each(columns, leave, &leaving));
    }
    if (freed)
        *freed = leaving.freed;
    return 0;
}

int rfn_column_add_bytes(void *sum, struct rfn_column *column)
{
    *(size_t *)sum += rfn_column_bytes(column);
    return 0;
}

void rfn_columns_keep_to(void *columns, rfn_each_column each, struct rfn_room *room)
{
    size_t bytes = 0;
    if (!room->spill)
        return;
    each(columns, rfn_column_add_bytes, &bytes);
    if (bytes > room->bytes &&
        rfn_columns_spill(columns, each, room->spill, bytes - room->bytes / 2, NULL) < 0)
        room->spill = NULL;
}

/* ---- leaving memory ---- */

/* Seals the staged values but the last, which may still be changed, and gives up their room. */
static int seal_early(struct rfn_column *column)
{
    struct rfn_column_values *values = column->values;
    drop_ahead(values);
    uint32_t n = values->n_staged - 1;
    int64_t last = values->staged[n];
    seal_run(column);
    rfn_block_put(&values->sealed, values->staged, n, n);
    values->n_sealed += n;
    values->staged[0] = last;
    values->n_staged = 1;
    int64_t *shorter = realloc(values->staged, FIRST_STAGED * sizeof *shorter);
    if (shorter) {
        values->staged = shorter;
        values->staged_capacity = FIRST_STAGED;
    }
    return rfn_buf_status(&values->sealed);
}

int rfn_column_compact(struct rfn_column *column, uint32_t n)
{
    return staged_count(column) > n ? seal_early(column) : 0;
}

/* Notes that the sealed blocks are at `offset` of the spill now, in extents of whole blocks, of at
 * most RFN_ROPE_PART bytes unless the first block has more. */
static int note_extents(struct rfn_column_spilled *spilled, const struct rfn_buf *sealed,
                        uint64_t offset)
{
    struct rfn_reader reader = rfn_reader_over(sealed->data, sealed->size);
    size_t before = spilled->n;
    while (rfn_reader_left(&reader)) {
        size_t from = reader.at, end = from, size;
        while (rfn_reader_left(&reader)) {
            rfn_reader_u8(&reader);
            rfn_reader_varint(&reader);
            rfn_reader_blob(&reader, &size);
            if (end > from && reader.at - from > RFN_ROPE_PART)
                break;
            end = reader.at;
        }
        reader.at = end;
        if (RFN_GROW(spilled->extents, spilled->capacity, spilled->n + 1) < 0) {
            spilled->n = before;
            return RFN_E_NOMEM;
        }
        spilled->extents[spilled->n++] = (struct rfn_extent){offset + from, end - from};
    }
    spilled->size += sealed->size;
    return 0;
}

int rfn_column_spill(struct rfn_column *column, const struct rfn_spill *spill, bool staged)
{
    struct rfn_column_values *values = column->values;
    uint64_t offset;
    if (!values)
        return 0;
    if (staged && values->n_staged > 1)
        RFN_TRY(seal_early(column));
    if (!values->sealed.size || values->sealed.failed)
        return rfn_buf_status(&values->sealed);
    if (!values->spilled && !(values->spilled = calloc(1, sizeof *values->spilled)))
        return RFN_E_NOMEM;
    values->spilled->spill = spill;
    RFN_TRY(spill->write(spill->context, values->sealed.data, values->sealed.size, &offset));
    RFN_TRY(note_extents(values->spilled, &values->sealed, offset));
    rfn_buf_release(&values->sealed);
    return 0;
}

/* ---- reading ---- */

struct head {
    enum rfn_column_coder coder;
    uint64_t count;
    struct rfn_reader payload;
};

int rfn_column_open(struct rfn_column_cursor *cursor, struct rfn_reader *reader)
{
    *cursor = (struct rfn_column_cursor){.n = rfn_reader_varint(reader)};
    size_t size;
    const uint8_t *blocks = rfn_reader_blob(reader, &size);
    if (reader->failed || (size && !cursor->n))
        return RFN_E_CORRUPT;
    cursor->zeros = !size;
    cursor->blocks = rfn_reader_over(blocks, size);
    return 0;
}

void rfn_column_open_growing(struct rfn_column_cursor *cursor, const struct rfn_column *column)
{
    *cursor = (struct rfn_column_cursor){.n = column->n, .column = column};
    cursor->zeros = is_zero(column);
}

/* Makes sure that the window has `size` bytes, or all that are left. */
static int fetch(struct rfn_column_cursor *cursor, size_t size)
{
    struct rfn_extent *rest = &cursor->rest;
    size_t left = rfn_reader_left(&cursor->blocks);
    if (left >= size || !rest->size || cursor->blocks.failed)
        return 0;
    rest->offset -= left;
    rest->size += left;
    size = size < RFN_COLUMN_WINDOW ? RFN_COLUMN_WINDOW : size;
    size = size > rest->size ? (size_t)rest->size : size;
    cursor->blocks = (struct rfn_reader){0};
    cursor->own.size = 0;
    uint8_t *to = rfn_buf_reserve(&cursor->own, size);
    if (!to)
        return RFN_E_NOMEM;
    RFN_TRY(cursor->store->read(cursor->store->context, rest->offset, to, size));
    cursor->blocks = rfn_reader_over(to, size);
    rest->offset += size;
    rest->size -= size;
    return 0;
}

/* Behind a block of so many bytes: the window goes, unless it saves reading for the next one. */
static void leave_window(struct rfn_column_cursor *cursor, size_t size)
{
    size_t left = rfn_reader_left(&cursor->blocks);
    if (left && size < SMALL_BLOCK)
        return;
    cursor->rest.offset -= left;
    cursor->rest.size += left;
    cursor->blocks = (struct rfn_reader){0};
    rfn_buf_release(&cursor->own);
}

static int open_stored(struct rfn_column_cursor *cursor)
{
    RFN_TRY(fetch(cursor, RFN_BLOCK_HEAD_MAX));
    cursor->n = rfn_reader_varint(&cursor->blocks);
    uint64_t size = rfn_reader_varint(&cursor->blocks);
    if (cursor->blocks.failed || size != rfn_reader_left(&cursor->blocks) + cursor->rest.size ||
        (size && !cursor->n))
        return RFN_E_CORRUPT;
    cursor->zeros = !size;
    leave_window(cursor, 0);
    return 0;
}

int rfn_column_open_stored(struct rfn_column_cursor *cursor, const struct rfn_spill *store,
                           const struct rfn_extent *written)
{
    *cursor = (struct rfn_column_cursor){.store = store, .rest = *written};
    int error = open_stored(cursor);
    if (error < 0)
        rfn_column_close(cursor);
    return error;
}

void rfn_column_close(struct rfn_column_cursor *cursor)
{
    rfn_packed_release(&cursor->packed);
    rfn_buf_release(&cursor->own);
    *cursor = (struct rfn_column_cursor){0};
}

/* Moves on to the next window that has blocks, if there is one. */
static int next_window(struct rfn_column_cursor *cursor)
{
    const struct rfn_column_values *values = cursor->column->values;
    if (!values)
        return 0;
    size_t n_extents = values->spilled ? values->spilled->n : 0;
    while (!rfn_reader_left(&cursor->blocks) && cursor->window <= n_extents) {
        size_t window = cursor->window++;
        if (window < n_extents) {
            const struct rfn_spill *spill = values->spilled->spill;
            const struct rfn_extent *extent = &values->spilled->extents[window];
            const size_t size = (size_t)extent->size;
            cursor->own.size = 0;
            uint8_t *to = rfn_buf_reserve(&cursor->own, size);
            if (!to)
                return RFN_E_NOMEM;
            RFN_TRY(spill->read(spill->context, extent->offset, to, size));
            cursor->blocks = rfn_reader_over(to, size);
        } else {
            cursor->blocks = rfn_reader_over(values->sealed.data, values->sealed.size);
        }
    }
    return 0;
}

/* The next block's head. RFN_E_RANGE when all values are read. */
static int get_head(struct rfn_column_cursor *cursor, struct head *head)
{
    uint64_t left = cursor->n - cursor->end;
    if (!left)
        return rfn_column_bytes_left(cursor) ? RFN_E_CORRUPT : RFN_E_RANGE;
    if (cursor->store)
        RFN_TRY(fetch(cursor, RFN_BLOCK_HEAD_MAX));
    uint8_t coder = rfn_reader_u8(&cursor->blocks);
    uint64_t count = rfn_reader_limited(&cursor->blocks, left);
    size_t size = (size_t)rfn_reader_limited(&cursor->blocks, RFN_BLOCK_MAX);
    if (cursor->store)
        RFN_TRY(fetch(cursor, size));
    const uint8_t *payload = rfn_reader_bytes(&cursor->blocks, size);
    if (!count)
        count = left;
    if (cursor->blocks.failed || coder >= RFN_N_CODERS ||
        (coder != RFN_CODER_CONSTANT && count > RFN_COLUMN_BLOCK))
        return RFN_E_CORRUPT;
    *head = (struct head){(enum rfn_column_coder)coder, count, rfn_reader_over(payload, size)};
    return 0;
}

/* The packed block, of n values, becomes the current one. */
static void begin_block(struct rfn_column_cursor *cursor, uint64_t n)
{
    const struct rfn_packed *packed = &cursor->packed;
    cursor->next = packed->bytes;
    cursor->mask = packed->width ? UINT64_MAX >> (64 - 8 * packed->width) : 0;
    cursor->left = n;
    cursor->end += n;
}

/* Moves on by n values. */
static int list_skip(struct rfn_list_cursor *list, uint64_t n)
{
    struct rfn_column_cursor *column = &list->column;
    while (n) {
        if (!column->left)
            RFN_TRY(rfn_list_next_block(list));
        uint64_t step = n < column->left ? n : column->left;
        column->left -= step;
        column->next += step * column->packed.width;
        n -= step;
    }
    return 0;
}

static int decode(struct rfn_column_cursor *cursor, struct rfn_list_cursor *guide,
                  struct head *head)
{
    int64_t *beside = NULL; /* what the guide has, behind the values that were asked for */
    int error = 0;
    if (guide && head->coder == RFN_CODER_ADAPTIVE) {
        beside = malloc((size_t)head->count * sizeof *beside);
        error = beside ? list_skip(guide, cursor->end - rfn_column_at(&guide->column))
                       : RFN_E_NOMEM;
        for (uint64_t i = 0; i < head->count && !error; i++)
            error = rfn_list_next(guide, &beside[i]);
        if (error == RFN_E_RANGE)
            error = RFN_E_CORRUPT;
    }
    if (!error)
        error = rfn_block_get(head->coder, &head->payload, head->count, beside, &cursor->packed);
    free(beside);
    if (!error)
        begin_block(cursor, head->count);
    return error;
}

/* What of a column that grows is in no block: the run, then what is staged. Arguments as below. */
static int next_uncoded(struct rfn_column_cursor *cursor, uint64_t n)
{
    const struct rfn_column *column = cursor->column;
    const uint64_t run_end = column->n - staged_count(column);
    const bool in_run = cursor->end < run_end;
    const uint64_t count = in_run ? run_end - cursor->end : staged_count(column);
    if (cursor->end < sealed_count(column)) /* blocks were lost */
        return RFN_E_NOMEM;
    if (count <= n) {
        cursor->end += count;
        return 0;
    }
    RFN_TRY(in_run
                ? rfn_packed_begin(&cursor->packed, count, run_value(column), 0)
                : rfn_packed_values(&cursor->packed, column->values->staged, staged_count(column)));
    begin_block(cursor, count);
    return 0;
}

/* Decodes the block, or passes it over if n reaches behind it. */
static int next_block(struct rfn_column_cursor *cursor, struct rfn_list_cursor *guide, uint64_t n)
{
    struct head head;
    if (cursor->zeros && cursor->end == cursor->n)
        return RFN_E_RANGE;
    if (cursor->zeros) {
        RFN_TRY(rfn_packed_begin(&cursor->packed, cursor->n, 0, 0));
        begin_block(cursor, cursor->n - cursor->end);
        return 0;
    }
    if (cursor->column && cursor->end < cursor->n) {
        RFN_TRY(next_window(cursor));
        if (!rfn_reader_left(&cursor->blocks))
            return next_uncoded(cursor, n);
    }
    RFN_TRY(get_head(cursor, &head));
    size_t size = rfn_reader_left(&head.payload);
    int error = 0;
    if (head.count > n)
        error = decode(cursor, guide, &head);
    else
        cursor->end += head.count;
    if (cursor->store)
        leave_window(cursor, size);
    return error;
}

int rfn_column_next_block(struct rfn_column_cursor *cursor)
{
    return next_block(cursor, NULL, 0);
}

int rfn_list_next_block(struct rfn_list_cursor *list)
{
    return next_block(&list->column, list->guide, 0);
}

int rfn_column_skip(struct rfn_column_cursor *cursor, uint64_t n)
{
    if (n > cursor->n - rfn_column_at(cursor))
        return RFN_E_RANGE;
    while (n > cursor->left) {
        uint64_t end = cursor->end;
        n -= cursor->left;
        cursor->left = 0;
        RFN_TRY(next_block(cursor, NULL, n));
        n -= cursor->end - end - cursor->left;
    }
    cursor->left -= n;
    if (n && cursor->packed.width) /* else there may be no bytes */
        cursor->next += n * cursor->packed.width;
    return 0;
}

struct rfn_column_place rfn_column_place(const struct rfn_column_cursor *cursor)
{
    const struct rfn_reader *blocks = &cursor->blocks;
    uint64_t at = cursor->store ? cursor->rest.offset - rfn_reader_left(blocks) : blocks->at;
    return (struct rfn_column_place){at, cursor->end};
}

void rfn_column_seek(struct rfn_column_cursor *cursor, const struct rfn_column_place *place)
{
    if (cursor->store) {
        uint64_t end = cursor->rest.offset + cursor->rest.size;
        cursor->rest = (struct rfn_extent){place->at, end - place->at};
        cursor->blocks = (struct rfn_reader){0};
    } else {
        cursor->blocks.at = (size_t)place->at;
        cursor->blocks.failed = false;
    }
    cursor->end = place->first;
    cursor->left = 0;
}

int rfn_column_pass_block(struct rfn_column_cursor *cursor)
{
    RFN_TRY(next_block(cursor, NULL, UINT64_MAX));
    cursor->left = 0;
    return 0;
}

void rfn_column_take_block(struct rfn_column_cursor *cursor, struct rfn_packed *packed)
{
    *packed = cursor->packed;
    cursor->packed = (struct rfn_packed){0};
    cursor->left = 0;
}
