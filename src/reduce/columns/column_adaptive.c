/* Decisions: first how many bits the number has, in unary; then those bits, below the highest one,
 * from the top. Where the decision stands in that is its *node*. A model has a slot per node and
 * *context*, which is what the model looks at:
 *
 *   0  nothing
 *   1  the value before
 *   2  the three values before
 *   3  the six values before
 *   4  the guide's value, or without a guide the two values before
 *   5  the guide's value and the two values before, or without a guide the four values before
 *   6  the guide's value and its next one, or without a guide the five values before
 *
 * (Four of that kind in blocks of an older form, which are only read.) One model more, the *match*,
 * expects what followed the last time that six values were as the six before: noise has rhythms.
 * It has a slot per length of what was equal.
 *
 * A slot has a probability and how often it was used: the more often, the slower it moves. The
 * probabilities are mixed as logarithms of odds (stretch, squash), with weights that move towards
 * what would have been better. All numbers are integers: who reads gets what was written. */
#include "reduce/columns/column_adaptive.h"

#include "base/system.h"
#include "reduce/columns/column_block.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    OLD_MODELS = 4, /* of forms without MATCHES */
    CONTEXTS = 7,
    MATCH = CONTEXTS, /* number of that model */
    MODELS = CONTEXTS + 1,
    MOST_BITS = 16, /* slots of a model: 2^16 at most */
    SLOTS_PER_VALUE = 16,
    LARGE = 1 << 17, /* bytes of all slots */
    MODELLED = 12,   /* bits of a number below the highest one; others are as likely 0 as 1 */
    USES_MAX = 255,
    PROBABILITY_MIN = 32,
    ODDS_MAX = 2047, /* of stretched probabilities */
    OLD_FIRST_WEIGHT = 26214,
    FIRST_WEIGHT = 16384,
    WEIGHT_MAX = 1 << 22,
    BEFORE = 6,       /* values that models look at */
    LONGER_FROM = 8,  /* a match that is shorter gives way to a longer one */
    MATCHED_MAX = 32, /* values that are compared */
    MATCH_SLOTS = 16,
    ZIGZAG = 1,  /* form: the numbers are signed */
    MATCHES = 2, /* form: models as above */
    FORMS = 4
};

struct slot {
    uint16_t probability, uses; /* of a 1, in 2^16; one half, and 0 here, before the first use */
};

/* Where the values before have been the same once. */
struct match {
    struct slot slots[MATCH_SLOTS];
    uint32_t
        *last; /* number after which a context was seen last; 0: never. By slot of the context */
    uint32_t at, length; /* what followed then; how many values before it are equal */
    bool any;
};

