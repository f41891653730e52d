#include "reduce/samples/strategy.h"

#include "base/c_numbers.h"

#include <string.h>

enum { ADAPTIVE_PERIOD = 256 };
static const double MOST = 0x1p53; /* messages or ns: doubles have all whole numbers up to it */

static const struct {
    const char *name, *takes;
} kinds[] = {
    [RFN_SAMPLE_OFF] = {"off", "nothing"},
    [RFN_SAMPLE_RANDOM] = {"random", "a probability above 0 and up to 1, as in random:0.01"},
    [RFN_SAMPLE_ADAPTIVE] = {"adaptive", "nothing, or how many messages at the beginning of each "
                                         "channel are all sampled, as in adaptive:256"},
    [RFN_SAMPLE_COUNTER] = {"counter", "a number of messages and perhaps a smaller one by which "
                                       "it varies, as in counter:100+-10"},
    [RFN_SAMPLE_TIMER] = {"timer", "a time with its unit and perhaps a smaller one by which it "
                                   "varies, as in timer:1ms+-100us"},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
enum { N_UNITS = sizeof units / sizeof *units };

/* ---- text ---- */

/* Readers move *text behind what they have read. */
static bool read_number(const char **text, double *number)
{
    /* strtod takes spaces, signs, "nan" and hexadecimal numbers, too. */
    const size_t longest = strspn(*text, "0123456789.eE+-");
    if (longest == 0 || !strchr("0123456789.", **text))
        return false;
    char *end;
    *number = rfn_c_double(*text, &end);
    const size_t length = (size_t)(end - *text);
    *text = end;
    return length > 0 && length <= longest;
}

/* Messages as they are, times as ns. */
static bool read_amount(const char **text, bool time, uint64_t *amount)
{
    double number;
    size_t unit = 0;
    if (!read_number(text, &number))
        return false;
    if (time) {
        const size_t letters = strspn(*text, "mnsu");
        while (unit < N_UNITS && (strlen(units[unit].name) != letters ||
                                  strncmp(units[unit].name, *text, letters) != 0))
            unit++;
        if (unit == N_UNITS)
            return false;
        *text += letters;
        number *= (double)units[unit].ns;
    }
    if (!(number >= 0.5 && number <= MOST))
        return false;
    *amount = (uint64_t)number;
    const double rest = number - (double)*amount;
    *amount += rest >= 0.5;
    return time || rest == 0;
}

static bool read_variance(const char **text, bool time, struct rfn_sample_strategy *strategy)
{
    static const char sign[] = "\xc2\xb1"; /* plus or minus */
    if (!**text)
        return true;
    if (strncmp(*text, "+-", 2) != 0 && strncmp(*text, sign, 2) != 0)
        return false;
    *text += 2;
    if (strcmp(*text, "0") == 0) {
        ++*text;
        return true;
    }
    return read_amount(text, time, &strategy->variance) && strategy->variance < strategy->period;
}

/* What follows the colon; "" without one. */
static bool read_parameters(const char *text, struct rfn_sample_strategy *strategy)
{
    const bool time = strategy->kind == RFN_SAMPLE_TIMER;
    bool good = true;
    switch (strategy->kind) {
    case RFN_SAMPLE_OFF:
        break;
    case RFN_SAMPLE_RANDOM:
        good = read_number(&text, &strategy->rate) && strategy->rate > 0 && strategy->rate <= 1;
        break;
    case RFN_SAMPLE_ADAPTIVE:
        strategy->period = ADAPTIVE_PERIOD;
        good = !*text || read_amount(&text, false, &strategy->period);
        break;
    case RFN_SAMPLE_COUNTER:
    case RFN_SAMPLE_TIMER:
        good = read_amount(&text, time, &strategy->period) && read_variance(&text, time, strategy);
        break;
    }
    return good && !*text;
}

int rfn_sample_strategy_parse(const char *text, struct rfn_sample_strategy *strategy,
                              struct rfn_diag *diag)
{
    const size_t length = strcspn(text, ":");
    unsigned kind = 0;
    while (kind < N_KINDS &&
           (strlen(kinds[kind].name) != length || memcmp(kinds[kind].name, text, length) != 0))
        kind++;
    if (kind == N_KINDS)
        return rfn_fail(diag, RFN_E_USAGE, -1, -1,
                        "no sampling strategy '%s'; there are random:P, adaptive, counter:N+-V, "
                        "timer:T+-V and off",
                        text);
    struct rfn_sample_strategy read = {.kind = (enum rfn_sample_kind)kind, .seed = strategy->seed};
    const bool colon = text[length] == ':';
    if (!read_parameters(text + length + colon, &read) || (colon && !text[length + 1]))
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "'%s' is not a sampling strategy: %s takes %s",
                        text, kinds[kind].name, kinds[kind].takes);
    *strategy = read;
    return 0;
}

