#include "reduce/samples/where.h"

#include "refrain/recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[RFN_WHERE_PATTERNS] = {
    "function=", "path=", "file=", "comm=", "region=", "segment="};

static bool begins(const char **text, const char *with)
{
    const size_t n = strlen(with);
    if (strncmp(*text, with, n) != 0)
        return false;
    *text += n;
    return true;
}

/* Reads a number of bytes up to `end`; false: it is none. */
static bool read_bytes(const char *text, const char *end, uint64_t *bytes)
{
    static const char units[] = "KMG";
    char *behind;
    if (text == end || *text < '0' || *text > '9')
        return false;
    errno = 0;
    const unsigned long long number = strtoull(text, &behind, 10);
    const char *unit = behind < end && *behind ? strchr(units, *behind) : NULL;
    const unsigned shift = unit ? 10 * ((unsigned)(unit - units) + 1) : 0;
    *bytes = (uint64_t)number << shift;
    return errno == 0 && *bytes >> shift == number && behind + (unit != NULL) == end;
}

/* LOW-HIGH, LOW-, -HIGH or one size. */
static bool read_range(const char *text, const char *end, struct rfn_sample_where *where)
{
    const char *dash = memchr(text, '-', (size_t)(end - text));
    if (!dash) {
        if (!read_bytes(text, end, &where->least_bytes))
            return false;
        where->most_bytes = where->least_bytes;
        return true;
    }
    return end - text > 1 && (dash == text || read_bytes(text, dash, &where->least_bytes)) &&
           (dash + 1 == end || read_bytes(dash + 1, end, &where->most_bytes)) &&
           where->least_bytes <= where->most_bytes;
}

static bool read_level(const char *text, const char *end, struct rfn_sample_where *where)
{
    char *behind;
    where->level = strtol(text, &behind, 10);
    where->has_level = true;
    return behind == end && end > text;
}

/* Adds a pattern of a kind. RFN_E_NOMEM. */
static int add_pattern(char **patterns, const char *text, size_t n)
{
    const size_t old = *patterns ? strlen(*patterns) : 0;
    char *longer = realloc(*patterns, old + n + 2);
    if (!longer)
        return RFN_E_NOMEM;
    if (old)
        longer[old] = ',';
    memcpy(longer + old + (old > 0), text, n);
    longer[old + (old > 0) + n] = 0;
    *patterns = longer;
    return 0;
}

/* One condition. RFN_E_USAGE: it is none. */
static int read_condition(const char *text, const char *end, struct rfn_sample_where *where)
{
    if (begins(&text, "bytes="))
        return read_range(text, end, where) ? 0 : RFN_E_USAGE;
    if (begins(&text, "level="))
        return read_level(text, end, where) ? 0 : RFN_E_USAGE;
    for (int i = 0; i < RFN_WHERE_PATTERNS; i++) {
        if (!begins(&text, kinds[i]))
            continue;
        if (text + (*text == '!') == end)
            return RFN_E_USAGE;
        return add_pattern(&where->patterns[i], text, (size_t)(end - text));
    }
    return RFN_E_USAGE;
}

int rfn_sample_where_parse(const char *text, struct rfn_sample_where *where, struct rfn_diag *diag)
{
    *where = (struct rfn_sample_where){.most_bytes = UINT64_MAX};
    for (const char *at = text; at && *at; at = strchr(at, ',')) {
        at += *at == ',';
        const size_t n = strcspn(at, ",");
        const int error = read_condition(at, at + n, where);
        if (error == RFN_E_USAGE)
            return rfn_fail(diag, error, -1, -1,
                            "'%.*s' is none of bytes=LOW-HIGH, function=, path=, file=, comm=, "
                            "region=, segment= (with a pattern) and level=N",
                            (int)n, at);
        RFN_TRY(error);
        where->any = true;
    }
    return 0;
}

void rfn_sample_where_release(struct rfn_sample_where *where)
{
    for (int i = 0; i < RFN_WHERE_PATTERNS; i++)
        free(where->patterns[i]);
    *where = (struct rfn_sample_where){.most_bytes = UINT64_MAX};
}

bool rfn_sample_where_fits(const struct rfn_sample_where *where, enum rfn_where_pattern kind,
                           const char *name)
{
    return !where->patterns[kind] || rfn_function_wanted(where->patterns[kind], name, NULL);
}
