/* clock_format.h - the clock of a process as TIMING, PROFILE and SAMPLE_COLUMNS have it
 * (refrain-archive(5)).
 */
#ifndef RFN_ARCHIVE_CLOCK_FORMAT_H
#define RFN_ARCHIVE_CLOCK_FORMAT_H

#include "base/buf.h"

struct rfn_pack_pair {
    uint64_t quanta, monotonic_ns, realtime_ns;
};

struct rfn_pack_clock {
    uint8_t kind;
    const struct rfn_pack_pair *pairs;
    size_t n_pairs;
    uint64_t start; /* quanta */
};

/* Appends kind, pairs and start. */
void rfn_pack_clock_pairs(const struct rfn_pack_clock *clock, struct rfn_buf *out);

#endif
