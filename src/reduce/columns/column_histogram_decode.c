/* The decoder of column_histogram.h. It trusts no byte: tables, words and offsets are checked
 * against what there is. */
#include "reduce/columns/column_block.h"
#include "reduce/columns/column_histogram.h"

#include <stdlib.h>

enum {
    FEW_BYTES = 256,  /* of offsets in a block, hardly any */
    LOADED_BITS = 56, /* at least, of 8 bytes that are loaded for bits at any place */
};

/* ---- bits ---- */

struct bit_reader {
    const uint8_t *data;
    size_t n_bits, at;
    size_t n_loadable; /* at least n_bits: what memory there is */
    bool failed;
};

/* Bits behind the end are zeros. */
static uint64_t load_near_end(const struct bit_reader *bits)
{
    uint8_t last[8] = {0};
    size_t at = bits->at / 8, size = bits->n_bits / 8;
    if (at < size)
        memcpy(last, bits->data + at, size - at < 8 ? size - at : 8);
    return rfn_load_64(last);
}

/* The next LOADED_BITS at least. */
static inline uint64_t peek_bits(const struct bit_reader *bits)
{
    bool far = bits->at + 64 <= bits->n_loadable;
    uint64_t word = far ? rfn_load_64(bits->data + bits->at / 8) : load_near_end(bits);
    return word >> (bits->at & 7);
}

static inline uint64_t get_few_bits(struct bit_reader *bits, unsigned n)
{
    uint64_t word = peek_bits(bits) & ((UINT64_C(1) << n) - 1);
    bits->at += n;
    return word;
}

/* n <= 64. Past the end `at` is beyond n_bits, to be checked when all is read. */
static inline uint64_t get_bits(struct bit_reader *bits, unsigned n)
{
    if (n <= LOADED_BITS)
        return get_few_bits(bits, n);
    uint64_t low = get_few_bits(bits, 32);
    return low | get_few_bits(bits, n - 32) << 32;
}

static uint64_t get_number(struct bit_reader *bits)
{
    enum { ZEROS_MAX = 6 };
    uint64_t word = peek_bits(bits);
    unsigned zeros = (unsigned)__builtin_ctzll(word | 1u << (ZEROS_MAX + 1));
    unsigned length = 1u << zeros | ((unsigned)(word >> (zeros + 1)) & ((1u << zeros) - 1));
    if (length > 64) {
        bits->failed = true;
        return 0;
    }
    unsigned front = 2 * zeros + 1, behind = length - 1;
    uint64_t leading = UINT64_C(1) << behind;
    if (front + behind <= LOADED_BITS) { /* as nearly always: it is all there */
        bits->at += front + behind;
        return (leading | (word >> front & (leading - 1))) - 1;
    }
    bits->at += front;
    return (leading | get_bits(bits, behind)) - 1;
}

/* ---- histogram ---- */

/* Per bucket arrays of 64 bits each: they are used as they are, without shifts or conversions. */
struct decoder {
    struct model model;
    uint64_t states[2];
    const uint8_t *words; /* of the buckets; one more can be loaded, for behind them is the table */
    size_t n_words, word; /* the next one */
    struct bit_reader bits;
    unsigned widest;
    uint64_t largest;                             /* of the numbers, times scale; or more */
    uint64_t low[MAX_BUCKETS], mask[MAX_BUCKETS]; /* offsets are up to mask */
    uint64_t width[MAX_BUCKETS], frequency[MAX_BUCKETS], start[MAX_BUCKETS];
    uint8_t slots[PROBABILITY_ONE]; /* buckets */
    uint8_t padded[FEW_BYTES + 16]; /* offsets and zeros */
};

static int get_model(struct rfn_reader *payload, struct model *model, uint32_t n)
{
    uint64_t form = rfn_reader_limited(payload, MAX_BUCKETS * 4 + 3);
    model->n_buckets = (unsigned)(form / 4);
    model->base = rfn_reader_svarint(payload);
    model->scale = form & 2 ? rfn_reader_varint(payload) : 1;
    model->lag = form & 1 ? (uint32_t)rfn_reader_limited(payload, n - 1) : 0;
    return payload->failed || !model->n_buckets ? RFN_E_CORRUPT : 0;
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

static void set_bucket(struct decoder *decoder, unsigned i, uint64_t low, uint64_t width)
{
    uint64_t mask = width ? UINT64_MAX >> (64 - width) : 0, largest;
    decoder->low[i] = low;
    decoder->mask[i] = mask;
    decoder->width[i] = width;
    if (low + mask < low || __builtin_mul_overflow(low + mask, decoder->model.scale, &largest))
        largest = UINT64_MAX;
    decoder->largest = largest > decoder->largest ? largest : decoder->largest;
    decoder->widest = width > decoder->widest ? (unsigned)width : decoder->widest;
}

/* Widths, beginnings and frequencies of the buckets. */
static int get_table(struct decoder *decoder)
{
    struct bit_reader *bits = &decoder->bits;
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
        set_bucket(decoder, i, low, width);
        decoder->frequency[i] = frequency;
    }
    if (rest == n || total >= PROBABILITY_ONE || bits->at > bits->n_bits)
        return RFN_E_CORRUPT;
    decoder->frequency[rest] = PROBABILITY_ONE - total;
    return 0;
}