struct coder {
    unsigned n_contexts; /* models but for the match */
    struct slot *slots[CONTEXTS], *chosen[MODELS];
    unsigned shift; /* 64 - bits of a slot's number */
    uint64_t contexts[CONTEXTS];
    struct match match;
    uint64_t *numbers; /* of the block, behind BEFORE zeros */
    bool expects;      /* this bit, in the decision that is coded */
    bool expected;
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

void rfn_coder_memory_release(struct rfn_coder_memory *memory)
{
    free(memory->bytes);
    *memory = (struct rfn_coder_memory){0};
}

/* So many zeros, or NULL. */
static void *zeros_in(struct rfn_coder_memory *memory, size_t size)
{
    if (size <= memory->size)
        return memset(memory->bytes, 0, size);
    rfn_coder_memory_release(memory);
    memory->bytes = calloc(1, size);
    memory->size = memory->bytes ? size : 0;
    if (memory->size >= LARGE)
        rfn_make_room(memory->bytes, size); /* slots are used all over the place */
    return memory->bytes;
}

static struct coder *coder_new(struct rfn_coder_memory *memory, uint32_t n, uint8_t form)
{
    unsigned bits = 8, n_contexts = form & MATCHES ? CONTEXTS : OLD_MODELS;
    while (bits < MOST_BITS && UINT64_C(1) << bits < (uint64_t)n * SLOTS_PER_VALUE)
        bits++;
    size_t n_slots = (size_t)1 << bits;
    size_t bytes = sizeof(struct coder) + (BEFORE + RFN_COLUMN_BLOCK) * sizeof(uint64_t) +
                   n_contexts * n_slots * sizeof(struct slot) + n_slots * sizeof(uint32_t);
    struct coder *coder = zeros_in(memory, bytes);
    if (!coder)
        return NULL;
    coder->n_contexts = n_contexts;
    coder->numbers = (uint64_t *)(coder + 1);
    struct slot *slots = (struct slot *)(coder->numbers + BEFORE + RFN_COLUMN_BLOCK);
    for (unsigned i = 0; i < coder->n_contexts; i++)
        coder->slots[i] = slots + i * n_slots;
    coder->match.last = (uint32_t *)(slots + coder->n_contexts * n_slots);
    for (unsigned i = 0; i < MODELS; i++)
        coder->weights[i] = form & MATCHES ? FIRST_WEIGHT : OLD_FIRST_WEIGHT;
    coder->shift = 64 - bits;
    coder->high = UINT32_MAX;
    uint32_t next = 0;
    for (int odds = -ODDS_MAX; odds <= ODDS_MAX; odds++) {
        for (uint32_t end = squash(odds) >> 4; next <= end; next++)
            coder->stretched[next] = (int16_t)odds;
    }
    while (next < 4096)
        coder->stretched[next++] = ODDS_MAX;
    for (uint32_t uses = 0; uses <= USES_MAX; uses++)
        coder->rates[uses] = 5 * 65536 / (5 * uses + 8);
    return coder;
}

/* ---- what is known ---- */

static uint64_t context_of(uint64_t model, uint64_t a, uint64_t b)
{
    uint64_t context = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) +
                       (b + 1) * UINT64_C(0xd6e8feb86659fd93) + model;
    return context ^ context >> 29;
}

/* A slot's number in its table. */
static size_t slot_of(const struct coder *coder, uint64_t context, uint64_t node)
{
    uint64_t hash = (context ^ node * UINT64_C(0xc2b2ae3d27d4eb4f)) * UINT64_C(0x9e3779b97f4a7c15);
    return hash >> coder->shift;
}

/* x: the numbers before, the latest last. */
static void set_old_contexts(struct coder *coder, const uint64_t *x, const int64_t *guide)
{
    uint64_t far = guide ? (uint64_t)*guide : x[-2] + (x[-3] << 20);
    coder->contexts[0] = context_of(0, 0, 0);
    coder->contexts[1] = context_of(1, x[-1], 0);
    coder->contexts[2] = guide ? context_of(2, far, 0) : context_of(2, x[-2], x[-1]);
    coder->contexts[3] = context_of(3, far, x[-1]);
}

/* next: the guide's next value. */
static void set_contexts(struct coder *coder, const uint64_t *x, const int64_t *guide, int64_t next)
{
    uint64_t *to = coder->contexts, two = context_of(5, x[-1], x[-2]);
    to[0] = context_of(0, 0, 0);
    to[1] = context_of(1, x[-1], 0);
    to[2] = context_of(2, context_of(2, x[-1], x[-2]), x[-3]);
    to[3] = context_of(3, context_of(3, to[2], x[-4]), context_of(3, x[-5], x[-6]));
    to[4] = guide ? context_of(4, (uint64_t)*guide, 0) : context_of(4, x[-1], x[-2]);
    to[5] = context_of(5, two, guide ? (uint64_t)*guide : context_of(5, x[-3], x[-4]));
    to[6] = guide ? context_of(6, (uint64_t)*guide, (uint64_t)next) : context_of(6, to[5], x[-5]);
}

/* How many numbers before these two places are equal; i is the later one. */
static uint32_t equal_before(const struct coder *coder, uint32_t at, uint32_t i)
{
    const uint64_t *numbers = coder->numbers + BEFORE;
    uint32_t length = 0;
    while (length < MATCHED_MAX && length < at &&
           numbers[at - 1 - length] == numbers[i - 1 - length])
        length++;
    return length;
}

