/* The buckets are dyadic: [a * 2^k, (a + 1) * 2^k). All partitions of the number line into such
 * intervals are the cuts of one binary tree, so that the best of them, by the bits it needs for
 * buckets, offsets and its own description, is found from the bottom up: a node is one bucket when
 * that costs no more than the best for its two halves. Going through the numbers in ascending order
 * gives the nodes that are not empty in the order in which a stack can join them. Modes become
 * narrow buckets, tails wide ones, spikes buckets of width 1; there is nothing to tune.
 *
 * Sorting is what this would cost, so most numbers are counted in a table instead: a sample says
 * how narrow the finest buckets (cells) have to be and where most of the numbers lie. Only those
 * outside are sorted.
 *
 * The entropy coder is the range variant of asymmetric numeral systems (J. Duda, arXiv:1311.2540):
 * 12 bits of probability, states of 32 bits that move 16 bits at a time. Its states have no
 * overhead to speak of, and the buckets' probabilities need not be powers of two.
 *
 * All memory comes from one allocation that is gone when the block is done: recorders live on other
 * people's stacks, and threads and ranks share nothing.
 */
#include "reduce/columns/column_histogram.h"

#include "reduce/columns/column_block.h"

#include <stdlib.h>

enum {
    BUCKET_COST = 10, /* bits of the table that a bucket takes, about */
    WINDOW = 4096,    /* cells that are counted in a table, at most */
    GROUP = 8,        /* of them that are looked at together */
    SPARE = 16,       /* bytes behind the offsets */
    CELL_BITS = 4,    /* the densest eighth is divided into 2^(CELL_BITS - 1) cells or more */
    RECIPROCAL_BITS = 44,
    INDEX_BITS = 12,       /* RFN_COLUMN_BLOCK <= 2^INDEX_BITS */
    MOVED_BITS = 56,       /* at most, that are written at once */
    MAX_BUCKET_BITS = 112, /* the description of one bucket: 15 + 76 + 7, rounded up */
};

/* ---- bits: least significant first, as numbers in a row ---- */

struct bit_writer {
    uint8_t *at;
    uint64_t pending;
    unsigned n; /* bits pending, fewer than 8 between calls */
};

/* Writes up to 8 bytes ahead of what it has used. value < 2^n, n <= MOVED_BITS. */
static inline void put_few_bits(struct bit_writer *bits, uint64_t value, unsigned n)
{
    bits->pending |= value << bits->n;
    bits->n += n;
    rfn_representative_store_64(bits->at, bits->pending);
    bits->at += bits->n / 8;
    bits->pending >>= bits->n & 56u;
    bits->n &= 7;
}

static inline void put_bits(struct bit_writer *bits, uint64_t value, unsigned n)
{
    if (n > MOVED_BITS) {
        put_few_bits(bits, value & 0xffffffff, 32);
        value >>= 32;
        n -= 32;
    }
    put_few_bits(bits, value, n);
}

