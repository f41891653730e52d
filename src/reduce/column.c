/* Six coders, of which a block takes the one that needs the fewest bytes:
 *
 * constant   one value. The only coder whose blocks may have more than RFN_COLUMN_BLOCK values.
 * varints    zigzag varints: a few values have nothing to learn from.
 * runs       (value, length) pairs.
 * period     value[i] = value[i - p] + step: arithmetic sequences, short periods, both at once.
 * histogram  everything else, times above all (column_histogram.h): noise around a few typical
 *            values, or that after taking away the value `lag` places before.
 * adaptive   lists, when they are packed as such (column_adaptive.h).
 *
 * A column that grows is blocks that are coded, then at most one run, then staged values. A run
 * that turns out to be short moves into the staging; staged values that turn out to be equal become
 * a run. doc/refrain-archive.5.md, Columns defines the bytes.
 */
#include "reduce/column.h"

#include "base/grow.h"
#include "reduce/column_adaptive.h"
#include "reduce/column_histogram.h"

#include <stdlib.h>

enum coder {
    CODER_CONSTANT,
    CODER_VARINTS,
    CODER_RUNS,
    CODER_PERIOD,
    CODER_HISTOGRAM,
    CODER_ADAPTIVE,
    N_CODERS
};

enum {
    FIRST_STAGED = 16, /* values that a column makes room for when it is no longer constant */
    SHORT_RUN = 32,    /* a run of fewer values is written together with the values behind it */
    FEW = 64,          /* fewer values may be best coded as varints */
    MAX_LAG = 512,     /* the longest period looked for */
    PROBE = 16,        /* values that a period is looked for by */
    HEAD_MAX = 21,     /* bytes of a block's head, at most; those of a column's are fewer */
    BLOCK_MAX = 20 * RFN_COLUMN_BLOCK,    /* bytes of a block: of runs of one value, at worst */
    SMALL_BLOCK = RFN_COLUMN_WINDOW / 16, /* bytes; behind it the window is kept for the next */
};

/* ---- coding a block ---- */

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

/* The block's head; count 0 stands for "all that are left". */
static void put_head(struct rfn_buf *out, enum coder coder, uint64_t count, size_t size)
{
    rfn_buf_u8(out, (uint8_t)coder);
    rfn_buf_varint(out, count);
    rfn_buf_varint(out, size);
}

static void put_constant(struct rfn_buf *out, int64_t value, uint64_t count)
{
    put_head(out, CODER_CONSTANT, count, varint_size(rfn_zigzag(value)));
    rfn_buf_svarint(out, value);
}

static size_t varints_size(const int64_t *values, uint32_t n)
{
    size_t size = 0;
    for (uint32_t i = 0; i < n; i++)
        size += varint_size(rfn_zigzag(values[i]));
    return size;
}

static void put_varints(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count)
{
    put_head(out, CODER_VARINTS, count, varints_size(values, n));
    for (uint32_t i = 0; i < n; i++)
        rfn_buf_svarint(out, values[i]);
}

static uint32_t run_length(const int64_t *values, uint32_t n)
{
    uint32_t length = 1;
    while (length < n && values[length] == values[0])
        length++;
    return length;
}

static size_t runs_size(const int64_t *values, uint32_t n)
{
    size_t size = 0;
    for (uint32_t i = 0, length; i < n; i += length) {
        length = run_length(values + i, n - i);
        size += varint_size(rfn_zigzag(values[i])) + varint_size(length - 1);
    }
    return size;
}

static void put_runs(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count)
{
    put_head(out, CODER_RUNS, count, runs_size(values, n));
    for (uint32_t i = 0, length; i < n; i += length) {
        length = run_length(values + i, n - i);
        rfn_buf_svarint(out, values[i]);
        rfn_buf_varint(out, length - 1);
    }
}

/* Differences wrap around: they are right for all of int64. */
static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Whether all values but the last two, which the caller has looked at, keep the period. Counts the
 * comparisons: long runs would let every period look right for a long time. */
static bool has_period(const int64_t *values, uint32_t n, uint32_t period, uint32_t *compared)
{
    int64_t step = difference(values[n - 1], values[n - 1 - period]);
    for (uint32_t i = n - 3; i >= period; i--) {
        ++*compared;
        if (difference(values[i], values[i - period]) != step)
            return false;
    }
    return true;
}

