/* Decisions: first how many bits the number has, in unary; then those bits, below the highest one,
 * from the top. Where the decision stands in that is its *node*. A model has a slot per node and
 * *context*, which is what the model looks at:
 *
 *   0  nothing
 *   1  the value before
 *   2  the guide's value, or without a guide the two values before
 *   3  the guide's value and the value before, or without a guide the three values before
 *
 * A slot has a probability and how often it was used: the more often, the slower it moves. The
 * probabilities are mixed as logarithms of odds (stretch, squash), with weights that move towards
 * what would have been better. All numbers are integers: who reads gets what was written. */
#include "reduce/column_adaptive.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    MODELS = 4,
    MOST_BITS = 16, /* slots of a model: 2^16 at most */
    SLOTS_PER_VALUE = 16,
    MODELLED = 12, /* bits of a number below the highest one; others are as likely 0 as 1 */
    USES_MAX = 255,
    PROBABILITY_MIN = 32,
    ODDS_MAX = 2047, /* of stretched probabilities */
    FIRST_WEIGHT = 26214,
    WEIGHT_MAX = 1 << 22,
    ZIGZAG = 1 /* form: the numbers are signed */
};

struct slot {
    uint16_t probability, uses; /* of a 1, in 2^16; one half, and 0 here, before the first use */
};

struct coder {
    struct slot *slots[MODELS], *chosen[MODELS];
    unsigned shift; /* 64 - bits of a slot's number */
    uint64_t contexts[MODELS];
    int32_t weights[MODELS], odds[MODELS];
    uint32_t rates[USES_MAX + 1];
    int16_t stretched[4096];
    uint32_t low, high; /* the interval that is left */
    struct rfn_buf *out;
    struct rfn_reader in;
    uint32_t code, taken; /* of `in`: the bytes at low and high, and how many were there */
};

/* 2^16 / (1 + e^(-x / 256)) for x = -2048, -1920, ... 2048. */
static const uint16_t logistic[33] = {22,    36,    60,    98,    162,   267,   439,   720,   1179,
                                      1921,  3108,  4971,  7812,  11955, 17625, 24743, 32768, 40793,
                                      47911, 53581, 57724, 60565, 62428, 63615, 64357, 64816, 65097,
                                      65269, 65374, 65438, 65476, 65500, 65514};

/* Odds as a probability in 2^16. */
static uint32_t squash(int64_t odds)
{
    odds = odds > ODDS_MAX ? ODDS_MAX : odds < -ODDS_MAX ? -ODDS_MAX : odds;
    uint32_t at = (uint32_t)(odds + 2048), i = at >> 7, more = at & 127;
    return (logistic[i] * (128 - more) + logistic[i + 1] * more + 64) >> 7;
}

static void fill_tables(struct coder *coder)
{
    uint32_t next = 0;
    for (int odds = -ODDS_MAX; odds <= ODDS_MAX; odds++) {
        for (uint32_t end = squash(odds) >> 4; next <= end; next++)
            coder->stretched[next] = (int16_t)odds;
    }
    while (next < 4096)
        coder->stretched[next++] = ODDS_MAX;
    for (uint32_t uses = 0; uses <= USES_MAX; uses++)
        coder->rates[uses] = 5 * 65536 / (5 * uses + 8);
}

static struct coder *coder_new(uint32_t n)
{
    unsigned bits = 8;
    while (bits < MOST_BITS && UINT64_C(1) << bits < (uint64_t)n * SLOTS_PER_VALUE)
        bits++;
    size_t n_slots = (size_t)1 << bits;
    struct coder *coder = calloc(1, sizeof *coder + MODELS * n_slots * sizeof(struct slot));
    if (!coder)
        return NULL;
    struct slot *slots = (struct slot *)(coder + 1);
    for (unsigned i = 0; i < MODELS; i++) {
        coder->slots[i] = slots + i * n_slots;
        coder->weights[i] = FIRST_WEIGHT;
    }
    coder->shift = 64 - bits;
    coder->high = UINT32_MAX;
    fill_tables(coder);
    return coder;
}

/* ---- prediction ---- */

static uint64_t context_of(uint64_t model, uint64_t a, uint64_t b)
{
    uint64_t context = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                       (b + 1) * UINT64_C(0xd6e8feb86659fd93) + model;
    return context ^ context >> 29;
}

/* before: the last three numbers, the latest first. */
static void set_contexts(struct coder *coder, const uint64_t before[3], const int64_t *guide)
{
    uint64_t far = guide ? (uint64_t)*guide : before[1] + (before[2] << 20);
    coder->contexts[0] = context_of(0, 0, 0);
    coder->contexts[1] = context_of(1, before[0], 0);
    coder->contexts[2] = guide ? context_of(2, far, 0) : context_of(2, before[1], before[0]);
    coder->contexts[3] = context_of(3, far, before[0]);
}

/* The probability of a 1, in 2^16. */
static uint32_t predict(struct coder *coder, uint64_t node)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < MODELS; i++) {
        uint64_t hash = (coder->contexts[i] ^ node * UINT64_C(0xc2b2ae3d27d4eb4f)) *
                        UINT64_C(0x9e3779b97f4a7c15);
        struct slot *slot = &coder->slots[i][hash >> coder->shift];
        coder->chosen[i] = slot;
        coder->odds[i] = slot->uses ? coder->stretched[slot->probability >> 4] : 0;
        sum += (int64_t)coder->weights[i] * coder->odds[i];
    }
    return squash(sum >> 16);
}