static void look_for_match(struct coder *coder, uint32_t i)
{
    struct match *match = &coder->match;
    uint32_t *last = &match->last[slot_of(coder, coder->contexts[3], 0)];
    if (*last && match->length < LONGER_FROM) {
        uint32_t length = equal_before(coder, *last, i);
        if (length > match->length) {
            match->at = *last;
            match->length = length;
            match->any = true;
        }
    }
    *last = i;
}

static void follow_match(struct coder *coder, uint64_t number)
{
    struct match *match = &coder->match;
    if (!match->any)
        return;
    match->length = coder->numbers[BEFORE + match->at] == number ? match->length + 1 : 0;
    match->at++;
}

/* Before the i-th number of n. */
static void look_around(struct coder *coder, const int64_t *guide, uint32_t i, uint32_t n)
{
    const uint64_t *x = coder->numbers + BEFORE + i;
    if (coder->n_contexts == OLD_MODELS) {
        set_old_contexts(coder, x, guide ? &guide[i] : NULL);
        return;
    }
    set_contexts(coder, x, guide ? &guide[i] : NULL, guide && i + 1 < n ? guide[i + 1] : 0);
    look_for_match(coder, i);
}

/* ---- prediction ---- */

static int32_t odds_of(const struct coder *coder, const struct slot *slot)
{
    return slot->uses ? coder->stretched[slot->probability >> 4] : 0;
}

/* What the match says. */
static void consult_match(struct coder *coder)
{
    struct match *match = &coder->match;
    uint32_t length = match->length < MATCH_SLOTS ? match->length : MATCH_SLOTS - 1;
    int32_t odds = odds_of(coder, &match->slots[length]);
    coder->chosen[MATCH] = &match->slots[length];
    coder->odds[MATCH] = !coder->expects ? 0 : coder->expected ? odds : -odds;
}

/* The probability of a 1, in 2^16. */
static uint32_t predict(struct coder *coder, uint64_t node)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < coder->n_contexts; i++) {
        coder->chosen[i] = &coder->slots[i][slot_of(coder, coder->contexts[i], node)];
        coder->odds[i] = odds_of(coder, coder->chosen[i]);
        sum += (int64_t)coder->weights[i] * coder->odds[i];
    }
    consult_match(coder);
    return squash((sum + (int64_t)coder->weights[MATCH] * coder->odds[MATCH]) >> 16);
}

static void learn_weight(struct coder *coder, unsigned i, int64_t error)
{
    int64_t weight = coder->weights[i] + ((6 * error * coder->odds[i] + 65536) >> 17);
    weight = weight > WEIGHT_MAX ? WEIGHT_MAX : weight < -WEIGHT_MAX ? -WEIGHT_MAX : weight;
    coder->weights[i] = (int32_t)weight;
}

static void learn_slot(const struct coder *coder, struct slot *slot, bool bit)
{
    int64_t now = slot->uses ? slot->probability : 1 << 15;
    int64_t off = (bit ? 65535 : 0) - now;
    int64_t next = now + (off * coder->rates[slot->uses] >> 16);
    next = next < PROBABILITY_MIN ? PROBABILITY_MIN : next;
    next = next > 65535 - PROBABILITY_MIN ? 65535 - PROBABILITY_MIN : next;
    slot->probability = (uint16_t)next;
    if (slot->uses < USES_MAX)
        slot->uses++;
}

static void learn(struct coder *coder, uint32_t probability, bool bit)
{
    int64_t error = (bit ? 65536 : 0) - (int64_t)probability;
    for (unsigned i = 0; i < coder->n_contexts; i++) {
        learn_weight(coder, i, error);
        learn_slot(coder, coder->chosen[i], bit);
    }
    if (coder->expects) {
        learn_weight(coder, MATCH, error);
        learn_slot(coder, coder->chosen[MATCH], bit == coder->expected);
    }
}

/* ---- arithmetic coding ---- */

static void take_byte(struct coder *coder)
{
    bool there = rfn_reader_left(&coder->in) > 0;
    coder->code = coder->code << 8 | (there ? rfn_reader_u8(&coder->in) : 0);
}