/* False where there is no period, at little cost: the largest of the last differences, hardly ever
 * a frequent one, is looked for first. So most periods are out of the question, and that can be
 * predicted. n > 3. */
static bool may_have_period(const int64_t *values, uint32_t n, uint32_t most)
{
    uint32_t at = n - 1, compared = 0, first = n > 2 * PROBE ? n - PROBE : at;
    for (uint32_t i = first; i < n; i++) {
        if (difference(values[i], values[i - 1]) > difference(values[at], values[at - 1]))
            at = i;
    }
    int64_t largest = difference(values[at], values[at - 1]);
    for (uint32_t period = 1; period <= most; period++) {
        const int64_t *before = values + at - period;
        if (difference(before[0], before[-1]) == largest &&
            (has_period(values, n, period, &compared) || compared > n))
            return true;
    }
    return false;
}

/* The smallest p such that values[i] - values[i - p] is the same for all i >= p, or 0. Then the
 * last difference stands p places before as well. n > 3. */
static uint32_t find_period(const int64_t *values, uint32_t n)
{
    const int64_t *end = values + n;
    int64_t last = difference(end[-1], end[-2]);
    uint32_t compared = 0, most = n / 2 < MAX_LAG ? n / 2 : MAX_LAG;
    if (!may_have_period(values, n, most))
        return 0;
    for (uint32_t period = 1; period <= most && compared <= 2 * n; period++) {
        const int64_t *before = end - period;
        compared += 2;
        if (difference(before[-1], before[-2]) == last && has_period(values, n, period, &compared))
            return period;
    }
    return 0;
}

static void put_period(struct rfn_buf *out, const int64_t *values, uint32_t period, uint64_t count)
{
    int64_t step = difference(values[period], values[0]);
    put_head(out, CODER_PERIOD, count,
             varint_size(period) + varint_size(rfn_zigzag(step)) + varints_size(values, period));
    rfn_buf_varint(out, period);
    rfn_buf_svarint(out, step);
    for (uint32_t i = 0; i < period; i++)
        rfn_buf_svarint(out, values[i]);
}

/* ---- choosing ---- */

/* Bits of the difference, behind the leading one. */
static unsigned bits_between(int64_t a, int64_t b)
{
    return 63 ^ (unsigned)__builtin_clzll(rfn_zigzag(difference(a, b)) | 1);
}

/* How many bits differences have: of neighbours, and of values that are far apart. Where there is
 * no order in the values both are the same, and taking differences would only add noise to noise.
 */
static bool is_smooth(const int64_t *values, uint32_t n)
{
    uint32_t near = 0, far = 0, i = 1, half = n / 2, m = (n + 3) / 5;
    for (; i < half; i += 5) {
        near += bits_between(values[i], values[i - 1]);
        far += bits_between(values[i], values[i + half]);
    }
    for (; i < n; i += 5) {
        near += bits_between(values[i], values[i - 1]);
        far += bits_between(values[i], values[i - half]);
    }
    return near + m + m / 4 < far;
}

/* PROBE values, of which the largest, hardly ever a frequent one, is looked for first. */
struct probe {
    const int64_t *values, *largest;
};

static struct probe probe_at(const int64_t *values)
{
    struct probe probe = {values, values};
    for (uint32_t i = 1; i < PROBE; i++) {
        if (values[i] > *probe.largest)
            probe.largest = values + i;
    }
    return probe;
}

static bool repeats(const struct probe *probe, uint32_t lag)
{
    return probe->largest[0] == *(probe->largest - lag) &&
           !memcmp(probe->values, probe->values - lag, PROBE * sizeof *probe->values);
}

/* A period that most values keep, though not all. */
static uint32_t find_broken_period(const int64_t *values, uint32_t n)
{
    uint32_t counted = 0, most = n / 4 < 32 ? 0 : n / 4 - 32;
    if (!most)
        return 0;
    struct probe last = probe_at(values + n - PROBE), middle = probe_at(values + n / 2);
    for (uint32_t lag = 1; lag <= most && lag <= MAX_LAG; lag++) {
        if (!repeats(&last, lag) && !repeats(&middle, lag))
            continue;
        uint32_t same = 0;
        for (uint32_t i = lag; i < n; i++)
            same += values[i] == values[i - lag];
        if (same >= (n - lag) / 8 * 7)
            return lag;
        if (++counted == 4)
            break;
    }
    return 0;
}