/* At most 18 characters: what a strategy has is at most MOST. */
enum { AMOUNT_TEXT = 24 };

static void amount_text(uint64_t amount, bool time, char text[AMOUNT_TEXT])
{
    size_t unit = time ? 0 : N_UNITS - 1;
    while (amount % units[unit].ns != 0)
        unit++;
    rfn_c_print(text, AMOUNT_TEXT, "%llu%s", (unsigned long long)(amount / units[unit].ns),
                time ? units[unit].name : "");
}

void rfn_sample_strategy_text(const struct rfn_sample_strategy *strategy,
                              char text[RFN_SAMPLE_TEXT])
{
    const char *name = kinds[strategy->kind].name;
    const bool time = strategy->kind == RFN_SAMPLE_TIMER;
    char period[AMOUNT_TEXT], variance[AMOUNT_TEXT];
    amount_text(strategy->period, time, period);
    amount_text(strategy->variance, time, variance);
    if (strategy->kind == RFN_SAMPLE_OFF ||
        (strategy->kind == RFN_SAMPLE_ADAPTIVE && strategy->period == ADAPTIVE_PERIOD)) {
        rfn_c_print(text, RFN_SAMPLE_TEXT, "%s", name);
    } else if (strategy->kind == RFN_SAMPLE_RANDOM) {
        double same = -1;
        for (int digits = 1; digits <= 17 && same != strategy->rate; digits++) {
            rfn_c_print(text, RFN_SAMPLE_TEXT, "%s:%.*g", name, digits, strategy->rate);
            same = rfn_c_double(text + strlen(name) + 1, NULL);
        }
    } else {
        rfn_c_print(text, RFN_SAMPLE_TEXT, "%s:%s%s%s", name, period,
                    strategy->variance ? "+-" : "", strategy->variance ? variance : "");
    }
}

/* ---- decisions ---- */

static const uint64_t GOLDEN = 0x9e3779b97f4a7c15u; /* the step of splitmix64 */

uint64_t rfn_sample_channel(uint64_t comm_identity, uint32_t source, uint32_t dest, int64_t tag)
{
    uint64_t hash = rfn_sample_mix(comm_identity + GOLDEN);
    hash = rfn_sample_mix((hash ^ ((uint64_t)source << 32 | dest)) + GOLDEN);
    return rfn_sample_mix((hash ^ (uint64_t)tag) + GOLDEN);
}

void rfn_sampler_init(struct rfn_sampler *sampler, const struct rfn_sample_strategy *strategy,
                      uint32_t rank)
{
    *sampler = (struct rfn_sampler){
        .random = rfn_sample_mix(rfn_sample_mix(strategy->seed + GOLDEN) + rank)};
}

/* period - variance to period + variance, equally likely: the high word of a product with how many
 * there are (Lemire, Fast random integer generation in an interval, 2019, 3). */
static uint64_t draw_distance(struct rfn_sampler *sampler,
                              const struct rfn_sample_strategy *strategy)
{
    sampler->random += GOLDEN;
    __extension__ const unsigned __int128 product =
        (unsigned __int128)rfn_sample_mix(sampler->random) * (2 * strategy->variance + 1);
    return strategy->period - strategy->variance + (uint64_t)(product >> 64);
}

/* Times wrap around: only differences count. */
bool rfn_sampler_chooses(struct rfn_sampler *sampler, const struct rfn_sample_strategy *strategy,
                         int64_t now_ns)
{
    const bool counts = strategy->kind == RFN_SAMPLE_COUNTER;
    if (!counts && strategy->kind != RFN_SAMPLE_TIMER)
        return false;
    const uint64_t now = counts ? 0 : (uint64_t)now_ns;
    if (!sampler->begun) {
        sampler->target = now + draw_distance(sampler, strategy);
        sampler->begun = true;
    }
    const bool chosen = counts ? --sampler->target == 0 : (int64_t)(now - sampler->target) >= 0;
    if (chosen)
        sampler->target = now + draw_distance(sampler, strategy);
    return chosen;
}
