/* Five coders, of which a block takes the one that needs the fewest bytes:
 *
 * constant   one value. The only coder whose blocks may have more than RFN_COLUMN_BLOCK values.
 * varints    zigzag varints: a few values have nothing to learn from.
 * runs       (value, length) pairs.
 * period     value[i] = value[i - p] + step: arithmetic sequences, short periods, both at once.
 * histogram  everything else, times above all. The values (or what is left of them after taking
 *            away the value `lag` places before) are noise around a few typical ones. An adaptive
 *            histogram says how likely a stretch of the number line is; within a stretch all
 *            values are taken as equally likely. So a value is coded as the number of its bucket,
 *            by an entropy coder, and its offset in the bucket, as plain bits.
 *
 * The buckets are dyadic: [a * 2^k, (a + 1) * 2^k). All partitions of the number line into such
 * intervals are the cuts of one binary tree, so that the best of them, by the bits it needs for
 * buckets, offsets and its own description, is found from the bottom up: a node is one bucket when
 * that costs no more than the best for its two halves. Sorting the values gives the nodes that
 * are not empty in the order in which a stack can join them. Modes become narrow buckets, tails
 * wide ones, spikes buckets of width 1; there is nothing to tune.
 *
 * The entropy coder is a range variant of asymmetric numeral systems (J. Duda, arXiv:1311.2540),
 * 12 bits of probability, 32 bits of state, 16 bits at a time. All of a block's memory comes from
 * one allocation that is gone when the block is coded: recorders live on other people's stacks, and
 * threads and ranks share nothing.
 *
 * doc/column-coding.md defines the bytes.
 */
#include "reduce/column.h"

#include <stdlib.h>

enum coder { CODER_CONSTANT, CODER_VARINTS, CODER_RUNS, CODER_PERIOD, CODER_HISTOGRAM, N_CODERS };

enum {
    FIRST_STAGED = 16, /* values that a column makes room for when it is no longer constant */
    SHORT_RUN = 32,    /* a run of fewer values is written together with the values behind it */
    MAX_LAG = 512,
    MAX_BUCKETS = 256,
    PROBABILITY_BITS = 12,
    PROBABILITY_ONE = 1 << PROBABILITY_BITS,
    INDEX_BITS = 12,       /* RFN_COLUMN_BLOCK <= 2^INDEX_BITS */
    TWO_STATES = 256,      /* as many coded values use two interleaved states */
    REST = 15,             /* marks the bucket that has the probability which is left */
    MAX_BUCKET_BITS = 112, /* the description of one bucket: 13 + 78 + 7, rounded up */
};
static const uint32_t STATE_LOW = 1u << 15;

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

/* Counts the comparisons: long runs would let every period look right for a long time. */
static bool has_period(const int64_t *values, uint32_t n, uint32_t period, uint32_t *compared)
{
    int64_t step = difference(values[n - 1], values[n - 1 - period]);
    for (uint32_t i = n - 1; i >= period; i--) {
        ++*compared;
        if (difference(values[i], values[i - period]) != step)
            return false;
    }
    return true;
}