/* Codes a bit, or takes the next one: `bit` does not matter then. */
static bool code_bit(struct coder *coder, uint32_t probability, bool bit)
{
    uint32_t middle = coder->low +
                      (uint32_t)((uint64_t)(coder->high - coder->low) * probability >> 16);
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

static unsigned length_of(uint64_t number)
{
    return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

/* The next bit is expected if the bits so far are those of the number that the match expects. */
static void expect(struct coder *coder, bool so_far, bool bit)
{
    coder->expects = coder->match.any && so_far;
    coder->expected = bit;
}

/* The bits below the highest one. */
static uint64_t code_bits(struct coder *coder, uint64_t number, unsigned length, uint64_t like)
{
    uint64_t coded = length > 0;
    for (unsigned i = 0; i + 1 < length; i++) {
        unsigned at = (length - 2 - i) & 63;
        bool bit = number >> at & 1;
        expect(coder, length_of(like) == length && like >> at >> 1 == coded, like >> at & 1);
        bit = i < MODELLED ? code_decision(coder, (uint64_t)length << 13 | coded, bit)
                           : code_bit(coder, 1 << 15, bit);
        coded = coded << 1 | bit;
    }
    return coded;
}

/* Codes the number, or takes the next one: `number` does not matter then. */
static uint64_t code_number(struct coder *coder, uint64_t number)
{
    uint64_t like = coder->match.any ? coder->numbers[BEFORE + coder->match.at] : 0;
    unsigned length = 0, known = length_of(number), expected = length_of(like);
    for (; length < 64; length++) {
        expect(coder, length <= expected, length < expected);
        if (!code_decision(coder, length, length < known))
            break;
    }
    return code_bits(coder, number, length, like);
}

/* The i-th number of n. */
static uint64_t code_next(struct coder *coder, const int64_t *guide, uint32_t i, uint32_t n,
                          uint64_t number)
{
    look_around(coder, guide, i, n);
    number = code_number(coder, number);
    coder->numbers[BEFORE + i] = number;
    follow_match(coder, number);
    return number;
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

int rfn_column_adaptive_encode(const int64_t *values, const int64_t *guide, uint32_t n,
                               struct rfn_coder_memory *memory, struct rfn_buf *out)
{
    bool zigzag = any_negative(values, n);
    uint8_t form = MATCHES | (zigzag ? ZIGZAG : 0);
    struct coder *coder = coder_new(memory, n, form);
    if (!coder)
        return RFN_E_NOMEM;
    rfn_buf_u8(out, form);
    size_t begin = out->size;
    coder->out = out;
    for (uint32_t i = 0; i < n; i++)
        code_next(coder, guide, i, n, zigzag ? rfn_zigzag(values[i]) : (uint64_t)values[i]);
    /* One byte of the interval tells what is left of it; zeros at the end need not be there. */
    if (coder->low)
        rfn_buf_u8(coder->out, (uint8_t)(coder->high >> 24));
    while (!coder->out->failed && coder->out->size > begin &&
           !coder->out->data[coder->out->size - 1])
        coder->out->size--;
    return rfn_buf_status(out);
}

int rfn_column_adaptive_decode(struct rfn_reader *payload, const int64_t *guide, uint32_t n,
                               int64_t *values)
{
    uint8_t form = rfn_reader_u8(payload);
    size_t size = rfn_reader_left(payload);
    const uint8_t *bytes = rfn_reader_bytes(payload, size);
    if (payload->failed || form >= FORMS || (size && !bytes[size - 1]))
        return RFN_E_CORRUPT;
    struct rfn_coder_memory memory = {0};
    struct coder *coder = coder_new(&memory, n, form);
    if (!coder)
        return RFN_E_NOMEM;
    coder->in = rfn_reader_over(bytes, size);
    for (int i = 0; i < 4; i++)
        take_byte(coder);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t number = code_next(coder, guide, i, n, 0);
        values[i] = (form & ZIGZAG) ? rfn_unzigzag(number) : (int64_t)number;
    }
    bool all = !rfn_reader_left(&coder->in);
    rfn_coder_memory_release(&memory);
    return all ? 0 : RFN_E_CORRUPT;
}