static uint32_t find_lag(const int64_t *values, uint32_t n)
{
    uint32_t lag = find_broken_period(values, n);
    return lag || n < 16 || !is_smooth(values, n) ? lag : 1;
}

/* Codes the values as histogram, behind a head; nothing is written when that needs more than
 * `limit` bytes, or when there is no memory to try. */
static bool try_histogram(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count,
                          size_t limit)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    int error = rfn_column_histogram_encode(values, n, find_lag(values, n), &payload);
    bool done = !error && payload.size <= limit;
    if (done) {
        put_head(out, CODER_HISTOGRAM, count, payload.size);
        rfn_buf_bytes(out, payload.data, payload.size);
    }
    rfn_buf_release(&payload);
    return done;
}

/* The number of runs, or `many` or more if there are as many. */
static uint32_t count_runs(const int64_t *values, uint32_t n, uint32_t many)
{
    enum { PIECE = 64 };
    uint32_t runs = 1;
    for (uint32_t i = 1; i < n && runs < many;) {
        for (uint32_t end = n - i < PIECE ? n : i + PIECE; i < end; i++)
            runs += values[i] != values[i - 1];
    }
    return runs;
}

/* What a block is shows before it is coded, but for two cases that sizes decide: a few values, and
 * runs so short that they may as well be noise. */
static void put_block(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count)
{
    uint32_t many = n / 4 > 2 ? n / 4 : 2, n_runs = count_runs(values, n, many), period;
    if (n_runs == 1) {
        put_constant(out, values[0], count);
        return;
    }
    period = n > 3 ? find_period(values, n) : 0;
    if (period) {
        put_period(out, values, period, count);
        return;
    }
    size_t varints = n < FEW ? varints_size(values, n) : SIZE_MAX;
    size_t runs = n_runs < many || n < FEW ? runs_size(values, n) : SIZE_MAX;
    size_t least = varints < runs ? varints : runs;
    if (n > 8 && try_histogram(out, values, n, count, least))
        return;
    if (runs < varints)
        put_runs(out, values, n, count);
    else
        put_varints(out, values, n, count);
}

void rfn_column_encode_block(const int64_t *values, uint32_t n, struct rfn_buf *out)
{
    put_block(out, values, n, n);
}

/* ---- decoding a block ---- */

static int get_varints(struct rfn_reader *payload, int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        values[i] = rfn_reader_svarint(payload);
    return payload->failed ? RFN_E_CORRUPT : 0;
}

static int get_runs(struct rfn_reader *payload, int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        int64_t value = rfn_reader_svarint(payload);
        uint64_t length = rfn_reader_limited(payload, n - i - 1) + 1;
        if (payload->failed)
            return RFN_E_CORRUPT;
        for (uint64_t j = 0; j < length; j++)
            values[i++] = value;
    }
    return 0;
}

static int get_period(struct rfn_reader *payload, int64_t *values, uint32_t n)
{
    uint32_t period = (uint32_t)rfn_reader_limited(payload, n);
    int64_t step = rfn_reader_svarint(payload);
    if (!period)
        return RFN_E_CORRUPT;
    RFN_TRY(get_varints(payload, values, period));
    for (uint32_t i = period; i < n; i++)
        values[i] = sum(values[i - period], step);
    return 0;
}

/* The other coders' values lie as int64 until the largest of them is known. guide: of the adaptive
 * coder. */