static inline unsigned bit_length(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* number < 2^64 - 1. */
static void put_number(struct bit_writer *bits, uint64_t value)
{
    unsigned length = bit_length(value + 1);
    unsigned of_length = bit_length(length);
    put_bits(bits, 0, of_length - 1);
    put_bits(bits, 1, 1);
    put_bits(bits, length & ((1u << (of_length - 1)) - 1), of_length - 1);
    put_bits(bits, (value + 1) & ((UINT64_C(1) << (length - 1)) - 1), length - 1);
}

/* ---- histogram ---- */

/* A stretch of 2^width numbers, and its probability in 1/4096. */
struct bucket {
    uint64_t low;
    uint64_t reciprocal; /* x / frequency is x * reciprocal >> RECIPROCAL_BITS, for x <= last */
    uint32_t last;       /* a larger state gives up a word first */
    uint32_t frequency, start;
    uint32_t others; /* PROBABILITY_ONE - frequency */
    uint32_t width;
    uint32_t n; /* values in it */
};

/* A node of the tree of dyadic intervals. */
struct node {
    uint32_t first, end; /* its cells */
    uint32_t n;          /* values in it */
    uint32_t cost;       /* of its best partition, in 1/256 bit */
    unsigned level;      /* of the parent that it shares with the node before it */
};

/* Cells are the finest buckets: 2^coarse numbers each. Cells in a window, where most values are,
 * are counted in a table; values outside of it are sorted. A value's place in the table is its cell
 * in the window, or behind that one of its own. */
struct scratch {
    uint64_t *numbers;    /* in order of the values */
    uint64_t *outside;    /* sorted: cell << INDEX_BITS | place - n_window */
    uint64_t *cells;      /* not empty ones, ascending; while sorting the other half of outside */
    uint8_t *offsets;     /* of the values; where outside and cells are listed before */
    uint16_t *bucket_end; /* the last cell of a bucket that begins here; in the order of cells */
    uint16_t *places;     /* in order of the values */
    uint32_t n_outside, n_cells;
    uint64_t window; /* its first cell */
    uint32_t n_window;
    unsigned length; /* of the largest number, in bits, or more */
    unsigned coarse;
    uint16_t n_in_cell[RFN_COLUMN_BLOCK]; /* in the order of cells */
    /* Per cell of the window: values in it; then per place: its bucket. */
    uint16_t table[WINDOW + RFN_COLUMN_BLOCK];
    struct bucket buckets[MAX_BUCKETS];
    struct node stack[66];
};

static struct scratch *scratch_new(uint32_t n)
{
    size_t size = 3 * sizeof(uint64_t) + 2 * sizeof(uint16_t);
    struct scratch *scratch = malloc(sizeof *scratch + n * size + SPARE);
    if (!scratch)
        return NULL;
    scratch->numbers = (uint64_t *)(scratch + 1);
    scratch->outside = scratch->numbers + n;
    scratch->cells = scratch->outside + n;
    scratch->offsets = (uint8_t *)scratch->outside;
    scratch->bucket_end = (uint16_t *)(scratch->offsets + 2 * n * sizeof(uint64_t) + SPARE);
    scratch->places = scratch->bucket_end + n;
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

/* A number is (value - least) / scale. Multiplying with the inverse of the scale's odd part, and
 * rotating, divides exactly where that is possible; only then the quotient is small. */
struct division {
    int64_t least;
    uint64_t scale, factor;
    unsigned zeros; /* at the scale's end */
};

static inline uint64_t divide(const struct division *by, int64_t value)
{
    uint64_t product = ((uint64_t)value - (uint64_t)by->least) * by->factor;
    return product >> by->zeros | product << (-by->zeros & 63);
}

/* By insertion, first of what is far apart. */
static void sort_sample(uint64_t *sample, uint32_t n)
{
    for (uint32_t gap = 13; gap; gap /= 3) {
        for (uint32_t i = gap; i < n; i++) {
            uint64_t number = sample[i];
            uint32_t j = i;
            for (; j >= gap && sample[j - gap] > number; j -= gap)
                sample[j] = sample[j - gap];
            sample[j] = number;
        }
    }
}

/* Chooses cells so narrow that an eighth of the values, where they lie densest, is divided into 8
 * or more, and a window that begins near the smallest values. From a sample. */
static void choose_cells(struct scratch *scratch, const int64_t *values, uint32_t n,
                         const struct division *by)
{
    enum { SAMPLE = 64, EIGHTH = SAMPLE / 8 };
    uint64_t sample[SAMPLE], densest = UINT64_MAX;
    const unsigned most = 64 - INDEX_BITS;
    unsigned least = scratch->length > most ? scratch->length - most : 0;
    scratch->coarse = least;
    scratch->window = 0;
    if (n < 4 * SAMPLE)
        return;
    for (uint32_t i = 0; i < SAMPLE; i++)
        sample[i] = divide(by, values[(uint64_t)i * n / SAMPLE]);
    sort_sample(sample, SAMPLE);
    for (uint32_t i = 0; i + EIGHTH < SAMPLE; i += EIGHTH / 2) {
        uint64_t gap = sample[i + EIGHTH] - sample[i];
        densest = gap < densest ? gap : densest;
    }
    unsigned length = bit_length(densest);
    if (length > CELL_BITS && length - CELL_BITS > least)
        scratch->coarse = length - CELL_BITS;
    uint64_t low = sample[1] >> scratch->coarse;
    scratch->window = low > WINDOW / 32 ? low - WINDOW / 32 : 0;
}

/* Makes the numbers, and counts them; returns the largest. */
static inline uint64_t count_numbers(struct scratch *scratch, const int64_t *values, uint32_t n,
                                     const struct division *by)
{
    uint64_t *numbers = scratch->numbers, *outside = scratch->outside, window = scratch->window;
    uint16_t *table = scratch->table, *places = scratch->places;
    uint32_t n_outside = 0, n_window = scratch->n_window;
    unsigned coarse = scratch->coarse;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t number = divide(by, values[i]), cell = number >> coarse, place = cell - window;
        largest = number > largest ? number : largest;
        numbers[i] = number;
        if (place < n_window) {
            table[place]++;
        } else {
            outside[n_outside] = cell << INDEX_BITS | n_outside;
            place = n_window + n_outside++;
        }
        places[i] = (uint16_t)place;
    }
    scratch->n_outside = n_outside;
    return largest;
}

/* Makes the numbers, up to range / scale, and counts them; false when a division leaves a rest. */
static bool try_scale(struct scratch *scratch, const int64_t *values, uint32_t n, int64_t least,
                      uint64_t range, uint64_t scale)
{
    unsigned zeros = (unsigned)__builtin_ctzll(scale);
    struct division by = {least, scale, inverse(scale >> zeros), zeros};
    scratch->length = bit_length(range >> zeros);
    choose_cells(scratch, values, n, &by);
    uint64_t last = (range / scale >> scratch->coarse) - scratch->window;
    scratch->n_window = last < WINDOW ? ((uint32_t)last / GROUP + 1) * GROUP : WINDOW;
    memset(scratch->table, 0, scratch->n_window * sizeof *scratch->table);
    if (scale > 1)
        return count_numbers(scratch, values, n, &by) <= UINT64_MAX / scale;
    count_numbers(scratch, values, n, &(struct division){least, 1, 1, 0});
    return true;
}

/* Makes the numbers, and counts them; returns the scale. Clocks tick in steps, sizes are multiples:
 * a sample suggests one. If that is not the scale of all values, its odd part may still be, or the
 * largest power of two that divides it and all numbers. */
static uint64_t divide_by_common(struct scratch *scratch, const int64_t *values, uint32_t n,
                                 int64_t least, uint64_t range)
{
    uint64_t scale = 0;
    for (uint32_t i = 0; i < n && i < 64 && scale != 1; i++)
        scale = common_divisor((uint64_t)values[i] - (uint64_t)least, scale);
    scale = scale ? scale : 1;
    if (try_scale(scratch, values, n, least, range, scale))
        return scale;
    uint64_t power = scale;
    for (uint32_t i = 0; i < n; i++)
        power |= (uint64_t)values[i] - (uint64_t)least;
    power &= -power;
    scale = (scale >> __builtin_ctzll(scale)) * power;
    if (try_scale(scratch, values, n, least, range, scale))
        return scale;
    try_scale(scratch, values, n, least, range, power);
    return power;
}

/* Makes the numbers, and counts them; returns how many there are. No cells are listed yet:
 * differences lie there. */
static uint32_t make_numbers(const int64_t *values, uint32_t n, struct model *model,
                             struct scratch *scratch)
{
    uint32_t lag = model->lag, m = n - lag;
    int64_t *differences = (int64_t *)scratch->cells;
    for (uint32_t i = 0; lag && i < m; i++)
        differences[i] = (int64_t)((uint64_t)values[i + lag] - (uint64_t)values[i]);
    const int64_t *from = lag ? differences : values;
    int64_t least = from[0], most = from[0];
    for (uint32_t i = 1; i < m; i++) {
        least = from[i] < least ? from[i] : least;
        most = from[i] > most ? from[i] : most;
    }
    model->base = least;
    model->scale = divide_by_common(scratch, from, m, least, (uint64_t)most - (uint64_t)least);
    return m;
}

static void sort_pass(const uint64_t *from, uint64_t *to, uint32_t n, unsigned shift, unsigned bits)
{
    uint16_t place[1 << 11]; /* n < 2^16 */
    uint64_t mask = (UINT64_C(1) << bits) - 1;
    memset(place, 0, sizeof *place << bits);
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

static void sort_outside(struct scratch *scratch)
{
    uint32_t n = scratch->n_outside;
    unsigned length = scratch->length > scratch->coarse ? scratch->length - scratch->coarse : 0;
    unsigned most = n < 512 ? 6 : 11, passes = n > 1 ? (length + most - 1) / most : 0;
    for (unsigned pass = 0; pass < passes; pass++) {
        unsigned from = length * pass / passes, to = length * (pass + 1) / passes;
        sort_pass(scratch->outside, scratch->cells, n, INDEX_BITS + from, to - from);
        uint64_t *sorted = scratch->cells;
        scratch->cells = scratch->outside;
        scratch->outside = sorted;
    }
}

/* Appends a cell, or to the last one. */
static void add_to_cells(struct scratch *scratch, uint64_t cell)
{
    uint32_t at = scratch->n_cells;
    if (at && scratch->cells[at - 1] == cell) {
        scratch->n_in_cell[at - 1]++;
        return;
    }
    scratch->cells[at] = cell;
    scratch->n_in_cell[at] = 1;
    scratch->n_cells++;
}

static void add_window(struct scratch *scratch)
{
    const uint16_t *table = scratch->table;
    uint32_t at = scratch->n_cells;
    for (uint32_t i = 0; i < scratch->n_window; i += GROUP) {
        uint64_t words[GROUP / 4];
        memcpy(words, &table[i], sizeof words);
        if (!(words[0] | words[1]))
            continue;
        for (uint32_t j = i; j < i + GROUP; j++) {
            if (!table[j])
                continue;
            scratch->cells[at] = scratch->window + j;
            scratch->n_in_cell[at++] = table[j];
        }
    }
    scratch->n_cells = at;
}

static void list_cells(struct scratch *scratch)
{
    uint32_t i = 0;
    scratch->n_cells = 0;
    for (; i < scratch->n_outside; i++) {
        uint64_t cell = scratch->outside[i] >> INDEX_BITS;
        if (cell >= scratch->window)
            break;
        add_to_cells(scratch, cell);
    }
    add_window(scratch);
    for (; i < scratch->n_outside; i++)
        add_to_cells(scratch, scratch->outside[i] >> INDEX_BITS);
}

/* log2(n) in 1/256, wrong by at most 1/100: the bend of the logarithm is taken for a parabola. */
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

/* Joins a node with the one behind it. */
static void join_nodes(struct scratch *scratch, const struct price *price, struct node *left,
                       const struct node *right)
{
    uint32_t n = left->n + right->n;
    uint32_t whole = bucket_cost(price, n, right->level);
    uint32_t parts = left->cost + right->cost;
    if (whole <= parts)
        scratch->bucket_end[left->first] = (uint16_t)(right->end - 1);
    left->end = right->end;
    left->n = n;
    left->cost = whole <= parts ? whole : parts;
}

/* Finds the best partition; returns the number of buckets. Levels descend along the stack. */
static uint32_t divide_cells(struct scratch *scratch, const struct price *price)
{
    struct node *bottom = scratch->stack, *top = bottom;
    for (uint32_t i = 0; i < scratch->n_cells; i++) {
        unsigned level = i ? bit_length(scratch->cells[i] ^ scratch->cells[i - 1]) : 65;
        for (; top > bottom + 1 && top[-1].level < level; top--)
            join_nodes(scratch, price, top - 2, top - 1);
        uint32_t n = scratch->n_in_cell[i];
        *top++ = (struct node){i, i + 1, n, bucket_cost(price, n, 0), level};
        scratch->bucket_end[i] = (uint16_t)i;
    }
    for (; top > bottom + 1; top--)
        join_nodes(scratch, price, top - 2, top - 1);
    uint32_t n_buckets = 0;
    for (uint32_t i = 0; i < scratch->n_cells; i = scratch->bucket_end[i] + 1u)
        n_buckets++;
    return n_buckets;
}

static void collect_buckets(struct scratch *scratch)
{
    const uint64_t *cells = scratch->cells;
    uint16_t *own_places = scratch->table + scratch->n_window;
    struct bucket *bucket = scratch->buckets;
    uint32_t out = 0;
    for (uint32_t first = 0, end; first < scratch->n_cells; first = end, bucket++) {
        uint8_t number = (uint8_t)(bucket - scratch->buckets);
        end = scratch->bucket_end[first] + 1u;
        unsigned width = bit_length(cells[first] ^ cells[end - 1]);
        *bucket = (struct bucket){.low = cells[first] >> width << width << scratch->coarse,
                                  .width = width + scratch->coarse};
        for (uint32_t i = first; i < end; i++) {
            bucket->n += scratch->n_in_cell[i];
            if (cells[i] - scratch->window < scratch->n_window)
                scratch->table[cells[i] - scratch->window] = number;
        }
        for (; out < scratch->n_outside && scratch->outside[out] >> INDEX_BITS <= cells[end - 1];
             out++)
            own_places[scratch->outside[out] & ((1u << INDEX_BITS) - 1)] = number;
    }
}

static unsigned make_buckets(struct scratch *scratch, uint32_t n)
{
    struct price price = {log2_256(n), BUCKET_COST << 8};
    sort_outside(scratch);
    list_cells(scratch);
    uint32_t n_buckets;
    while ((n_buckets = divide_cells(scratch, &price)) > MAX_BUCKETS)
        price.per_bucket *= 2;
    collect_buckets(scratch);
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
        buckets[i].frequency = frequency;
        left -= (int32_t)frequency;
    }
    buckets[rest].frequency = 0;
    while (left < 1) { /* only when very many buckets were rounded up to 1 */
        struct bucket *bucket = &buckets[largest_bucket(buckets, n_buckets, rest)];
        uint32_t less = round_frequency(bucket->frequency - (bucket->frequency + 15u) / 16);
        left += (int32_t)(bucket->frequency - less);
        bucket->frequency = less;
    }
    buckets[rest].frequency = (uint32_t)left;
    return rest;
}

/* The reciprocals are exact: what x * reciprocal has too much is less than x / 2^RECIPROCAL_BITS,
 * and x * frequency < 2^RECIPROCAL_BITS. */
static void prepare_coding(struct bucket *buckets, unsigned n_buckets)
{
    uint32_t start = 0;
    for (unsigned i = 0; i < n_buckets; i++) {
        struct bucket *bucket = &buckets[i];
        uint32_t frequency = bucket->frequency;
        bucket->reciprocal = ((UINT64_C(1) << RECIPROCAL_BITS) + frequency - 1) / frequency;
        bucket->last = (frequency << (31 - PROBABILITY_BITS)) - 1;
        bucket->start = start;
        bucket->others = PROBABILITY_ONE - frequency;
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
            put_number(bits, rfn_zigzag((int64_t)bucket->width - before->width));
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

/* The decoder begins with the first value, the entropy coder with the last one: all is written from
 * the end to the beginning. */
struct coder {
    uint32_t one, two; /* the states */
    uint16_t *words;   /* room for one per value; they lie at its end */
    size_t no_words;   /* in front of them */
    uint8_t *offsets;  /* where they begin when all are there */
    size_t n_bits;     /* of the offsets of values to come */
    uint64_t latest;   /* the 64 bits behind those */
};

/* Codes a value's bucket. Whether there is a new word cannot be predicted: there is no branch. */
static inline void put_word(struct coder *coder, uint32_t *state, const struct bucket *bucket)
{
    uint32_t x = *state;
    bool full = x > bucket->last;
    coder->words[coder->no_words - 1] = (uint16_t)x;
    coder->no_words -= full;
    x = full ? x >> 16 : x;
    uint32_t quotient = (uint32_t)(x * bucket->reciprocal >> RECIPROCAL_BITS);
    *state = x + bucket->start + quotient * bucket->others;
}

/* value < 2^n; at most MOVED_BITS may be added before they are moved. */
static inline void add_bits(struct coder *coder, uint64_t value, unsigned n)
{
    coder->latest = coder->latest << n | value;
    coder->n_bits -= n;
}

static inline void move_bits(struct coder *coder)
{
    rfn_representative_store_64(coder->offsets + coder->n_bits / 8,
                                coder->latest << (coder->n_bits & 7));
}

static inline const struct bucket *bucket_of(const struct scratch *scratch, size_t i)
{
    return &scratch->buckets[scratch->table[scratch->places[i]]];
}

/* Codes a value of a bucket that is not wide; its bits are still to be moved. */
static inline void put_narrow(struct coder *coder, uint32_t *state, const struct scratch *scratch,
                              size_t i)
{
    const struct bucket *bucket = bucket_of(scratch, i);
    put_word(coder, state, bucket);
    add_bits(coder, scratch->numbers[i] - bucket->low, bucket->width);
}

static void put_any(struct coder *coder, uint32_t *state, const struct scratch *scratch, size_t i)
{
    const struct bucket *bucket = bucket_of(scratch, i);
    uint64_t offset = scratch->numbers[i] - bucket->low;
    unsigned width = bucket->width;
    put_word(coder, state, bucket);
    if (width > MOVED_BITS) {
        add_bits(coder, offset >> 32, width - 32);
        move_bits(coder);
        offset &= 0xffffffff;
        width = 32;
    }
    add_bits(coder, offset, width);
    move_bits(coder);
}

/* Codes the last ones of n values; returns how many are left, fewer than at_once (2 or 4). The
 * offsets of as many have at most MOVED_BITS together. n is even. */
static inline size_t put_together(struct coder *to, const struct scratch *scratch, size_t n,
                                  size_t at_once)
{
    struct coder coder = *to; /* what is written cannot change it */
    for (; n >= at_once; n -= at_once) {
        put_narrow(&coder, &coder.two, scratch, n - 1);
        put_narrow(&coder, &coder.one, scratch, n - 2);
        if (at_once == 4) {
            put_narrow(&coder, &coder.two, scratch, n - 3);
            put_narrow(&coder, &coder.one, scratch, n - 4);
        }
        move_bits(&coder);
    }
    *to = coder;
    return n;
}

/* Codes n values, the last one first. */
static void put_values(struct coder *coder, const struct scratch *scratch, size_t n,
                       unsigned widest)
{
    bool paired = n >= TWO_STATES;
    if (n & 1)
        put_any(coder, &coder->one, scratch, --n);
    if (paired && 4 * widest <= MOVED_BITS)
        n = put_together(coder, scratch, n, 4);
    else if (paired && 2 * widest <= MOVED_BITS)
        n = put_together(coder, scratch, n, 2);
    for (; n; n -= 2) {
        put_any(coder, paired ? &coder->two : &coder->one, scratch, n - 1);
        put_any(coder, &coder->one, scratch, n - 2);
    }
}

static void put_words(struct rfn_buf *out, const struct coder *coder, uint32_t n)
{
    rfn_buf_u32(out, coder->one);
    if (n >= TWO_STATES)
        rfn_buf_u32(out, coder->two);
    rfn_buf_varint(out, n - coder->no_words);
    uint8_t *to = rfn_buf_reserve(out, 2 * (n - coder->no_words));
    if (!to)
        return;
    for (size_t i = coder->no_words; i < n; i++) {
        *to++ = (uint8_t)coder->words[i];
        *to++ = (uint8_t)(coder->words[i] >> 8);
    }
    out->size = (size_t)(to - out->data);
}

/* The bits: table, then n_bits of offsets. */
static void put_all_bits(struct rfn_buf *out, const struct scratch *scratch, unsigned n_buckets,
                         unsigned rest, uint64_t n_bits)
{
    const uint8_t *offsets = scratch->offsets;
    uint64_t size = 16 + n_buckets * MAX_BUCKET_BITS / 8 + n_bits / 8;
    struct bit_writer bits = {.at = rfn_buf_reserve(out, size)};
    if (!bits.at)
        return;
    put_table(&bits, scratch->buckets, n_buckets, rest);
    for (; n_bits > MOVED_BITS; n_bits -= MOVED_BITS, offsets += MOVED_BITS / 8)
        put_few_bits(&bits, rfn_load_64(offsets) & ((UINT64_C(1) << MOVED_BITS) - 1), MOVED_BITS);
    put_few_bits(&bits, rfn_load_64(offsets), (unsigned)n_bits);
    bits.at += bits.n ? 1 : 0;
    out->size = (size_t)(bits.at - out->data);
}

/* Words lie where the values in cells were counted. */
static void put_coded(struct rfn_buf *out, struct scratch *scratch, uint32_t n, unsigned n_buckets,
                      unsigned rest)
{
    uint64_t n_bits = 0;
    unsigned widest = 0;
    for (unsigned i = 0; i < n_buckets; i++) {
        unsigned width = scratch->buckets[i].width;
        n_bits += (uint64_t)scratch->buckets[i].n * width;
        widest = width > widest ? width : widest;
    }
    struct coder coder = {STATE_LOW, STATE_LOW, scratch->n_in_cell, n, scratch->offsets, n_bits, 0};
    memset(scratch->offsets + n_bits / 8, 0, SPARE);
    prepare_coding(scratch->buckets, n_buckets);
    put_values(&coder, scratch, n, widest);
    if (n_buckets > 1)
        put_words(out, &coder, n);
    put_all_bits(out, scratch, n_buckets, rest, n_bits);
}

int rfn_column_histogram_encode(const int64_t *values, uint32_t n, uint32_t lag,
                                struct rfn_buf *out)
{
    struct scratch *scratch = scratch_new(n - lag);
    if (!scratch)
        return RFN_E_NOMEM;
    struct model model = {.lag = lag};
    uint32_t m = make_numbers(values, n, &model, scratch);
    model.n_buckets = make_buckets(scratch, m);
    unsigned rest = set_frequencies(scratch->buckets, model.n_buckets, m);
    rfn_buf_varint(out, model.n_buckets * 4 + (model.scale > 1 ? 2 : 0) + (lag ? 1 : 0));
    rfn_buf_svarint(out, model.base);
    if (model.scale > 1)
        rfn_buf_varint(out, model.scale);
    if (lag)
        rfn_buf_varint(out, lag);
    for (uint32_t i = 0; i < lag; i++)
        rfn_buf_svarint(out, values[i]);
    put_coded(out, scratch, m, model.n_buckets, rest);
    free(scratch);
    return rfn_buf_status(out);
}
