/* What is asked for in text, as a command line or an environment variable has it. */
#include "refrain/recording.h"

#include <stdlib.h>
#include <string.h>

/* Reads a whole number of 1 to 10 digits and moves *text behind it. */
static bool read_number(const char **text, uint64_t *number)
{
    size_t n = strspn(*text, "0123456789");
    if (n == 0 || n > 10) /* longer ones are too large for all, and might overflow */
        return false;
    *number = strtoull(*text, NULL, 10);
    *text += n;
    return true;
}

/* ---- resolutions ---- */

uint64_t rfn_resolution_parse(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    uint64_t number;
    if (!read_number(&text, &number))
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text, units[i].name) != 0)
            continue;
        uint64_t ns = number * units[i].ns;
        return ns >= RFN_RESOLUTION_MIN_NS && ns <= RFN_RESOLUTION_MAX_NS ? ns : 0;
    }
    return 0;
}

/* ---- what predictions are kept about ---- */

static bool read_kept_size(const char *text, int64_t *bytes)
{
    static const char units[] = "KMG";
    uint64_t number;
    if (!read_number(&text, &number))
        return false;
    const char *unit = *text ? strchr(units, *text) : NULL;
    *bytes = (int64_t)(number << (unit ? 10 * (unit - units + 1) : 0));
    return unit ? !text[1] : !*text;
}

bool rfn_kept_limits_parse(const char *text, struct rfn_kept_limits *limits)
{
    const char *comma = strchr(text, ',');
    const size_t length = comma ? (size_t)(comma - text) : strlen(text);
    char time[32];
    if (length >= sizeof time)
        return false;
    memcpy(time, text, length);
    time[length] = 0;
    *limits = (struct rfn_kept_limits){(int64_t)rfn_resolution_parse(time), 64 << 10};
    return limits->ns && (!comma || read_kept_size(comma + 1, &limits->bytes));
}

/* ---- frames of call paths ---- */

enum { FRAMES_MAX = 1000 };

/* all, ends, or ends:O,I with 0 <= O, 1 <= I: numbers of frames. */
bool rfn_path_match_parse(const char *text, struct rfn_path_ends *ends)
{
    *ends = (struct rfn_path_ends){0};
    if (strcmp(text, "all") == 0)
        return true;
    if (strncmp(text, "ends", 4) != 0)
        return false;
    uint64_t outer = 1, inner = 1;
    text += 4;
    if (*text && (*text++ != ':' || !read_number(&text, &outer) || *text++ != ',' ||
                  !read_number(&text, &inner) || *text))
        return false;
    if (inner == 0 || outer > FRAMES_MAX || inner > FRAMES_MAX)
        return false;
    *ends = (struct rfn_path_ends){(unsigned)outer, (unsigned)inner};
    return true;
}

/* ---- how often ranks merge ---- */

enum { SEGMENTS_MAX = 1000000000, SECONDS_MAX = 1000000, SNAPSHOT_MIN_NS = 100000000 };

bool rfn_every_parse(const char *text, struct rfn_every *every)
{
    uint64_t number, fraction = 0;
    *every = (struct rfn_every){0};
    if (!read_number(&text, &number))
        return false;
    if (!*text) {
        every->segments = number <= SEGMENTS_MAX ? number : 0;
        return every->segments > 0;
    }
    if (*text == '.') {
        const char *first = ++text;
        /* In ns; what is finer is refused. */
        for (uint64_t unit = 100000000; unit && *text >= '0' && *text <= '9'; unit /= 10)
            fraction += (uint64_t)(*text++ - '0') * unit;
        if (text == first)
            return false;
    }
    if (strcmp(text, "s") != 0 || number > SECONDS_MAX)
        return false;
    every->ns = number * 1000000000 + fraction;
    return every->ns > 0;
}

uint64_t rfn_snapshot_interval_parse(const char *text)
{
    struct rfn_every every;
    return rfn_every_parse(text, &every) && every.ns >= SNAPSHOT_MIN_NS ? every.ns : 0;
}

/* ---- functions ---- */

/* Whether the pattern of so many characters fits the whole name. Of several stars only the last one
 * met has to be tried again: earlier ones then have the shortest stretch that fits. */
static bool fits(const char *pattern, size_t length, const char *name)
{
    const char *end = pattern + length, *star = NULL, *resume = NULL;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

bool rfn_function_wanted(const char *patterns, const char *name, const char *linker_name)
{
    bool wanted = patterns[0] == '!';
    for (const char *at = patterns; at; at = strchr(at, ',')) {
        at += *at == ',';
        const bool not = *at == '!';
        const size_t length = strcspn(at + not, ",");
        if ((name && fits(at + not, length, name)) ||
            (linker_name && fits(at + not, length, linker_name)))
            wanted = !not ;
    }
    return wanted;
}

bool rfn_function_patterns(const char *text)
{
    for (const char *at = text; at; at = strchr(at, ',')) {
        at += *at == ',' && at > text;
        at += *at == '!';
        if (*at == ',' || *at == 0)
            return false;
    }
    return true;
}

uint64_t rfn_function_rate_parse(const char *text)
{
    if (strcmp(text, "none") == 0)
        return UINT64_MAX;
    uint64_t rate;
    return read_number(&text, &rate) && !*text && rate <= 1000000000 ? rate : 0;
}