static int pack_values(enum coder coder, struct rfn_reader *payload, uint32_t n,
                       const int64_t *guide, struct rfn_packed *packed)
{
    int64_t *values = malloc(n * sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    int error = RFN_E_CORRUPT;
    if (coder == CODER_VARINTS)
        error = get_varints(payload, values, n);
    else if (coder == CODER_RUNS)
        error = get_runs(payload, values, n);
    else if (coder == CODER_PERIOD)
        error = get_period(payload, values, n);
    else if (coder == CODER_ADAPTIVE)
        error = rfn_column_adaptive_decode(payload, guide, n, values);
    if (!error)
        error = rfn_packed_values(packed, values, n);
    free(values);
    return error;
}

/* n is at most RFN_COLUMN_BLOCK, but for constants. */
static int get_block(enum coder coder, struct rfn_reader *payload, uint64_t n, const int64_t *guide,
                     struct rfn_packed *packed)
{
    if (coder == CODER_CONSTANT)
        RFN_TRY(rfn_packed_begin(packed, n, rfn_reader_svarint(payload), 0));
    else if (coder == CODER_HISTOGRAM)
        RFN_TRY(rfn_column_histogram_decode(payload, (uint32_t)n, packed));
    else
        RFN_TRY(pack_values(coder, payload, (uint32_t)n, guide, packed));
    return payload->failed || rfn_reader_left(payload) ? RFN_E_CORRUPT : 0;
}

/* ---- columns that grow ---- */

void rfn_column_init(struct rfn_column *column)
{
    *column = (struct rfn_column){.constant = true};
}

static void drop_ahead(struct rfn_column *column)
{
    if (column->ahead)
        rfn_buf_release(&column->ahead->tail);
    free(column->ahead);
    column->ahead = NULL;
}

void rfn_column_release(struct rfn_column *column)
{
    drop_ahead(column);
    free(column->staged);
    rfn_buf_release(&column->sealed);
    if (column->spilled)
        free(column->spilled->extents);
    free(column->spilled);
    rfn_column_init(column);
}

size_t rfn_column_bytes(const struct rfn_column *column)
{
    size_t bytes = column->staged_capacity * sizeof *column->staged + column->sealed.capacity;
    if (column->spilled)
        bytes += sizeof *column->spilled + column->spilled->capacity * sizeof(struct rfn_extent);
    if (column->ahead)
        bytes += sizeof *column->ahead + column->ahead->tail.capacity;
    return bytes;
}

static uint64_t run_count(const struct rfn_column *column)
{
    return column->n - column->n_sealed - column->n_staged;
}

static void seal_run(struct rfn_column *column)
{
    uint64_t count = run_count(column);
    if (count)
        put_constant(&column->sealed, column->run, count);
    column->n_sealed += count;
}

/* Staged values that are all equal become the run, or lengthen it. */
static void staged_to_run(struct rfn_column *column)
{
    if (column->run != column->staged[0])
        seal_run(column);
    column->run = column->staged[0];
    column->n_staged = 0;
    column->constant = true;
}

static bool staged_is_run(const struct rfn_column *column)
{
    return run_length(column->staged, column->n_staged) == column->n_staged;
}

/* Empties the staging. On failure the sealed blocks are lost, and writing the column says so. */
static int seal(struct rfn_column *column)
{
    if (staged_is_run(column)) {
        staged_to_run(column);
    } else {
        seal_run(column);
        put_block(&column->sealed, column->staged, column->n_staged, column->n_staged);
        column->n_sealed += column->n_staged;
        column->n_staged = 0;
    }
    return rfn_buf_status(&column->sealed);
}

static int reserve_staging(struct rfn_column *column, uint32_t n)
{
    uint32_t capacity = column->staged_capacity ? column->staged_capacity : FIRST_STAGED;
    while (capacity < n)
        capacity *= 2;
    if (capacity == column->staged_capacity)
        return 0;
    int64_t *staged = realloc(column->staged, capacity * sizeof *staged);
    if (!staged)
        return RFN_E_NOMEM;
    column->staged = staged;
    column->staged_capacity = capacity;
    return 0;
}

/* The first value behind a run takes it along when it is short: one block then, not two. */
static int stage(struct rfn_column *column, int64_t value)
{
    uint64_t before = run_count(column);
    uint32_t n_run = column->n_staged == 0 && before < SHORT_RUN ? (uint32_t)before : 0;
    RFN_TRY(reserve_staging(column, column->n_staged + n_run + 1));
    for (uint32_t i = 0; i < n_run; i++)
        column->staged[column->n_staged++] = column->run;
    column->staged[column->n_staged++] = value;
    column->constant = false;
    return 0;
}

int rfn_column_append_slow(struct rfn_column *column, int64_t value)
{
    if (column->n_staged == RFN_COLUMN_BLOCK)
        RFN_TRY(seal(column));
    if (column->n_staged == 0 && (run_count(column) == 0 || column->run == value)) {
        column->run = value;
        column->constant = true;
    } else {
        RFN_TRY(stage(column, value));
    }
    column->last = value;
    column->n++;
    return 0;
}

int rfn_column_set_last(struct rfn_column *column, int64_t value)
{
    drop_ahead(column);
    if (column->n_staged) {
        column->staged[column->n_staged - 1] = value;
        if (column->n_staged <= SHORT_RUN && staged_is_run(column) &&
            (run_count(column) == 0 || column->run == value))
            staged_to_run(column);
    } else if (run_count(column) == 1) {
        column->run = value;
    } else if (column->run != value) {
        column->n--;
        int error = stage(column, value);
        column->n++;
        RFN_TRY(error);
    }
    column->last = value;
    return 0;
}

/* The last block's count is not written. */
static void put_tail(const struct rfn_column *column, struct rfn_buf *out)
{
    uint64_t count = run_count(column);
    if (count)
        put_constant(out, column->run, column->n_staged ? count : 0);
    if (column->n_staged)
        put_block(out, column->staged, column->n_staged, 0);
}

void rfn_column_code_ahead(struct rfn_column *column)
{
    drop_ahead(column);
    struct rfn_column_ahead *ahead = column->n_staged < FEW ? NULL : malloc(sizeof *ahead);
    if (!ahead)
        return;
    *ahead = (struct rfn_column_ahead){.n = column->n, .tail = RFN_BUF_INIT};
    column->ahead = ahead;
    put_tail(column, &ahead->tail);
    if (ahead->tail.failed)
        drop_ahead(column);
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

void rfn_column_pack(const struct rfn_column *column, struct rfn_rope *out)
{
    const struct rfn_column_spilled *spilled = column->spilled;
    const bool ahead = column->ahead && column->ahead->n == column->n;
    struct rfn_buf tail = RFN_BUF_INIT;
    rfn_buf_varint(&out->bytes, column->n);
    if (!ahead && (column->n_sealed || column->n_staged || column->run))
        put_tail(column, &tail);
    rfn_buf_varint(&out->bytes, (spilled ? spilled->size : 0) + column->sealed.size +
                                    (ahead ? column->ahead->tail.size : tail.size));
    for (size_t i = 0; spilled && i < spilled->n; i++)
        rfn_rope_extent(out, spilled->spill, &spilled->extents[i]);
    pack_own(&column->sealed, out);
    if (ahead)
        pack_own(&column->ahead->tail, out);
    else
        rfn_buf_bytes(&out->bytes, tail.data, tail.size);
    out->bytes.failed |= tail.failed | column->sealed.failed;
    rfn_buf_release(&tail);
}

void rfn_column_write(const struct rfn_column *column, struct rfn_buf *out)
{
    struct rfn_rope rope = RFN_ROPE_INIT;
    rfn_column_pack(column, &rope);
    rfn_rope_flatten(&rope, out);
    rfn_rope_release(&rope);
}

/* ---- leaving memory ---- */

/* Seals the staged values but the last, which may still be changed, and gives up their room. */
static int seal_early(struct rfn_column *column)
{
    drop_ahead(column);
    uint32_t n = column->n_staged - 1;
    int64_t last = column->staged[n];
    seal_run(column);
    put_block(&column->sealed, column->staged, n, n);
    column->n_sealed += n;
    column->staged[0] = last;
    column->n_staged = 1;
    int64_t *shorter = realloc(column->staged, FIRST_STAGED * sizeof *shorter);
    if (shorter) {
        column->staged = shorter;
        column->staged_capacity = FIRST_STAGED;
    }
    return rfn_buf_status(&column->sealed);
}

/* The bytes of whole blocks from the reader's place on, at most RFN_ROPE_PART unless the first
 * block has more. */
static size_t whole_blocks(struct rfn_reader *reader)
{
    size_t from = reader->at, end = from;
    while (rfn_reader_left(reader)) {
        size_t size;
        rfn_reader_u8(reader);
        rfn_reader_varint(reader);
        rfn_reader_blob(reader, &size);
        if (end > from && reader->at - from > RFN_ROPE_PART)
            break;
        end = reader->at;
    }
    reader->at = end;
    return end - from;
}

/* Notes that the sealed blocks are at `offset` of the spill now. */
static int note_extents(struct rfn_column_spilled *spilled, const struct rfn_buf *sealed,
                        uint64_t offset)
{
    struct rfn_reader reader = rfn_reader_over(sealed->data, sealed->size);
    size_t before = spilled->n;
    while (rfn_reader_left(&reader)) {
        struct rfn_extent extent = {.offset = offset + reader.at};
        extent.size = whole_blocks(&reader);
        if (RFN_GROW(spilled->extents, spilled->capacity, spilled->n + 1) < 0) {
            spilled->n = before;
            return RFN_E_NOMEM;
        }
        spilled->extents[spilled->n++] = extent;
    }
    spilled->size += sealed->size;
    return 0;
}

int rfn_column_spill(struct rfn_column *column, const struct rfn_spill *spill, bool staged)
{
    uint64_t offset;
    if (staged && column->n_staged > 1)
        RFN_TRY(seal_early(column));
    if (!column->sealed.size || column->sealed.failed)
        return rfn_buf_status(&column->sealed);
    if (!column->spilled && !(column->spilled = calloc(1, sizeof *column->spilled)))
        return RFN_E_NOMEM;
    column->spilled->spill = spill;
    RFN_TRY(spill->write(spill->context, column->sealed.data, column->sealed.size, &offset));
    RFN_TRY(note_extents(column->spilled, &column->sealed, offset));
    rfn_buf_release(&column->sealed);
    return 0;
}

/* ---- reading ---- */

struct head {
    enum coder coder;
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
    cursor->zeros = !column->n_sealed && !column->n_staged && !column->run;
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
    RFN_TRY(fetch(cursor, HEAD_MAX));
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

/* Reads the blocks of the next extent. */
static int read_extent(struct rfn_column_cursor *cursor, const struct rfn_column_spilled *spilled,
                       size_t i)
{
    const struct rfn_extent *extent = &spilled->extents[i];
    cursor->own.size = 0;
    uint8_t *to = rfn_buf_reserve(&cursor->own, (size_t)extent->size);
    if (!to)
        return RFN_E_NOMEM;
    RFN_TRY(
        spilled->spill->read(spilled->spill->context, extent->offset, to, (size_t)extent->size));
    cursor->own.size = (size_t)extent->size;
    return 0;
}

/* Moves on to the next window that has blocks, if there is one. */
static int next_window(struct rfn_column_cursor *cursor)
{
    const struct rfn_column *column = cursor->column;
    size_t n_extents = column->spilled ? column->spilled->n : 0;
    while (!rfn_reader_left(&cursor->blocks) && cursor->window < n_extents + 2) {
        size_t window = cursor->window++;
        if (window == n_extents) {
            cursor->blocks = rfn_reader_over(column->sealed.data, column->sealed.size);
            continue;
        }
        cursor->own.size = 0;
        if (window < n_extents)
            RFN_TRY(read_extent(cursor, column->spilled, window));
        else
            put_tail(column, &cursor->own);
        RFN_TRY(rfn_buf_status(&cursor->own));
        cursor->blocks = rfn_reader_over(cursor->own.data, cursor->own.size);
    }
    return 0;
}

/* The next block's head. RFN_E_RANGE when all values are read. */
static int get_head(struct rfn_column_cursor *cursor, struct head *head)
{
    uint64_t left = cursor->n - cursor->end;
    if (!left)
        return rfn_column_bytes_left(cursor) ? RFN_E_CORRUPT : RFN_E_RANGE;
    if (cursor->column)
        RFN_TRY(next_window(cursor));
    if (cursor->store)
        RFN_TRY(fetch(cursor, HEAD_MAX));
    uint8_t coder = rfn_reader_u8(&cursor->blocks);
    uint64_t count = rfn_reader_limited(&cursor->blocks, left);
    size_t size = (size_t)rfn_reader_limited(&cursor->blocks, BLOCK_MAX);
    if (cursor->store)
        RFN_TRY(fetch(cursor, size));
    const uint8_t *payload = rfn_reader_bytes(&cursor->blocks, size);
    if (!count)
        count = left;
    if (cursor->blocks.failed || coder >= N_CODERS ||
        (coder != CODER_CONSTANT && count > RFN_COLUMN_BLOCK))
        return RFN_E_CORRUPT;
    *head = (struct head){(enum coder)coder, count, rfn_reader_over(payload, size)};
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

/* What the guide has beside the n values that begin at `at`, behind those that were asked for. */
static int read_guide(struct rfn_list_cursor *guide, uint64_t at, uint64_t n, int64_t *values)
{
    RFN_TRY(list_skip(guide, at - rfn_column_at(&guide->column)));
    for (uint64_t i = 0; i < n; i++)
        RFN_TRY(rfn_list_next(guide, &values[i]));
    return 0;
}

static int decode_guided(struct rfn_column_cursor *cursor, struct rfn_list_cursor *guide,
                         struct head *head)
{
    int64_t *values = malloc((size_t)head->count * sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    int error = read_guide(guide, cursor->end, head->count, values);
    if (error == RFN_E_RANGE)
        error = RFN_E_CORRUPT;
    if (!error)
        error = get_block(head->coder, &head->payload, head->count, values, &cursor->packed);
    free(values);
    return error;
}

static int decode(struct rfn_column_cursor *cursor, struct rfn_list_cursor *guide,
                  struct head *head)
{
    if (guide && head->coder == CODER_ADAPTIVE)
        RFN_TRY(decode_guided(cursor, guide, head));
    else
        RFN_TRY(get_block(head->coder, &head->payload, head->count, NULL, &cursor->packed));
    begin_block(cursor, head->count);
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

/* ---- packing lists ---- */

/* What a list is made of, block by block. */
struct packing {
    struct rfn_column_cursor column;
    struct rfn_list_cursor guide;
    bool guided;
    int64_t values[RFN_COLUMN_BLOCK], guide_values[RFN_COLUMN_BLOCK];
    struct rfn_buf blocks;
};

/* Codes the n gathered values by the adaptive coder, or another one if that needs no more. */
static int put_smaller(struct packing *packing, uint32_t n, uint64_t count)
{
    enum { LEAST = 4 }; /* bytes: head, form */
    struct rfn_buf plain = RFN_BUF_INIT, adaptive = RFN_BUF_INIT, *out = &packing->blocks;
    put_block(&plain, packing->values, n, count);
    int error = rfn_buf_status(&plain);
    bool small = plain.size <= LEAST;
    if (!error && !small)
        error = rfn_column_adaptive_encode(
            packing->values, packing->guided ? packing->guide_values : NULL, n, &adaptive);
    size_t begin = out->size;
    if (!error)
        put_head(out, CODER_ADAPTIVE, count, adaptive.size);
    rfn_buf_bytes(out, adaptive.data, adaptive.size);
    if (!error && !out->failed && (small || plain.size <= out->size - begin)) {
        out->size = begin;
        rfn_buf_bytes(out, plain.data, plain.size);
    }
    rfn_buf_release(&plain);
    rfn_buf_release(&adaptive);
    return error ? error : rfn_buf_status(out);
}

/* A long run becomes a block of its own, if the next values are one. */
static int pack_run(struct packing *packing, uint64_t run, bool last)
{
    int64_t value;
    RFN_TRY(rfn_column_next(&packing->column, &value));
    RFN_TRY(rfn_column_skip(&packing->column, run - 1));
    put_constant(&packing->blocks, value, last ? 0 : run);
    return 0;
}

static int pack_block(struct packing *packing)
{
    struct rfn_column_cursor *column = &packing->column;
    uint64_t at = rfn_column_at(column), left = column->n - at;
    uint64_t run = column->left ? rfn_column_equal(column) : 0;
    if (run >= RFN_COLUMN_BLOCK)
        return pack_run(packing, run, run == left);
    uint32_t n = left < RFN_COLUMN_BLOCK ? (uint32_t)left : RFN_COLUMN_BLOCK;
    for (uint32_t i = 0; i < n; i++)
        RFN_TRY(rfn_column_next(column, &packing->values[i]));
    if (packing->guided)
        RFN_TRY(read_guide(&packing->guide, at, n, packing->guide_values));
    return put_smaller(packing, n, n == left ? 0 : n);
}

static int pack_blocks(struct packing *packing)
{
    while (rfn_column_at(&packing->column) < packing->column.n) {
        if (!packing->column.left)
            RFN_TRY(rfn_column_next_block(&packing->column));
        RFN_TRY(pack_block(packing));
    }
    return rfn_buf_status(&packing->blocks);
}

int rfn_column_pack_list(const struct rfn_column *column, const struct rfn_column *guide,
                         struct rfn_buf *out)
{
    struct packing *packing = malloc(sizeof *packing);
    if (!packing)
        return RFN_E_NOMEM;
    packing->guided = guide && guide->n == column->n;
    packing->guide.guide = NULL;
    packing->blocks = (struct rfn_buf)RFN_BUF_INIT;
    rfn_column_open_growing(&packing->column, column);
    rfn_column_open_growing(&packing->guide.column, packing->guided ? guide : column);
    int error = packing->column.zeros ? 0 : pack_blocks(packing);
    rfn_buf_varint(out, column->n);
    rfn_buf_blob(out, packing->blocks.data, packing->blocks.size);
    rfn_column_close(&packing->column);
    rfn_column_close(&packing->guide.column);
    rfn_buf_release(&packing->blocks);
    free(packing);
    return error ? error : rfn_buf_status(out);
}
