/* Names of patterns and activities, as JSON, tables and the page have them. */
#include "refrain/waits.h"

#include <stddef.h>

const char *rfn_pattern_name(enum rfn_pattern pattern)
{
    static const char *const names[] = {
#define X(name, json, words) json,
        RFN_PATTERNS(X)
#undef X
    };
    return (unsigned)pattern < RFN_PATTERN_COUNT ? names[pattern] : "?";
}

const char *rfn_pattern_words(enum rfn_pattern pattern)
{
    static const char *const names[] = {
#define X(name, json, words) words,
        RFN_PATTERNS(X)
#undef X
    };
    return (unsigned)pattern < RFN_PATTERN_COUNT ? names[pattern] : "?";
}

const char *rfn_activity_kind_name(enum rfn_activity_kind kind)
{
    static const char *const names[RFN_ACTIVITY_KIND_COUNT] = {"compute", "mpi", "wait", "start",
                                                               "recording"};
    return (unsigned)kind < RFN_ACTIVITY_KIND_COUNT ? names[kind] : "?";
}
