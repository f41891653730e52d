#include "refrain/recording.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