/* The next bucket's number. The word at *word is consumed when the state has become low; whether it
 * has cannot be predicted, so there is no branch, but a mask. */
static inline uint8_t get_bucket(const struct decoder *decoder, uint64_t *state,
                                 const uint8_t *words, size_t *word)
{
    uint64_t slot = *state & (PROBABILITY_ONE - 1);
    uint8_t bucket = decoder->slots[slot];
    uint64_t x = decoder->frequency[bucket] * (*state >> PROBABILITY_BITS) + slot -
                 decoder->start[bucket];
    uint64_t low = -(uint64_t)(x < STATE_LOW); /* all bits or none */
    const uint8_t *next = words + *word * 2;
    *state = x << (low & 16) | (((uint32_t)next[0] | (uint32_t)next[1] << 8) & low);
    *word -= low;
    return bucket;
}

/* The next number whose offset is within the 8 bytes that can be loaded where it begins. */
static inline uint64_t get_far(const struct decoder *decoder, uint8_t bucket, const uint8_t *data,
                               size_t *at)
{
    uint64_t loaded = rfn_load_64(data + *at / 8) >> (*at & 7);
    *at += decoder->width[bucket];
    return (decoder->low[bucket] + (loaded & decoder->mask[bucket])) * decoder->model.scale;
}

/* The first numbers, by pairs, as far as words and offsets can be loaded without looking; returns
 * how many. Offsets are independent of the states: there is something to do while those wait. */
static uint32_t get_pairs(struct decoder *decoder, uint8_t *to, uint32_t width, uint32_t n)
{
    enum { PAIR_BITS = LOADED_BITS + 64 };
    const uint8_t *words = decoder->words, *data = decoder->bits.data;
    size_t word = 0, n_words = decoder->n_words;
    size_t at = decoder->bits.at, n_bits = decoder->bits.n_loadable;
    uint64_t one = decoder->states[0], two = decoder->states[1];
    uint32_t pair = 0;
    if (n < TWO_STATES || decoder->widest > LOADED_BITS || n_bits < PAIR_BITS)
        return 0;
    for (; pair < n / 2 && word < n_words && at <= n_bits - PAIR_BITS; pair++) {
        uint8_t first = get_bucket(decoder, &one, words, &word);
        uint8_t second = get_bucket(decoder, &two, words, &word);
        rfn_representative_store_64(to, get_far(decoder, first, data, &at));
        rfn_representative_store_64(to + width, get_far(decoder, second, data, &at));
        to += 2 * width;
    }
    decoder->states[0] = one;
    decoder->states[1] = two;
    decoder->word = word;
    decoder->bits.at = at;
    return 2 * pair;
}

static void get_coded(struct decoder *decoder, uint8_t *to, uint32_t width, uint32_t n)
{
    uint32_t i = get_pairs(decoder, to, width, n), second = n >= TWO_STATES;
    for (; i < n && decoder->word <= decoder->n_words; i++) {
        uint8_t bucket = get_bucket(decoder, &decoder->states[i & second], decoder->words,
                                    &decoder->word);
        uint64_t offset = get_bits(&decoder->bits, (unsigned)decoder->width[bucket]);
        uint64_t number = decoder->low[bucket] + offset;
        rfn_representative_store_64(to + (size_t)i * width, number * decoder->model.scale);
    }
}

/* Of a single bucket there are offsets only. */
static void get_offsets(struct decoder *decoder, uint8_t *to, uint32_t width, uint32_t n)
{
    struct bit_reader bits = decoder->bits;
    uint64_t scale = decoder->model.scale;
    unsigned n_bits = (unsigned)decoder->width[0];
    for (uint32_t i = 0; i < n; i++, to += width)
        rfn_representative_store_64(to, get_bits(&bits, n_bits) * scale);
    decoder->bits.at = bits.at;
}