/* The smallest p such that values[i] - values[i - p] is the same for all i >= p, or 0. */
static uint32_t find_period(const int64_t *values, uint32_t n)
{
    uint32_t compared = 0;
    for (uint32_t period = 1; period <= MAX_LAG && period <= n / 2; period++) {
        if (has_period(values, n, period, &compared))
            return period;
        if (compared > 2 * n)
            break;
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

/* ---- bits: least significant first, as numbers in a row ---- */

struct bit_writer {
    uint8_t *at;
    uint64_t pending;
    unsigned n; /* bits pending, fewer than 8 between calls */
};

static void store_64(uint8_t *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t load_64(const uint8_t *from)
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
           (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

/* Writes up to 8 bytes ahead of what it has used. value < 2^n, n <= 56. */
static inline void put_few_bits(struct bit_writer *bits, uint64_t value, unsigned n)
{
    bits->pending |= value << bits->n;
    bits->n += n;
    store_64(bits->at, bits->pending);
    bits->at += bits->n / 8;
    bits->pending >>= bits->n & 56u;
    bits->n &= 7;
}

static inline void put_bits(struct bit_writer *bits, uint64_t value, unsigned n)
{
    if (n > 56) {
        put_few_bits(bits, value & 0xffffffff, 32);
        value >>= 32;
        n -= 32;
    }
    put_few_bits(bits, value, n);
}

struct bit_reader {
    const uint8_t *data;
    size_t n_bits, at;
    bool failed;
};

/* Bits behind the end are zeros. */
static uint64_t load_near_end(const struct bit_reader *bits)
{
    uint8_t last[8] = {0};
    size_t at = bits->at / 8, size = bits->n_bits / 8;
    if (at < size)
        memcpy(last, bits->data + at, size - at < 8 ? size - at : 8);
    return load_64(last);
}

static inline uint64_t get_few_bits(struct bit_reader *bits, unsigned n)
{
    bool far = bits->at + 64 <= bits->n_bits;
    uint64_t word = far ? load_64(bits->data + bits->at / 8) : load_near_end(bits);
    word = word >> (bits->at & 7) & ((UINT64_C(1) << n) - 1);
    bits->at += n;
    return word;
}

/* n <= 64. Past the end `at` is beyond n_bits, to be checked when all is read. */
static inline uint64_t get_bits(struct bit_reader *bits, unsigned n)
{
    if (n <= 56)
        return get_few_bits(bits, n);
    uint64_t low = get_few_bits(bits, 32);
    return low | get_few_bits(bits, n - 32) << 32;
}

static unsigned bit_length(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* A number from 0 on, mostly small: the length L of value + 1 in bits minus 1 as Elias gamma code
 * of L + 1, then the L lower bits. (Elias delta.) value < 2^64 - 1. */
static void put_number(struct bit_writer *bits, uint64_t value)
{
    unsigned length = bit_length(value + 1);
    unsigned of_length = bit_length(length);
    put_bits(bits, 0, of_length - 1);
    put_bits(bits, 1, 1);
    put_bits(bits, length & ((1u << (of_length - 1)) - 1), of_length - 1);
    put_bits(bits, (value + 1) & ((UINT64_C(1) << (length - 1)) - 1), length - 1);
}

static uint64_t get_number(struct bit_reader *bits)
{
    unsigned zeros = 0;
    while (zeros < 7 && !get_bits(bits, 1))
        zeros++;
    unsigned length = (unsigned)(1u << zeros | get_bits(bits, zeros));
    if (zeros == 7 || length > 64) {
        bits->failed = true;
        return 0;
    }
    return (UINT64_C(1) << (length - 1) | get_bits(bits, length - 1)) - 1;
}

/* ---- histogram: encoding ---- */

/* A stretch of 2^width numbers, and its probability in 1/4096. */
struct bucket {
    uint64_t low;
    uint32_t n; /* values in it */
    uint16_t frequency, start;
    uint8_t width;
    uint8_t shift; /* x / frequency is x * reciprocal >> shift, for x < 2^31 */
    uint64_t reciprocal;
};

/* Which numbers are coded: (values[i] - values[i - lag] - base) / scale, for i from lag on. */
struct model {
    uint32_t lag;
    int64_t base;
    uint64_t scale;
    unsigned n_buckets;
};

/* A node of the tree of dyadic intervals: the sorted numbers from first to end. */
struct node {
    uint32_t first, end;
    uint32_t cost;  /* of the best partition, in 1/256 bit */
    unsigned level; /* of the parent that it shares with the node before it */
};

struct scratch {
    uint64_t *numbers;      /* in order of the values */
    uint64_t *keys, *other; /* number >> coarse << INDEX_BITS | place */
    uint16_t *bucket_end;   /* of a bucket that begins here, in order of the keys */
    uint8_t *bucket_of;     /* in order of the values */
    unsigned coarse;
    struct bucket buckets[MAX_BUCKETS];
    struct node stack[65];
};

static struct scratch *scratch_new(uint32_t n)
{
    size_t size = sizeof(struct scratch) + n * (3 * sizeof(uint64_t) + sizeof(uint16_t) + 1);
    struct scratch *scratch = malloc(size);
    if (!scratch)
        return NULL;
    scratch->numbers = (uint64_t *)(scratch + 1);
    scratch->keys = scratch->numbers + n;
    scratch->other = scratch->keys + n;
    scratch->bucket_end = (uint16_t *)(scratch->other + n);
    scratch->bucket_of = (uint8_t *)(scratch->bucket_end + n);
    return scratch;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* 1 / odd modulo 2^64, by Newton's iteration: each step doubles the bits that are right. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (unsigned i = 0; i < 5; i++)
        x *= 2 - odd * x;
    return x;
}

/* Clocks tick in steps, sizes are multiples. A sample suggests the step; multiplying with its
 * inverse divides exactly, and tells whether that is possible: only then the quotient is small. */
static uint64_t divide_by_common(uint64_t *numbers, uint32_t n)
{
    uint64_t scale = 0;
    for (uint32_t i = 0; i < n && i < 64 && scale != 1; i++)
        scale = common_divisor(scale, numbers[i]);
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all |= numbers[i];
    if (scale <= 1)
        return 1;
    unsigned zeros = (unsigned)__builtin_ctzll(scale), limit = (unsigned)__builtin_ctzll(all);
    uint64_t odd = scale >> zeros, factor = inverse(odd), largest = UINT64_MAX / odd;
    zeros = zeros < limit ? zeros : limit;
    for (uint32_t i = 0; i < n && odd > 1; i++) {
        if (numbers[i] * factor > largest)
            odd = factor = 1;
    }
    for (uint32_t i = 0; i < n && (zeros || odd > 1); i++)
        numbers[i] = (numbers[i] >> zeros) * factor;
    return odd << zeros;
}

/* Fills scratch->numbers; returns how many there are. */
static uint32_t make_numbers(const int64_t *values, uint32_t n, struct model *model,
                             struct scratch *scratch)
{
    uint32_t lag = model->lag, m = n - lag;
    uint64_t *numbers = scratch->numbers;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < m; i++) {
        int64_t value = lag ? difference(values[i + lag], values[i]) : values[i];
        numbers[i] = (uint64_t)value;
        least = value < least ? value : least;
    }
    for (uint32_t i = 0; i < m; i++)
        numbers[i] -= (uint64_t)least;
    model->base = least;
    model->scale = divide_by_common(numbers, m);
    return m;
}

/* How many low bits the buckets can do without: an eighth of the values, where they lie densest,
 * is still divided into 16 or more. Found from a sample. */
static unsigned coarseness(const uint64_t *numbers, uint32_t n)
{
    enum { SAMPLE = 64 };
    uint64_t sample[SAMPLE], smallest = UINT64_MAX;
    if (n < 4 * SAMPLE)
        return 0;
    for (uint32_t i = 0; i < SAMPLE; i++) {
        uint64_t number = numbers[(uint64_t)i * n / SAMPLE];
        uint32_t j = i;
        for (; j && sample[j - 1] > number; j--)
            sample[j] = sample[j - 1];
        sample[j] = number;
    }
    for (uint32_t i = 0; i + SAMPLE / 8 < SAMPLE; i += 4) {
        uint64_t gap = sample[i + SAMPLE / 8] - sample[i];
        smallest = gap < smallest ? gap : smallest;
    }
    unsigned length = bit_length(smallest);
    return length > 5 ? length - 5 : 0;
}

static void sort_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift, unsigned bits)
{
    uint16_t place[1 << 11] = {0};
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (uint32_t i = 0; i < n; i++)
        place[from[i] >> shift & mask]++;
    uint32_t before = 0;
    for (uint32_t digit = 0; digit <= mask; digit++) {
        uint32_t count = place[digit];
        place[digit] = (uint16_t)before;
        before += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[place[from[i] >> shift & mask]++] = from[i];
}

/* Sorts the numbers, with their places, into scratch->keys. */
static void sort_numbers(struct scratch *scratch, uint32_t n)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < n; i++)
        all |= scratch->numbers[i];
    unsigned length = bit_length(all), coarse = coarseness(scratch->numbers, n);
    if (length > 64 - INDEX_BITS && coarse < length - (64 - INDEX_BITS))
        coarse = length - (64 - INDEX_BITS);
    for (uint32_t i = 0; i < n; i++)
        scratch->keys[i] = scratch->numbers[i] >> coarse << INDEX_BITS | i;
    scratch->coarse = coarse;
    length -= coarse;
    unsigned most = n < 512 ? 6 : 11, passes = (length + most - 1) / most;
    for (unsigned pass = 0; pass < passes; pass++) {
        unsigned from = length * pass / passes, to = length * (pass + 1) / passes;
        sort_pass(scratch->keys, scratch->other, n, INDEX_BITS + from, to - from);
        uint64_t *sorted = scratch->other;
        scratch->other = scratch->keys;
        scratch->keys = sorted;
    }
}

/* log2(n) in 1/256, to 1/128. */
static uint32_t log2_256(uint32_t n)
{
    unsigned exponent = bit_length(n) - 1;
    uint32_t t = (n << 8 >> exponent) - 256;
    return (exponent << 8) + t + (t * (256 - t) * 88 >> 16);
}

struct price {
    uint32_t log2_n, per_bucket;
};

static uint32_t bucket_cost(const struct price *price, uint32_t n, unsigned width)
{
    return n * (price->log2_n - log2_256(n) + (width << 8)) + price->per_bucket;
}

/* Joins the two nodes on top of the stack. */
static void join_nodes(struct scratch *scratch, const struct price *price, struct node *left,
                       const struct node *right)
{
    uint32_t whole = bucket_cost(price, right->end - left->first, right->level);
    uint32_t parts = left->cost + right->cost;
    if (whole <= parts)
        scratch->bucket_end[left->first] = (uint16_t)(right->end - 1);
    left->end = right->end;
    left->cost = whole <= parts ? whole : parts;
}

/* Finds the best partition; returns the number of buckets. */
static uint32_t divide(struct scratch *scratch, uint32_t n, const struct price *price)
{
    const uint64_t *keys = scratch->keys;
    struct node *top = scratch->stack;
    for (uint32_t first = 0, end; first < n; first = end) {
        uint64_t number = keys[first] >> INDEX_BITS;
        for (end = first + 1; end < n && keys[end] >> INDEX_BITS == number; end++)
            ;
        unsigned level = first ? bit_length(number ^ keys[first - 1] >> INDEX_BITS) : 65;
        for (; first && top > scratch->stack && top->level < level; top--)
            join_nodes(scratch, price, top - 1, top);
        top += first ? 1 : 0;
        *top = (struct node){first, end, bucket_cost(price, end - first, 0), level};
        scratch->bucket_end[first] = (uint16_t)(end - 1);
    }
    for (; top > scratch->stack; top--)
        join_nodes(scratch, price, top - 1, top);
    uint32_t n_buckets = 0;
    for (uint32_t first = 0; first < n; first = scratch->bucket_end[first] + 1u)
        n_buckets++;
    return n_buckets;
}

static void collect_buckets(struct scratch *scratch, uint32_t n)
{
    struct bucket *bucket = scratch->buckets;
    for (uint32_t first = 0, end; first < n; first = end, bucket++) {
        end = scratch->bucket_end[first] + 1u;
        uint64_t low = scratch->keys[first] >> INDEX_BITS;
        unsigned width = bit_length(low ^ scratch->keys[end - 1] >> INDEX_BITS);
        *bucket = (struct bucket){.n = end - first};
        bucket->low = low >> width << width << scratch->coarse;
        bucket->width = (uint8_t)(width + scratch->coarse);
        for (uint32_t i = first; i < end; i++)
            scratch->bucket_of[scratch->keys[i] & ((1u << INDEX_BITS) - 1)] =
                (uint8_t)(bucket - scratch->buckets);
    }
}

static unsigned make_buckets(struct scratch *scratch, uint32_t n)
{
    struct price price = {log2_256(n), 10 << 8};
    uint32_t n_buckets;
    sort_numbers(scratch, n);
    while ((n_buckets = divide(scratch, n, &price)) > MAX_BUCKETS)
        price.per_bucket *= 2;
    collect_buckets(scratch, n);
    return n_buckets;
}

/* Frequencies are written with three bits behind the leading one. */
static uint32_t round_frequency(uint32_t exact)
{
    unsigned length = bit_length(exact);
    if (length <= 4)
        return exact;
    uint32_t rounded = (exact + (1u << (length - 5))) >> (length - 4) << (length - 4);
    return rounded < PROBABILITY_ONE ? rounded : PROBABILITY_ONE - (PROBABILITY_ONE >> 4);
}

static unsigned largest_bucket(const struct bucket *buckets, unsigned n, unsigned but)
{
    unsigned largest = but == 0 ? 1 : 0;
    for (unsigned i = 0; i < n; i++) {
        if (i != but && buckets[i].frequency > buckets[largest].frequency)
            largest = i;
    }
    return largest;
}

/* Gives every bucket a frequency; returns which one has the rest of 4096. Rounding errors are
 * handed on from bucket to bucket, so that they cancel. */
static unsigned set_frequencies(struct bucket *buckets, unsigned n_buckets, uint32_t n)
{
    unsigned rest = 0;
    for (unsigned i = 0; i < n_buckets; i++)
        rest = buckets[i].n > buckets[rest].n ? i : rest;
    int32_t error = 0, left = PROBABILITY_ONE;
    for (unsigned i = 0; i < n_buckets; i++) {
        if (i == rest)
            continue;
        int32_t exact = (int32_t)((buckets[i].n * PROBABILITY_ONE + n / 2) / n);
        int32_t wanted = exact + error > 1 ? exact + error : 1;
        uint32_t frequency = round_frequency((uint32_t)wanted);
        error = wanted - (int32_t)frequency;
        buckets[i].frequency = (uint16_t)frequency;
        left -= (int32_t)frequency;
    }
    buckets[rest].frequency = 0;
    while (left < 1) { /* only when very many buckets were rounded up to 1 */
        struct bucket *bucket = &buckets[largest_bucket(buckets, n_buckets, rest)];
        uint32_t less = round_frequency(bucket->frequency - (bucket->frequency + 15u) / 16);
        left += bucket->frequency - (int32_t)less;
        bucket->frequency = (uint16_t)less;
    }
    buckets[rest].frequency = (uint16_t)left;
    return rest;
}

static void prepare_coding(struct bucket *buckets, unsigned n_buckets)
{
    uint32_t start = 0;
    for (unsigned i = 0; i < n_buckets; i++) {
        struct bucket *bucket = &buckets[i];
        uint32_t frequency = bucket->frequency;
        unsigned length = bit_length(frequency - 1);
        bucket->start = (uint16_t)start;
        bucket->shift = (uint8_t)(31 + length);
        bucket->reciprocal = ((UINT64_C(1) << bucket->shift) + frequency - 1) / frequency;
        start += frequency;
    }
}

static void put_table(struct bit_writer *bits, const struct bucket *buckets, unsigned n,
                      unsigned rest)
{
    put_bits(bits, buckets[0].width, 7);
    for (unsigned i = 0; i < n; i++) {
        const struct bucket *bucket = &buckets[i];
        if (i) {
            const struct bucket *before = bucket - 1;
            unsigned unit = bucket->width < before->width ? bucket->width : before->width;
            put_number(bits, rfn_zigzag(bucket->width - before->width));
            put_number(bits, ((bucket->low - before->low) >> unit) -
                                 (UINT64_C(1) << (before->width - unit)));
        }
        unsigned exponent = bit_length(bucket->frequency) - 1, digits = exponent < 3 ? exponent : 3;
        if (n > 1)
            put_bits(bits, i == rest ? REST : exponent, 4);
        if (i != rest)
            put_bits(bits, bucket->frequency >> (exponent - digits) & ((1u << digits) - 1), digits);
    }
}

/* Codes the buckets' numbers, last value first, into words that end before `end`; returns where
 * they begin. */
static uint16_t *put_words(const struct scratch *scratch, uint32_t n, uint32_t states[2],
                           uint16_t *end)
{
    uint32_t second = n >= TWO_STATES;
    states[0] = states[1] = STATE_LOW;
    for (uint32_t i = n; i-- > 0;) {
        const struct bucket *bucket = &scratch->buckets[scratch->bucket_of[i]];
        uint32_t x = states[i & second];
        if (x >> (31 - PROBABILITY_BITS) >= bucket->frequency) {
            *--end = (uint16_t)x;
            x >>= 16;
        }
        uint32_t quotient = (uint32_t)(x * bucket->reciprocal >> bucket->shift);
        states[i & second] = (quotient << PROBABILITY_BITS) + (x - quotient * bucket->frequency) +
                             bucket->start;
    }
    return end;
}

static void put_offsets(struct bit_writer *bits, const struct scratch *scratch, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct bucket *bucket = &scratch->buckets[scratch->bucket_of[i]];
        put_bits(bits, scratch->numbers[i] - bucket->low, bucket->width);
    }
}

static void put_model(struct rfn_buf *out, const struct model *model, const int64_t *values)
{
    rfn_buf_varint(out, model->n_buckets * 4 + (model->scale > 1 ? 2 : 0) + (model->lag ? 1 : 0));
    rfn_buf_svarint(out, model->base);
    if (model->scale > 1)
        rfn_buf_varint(out, model->scale);
    if (model->lag)
        rfn_buf_varint(out, model->lag);
    for (uint32_t i = 0; i < model->lag; i++)
        rfn_buf_svarint(out, values[i]);
}

/* The words lie in scratch->other, which nothing else needs any more. */
static void put_buckets(struct rfn_buf *out, struct scratch *scratch, uint32_t n)
{
    uint32_t states[2];
    uint16_t *end = (uint16_t *)scratch->other + n, *word = put_words(scratch, n, states, end);
    rfn_buf_u32(out, states[0]);
    if (n >= TWO_STATES)
        rfn_buf_u32(out, states[1]);
    rfn_buf_varint(out, (uint64_t)(end - word));
    uint8_t *to = rfn_buf_reserve(out, 2 * (size_t)(end - word));
    if (!to)
        return;
    for (; word < end; word++) {
        *to++ = (uint8_t)*word;
        *to++ = (uint8_t)(*word >> 8);
        out->size += 2;
    }
}

/* Writes what belongs into a histogram block's payload. */
static void put_histogram(struct rfn_buf *out, const int64_t *values, uint32_t n,
                          struct model *model, struct scratch *scratch)
{
    struct bucket *buckets = scratch->buckets;
    uint32_t m = make_numbers(values, n, model, scratch);
    unsigned n_buckets = model->n_buckets = make_buckets(scratch, m);
    unsigned rest = set_frequencies(buckets, n_buckets, m);
    put_model(out, model, values);
    if (n_buckets > 1) {
        prepare_coding(buckets, n_buckets);
        put_buckets(out, scratch, m);
    }
    uint64_t size = 16 + n_buckets * MAX_BUCKET_BITS / 8;
    for (unsigned i = 0; i < n_buckets; i++)
        size += ((uint64_t)buckets[i].n * buckets[i].width) / 8 + 1;
    struct bit_writer bits = {.at = rfn_buf_reserve(out, size)};
    if (!bits.at)
        return;
    put_table(&bits, buckets, n_buckets, rest);
    put_offsets(&bits, scratch, m);
    bits.at += bits.n ? 1 : 0;
    out->size = (size_t)(bits.at - out->data);
}

/* ---- choosing ---- */

/* How many bits differences have: of neighbours, and of values that are far apart. Where there is
 * no order in the values both are the same, and taking differences would only add noise to noise.
 */
static bool is_smooth(const int64_t *values, uint32_t n)
{
    uint32_t near = 0, far = 0, m = 0;
    for (uint32_t i = 1; i < n; i += 5, m++) {
        uint32_t other = i < n / 2 ? i + n / 2 : i - n / 2;
        near += bit_length(rfn_zigzag(difference(values[i], values[i - 1])));
        far += bit_length(rfn_zigzag(difference(values[i], values[other])));
    }
    return near + m + m / 4 < far;
}

static bool repeats_at(const int64_t *values, uint32_t at, uint32_t lag)
{
    enum { PROBE = 16 };
    for (uint32_t i = 0; i < PROBE; i++) {
        if (values[at + i] != values[at + i - lag])
            return false;
    }
    return true;
}

/* A period that most values keep, though not all. */
static uint32_t find_broken_period(const int64_t *values, uint32_t n)
{
    unsigned counted = 0;
    for (uint32_t lag = 1; lag <= MAX_LAG && lag + 32 <= n / 4; lag++) {
        if (!repeats_at(values, n - 16, lag) && !repeats_at(values, n / 2, lag))
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

/* Codes the values as histogram behind a head of the right size; nothing is written when that
 * needs more than `limit` bytes, or when there is no memory to try. */
static bool try_histogram(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count,
                          uint32_t lag, size_t limit)
{
    struct scratch *scratch = scratch_new(n);
    struct rfn_buf payload = RFN_BUF_INIT;
    struct model model = {.lag = lag};
    bool done = false;
    if (scratch) {
        put_histogram(&payload, values, n, &model, scratch);
        done = !payload.failed && payload.size <= limit;
    }
    if (done) {
        put_head(out, CODER_HISTOGRAM, count, payload.size);
        rfn_buf_bytes(out, payload.data, payload.size);
    }
    rfn_buf_release(&payload);
    free(scratch);
    return done;
}

static void put_block(struct rfn_buf *out, const int64_t *values, uint32_t n, uint64_t count)
{
    if (run_length(values, n) == n) {
        put_constant(out, values[0], count);
        return;
    }
    uint32_t lag = n > 3 ? find_period(values, n) : 0;
    if (lag) {
        put_period(out, values, lag, count);
        return;
    }
    size_t varints = varints_size(values, n), runs = runs_size(values, n);
    lag = find_broken_period(values, n);
    if (!lag && n > 8 && is_smooth(values, n))
        lag = 1;
    if (n > 8 && try_histogram(out, values, n, count, lag, varints < runs ? varints : runs))
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

/* ---- histogram: decoding ---- */

struct decoder {
    struct model model;
    uint64_t low[MAX_BUCKETS];
    uint8_t width[MAX_BUCKETS];
    uint16_t frequency[MAX_BUCKETS];
    uint32_t slots[PROBABILITY_ONE]; /* frequency << 20 | place in the bucket << 8 | bucket */
};

static int get_model(struct rfn_reader *payload, struct model *model, int64_t *values, uint32_t n)
{
    uint64_t form = rfn_reader_limited(payload, MAX_BUCKETS * 4 + 3);
    model->n_buckets = (unsigned)(form / 4);
    model->base = rfn_reader_svarint(payload);
    model->scale = form & 2 ? rfn_reader_varint(payload) : 1;
    model->lag = form & 1 ? (uint32_t)rfn_reader_limited(payload, n - 1) : 0;
    if (payload->failed || !model->n_buckets)
        return RFN_E_CORRUPT;
    return get_varints(payload, values, model->lag);
}

/* A frequency, or 0 for that of the rest. */
static uint32_t get_frequency(struct bit_reader *bits)
{
    unsigned exponent = (unsigned)get_bits(bits, 4), digits = exponent < 3 ? exponent : 3;
    if (exponent == REST)
        return 0;
    bits->failed |= exponent >= PROBABILITY_BITS;
    return (1u << digits | (uint32_t)get_bits(bits, digits)) << (exponent - digits);
}

/* Widths, beginnings and frequencies of the buckets. */
static int get_table(struct bit_reader *bits, struct decoder *decoder)
{
    uint64_t width = get_bits(bits, 7), low = 0, total = 0;
    unsigned n = decoder->model.n_buckets, rest = n;
    for (unsigned i = 0; i < n; i++) {
        if (i) {
            uint64_t before = width;
            width += (uint64_t)rfn_unzigzag(get_number(bits));
            uint64_t unit = width < before ? width : before;
            low += (get_number(bits) << (unit & 63)) + (UINT64_C(1) << (before & 63));
        }
        uint32_t frequency = n > 1 ? get_frequency(bits) : 0;
        if (bits->failed || width > 64 || (!frequency && rest < n))
            return RFN_E_CORRUPT;
        rest = frequency ? rest : i;
        total += frequency;
        decoder->low[i] = low;
        decoder->width[i] = (uint8_t)width;
        decoder->frequency[i] = (uint16_t)frequency;
    }
    if (rest == n || total >= PROBABILITY_ONE || bits->at > bits->n_bits)
        return RFN_E_CORRUPT;
    decoder->frequency[rest] = (uint16_t)(PROBABILITY_ONE - total);
    return 0;
}

static void fill_slots(struct decoder *decoder)
{
    uint32_t *slot = decoder->slots;
    for (unsigned i = 0; i < decoder->model.n_buckets; i++) {
        uint32_t frequency = decoder->frequency[i];
        for (uint32_t place = 0; place < frequency; place++)
            *slot++ = frequency << 20 | place << 8 | i;
    }
}

static inline int64_t get_value(const struct decoder *decoder, struct bit_reader *bits,
                                uint32_t bucket)
{
    uint64_t number = decoder->low[bucket] + get_bits(bits, decoder->width[bucket]);
    return (int64_t)(number * decoder->model.scale + (uint64_t)decoder->model.base);
}

/* The next bucket's number. Words behind the end are zeros; `word` then counts on. */
static inline uint32_t get_bucket(const struct decoder *decoder, uint32_t *state,
                                  const uint8_t *words, size_t n_words, size_t *word)
{
    uint32_t x = *state, slot = decoder->slots[x & (PROBABILITY_ONE - 1)];
    x = (slot >> 20) * (x >> PROBABILITY_BITS) + (slot >> 8 & (PROBABILITY_ONE - 1));
    if (x < STATE_LOW) {
        const uint8_t *at = words + 2 * *word;
        x = x << 16 | (*word < n_words ? at[0] | (uint32_t)at[1] << 8 : 0);
        ++*word;
    }
    *state = x;
    return slot & 0xff;
}

/* As the encoder began with STATE_LOW, the decoder ends with it: a check of all of the words. */
static int get_coded(const struct decoder *decoder, struct bit_reader *bits, uint32_t states[2],
                     struct rfn_reader *words, int64_t *values, uint32_t n)
{
    size_t n_words = words->size / 2, word = 0;
    uint32_t second = n >= TWO_STATES, one = states[0], two = states[1];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t bucket = get_bucket(decoder, &one, words->data, n_words, &word);
        values[i] = get_value(decoder, bits, bucket);
        if (second && ++i < n) {
            bucket = get_bucket(decoder, &two, words->data, n_words, &word);
            values[i] = get_value(decoder, bits, bucket);
        }
    }
    return word != n_words || one != STATE_LOW || two != STATE_LOW ? RFN_E_CORRUPT : 0;
}

static int get_numbers(struct decoder *decoder, struct rfn_reader *payload, int64_t *values,
                       uint32_t n)
{
    uint32_t states[2] = {STATE_LOW, STATE_LOW};
    struct rfn_reader words = {0};
    bool coded = decoder->model.n_buckets > 1;
    if (coded) {
        states[0] = rfn_reader_u32(payload);
        if (n >= TWO_STATES)
            states[1] = rfn_reader_u32(payload);
        words.size = 2 * rfn_reader_limited(payload, n);
        words.data = rfn_reader_bytes(payload, words.size);
    }
    struct bit_reader bits = {.n_bits = 8 * rfn_reader_left(payload)};
    bits.data = rfn_reader_bytes(payload, bits.n_bits / 8);
    if (payload->failed)
        return RFN_E_CORRUPT;
    RFN_TRY(get_table(&bits, decoder));
    if (coded) {
        fill_slots(decoder);
        RFN_TRY(get_coded(decoder, &bits, states, &words, values, n));
    } else {
        for (uint32_t i = 0; i < n; i++)
            values[i] = get_value(decoder, &bits, 0);
    }
    return bits.at > bits.n_bits || bits.n_bits - bits.at >= 8 ? RFN_E_CORRUPT : 0;
}

static int get_histogram(struct rfn_reader *payload, int64_t *values, uint32_t n)
{
    struct decoder *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return RFN_E_NOMEM;
    int error = get_model(payload, &decoder->model, values, n);
    uint32_t lag = decoder->model.lag;
    if (!error)
        error = get_numbers(decoder, payload, values + lag, n - lag);
    free(decoder);
    for (uint32_t i = lag; !error && lag && i < n; i++)
        values[i] = sum(values[i], values[i - lag]);
    return error;
}

static int get_block(enum coder coder, struct rfn_reader *payload, int64_t *values, uint32_t n)
{
    int error = RFN_E_CORRUPT;
    switch (coder) {
    case CODER_CONSTANT:
        error = get_varints(payload, values, 1);
        break;
    case CODER_VARINTS:
        error = get_varints(payload, values, n);
        break;
    case CODER_RUNS:
        error = get_runs(payload, values, n);
        break;
    case CODER_PERIOD:
        error = get_period(payload, values, n);
        break;
    case CODER_HISTOGRAM:
        error = get_histogram(payload, values, n);
        break;
    case N_CODERS:
        break;
    }
    if (error)
        return error;
    return rfn_reader_left(payload) ? RFN_E_CORRUPT : 0;
}

/* ---- columns that grow ---- */

void rfn_column_init(struct rfn_column *column)
{
    *column = (struct rfn_column){.constant = true};
}

void rfn_column_release(struct rfn_column *column)
{
    free(column->staged);
    rfn_buf_release(&column->sealed);
    rfn_column_init(column);
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

void rfn_column_write(const struct rfn_column *column, struct rfn_buf *out)
{
    struct rfn_buf tail = RFN_BUF_INIT;
    rfn_buf_varint(out, column->n);
    if (column->n_sealed || column->n_staged || column->run)
        put_tail(column, &tail);
    rfn_buf_varint(out, column->sealed.size + tail.size);
    rfn_buf_bytes(out, column->sealed.data, column->sealed.size);
    rfn_buf_bytes(out, tail.data, tail.size);
    out->failed |= tail.failed | column->sealed.failed;
    rfn_buf_release(&tail);
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

void rfn_column_close(struct rfn_column_cursor *cursor)
{
    free(cursor->values);
    *cursor = (struct rfn_column_cursor){0};
}

static int reserve_values(struct rfn_column_cursor *cursor, uint32_t n)
{
    if (n <= cursor->capacity)
        return 0;
    int64_t *values = realloc(cursor->values, n * sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    cursor->values = values;
    cursor->capacity = n;
    return 0;
}

/* The next block's head. RFN_E_RANGE when all values are read. */
static int get_head(struct rfn_column_cursor *cursor, struct head *head)
{
    uint64_t left = cursor->n - cursor->at;
    if (!left)
        return rfn_reader_left(&cursor->blocks) ? RFN_E_CORRUPT : RFN_E_RANGE;
    uint8_t coder = rfn_reader_u8(&cursor->blocks);
    uint64_t count = rfn_reader_limited(&cursor->blocks, left);
    size_t size;
    const uint8_t *payload = rfn_reader_blob(&cursor->blocks, &size);
    if (!count)
        count = left;
    if (cursor->blocks.failed || coder >= N_CODERS ||
        (coder != CODER_CONSTANT && count > RFN_COLUMN_BLOCK))
        return RFN_E_CORRUPT;
    *head = (struct head){(enum coder)coder, count, rfn_reader_over(payload, size)};
    return 0;
}

static int decode(struct rfn_column_cursor *cursor, struct head *head)
{
    bool constant = head->coder == CODER_CONSTANT;
    RFN_TRY(reserve_values(cursor, constant ? 1 : (uint32_t)head->count));
    RFN_TRY(get_block(head->coder, &head->payload, cursor->values, (uint32_t)head->count));
    cursor->constant = constant;
    cursor->n_decoded = head->count;
    cursor->next = 0;
    return 0;
}

static int all_zeros(struct rfn_column_cursor *cursor)
{
    if (cursor->at == cursor->n)
        return RFN_E_RANGE;
    RFN_TRY(reserve_values(cursor, 1));
    cursor->values[0] = 0;
    cursor->constant = true;
    cursor->n_decoded = cursor->n - cursor->at;
    cursor->next = 0;
    return 0;
}

int rfn_column_next_block(struct rfn_column_cursor *cursor)
{
    struct head head;
    if (cursor->zeros)
        return all_zeros(cursor);
    RFN_TRY(get_head(cursor, &head));
    return decode(cursor, &head);
}

int rfn_column_skip(struct rfn_column_cursor *cursor, uint64_t n)
{
    if (n > cursor->n - cursor->at)
        return RFN_E_RANGE;
    for (;;) {
        uint64_t here = cursor->n_decoded - cursor->next;
        uint64_t step = n < here ? n : here;
        cursor->next += step;
        cursor->at += step;
        n -= step;
        if (!n)
            return 0;
        struct head head;
        if (cursor->zeros) {
            RFN_TRY(all_zeros(cursor));
            continue;
        }
        RFN_TRY(get_head(cursor, &head));
        if (head.count > n) {
            RFN_TRY(decode(cursor, &head));
        } else {
            cursor->at += head.count;
            n -= head.count;
        }
    }
}
