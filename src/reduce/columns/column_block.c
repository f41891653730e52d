#include "reduce/columns/column_block.h"

#include "reduce/columns/column_adaptive.h"
#include "reduce/columns/column_histogram.h"

#include <stdlib.h>

enum {
    FEW = 64,      /* fewer values may be best coded as varints */
    MAX_LAG = 512, /* the longest period looked for */
    PROBE = 16,    /* values that a period is looked for by */
};

/* ---- coding ---- */

static size_t varint_size(uint64_t value)
{
    size_t size = 1;
    for (; value >= 0x80; value >>= 7)
        size++;
    return size;
}

/* The block's head; count 0 stands for "all that are left". */
void rfn_block_head(struct rfn_buf *out, enum rfn_column_coder coder, uint64_t count, size_t size)
{
    rfn_buf_u8(out, (uint8_t)coder);
    rfn_buf_varint(out, count);
    rfn_buf_varint(out, size);
}

void rfn_block_constant(struct rfn_buf *out, int64_t value, uint64_t count)
{
    rfn_block_head(out, RFN_CODER_CONSTANT, count, varint_size(rfn_zigzag(value)));
    rfn_buf_svarint(out, value);
}

static size_t varints_size(const int64_t *values, uint32_t n)
{
    size_t size = 0;
    for (uint32_t i = 0; i < n; i++)
        size += varint_size(rfn_zigzag(values[i]));
    return size;
}

static void put_values(struct rfn_buf *out, const int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        rfn_buf_svarint(out, values[i]);
}

static size_t runs_size(const int64_t *values, uint32_t n)
{
    size_t size = 0;
    for (uint32_t i = 0, length; i < n; i += length) {
        length = rfn_run_length(values + i, n - i);
        size += varint_size(rfn_zigzag(values[i])) + varint_size(length - 1);
    }
    return size;
}

/* Differences wrap around: they are right for all of int64. */
static int64_t difference(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
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
    uint32_t near = 0, far = 0, half = n / 2, m = (n + 3) / 5;
    for (uint32_t i = 1; i < n; i += 5) {
        near += bits_between(values[i], values[i - 1]);
        far += bits_between(values[i], values[i < half ? i + half : i - half]);
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

/* Codes the values as histogram, behind a head; nothing is written when that needs more than
 * `limit` bytes, or when there is no memory to try. */
static bool try_histogram(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count,
                          size_t limit)
{
    struct rfn_buf payload = RFN_BUF_INIT;
    uint32_t lag = find_broken_period(values, n);
    if (!lag && n >= 16 && is_smooth(values, n))
        lag = 1;
    int error = rfn_column_histogram_encode(values, n, lag, &payload);
    bool done = !error && payload.size <= limit;
    if (done) {
        rfn_block_head(out, RFN_CODER_HISTOGRAM, count, payload.size);
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
void rfn_block_put(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count)
{
    uint32_t many = n / 4 > 2 ? n / 4 : 2, n_runs = count_runs(values, n, many), period;
    if (n_runs == 1) {
        rfn_block_constant(out, values[0], count);
        return;
    }
    period = n > 3 ? find_period(values, n) : 0;
    if (period) {
        int64_t step = difference(values[period], values[0]);
        rfn_block_head(out, RFN_CODER_PERIOD, count,
                       varint_size(period) + varint_size(rfn_zigzag(step)) +
                           varints_size(values, period));
        rfn_buf_varint(out, period);
        rfn_buf_svarint(out, step);
        put_values(out, values, period);
        return;
    }
    size_t varints = n < FEW ? varints_size(values, n) : SIZE_MAX;
    size_t runs = n_runs < many || n < FEW ? runs_size(values, n) : SIZE_MAX;
    size_t least = varints < runs ? varints : runs;
    if (n > 8 && try_histogram(out, values, n, count, least))
        return;
    if (runs >= varints) {
        rfn_block_head(out, RFN_CODER_VARINTS, count, varints_size(values, n));
        put_values(out, values, n);
        return;
    }
    rfn_block_head(out, RFN_CODER_RUNS, count, runs);
    for (uint32_t i = 0, length; i < n; i += length) {
        length = rfn_run_length(values + i, n - i);
        rfn_buf_svarint(out, values[i]);
        rfn_buf_varint(out, length - 1);
    }
}

/* ---- decoding ---- */

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
        values[i] = (int64_t)((uint64_t)values[i - period] + (uint64_t)step);
    return 0;
}

/* The other coders' values lie as int64 until the largest of them is known. guide: of the adaptive
 * coder. */
static int pack_values(enum rfn_column_coder coder, struct rfn_reader *payload, uint32_t n,
                       const int64_t *guide, struct rfn_packed *packed)
{
    int64_t *values = malloc(n * sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    int error = RFN_E_CORRUPT;
    if (coder == RFN_CODER_VARINTS)
        error = get_varints(payload, values, n);
    else if (coder == RFN_CODER_RUNS)
        error = get_runs(payload, values, n);
    else if (coder == RFN_CODER_PERIOD)
        error = get_period(payload, values, n);
    else if (coder == RFN_CODER_ADAPTIVE)
        error = rfn_column_adaptive_decode(payload, guide, n, values);
    if (!error)
        error = rfn_packed_values(packed, values, n);
    free(values);
    return error;
}

/* n is at most RFN_COLUMN_BLOCK, but for constants. */
int rfn_block_get(enum rfn_column_coder coder, struct rfn_reader *payload, uint64_t n,
                  const int64_t *guide, struct rfn_packed *packed)
{
    if (coder == RFN_CODER_CONSTANT)
        RFN_TRY(rfn_packed_begin(packed, n, rfn_reader_svarint(payload), 0));
    else if (coder == RFN_CODER_HISTOGRAM)
        RFN_TRY(rfn_column_histogram_decode(payload, (uint32_t)n, packed));
    else
        RFN_TRY(pack_values(coder, payload, (uint32_t)n, guide, packed));
    return payload->failed || rfn_reader_left(payload) ? RFN_E_CORRUPT : 0;
}