static void learn(struct coder *coder, uint32_t probability, bool bit)
{
    int64_t error = (bit ? 65536 : 0) - (int64_t)probability;
    for (unsigned i = 0; i < MODELS; i++) {
        struct slot *slot = coder->chosen[i];
        int64_t weight = coder->weights[i] + ((6 * error * coder->odds[i] + 65536) >> 17);
        weight = weight > WEIGHT_MAX ? WEIGHT_MAX : weight < -WEIGHT_MAX ? -WEIGHT_MAX : weight;
        coder->weights[i] = (int32_t)weight;
        int64_t now = slot->uses ? slot->probability : 1 << 15;
        int64_t off = (bit ? 65535 : 0) - now;
        int64_t next = now + (off * coder->rates[slot->uses] >> 16);
        next = next < PROBABILITY_MIN ? PROBABILITY_MIN : next;
        next = next > 65535 - PROBABILITY_MIN ? 65535 - PROBABILITY_MIN : next;
        slot->probability = (uint16_t)next;
        if (slot->uses < USES_MAX)
            slot->uses++;
    }
}

/* ---- arithmetic coding ---- */

static uint32_t middle_of(const struct coder *coder, uint32_t probability)
{
    return coder->low + (uint32_t)((uint64_t)(coder->high - coder->low) * probability >> 16);
}

static void take_byte(struct coder *coder)
{
    bool there = rfn_reader_left(&coder->in) > 0;
    coder->code = coder->code << 8 | (there ? rfn_reader_u8(&coder->in) : 0);
}

/* Codes a bit, or takes the next one: `bit` does not matter then. */
static bool code_bit(struct coder *coder, uint32_t probability, bool bit)
{
    uint32_t middle = middle_of(coder, probability);
    if (!coder->out)
        bit = coder->code <= middle;
    if (bit)
        coder->high = middle;
    else
        coder->low = middle + 1;
    while ((coder->low ^ coder->high) >> 24 == 0) {
        if (coder->out)
            rfn_buf_u8(coder->out, (uint8_t)(coder->high >> 24));
        else
            take_byte(coder);
        coder->low <<= 8;
        coder->high = coder->high << 8 | 255;
    }
    return bit;
}

static bool code_decision(struct coder *coder, uint64_t node, bool bit)
{
    uint32_t probability = predict(coder, node);
    bit = code_bit(coder, probability, bit);
    learn(coder, probability, bit);
    return bit;
}

/* Codes the number, or takes the next one: `number` does not matter then. */
static uint64_t code_number(struct coder *coder, uint64_t number)
{
    unsigned length = 0, known = number ? 64 - (unsigned)__builtin_clzll(number) : 0;
    while (length < 64 && code_decision(coder, length, length < known))
        length++;
    uint64_t coded = length > 0;
    for (unsigned i = 0; i + 1 < length; i++) {
        bool bit = number >> ((length - 2 - i) & 63) & 1;
        bit = i < MODELLED ? code_decision(coder, (uint64_t)length << 13 | coded, bit)
                           : code_bit(coder, 1 << 15, bit);
        coded = coded << 1 | bit;
    }
    return coded;
}

/* ---- blocks ---- */

static bool any_negative(const int64_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] < 0)
            return true;
    }
    return false;
}

static void shift_in(uint64_t before[3], uint64_t number)
{
    before[2] = before[1];
    before[1] = before[0];
    before[0] = number;
}

/* One byte of the interval tells what is left of it; zeros at the end need not be there. */
static void finish(struct coder *coder, size_t begin)
{
    if (coder->low)
        rfn_buf_u8(coder->out, (uint8_t)(coder->high >> 24));
    while (!coder->out->failed && coder->out->size > begin &&
           !coder->out->data[coder->out->size - 1])
        coder->out->size--;
}

int rfn_column_adaptive_encode(const int64_t *values, const int64_t *guide, uint32_t n,
                               struct rfn_buf *out)
{
    struct coder *coder = coder_new(n);
    if (!coder)
        return RFN_E_NOMEM;
    bool zigzag = any_negative(values, n);
    uint64_t before[3] = {0};
    rfn_buf_u8(out, zigzag ? ZIGZAG : 0);
    size_t begin = out->size;
    coder->out = out;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t number = zigzag ? rfn_zigzag(values[i]) : (uint64_t)values[i];
        set_contexts(coder, before, guide ? &guide[i] : NULL);
        code_number(coder, number);
        shift_in(before, number);
    }
    finish(coder, begin);
    free(coder);
    return rfn_buf_status(out);
}

static void get_values(struct coder *coder, const int64_t *guide, uint32_t n, bool zigzag,
                       int64_t *values)
{
    uint64_t before[3] = {0};
    for (int i = 0; i < 4; i++)
        take_byte(coder);
    for (uint32_t i = 0; i < n; i++) {
        set_contexts(coder, before, guide ? &guide[i] : NULL);
        uint64_t number = code_number(coder, 0);
        values[i] = zigzag ? rfn_unzigzag(number) : (int64_t)number;
        shift_in(before, number);
    }
}

int rfn_column_adaptive_decode(struct rfn_reader *payload, const int64_t *guide, uint32_t n,
                               int64_t *values)
{
    uint8_t form = rfn_reader_u8(payload);
    size_t size = rfn_reader_left(payload);
    const uint8_t *bytes = rfn_reader_bytes(payload, size);
    if (payload->failed || form > ZIGZAG || (size && !bytes[size - 1]))
        return RFN_E_CORRUPT;
    struct coder *coder = coder_new(n);
    if (!coder)
        return RFN_E_NOMEM;
    coder->in = rfn_reader_over(bytes, size);
    get_values(coder, guide, n, form == ZIGZAG, values);
    bool all = !rfn_reader_left(&coder->in);
    free(coder);
    return all ? 0 : RFN_E_CORRUPT;
}
