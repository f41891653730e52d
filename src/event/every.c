#include "refrain/recording.h"

#include <string.h>

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
