/* What is asked for in text, as a command line or an environment variable has it. */
#include "refrain/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- resolutions ---- */

uint64_t rfn_resolution_parse(const char *text)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 10) /* longer ones are too large, and might overflow */
        return 0;
    uint64_t number = strtoull(text, NULL, 10);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + n, units[i].name) != 0)
            continue;
        uint64_t ns = number * units[i].ns;
        return ns >= RFN_RESOLUTION_MIN_NS && ns <= RFN_RESOLUTION_MAX_NS ? ns : 0;
    }
    return 0;
}

/* ---- frames of call paths ---- */

enum { FRAMES_MAX = 1000 };

/* "O,I" with 0 <= O, 1 <= I: numbers of frames. */
static bool read_numbers(const char *text, struct rfn_path_ends *ends)
{
    unsigned outer, inner;
    int used = 0;
    if (strspn(text, "0123456789,") != strlen(text) || strlen(text) > sizeof "1000,1000" - 1 ||
        sscanf(text, "%u,%u%n", &outer, &inner, &used) != 2 || text[used])
        return false;
    *ends = (struct rfn_path_ends){outer, inner};
    return inner > 0 && outer <= FRAMES_MAX && inner <= FRAMES_MAX;
}

bool rfn_path_match_parse(const char *text, struct rfn_path_ends *ends)
{
    static const char with_numbers[] = "ends:";
    *ends = (struct rfn_path_ends){0};
    if (strcmp(text, "all") == 0)
        return true;
    if (strcmp(text, "ends") == 0) {
        *ends = (struct rfn_path_ends){1, 1};
        return true;
    }
    struct rfn_path_ends read;
    if (strncmp(text, with_numbers, sizeof with_numbers - 1) != 0 ||
        !read_numbers(text + sizeof with_numbers - 1, &read))
        return false;
    *ends = read;
    return true;
}

/* ---- how often ranks merge ---- */

enum { SEGMENTS_MAX = 1000000000, SECONDS_MAX = 1000000, FRACTION_DIGITS = 9 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A whole number of at most 10 digits at *text, which is moved behind it. */
static bool read_number(const char **text, uint64_t *number)
{
    const char *at = *text;
    *number = 0;
    while (is_digit(*at) && at - *text < 10)
        *number = *number * 10 + (uint64_t)(*at++ - '0');
    bool some = at > *text;
    *text = at;
    return some;
}

/* The digits behind a point, in ns; what is finer is refused. */
static bool read_fraction(const char **text, uint64_t *ns)
{
    const char *first = *text;
    uint64_t unit = 100000000;
    *ns = 0;
    for (; is_digit(**text) && *text - first < FRACTION_DIGITS; unit /= 10)
        *ns += (uint64_t)(*(*text)++ - '0') * unit;
    return *text > first;
}

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
    if (*text == '.' && (text++, !read_fraction(&text, &fraction)))
        return false;
    if (strcmp(text, "s") != 0 || number > SECONDS_MAX)
        return false;
    every->ns = number * 1000000000 + fraction;
    return every->ns > 0;
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
    const size_t n = strspn(text, "0123456789");
    if (n == 0 || n > 10 || text[n])
        return 0;
    const uint64_t rate = strtoull(text, NULL, 10);
    return rate <= 1000000000 ? rate : 0;
}