/* Puts n numbers times scale behind each other, each of so many bytes. As the encoder began with
 * STATE_LOW, the decoder ends with it: a check of all of the words. The bits end in the last byte,
 * whose rest must be 0. */
static int get_numbers(struct decoder *decoder, uint8_t *to, uint32_t width, uint32_t n)
{
    (decoder->model.n_buckets > 1 ? get_coded : get_offsets)(decoder, to, width, n);
    if (decoder->word != decoder->n_words || decoder->states[0] != STATE_LOW ||
        decoder->states[1] != STATE_LOW)
        return RFN_E_CORRUPT;
    struct bit_reader *bits = &decoder->bits;
    if (bits->at > bits->n_bits || bits->n_bits - bits->at >= 8)
        return RFN_E_CORRUPT;
    return get_bits(bits, (unsigned)(bits->n_bits - bits->at)) ? RFN_E_CORRUPT : 0;
}

/* Where all offsets are near the end, the end is moved. */
static void move_end(struct decoder *decoder)
{
    struct bit_reader *bits = &decoder->bits;
    size_t start = bits->at / 8, left = bits->n_bits / 8 - start;
    if (left > FEW_BYTES)
        return;
    memset(decoder->padded, 0, sizeof decoder->padded);
    memcpy(decoder->padded, bits->data + start, left);
    *bits = (struct bit_reader){decoder->padded, 8 * left, bits->at % 8, 8 * sizeof decoder->padded,
                                false};
}

/* Reads all that lies in front of the offsets of n numbers. */
static int get_coding(struct decoder *decoder, struct rfn_reader *payload, uint32_t n)
{
    decoder->states[0] = decoder->states[1] = STATE_LOW;
    decoder->n_words = decoder->word = decoder->widest = 0;
    decoder->largest = 0;
    if (decoder->model.n_buckets > 1) {
        decoder->states[0] = rfn_reader_u32(payload);
        if (n >= TWO_STATES)
            decoder->states[1] = rfn_reader_u32(payload);
        decoder->n_words = rfn_reader_limited(payload, n);
        decoder->words = rfn_reader_bytes(payload, 2 * decoder->n_words);
    }
    size_t size = rfn_reader_left(payload);
    decoder->bits = (struct bit_reader){rfn_reader_bytes(payload, size), 8 * size, 0, 8 * size,
                                        false};
    if (payload->failed)
        return RFN_E_CORRUPT;
    RFN_TRY(get_table(decoder));
    /* Slots are as small as can be: many a block has fewer values than there are slots to fill. */
    uint64_t start = 0;
    for (unsigned i = 0; i < decoder->model.n_buckets; i++) {
        memset(decoder->slots + start, (int)i, decoder->frequency[i]);
        decoder->start[i] = start;
        start += decoder->frequency[i];
    }
    move_end(decoder);
    return 0;
}

static int get_values(struct decoder *decoder, struct rfn_reader *payload, uint32_t n,
                      struct rfn_packed *packed)
{
    RFN_TRY(get_coding(decoder, payload, n));
    RFN_TRY(rfn_packed_begin(packed, n, decoder->model.base, decoder->largest));
    return get_numbers(decoder, packed->bytes, packed->width, n);
}

/* How large the values are is known when they have been added up. */
static int get_lagged(struct decoder *decoder, struct rfn_reader *payload, uint32_t n,
                      struct rfn_packed *packed)
{
    uint32_t lag = decoder->model.lag;
    uint64_t base = (uint64_t)decoder->model.base;
    int64_t *values = malloc(n * sizeof *values);
    if (!values)
        return RFN_E_NOMEM;
    for (uint32_t i = 0; i < lag; i++)
        values[i] = rfn_reader_svarint(payload);
    int error = get_coding(decoder, payload, n - lag);
    if (!error)
        error = get_numbers(decoder, (uint8_t *)(values + lag), sizeof *values, n - lag);
    for (uint32_t i = lag; !error && i < n; i++) {
        uint64_t number = rfn_load_64((const uint8_t *)&values[i]);
        values[i] = (int64_t)(number + base + (uint64_t)values[i - lag]);
    }
    if (!error)
        error = rfn_packed_values(packed, values, n);
    free(values);
    return error;
}

int rfn_column_histogram_decode(struct rfn_reader *payload, uint32_t n, struct rfn_packed *packed)
{
    struct decoder *decoder = malloc(sizeof *decoder);
    if (!decoder)
        return RFN_E_NOMEM;
    int error = get_model(payload, &decoder->model, n);
    if (!error)
        error = (decoder->model.lag ? get_lagged : get_values)(decoder, payload, n, packed);
    free(decoder);
    return error;
}
