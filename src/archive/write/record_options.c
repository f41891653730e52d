#include "refrain/record_options.h"

#include "archive/write/record_limits.h"
#include "reduce/samples/where.h"
#include "refrain/recording.h"
#include "refrain/sampling.h"
#include "refrain/trace_profile.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct rfn_record_row rows[] = {
#define WITH_OPTION(id, option, key, variable, kind, group, argument, values, preset, help) \
    {option, key ? key : 256 + RFN_RECORD_##id, variable, values, preset, RFN_KIND_##kind},
#define WITHOUT(id, variable, kind, values, preset) \
    {NULL, 0, variable, values, preset, RFN_KIND_##kind},
    RFN_RECORD_OPTIONS(WITH_OPTION) RFN_RECORD_VARIABLES(WITHOUT)};

const struct rfn_record_row *rfn_record_row(enum rfn_record_option option)
{
    return &rows[option];
}

/* A whole number, or UINT64_MAX. */
static uint64_t number_of(const char *text)
{
    size_t n = strspn(text, "0123456789");
    return n > 0 && n < 19 && !text[n] ? strtoull(text, NULL, 10) : UINT64_MAX;
}

uint64_t rfn_size_parse(const char *text)
{
    static const char units[] = "KMGT";
    size_t n = strspn(text, "0123456789");
    const char *unit = text[n] ? strchr(units, text[n]) : NULL;
    unsigned shift = unit ? 10 * ((unsigned)(unit - units) + 1) : 0;
    uint64_t size = n > 0 && n < 19 && !text[n + (unit != NULL)] ? strtoull(text, NULL, 10) : 0;
    return size << shift >> shift == size && size << shift >= 1 << 20 ? size << shift : 0;
}

static bool is_among(const char *text, const char *words)
{
    const size_t n = strlen(text);
    for (const char *word = words; n && word; word = strchr(word, ',')) {
        word += *word == ',';
        if (strcspn(word, ",") == n && memcmp(word, text, n) == 0)
            return true;
    }
    return false;
}

static bool are_conditions(int (*parse)(const char *, struct rfn_sample_where *, struct rfn_diag *),
                           const char *text, struct rfn_diag *why)
{
    struct rfn_sample_where where;
    const int error = parse(text, &where, why);
    rfn_sample_where_release(&where);
    return error == 0;
}

static bool takes(enum rfn_record_option option, const char *text, struct rfn_diag *why)
{
    if (rows[option].kind != RFN_KIND_CHECKED)
        return rows[option].kind == RFN_KIND_TEXT ? *text : is_among(text, rows[option].values);
    switch (option) {
    case RFN_RECORD_RESOLUTION:
    case RFN_RECORD_FUNCTIONS_MIN:
        return rfn_resolution_parse(text);
    case RFN_RECORD_VOLUME:
        return rfn_volume_known(text);
    case RFN_RECORD_FUNCTIONS:
        return rfn_function_patterns(text);
    case RFN_RECORD_FUNCTIONS_RATE:
        return rfn_function_rate_parse(text);
    case RFN_RECORD_MEMORY:
    case RFN_RECORD_MAX_SIZE:
        return rfn_size_parse(text);
    case RFN_RECORD_CALL_PATH_MATCH:
        return rfn_path_match_parse(text, &(struct rfn_path_ends){0});
    case RFN_RECORD_SIMILARITY:
        return rfn_similarity_check(text, why) == 0;
    case RFN_RECORD_SEGMENT_MIN_CALLS:
        return number_of(text) - 1 < INT32_MAX;
    case RFN_RECORD_SAMPLE:
        return rfn_sample_strategy_parse(text, &(struct rfn_sample_strategy){0}, why) == 0;
    case RFN_RECORD_SAMPLE_WHERE:
        return are_conditions(rfn_sample_where_parse, text, why);
    case RFN_RECORD_INCLUDE:
    case RFN_RECORD_EXCLUDE:
        return are_conditions(rfn_limited_calls_parse, text, why);
    case RFN_RECORD_MAX_CALLS:
        return rfn_limited_rates_check(text, why) == 0;
    case RFN_RECORD_FROM:
        return rfn_from_parse(text, &(struct rfn_until){0});
    case RFN_RECORD_UNTIL:
        return rfn_until_parse(text, &(struct rfn_until){0});
    case RFN_RECORD_SAMPLE_SEED:
        return number_of(text) != UINT64_MAX;
    case RFN_RECORD_IGNORE_PARAMETER:
        return rfn_forced_check(text, why) == 0;
    case RFN_RECORD_KEEP_PREDICTIONS:
        return rfn_kept_limits_parse(text, &(struct rfn_kept_limits){0, 0});
    case RFN_RECORD_MERGE_INTERVAL:
        return rfn_every_parse(text, &(struct rfn_every){0});
    default:
        return false;
    }
}

int rfn_record_check(enum rfn_record_option option, const char *named, const char *text,
                     struct rfn_diag *diag)
{
    const struct rfn_record_row *row = &rows[option];
    struct rfn_diag why = {.file_offset = -1, .rank = -1};
    char values[64] = "one of ";
    if (takes(option, text, &why))
        return 0;
    if (why.text[0])
        return rfn_fail(diag, RFN_E_USAGE, -1, -1, "%s: %s", named, why.text);
    size_t n = strlen(values);
    for (const char *c = row->values; row->kind <= RFN_KIND_WORD && *c; c++) {
        values[n++] = *c;
        if (*c == ',')
            values[n++] = ' ';
    }
    values[n] = 0;
    return rfn_fail(diag, RFN_E_USAGE, -1, -1, "%s is %s, not '%s'", named,
                    row->kind <= RFN_KIND_WORD ? values : row->values, text);
}
