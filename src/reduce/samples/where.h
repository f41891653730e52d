/* where.h - which messages are sampled at all: --sample-where.
 *
 * Conditions separated by commas: `bytes=LOW-HIGH` (either may be missing; K, M and G are units of
 * 1024), `function=`, `path=`, `file=`, `comm=`, `region=` and `segment=` with a pattern (* for any
 * characters, ? for one, a leading ! for all others), `level=N` (the last MPI_Pcontrol's). Of
 * several conditions of one kind one has to hold, of several kinds one of each. They are about the
 * send: its size, the MPI function, a function of its call path, a file of it (with folders or
 * without), its communicator's name, what the sender is in.
 */
#ifndef RFN_REDUCE_SAMPLES_WHERE_H
#define RFN_REDUCE_SAMPLES_WHERE_H

#include "refrain/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rfn_where_pattern {
    RFN_WHERE_FUNCTION,
    RFN_WHERE_PATH,
    RFN_WHERE_FILE,
    RFN_WHERE_COMM,
    RFN_WHERE_REGION,
    RFN_WHERE_SEGMENT,
    RFN_WHERE_PATTERNS
};

struct rfn_sample_where {
    bool any; /* condition at all */
    uint64_t least_bytes, most_bytes;
    char *
        patterns[RFN_WHERE_PATTERNS]; /* PATTERN[,PATTERN...], see rfn_function_wanted; NULL: all */
    bool has_level;
    int64_t level;
};

/* *where is to be released, also after an error. RFN_E_USAGE: *diag says what is possible;
 * RFN_E_NOMEM. "" is no condition. */
int rfn_sample_where_parse(const char *text, struct rfn_sample_where *where, struct rfn_diag *diag);
void rfn_sample_where_release(struct rfn_sample_where *where);

/* Whether a name fits; NULL fits where there is no pattern. */
bool rfn_sample_where_fits(const struct rfn_sample_where *where, enum rfn_where_pattern kind,
                           const char *name);

static inline bool rfn_sample_where_bytes(const struct rfn_sample_where *where, uint64_t bytes)
{
    return bytes >= where->least_bytes && bytes <= where->most_bytes;
}

#endif
